//! Tab-separated files that grow per batch: predictions of all rows, and rejected rows. A resumed run keeps the lines of
//! finished batches and adds those of the last one if the program was stopped before they were written.

use crate::failure::Failure;
use evermargin::engine::{Classes, InferredLabel};
use evermargin_io::RejectedRow;
use evermargin_session::Session;
use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// The file of predictions.
pub struct Predictions {
    file: GrowingFile,
    row: u64,
}

impl Predictions {
    /// Opens the file of a run at its beginning or where it was left.
    pub fn open(path: &Path, session: &Session) -> Result<Self, Failure> {
        let (done, last) = (session.statistics().current.closed_rows, session.predictions());
        let before = done - (last.len() as u64).min(done);
        let lines = prediction_lines(before, last, session.engine().classes());
        let file = GrowingFile::open(path, "row\tlabel\tconfidence", done, &lines)?;
        Ok(Self { file, row: done })
    }

    /// Writes the predictions for a closed batch.
    pub fn write(&mut self, session: &Session) -> Result<(), Failure> {
        let predictions = session.predictions();
        self.file.append(&prediction_lines(self.row, predictions, session.engine().classes()))?;
        self.row += predictions.len() as u64;
        Ok(())
    }
}

fn prediction_lines(before: u64, predictions: &[InferredLabel], classes: &Classes) -> Vec<String> {
    let line = |(row, prediction): (u64, &InferredLabel)| {
        let class = prediction.class.and_then(|c| classes.names().get(c as usize));
        format!("{row}\t{}\t{:.4}", class.map_or("?", String::as_str), prediction.confidence)
    };
    (before + 1..).zip(predictions).map(line).collect()
}

/// The file of rejected rows.
pub struct Rejects(GrowingFile);

impl Rejects {
    /// Opens the file of a run at its beginning or where it was left.
    pub fn open(path: &Path, session: &Session) -> Result<Self, Failure> {
        // Rows whose label alone was rejected are listed too.
        let done = session.statistics().current.rejected_rows + session.engine().rejected_labels();
        let lines = rejected_lines(session.rejected_rows());
        Ok(Self(GrowingFile::open(path, "file\tline\tcolumn\tvalue\treason", done, &lines)?))
    }

    /// Writes the rejected rows of the last batch.
    pub fn write(&mut self, session: &Session) -> Result<(), Failure> {
        self.0.append(&rejected_lines(session.rejected_rows()))
    }
}

fn rejected_lines(rows: &[RejectedRow]) -> Vec<String> {
    let plain =
        |text: &str| -> String { text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect() };
    let line = |row: &RejectedRow| {
        let [column, value] = [&row.column, &row.value].map(|cell| plain(cell.as_deref().unwrap_or("")));
        format!("{}\t{}\t{column}\t{value}\t{}", plain(&row.file), row.line, plain(&row.reason))
    };
    rows.iter().map(line).collect()
}

/// A text file with a header and lines that are only ever added.
struct GrowingFile {
    file: File,
    path: PathBuf,
}

impl GrowingFile {
    /// Opens a file that holds `done` lines below its header. The `last` of them are written if they are missing, and
    /// what follows them is removed.
    fn open(path: &Path, header: &str, done: u64, last: &[String]) -> Result<Self, Failure> {
        let wrong = |e: std::io::Error| Failure::io(&path.display().to_string(), &e);
        let fresh = !path.exists() || done == 0;
        let opened = OpenOptions::new().create(true).read(true).write(true).truncate(fresh).open(path);
        let mut growing = Self { file: opened.map_err(wrong)?, path: path.to_path_buf() };
        if fresh {
            growing.append(&[header.to_string()])?;
            return Ok(growing);
        }
        let before = done - (last.len() as u64).min(done);
        let whole = end_of_line(&growing.file, done + 1).map_err(wrong)?;
        let end =
            if whole.is_some() { whole } else { end_of_line(&growing.file, before + 1).map_err(wrong)? };
        let Some(end) = end else {
            let what = "has fewer lines than the run has written; name another file, which then begins here";
            return Err(Failure::Failed(format!("{}: {what}", path.display())));
        };
        growing.file.set_len(end).map_err(wrong)?;
        growing.file.seek(SeekFrom::End(0)).map_err(wrong)?;
        if whole.is_none() {
            growing.append(last)?;
        }
        Ok(growing)
    }

    fn append(&mut self, lines: &[String]) -> Result<(), Failure> {
        let text: String = lines.iter().flat_map(|line| [line.as_str(), "\n"]).collect();
        self.file.write_all(text.as_bytes()).map_err(|e| Failure::io(&self.path.display().to_string(), &e))
    }
}

/// The byte after line number `lines`; none if there are fewer lines.
fn end_of_line(file: &File, lines: u64) -> std::io::Result<Option<u64>> {
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

#[cfg(test)]
mod tests {
    use super::GrowingFile;

    #[test]
    fn lines_of_the_last_batch_are_neither_lost_nor_doubled() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("f.tsv");
        let text = || std::fs::read_to_string(&path).unwrap();
        let last = ["c".to_string(), "d".to_string()];
        for found in ["h\na\nb\n", "h\na\nb\nc", "h\na\nb\nc\nd\n", "h\na\nb\nc\nd\ne\nf"] {
            std::fs::write(&path, found).unwrap();
            GrowingFile::open(&path, "h", 4, &last).unwrap().append(&["e".into()]).unwrap();
            assert_eq!(text(), "h\na\nb\nc\nd\ne\n", "{found:?}");
        }
        std::fs::write(&path, "h\na\n").unwrap();
        assert!(GrowingFile::open(&path, "h", 4, &last).is_err());
        GrowingFile::open(&path, "h", 0, &[]).unwrap();
        assert_eq!(text(), "h\n");
    }
}
