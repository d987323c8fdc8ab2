//! WebKB course pages (Blum & Mitchell 1998): 1051 pages, each as its own words and as the words of links that point to it.
//!
//! Recipe (Sindhwani 2007, section 2.8): runs of letters or of digits in lower case, HTML left out, no stop words, numbers
//! kept; of the pages the 3000 words with the largest information gain, of the links all words (the source has 1840; this copy
//! and recipe give 1998). Counts times ln(documents / documents with the word), then length 1 in each view.

use super::existing;
use crate::failure::{Failure, Result};
use evermargin::Matrix;
use evermargin_io::{Limits, open};
use std::collections::{BTreeMap, BTreeSet};
use std::io::Read;
use std::path::Path;

/// The two views side by side.
#[derive(Debug, Clone)]
pub(crate) struct WebKb {
    /// Page words, then link words.
    pub x: Matrix,
    /// Number of page words.
    pub pages: usize,
    /// Whether it is a course page.
    pub positive: Vec<bool>,
    /// 0 to 3: Cornell, Texas, Washington, Wisconsin.
    pub university: Vec<usize>,
}

const WORDS: usize = 3000;
pub(crate) const UNIVERSITIES: [(&str, &str); 4] =
    [("Cornell", "cornell"), ("Texas", "utexas"), ("Washington", "washington"), ("Wisconsin", "wisc")];

impl WebKb {
    pub(crate) fn open(folder: &Path) -> Result<Self> {
        let path = existing(folder, "text/course-cotrain-data.tar.xz", "the WebKB co-training data")?;
        let bad = |e: std::io::Error| Failure::Content(format!("{}: {e}", path.display()));
        let mut archive =
            tar::Archive::new(open(&path, &Limits { max_bytes: 1 << 30, ..Limits::default() })?);
        // page and links have one name
        let mut found: BTreeMap<(String, String), [String; 2]> = BTreeMap::new();
        for entry in archive.entries().map_err(bad)? {
            let mut entry = entry.map_err(bad)?;
            let name = entry.path().map_err(bad)?.to_string_lossy().to_string();
            let parts: Vec<&str> = name.split('/').collect();
            let [.., view @ ("fulltext" | "inlinks"), class, file] = parts.as_slice() else { continue };
            if !entry.header().entry_type().is_file() || file.is_empty() {
                continue;
            }
            let (key, view) = ((class.to_string(), file.to_string()), usize::from(*view == "inlinks"));
            let mut bytes = Vec::new();
            entry.read_to_end(&mut bytes).map_err(bad)?;
            found.entry(key).or_default()[view] = String::from_utf8_lossy(&bytes).to_string();
        }
        let positive: Vec<bool> = found.keys().map(|(class, _)| class == "course").collect();
        let at = |file: &str| UNIVERSITIES.iter().position(|(_, host)| file.contains(host)).unwrap_or(0);
        let university = found.keys().map(|(_, file)| at(file)).collect();
        let count = |text: &str| {
            let mut counts: BTreeMap<String, f64> = BTreeMap::new();
            words(text).for_each(|w| *counts.entry(w).or_default() += 1.0);
            counts
        };
        let views: Vec<Vec<BTreeMap<String, f64>>> = vec![
            found.values().map(|t| count(&without_tags(&t[0]))).collect(),
            found.values().map(|t| count(&t[1])).collect(),
        ];
        let tables: Vec<Vec<(String, f64)>> =
            vec![terms(&views[0], &positive, WORDS), terms(&views[1], &positive, usize::MAX)];
        Ok(Self { x: rows(&views, &tables)?, pages: tables[0].len(), positive, university })
    }
}

fn without_tags(text: &str) -> String {
    let mut inside = false;
    let keep = |c: char| match c {
        '<' => {
            inside = true;
            ' '
        }
        '>' if inside => {
            inside = false;
            ' '
        }
        c if inside || !c.is_ascii() => ' ',
        c => c,
    };
    text.chars().map(keep).collect()
}

