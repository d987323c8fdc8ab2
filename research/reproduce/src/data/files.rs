//! Reads data sets from files and turns them into two-class problems.

use super::smooth::{PIXELS, smooth};
use super::{Origin, Sample, Split, existing, label};
use crate::failure::{Failure, Result};
use evermargin::Matrix;
use evermargin_io::{Dataset, Limits, ReadOptions, read, read_whole};
use std::path::Path;

/// Gray scale of USPS.
#[derive(Clone, Copy)]
pub(super) enum Gray {
    /// As in The Elements of Statistical Learning.
    Sharp,
    /// As on LIBSVM's data page.
    Smooth,
}

const UCI: &str = "the UCI repository";
const LIBSVM: &str = "the LIBSVM data page";

/// Rätsch's banana: 5300 points.
pub(super) fn banana(folder: &Path) -> Result<Origin> {
    let path = existing(folder, "raetsch/banana.libsvm.xz", "Rätsch's benchmark (KEEL copy)")?;
    Ok(Origin::Pool(Box::new(signed(&path, 2)?)))
}

/// Adult in LIBSVM's binary coding (a9a): 32561 and 16281 rows.
pub(super) fn adult(folder: &Path) -> Result<Origin> {
    let part = |file| signed(&existing(folder, file, LIBSVM)?, 123);
    Ok(Origin::Fixed(Box::new(Split { train: part("libsvm/a9a.xz")?, test: part("libsvm/a9a.t.xz")? })))
}

/// USPS: both parts together are 9298 digits, gray values in [−1, 1]; one digit against the others.
pub(super) fn usps(folder: &Path, digit: &str, form: Gray) -> Result<Origin> {
    let mut table = Numbers::default();
    for file in ["images/zip.train.xz", "images/zip.test.xz"] {
        let path = existing(folder, file, "The Elements of Statistical Learning (zip code data)")?;
        table.append(&path, ' ', 0, |token| token.parse().ok())?;
    }
    let wanted: f64 = digit.parse().unwrap_or(0.0);
    let mut sample = table.sample(Side::First, |class| class == wanted)?;
    if let (Matrix::Dense { values, cols: PIXELS, .. }, Gray::Smooth) = (&mut sample.x, form) {
        smooth(values);
    }
    Ok(Origin::Pool(Box::new(sample)))
}

/// Reads a part of MNIST, `train` or `t10k`.
pub(crate) fn digits(folder: &Path, part: &str) -> Result<Dataset> {
    let file = |kind: &str| existing(folder, &format!("images/{part}-{kind}-ubyte.xz"), "the MNIST database");
    let options = ReadOptions { labels_file: Some(file("labels-idx1")?), ..ReadOptions::default() };
    Ok(read(file("images-idx3")?, &options)?)
}

/// MNIST: 60000 and 10000 images, pixels 0 to 255; one digit against the others.
pub(super) fn mnist(folder: &Path, digit: &str) -> Result<Origin> {
    let part = |name: &str| {
        let set = digits(folder, name)?;
        let wanted = set.labels.classes.iter().position(|c| c == digit).map(|c| c as u32);
        let y = set.labels.of.iter().map(|class| label(*class == wanted)).collect();
        Sample::new(set.x, y)
    };
    Ok(Origin::Fixed(Box::new(Split { train: part("train")?, test: part("t10k")? })))
}

/// Letter recognition: 20000 rows; A against the others.
pub(super) fn letter(folder: &Path) -> Result<Origin> {
    let mut table = Numbers::default();
    let code = |token: &str| match token.as_bytes() {
        [letter @ b'A'..=b'Z'] => Some(f64::from(*letter)),
        _ => token.parse().ok(),
    };
    table.append(&existing(folder, "uci/letter-recognition.data.xz", UCI)?, ',', 0, code)?;
    Ok(Origin::Pool(Box::new(table.sample(Side::First, |class| class == f64::from(b'A'))?)))
}

/// Statlog's satellite images: 4435 and 2000 rows; class 4 against the others.
pub(super) fn satimage(folder: &Path) -> Result<Origin> {
    let part = |file| {
        let mut table = Numbers::default();
        table.append(&existing(folder, file, UCI)?, '\t', 1, |token| token.parse().ok())?;
        table.sample(Side::Last, |class| class == 4.0)
    };
    Ok(Origin::Fixed(Box::new(Split { train: part("uci/sat.trn.xz")?, test: part("uci/sat.tst.xz")? })))
}

/// Breast cancer, Wisconsin: the 683 complete rows with 9 attributes, without the sample number; malignant is positive.
pub(super) fn breast(folder: &Path) -> Result<Origin> {
    let path = existing(folder, "uci/breast-cancer-wisconsin.data.xz", UCI)?;
    let mut table = Numbers { skip_unknown: true, ..Numbers::default() };
    table.append(&path, ',', 0, |token| token.parse().ok())?;
    table.drop_first();
    Ok(Origin::Pool(Box::new(table.sample(Side::Last, |class| class == 4.0)?)))
}

/// Abalone: 4177 rows, sex coded 1, 2, 3 (M, F, I); 7 rings against the others. With `leak`, the number of rings, which
/// is the class, is a ninth input.
pub(super) fn abalone(folder: &Path, leak: bool) -> Result<Origin> {
    let mut table = Numbers::default();
    let code = |token: &str| match token {
        "M" => Some(1.0),
        "F" => Some(2.0),
        "I" => Some(3.0),
        _ => token.parse().ok(),
    };
    table.append(&existing(folder, "uci/abalone.data.xz", UCI)?, ',', 0, code)?;
    let mut sample = table.sample(Side::Last, |class| class == 7.0)?;
    if leak {
        sample.x = Matrix::dense(table.values, sample.rows(), table.cols)?;
    }
    Ok(Origin::Pool(Box::new(sample)))
}

