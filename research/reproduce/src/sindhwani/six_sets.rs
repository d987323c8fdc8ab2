//! The six data sets of chapter 5 (table 5.1), with two classes each.
//!
//! The source does not describe the two moons, nor the selection of threes and eights of MNIST. Here the latter are the first 2000,
//! reduced as in the source to 100 principal components ("PCA denoising", table 5.1: 100 columns).

use super::many::Pool;
use crate::data::digits;
use crate::failure::{Failure, Result};
use crate::few::Rows;
use crate::run::Bench;
use evermargin::datasets::{GenerateParams, generate};
use evermargin::math::linalg;
use evermargin::{Labels, Matrix};

/// A data set: numbers of training rows, validation rows, labels and basis functions.
#[derive(Debug)]
pub(super) struct Set {
    pub name: &'static str,
    rows: &'static str,
    pub train: usize,
    pub validation: usize,
    pub labeled: usize,
    pub basis: usize,
}

const fn set(name: &'static str, rows: &'static str, sizes: [usize; 4]) -> Set {
    let [train, validation, labeled, basis] = sizes;
    Set { name, rows, train, validation, labeled, basis }
}

pub(super) const SETS: [Set; 6] = [
    set("2moons", "two-moons", [450, 150, 2, 15]),
    set("g50c", "g50c", [412, 138, 21, 42]),
    set("coil20bin", "coil20", [1080, 360, 54, 108]),
    set("usps2vs5", "ssl:USPS", [1125, 375, 57, 113]),
    set("mnist3vs8", "mnist", [1500, 500, 75, 150]),
    set("pcmac", "text1", [1459, 487, 73, 146]),
];

/// Noise of two moons, which the source does not state; its learner with all labels makes no error.
const NOISE: f64 = 0.05;

/// Additional distance of the moons, which overlap by 0.5 in the library. With one label per class, RLS divides the plane between
/// the two labeled points with any kernel, so its mean error (published: 20.04 %) determines the distance: with overlaps of 0.5,
/// 0.3, 0.25 and 0 the mean error is 24.3, 20.4, 19.4 and 14.6 % (3000 draws of labels on one sample; samples differ by about one
/// point). 0.25 is slightly too easy.
const APART: f64 = 0.25;

impl Set {
    pub fn open(&self, bench: &Bench<'_>) -> Result<Pool> {
        match self.rows {
            "two-moons" => moons(self.train + self.validation, bench.options.seed),
            "coil20" => {
                let rows = Rows::open("coil20", &bench.options.folder)?;
                Ok(two(rows, |c| c.parse::<u32>().is_ok_and(|c| c > 10)))
            }
            "mnist" => threes_and_eights(bench, self.train + self.validation),
            name => {
                let rows = Rows::open(name, &bench.options.folder)?;
                Ok(Pool::new(rows.x, &rows.labels))
            }
        }
    }
}

fn moons(rows: usize, seed: u64) -> Result<Pool> {
    let wanted = GenerateParams { rows, noise: Some(NOISE), seed, ..GenerateParams::default() };
    let (x, labels) = generate("two-moons", &wanted)?;
    let pool = Pool::new(x, &labels);
    let Matrix::Dense { mut values, .. } = pool.x.view().to_dense() else {
        return Err(Failure::Content("the moons are not dense".into()));
    };
    for (point, class) in values.chunks_exact_mut(2).zip(&pool.class) {
        point[1] -= APART * f64::from(*class);
    }
    Ok(Pool { x: Matrix::dense(values, rows, 2)?, ..pool })
}

/// Rows as two classes, of which `positive` selects one by name.
fn two(rows: Rows, positive: impl Fn(&str) -> bool) -> Pool {
    let side = |c: &Option<u32>| c.map(|c| u32::from(positive(&rows.labels.classes[c as usize])));
    let of = rows.labels.of.iter().map(side).collect();
    Pool::new(rows.x, &Labels { classes: vec!["-".into(), "+".into()], of })
}

const PIXELS: usize = 784;
const COMPONENTS: usize = 100;

fn threes_and_eights(bench: &Bench<'_>, rows: usize) -> Result<Pool> {
    let set = digits(&bench.options.folder, "train")?;
    let digit = |i: &usize| set.labels.of[*i].map_or("", |c| set.labels.classes[c as usize].as_str());
    let kept: Vec<usize> = (0..set.x.rows()).filter(|i| matches!(digit(i), "3" | "8")).take(rows).collect();
    let mut values = vec![0.0; PIXELS * kept.len()];
    for (row, &i) in values.chunks_exact_mut(PIXELS).zip(&kept) {
        set.x.view().row(i).for_each(|c, v| row[c] = v / 255.0);
    }
    let class = kept.iter().map(|i| u32::from(digit(i) == "8")).collect();
    Ok(Pool { x: principal(values, PIXELS, COMPONENTS)?, class, classes: 2 })
}

/// Coordinates of rows along their principal components.
fn principal(mut values: Vec<f64>, columns: usize, kept: usize) -> Result<Matrix> {
    let rows = values.len() / columns;
    let mut middle = vec![0.0; columns];
    for row in values.chunks_exact(columns) {
        middle.iter_mut().zip(row).for_each(|(m, v)| *m += v / rows as f64);
    }
    for row in values.chunks_exact_mut(columns) {
        row.iter_mut().zip(&middle).for_each(|(v, m)| *v -= m);
    }
    let (_, axes) = linalg::eigen(&linalg::symmetric_product(&values, &values, columns), columns)?;
    let axes = &axes[(columns - kept) * columns..];
    let mut out = vec![0.0; rows * kept];
    linalg::cross_products(axes, kept, &values, rows, columns, &mut out);
    Ok(Matrix::dense(out, rows, kept)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn largest_component_is_last_and_centered() {
        let values: Vec<f64> = (0..20).flat_map(|i| [f64::from(i), 2.0 * f64::from(i), 5.0]).collect();
        let Matrix::Dense { values, .. } = principal(values, 3, 1).unwrap() else { panic!("not dense") };
        let length = 5.0_f64.sqrt();
        let sign = values[19].signum();
        for (i, v) in values.iter().enumerate() {
            assert!((sign * v - length * (i as f64 - 9.5)).abs() < 1e-9);
        }
    }
}
