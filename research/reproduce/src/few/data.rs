//! Data sets of tables about few labels.

use crate::data::existing;
use crate::data::terms::{Recipe, Vocabulary};
use crate::failure::{Failure, Result};
use crate::tables::{Protocol, SplitRecipe};
use evermargin::{Labels, Matrix};
use evermargin_io::{Limits, ReadOptions, open, read, read_whole};
use rand::seq::SliceRandom;
use rand_pcg::Pcg64;
use std::collections::BTreeMap;
use std::io::Read;
use std::path::Path;

/// Rows with all labels, and draws of labeled rows that are part of the data.
#[derive(Debug, Clone)]
pub struct Rows {
    /// One example per row.
    pub x: Matrix,
    /// Classes; with two classes the second is positive.
    pub labels: Labels,
    /// Labeled rows, one list per draw.
    pub splits: Vec<Vec<usize>>,
}

const LIBSVM: &str = "the LIBSVM data page";
const SSL: &str = "the benchmark of the book Semi-Supervised Learning (2006)";
const LDS: &str = "Chapelle and Zien's sets (2005)";

/// LIBSVM files with two classes: name, files, positive class.
const TWO_CLASSES: &[(&str, &[&str], &str)] = &[
    ("sonar", &["libsvm/sonar_scale.xz"], "1"),
    ("ionosphere", &["libsvm/ionosphere_scale.xz"], "-1"),
    ("breast-cancer", &["libsvm/breast-cancer.derived.xz"], "2"),
    ("australian", &["libsvm/australian.xz"], "1"),
    ("diabetes", &["libsvm/diabetes.xz"], "1"),
    ("fourclass", &["libsvm/fourclass.xz"], "1"),
    ("german", &["libsvm/german.numer.xz"], "1"),
    ("svmguide1", &["libsvm/svmguide1.xz"], "1"),
    ("w6a", &["libsvm/w8a.xz"], "1"),
    ("a9a", &["libsvm/a9a.xz", "libsvm/a9a.t.xz"], "1"),
    ("w8a", &["libsvm/w8a.xz", "libsvm/w8a.t.xz"], "1"),
];

/// Whether [`Rows::open`] knows the name.
pub fn is_known(name: &str) -> bool {
    let others = [
        "g50c",
        "text1",
        "uspst",
        "coil20",
        "isolet-eset2",
        "kdd99",
        "covtype",
        "news20",
        "news20-small",
        "news-comp-rec",
    ];
    name.starts_with("ssl:") || others.contains(&name) || TWO_CLASSES.iter().any(|(n, _, _)| *n == name)
}

impl Rows {
    /// Reads a data set.
    pub fn open(name: &str, folder: &Path) -> Result<Self> {
        if let Some((_, files, positive)) = TWO_CLASSES.iter().find(|(n, _, _)| *n == name) {
            return two_classes(folder, files, positive);
        }
        match name {
            "g50c" | "text1" | "uspst" => with_splits(folder, &format!("lds/{name}"), 50, LDS),
            "coil20" => whole(&existing(folder, "images/coil20.libsvm.xz", "the COIL-20 images")?),
            "isolet-eset2" => eset2(folder),
            "kdd99" => connections(folder),
            "covtype" => cover(folder),
            "news20" | "news20-small" => newsgroups(folder, &[""], &["sci.", "comp.", "misc.forsale"]),
            "news-comp-rec" => newsgroups(folder, &["comp.", "rec."], &["comp."]),
            _ => match name.strip_prefix("ssl:") {
                Some(set) => with_splits(folder, &format!("ssl-book/{set}"), 100, SSL),
                None => Err(Failure::Unknown(format!("no data set {name}"))),
            },
        }
    }

    /// Draws scaled rows: their number and, if necessary, the share of positives follow the protocol.
    pub fn draw(&self, protocol: &Protocol, rng: &mut Pcg64) -> Result<Self> {
        let share = protocol.few.as_ref().and_then(|f| f.ratio);
        let kept = match protocol.split {
            SplitRecipe::Fixed => None,
            SplitRecipe::Stratified => Some(self.in_proportion(protocol.train, rng)),
            _ => self.some(protocol.train, share, rng),
        };
        let mut rows = match &kept {
            None => self.clone(),
            Some(kept) => Self {
                x: self.x.view().select(kept),
                labels: Labels {
                    classes: self.labels.classes.clone(),
                    of: kept.iter().map(|&i| self.labels.of[i]).collect(),
                },
                splits: Vec::new(),
            },
        };
        let scaling = protocol.scaling.fit(&rows.x)?;
        rows.x = scaling.apply(rows.x)?;
        Ok(rows)
    }

