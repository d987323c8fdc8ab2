//! Seeded data sets for tests, demonstrations and benchmarks. The same name, parameters and seed give the same bits on
//! every machine whose `sin`, `cos`, `ln` and `exp` agree.

use crate::data::{Labels, Matrix};
use crate::error::{Error, Result};
use crate::resampling::flip_labels;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;
use std::f64::consts::{PI, TAU};

/// Parameters of a generated data set. `None` means the default of the generator.
#[derive(Debug, Clone, PartialEq)]
pub struct GenerateParams {
    /// Number of rows.
    pub rows: usize,
    /// Number of columns, if the generator supports a choice.
    pub cols: Option<usize>,
    /// Standard deviation of the Gaussian noise.
    pub noise: Option<f64>,
    /// Number of classes, if the generator supports a choice.
    pub classes: Option<usize>,
    /// Random seed.
    pub seed: u64,
    /// Class imbalance. Below 1: the fraction of the rows in the last class. From 1 on: the number of rows in each
    /// other class per row of the last class. The other classes share the remaining rows equally.
    pub imbalance: Option<f64>,
    /// Fraction of the rows whose label is replaced by another class, rounded to an integer number of rows.
    pub flip: Option<f64>,
}

impl Default for GenerateParams {
    fn default() -> Self {
        Self { rows: 1000, cols: None, noise: None, classes: None, seed: 0, imbalance: None, flip: None }
    }
}

/// Input of a generator; the class of each row is already drawn.
struct Shape<'a> {
    class: &'a [u32],
    classes: usize,
    cols: usize,
    noise: f64,
}

