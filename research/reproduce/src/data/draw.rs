//! Draws the samples of one repetition from a data set: split, thinning, scaling, label noise.

use super::{Origin, Sample, Split};
use crate::failure::{Failure, Result};
use crate::tables::{Protocol, SplitRecipe};
use evermargin::datasets::{GenerateParams, generate};
use evermargin::model::{Scaling as Fitted, ScalingName};
use evermargin::{Label, Matrix};
use rand::{Rng, RngExt};
use serde::{Deserialize, Serialize};

/// Scaling of the features, fitted on the training rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Scaling {
    /// No scaling.
    #[default]
    None,
    /// Mean 0, standard deviation 1.
    Standard,
    /// Range [0, 1].
    Minmax,
    /// Division by 16, the square root of the number of pixels of a USPS digit.
    Sixteenth,
    /// Division by 255.
    Pixels,
    /// Rows of length 1.
    Unit,
}

impl Scaling {
    /// Finds a scaling by name.
    pub fn by_name(name: &str) -> Result<Self> {
        serde_json::from_value(name.into()).map_err(|e| Failure::Unknown(format!("scaling {name}: {e}")))
    }

    pub(crate) fn fit(self, x: &Matrix) -> Result<Fitted> {
        let by = |factor: f64| Fitted::Affine {
            name: "range".into(),
            shift: Vec::new(),
            factor: vec![factor; x.cols()],
        };
        Ok(match self {
            Self::None => Fitted::None,
            Self::Standard => Fitted::fit(ScalingName::Standard, x.view())?,
            Self::Minmax => Fitted::fit(ScalingName::Minmax, x.view())?,
            Self::Sixteenth => by(1.0 / 16.0),
            Self::Pixels => by(1.0 / 255.0),
            Self::Unit => Fitted::Unit,
        })
    }
}

impl Origin {
    /// Draws the samples of one repetition.
    pub fn draw(&self, protocol: &Protocol, rng: &mut impl Rng) -> Result<Split> {
        let mut split = match self {
            Self::Fixed(split) => split.as_ref().clone(),
            Self::Pool(sample) => divide(sample, protocol, rng)?,
            Self::Waveform => waveform(protocol, rng)?,
        };
        if let Some(ratio) = protocol.imbalance {
            split.train = thin(&split.train, ratio, rng);
        }
        let scaling = protocol.scaling.fit(&split.train.x)?;
        split.train.x = scaling.apply(split.train.x)?;
        split.test.x = scaling.apply(split.test.x)?;
        flip(&mut split.train.y, protocol.noise, rng);
        Ok(split)
    }

    /// Whether every repetition of the protocol has the same samples.
    pub fn is_fixed(&self, protocol: &Protocol) -> bool {
        matches!(self, Self::Fixed(_)) && protocol.noise == 0.0 && protocol.imbalance.is_none()
    }
}

/// `0..rows` in random order.
fn shuffled(rows: usize, rng: &mut impl Rng) -> Vec<usize> {
    let mut order: Vec<usize> = (0..rows).collect();
    for i in (1..rows).rev() {
        order.swap(i, rng.random_range(0..=i));
    }
    order
}

fn divide(sample: &Sample, protocol: &Protocol, rng: &mut impl Rng) -> Result<Split> {
    let (rows, train) = (sample.rows(), protocol.train);
    let test = protocol.test.unwrap_or(rows.saturating_sub(train));
    if train + test > rows || train == 0 || test == 0 {
        return Err(Failure::Missing {
            what: format!("a set of {train} training and {test} test rows"),
            origin: format!("{rows} rows are available"),
        });
    }
    let order = shuffled(rows, rng);
    let (first, second) = if protocol.split == SplitRecipe::Stratified {
        by_class(sample, &order, train)
    } else {
        (order[..train].to_vec(), order[train..].to_vec())
    };
    Ok(Split { train: sample.select(&first), test: sample.select(&second[..test]) })
}

/// Stratified split that keeps the given order.
fn by_class(sample: &Sample, order: &[usize], train: usize) -> (Vec<usize>, Vec<usize>) {
    let share = sample.positives() as f64 / sample.rows() as f64;
    let positives = (share * train as f64).round() as usize;
    let mut left = [train - positives, positives];
    order.iter().partition(|&&i| {
        let side = &mut left[usize::from(sample.y[i] == Label::Pos)];
        let take = *side > 0;
        *side -= usize::from(take);
        take
    })
}

