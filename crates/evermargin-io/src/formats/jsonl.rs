//! JSON lines: one flat object per line, strictly as in RFC 8259.
//!
//! Numbers stay as written and are parsed like other cells; strings are unescaped. A value that is itself an object or a
//! list is refused where it begins, regardless of its depth.

use crate::error::excerpt;
use crate::remedy::{Limit, Message, Remedy};
use std::collections::HashMap;

/// Location of the text of a value: in the line or, unescaped, in the scratch buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Span {
    Line(usize, usize),
    Scratch(usize, usize),
    Empty,
}

impl Span {
    pub(crate) fn of<'t>(self, line: &'t str, scratch: &'t str) -> &'t str {
        match self {
            Self::Line(from, to) => &line[from..to],
            Self::Scratch(from, to) => &scratch[from..to],
            Self::Empty => "",
        }
    }
}

/// Keys in the order of their first appearance.
#[derive(Debug, Clone, Default)]
pub(crate) struct Keys {
    pub(crate) names: Vec<String>,
    place: HashMap<String, usize>,
}

impl Keys {
    pub(crate) fn add(&mut self, name: &str) {
        if !self.place.contains_key(name) {
            self.place.insert(name.to_string(), self.names.len());
            self.names.push(name.to_string());
        }
    }
}

/// Cells of one object at a time.
#[derive(Default)]
pub(crate) struct Cells {
    pub(crate) spans: Vec<Span>,
    taken: Vec<bool>,
    pub(crate) scratch: String,
    /// Whether an unknown key was ignored.
    pub(crate) has_other_keys: bool,
}

impl Cells {
    /// Reads the values of the known keys; others are ignored.
    pub(crate) fn read(&mut self, line: &str, keys: &Keys) -> Result<(), String> {
        self.scratch.clear();
        self.spans.clear();
        self.spans.resize(keys.names.len(), Span::Empty);
        self.taken.clear();
        self.taken.resize(keys.names.len(), false);
        let (spans, taken, others) = (&mut self.spans, &mut self.taken, &mut self.has_other_keys);
        // Keys usually have the same order as in earlier objects.
        let mut next = 0;
        scan(line, &mut self.scratch, |key, span| {
            let at = if keys.names.get(next).is_some_and(|n| n == key) {
                next
            } else if let Some(at) = keys.place.get(key) {
                *at
            } else {
                *others = true;
                return Ok(());
            };
            next = at + 1;
            if std::mem::replace(&mut taken[at], true) {
                return Err(twice(key));
            }
            spans[at] = span;
            Ok(())
        })
    }
}

/// Adds the keys of a line to the known ones, up to `cap` keys in total.
pub(crate) fn add_keys(line: &str, keys: &mut Keys, cap: usize) -> Result<(), Message> {
    let mut scratch = String::new();
    let mut too_many = false;
    scan(line, &mut scratch, |key, _| {
        if !keys.place.contains_key(key) {
            if keys.names.len() == cap {
                too_many = true;
                return Err(String::new());
            }
            keys.add(key);
        }
        Ok(())
    })
    .map_err(|what| {
        if too_many {
            return Message::new(format!("more than {cap} keys"), Remedy::Raise(Limit::Columns));
        }
        what.into()
    })
}

/// Whether the line is an object that can be read.
pub(crate) fn is_object(line: &str) -> bool {
    scan(line, &mut String::new(), |_, _| Ok(())).is_ok()
}

fn twice(key: &str) -> String {
    format!("key '{}' appears twice; keep one of them", excerpt(key.as_bytes()))
}