struct Generator {
    name: &'static str,
    about: &'static str,
    classes: std::ops::RangeInclusive<usize>,
    default_classes: usize,
    cols: std::ops::RangeInclusive<usize>,
    default_cols: usize,
    noise: f64,
    fill: fn(&Shape<'_>, &mut Pcg64) -> Result<Matrix>,
}

const MAX_COLS: usize = 1 << 24;

static GENERATORS: [Generator; 11] = [
    Generator {
        name: "two-moons",
        about: "two interleaved half circles in the plane",
        classes: 2..=2,
        default_classes: 2,
        cols: 2..=2,
        default_cols: 2,
        noise: 0.1,
        fill: two_moons,
    },
    Generator {
        name: "two-moons-two-lines",
        about: "two views of two classes: moons in columns 1 and 2, parallel lines in columns 3 and 4",
        classes: 2..=2,
        default_classes: 2,
        cols: 4..=4,
        default_cols: 4,
        noise: 0.1,
        fill: two_moons_two_lines,
    },
    Generator {
        name: "circles",
        about: "concentric circles, one per class",
        classes: 2..=100,
        default_classes: 2,
        cols: 2..=2,
        default_cols: 2,
        noise: 0.05,
        fill: spheres,
    },
    Generator {
        name: "spirals",
        about: "spiral arms, one per class",
        classes: 2..=100,
        default_classes: 2,
        cols: 2..=2,
        default_cols: 2,
        noise: 0.02,
        fill: spirals,
    },
    Generator {
        name: "g50c",
        about: "two Gaussians with a Bayes error of 5 %",
        classes: 2..=2,
        default_classes: 2,
        cols: 1..=MAX_COLS,
        default_cols: 50,
        noise: 1.0,
        fill: g50c,
    },
    Generator {
        name: "spheres",
        about: "concentric spheres, one per class",
        classes: 2..=100,
        default_classes: 2,
        cols: 2..=MAX_COLS,
        default_cols: 3,
        noise: 0.05,
        fill: spheres,
    },
    Generator {
        name: "ball",
        about: "the inside of a ball and its shell, which overlap slightly",
        classes: 2..=2,
        default_classes: 2,
        cols: 2..=MAX_COLS,
        default_cols: 3,
        noise: 0.0,
        fill: ball,
    },
    Generator {
        name: "categories",
        about: "200 counts from 0 to 3: 100 nearly always 0, 50 often, 50 a little more often in one class",
        classes: 2..=2,
        default_classes: 2,
        cols: 200..=200,
        default_cols: 200,
        noise: 0.0,
        fill: categories,
    },
    Generator {
        name: "waveform",
        about: "Breiman's three classes of mixed triangular waves; with two classes the first against the rest",
        classes: 2..=3,
        default_classes: 3,
        cols: 21..=21,
        default_cols: 21,
        noise: 1.0,
        fill: waveform,
    },
    Generator {
        name: "text",
        about: "sparse text-like rows of unit length: Zipf's law, log tf times idf",
        classes: 2..=2,
        default_classes: 2,
        cols: 10..=MAX_COLS,
        default_cols: 50_000,
        noise: 0.0,
        fill: text,
    },
    Generator {
        name: "drift",
        about: "a stream of two Gaussians whose means rotate once around the origin",
        classes: 2..=2,
        default_classes: 2,
        cols: 2..=MAX_COLS,
        default_cols: 2,
        noise: 0.5,
        fill: drift,
    },
];

/// Names of the generators, with a description of each.
pub fn names() -> impl Iterator<Item = (&'static str, &'static str)> {
    GENERATORS.iter().map(|g| (g.name, g.about))
}

/// Generates a data set. Two classes are named `-1` and `1`, more are named `1`, `2`, …
pub fn generate(name: &str, params: &GenerateParams) -> Result<(Matrix, Labels)> {
    let Some(generator) = GENERATORS.iter().find(|g| g.name == name) else {
        let known: Vec<&str> = GENERATORS.iter().map(|g| g.name).collect();
        return Err(Error::parameter("name", name, format!("one of {}", known.join(", "))));
    };
    let classes = within("classes", params.classes, generator.default_classes, &generator.classes)?;
    let cols = within("cols", params.cols, generator.default_cols, &generator.cols)?;
    let noise = params.noise.unwrap_or(generator.noise);
    if !(0.0..=1e6).contains(&noise) {
        return Err(Error::parameter("noise", noise, "a standard deviation from 0 to 1e6"));
    }
    if params.rows < classes {
        return Err(Error::parameter("rows", params.rows, format!("at least {classes}, one per class")));
    }
    let mut rng = Pcg64::seed_from_u64(params.seed);
    let class = classes_of_rows(params, classes, &mut rng)?;
    let x = (generator.fill)(&Shape { class: &class, classes, cols, noise }, &mut rng)?;
    let names = if classes == 2 {
        vec!["-1".to_string(), "1".to_string()]
    } else {
        (1..=classes).map(|c| c.to_string()).collect()
    };
    let mut labels = Labels { classes: names, of: class.into_iter().map(Some).collect() };
    if let Some(share) = params.flip {
        flip_labels(&mut labels, share, &mut rng)?;
    }
    Ok((x, labels))
}

fn within(
    name: &'static str,
    given: Option<usize>,
    default: usize,
    allowed: &std::ops::RangeInclusive<usize>,
) -> Result<usize> {
    let value = given.unwrap_or(default);
    if allowed.contains(&value) {
        return Ok(value);
    }
    let (low, high) = (allowed.start(), allowed.end());
    let text = if low == high {
        format!("{low} for this generator (or left out)")
    } else {
        format!("a whole number from {low} to {high}")
    };
    Err(Error::parameter(name, value, text))
}

/// Class sizes as equal as possible (or according to `imbalance`, at least one row each), in random order.
fn classes_of_rows(params: &GenerateParams, classes: usize, rng: &mut Pcg64) -> Result<Vec<u32>> {
    let rows = params.rows;
    let last = match params.imbalance {
        None => rows / classes,
        Some(share) if share > 0.0 && share < 1.0 => {
            ((share * rows as f64).round() as usize).clamp(1, rows - (classes - 1))
        }
        Some(ratio) if ratio >= 1.0 && ratio.is_finite() => {
            let last = rows as f64 / (1.0 + ratio * (classes - 1) as f64);
            (last.round() as usize).clamp(1, rows - (classes - 1))
        }
        Some(other) => {
            return Err(Error::parameter(
                "imbalance",
                other,
                "a fraction between 0 and 1, or a ratio of 1 or more: rows of each other class per row of the last class",
            ));
        }
    };
    let mut class: Vec<u32> =
        (0..rows).map(|i| if i < last { classes - 1 } else { (i - last) % (classes - 1) } as u32).collect();
    for i in (1..rows).rev() {
        class.swap(i, rng.random_range(0..=i));
    }
    Ok(class)
}

/// Two independent standard normal deviates (Box & Muller 1958).
fn normal_pair(rng: &mut Pcg64) -> (f64, f64) {
    let radius = (-2.0 * (1.0 - rng.random::<f64>()).ln()).sqrt();
    let (sin, cos) = (TAU * rng.random::<f64>()).sin_cos();
    (radius * cos, radius * sin)
}

/// One standard normal deviate.
pub(crate) fn normal(rng: &mut Pcg64) -> f64 {
    normal_pair(rng).0
}

/// A dense matrix, filled row by row from `(class, time in [0, 1), row)`, with Gaussian noise added to every column.
fn dense(
    shape: &Shape<'_>,
    rng: &mut Pcg64,
    mut fill: impl FnMut(u32, f64, &mut [f64], &mut Pcg64),
) -> Result<Matrix> {
    let rows = shape.class.len();
    let Some(cells) = rows.checked_mul(shape.cols).filter(|&n| n <= 1 << 32) else {
        return Err(Error::parameter(
            "cols",
            shape.cols,
            "small enough that rows times cols stays below 2^32",
        ));
    };
    let mut values = vec![0.0; cells];
    for (i, row) in values.chunks_exact_mut(shape.cols).enumerate() {
        fill(shape.class[i], i as f64 / rows as f64, row, rng);
        for pair in row.chunks_mut(2) {
            let (a, b) = normal_pair(rng);
            pair[0] += shape.noise * a;
            if let Some(second) = pair.get_mut(1) {
                *second += shape.noise * b;
            }
        }
    }
    Matrix::dense(values, rows, shape.cols)
}

fn two_moons(shape: &Shape<'_>, rng: &mut Pcg64) -> Result<Matrix> {
    dense(shape, rng, |class, _, row, rng| {
        let (sin, cos) = (PI * rng.random::<f64>()).sin_cos();
        (row[0], row[1]) = if class == 0 { (cos, sin) } else { (1.0 - cos, 0.5 - sin) };
    })
}

/// Given the class, the position on the moon is independent of the position on the line (Sindhwani 2007, figure 4.2). The
/// lines are 0.8 apart, 6 long and shifted by 1 along each other: at either end one class extends past the other, so that
/// a function that follows the lines is most confident where it is wrong.
fn two_moons_two_lines(shape: &Shape<'_>, rng: &mut Pcg64) -> Result<Matrix> {
    let (along, across) = (0.25 * PI).sin_cos();
    dense(shape, rng, |class, _, row, rng| {
        let (sin, cos) = (PI * rng.random::<f64>()).sin_cos();
        (row[0], row[1]) = if class == 0 { (cos, sin) } else { (1.0 - cos, 0.5 - sin) };
        let side = if class == 0 { 1.0 } else { -1.0 };
        let (t, side) = (6.0 * rng.random::<f64>() - 3.0 + 0.5 * side, 0.4 * side);
        (row[2], row[3]) = (t * along - side * across, t * across + side * along);
    })
}

fn spirals(shape: &Shape<'_>, rng: &mut Pcg64) -> Result<Matrix> {
    let arms = shape.classes as f64;
    dense(shape, rng, |class, _, row, rng| {
        let s = 0.05 + 0.95 * rng.random::<f64>().sqrt();
        let (sin, cos) = (TAU * (f64::from(class) / arms + 1.25 * s)).sin_cos();
        (row[0], row[1]) = (s * cos, s * sin);
    })
}

/// Radii 1/k, 2/k, …, 1.
fn spheres(shape: &Shape<'_>, rng: &mut Pcg64) -> Result<Matrix> {
    let k = shape.classes as f64;
    dense(shape, rng, |class, _, row, rng| {
        for v in row.iter_mut() {
            *v = normal(rng);
        }
        let length = row.iter().map(|v| v * v).sum::<f64>().sqrt().max(f64::MIN_POSITIVE);
        for v in row.iter_mut() {
            *v *= f64::from(class + 1) / (k * length);
        }
    })
}

/// The first class at radius 0.45·u^(1/3) plus a deviation of 0.1, u uniform; the second at 0.8 with a deviation of 0.12;
/// radii are clamped to [0, 1], directions are uniform.
fn ball(shape: &Shape<'_>, rng: &mut Pcg64) -> Result<Matrix> {
    dense(shape, rng, |class, _, row, rng| {
        row.iter_mut().for_each(|v| *v = normal(rng));
        let length = row.iter().map(|v| v * v).sum::<f64>().sqrt().max(f64::MIN_POSITIVE);
        let radius = match class {
            0 => 0.45 * rng.random::<f64>().cbrt() + 0.1 * normal(rng),
            _ => 0.8 + 0.12 * normal(rng),
        };
        row.iter_mut().for_each(|v| *v *= radius.clamp(0.0, 1.0) / length);
    })
}

/// A count is 0 with probability 0.97 in columns 1 to 100, 0.7 in columns 101 to 150 and 0.8 in the others, where the
/// probability is 0.08 higher in one class and 0.08 lower in the other, alternating by column; otherwise it is 1, 2 or 3.
fn categories(shape: &Shape<'_>, rng: &mut Pcg64) -> Result<Matrix> {
    dense(shape, rng, |class, _, row, rng| {
        for (j, v) in row.iter_mut().enumerate() {
            let tilt = if (class == 0) == (j % 2 == 0) { 0.08 } else { -0.08 };
            let zero = match j {
                0..100 => 0.97,
                100..150 => 0.7,
                _ => 0.8 + tilt,
            };
            let count = f64::from(rng.random_range(1..=3u8));
            *v = if rng.random::<f64>() < zero { 0.0 } else { count };
        }
    })
}

/// Unit covariance, means ±1.6449/√d in every column: half the distance of the means is the 95 % quantile of the standard
/// normal distribution, so the Bayes error is 5 % (Chapelle & Zien 2005, where d = 50).
fn g50c(shape: &Shape<'_>, rng: &mut Pcg64) -> Result<Matrix> {
    let mean = 1.644_853_626_951_472_2 / (shape.cols as f64).sqrt();
    dense(shape, rng, |class, _, row, _| row.fill(if class == 0 { -mean } else { mean }))
}

/// Breiman et al. (1984): a random convex combination of two of three triangular waves. With two classes, the second is
/// Breiman's first class and the first is the union of the other two.
fn waveform(shape: &Shape<'_>, rng: &mut Pcg64) -> Result<Matrix> {
    let wave = |peak: f64, i: usize| (6.0 - (i as f64 + 1.0 - peak).abs()).max(0.0);
    dense(shape, rng, |class, _, row, rng| {
        let kind = match (shape.classes, class) {
            (2, 0) => 1 + u32::from(rng.random::<bool>()),
            (2, _) => 0,
            (_, class) => class,
        };
        let (p, q) = [(11.0, 15.0), (11.0, 7.0), (15.0, 7.0)][kind as usize];
        let u = rng.random::<f64>();
        for (i, v) in row.iter_mut().enumerate() {
            *v = u * wave(p, i) + (1.0 - u) * wave(q, i);
        }
    })
}

/// Means ±(cos 2πt, sin 2πt), t from 0 to 1 over the stream; further columns are noise only.
fn drift(shape: &Shape<'_>, rng: &mut Pcg64) -> Result<Matrix> {
    dense(shape, rng, |class, t, row, _| {
        let (sin, cos) = (TAU * t).sin_cos();
        let side = if class == 0 { -1.0 } else { 1.0 };
        (row[0], row[1]) = (side * cos, side * sin);
    })
}

/// Each row draws 10 + Poisson(90) words; word j has weight 1/(j + 1), doubled in one class and halved in the
/// other for 12 % of the words. Values are (1 + ln tf)·(1 + ln((1 + n)/(1 + df))), rows of unit length.
fn text(shape: &Shape<'_>, rng: &mut Pcg64) -> Result<Matrix> {
    let (rows, cols) = (shape.class.len(), shape.cols);
    let mut cumulative = [vec![0.0; cols], vec![0.0; cols]];
    for j in 0..cols {
        let tilt = if rng.random::<f64>() < 0.12 { [2.0, 0.5] } else { [1.0, 1.0] };
        let turn = usize::from(rng.random::<bool>());
        for side in 0..2 {
            let below = if j == 0 { 0.0 } else { cumulative[side][j - 1] };
            cumulative[side][j] = below + tilt[side ^ turn] / (j + 1) as f64;
        }
    }
    let (mut indptr, mut indices, mut values) = (vec![0], Vec::new(), Vec::new());
    let mut frequency = vec![0u32; cols];
    let mut words = Vec::new();
    for &class in shape.class {
        let cumulative = &cumulative[class as usize];
        words.clear();
        for _ in 0..10 + poisson(90.0, rng) {
            let at = rng.random::<f64>() * cumulative[cols - 1];
            words.push(cumulative.partition_point(|&p| p <= at).min(cols - 1) as u32);
        }
        words.sort_unstable();
        for run in words.chunk_by(|a, b| a == b) {
            indices.push(run[0]);
            values.push(1.0 + (run.len() as f64).ln());
            frequency[run[0] as usize] += 1;
        }
        indptr.push(indices.len());
    }
    for span in indptr.windows(2) {
        let row = &mut values[span[0]..span[1]];
        for (v, &j) in row.iter_mut().zip(&indices[span[0]..span[1]]) {
            *v *= 1.0 + ((1 + rows) as f64 / f64::from(1 + frequency[j as usize])).ln();
        }
        let length = row.iter().map(|v| v * v).sum::<f64>().sqrt();
        for v in row.iter_mut() {
            *v /= length;
        }
    }
    Matrix::csr(indptr, indices, values, cols)
}

/// Knuth's product of uniforms; suitable for means up to several hundred.
fn poisson(mean: f64, rng: &mut Pcg64) -> usize {
    let limit = (-mean).exp();
    let (mut count, mut product) = (0, rng.random::<f64>());
    while product > limit {
        count += 1;
        product *= rng.random::<f64>();
    }
    count
}

#[cfg(test)]
mod tests {
    use super::*;

