//! Classes of a stream. Names are sorted by value if all are numbers, by bytes otherwise, as elsewhere in the crate.
//! New classes may appear at any time.

use crate::error::{Error, Result};
use serde::{Deserialize, Serialize};

/// Sorted class names.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Classes {
    names: Vec<String>,
}

/// Number of a class, and whether it is new.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Place {
    /// Number of an existing class.
    Existing(u32),
    /// Number of a new class, and the new numbers of the classes that existed before.
    New(u32, Vec<u32>),
}

/// Maximum length of a class name in bytes.
pub(super) const MAX_NAME_BYTES: usize = 256;

impl Classes {
    /// Class names, sorted.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// Number of classes.
    pub fn len(&self) -> usize {
        self.names.len()
    }

    /// Whether there are no classes.
    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    /// Number of the class with a name, if it exists.
    pub fn find(&self, name: &str) -> Option<u32> {
        let name = canonical(name);
        let value = number(name);
        let same = |n: &&String| n.as_str() == name || (value.is_some() && number(n) == value);
        self.names.iter().position(|n| same(&n)).map(|c| c as u32)
    }

    /// Returns an error unless the names are valid and ordered as by [`Classes::place`] (a file may hold anything).
    pub(super) fn check(&self, max: usize) -> Result<()> {
        let mut sorted = Self::default();
        let usable = |n: &String| !n.trim().is_empty() && n.len() <= MAX_NAME_BYTES;
        if self.names.len() <= max && self.names.iter().all(usable) {
            self.names.iter().for_each(|n| drop(sorted.place(n)));
        }
        if sorted == *self {
            Ok(())
        } else {
            Err(Error::State("its classes are invalid or not in order".into()))
        }
    }

    /// Number of the class with a name, which is added if it is new.
    pub(super) fn place(&mut self, name: &str) -> Place {
        if let Some(class) = self.find(name) {
            return Place::Existing(class);
        }
        let before = self.names.clone();
        self.names.push(canonical(name).to_string());
        if self.names.iter().all(|n| number(n).is_some()) {
            let value = |n: &str| number(n).unwrap_or(0.0);
            self.names.sort_by(|a, b| value(a).total_cmp(&value(b)));
        } else {
            self.names.sort();
        }
        let at = |name: &str| self.names.iter().position(|n| n == name).unwrap_or(0) as u32;
        Place::New(at(canonical(name)), before.iter().map(|n| at(n)).collect())
    }
}

/// Canonical form of a name: without surrounding blanks, and numbers without a plus sign.
fn canonical(name: &str) -> &str {
    let name = name.trim();
    if number(name).is_some() { name.trim_start_matches('+') } else { name }
}

fn number(name: &str) -> Option<f64> {
    name.parse::<f64>().ok().filter(|v| v.is_finite()).map(|v| v + 0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_sorted_by_value_and_equal_numbers_are_one_class() {
        let mut c = Classes::default();
        assert_eq!(c.place("10"), Place::New(0, vec![]));
        assert_eq!(c.place("+2"), Place::New(0, vec![1]));
        assert_eq!(c.place(" 2.0 "), Place::Existing(0));
        assert_eq!(c.place("-1"), Place::New(0, vec![1, 2]));
        assert_eq!(c.names(), ["-1", "2", "10"]);
        assert_eq!(c.place("spam"), Place::New(3, vec![0, 2, 1]), "then by bytes: -1, 10, 2, spam");
        assert_eq!(c.find("10"), Some(1));
        assert_eq!(c.find("ham"), None);
    }
}
