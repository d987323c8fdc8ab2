//! Tab-separated files that grow with each batch: predictions of all rows, and rejected rows. Each line begins with the
//! number of its row in the stream. A resumed run keeps the lines of earlier batches and writes those of the last batch again,
//! so that no line is lost or duplicated if the program was stopped before they were written.

use crate::failure::Failure;
use evermargin::engine::{Classes, InferredLabel, RowSource};
use evermargin_io::RejectedRow;
use evermargin_session::Session;
use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// The file of predictions.
pub struct Predictions(GrowingFile);

impl Predictions {
    /// Opens the file of a new or resumed run.
    pub fn open(path: &Path, session: &Session) -> Result<Self, Failure> {
        let lines = prediction_lines(session);
        Ok(Self(GrowingFile::open(path, "row\tid\tlabel\tconfidence\tsource", session.first_row(), &lines)?))
    }

    /// Writes the predictions of a closed batch, with a line for each rejected row.
    pub fn write(&mut self, session: &Session) -> Result<(), Failure> {
        self.0.append(&prediction_lines(session))
    }
}

fn prediction_lines(session: &Session) -> Vec<String> {
    let classes = session.engine().classes();
    let rows = session.numbered_predictions().into_iter().zip(session.row_ids());
    rows.map(|((row, found), id)| prediction_line(row, id, found, classes)).collect()
}

/// The line of a row. A given label and a rejected row have no confidence.
fn prediction_line(row: u64, id: &str, prediction: Option<InferredLabel>, classes: &Classes) -> String {
    let prediction = prediction.unwrap_or(InferredLabel::NONE);
    let class = prediction.class.and_then(|c| classes.names().get(c as usize));
    let inferred = prediction.source.is_some_and(|source| source != RowSource::Given);
    let confidence = if inferred { format!("{:.4}", prediction.confidence) } else { String::new() };
    let source = prediction.source.map_or("", RowSource::name);
    format!("{row}\t{}\t{}\t{confidence}\t{source}", plain(id), class.map_or("?".into(), |name| plain(name)))
}

