//! Features of a pair of records in [0, 1]: six similarities, and for each an indicator that its attribute is missing
//! in one of the two records. The similarity is 0 then, and the indicator lets the learner ignore it. A name is never
//! missing, but a first name is missing if only its initial is printed: "A. Gupta" does not contradict "Anil Gupta",
//! "Amit Gupta" does.

use crate::records::Record;
use crate::soft_tfidf::{Bag, Corpus, similarity, words};
use evermargin::{Matrix, Result};

/// Number of similarities; they come first among the features.
pub const SIMILARITIES: usize = 6;
/// Number of features of a pair.
pub const FEATURES: usize = 2 * SIMILARITIES;
/// Attributes of the similarities.
pub const NAMES: [&str; SIMILARITIES] = ["name", "co-authors", "e-mail", "URL", "address", "affiliation"];

/// A record prepared for comparisons with many others.
#[derive(Debug, Clone)]
pub struct Profile {
    name: Bag,
    first_name: bool,
    coauthors: Option<Bag>,
    email: Option<String>,
    url: Option<String>,
    address: Option<Vec<String>>,
    affiliation: Option<Vec<String>>,
}

/// Word counts of all names and of all lists of coauthors. They use no labels, so test records are included.
#[derive(Debug, Clone)]
pub struct Profiler {
    names: Corpus,
    coauthors: Corpus,
}

impl Profiler {
    /// Counts words.
    pub fn new(records: &[Record]) -> Self {
        Self {
            names: Corpus::new(records.iter().map(|r| r.name.as_str())),
            coauthors: Corpus::new(records.iter().filter_map(|r| r.coauthors.as_deref())),
        }
    }

    /// Prepares a record.
    pub fn profile(&self, record: &Record) -> Profile {
        Profile {
            name: self.names.bag(&record.name),
            first_name: words(&record.name).first().is_some_and(|w| w.chars().count() > 1),
            coauthors: record.coauthors.as_deref().map(|c| self.coauthors.bag(c)),
            email: record.email.as_deref().map(str::to_lowercase),
            url: record.url.as_deref().map(bare_url),
            address: record.address.as_deref().map(word_set),
            affiliation: record.affiliation.as_deref().map(word_set),
        }
    }
}

/// A URL without its common prefix and trailing slash.
fn bare_url(url: &str) -> String {
    let url = url.to_lowercase();
    let url = url.trim_start_matches("http://").trim_start_matches("www.");
    url.trim_end_matches('/').to_string()
}

/// The distinct words of a text, sorted.
fn word_set(text: &str) -> Vec<String> {
    let mut words = words(text);
    words.sort_unstable();
    words.dedup();
    words
}

/// 1 − edits / length of the longer text.
fn edit(a: &str, b: &str) -> f64 {
    strsim::normalized_levenshtein(a, b)
}

/// Number of words in both, divided by the number of words in either; 0 if there are none. Both lists are sorted and
/// distinct.
fn jaccard(a: &[String], b: &[String]) -> f64 {
    let both = a.iter().filter(|w| b.binary_search(w).is_ok()).count();
    let either = a.len() + b.len() - both;
    if either == 0 { 0.0 } else { both as f64 / either as f64 }
}

/// The features of a pair; the same for (a, b) and (b, a).
pub fn features(a: &Profile, b: &Profile) -> [f64; FEATURES] {
    let optional = [
        both(a.coauthors.as_ref(), b.coauthors.as_ref(), similarity),
        both(a.email.as_ref(), b.email.as_ref(), |a, b| edit(a, b)),
        both(a.url.as_ref(), b.url.as_ref(), |a, b| edit(a, b)),
        both(a.address.as_ref(), b.address.as_ref(), |a, b| jaccard(a, b)),
        both(a.affiliation.as_ref(), b.affiliation.as_ref(), |a, b| jaccard(a, b)),
    ];
    let mut out = [0.0; FEATURES];
    out[0] = similarity(&a.name, &b.name);
    out[SIMILARITIES] = f64::from(u8::from(!(a.first_name && b.first_name)));
    for (i, s) in (1..).zip(optional) {
        out[i] = s.unwrap_or(0.0);
        out[SIMILARITIES + i] = f64::from(u8::from(s.is_none()));
    }
    out
}

/// The similarity, if both have the attribute.
fn both<T>(a: Option<&T>, b: Option<&T>, similarity: impl Fn(&T, &T) -> f64) -> Option<f64> {
    Some(similarity(a?, b?))
}

/// Mean of the similarities whose attributes are present; that of names always is.
pub fn mean(features: &[f64]) -> f64 {
    let missing: f64 = features[SIMILARITIES + 1..].iter().sum();
    features[..SIMILARITIES].iter().sum::<f64>() / (SIMILARITIES as f64 - missing)
}

/// Features of all pairs of a block, in the order (0,1), (0,2), …, (1,2), …
pub fn pairs(profiles: &[Profile]) -> Result<Matrix> {
    let n = profiles.len();
    let rows = (0..n).flat_map(|i| (i + 1..n).map(move |j| (i, j)));
    let values: Vec<f64> = rows.flat_map(|(i, j)| features(&profiles[i], &profiles[j])).collect();
    let rows = values.len() / FEATURES;
    Matrix::dense(values, rows, FEATURES)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::records::generate;

    fn set(text: &str) -> Vec<String> {
        word_set(text)
    }

    #[test]
    fn similarities_match_manual_values() {
        assert!((edit("kitten", "sitting") - 4.0 / 7.0).abs() < 1e-12); // 3 edits, 7 letters
        assert!((edit("jsmith@a.edu", "jsmith@b.edu") - 11.0 / 12.0).abs() < 1e-12);
        // {dept, of, math} and {dept, of, computer, science}
        assert!((jaccard(&set("Dept. of Math"), &set("Dept of Computer Science")) - 0.4).abs() < 1e-12);
        assert_eq!(jaccard(&set("..."), &set("")), 0.0);
        assert_eq!(bare_url("http://www.cs.U.edu/~x/"), "cs.u.edu/~x");
    }

    #[test]
    fn missing_attributes_are_marked_and_do_not_count_in_the_mean() {
        let record = Record {
            author: 0,
            name: "J. Smith".into(),
            affiliation: Some("A B".into()),
            address: None,
            email: Some("x@y".into()),
            url: None,
            coauthors: None,
        };
        let other = Record { name: "J. Jones".into(), affiliation: Some("A C".into()), ..record.clone() };
        let profiler = Profiler::new(&[record.clone(), other.clone()]);
        let f = features(&profiler.profile(&record), &profiler.profile(&other));
        assert_eq!(f, [0.0, 0.0, 1.0, 0.0, 0.0, 1.0 / 3.0, 1.0, 1.0, 0.0, 1.0, 1.0, 0.0]);
        assert!((mean(&f) - 4.0 / 9.0).abs() < 1e-12); // (0 + 1 + 1/3) / 3
    }

    #[test]
    fn features_are_symmetric_and_within_bounds() {
        let records = generate(0.02, 5);
        let profiler = Profiler::new(&records);
        let profiles: Vec<Profile> = records.iter().map(|r| profiler.profile(r)).collect();
        for a in &profiles {
            for b in &profiles {
                let f = features(a, b);
                assert_eq!(f, features(b, a));
                assert!(f.iter().all(|v| (0.0..=1.0).contains(v)), "{f:?}");
                assert!((0.0..=1.0).contains(&mean(&f)));
            }
        }
        let n = profiles.len();
        let all = pairs(&profiles).unwrap();
        assert_eq!((all.rows(), all.cols()), (n * (n - 1) / 2, FEATURES));
    }
}
