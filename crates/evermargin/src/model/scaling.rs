//! Scaling of features, fitted on training data and stored with the model.
//!
//! Sparse data stay sparse: no shift is fitted on compressed rows. `minmax` then divides each column by its largest |x|,
//! `standard` by its standard deviation, zeros included.

use crate::data::{MAX_ABS, Matrix, MatrixView};
use crate::error::{Error, Result};
use serde::{Deserialize, Serialize};

/// Scaling applied to features before the model.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum Scaling {
    /// No scaling.
    #[default]
    None,
    /// Column c becomes `(x - shift[c]) * factor[c]`; `shift` is empty when nothing is shifted (sparse data).
    Affine {
        /// `minmax`, `range` or `standard`.
        name: String,
        /// Subtracted before multiplying.
        shift: Vec<f64>,
        /// Factor of each column.
        factor: Vec<f64>,
    },
    /// Each row divided by its length.
    Unit,
    /// Each column multiplied by its inverse document frequency, then each row divided by its length.
    Tfidf {
        /// One factor per column.
        idf: Vec<f64>,
    },
}

/// Scalings that users can choose.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ScalingName {
    /// No scaling.
    None,
    /// Every column to [0, 1] (sparse data: to [−1, 1], zero kept).
    Minmax,
    /// All columns together to [0, 1], by one common shift and factor (pixels: faint columns stay faint).
    Range,
    /// Every column to mean 0 and standard deviation 1 (sparse data: only divided by the standard deviation).
    Standard,
    /// Every row to length 1.
    Unit,
    /// Counts to tf·idf, then every row to length 1.
    Tfidf,
}

impl ScalingName {
    /// All scalings.
    pub const ALL: [Self; 6] =
        [Self::None, Self::Minmax, Self::Range, Self::Standard, Self::Unit, Self::Tfidf];

    /// Name as written by users.
    pub fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Minmax => "minmax",
            Self::Range => "range",
            Self::Standard => "standard",
            Self::Unit => "unit",
            Self::Tfidf => "tfidf",
        }
    }
}

impl std::str::FromStr for ScalingName {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        Self::ALL.into_iter().find(|s| s.name() == text).ok_or_else(|| {
            Error::parameter("scale", text, "one of none, minmax, range, standard, unit, tfidf")
        })
    }
}

/// Maximum number of cells when a shift makes a sparse matrix dense.
const MAX_DENSE_CELLS: usize = 1 << 30;
/// A deviation below this fraction of the largest value is a rounding error.
const ROUNDING: f64 = 1e-13;
/// Number of columns above which sparse data count as text.
const WIDE: usize = 1000;
/// Maximum number of columns for which dense data count as a table of measurements in different units.
const NARROW: usize = 100;
/// Largest ratio of the deviations of such columns that needs no scaling.
const MAX_DEVIATION_RATIO: f64 = 3.0;
/// Number of columns below which data are not images, whatever their range: no image is smaller than 6 by 6.
const MIN_PIXELS: usize = 36;

impl Scaling {
    /// Fits the scaling on training data. Constant columns get factor 1, so that they stay finite (0 when shifted).
    pub fn fit(name: ScalingName, x: MatrixView<'_>) -> Result<Self> {
        if x.rows() == 0 && name != ScalingName::None {
            return Err(Error::Data("scaling needs at least one row to learn from".into()));
        }
        Ok(match name {
            ScalingName::None => Self::None,
            ScalingName::Unit => Self::Unit,
            ScalingName::Minmax | ScalingName::Range | ScalingName::Standard => Columns::of(x).scaling(name),
            ScalingName::Tfidf => {
                let columns = Columns::of(x);
                if columns.low.iter().any(|v| *v < 0.0) {
                    return Err(Error::parameter(
                        "scale",
                        "tfidf",
                        "used on counts; the data has negative values",
                    ));
                }
                let n = x.rows() as f64;
                // The smooth form of scikit-learn: never zero, and defined for words that do not occur.
                let idf = columns.nonzero.iter().map(|df| ((1.0 + n) / (1.0 + df)).ln() + 1.0).collect();
                Self::Tfidf { idf }
            }
        })
    }

    /// Scales `x` in place (a shift makes sparse data dense).
    pub fn apply(&self, x: Matrix) -> Result<Matrix> {
        let x = self.apply_to_any_values(x)?;
        // Values far outside the training range may exceed the allowed magnitude.
        if !matches!(self, Self::None) {
            check_values(&x)?;
        }
        Ok(x)
    }