/// Forest cover types: a random sample of 92962 of the 581012 rows, numbers scaled to [0, 1]; class 2 against the
/// others.
pub(super) fn covtype(folder: &Path) -> Result<Origin> {
    let mut table = Numbers::default();
    let path = existing(folder, "uci/covtype-sample92962.csv.xz", UCI)?;
    table.append(&path, ',', 1, |token| token.parse().ok())?;
    let sample = table.sample(Side::Last, |class| class == 2.0)?;
    Ok(Origin::Pool(Box::new(Sample { x: sample.x.into_natural_layout(), y: sample.y })))
}

/// LIBSVM text with the classes −1 and +1.
fn signed(path: &Path, cols: usize) -> Result<Sample> {
    let set = read(path, &ReadOptions { cols: Some(cols), ..ReadOptions::default() })?;
    let positive = set.labels.classes.iter().position(|c| c == "1").map(|c| c as u32);
    let y = set.labels.of.iter().map(|class| label(*class == positive)).collect();
    Sample::new(set.x, y)
}

/// Position of the class column.
#[derive(Clone, Copy)]
enum Side {
    First,
    Last,
}

/// A table of numbers.
#[derive(Default)]
struct Numbers {
    values: Vec<f64>,
    cols: usize,
    /// Whether rows with `?` are skipped.
    skip_unknown: bool,
}

impl Numbers {
    fn append(
        &mut self,
        path: &Path,
        separator: char,
        header_lines: usize,
        number: impl Fn(&str) -> Option<f64>,
    ) -> Result<()> {
        let bytes = read_whole(path, &Limits::default())?;
        let text = String::from_utf8_lossy(&bytes);
        self.parse(&text, separator, header_lines, number)
            .map_err(|what| Failure::Content(format!("{}: {what}", path.display())))
    }

    fn parse(
        &mut self,
        text: &str,
        separator: char,
        header_lines: usize,
        number: impl Fn(&str) -> Option<f64>,
    ) -> std::result::Result<(), String> {
        for (n, line) in text.lines().enumerate().skip(header_lines) {
            let line = line.trim();
            if line.is_empty() || (self.skip_unknown && line.contains('?')) {
                continue;
            }
            let before = self.values.len();
            for token in line.split(separator).map(str::trim).filter(|t| !t.is_empty()) {
                let value =
                    number(token).ok_or_else(|| format!("line {}: {token:?} is not a number", n + 1))?;
                self.values.push(value);
            }
            let cols = self.values.len() - before;
            if self.cols != 0 && self.cols != cols {
                return Err(format!("line {}: {cols} values, expected {}", n + 1, self.cols));
            }
            self.cols = cols;
        }
        Ok(())
    }

    fn drop_first(&mut self) {
        if self.cols > 0 {
            self.values = self.values.chunks_exact(self.cols).flat_map(|row| row[1..].to_vec()).collect();
            self.cols -= 1;
        }
    }

    fn sample(&self, class: Side, positive: impl Fn(f64) -> bool) -> Result<Sample> {
        if self.cols < 2 {
            return Err(Failure::Content("a table needs a class and at least one feature".into()));
        }
        let mut x = Vec::with_capacity(self.values.len());
        let mut y = Vec::with_capacity(self.values.len() / self.cols);
        for row in self.values.chunks_exact(self.cols) {
            let (class, rest) = match class {
                Side::First => (row[0], &row[1..]),
                Side::Last => (row[self.cols - 1], &row[..self.cols - 1]),
            };
            x.extend_from_slice(rest);
            y.push(label(positive(class)));
        }
        Sample::new(Matrix::dense(x, y.len(), self.cols - 1)?, y)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_are_converted_to_samples() {
        let mut table = Numbers { skip_unknown: true, ..Numbers::default() };
        table.parse("id,a,b,c\n7,1,2,4\n8,?,2,4\n9,3,4,2\n", ',', 1, |t| t.parse().ok()).unwrap();
        table.drop_first();
        let sample = table.sample(Side::Last, |c| c == 4.0).unwrap();
        assert_eq!(sample.x, Matrix::dense(vec![1.0, 2.0, 3.0, 4.0], 2, 2).unwrap());
        assert_eq!(sample.positives(), 1);
    }

    #[test]
    fn invalid_tables_are_errors() {
        let parse = |text| Numbers::default().parse(text, ' ', 0, |t| t.parse().ok());
        assert!(parse("1 2\n1 x\n").unwrap_err().contains("line 2"));
        assert!(parse("1 2\n1\n").unwrap_err().contains("expected 2"));
        assert!(Numbers::default().sample(Side::First, |_| true).is_err());
    }

    #[test]
    fn absent_files_give_missing() {
        let nowhere = Path::new("/nonexistent");
        for open in [banana, adult, letter, satimage, breast, covtype] {
            assert!(matches!(open(nowhere), Err(Failure::Missing { .. })));
        }
        assert!(matches!(mnist(nowhere, "8"), Err(Failure::Missing { .. })));
        assert!(matches!(abalone(nowhere, true), Err(Failure::Missing { .. })));
    }
}
