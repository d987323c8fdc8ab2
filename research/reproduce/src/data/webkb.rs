//! WebKB course pages (Blum & Mitchell 1998): 1051 pages in two views, the text of a page and the text of the links that point
//! to it.
//!
//! Preprocessing (Sindhwani 2007, lines 1337 and 2129): tokens of the Rainbow toolkit including numbers, without HTML, stop words
//! or stemming; the 3000 words of the pages with the largest information gain and all 1840 words of the links; counts times
//! ln(documents / documents with the word), scaled to length 1; page+link concatenates both, each of length 1.
//!
//! The source does not define tokens. In [`Reading::Masked`], for tables 2.7, 2.8, 4.1 and 4.2, a token is a run of at least two
//! letters and digits in lower case, with every digit replaced by 0, so that CS417 and CS302 are one word. Among about fifty
//! variants (letters only, letters and digits apart or together, minimum lengths of one to three, tags kept or skipped, digits
//! kept, masked, or one token per number) this is the only one with the 1840 link words of the source. It was chosen for that reason,
//! before its rates were known. Table 2.4 describes another preprocessing: [`Reading::Apart`], runs of letters and runs of digits.

use super::existing;
use crate::failure::{Failure, Result};
use evermargin::Matrix;
use evermargin_io::{Limits, open};
use std::collections::BTreeMap;
use std::io::Read;
use std::path::Path;

/// Definition of a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reading {
    /// Runs of two or more letters and digits, with every digit replaced by 0.
    Masked,
    /// Runs of letters, and runs of digits.
    Apart,
}

/// The pages, sorted by class and address.
#[derive(Debug, Clone)]
pub(crate) struct WebKb {
    /// Views: link, page, page+link.
    pub views: Vec<Matrix>,
    /// Word counts of each page and of its links.
    pub counts: [Matrix; 2],
    /// Whether it is a course page.
    pub positive: Vec<bool>,
    /// University, 0 to 3: Cornell, Texas, Washington, Wisconsin.
    pub university: Vec<usize>,
}

pub(crate) const UNIVERSITIES: [(&str, &str); 4] =
    [("Cornell", "cornell"), ("Texas", "utexas"), ("Washington", "washington"), ("Wisconsin", "wisc")];

/// Number of words of the page view; the link view has all words.
const PAGE_WORDS: usize = 3000;

/// Word counts of a text.
type Counts = BTreeMap<String, f64>;
/// Words of a view in alphabetical order, with their weights.
type Words = Vec<(String, f64)>;

impl WebKb {
    pub(crate) fn open(folder: &Path, reading: Reading) -> Result<Self> {
        let texts = texts(folder)?;
        let positive: Vec<bool> = texts.keys().map(|(class, _)| class == "course").collect();
        let university = texts.keys().map(|(_, file)| university(file)).collect::<Result<Vec<usize>>>()?;
        let absent = UNIVERSITIES.iter().enumerate().find(|(u, _)| !university.contains(u));
        if let Some((_, (name, _))) = absent {
            return Err(Failure::Content(format!(
                "the WebKB archive is incomplete: it has no page of {name}"
            )));
        }
        let counts = |view: usize| texts.values().map(|t| count(&t[view], reading)).collect::<Vec<Counts>>();
        let (page, link) = (counts(0), counts(1));
        let page_words = weighted(&page, &informative_words(&page, &positive, PAGE_WORDS));
        let link_words = weighted(&link, &informative_words(&link, &positive, usize::MAX));
        let plain = |texts: &[Counts], words: &Words| -> Result<Matrix> {
            let words: Words = words.iter().map(|(w, _)| (w.clone(), 1.0)).collect();
            stacked(&[(texts, &words)], |_| 1.0)
        };
        let counts = [plain(&page, &page_words)?, plain(&link, &link_words)?];
        let (page, link) = ((page.as_slice(), &page_words), (link.as_slice(), &link_words));
        let views = vec![side_by_side(&[link])?, side_by_side(&[page])?, side_by_side(&[page, link])?];
        Ok(Self { views, counts, positive, university })
    }
}

/// University of a page, from the host in the file name.
fn university(file: &str) -> Result<usize> {
    let at = UNIVERSITIES.iter().position(|(_, host)| file.contains(host));
    at.ok_or_else(|| {
        Failure::Content(format!(
            "the WebKB archive contains {file}, which is of none of the four universities"
        ))
    })
}

/// Text of each page and of the links to it, by class and address.
fn texts(folder: &Path) -> Result<BTreeMap<(String, String), [String; 2]>> {
    let path = existing(folder, "text/course-cotrain-data.tar.xz", "the WebKB co-training data")?;
    let bad = |e: std::io::Error| Failure::Content(format!("{}: {e}", path.display()));
    let mut archive = tar::Archive::new(open(&path, &Limits { max_bytes: 1 << 30, ..Limits::default() })?);
    let mut found: BTreeMap<(String, String), [String; 2]> = BTreeMap::new();
    for entry in archive.entries().map_err(bad)? {
        let mut entry = entry.map_err(bad)?;
        let name = entry.path().map_err(bad)?.to_string_lossy().to_string();
        let parts: Vec<&str> = name.split('/').collect();
        let [.., view @ ("fulltext" | "inlinks"), class, file] = parts.as_slice() else { continue };
        if !entry.header().entry_type().is_file() || file.is_empty() {
            continue;
        }
        let mut bytes = Vec::new();
        entry.read_to_end(&mut bytes).map_err(bad)?;
        let of = found.entry((class.to_string(), file.to_string())).or_default();
        of[usize::from(*view == "inlinks")] = String::from_utf8_lossy(&bytes).to_string();
    }
    Ok(found)
}