    /// [`Scaling::apply`] without the check of the scaled values; values may be NaN, infinite or too large.
    pub(crate) fn apply_to_any_values(&self, x: Matrix) -> Result<Matrix> {
        self.check_cols(x.cols())?;
        let mut x = match self {
            Self::Affine { shift, .. } if !shift.is_empty() => densify(x)?,
            _ => x,
        };
        match self {
            Self::None => return Ok(x),
            Self::Affine { shift, factor, .. } => {
                each_value(&mut x, |c, v| *v = (*v - shift.get(c).copied().unwrap_or(0.0)) * factor[c]);
            }
            Self::Tfidf { idf } => each_value(&mut x, |c, v| *v *= idf[c]),
            Self::Unit => {}
        }
        if matches!(self, Self::Unit | Self::Tfidf { .. }) {
            each_row(&mut x, to_unit_length);
        }
        Ok(x)
    }

    /// Undoes the scaling. `unit` and `tfidf` lose the length of a row, so only its direction is restored.
    pub(crate) fn invert(&self, mut x: Matrix) -> Matrix {
        match self {
            Self::None | Self::Unit => {}
            Self::Affine { shift, factor, .. } => {
                each_value(&mut x, |c, v| *v = *v / factor[c] + shift.get(c).copied().unwrap_or(0.0));
            }
            Self::Tfidf { idf } => each_value(&mut x, |c, v| *v /= idf[c]),
        }
        x
    }

    /// Gives constant columns of huge values in `x`, on which the scaling was fitted, a factor that brings them to 1 or
    /// below. [`Scaling::fit`] gives factor 1 to columns that are constant up to rounding, so their rounding errors
    /// stay huge.
    pub(crate) fn shrink_huge_constants(&mut self, x: MatrixView<'_>) {
        let Self::Affine { shift, factor, .. } = self else { return };
        let mut largest_values = vec![0.0f64; factor.len()];
        (0..x.rows())
            .for_each(|i| x.row(i).for_each(|c, v| largest_values[c] = largest_values[c].max(v.abs())));
        let allowed = if shift.is_empty() { 1.0 } else { ROUNDING };
        for (factor, largest) in factor.iter_mut().zip(largest_values) {
            // a column of such values with factor 1 is constant: it does not vary beyond rounding
            if *factor == 1.0 && ROUNDING * largest > 1.0 {
                *factor = 1.0 / (allowed * largest);
            }
        }
    }

    /// Whether applying the scaling makes sparse rows dense.
    pub(crate) fn shifts(&self) -> bool {
        matches!(self, Self::Affine { shift, .. } if !shift.is_empty())
    }

    /// Returns an error if the scaling does not fit rows of `cols` columns or has unusable numbers (a file may hold
    /// anything).
    pub(crate) fn check(&self, cols: usize) -> Result<()> {
        self.check_cols(cols)?;
        let (shift, factor): (&[f64], &[f64]) = match self {
            Self::None | Self::Unit => return Ok(()),
            Self::Affine { shift, factor, .. } => (shift, factor),
            Self::Tfidf { idf } => (&[], idf),
        };
        let usable = shift.iter().all(|v| v.abs() <= MAX_ABS)
            && factor.iter().all(|v| *v > 0.0 && v.is_finite() && v.recip().is_finite());
        if usable { Ok(()) } else { Err(Error::Model("scaling: shifts or factors are not usable".into())) }
    }

    /// The default scaling for data, and the reason. The first rule that applies: values within [−1, 1] are kept if no
    /// column is far smaller than the others; wide sparse non-negative data are text (`tfidf` for integers, else
    /// `unit`, which does not change rows of unit length); columns that share one range (pixels) are scaled by that
    /// common range, because separate ranges would amplify the faint ones; other sparse data are divided by the largest
    /// value of each column; other dense data are standardized.
    pub fn choose(x: MatrixView<'_>) -> (ScalingName, &'static str) {
        let columns = Columns::of(x);
        let (low, high) = columns.range();
        if low >= -1.0 && high <= 1.0 && columns.are_alike() {
            return (ScalingName::None, "all values lie within [-1, 1] already");
        }
        match x {
            MatrixView::Csr { values, .. } if x.cols() > WIDE && low >= 0.0 => {
                if values.iter().all(|v| v.fract() == 0.0) {
                    (ScalingName::Tfidf, "wide, sparse, whole numbers: word counts")
                } else {
                    (ScalingName::Unit, "wide, sparse, not negative: weighted words")
                }
            }
            _ if columns.share_a_range() => (ScalingName::Range, "all columns share one range, as pixels do"),
            MatrixView::Csr { .. } => (ScalingName::Minmax, "sparse: columns divided by their largest value"),
            MatrixView::Dense { .. } => (ScalingName::Standard, "dense columns of different ranges"),
        }
    }