/// Calls `f(key, value)` for each pair of the object in the line.
fn scan(
    line: &str,
    scratch: &mut String,
    mut f: impl FnMut(&str, Span) -> Result<(), String>,
) -> Result<(), String> {
    let mut at = Scanner { line, bytes: line.as_bytes(), at: 0, scratch };
    at.blanks();
    if !at.take(b'{') {
        return Err("not a JSON object; each line must be one, as in {\"a\": 1, \"b\": \"x\"}".to_string());
    }
    at.blanks();
    if !at.take(b'}') {
        loop {
            at.blanks();
            if at.peek() != Some(b'"') {
                return Err(at.unexpected("a key in quotes"));
            }
            let key = at.string().map_err(|what| format!("a key {what}"))?;
            at.blanks();
            if !at.take(b':') {
                return Err(at.unexpected("a colon after the key"));
            }
            at.blanks();
            let value = at.value();
            let key = key.of(line, at.scratch);
            let value = value.map_err(|what| format!("key '{}': {what}", excerpt(key.as_bytes())))?;
            f(key, value)?;
            at.blanks();
            if at.take(b'}') {
                break;
            }
            if !at.take(b',') {
                return Err(at.unexpected("a comma or the end of the object"));
            }
        }
    }
    at.blanks();
    if at.peek().is_some() { Err(at.unexpected("nothing after the object")) } else { Ok(()) }
}

struct Scanner<'t> {
    line: &'t str,
    bytes: &'t [u8],
    at: usize,
    scratch: &'t mut String,
}

impl Scanner<'_> {
    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    fn take(&mut self, byte: u8) -> bool {
        let here = self.peek() == Some(byte);
        self.at += usize::from(here);
        here
    }

    fn blanks(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\r' | b'\n')) {
            self.at += 1;
        }
    }

    #[cold]
    fn unexpected(&self, wanted: &str) -> String {
        match self.bytes.get(self.at..).filter(|rest| !rest.is_empty()) {
            None => format!("the object ends too early: expected {wanted}"),
            Some(rest) => {
                format!("expected {wanted}, found '{}' at byte {}", excerpt(rest), self.at + 1)
            }
        }
    }

    fn value(&mut self) -> Result<Span, String> {
        match self.peek() {
            Some(b'"') => self.string().map_err(|what| format!("its string {what}")),
            Some(b'{' | b'[') => {
                Err("an object or a list inside; only numbers, strings, true, false and null are read".into())
            }
            _ => self.bare(),
        }
    }

    /// Reads a number, `true`, `false` or `null`.
    fn bare(&mut self) -> Result<Span, String> {
        let start = self.at;
        while !matches!(self.peek(), None | Some(b',' | b'}' | b']' | b' ' | b'\t' | b'\r' | b'\n')) {
            self.at += 1;
        }
        let token = &self.bytes[start..self.at];
        match token {
            b"null" => Ok(Span::Empty),
            b"true" | b"false" => Ok(Span::Line(start, self.at)),
            _ if is_number(token) => Ok(Span::Line(start, self.at)),
            b"NaN" | b"Infinity" | b"-Infinity" => Err(format!(
                "{} is no value in JSON; write null for a missing one",
                String::from_utf8_lossy(token)
            )),
            b"" => Err("its value is missing".to_string()),
            _ => Err(format!("'{}' is no value in JSON", excerpt(token))),
        }
    }

    /// Reads a string and returns the span between its quotes.
    fn string(&mut self) -> Result<Span, String> {
        let start = self.at + 1;
        let mut plain = start;
        let end = loop {
            match self.bytes.get(plain) {
                None => return Err("never closes".to_string()),
                Some(b'"') => break plain,
                Some(b'\\') => return self.escaped(start, plain),
                Some(0..0x20) => return Err(control()),
                Some(_) => plain += 1,
            }
        };
        self.at = end + 1;
        Ok(Span::Line(start, end))
    }

    /// Reads a string with escapes, the first of them at `escape`.
    fn escaped(&mut self, start: usize, escape: usize) -> Result<Span, String> {
        let begin = self.scratch.len();
        let mut run = start;
        self.at = escape;
        loop {
            match self.peek() {
                None => return Err("never closes".to_string()),
                Some(b'"') => {
                    self.scratch.push_str(&self.line[run..self.at]);
                    self.at += 1;
                    return Ok(Span::Scratch(begin, self.scratch.len()));
                }
                Some(b'\\') => {
                    self.scratch.push_str(&self.line[run..self.at]);
                    self.at += 1;
                    let sign = self.escape()?;
                    self.scratch.push(sign);
                    run = self.at;
                }
                Some(0..0x20) => return Err(control()),
                Some(_) => self.at += 1,
            }
        }
    }

    fn escape(&mut self) -> Result<char, String> {
        let sign = self.peek();
        self.at += 1;
        match sign {
            Some(sign @ (b'"' | b'\\' | b'/')) => Ok(sign as char),
            Some(b'b') => Ok('\u{8}'),
            Some(b'f') => Ok('\u{c}'),
            Some(b'n') => Ok('\n'),
            Some(b'r') => Ok('\r'),
            Some(b't') => Ok('\t'),
            Some(b'u') => self.unicode(),
            _ => Err("holds a backslash that escapes nothing; write \\\\".to_string()),
        }
    }

    /// Reads the four hexadecimal digits of a character, and the second half of a surrogate pair.
    fn unicode(&mut self) -> Result<char, String> {
        let lone = || "holds half of a surrogate pair".to_string();
        let first = self.digits()?;
        if !(0xd800..0xe000).contains(&first) {
            return char::from_u32(first).ok_or_else(lone);
        }
        if first >= 0xdc00 || !self.take(b'\\') || !self.take(b'u') {
            return Err(lone());
        }
        let second = self.digits()?;
        if !(0xdc00..0xe000).contains(&second) {
            return Err(lone());
        }
        char::from_u32(0x10000 + ((first - 0xd800) << 10) + (second - 0xdc00)).ok_or_else(lone)
    }

    fn digits(&mut self) -> Result<u32, String> {
        let mut value = 0;
        for _ in 0..4 {
            let digit = self.peek().and_then(|b| (b as char).to_digit(16));
            value = value * 16 + digit.ok_or("holds \\u without four hexadecimal digits")?;
            self.at += 1;
        }
        Ok(value)
    }
}