    /// Selects `wanted` rows at random; if the share of positives differs from `share` by more than 5 points, one class is thinned.
    fn some(&self, wanted: usize, share: Option<f64>, rng: &mut Pcg64) -> Option<Vec<usize>> {
        let mut order: Vec<usize> = (0..self.labels.of.len()).collect();
        order.shuffle(rng);
        let positives = self.labels.of.iter().filter(|c| **c == Some(1)).count();
        let own = positives as f64 / order.len().max(1) as f64;
        let Some(share) = share.filter(|s| self.labels.classes.len() == 2 && (s - own).abs() > 0.05) else {
            return (wanted < order.len()).then(|| sorted(order[..wanted].to_vec()));
        };
        let negatives = order.len() - positives;
        let size = (positives as f64 / share).min(negatives as f64 / (1.0 - share)).min(wanted as f64);
        let take = [(size * (1.0 - share)) as usize, (size * share) as usize];
        let mut taken = [0usize; 2];
        order.retain(|&i| {
            let c = usize::from(self.labels.of[i] == Some(1));
            taken[c] += 1;
            taken[c] <= take[c]
        });
        Some(sorted(order))
    }

    /// Selects `wanted` rows, stratified by class.
    fn in_proportion(&self, wanted: usize, rng: &mut Pcg64) -> Vec<usize> {
        let n = self.labels.of.len();
        let mut kept = Vec::new();
        for class in 0..self.labels.classes.len() as u32 {
            let mut of: Vec<usize> = (0..n).filter(|&i| self.labels.of[i] == Some(class)).collect();
            of.shuffle(rng);
            let take = (of.len() * wanted + n / 2) / n.max(1);
            kept.extend_from_slice(&of[..take.min(of.len())]);
        }
        sorted(kept)
    }
}

fn sorted(mut rows: Vec<usize>) -> Vec<usize> {
    rows.sort_unstable();
    rows
}

/// Reads all rows of a file with its classes.
fn whole(path: &Path) -> Result<Rows> {
    let set = read(path, &ReadOptions::default())?;
    Ok(Rows { x: set.x, labels: set.labels, splits: Vec::new() })
}

fn signed(positive: impl Iterator<Item = bool>) -> Labels {
    Labels { classes: vec!["-".into(), "+".into()], of: positive.map(|p| Some(u32::from(p))).collect() }
}

/// Reads files one after the other, with one class against the rest.
fn two_classes(folder: &Path, files: &[&str], positive: &str) -> Result<Rows> {
    let sets = files.iter().map(|f| whole(&existing(folder, f, LIBSVM)?)).collect::<Result<Vec<_>>>()?;
    let cols = sets.iter().map(|s| s.x.cols()).max().unwrap_or(0);
    let sparse = matches!(sets.first().map(|s| &s.x), Some(Matrix::Csr { .. }));
    let mut x = Matrix::empty(cols, sparse);
    let mut of = Vec::new();
    for set in sets {
        let at = set.labels.classes.iter().position(|c| c == positive).map(|c| c as u32);
        (0..set.x.rows()).for_each(|i| x.push(set.x.view().row(i)));
        of.extend(set.labels.of.iter().map(|c| *c == at));
    }
    Ok(Rows { x, labels: signed(of.into_iter()), splits: Vec::new() })
}

/// Reads a file with its draws of labeled rows.
fn with_splits(folder: &Path, stem: &str, labeled: usize, origin: &str) -> Result<Rows> {
    let mut rows = whole(&existing(folder, &format!("{stem}.libsvm.xz"), origin)?)?;
    let path = existing(folder, &format!("{stem}.splits-l{labeled}.txt.xz"), origin)?;
    let bytes = read_whole(&path, &Limits::default())?;
    for line in String::from_utf8_lossy(&bytes).lines().filter(|l| !l.trim().is_empty()) {
        let numbers =
            line.split_whitespace().map(str::parse::<usize>).collect::<std::result::Result<Vec<_>, _>>();
        let inside = |r: &usize| (1..=rows.labels.of.len()).contains(r);
        match numbers {
            Ok(numbers) if numbers.iter().all(inside) => {
                rows.splits.push(sorted(numbers.into_iter().map(|r| r - 1).collect()));
            }
            _ => return Err(Failure::Content(format!("{}: a line is not a list of rows", path.display()))),
        }
    }
    Ok(rows)
}

/// Isolet, all speakers: B, C, D, E against G, P, T, V, Z.
fn eset2(folder: &Path) -> Result<Rows> {
    let (mut x, mut positive) = (Matrix::empty(617, false), Vec::new());
    for file in ["isolet/isolet1+2+3+4.data.xz", "isolet/isolet5.data.xz"] {
        let path = existing(folder, file, "the UCI repository (Isolet)")?;
        let label = Some(evermargin_io::LabelColumn::Index(618));
        let set = read(&path, &ReadOptions { label, ..ReadOptions::default() })?;
        for i in 0..set.x.rows() {
            let Some(class) = set.labels.of[i] else { continue };
            let letter =
                set.labels.classes[class as usize].trim_end_matches('.').parse::<f64>().unwrap_or(0.0) as u32;
            if matches!(letter, 2 | 3 | 4 | 5 | 7 | 16 | 20 | 22 | 26) {
                x.push(set.x.view().row(i));
                positive.push(letter <= 5);
            }
        }
    }
    Ok(Rows { x, labels: signed(positive.into_iter()), splits: Vec::new() })
}

