//! Detection of the format of a file by its first bytes, then by its name, then by the contents of its lines.

use crate::formats::{idx, npy};
use serde::{Deserialize, Serialize};
use std::path::Path;

/// A data format.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Format {
    /// `label index:value …`; also the examples of SVMlin's two-file form.
    Libsvm,
    /// A table with commas (or semicolons).
    Csv,
    /// A table with tabs.
    Tsv,
    /// A table with blanks, without header, label first.
    Space,
    /// One JSON object per line.
    Jsonl,
    /// A NumPy array.
    Npy,
    /// A NumPy archive, or a SciPy sparse matrix.
    Npz,
    /// The format of MNIST.
    Idx,
}

impl Format {
    /// All formats.
    pub const ALL: [Self; 8] =
        [Self::Libsvm, Self::Csv, Self::Tsv, Self::Space, Self::Jsonl, Self::Npy, Self::Npz, Self::Idx];

    /// Name of the format in options.
    pub fn name(self) -> &'static str {
        match self {
            Self::Libsvm => "libsvm",
            Self::Csv => "csv",
            Self::Tsv => "tsv",
            Self::Space => "space",
            Self::Jsonl => "jsonl",
            Self::Npy => "npy",
            Self::Npz => "npz",
            Self::Idx => "idx",
        }
    }

    /// Format with this name, regardless of case.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|f| f.name().eq_ignore_ascii_case(name))
    }

    /// Whether files of this format are tables.
    pub(crate) fn is_table(self) -> bool {
        matches!(self, Self::Csv | Self::Tsv | Self::Space | Self::Jsonl)
    }

    /// Detects the format of a file. The error is the reason why the file cannot be read.
    pub(crate) fn detect(path: &Path, bytes: &[u8]) -> Result<Self, String> {
        if npy::is_npy(bytes) {
            return Ok(Self::Npy);
        }
        if bytes.starts_with(b"PK\x03\x04") {
            return Ok(Self::Npz);
        }
        if idx::is_idx(bytes) {
            return Ok(Self::Idx);
        }
        if let Some(kind) = foreign(bytes) {
            return Err(format!("{kind} file, which is not read here; save it as CSV, LIBSVM text or .npy"));
        }
        let name = path.file_name().map(|n| n.to_string_lossy().to_lowercase()).unwrap_or_default();
        match Packing::strip(&name).0.rsplit_once('.').map_or("", |(_, suffix)| suffix) {
            "csv" => Ok(Self::Csv),
            "tsv" => Ok(Self::Tsv),
            "jsonl" | "ndjson" => Ok(Self::Jsonl),
            "svm" | "libsvm" | "svmlight" => Ok(Self::Libsvm),
            "npy" => Ok(Self::Npy),
            "npz" => Ok(Self::Npz),
            _ => Ok(sniff(bytes)),
        }
    }

    /// Format and compression of an output file by its name; no format if the name has no suffix. Returns an error for a
    /// suffix of no format that can be written.
    pub(crate) fn of_output(path: &Path) -> Result<(Option<Self>, Option<Packing>), String> {
        if path == Path::new("-") {
            return Ok((Some(Self::Libsvm), None));
        }
        let name = path.file_name().map(|n| n.to_string_lossy().to_lowercase()).unwrap_or_default();
        let (bare, packing) = Packing::strip(&name);
        let suffix = bare.rsplit_once('.').map_or("", |(_, suffix)| suffix);
        let format = match suffix {
            "svm" | "libsvm" | "svmlight" | "txt" => Some(Self::Libsvm),
            "csv" => Some(Self::Csv),
            "tsv" => Some(Self::Tsv),
            "jsonl" | "ndjson" => Some(Self::Jsonl),
            "npy" => Some(Self::Npy),
            "npz" => Some(Self::Npz),
            "" => None,
            other => {
                return Err(format!(
                    "data is not written as .{other}; name a file that ends in .svm, .libsvm, .txt, .csv, .tsv, .jsonl, .npy \
                     or .npz, also with .gz, .xz or .zst"
                ));
            }
        };
        Ok((format, packing))
    }
}

/// Compression of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Packing {
    Gzip,
    Xz,
    Zstd,
}