#[cold]
fn control() -> String {
    "holds a control character; write it as \\u and four digits".to_string()
}

/// Whether a token is a number by the grammar of RFC 8259, section 6.
fn is_number(token: &[u8]) -> bool {
    let mut rest = token.strip_prefix(b"-").unwrap_or(token);
    let digits = |from: &mut &[u8]| {
        let n = from.iter().take_while(|b| b.is_ascii_digit()).count();
        let leading_zero = n > 1 && from[0] == b'0';
        *from = &from[n..];
        (n, leading_zero)
    };
    let (whole, leading_zero) = digits(&mut rest);
    if whole == 0 || leading_zero {
        return false;
    }
    if let Some(fraction) = rest.strip_prefix(b".") {
        rest = fraction;
        if digits(&mut rest).0 == 0 {
            return false;
        }
    }
    if let [b'e' | b'E', exponent @ ..] = rest {
        rest = exponent.strip_prefix(b"-").or(exponent.strip_prefix(b"+")).unwrap_or(exponent);
        if digits(&mut rest).0 == 0 {
            return false;
        }
    }
    rest.is_empty()
}

#[cfg(test)]
mod tests {
    use super::{Cells, Keys, add_keys, scan};
    use proptest::prelude::*;
    use serde_json::Value;

    fn pairs(line: &str) -> Result<Vec<(String, String)>, String> {
        let mut keys = Keys::default();
        add_keys(line, &mut keys, 100).map_err(|e| e.to_string())?;
        let mut cells = Cells::default();
        cells.read(line, &keys)?;
        let text = cells.spans.iter().map(|s| s.of(line, &cells.scratch).to_string());
        Ok(keys.names.iter().cloned().zip(text).collect())
    }