/// Columns of KDD Cup 99 with symbols.
const SYMBOLS: [usize; 3] = [1, 2, 3];

/// The 10 % sample of KDD Cup 99 with one-hot encoded symbols; attacks are positive.
fn connections(folder: &Path) -> Result<Rows> {
    let path = existing(folder, "kdd99/kddcup.data_10_percent.xz", "the KDD Cup 1999")?;
    let bytes = read_whole(&path, &Limits { max_bytes: 1 << 30, ..Limits::default() })?;
    let text = String::from_utf8_lossy(&bytes);
    let bad =
        |n: usize| Failure::Content(format!("{}: line {}: 42 fields are expected", path.display(), n + 1));
    let mut values: [BTreeMap<&str, u32>; 3] = Default::default();
    for (n, line) in text.lines().enumerate() {
        let fields: Vec<&str> = line.splitn(5, ',').collect();
        for (map, &at) in values.iter_mut().zip(&SYMBOLS) {
            map.insert(fields.get(at).ok_or_else(|| bad(n))?, 0);
        }
    }
    let mut next = 38;
    values.iter_mut().flat_map(BTreeMap::values_mut).for_each(|column| {
        *column = next;
        next += 1;
    });
    let (mut indptr, mut indices, mut cells, mut positive) = (vec![0], Vec::new(), Vec::new(), Vec::new());
    for (n, line) in text.lines().enumerate() {
        let fields: Vec<&str> = line.split(',').collect();
        if fields.len() != 42 {
            return Err(bad(n));
        }
        let numbers = (0..41).filter(|f| !SYMBOLS.contains(f));
        for (column, f) in numbers.enumerate() {
            let value: f64 = fields[f].parse().map_err(|_| bad(n))?;
            if value != 0.0 {
                indices.push(column as u32);
                cells.push(value);
            }
        }
        for (map, &at) in values.iter().zip(&SYMBOLS) {
            indices.push(map[fields[at]]);
            cells.push(1.0);
        }
        indptr.push(indices.len());
        positive.push(fields[41] != "normal.");
    }
    let x = Matrix::csr(indptr, indices, cells, next as usize)?;
    Ok(Rows { x, labels: signed(positive.into_iter()), splits: Vec::new() })
}

/// Forest cover types: class 2 against the others.
fn cover(folder: &Path) -> Result<Rows> {
    match crate::data::Origin::open("covtype", folder)? {
        crate::data::Origin::Pool(sample) => {
            let labels = signed(sample.y.iter().map(|y| *y == evermargin::Label::Pos));
            Ok(Rows { x: sample.x, labels, splits: Vec::new() })
        }
        _ => Err(Failure::Content("covtype is not one sample".into())),
    }
}

/// Terms of posts.
const RECIPE: Recipe = Recipe { min_letters: 2, min_documents: 2, stems: false };

/// 20 Newsgroups: posts of the groups `taken`, with `positives` as positive groups, as tf·idf rows of length 1.
fn newsgroups(folder: &Path, taken: &[&str], positives: &[&str]) -> Result<Rows> {
    let path = existing(folder, "text/20news-bydate.tar.xz", "20 Newsgroups, by date")?;
    let bad = |e: std::io::Error| Failure::Content(format!("{}: {e}", path.display()));
    let mut archive = tar::Archive::new(open(&path, &Limits { max_bytes: 1 << 30, ..Limits::default() })?);
    let (mut texts, mut positive) = (Vec::new(), Vec::new());
    for entry in archive.entries().map_err(bad)? {
        let mut entry = entry.map_err(bad)?;
        let name = entry.path().map_err(bad)?.to_string_lossy().to_string();
        let Some(group) = name.split('/').nth(1).map(str::to_string) else { continue };
        let begins = |names: &[&str]| names.iter().any(|g| group.starts_with(g));
        if !entry.header().entry_type().is_file() || !begins(taken) {
            continue;
        }
        let mut bytes = Vec::new();
        entry.read_to_end(&mut bytes).map_err(bad)?;
        let text = String::from_utf8_lossy(&bytes);
        texts.push(text.split_once("\n\n").map_or(text.as_ref(), |(_, body)| body).to_string());
        positive.push(begins(positives));
    }
    let all = || texts.iter().map(String::as_str);
    let terms = Vocabulary::of(all(), RECIPE);
    Ok(Rows { x: terms.rows(all())?, labels: signed(positive.into_iter()), splits: Vec::new() })
}
