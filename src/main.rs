//! Command line in, exit code out.

fn main() -> std::process::ExitCode {
    vigie::cli::run(std::env::args_os())
}