    /// Name as written by users.
    pub fn name(&self) -> &str {
        match self {
            Self::None => "none",
            Self::Affine { name, .. } => name,
            Self::Unit => "unit",
            Self::Tfidf { .. } => "tfidf",
        }
    }

    fn check_cols(&self, cols: usize) -> Result<()> {
        let expected = match self {
            Self::None | Self::Unit => cols,
            Self::Affine { factor, shift, .. } if shift.is_empty() || shift.len() == factor.len() => {
                factor.len()
            }
            Self::Affine { .. } => {
                return Err(Error::Model(
                    "scaling: the number of shifts must be 0 or equal the number of factors".into(),
                ));
            }
            Self::Tfidf { idf } => idf.len(),
        };
        if cols != expected {
            return Err(Error::Shape { what: "columns of the data to scale", expected, found: cols });
        }
        Ok(())
    }
}

/// Statistics of each column. On sparse data zeros count like any value.
struct Columns {
    low: Vec<f64>,
    high: Vec<f64>,
    mean: Vec<f64>,
    deviation: Vec<f64>,
    nonzero: Vec<f64>,
    sparse: bool,
}

impl Columns {
    fn of(x: MatrixView<'_>) -> Self {
        let (rows, cols) = (x.rows(), x.cols());
        let n = (rows as f64).max(1.0);
        let (mut low, mut high) = (vec![f64::INFINITY; cols], vec![f64::NEG_INFINITY; cols]);
        let (mut mean, mut deviation, mut nonzero) = (vec![0.0; cols], vec![0.0; cols], vec![0.0; cols]);
        for i in 0..rows {
            x.row(i).for_each(|c, v| {
                low[c] = v.min(low[c]);
                high[c] = v.max(high[c]);
                mean[c] += v / n;
                nonzero[c] += 1.0;
            });
        }
        for i in 0..rows {
            x.row(i).for_each(|c, v| deviation[c] += (v - mean[c]).powi(2) / n);
        }
        for c in 0..cols {
            if nonzero[c] < n {
                (low[c], high[c]) = (low[c].min(0.0), high[c].max(0.0));
            }
            let zeros = (n - nonzero[c]) / n;
            deviation[c] = (deviation[c] + zeros * mean[c] * mean[c]).sqrt();
        }
        Self { low, high, mean, deviation, nonzero, sparse: matches!(x, MatrixView::Csr { .. }) }
    }

    /// Lowest and highest value of all columns.
    fn range(&self) -> (f64, f64) {
        let low = self.low.iter().copied().fold(f64::INFINITY, f64::min);
        (low, self.high.iter().copied().fold(f64::NEG_INFINITY, f64::max))
    }

    /// Whether no column (constant ones aside) is so much smaller than another that a learner would neglect it, and the
    /// largest has a size that suits default costs and kernel widths. Sparse columns are measured by their largest |x|
    /// and may differ more, because rare words and faint pixels have small values. The columns of a narrow table are
    /// measured by their deviation, because one extreme value makes the range of a column large.
    fn are_alike(&self) -> bool {
        let (ratio, least) = if self.sparse { (100.0, 0.01) } else { (10.0, 0.1) };
        let varying = || (0..self.low.len()).filter(|&c| self.high[c] > self.low[c]);
        let range = |c: usize| {
            if self.sparse { self.high[c].max(-self.low[c]) } else { self.high[c] - self.low[c] }
        };
        let (smallest, largest) = extremes(varying().map(range));
        let narrow = !self.sparse && self.low.len() <= NARROW;
        let alike = largest >= least && largest <= ratio * smallest;
        largest == 0.0 || (alike && (!narrow || self.deviate_alike()))
    }

    /// Whether the deviations of the columns (constant ones aside) have a similar size.
    fn deviate_alike(&self) -> bool {
        let varying = (0..self.low.len()).filter(|&c| self.high[c] > self.low[c]);
        let (faintest, strongest) = extremes(varying.map(|c| self.deviation[c]));
        strongest <= MAX_DEVIATION_RATIO * faintest
    }

