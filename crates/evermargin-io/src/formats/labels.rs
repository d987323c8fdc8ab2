//! Label tokens: they are interned while rows are read and converted to classes at the end, or read from a separate file.

use crate::decompress::{display_name, read_whole};
use crate::error::{Error, Result, excerpt};
use crate::formats::{idx, npy};
use crate::limits::Limits;
use crate::remedy::{Limit, Message};
use evermargin::data::Labels;
use std::collections::HashMap;
use std::path::Path;

/// Interned number of rows without a label.
pub(crate) const UNLABELED: u32 = u32::MAX;

/// Distinct tokens in the order of their first appearance.
#[derive(Default)]
pub(crate) struct Interner<'a> {
    numbers: HashMap<&'a str, u32>,
    pub(crate) tokens: Vec<&'a str>,
    last: Option<(&'a [u8], u32)>,
}

impl<'a> Interner<'a> {
    /// Number of a token. The error is the reason why the token cannot be a label.
    #[inline]
    pub(crate) fn number(&mut self, token: &'a [u8]) -> std::result::Result<u32, String> {
        match self.last {
            Some((text, number)) if text == token => Ok(number),
            _ => self.look_up(token),
        }
    }

    fn look_up(&mut self, token: &'a [u8]) -> std::result::Result<u32, String> {
        let text = std::str::from_utf8(token)
            .map_err(|_| format!("label '{}' is not UTF-8; save the file as UTF-8", excerpt(token)))?
            .trim();
        if text.contains(|c: char| c.is_control()) {
            return Err(format!(
                "label '{}' holds a control character; is this a text file?",
                excerpt(token)
            ));
        }
        let number = if text.is_empty() || text == "?" {
            UNLABELED
        } else if text.eq_ignore_ascii_case("nan") {
            return Err(format!("label {text} names no class; write ? for a row without label"));
        } else {
            let text = plain(text);
            let next = self.tokens.len() as u32;
            let number = *self.numbers.entry(text).or_insert(next);
            if number == next {
                self.tokens.push(text);
            }
            number
        };
        self.last = Some((token, number));
        Ok(number)
    }

    /// Labels of rows that have these interned numbers.
    pub(crate) fn labels(&self, of: &[u32]) -> Labels {
        let distinct = Labels::from_tokens(self.tokens.iter().map(|t| Some(*t)));
        let class = |n: &u32| distinct.of.get(*n as usize).copied().flatten();
        Labels { of: of.iter().map(class).collect(), classes: distinct.classes }
    }
}

/// Name of the class of a token: `3.`, `3.0` and `3.000` are the class `3`.
fn plain(token: &str) -> &str {
    match token.split_once('.') {
        Some((whole, fraction)) if fraction.bytes().all(|b| b == b'0') => {
            let digits = whole.trim_start_matches(['+', '-']);
            if !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit()) { whole } else { token }
        }
        _ => token,
    }
}

/// Labels of rows without labels.
pub(crate) fn none(rows: usize) -> Labels {
    Labels { classes: Vec::new(), of: vec![None; rows] }
}

/// Reads labels from a separate file: one per line, or a one-dimensional `.npy` or IDX array. If the labels are −1, 0 and
/// +1, then 0 means "no label", as in the two-file format of SVMlin.
pub(crate) fn from_file(path: &Path, limits: &Limits, notes: &mut Vec<Message>) -> Result<Labels> {
    let name = display_name(path);
    let bytes = read_whole(path, limits)?;
    let text;
    let tokens: Vec<&[u8]> = if npy::is_npy(&bytes) {
        text = npy::read_labels(&name, &bytes, limits)?;
        text.iter().map(String::as_bytes).collect()
    } else if idx::is_idx(&bytes) {
        text = idx::read_labels(&name, &bytes, limits)?;
        text.iter().map(String::as_bytes).collect()
    } else {
        let body = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&bytes);
        let body = body.strip_suffix(b"\n").unwrap_or(body);
        if body.is_empty() { Vec::new() } else { body.split(|b| *b == b'\n').collect() }
    };
    if tokens.len() > limits.max_rows {
        return Err(Error::content(
            &name,
            crate::limits::over(tokens.len(), "labels", limits.max_rows, Limit::Rows),
        ));
    }
    let mut interner = Interner::default();
    let mut of = Vec::with_capacity(tokens.len());
    for (i, token) in tokens.iter().enumerate() {
        let number =
            interner.number(token.trim_ascii()).map_err(|what| Error::line(&name, i as u64 + 1, what))?;
        of.push(number);
    }
    let value = |t: &str| t.parse::<f64>().ok();
    let signs = interner.tokens.iter().all(|t| matches!(value(t), Some(v) if v.abs() == 1.0 || v == 0.0))
        && interner.tokens.iter().any(|t| value(t) == Some(-1.0));
    if signs && let Some(zero) = interner.tokens.iter().position(|t| value(t) == Some(0.0)) {
        let mut unlabeled = 0;
        for number in of.iter_mut().filter(|n| **n == zero as u32) {
            *number = UNLABELED;
            unlabeled += 1;
        }
        notes.push(
            format!("{unlabeled} labels in {name} are 0 and were treated as missing, because the others are -1 and +1")
                .into(),
        );
        return Ok(Labels::from_tokens(of.iter().map(|n| interner.tokens.get(*n as usize).copied())));
    }
    Ok(interner.labels(&of))
}
