//! Data sets of the tables. [`Origin::open`] reads one, and [`Origin::draw`] draws training and test samples according to a
//! protocol. Files are read from one folder ([`folder`]); an absent file is [`Failure::Missing`].

mod draw;
mod files;
mod porter;
pub mod reuters;
mod sgml;
mod smooth;
pub(crate) mod terms;
pub(crate) mod webkb;

pub use draw::Scaling;
pub(crate) use files::digits;

use files::Gray;

use crate::failure::{Failure, Result};
use evermargin::{Label, Matrix};
use std::path::{Path, PathBuf};

/// Labeled rows.
#[derive(Debug, Clone, PartialEq)]
pub struct Sample {
    /// One example per row.
    pub x: Matrix,
    /// Class of each row.
    pub y: Vec<Label>,
}

/// Training and test rows of a repetition.
#[derive(Debug, Clone, PartialEq)]
pub struct Split {
    /// Training rows.
    pub train: Sample,
    /// Test rows.
    pub test: Sample,
}

/// A data set before a repetition draws from it.
#[derive(Debug, Clone)]
pub enum Origin {
    /// Fixed training and test rows.
    Fixed(Box<Split>),
    /// One sample, split at random in each repetition.
    Pool(Box<Sample>),
    /// Breiman's waveforms, class 1 against the others: generated in each repetition.
    Waveform,
}

impl Sample {
    /// Creates a sample from rows and labels.
    pub fn new(x: Matrix, y: Vec<Label>) -> Result<Self> {
        if x.rows() != y.len() {
            return Err(Failure::Content(format!("{} rows but {} labels", x.rows(), y.len())));
        }
        Ok(Self { x, y })
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.y.len()
    }

    /// Number of positive rows.
    pub fn positives(&self) -> usize {
        self.y.iter().filter(|y| **y == Label::Pos).count()
    }

    /// Selects rows, in the given order.
    #[must_use]
    pub fn select(&self, rows: &[usize]) -> Self {
        Self { x: self.x.view().select(rows), y: rows.iter().map(|&i| self.y[i]).collect() }
    }
}

/// Names of the data sets; a part after a colon is a placeholder of a class.
const KNOWN: &[&str] = &[
    "waveform",
    "banana",
    "adult",
    "usps",
    "usps:DIGIT",
    "usps-sharp",
    "usps-sharp:DIGIT",
    "mnist:DIGIT",
    "letter",
    "satimage",
    "breast",
    "abalone",
    "abalone-leaky",
    "reuters:TOPIC",
    "covtype",
];

/// Whether [`Origin::open`] knows the name.
pub fn is_known(name: &str) -> bool {
    match name.split_once(':') {
        None => KNOWN.contains(&name),
        Some(("reuters", topic)) => reuters::TOPICS.contains(&topic),
        Some(("usps" | "usps-sharp" | "mnist", digit)) => matches!(digit.parse::<u8>(), Ok(0..=9)),
        Some(_) => false,
    }
}

impl Origin {
    /// Reads a data set: `adult`, `mnist:8`, `reuters:money-fx` …
    pub fn open(name: &str, folder: &Path) -> Result<Self> {
        if !is_known(name) {
            return Err(Failure::Unknown(format!("no data set {name}; there are {}", KNOWN.join(", "))));
        }
        let (set, class) = name.split_once(':').unwrap_or((name, ""));
        match set {
            "waveform" => Ok(Self::Waveform),
            "banana" => files::banana(folder),
            "adult" => files::adult(folder),
            "usps" => files::usps(folder, class, Gray::Smooth),
            "usps-sharp" => files::usps(folder, class, Gray::Sharp),
            "mnist" => files::mnist(folder, class),
            "letter" => files::letter(folder),
            "satimage" => files::satimage(folder),
            "breast" => files::breast(folder),
            "abalone" => files::abalone(folder, false),
            "abalone-leaky" => files::abalone(folder, true),
            "covtype" => files::covtype(folder),
            _ => reuters::open(folder, class),
        }
    }
}

/// The folder of the data files: `EVERMARGIN_DATA`, or `../shared/data` beside the project.
pub fn folder() -> PathBuf {
    let beside = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
    std::env::var_os("EVERMARGIN_DATA").map_or_else(beside, PathBuf::from)
}

