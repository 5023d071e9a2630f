//! What the system says of this process (proc(5)); each part is absent where there is no `/proc`.

use std::fs::{self, File};
use std::io::Read;

/// No file that is read here is longer, but `/proc/stat` grows with the processors and their interrupts.
const LONGEST: u64 = 1 << 20;

/// The memory that is resident, in bytes.
pub fn resident_bytes() -> Option<u64> {
    let pages: u64 = field(24)?;
    let page = u64::try_from(rustix::param::page_size()).ok()?;
    pages.checked_mul(page)
}

/// When it started, in seconds since 1970. The system counts from its own start, so this is right even
/// when the date was wrong at the time.
pub fn start_seconds() -> Option<f64> {
    let ticks: u64 = field(22)?;
    let since_boot = ticks as f64 / rustix::param::clock_ticks_per_second() as f64;
    let boot: u64 = read("/proc/stat")?
        .lines()
        .find_map(|line| line.strip_prefix("btime "))?
        .parse()
        .ok()?;
    Some(boot as f64 + since_boot)
}

/// How many files are open.
pub fn open_files() -> Option<usize> {
    // One of them is the folder itself.
    Some(
        fs::read_dir("/proc/self/fd")
            .ok()?
            .count()
            .saturating_sub(1),
    )
}

/// A field of `/proc/self/stat`, by its number in proc(5), beyond the second.
fn field(number: usize) -> Option<u64> {
    let stat = read("/proc/self/stat")?;
    // The name of the program, the second field, may hold blanks and brackets.
    let (_, rest) = stat.rsplit_once(") ")?;
    rest.split(' ').nth(number.checked_sub(3)?)?.parse().ok()
}

fn read(path: &str) -> Option<String> {
    let mut bytes = Vec::new();
    let file = File::open(path).ok()?;
    file.take(LONGEST).read_to_end(&mut bytes).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}