    fn params(rows: usize, seed: u64) -> GenerateParams {
        GenerateParams { rows, seed, ..GenerateParams::default() }
    }

    #[test]
    fn every_generator_is_seeded_and_balanced() {
        for (name, _) in names() {
            let small = GenerateParams { cols: (name == "text").then_some(100), ..params(60, 7) };
            let (x, y) = generate(name, &small).unwrap();
            let again = generate(name, &small).unwrap();
            assert_eq!((&x, &y), (&again.0, &again.1), "{name}");
            let other = generate(name, &GenerateParams { seed: 8, ..small.clone() }).unwrap();
            assert_ne!(x, other.0, "{name}");
            assert_eq!(x.rows(), 60);
            assert!(y.counts().iter().all(|&c| c == 60 / y.classes.len()), "{name}");
        }
    }

    #[test]
    fn imbalance_and_flips_give_exact_counts() {
        let p = GenerateParams { imbalance: Some(0.1), ..params(1000, 1) };
        assert_eq!(generate("two-moons", &p).unwrap().1.counts(), [900, 100]);
        let clean = generate("two-moons", &params(1000, 1)).unwrap();
        let noisy = generate("two-moons", &GenerateParams { flip: Some(0.2), ..params(1000, 1) }).unwrap();
        assert_eq!(clean.0, noisy.0);
        let wrong = clean.1.of.iter().zip(&noisy.1.of).filter(|(a, b)| a != b).count();
        assert_eq!(wrong, 200);
        for (name, classes, ratio, counts) in [
            ("two-moons", None, 32.0, vec![970, 30]), // 1000/33 = 30.3
            ("g50c", None, 1.0, vec![500, 500]),
            ("waveform", None, 4.5, vec![450, 450, 100]),
            ("waveform", Some(2), 4.0, vec![800, 200]),
            ("spheres", Some(4), 1e9, vec![333, 333, 333, 1]),
        ] {
            let p = GenerateParams { imbalance: Some(ratio), classes, ..params(1000, 1) };
            assert_eq!(generate(name, &p).unwrap().1.counts(), counts, "{name}");
        }
    }