/// Path of a file in the folder, or the error for an absent file.
pub(crate) fn existing(folder: &Path, file: &str, origin: &str) -> Result<PathBuf> {
    let path = folder.join(file);
    if path.is_file() {
        return Ok(path);
    }
    let origin = format!("from {origin}; put it there or set EVERMARGIN_DATA");
    Err(Failure::Missing { what: path.display().to_string(), origin })
}

fn label(positive: bool) -> Label {
    if positive { Label::Pos } else { Label::Neg }
}

/// Checks counts of the data files; absent files are skipped.
#[cfg(test)]
mod tests {
    use super::*;

    fn open_if_present(name: &str) -> Option<Origin> {
        match Origin::open(name, &folder()) {
            Err(Failure::Missing { .. }) => None,
            origin => Some(origin.unwrap()),
        }
    }

    fn shape(sample: &Sample) -> (usize, usize, usize) {
        (sample.rows(), sample.x.cols(), sample.positives())
    }

    #[test]
    fn unsplit_data_sets_have_the_published_counts() {
        let expected = [
            ("banana", (5300, 2, 2376)),
            ("usps", (9298, 256, 1553)),
            ("usps-sharp:8", (9298, 256, 708)),
            ("letter", (20000, 16, 789)),
            ("breast", (683, 9, 239)),
            ("abalone", (4177, 8, 391)),
            ("abalone-leaky", (4177, 9, 391)),
            ("covtype", (92962, 54, 45328)),
        ];
        for (name, counts) in expected {
            match open_if_present(name) {
                Some(Origin::Pool(sample)) => assert_eq!(shape(&sample), counts, "{name}"),
                Some(_) => panic!("{name} should be one sample"),
                None => {}
            }
        }
    }

    #[test]
    fn split_data_sets_have_the_published_counts() {
        let expected = [
            ("adult", (32561, 123, 7841), (16281, 123, 3846)),
            ("satimage", (4435, 36, 415), (2000, 36, 211)),
            ("mnist:8", (60000, 784, 5851), (10000, 784, 974)),
        ];
        for (name, train, test) in expected {
            match open_if_present(name) {
                Some(Origin::Fixed(split)) => {
                    assert_eq!((shape(&split.train), shape(&split.test)), (train, test), "{name}");
                }
                Some(_) => panic!("{name} should come divided"),
                None => {}
            }
        }
    }

    /// Stratified splits have exactly the class counts of Table 5.1.
    #[test]
    fn stratified_splits_have_the_published_class_counts() {
        use rand::SeedableRng;
        let table = crate::tables::find("ertekin-5.3").unwrap();
        for (name, positives) in [("letter", 710), ("abalone-leaky", 352), ("breast", 172), ("satimage", 415)]
        {
            let row = table.rows.iter().find(|r| r.data_set == name).unwrap();
            if let Some(origin) = open_if_present(name) {
                let split = origin.draw(&row.protocol, &mut rand_pcg::Pcg64::seed_from_u64(1)).unwrap();
                let counts = (split.train.rows(), split.train.positives());
                assert_eq!(counts, (row.protocol.train, positives), "{name}");
                assert_eq!(Some(split.test.rows()), row.protocol.test, "{name}");
            }
        }
    }

    /// The smoothed test digits equal those of the data page of LIBSVM.
    #[test]
    fn smoothed_digits_equal_those_of_libsvm() {
        let path = folder().join("libsvm/usps.t.xz");
        let (Some(Origin::Pool(ours)), true) = (open_if_present("usps"), path.is_file()) else { return };
        let theirs = evermargin_io::read(path, &evermargin_io::ReadOptions::default()).unwrap();
        let last: Vec<usize> = (ours.rows() - theirs.x.rows()..ours.rows()).collect();
        let ours = ours.select(&last).x;
        for i in 0..theirs.x.rows() {
            let (a, b) = (ours.view().row(i), theirs.x.view().row(i));
            let distance2 = a.norm2() + b.norm2() - 2.0 * a.dot(b);
            assert!(distance2 < 1e-8, "digit {i}: {distance2}");
        }
    }

    #[test]
    fn unknown_names_are_errors() {
        for name in ["nowhere", "usps:10", "reuters:sports", "letter:A", "mnist"] {
            assert!(matches!(Origin::open(name, Path::new("/")), Err(Failure::Unknown(_))), "{name}");
        }
    }
}
