//! Labels of all rows, a line each. A run that goes on keeps the lines of the batches that were done with.

use crate::failure::Failure;
use evermargin::engine::{Classes, InferredLabel};
use std::fmt::Write as _;
use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, Seek, SeekFrom, Write as _};
use std::path::{Path, PathBuf};

/// The file of labels.
pub struct Output {
    file: File,
    path: PathBuf,
    row: u64,
}

const HEAD: &str = "row\tlabel\tconfidence\n";

impl Output {
    /// Opens the file of a run that has labeled `rows` rows, the last of them with these labels: those may be missing, for
    /// the program may have been stopped before they were written.
    pub fn open(path: &Path, rows: u64, last: &[InferredLabel], classes: &Classes) -> Result<Self, Failure> {
        let wrong = |e: std::io::Error| Failure::io(&path.display().to_string(), &e);
        let fresh = !path.exists() || rows == 0;
        let mut file = OpenOptions::new()
            .create(true)
            .read(true)
            .write(true)
            .truncate(fresh)
            .open(path)
            .map_err(wrong)?;
        if fresh {
            file.write_all(HEAD.as_bytes()).map_err(wrong)?;
            return Ok(Self { file, path: path.to_path_buf(), row: rows });
        }
        let before = rows - (last.len() as u64).min(rows);
        let all = end_of(&file, rows + 1).map_err(wrong)?;
        let most = if all.is_some() { all } else { end_of(&file, before + 1).map_err(wrong)? };
        let (whole, Some(end)) = (all.is_some(), most) else {
            let what = "has fewer rows than the run has labeled; name another file, which then begins here";
            return Err(Failure::Failed(format!("{}: {what}", path.display())));
        };
        file.set_len(end).map_err(wrong)?;
        file.seek(SeekFrom::End(0)).map_err(wrong)?;
        let mut output = Self { file, path: path.to_path_buf(), row: if whole { rows } else { before } };
        if !whole {
            output.write(last, classes)?;
        }
        Ok(output)
    }

    /// Writes the labels of a batch.
    pub fn write(&mut self, labels: &[InferredLabel], classes: &Classes) -> Result<(), Failure> {
        let mut text = String::new();
        for label in labels {
            self.row += 1;
            let name = label.class.and_then(|c| classes.names().get(c as usize)).map_or("?", String::as_str);
            let _ = writeln!(text, "{}\t{name}\t{:.4}", self.row, label.confidence);
        }
        self.file.write_all(text.as_bytes()).map_err(|e| Failure::io(&self.path.display().to_string(), &e))
    }
}

/// Where line number `lines` ends; none if there are fewer.
fn end_of(file: &File, lines: u64) -> std::io::Result<Option<u64>> {
    let mut file = file;
    file.seek(SeekFrom::Start(0))?;
    let (mut reader, mut end, mut line) = (BufReader::new(file), 0, Vec::new());
    for _ in 0..lines {
        line.clear();
        let read = reader.read_until(b'\n', &mut line)?;
        if read == 0 || line.last() != Some(&b'\n') {
            return Ok(None);
        }
        end += read as u64;
    }
    Ok(Some(end))
}