/// Breiman's waveforms; class 1 is positive.
fn waveform(protocol: &Protocol, rng: &mut impl Rng) -> Result<Split> {
    let rows = protocol.train + protocol.test.unwrap_or(1000);
    let params = GenerateParams { rows, seed: rng.random(), ..GenerateParams::default() };
    let (x, labels) = generate("waveform", &params)?;
    let y = labels.of.iter().map(|class| super::label(*class == Some(0))).collect();
    let whole = Sample::new(x, y)?;
    let (train, test): (Vec<usize>, Vec<usize>) = (0..rows).partition(|&i| i < protocol.train);
    Ok(Split { train: whole.select(&train), test: whole.select(&test) })
}

/// Removes random positives until there are `ratio` negatives per positive.
fn thin(sample: &Sample, ratio: f64, rng: &mut impl Rng) -> Sample {
    let negatives = sample.rows() - sample.positives();
    let mut left = (negatives as f64 / ratio) as usize;
    let mut keep = vec![true; sample.rows()];
    for i in shuffled(sample.rows(), rng) {
        if sample.y[i] == Label::Pos {
            keep[i] = left > 0;
            left = left.saturating_sub(1);
        }
    }
    let rows: Vec<usize> = (0..sample.rows()).filter(|&i| keep[i]).collect();
    sample.select(&rows)
}

/// Flips exactly that share of the labels, at random.
fn flip(y: &mut [Label], share: f64, rng: &mut impl Rng) {
    let count = (share * y.len() as f64).round() as usize;
    if count == 0 {
        return;
    }
    for i in shuffled(y.len(), rng).into_iter().take(count) {
        y[i] = super::label(y[i] == Label::Neg);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng;
    use rand_pcg::Pcg64;

    fn protocol(split: SplitRecipe) -> Protocol {
        Protocol {
            train: 60,
            test: Some(30),
            split,
            kernel: "rbf".into(),
            c: 1.0,
            gamma: 1.0,
            tolerance: 1e-3,
            scaling: Scaling::Standard,
            repetitions: 1,
            noise: 0.0,
            imbalance: None,
            stop: None,
            undersampling: None,
            few: None,
        }
    }

    fn pool() -> Origin {
        let x = Matrix::dense((0..100).map(f64::from).collect(), 100, 1).unwrap();
        let y = (0..100).map(|i| super::super::label(i % 5 == 0)).collect();
        Origin::Pool(Box::new(Sample::new(x, y).unwrap()))
    }

    #[test]
    fn splits_are_disjoint_and_reproducible() {
        let plain = Protocol { scaling: Scaling::None, ..protocol(SplitRecipe::Random) };
        let draw = |seed| pool().draw(&plain, &mut Pcg64::seed_from_u64(seed)).unwrap();
        let split = draw(1);
        assert_eq!(split, draw(1));
        assert_ne!(split, draw(2));
        let value = |s: &Sample, i| match s.x.view().row(i) {
            evermargin::data::Row::Dense(v) => v[0] as usize,
            evermargin::data::Row::Sparse(..) => usize::MAX,
        };
        let mut seen: Vec<usize> = (0..60).map(|i| value(&split.train, i)).collect();
        seen.extend((0..30).map(|i| value(&split.test, i)));
        seen.sort_unstable();
        seen.dedup();
        assert_eq!(seen.len(), 90);
    }

    #[test]
    fn stratified_splits_keep_class_shares() {
        let mut rng = Pcg64::seed_from_u64(3);
        let split = pool().draw(&protocol(SplitRecipe::Stratified), &mut rng).unwrap();
        assert_eq!((split.train.rows(), split.train.positives()), (60, 12));
    }

    #[test]
    fn too_few_rows_give_missing() {
        let much = Protocol { train: 99, ..protocol(SplitRecipe::Random) };
        let drawn = pool().draw(&much, &mut Pcg64::seed_from_u64(3));
        assert!(matches!(drawn, Err(Failure::Missing { .. })));
    }

    #[test]
    fn waveforms_are_thinned_and_have_label_noise() {
        let mut wanted = Protocol {
            train: 4000,
            test: Some(1000),
            imbalance: Some(32.0),
            ..protocol(SplitRecipe::Generated)
        };
        let split = Origin::Waveform.draw(&wanted, &mut Pcg64::seed_from_u64(5)).unwrap();
        let (rows, positives) = (split.train.rows(), split.train.positives());
        assert_eq!(positives, (rows - positives) / 32);
        assert_eq!((split.test.rows(), split.train.x.cols()), (1000, 21));
        wanted.imbalance = None;
        let clean = Origin::Waveform.draw(&wanted, &mut Pcg64::seed_from_u64(5)).unwrap();
        wanted.noise = 0.1;
        let noisy = Origin::Waveform.draw(&wanted, &mut Pcg64::seed_from_u64(5)).unwrap();
        let turned = clean.train.y.iter().zip(&noisy.train.y).filter(|(a, b)| a != b).count();
        assert_eq!(turned, 400);
        assert_eq!(clean.test, noisy.test);
    }
}