/// A cell of a tab-separated file, with control characters replaced by blanks.
fn plain(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

const REJECTS_HEADER: &str = "row\tfile\tline\tcolumn\tvalue\treason";

/// The file of rejected rows.
pub struct Rejects(GrowingFile);

impl Rejects {
    /// Opens the file of a new or resumed run.
    pub fn open(path: &Path, session: &Session) -> Result<Self, Failure> {
        let lines = rejected_lines(session.rejected_rows());
        Ok(Self(GrowingFile::open(path, REJECTS_HEADER, session.first_row(), &lines)?))
    }

    /// Writes the file of a run that ended without a session because no row was usable.
    pub fn write_without_session(path: &Path, rows: &[RejectedRow]) -> Result<(), Failure> {
        GrowingFile::open(path, REJECTS_HEADER, 1, &rejected_lines(rows)).map(|_| ())
    }

    /// Writes the rejected rows of the last batch.
    pub fn write(&mut self, session: &Session) -> Result<(), Failure> {
        self.0.append(&rejected_lines(session.rejected_rows()))
    }
}

fn rejected_lines(rows: &[RejectedRow]) -> Vec<String> {
    let line = |row: &RejectedRow| {
        let [column, value] = [&row.column, &row.value].map(|cell| plain(cell.as_deref().unwrap_or("")));
        let (number, file, reason) = (row.row, plain(&row.file), plain(&row.reason));
        format!("{number}\t{file}\t{}\t{column}\t{value}\t{reason}", row.line)
    };
    rows.iter().map(line).collect()
}

/// A text file with a header and lines that begin with ascending row numbers.
struct GrowingFile {
    file: File,
    path: PathBuf,
}

impl GrowingFile {
    /// Opens a file, keeps its lines of rows before `first_row`, and appends the `last` lines. Begins a new file if there is none
    /// or the run has no rows yet.
    fn open(path: &Path, header: &str, first_row: u64, last: &[String]) -> Result<Self, Failure> {
        let wrong = |e: std::io::Error| Failure::io(&path.display().to_string(), &e);
        let opened =
            OpenOptions::new().create(true).read(true).write(true).truncate(first_row <= 1).open(path);
        let mut growing = Self { file: opened.map_err(wrong)?, path: path.to_path_buf() };
        let kept = match end_of_rows(&growing.file, header, first_row).map_err(wrong)? {
            ExistingLines::None => 0,
            ExistingLines::EndAt(end) => end,
            ExistingLines::OfAnotherFile => {
                let message = "does not belong to this run: its first line differs; name another file";
                return Err(Failure::Failed(format!("{}: {message}", path.display())));
            }
        };
        growing.file.set_len(kept).map_err(wrong)?;
        growing.file.seek(SeekFrom::Start(kept)).map_err(wrong)?;
        if kept == 0 {
            growing.append(&[header.to_string()])?;
        }
        growing.append(last)?;
        Ok(growing)
    }

    fn append(&mut self, lines: &[String]) -> Result<(), Failure> {
        let text: String = lines.iter().flat_map(|line| [line.as_str(), "\n"]).collect();
        self.file.write_all(text.as_bytes()).map_err(|e| Failure::io(&self.path.display().to_string(), &e))
    }
}

/// Lines of earlier batches in an existing file.
#[derive(Debug, PartialEq, Eq)]
enum ExistingLines {
    /// The file is empty.
    None,
    /// The header and the lines end at this byte.
    EndAt(u64),
    /// The file has another header.
    OfAnotherFile,
}

/// End of the lines of rows before `first_row`. An incomplete line is not kept.
fn end_of_rows(file: &File, header: &str, first_row: u64) -> std::io::Result<ExistingLines> {
    let mut file = file;
    file.seek(SeekFrom::Start(0))?;
    let (mut reader, mut end, mut line) = (BufReader::new(file), 0, Vec::new());
    while reader.read_until(b'\n', &mut line)? > 0 {
        let Some(text) = line.strip_suffix(b"\n") else { break };
        if end == 0 {
            if text != header.as_bytes() {
                return Ok(ExistingLines::OfAnotherFile);
            }
        } else {
            let number = text.split(|b| *b == b'\t').next().and_then(|n| std::str::from_utf8(n).ok());
            if number.and_then(|n| n.parse::<u64>().ok()).is_none_or(|row| row >= first_row) {
                break;
            }
        }
        end += line.len() as u64;
        line.clear();
    }
    if end > 0 || line.is_empty() || header.as_bytes().starts_with(&line) {
        return Ok(if end > 0 { ExistingLines::EndAt(end) } else { ExistingLines::None });
    }
    Ok(ExistingLines::OfAnotherFile)
}

#[cfg(test)]
mod tests {
    use super::GrowingFile;

    #[test]
    fn lines_of_the_last_batch_are_neither_lost_nor_duplicated() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("f.tsv");
        let text = || std::fs::read_to_string(&path).unwrap();
        let last = ["8\tc".to_string(), "9\td".to_string()];
        let whole = "row\tx\n1\ta\n7\tb\n8\tc\n9\td\n10\te\n";
        for found in ["", "8", "8\tc\n", "8\tc\n9\td\n", "8\tc\n9\td\n10\te\n11\tf", "8\told\n"] {
            std::fs::write(&path, format!("row\tx\n1\ta\n7\tb\n{found}")).unwrap();
            GrowingFile::open(&path, "row\tx", 8, &last).unwrap().append(&["10\te".into()]).unwrap();
            assert_eq!(text(), whole, "{found:?}");
        }
        for found in ["", "row", "row\tx\n"] {
            std::fs::write(&path, found).unwrap();
            GrowingFile::open(&path, "row\tx", 8, &last).unwrap();
            assert_eq!(text(), "row\tx\n8\tc\n9\td\n", "a file that was not named before, {found:?}");
        }
        std::fs::write(&path, "my notes\n").unwrap();
        assert!(GrowingFile::open(&path, "row\tx", 8, &last).is_err());
        assert_eq!(text(), "my notes\n");
        GrowingFile::open(&path, "row\tx", 1, &[]).unwrap();
        assert_eq!(text(), "row\tx\n");
    }
}