    #[test]
    fn g50c_has_a_bayes_error_of_5_percent() {
        let (x, y) = generate("g50c", &params(20_000, 3)).unwrap();
        let wrong = (0..x.rows())
            .filter(|&i| {
                let mut sum = 0.0;
                x.view().row(i).for_each(|_, v| sum += v);
                (sum > 0.0) != (y.of[i] == Some(1))
            })
            .count();
        assert!((wrong as f64 / 20_000.0 - 0.05).abs() < 0.006, "{wrong}");
    }

    /// Expected means: (11 + 15)/2 is the center of the first class; the rest, half (11, 7) and half (15, 7), has a
    /// quarter of the second wave.
    #[test]
    fn waveform_with_two_classes_is_the_first_against_the_rest() {
        let p = GenerateParams { classes: Some(2), noise: Some(0.0), ..params(4000, 3) };
        let (x, y) = generate("waveform", &p).unwrap();
        let mean = |class: u32, wave: usize| {
            let rows: Vec<usize> = (0..x.rows()).filter(|&i| y.of[i] == Some(class)).collect();
            let at = |i: usize| {
                let mut value = 0.0;
                x.view().row(i).for_each(|c, v| value += if c + 1 == wave { v } else { 0.0 });
                value
            };
            rows.iter().map(|&i| at(i)).sum::<f64>() / rows.len() as f64
        };
        // heights of the waves with peaks at 7, 11 and 15 in columns 7 and 15: 6, 2, 0 and 0, 2, 6
        for (class, column, expected) in [(1, 7, 1.0), (1, 15, 4.0), (0, 7, 3.5), (0, 15, 2.0)] {
            assert!(
                (mean(class, column) - expected).abs() < 0.15,
                "{class} {column}: {}",
                mean(class, column)
            );
        }
    }