    #[test]
    fn reads_flat_objects() {
        let read =
            pairs(r#" { "a" : -1.50e3 ,"b\n\u00e9":"x\ud83d\ude00\"y","c":true,"d":null,"":"" } "#).unwrap();
        let expected = [("a", "-1.50e3"), ("b\né", "x😀\"y"), ("c", "true"), ("d", ""), ("", "")];
        assert_eq!(read, expected.map(|(k, v)| (k.to_string(), v.to_string())));
        assert_eq!(pairs("{}").unwrap(), []);
    }

    #[test]
    fn names_reason_of_refusal() {
        let deep = format!("{{\"a\": {}", "[".repeat(1_000_000));
        for (line, what) in [
            (r#"{"a": {"b": 1}}"#, "key 'a': an object or a list inside"),
            (&*deep, "key 'a': an object or a list inside"),
            (r#"{"a": 1, "a": 2}"#, "key 'a' appears twice"),
            (r#"{"a": NaN}"#, "key 'a': NaN is no value in JSON; write null"),
            (r#"{"a": "\ud800x"}"#, "key 'a': its string holds half of a surrogate pair"),
            (r#"{"a": "\udc00"}"#, "half of a surrogate pair"),
            (r#"{"a": "\ud800\u0041"}"#, "half of a surrogate pair"),
            (r#"{"a": 01}"#, "key 'a': '01' is no value in JSON"),
            (r#"{"a": }"#, "key 'a': its value is missing"),
            (r#"{"a": "x"#, "never closes"),
            (r#"{"a": 1"#, "the object ends too early"),
            (r#"{"a": 1} x"#, "expected nothing after the object"),
            (r"{a: 1}", "expected a key in quotes, found 'a: 1}' at byte 2"),
            ("[1]", "not a JSON object"),
            ("{\"a\": \"\u{1}\"}", "holds a control character"),
            (r#"{"a": "\q"}"#, "backslash that escapes nothing"),
        ] {
            let error = pairs(line).unwrap_err();
            assert!(error.contains(what), "{error}");
        }
    }

    /// Object that serde_json reads from a line; `None` for errors and objects with lists.
    fn expected(line: &str) -> Option<Vec<(String, Value)>> {
        let Value::Object(map) = serde_json::from_str(line).ok()? else { return None };
        // Brackets occur only in lists, also if serde_json drops a list because its key is repeated.
        (!line.contains('[')).then(|| map.into_iter().collect())
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]
        #[test]
        fn agrees_with_serde_json(line in r#"\{("[ab\\nu0d8]{0,3}": ?("[ x\\"u0123d8]{0,8}"|-?[0-9]{1,2}(\.[0-9]{1,2})?(e[+-]?[0-9])?|true|null|\[1\]|tru),?){0,2}\}"#) {
            let ours = pairs(&line);
            match expected(&line) {
                Some(theirs) => {
                    let mut names = 0;
                    scan(&line, &mut String::new(), |_, _| { names += 1; Ok(()) }).unwrap();
                    // serde_json keeps the last of two equal keys; this parser refuses them.
                    if names == theirs.len() {
                        let mut ours = ours.unwrap();
                        ours.sort();
                        prop_assert_eq!(ours.len(), theirs.len());
                        for ((key, text), (name, value)) in ours.into_iter().zip(theirs) {
                            prop_assert_eq!(key, name);
                            match value {
                                Value::String(s) => prop_assert_eq!(text, s),
                                Value::Null => prop_assert_eq!(text, ""),
                                Value::Bool(b) => prop_assert_eq!(text, b.to_string()),
                                number => prop_assert_eq!(text.parse::<f64>().ok(), number.as_f64()),
                            }
                        }
                    } else {
                        prop_assert!(ours.is_err());
                    }
                }
                None => prop_assert!(ours.is_err(), "{:?}", ours),
            }
        }
    }
}