/// Runs of letters, and runs of digits.
fn words(text: &str) -> impl Iterator<Item = String> + '_ {
    let kind = |c: char| (c.is_ascii_alphabetic(), c.is_ascii_digit());
    let bytes: Vec<char> = text.chars().collect();
    let runs: Vec<String> = bytes
        .chunk_by(|a, b| kind(*a) == kind(*b))
        .filter(|run| run.first().is_some_and(char::is_ascii_alphanumeric))
        .map(|run| run.iter().collect::<String>().to_ascii_lowercase())
        .collect();
    runs.into_iter()
}

/// The words with the largest information gain about the class, in alphabetical order, and ln(documents / documents with
/// the word).
fn terms(texts: &[BTreeMap<String, f64>], positive: &[bool], most: usize) -> Vec<(String, f64)> {
    let mut frequency: BTreeMap<&str, [f64; 2]> = BTreeMap::new();
    for (text, positive) in texts.iter().zip(positive) {
        for word in text.keys() {
            frequency.entry(word).or_default()[usize::from(*positive)] += 1.0;
        }
    }
    let n = texts.len() as f64;
    let yes = positive.iter().filter(|p| **p).count() as f64;
    let entropy = |a: f64, b: f64| {
        let part = |v: f64| if v > 0.0 { -v * (v / (a + b)).ln() } else { 0.0 };
        part(a) + part(b)
    };
    let gain =
        |[no, with]: [f64; 2]| entropy(yes, n - yes) - entropy(with, no) - entropy(yes - with, n - yes - no);
    let mut ranked: Vec<(f64, &str)> = frequency.iter().map(|(w, f)| (gain(*f), *w)).collect();
    ranked.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(b.1)));
    let kept: BTreeSet<&str> = ranked.into_iter().take(most).map(|(_, w)| w).collect();
    kept.into_iter().map(|w| (w.to_string(), (n / frequency[w].iter().sum::<f64>()).ln())).collect()
}

fn rows(views: &[Vec<BTreeMap<String, f64>>], tables: &[Vec<(String, f64)>]) -> Result<Matrix> {
    let (mut indptr, mut indices, mut values) = (vec![0], Vec::new(), Vec::new());
    for i in 0..views[0].len() {
        let mut before = 0;
        for (view, table) in views.iter().zip(tables) {
            let known = |(word, count): (&String, &f64)| {
                let at = table.binary_search_by(|(w, _)| w.cmp(word)).ok()?;
                Some((at as u32, count * table[at].1)).filter(|(_, v)| *v > 0.0)
            };
            let row: Vec<(u32, f64)> = view[i].iter().filter_map(known).collect();
            let length = row.iter().map(|(_, v)| v * v).sum::<f64>().sqrt();
            for (column, value) in row {
                indices.push(before + column);
                values.push(value / length);
            }
            before += table.len() as u32;
        }
        indptr.push(indices.len());
    }
    Ok(Matrix::csr(indptr, indices, values, tables.iter().map(Vec::len).sum())?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_runs_and_the_telling_ones_are_kept() {
        let text = without_tags("<a href=x>CS 720</a>, Fall96 \u{e9}t");
        assert_eq!(words(&text).collect::<Vec<_>>(), ["cs", "720", "fall", "96", "t"]);
        let count = |text: &str| words(text).map(|w| (w, 1.0)).collect::<BTreeMap<_, _>>();
        let texts: Vec<_> = ["homework the a", "homework the", "the b", "the c"].map(count).into();
        let kept = terms(&texts, &[true, true, false, false], 2);
        assert_eq!(kept.iter().map(|(w, _)| w.as_str()).collect::<Vec<_>>(), ["a", "homework"]);
        assert!((kept[1].1 - 2f64.ln()).abs() < 1e-12);
        let x = rows(&[texts.clone(), texts], &[kept.clone(), kept]).unwrap();
        assert_eq!((x.rows(), x.cols()), (4, 4));
        assert!((x.view().row(0).norm2() - 2.0).abs() < 1e-12, "length 1 in each view");
        assert_eq!(x.view().row(3).norm2(), 0.0);
    }
}
