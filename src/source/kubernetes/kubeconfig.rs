//! Kubeconfig files, as kubectl reads them.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use super::context::{self, Context, Wrong};
use super::fields::Kubeconfig;
use crate::source::named_file;
use crate::wording::shorten;

/// A kubeconfig with a thousand clusters has less.
const LARGEST: u64 = 4 << 20;
const LONGEST_PATH: usize = 255;

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
        merged.merge(read_file(file)?);
    }
    let shown = match files {
        [] => {
            let none = "there is no kubeconfig, neither at $KUBECONFIG nor, where that is not set, at ~/.kube/config: name one with kubeconfig";
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
    let read = Kubeconfig::parse(&text, folder);
    read.map_err(|error| format!("kubeconfig {}{error}", shown(file)))
}