    #[test]
    fn text_rows_have_unit_length_and_about_80_words() {
        let p = GenerateParams { cols: Some(5000), ..params(500, 3) };
        let (x, _) = generate("text", &p).unwrap();
        for i in 0..500 {
            assert!((x.view().row(i).norm2() - 1.0).abs() < 1e-12);
        }
        let mean = x.view().nonzeros() as f64 / 500.0;
        assert!((50.0..100.0).contains(&mean), "{mean}");
    }

    #[test]
    fn errors_name_the_parameter_and_the_allowed_values() {
        let bad = |name: &str, p: GenerateParams| generate(name, &p).unwrap_err().to_string();
        assert!(bad("moon", params(10, 0)).contains("two-moons"));
        assert!(bad("two-moons", GenerateParams { cols: Some(3), ..params(10, 0) }).contains("must be 2"));
        assert!(bad("circles", GenerateParams { noise: Some(f64::NAN), ..params(10, 0) }).contains("noise"));
        assert!(bad("circles", params(1, 0)).contains("rows"));
        assert!(
            bad("circles", GenerateParams { imbalance: Some(0.0), ..params(9, 0) }).contains("imbalance")
        );
        assert!(bad("circles", GenerateParams { flip: Some(2.0), ..params(9, 0) }).contains("flip"));
    }
}
