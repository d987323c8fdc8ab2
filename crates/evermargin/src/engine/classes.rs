//! Names of classes, sorted as everywhere: by value when all are numbers, by bytes otherwise. New ones may come at any
//! time.

use crate::error::{Error, Result};
use serde::{Deserialize, Serialize};

/// Names of classes.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Classes {
    names: Vec<String>,
}

/// Where a class is found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Place {
    /// It exists.
    Existing(u32),
    /// It is new; the numbers the classes before it have now.
    New(u32, Vec<u32>),
}

/// Maximum length of a name in bytes.
pub(super) const MAX_NAME_BYTES: usize = 256;

impl Classes {
    /// The names.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.names.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    /// The number of a name, if it is known.
    pub fn find(&self, name: &str) -> Option<u32> {
        let name = canonical(name);
        let value = number(name);
        let same = |n: &&String| n.as_str() == name || (value.is_some() && number(n) == value);
        self.names.iter().position(|n| same(&n)).map(|c| c as u32)
    }

    /// Refuses names that are not as [`Classes::place`] leaves them (a file may say anything).
    pub(super) fn check(&self, max: usize) -> Result<()> {
        let mut anew = Self::default();
        let usable = |n: &String| !n.trim().is_empty() && n.len() <= MAX_NAME_BYTES;
        if self.names.len() <= max && self.names.iter().all(usable) {
            self.names.iter().for_each(|n| drop(anew.place(n)));
        }
        if anew == *self { Ok(()) } else { Err(Error::State("its classes are not in order".into())) }
    }

    /// The number of a name, which is taken in if it is new.
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

/// A name as it is stored: without blanks around it, a number without its plus.
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
    fn numbers_are_sorted_by_value_and_one_class_whatever_their_form() {
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
