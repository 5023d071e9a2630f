//! Kubeconfig files, as kubectl reads them.
//!
//! The text is read bounded, and held against the budgets of our own YAML before kube reads its fields.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::thread;

use kube::config::{Kubeconfig, KubeconfigError};

use super::context::{self, Context, Wrong};
use crate::source::named_file;
use crate::wording::{shorten, without_number};
use crate::yaml;

/// A kubeconfig with a thousand clusters has less.
const LARGEST: u64 = 4 << 20;
const LONGEST_PATH: usize = 255;
/// kube takes up to 40 KiB for each of the 64 levels that are read; what is not used costs nothing.
const STACK: usize = 16 << 20;

/// The contexts that have been read, so that many services read the same one once.
#[derive(Default)]
pub(in crate::source) struct Kubeconfigs(HashMap<Key, Result<Context, Wrong>>);

/// The files, and the name of the context.
type Key = (Vec<PathBuf>, Option<Box<str>>);

impl Kubeconfigs {
    /// The context of that name, or the current one. Of what several files have, the first counts.
    ///
    /// Errors: the first thing that is wrong, with what to do.
    pub(super) fn context(
        &mut self,
        files: Vec<PathBuf>,
        name: Option<&str>,
    ) -> Result<Context, Wrong> {
        let key = (files, name.map(Into::into));
        if let Some(read) = self.0.get(&key) {
            return read.clone();
        }
        let context = read(&key.0, name);
        self.0.insert(key, context.clone());
        context
    }
}

fn read(files: &[PathBuf], name: Option<&str>) -> Result<Context, Wrong> {
    let mut merged = Kubeconfig::default();
    for file in files {
        let differs = "its kind or apiVersion is not that of the kubeconfig before it";
        let read = read_file(file)?;
        merged = merged.merge(read).map_err(|_| about(file, differs))?;
    }
    let shown = match files {
        [] => {
            let none = "there is no kubeconfig: name one with kubeconfig";
            return Err(none.to_owned().into());
        }
        [file] => shown(file),
        [first, others @ ..] => format!("{} and {} more", shown(first), others.len()),
    };
    context::choose(&merged, name).map_err(|wrong| wrong.of(&format!("kubeconfig {shown}")))
}

fn shown(file: &Path) -> String {
    shorten(&file.to_string_lossy(), LONGEST_PATH)
}

fn about(file: &Path, wrong: &str) -> String {
    named_file::about("kubeconfig", file, wrong)
}

fn read_file(file: &Path) -> Result<Kubeconfig, String> {
    let bytes = named_file::read("kubeconfig", file, LARGEST)?;
    let text = String::from_utf8(bytes);
    let text = text.map_err(|_| about(file, "it is not UTF-8; save it as UTF-8"))?;
    let folder = file.parent().unwrap_or(Path::new(""));
    let mut reader = yaml::Reader::new(folder);
    yaml::parse(&text, &mut reader);
    if let Some(error) = reader.finish().0.first() {
        return Err(format!("kubeconfig {}{error}", shown(file)));
    }
    let mut read = parse(file, &text)?;
    let clusters = read.clusters.iter_mut();
    for cluster in clusters.filter_map(|named| named.cluster.as_mut()) {
        join(folder, [&mut cluster.certificate_authority]);
    }
    let users = read.auth_infos.iter_mut();
    for user in users.filter_map(|named| named.auth_info.as_mut()) {
        let files = [
            &mut user.client_certificate,
            &mut user.client_key,
            &mut user.token_file,
        ];
        join(folder, files);
    }
    Ok(read)
}

/// On a thread whose stack is deep enough, which also ends a panic of kube.
fn parse(file: &Path, text: &str) -> Result<Kubeconfig, String> {
    let parsed = thread::scope(|scope| {
        let thread = thread::Builder::new().stack_size(STACK);
        let thread = thread.spawn_scoped(scope, || Kubeconfig::from_yaml(text));
        thread.map(|thread| thread.join())
    });
    match parsed {
        Ok(Ok(parsed)) => parsed.map_err(|error| unreadable(file, &error)),
        Ok(Err(_)) => Err(about(file, "it is no kubeconfig; see kubectl config view")),
        Err(error) => {
            let reason = without_number(&error);
            Err(about(file, &format!("no thread to read it: {reason}")))
        }
    }
}

/// The words of kube show the lines around the error, where tokens stand: only the place is told.
fn unreadable(file: &Path, error: &KubeconfigError) -> String {
    let location = match error {
        KubeconfigError::Parse(error) => error.location(),
        _ => None,
    };
    match location {
        Some(at) if at.line() > 0 => format!(
            "kubeconfig {}:{}:{}: this is not what a kubeconfig has here; see kubectl config view",
            shown(file),
            at.line(),
            at.column()
        ),
        _ => about(file, "it is no kubeconfig; see kubectl config view"),
    }
}

/// Makes paths absolute that are relative to the kubeconfig.
fn join<const N: usize>(folder: &Path, paths: [&mut Option<String>; N]) {
    for path in paths.into_iter().flatten().filter(|path| !path.is_empty()) {
        *path = folder.join(&*path).to_string_lossy().into_owned();
    }
}
