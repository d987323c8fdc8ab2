//! The one error type of the formats: which file, where in it, what is wrong and what to do.

use crate::remedy::{Message, Remedy};
use evermargin::cpu::CpuLevel;
use std::fmt;
use std::io;

/// Everything that can go wrong between a file and the core.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// The operating system refused.
    Io {
        /// The file as the user named it.
        file: String,
        /// What was tried, as in "cannot …".
        action: &'static str,
        /// Its reason.
        source: io::Error,
    },
    /// The file was read, but what it says cannot be used.
    Content {
        /// The file as the user named it.
        file: String,
        /// Where in it.
        place: Place,
        /// What is wrong, and what helps.
        message: Message,
    },
    /// A state that was made at another CPU level than the one at which learning would continue.
    OtherCpu {
        /// The file as the user named it.
        file: String,
        /// The level of the machine that made it.
        made: CpuLevel,
        /// The level at which learning would continue.
        here: CpuLevel,
    },
    /// A classifier that the format asked for cannot hold.
    Inexpressible {
        /// What is wrong, and what helps.
        message: Message,
    },
}

/// A place in a text; 0 means not known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Place {
    /// Line, counted from 1.
    pub line: u64,
    /// Byte within the line, counted from 1.
    pub column: u64,
}

/// The result of this crate.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// True when the reader of our output went away (`evermargin … | head`), which is nobody's mistake.
    pub fn is_broken_pipe(&self) -> bool {
        matches!(self, Self::Io { source, .. } if source.kind() == io::ErrorKind::BrokenPipe)
    }

    pub(crate) fn read(file: &str, source: io::Error) -> Self {
        Self::Io { file: file.to_string(), action: "read", source }
    }

    pub(crate) fn write(file: &str, source: io::Error) -> Self {
        Self::Io { file: file.to_string(), action: "write", source }
    }

    pub(crate) fn content(file: &str, what: impl Into<Message>) -> Self {
        Self::Content { file: file.to_string(), place: Place::default(), message: what.into() }
    }

    pub(crate) fn line(file: &str, line: u64, what: impl Into<Message>) -> Self {
        Self::Content { file: file.to_string(), place: Place { line, column: 0 }, message: what.into() }
    }

    /// The same in a text that stands after so many lines of the file.
    pub(crate) fn after(mut self, lines: u64) -> Self {
        if let Self::Content { place, .. } = &mut self
            && place.line > 0
        {
            place.line += lines;
        }
        self
    }

    pub(crate) fn inexpressible(what: impl Into<Message>) -> Self {
        Self::Inexpressible { message: what.into() }
    }
}

/// A fault within one text, before the file's name is known.
#[derive(Debug)]
pub(crate) struct Fault {
    pub(crate) place: Place,
    pub(crate) what: Message,
    /// The column and the value in it, where the fault is one value.
    pub(crate) cell: Option<(String, String)>,
}

impl Fault {
    pub(crate) fn new(line: u64, column: usize, what: impl Into<Message>) -> Self {
        Self { place: Place { line, column: column as u64 }, what: what.into(), cell: None }
    }

    pub(crate) fn within(self, file: &str) -> Error {
        Error::Content { file: file.to_string(), place: self.place, message: self.what }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.worded(|remedy| remedy.to_string()))
    }
}

impl Error {
    /// A name for the kind of error that never changes, for programs.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Io { .. } => "io",
            Self::Content { .. } => "content",
            Self::OtherCpu { .. } => "other-cpu",
            Self::Inexpressible { .. } => "inexpressible",
        }
    }

    /// What helps, if it is one of the known remedies.
    pub fn remedy(&self) -> Option<Remedy> {
        match self {
            Self::Content { message, .. } | Self::Inexpressible { message } => message.remedy,
            Self::Io { .. } | Self::OtherCpu { .. } => None,
        }
    }

    /// The message with its remedy in the words of a front end.
    pub fn worded(&self, words: impl Fn(Remedy) -> String) -> String {
        match self {
            Self::Io { file, action, source } => format!("{file}: cannot {action}: {source}"),
            Self::Content { file, place, message } => {
                let message = message.worded(words);
                match (place.line, place.column) {
                    (0, _) => format!("{file}: {message}"),
                    (line, 0) => format!("{file}:{line}: {message}"),
                    (line, column) => format!("{file}:{line}:{column}: {message}"),
                }
            }
            Self::OtherCpu { file, made, here } => format!(
                "{file}: made at CPU level {made}, but this machine computes at level {here}: results would diverge from \
                 those of the first machine in the last bits; continue on a machine of that level, or allow another level"
            ),
            Self::Inexpressible { message } => message.worded(words),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Io { source, .. } => Some(source),
            Self::Content { .. } | Self::OtherCpu { .. } | Self::Inexpressible { .. } => None,
        }
    }
}

/// A piece of a file fit to be shown in a message: at most 40 characters, nothing unprintable.
pub(crate) fn shown(token: &[u8]) -> String {
    let text = String::from_utf8_lossy(token.get(..160).unwrap_or(token));
    let mut out: String = text.chars().take(40).flat_map(escaped).collect();
    if text.chars().nth(40).is_some() {
        out.push('…');
    }
    out
}

fn escaped(c: char) -> Vec<char> {
    if c.is_control() { c.escape_default().collect() } else { vec![c] }
}