    /// Whether the columns look like measurements of one kind, such as pixels: not negative, all (constant ones aside)
    /// starting near the common lowest value, and more than half of them reaching half of the common range. A few dense
    /// columns are not an image: their deviations must be similar, too.
    fn share_a_range(&self) -> bool {
        let (low, high) = self.range();
        let varying: Vec<usize> = (0..self.low.len()).filter(|&c| self.high[c] > self.low[c]).collect();
        let starts_low = |c: &usize| self.low[*c] - low <= 0.1 * (high - low);
        let reaches_half = |c: &&usize| self.high[**c] - low >= 0.5 * (high - low);
        let reaching_half = varying.iter().filter(reaches_half).count();
        let pixels = self.sparse || self.low.len() >= MIN_PIXELS || self.deviate_alike();
        varying.len() > 1
            && low >= 0.0
            && varying.iter().all(starts_low)
            && 2 * reaching_half > varying.len()
            && pixels
    }

    fn scaling(&self, name: ScalingName) -> Scaling {
        let (low, high) = self.range();
        let (shift, size): (Vec<f64>, Vec<f64>) = (0..self.low.len())
            .map(|c| match (name, self.sparse) {
                (ScalingName::Standard, true) => (0.0, self.deviation[c]),
                (ScalingName::Standard, false) => (self.mean[c], self.deviation[c]),
                (ScalingName::Range, true) => (0.0, high.max(-low)),
                (ScalingName::Range, false) => (low, high - low),
                (_, true) => (0.0, self.high[c].max(-self.low[c])),
                (_, false) => (self.low[c], self.high[c] - self.low[c]),
            })
            .unzip();
        // A column whose deviation is within rounding of its largest value is constant.
        let usable = |c: usize| {
            let rounding = ROUNDING * self.high[c].abs().max(self.low[c].abs());
            size[c] > rounding && size[c].recip().is_finite()
        };
        let factor = (0..size.len()).map(|c| if usable(c) { size[c].recip() } else { 1.0 }).collect();
        let shift = if shift.iter().all(|s| *s == 0.0) { Vec::new() } else { shift };
        Scaling::Affine { name: name.name().into(), shift, factor }
    }
}

/// The smallest and the largest size; infinity and 0 if there are none.
fn extremes(sizes: impl Iterator<Item = f64>) -> (f64, f64) {
    sizes.fold((f64::INFINITY, 0.0), |(low, high), size| (size.min(low), size.max(high)))
}

fn densify(x: Matrix) -> Result<Matrix> {
    let cells = x.rows().saturating_mul(x.cols());
    match x {
        dense @ Matrix::Dense { .. } => Ok(dense),
        sparse if cells <= MAX_DENSE_CELLS => Ok(sparse.view().to_dense()),
        _ => Err(Error::Data(format!(
            "this scaling shifts columns, which would make {} sparse values {:.0} GB of dense ones; train on \
             sparse data, or scale with unit or none",
            x.view().nonzeros(),
            cells as f64 * 8e-9
        ))),
    }
}

fn each_value(x: &mut Matrix, mut change: impl FnMut(usize, &mut f64)) {
    match x {
        Matrix::Dense { values, cols, .. } => {
            for row in values.chunks_exact_mut((*cols).max(1)) {
                row.iter_mut().enumerate().for_each(|(c, v)| change(c, v));
            }
        }
        Matrix::Csr { indices, values, .. } => {
            indices.iter().zip(values).for_each(|(c, v)| change(*c as usize, v));
        }
    }
}

fn each_row(x: &mut Matrix, change: impl Fn(&mut [f64])) {
    match x {
        Matrix::Dense { values, cols, .. } => values.chunks_exact_mut((*cols).max(1)).for_each(change),
        Matrix::Csr { indptr, values, .. } => {
            indptr.windows(2).for_each(|span| change(&mut values[span[0]..span[1]]));
        }
    }
}

/// Scales a row to length 1; rows of zeros stay. Dividing by the largest value first avoids overflow and underflow.
fn to_unit_length(row: &mut [f64]) {
    let top = row.iter().fold(0.0, |m: f64, v| m.max(v.abs()));
    if top > 0.0 {
        for v in row.iter_mut() {
            *v /= top;
        }
        let length = row.iter().map(|v| v * v).sum::<f64>().sqrt();
        for v in row.iter_mut() {
            *v /= length;
        }
    }
}

