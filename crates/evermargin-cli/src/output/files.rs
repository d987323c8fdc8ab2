//! The files that a command reads and writes. Every command checks them before it does any work.

use crate::args::{DataArgs, HideArgs};
use crate::failure::Failure;
use std::path::{Path, PathBuf};

/// Name that stands for standard input or output.
const STANDARD: &str = "-";

/// The files of a command.
#[derive(Debug, Default)]
pub struct Files<'a> {
    inputs: Vec<Input<'a>>,
    outputs: Vec<Output<'a>>,
}

#[derive(Debug)]
struct Input<'a> {
    path: &'a Path,
    /// The option whose output may replace this file.
    replaced_by: Option<&'a str>,
}

#[derive(Debug)]
struct Output<'a> {
    option: &'a str,
    path: &'a Path,
    kind: OutputKind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum OutputKind {
    File,
    FileOrStandard,
    Folder,
}

impl<'a> Files<'a> {
    /// Adds a file that is read.
    pub fn reads(mut self, path: impl Into<Option<&'a PathBuf>>) -> Self {
        self.inputs.extend(path.into().map(|path| Input { path, replaced_by: None }));
        self
    }

    /// Adds files that are read.
    pub fn reads_all(self, paths: &'a [PathBuf]) -> Self {
        paths.iter().fold(self, Self::reads)
    }

    /// Adds the files named by data options.
    pub fn reads_data(self, data: &'a DataArgs, hide: Option<&'a HideArgs>) -> Self {
        self.reads(data.labels.as_ref()).reads(hide.and_then(|h| h.labeled_rows.as_ref()))
    }

    /// Adds a file that is read and that the output of `option` may replace.
    pub fn reads_then_replaces(mut self, path: Option<&'a PathBuf>, option: &'a str) -> Self {
        self.inputs.extend(path.map(|path| Input { path, replaced_by: Some(option) }));
        self
    }

    /// Adds the output file of `option`.
    pub fn writes(self, option: &'a str, path: Option<&'a PathBuf>) -> Self {
        self.output(option, path, OutputKind::File)
    }

    /// Adds the output file of `option`; `-` is standard output.
    pub fn writes_or_prints(self, option: &'a str, path: impl Into<Option<&'a PathBuf>>) -> Self {
        self.output(option, path.into(), OutputKind::FileOrStandard)
    }

    /// Adds the output folder of `option`.
    pub fn writes_folder(self, option: &'a str, path: Option<&'a PathBuf>) -> Self {
        self.output(option, path, OutputKind::Folder)
    }

    fn output(mut self, option: &'a str, path: Option<&'a PathBuf>, kind: OutputKind) -> Self {
        self.outputs.extend(path.map(|path| Output { option, path, kind }));
        self
    }

    /// Refuses outputs that cannot be written, that would replace an input, or that would replace each other.
    pub fn check(&self) -> Result<(), Failure> {
        for (k, output) in self.outputs.iter().enumerate() {
            let Output { option, path, kind } = output;
            if *path == Path::new(STANDARD) {
                if *kind == OutputKind::FileOrStandard {
                    continue;
                }
                return Err(Failure::Usage(format!("{option} -: must be a file, not standard output")));
            }
            let replaces = |input: &&Input<'_>| {
                input.replaced_by != Some(option) && is_same_file(input.path, path) && !input.path.is_dir()
            };
            if self.inputs.iter().any(|input| replaces(&input)) {
                return Err(Failure::Usage(format!(
                    "{}: this is an input file; give the output another name",
                    path.display()
                )));
            }
            if let Some(other) = self.outputs[..k].iter().find(|other| is_same_file(other.path, path)) {
                return Err(Failure::Usage(format!(
                    "{option}: {} is already the output of {}; name another file",
                    path.display(),
                    other.option
                )));
            }
            if *kind != OutputKind::Folder {
                check_folder(path)?;
            }
        }
        Ok(())
    }
}

/// Refuses an output that is a folder or whose folder does not exist.
fn check_folder(output: &Path) -> Result<(), Failure> {
    let folder = output.parent().filter(|p| !p.as_os_str().is_empty());
    match folder {
        _ if output.is_dir() => {
            Err(Failure::Failed(format!("{}: is a folder; name a file in it", output.display())))
        }
        Some(folder) if !folder.is_dir() => Err(Failure::Failed(format!(
            "{}: there is no folder {}; create it first",
            output.display(),
            folder.display()
        ))),
        _ => Ok(()),
    }
}

/// Whether two paths name the same file, which need not exist. Devices such as `/dev/null` may be named twice.
fn is_same_file(a: &Path, b: &Path) -> bool {
    let standard = Path::new(STANDARD);
    if a == standard || b == standard {
        return false;
    }
    match (absolute(a), absolute(b)) {
        (Some(a), Some(b)) => a == b && (a.is_file() || a.is_dir() || !a.exists()),
        _ => a == b,
    }
}

/// The absolute path without links and dots. Its last part need not exist.
fn absolute(path: &Path) -> Option<PathBuf> {
    path.canonicalize().ok().or_else(|| {
        let folder = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
        Some(folder.canonicalize().ok()?.join(path.file_name()?))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn different_paths_of_one_file_are_recognized() {
        let dir = tempfile::tempdir().unwrap();
        let path = |name: &str| dir.path().join(name);
        std::fs::create_dir(path("sub")).unwrap();
        assert!(is_same_file(&path("new.tsv"), &path("sub/../new.tsv")));
        assert!(!is_same_file(&path("new.tsv"), &path("sub/new.tsv")));
        std::fs::write(path("old.tsv"), "x").unwrap();
        assert!(is_same_file(&path("old.tsv"), &path("./old.tsv")));
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink(path("old.tsv"), path("link")).unwrap();
            assert!(is_same_file(&path("link"), &path("old.tsv")));
            assert!(!is_same_file(Path::new("/dev/null"), Path::new("/dev/null")));
        }
        assert!(!is_same_file(Path::new("-"), Path::new("-")));
    }

    #[test]
    fn a_resumed_state_may_be_replaced_only_by_the_new_state() {
        let dir = tempfile::tempdir().unwrap();
        let state = dir.path().join("s.evs");
        std::fs::write(&state, "x").unwrap();
        let files = || Files::default().reads_then_replaces(Some(&state), "--state");
        assert!(files().writes("--state", Some(&state)).check().is_ok());
        assert!(files().writes("--curve", Some(&state)).check().is_err());
    }
}