impl Packing {
    /// Splits a lowercase file name into the name without the suffix of a compression, and that compression.
    pub(crate) fn strip(name: &str) -> (&str, Option<Self>) {
        let known = [(".gz", Self::Gzip), (".xz", Self::Xz), (".zst", Self::Zstd)];
        let found = known.into_iter().find_map(|(ending, p)| Some((name.strip_suffix(ending)?, Some(p))));
        found.unwrap_or((name, None))
    }
}

/// Description of a known file type that is no supported data format, for error messages.
fn foreign(bytes: &[u8]) -> Option<&'static str> {
    match bytes {
        [0x80, 2..=5, ..] => Some("a Python pickle"),
        [b'P', b'A', b'R', b'1', ..] => Some("a Parquet"),
        [0x89, b'H', b'D', b'F', ..] => Some("an HDF5"),
        [b'M', b'A', b'T', b'L', b'A', b'B', b' ', ..] => Some("a MATLAB"),
        _ => None,
    }
}

/// Detects the format by the first lines that are neither blank nor comments.
fn sniff(bytes: &[u8]) -> Format {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let head = &bytes[..bytes.len().min(1 << 16)];
    let lines = || {
        head.split(|b| *b == b'\n').map(<[u8]>::trim_ascii).filter(|l| !l.is_empty() && l[0] != b'#').take(20)
    };
    if lines().next().is_some_and(|l| l[0] == b'{') {
        return Format::Jsonl;
    }
    if lines().any(is_pairs) {
        return Format::Libsvm;
    }
    if lines().any(|l| l.contains(&b'\t')) && !lines().any(|l| l.contains(&b',')) {
        return Format::Tsv;
    }
    if lines().any(|l| l.contains(&b',') || l.contains(&b';')) {
        return Format::Csv;
    }
    if lines().any(|l| l.contains(&b' ')) {
        return Format::Space;
    }
    Format::Libsvm
}

/// Whether a line consists of index:value pairs, with or without a label before them. The last token may be truncated.
fn is_pairs(line: &[u8]) -> bool {
    let line = line.split(|b| *b == b'#').next().unwrap_or_default();
    let mut tokens = line.split(|b| matches!(b, b' ' | b'\t')).filter(|t| !t.is_empty());
    let pair = |t: &[u8]| {
        let t = t.strip_prefix(b"-").unwrap_or(t);
        t.split(|b| *b == b':').next().is_some_and(|i| {
            i.len() < t.len() && !i.is_empty() && (i == b"qid" || i.iter().all(u8::is_ascii_digit))
        })
    };
    let first = tokens.next().is_some_and(pair);
    let second = tokens.next();
    if first { second.is_none_or(pair) && !line.contains(&b',') } else { second.is_some_and(pair) }
}

#[cfg(test)]
mod tests {
    use super::{Format, Path};

    fn of(name: &str, text: &str) -> Format {
        Format::detect(Path::new(name), text.as_bytes()).unwrap()
    }

    #[test]
    fn detects_format_by_lines() {
        assert_eq!(of("a9a", "-1 3:1 11:1\n"), Format::Libsvm);
        assert_eq!(of("x.txt", "1\n2 1:3\n"), Format::Libsvm);
        assert_eq!(of("examples", "1:3 4:2.5\n"), Format::Libsvm);
        assert_eq!(of("zip.train", "6.0000 -1.0000 -0.5\n"), Format::Space);
        assert_eq!(of("whole.data", "7 -1 0\n"), Format::Space);
        assert_eq!(of("negative", "1 -1:5\n"), Format::Libsvm);
        assert_eq!(of("isolet.data", "-.4, .2, 1.\n"), Format::Csv);
        assert_eq!(of("x.data", "a\tb\n1\t2\n"), Format::Tsv);
        assert_eq!(of("events", "\n {\"a\": 1, \"b\": \"1:2 3:4\"}\n"), Format::Jsonl);
        assert_eq!(of("events.ndjson.gz", "1,2"), Format::Jsonl);
        assert_eq!(of("times.data", "12:30,a\n"), Format::Csv);
    }

    #[test]
    fn detects_format_by_name_without_compression() {
        assert_eq!(of("x.CSV.gz", "1 2:3\n"), Format::Csv);
        assert_eq!(of("x.svm.xz", "a,b\n"), Format::Libsvm);
    }
}