/// Counts the words outside of tags.
fn count(text: &str, reading: Reading) -> Counts {
    let mut inside = false;
    let read = |c: char| {
        inside = if inside { c != '>' } else { c == '<' };
        match c {
            c if inside || !c.is_ascii_alphanumeric() => ' ',
            c if c.is_ascii_digit() && reading == Reading::Masked => '0',
            c => c.to_ascii_lowercase(),
        }
    };
    let plain: Vec<char> = text.chars().map(read).collect();
    let together = |a: &char, b: &char| match reading {
        Reading::Masked => (*a == ' ') == (*b == ' '),
        Reading::Apart => (*a == ' ', a.is_ascii_digit()) == (*b == ' ', b.is_ascii_digit()),
    };
    let least = if reading == Reading::Masked { 2 } else { 1 };
    let mut counts = Counts::new();
    for run in plain.chunk_by(together).filter(|run| run[0] != ' ' && run.len() >= least) {
        *counts.entry(run.iter().collect()).or_default() += 1.0;
    }
    counts
}

/// Words with the largest information gain about the class; ties in alphabetical order.
fn informative_words(texts: &[Counts], positive: &[bool], max: usize) -> Vec<String> {
    let mut documents: BTreeMap<&str, [f64; 2]> = BTreeMap::new();
    for (text, positive) in texts.iter().zip(positive) {
        text.keys().for_each(|w| documents.entry(w).or_default()[usize::from(*positive)] += 1.0);
    }
    let yes = positive.iter().filter(|p| **p).count() as f64;
    let no = positive.len() as f64 - yes;
    let entropy = |a: f64, b: f64| {
        let part = |v: f64| if v > 0.0 { -v * (v / (a + b)).ln() } else { 0.0 };
        part(a) + part(b)
    };
    let left = |[n, p]: [f64; 2]| entropy(p, n) + entropy(yes - p, no - n);
    let mut ranked: Vec<(f64, &str)> = documents.into_iter().map(|(w, d)| (left(d), w)).collect();
    ranked.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(b.1)));
    let mut kept: Vec<String> = ranked.into_iter().take(max).map(|(_, w)| w.to_string()).collect();
    kept.sort_unstable();
    kept
}

/// Weights ln(documents / documents with the word).
fn weighted(texts: &[Counts], words: &[String]) -> Words {
    let with = |word: &String| texts.iter().filter(|t| t.contains_key(word)).count() as f64;
    words.iter().map(|w| (w.clone(), (texts.len() as f64 / with(w)).ln())).collect()
}

/// Concatenates views; each row has length 1 in each view.
fn side_by_side(views: &[(&[Counts], &Words)]) -> Result<Matrix> {
    stacked(views, |row| row.iter().map(|(_, v)| v * v).sum::<f64>().sqrt())
}

/// Concatenates views; each row of each view is divided by its length.
fn stacked(views: &[(&[Counts], &Words)], length: impl Fn(&[(usize, f64)]) -> f64) -> Result<Matrix> {
    let (mut indptr, mut indices, mut values) = (vec![0], Vec::new(), Vec::new());
    let rows = views.first().map_or(0, |(texts, _)| texts.len());
    for i in 0..rows {
        let mut before = 0;
        for (texts, words) in views {
            let known = |(word, count): (&String, &f64)| {
                let at = words.binary_search_by(|(w, _)| w.cmp(word)).ok()?;
                Some((at, count * words[at].1)).filter(|(_, v)| *v > 0.0)
            };
            let row: Vec<(usize, f64)> = texts[i].iter().filter_map(known).collect();
            let length = length(&row);
            indices.extend(row.iter().map(|(at, _)| (before + at) as u32));
            values.extend(row.iter().map(|(_, v)| v / length));
            before += words.len();
        }
        indptr.push(indices.len());
    }
    Ok(Matrix::csr(indptr, indices, values, views.iter().map(|(_, words)| words.len()).sum())?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_readings_skip_tags() {
        let text = "<a href=x1>CS 720</a>, Cs302\n a Fall96 \u{e9}tude cs417 <IMG alt=hidden";
        let words = |reading| count(text, reading).into_iter().collect::<Vec<(String, f64)>>();
        let expected =
            |list: &[(&str, f64)]| list.iter().map(|(w, c)| (w.to_string(), *c)).collect::<Vec<_>>();
        let masked = [("000", 1.0), ("cs", 1.0), ("cs000", 2.0), ("fall00", 1.0), ("tude", 1.0)];
        assert_eq!(words(Reading::Masked), expected(&masked));
        let apart = [("302", 1.0), ("417", 1.0), ("720", 1.0), ("96", 1.0), ("a", 1.0), ("cs", 3.0)];
        let apart = [&apart[..], &[("fall", 1.0), ("tude", 1.0)]].concat();
        assert_eq!(words(Reading::Apart), expected(&apart));
    }

    #[test]
    fn informative_words_are_kept_and_rows_have_length_one_per_view() {
        let texts: Vec<Counts> = ["homework the aa aa", "homework the", "the bb", "the cc"]
            .map(|text| count(text, Reading::Masked))
            .into();
        let kept = informative_words(&texts, &[true, true, false, false], 2);
        assert_eq!(kept, ["aa", "homework"]);
        let words = weighted(&texts, &kept);
        assert!((words[1].1 - 2f64.ln()).abs() < 1e-12);
        let x = side_by_side(&[(&texts, &words), (&texts, &words)]).unwrap();
        assert_eq!((x.rows(), x.cols()), (4, 4));
        assert!((x.view().row(0).norm2() - 2.0).abs() < 1e-12);
        assert_eq!(x.view().row(3).norm2(), 0.0);
    }
}