fn check_values(x: &Matrix) -> Result<()> {
    let (Matrix::Dense { values, .. } | Matrix::Csr { values, .. }) = x;
    match values.iter().find(|v| v.is_nan() || v.abs() > MAX_ABS) {
        None => Ok(()),
        Some(v) => Err(Error::Data(format!(
            "scaling gives the value {v}: this sample is too far outside the range of the training data"
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dense(values: &[f64], cols: usize) -> Matrix {
        Matrix::dense(values.to_vec(), values.len() / cols, cols).unwrap()
    }

    fn scaled(name: ScalingName, x: &Matrix) -> Vec<f64> {
        let y = Scaling::fit(name, x.view()).unwrap().apply(x.clone()).unwrap();
        assert_eq!(matches!(y, Matrix::Csr { .. }), matches!(x, Matrix::Csr { .. }), "layout is kept");
        let Matrix::Dense { values, .. } = y.view().to_dense() else { unreachable!() };
        values
    }

    #[test]
    fn dense_columns_are_shifted_and_divided() {
        let x = dense(&[0.0, 5.0, 10.0, 2.0, 5.0, -10.0, 4.0, 5.0, 0.0], 3);
        assert_eq!(scaled(ScalingName::Minmax, &x), [0.0, 0.0, 1.0, 0.5, 0.0, 0.0, 1.0, 0.0, 0.5]);
        let s = scaled(ScalingName::Standard, &x);
        let r = 1.5_f64.sqrt();
        for (a, b) in s.iter().zip([-r, 0.0, r, 0.0, 0.0, -r, r, 0.0, 0.0]) {
            assert!((a - b).abs() < 1e-12);
        }
        let range = scaled(ScalingName::Range, &x);
        assert!(range.iter().zip([0.5, 0.75, 1.0]).all(|(a, b)| (a - b).abs() < 1e-12));
    }

    #[test]
    fn sparse_columns_are_divided_without_a_shift() {
        let x = dense(&[0.0, 5.0, 0.0, -2.0, 0.0, 0.0], 3).view().to_csr();
        assert_eq!(scaled(ScalingName::Minmax, &x), [0.0, 1.0, 0.0, -1.0, 0.0, 0.0]);
        let s = scaled(ScalingName::Standard, &x);
        assert!(
            (s[1] - 2.0).abs() < 1e-12 && (s[3] + 2.0).abs() < 1e-12,
            "deviation counts the zeros: {s:?}"
        );
    }

    #[test]
    fn dense_and_sparse_layouts_scale_alike() {
        let x = dense(&[1.0, 0.0, 3.0, 4.0, 2.0, 8.0], 2);
        for name in ScalingName::ALL {
            for fitted in [x.clone(), x.view().to_csr()] {
                let scaling = Scaling::fit(name, fitted.view()).unwrap();
                let a = scaling.apply(x.clone()).unwrap();
                let b = scaling.apply(x.view().to_csr()).unwrap();
                assert_eq!(a.view().to_dense(), b.view().to_dense(), "{name:?}");
            }
        }
    }

    #[test]
    fn scales_rows_to_unit_length_and_computes_idf() {
        let x = dense(&[3.0, 4.0, 0.0, 0.0, 1e-200, 0.0], 2);
        assert_eq!(scaled(ScalingName::Unit, &x), [0.6, 0.8, 0.0, 0.0, 1.0, 0.0]);
        let Scaling::Tfidf { idf } = Scaling::fit(ScalingName::Tfidf, x.view()).unwrap() else {
            unreachable!()
        };
        assert!((idf[0] - ((4.0_f64 / 3.0).ln() + 1.0)).abs() < 1e-15);
        assert!((idf[1] - (2.0_f64.ln() + 1.0)).abs() < 1e-15);
        assert!(Scaling::fit(ScalingName::Tfidf, dense(&[-1.0], 1).view()).is_err());
    }

    #[test]
    fn choose_follows_its_rules() {
        let name = |x: &Matrix| Scaling::choose(x.view()).0;
        assert_eq!(name(&dense(&[0.5, -1.0, 1.0, 0.0], 2)), ScalingName::None);
        // one dark and one bright row, whose last pixel is faint
        let image = |pixels: usize, bright: f64, faint: f64| {
            let bright = vec![bright; pixels - 1];
            dense(&[vec![0.0; pixels], bright, vec![faint]].concat(), pixels)
        };
        assert_eq!(name(&image(36, 255.0, 3.0)), ScalingName::Range);
        assert_eq!(name(&image(35, 255.0, 3.0)), ScalingName::Standard, "too few columns for an image");
        assert_eq!(name(&image(3, 255.0, 90.0)), ScalingName::Range, "deviations of one size");
        assert_eq!(name(&dense(&[0.0, 1e6, 40.0, 2e3], 2)), ScalingName::Standard);
        assert_eq!(name(&dense(&[0.5, 7e-5, -1.0, 1e-4], 2)), ScalingName::Standard);
        assert_eq!(name(&dense(&[0.5, 0.3, -1.0, 0.81], 2)), ScalingName::None, "a factor of three");
        assert_eq!(name(&dense(&[0.5, 0.3, -1.0, 0.79], 2)), ScalingName::Standard);
        let wide = |last: f64| {
            let row = |sign: f64| (0..101).map(move |c| sign * if c == 100 { last } else { 0.5 });
            dense(&row(1.0).chain(row(-1.0)).collect::<Vec<_>>(), 101)
        };
        assert_eq!(name(&wide(0.051)), ScalingName::None, "a factor of ten");
        assert_eq!(name(&wide(0.049)), ScalingName::Standard);
        let extreme = (0..40).flat_map(|i| [f64::from(i % 2), f64::from(u8::from(i == 0))]);
        assert_eq!(name(&dense(&extreme.collect::<Vec<_>>(), 2)), ScalingName::Standard, "one extreme value");
        assert_eq!(name(&dense(&[-1e-4, 1e-4, 1e-4, -1e-4], 2)), ScalingName::Standard, "small together");
        assert_eq!(name(&dense(&[0.5, 0.3, 0.5, 0.3], 2)), ScalingName::None, "constant");
        assert_eq!(name(&image(36, 1.0, 0.01)), ScalingName::Range, "faint pixels");
        let sparse = |v: f64, top: f64| Matrix::csr(vec![0, 1, 2], vec![0, 7], vec![v, -top], 9).unwrap();
        assert_eq!(name(&sparse(0.011, 1.0)), ScalingName::None);
        assert_eq!(name(&sparse(0.009, 1.0)), ScalingName::Minmax);
        assert_eq!(name(&sparse(0.009, 0.009)), ScalingName::Minmax);
        let counts = Matrix::csr(vec![0, 2, 3], vec![0, 4000, 7], vec![3.0, 1.0, 2.0], 5000).unwrap();
        assert_eq!(name(&counts), ScalingName::Tfidf);
        let weights = Matrix::csr(vec![0, 2, 3], vec![0, 4000, 7], vec![3.5, 1.0, 2.0], 5000).unwrap();
        assert_eq!(name(&weights), ScalingName::Unit);
        let signed = Matrix::csr(vec![0, 1, 2], vec![0, 7], vec![-3.5, 1.0], 9).unwrap();
        assert_eq!(name(&signed), ScalingName::Minmax);
    }

    #[test]
    fn refuses_bad_input_and_never_returns_nan() {
        let x = dense(&[1e-310, 7.0, 2e-310, 7.0], 2);
        for name in ScalingName::ALL {
            assert!(scaled(name, &x).iter().all(|v| v.is_finite()), "{name:?}");
            let scaling = Scaling::fit(name, x.view()).unwrap();
            let wide = scaling.apply(dense(&[1.0, 2.0, 3.0], 3));
            assert_eq!(wide.is_err(), !matches!(name, ScalingName::None | ScalingName::Unit), "{name:?}");
        }
        assert!(Scaling::fit(ScalingName::Minmax, dense(&[], 1).view()).is_err());
        let narrow = Scaling::fit(ScalingName::Minmax, dense(&[0.0, 1e-90], 1).view()).unwrap();
        assert!(narrow.apply(dense(&[1e50], 1)).unwrap_err().to_string().contains("outside"));
        let shifting =
            Scaling::fit(ScalingName::Standard, dense(&vec![1.0; 100_000], 100_000).view()).unwrap();
        let tall = Matrix::csr(vec![0; 100_001], vec![], vec![], 100_000).unwrap();
        assert!(shifting.apply(tall).unwrap_err().to_string().contains("GB"));
        assert!("minmaks".parse::<ScalingName>().unwrap_err().to_string().contains("minmax"));
    }
}
