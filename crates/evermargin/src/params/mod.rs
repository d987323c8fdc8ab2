//! Typed parameters: names, accepted values, and the values themselves.
//!
//! Each estimator has a list of [`ParamSpec`]s. The parser of the command line, the checks of Python, the text of
//! errors and the documentation are derived from them. Values are passed as [`ParamValues`], checked against the
//! specification, and fill the struct of the estimator ([`structs`]).

pub mod kind;
pub mod shared;
pub(crate) mod step_limit;
mod stream_syntax;
pub mod structs;
mod value;
mod view_syntax;

pub use kind::{End, FloatRange, ParamKind};
pub use value::{ParamValue, ParamValues};

use crate::error::{Error, Result};

/// The specification of one parameter of an estimator.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ParamSpec {
    /// The name as written by users.
    pub name: &'static str,
    /// The values it accepts.
    pub kind: ParamKind,
    /// Its default, as users would write it.
    pub default: &'static str,
    /// One line of help.
    pub help: &'static str,
}

impl ParamSpec {
    /// A specification.
    pub const fn new(name: &'static str, kind: ParamKind, default: &'static str, help: &'static str) -> Self {
        Self { name, kind, default, help }
    }

    /// A number in a range.
    pub const fn float(
        name: &'static str,
        range: FloatRange,
        default: &'static str,
        help: &'static str,
    ) -> Self {
        Self::new(name, ParamKind::Float(range), default, help)
    }

    /// An integer of at least `min`.
    pub const fn count(name: &'static str, min: i64, default: &'static str, help: &'static str) -> Self {
        Self::new(name, ParamKind::Integer { min, max: i64::MAX }, default, help)
    }

    /// A limit on a count: `none`, or an integer of 1 or more.
    pub const fn limit(name: &'static str, default: &'static str, help: &'static str) -> Self {
        Self::new(name, ParamKind::Limit, default, help)
    }

    /// True or false.
    pub const fn flag(name: &'static str, default: &'static str, help: &'static str) -> Self {
        Self::new(name, ParamKind::Bool, default, help)
    }

    /// One of several words.
    pub const fn choice(
        name: &'static str,
        words: &'static [&'static str],
        default: &'static str,
        help: &'static str,
    ) -> Self {
        Self::new(name, ParamKind::Choice(words), default, help)
    }

    /// The same with another default.
    #[must_use]
    pub const fn default_of(self, default: &'static str) -> Self {
        Self { default, ..self }
    }

    /// The same with another line of help.
    #[must_use]
    pub const fn help_of(self, help: &'static str) -> Self {
        Self { help, ..self }
    }

    /// The same with another range.
    #[must_use]
    pub const fn range_of(self, range: FloatRange) -> Self {
        Self { kind: ParamKind::Float(range), ..self }
    }

    /// The value that a text represents.
    pub fn parse(&self, text: &str) -> Result<ParamValue> {
        self.kind.parse(text).ok_or_else(|| self.refuse(text))
    }

    /// The value in the type of this parameter, if it is allowed.
    pub fn accept(&self, value: &ParamValue) -> Result<ParamValue> {
        self.kind.accept(value).ok_or_else(|| self.refuse(&value.to_string()))
    }

    /// The default, typed.
    pub fn default_value(&self) -> Result<ParamValue> {
        self.parse(self.default)
    }

    fn refuse(&self, value: &str) -> Error {
        let allowed = match self.kind {
            ParamKind::Choice(words) => one_of(value, words),
            kind => kind.to_string(),
        };
        Error::parameter(self.name, value, allowed)
    }
}

/// "one of a, b, c", with a suggestion if one of the names is similar.
pub fn one_of(wrong: &str, names: &[&str]) -> String {
    let list = format!("one of {}", names.join(", "));
    match near(wrong, names).first() {
        Some(name) => format!("{list} (did you mean {name}?)"),
        None => list,
    }
}

/// The names within two edits of a wrong name, nearest first.
pub fn near<'n>(wrong: &str, names: &[&'n str]) -> Vec<&'n str> {
    let mut near: Vec<(usize, &str)> =
        names.iter().map(|n| (distance(wrong, n), *n)).filter(|(d, _)| *d <= 2).collect();
    near.sort_unstable();
    near.into_iter().map(|(_, name)| name).collect()
}

/// Number of edits (insert, delete, replace) between two names.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let replace = diagonal + usize::from(x != *y);
            diagonal = row[j + 1];
            row[j + 1] = replace.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}
