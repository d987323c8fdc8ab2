//! Time of submod-s3vm on rows like those of KDD-99 and Adult: sparse, 122 columns, few labels.
//!
//! `cargo run --release --manifest-path research/Cargo.toml --bin submod_speed -- [rows] [values per row] [labels]
//! [threads]`

use evermargin::data::{Label, Matrix};
use evermargin::estimators::transductive::Ratio;
use evermargin::estimators::transductive::submod::{SubmodParams, Variant};
use evermargin::estimators::{Fit, Targets};
use evermargin::solver::{Progress, Watch};
use rand::{RngExt, SeedableRng};
use std::error::Error;
use std::sync::Mutex;

const COLS: u32 = 122;

/// Rows whose columns are drawn with frequencies that depend slightly on the class.
fn rows(n: usize, values: usize) -> Result<(Matrix, Vec<bool>), Box<dyn Error>> {
    let mut rng = rand_pcg::Pcg64::seed_from_u64(1);
    let (mut indptr, mut indices, mut truth) = (vec![0], Vec::new(), Vec::new());
    for _ in 0..n {
        let positive = rng.random_range(0.0..1.0) < 0.3;
        let mut row: Vec<u32> = (0..values)
            .map(|_| {
                let power = if positive { 1.6 } else { 2.2 };
                (f64::from(COLS) * rng.random_range(0.0..1.0f64).powf(power)) as u32
            })
            .collect();
        row.sort_unstable();
        row.dedup();
        indices.extend_from_slice(&row);
        indptr.push(indices.len());
        truth.push(positive);
    }
    let values = vec![1.0; indices.len()];
    Ok((Matrix::csr(indptr, indices, values, COLS as usize)?, truth))
}

/// Records when the fit of the model begins: only its progress reports have a positive tolerance.
struct Clock(Mutex<Option<f64>>);

/// User and system time of this process (Linux, in hundredths of a second).
fn seconds() -> f64 {
    let text = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields: Vec<f64> =
        text.rsplit(')').next().unwrap_or("").split_whitespace().map(|f| f.parse().unwrap_or(0.0)).collect();
    fields.get(11).zip(fields.get(12)).map_or(0.0, |(user, system)| (user + system) / 100.0)
}

impl Watch for Clock {
    fn proceed(&self, progress: &Progress) -> bool {
        if let (true, Ok(mut at)) = (progress.tolerance > 0.0, self.0.lock()) {
            at.get_or_insert_with(seconds);
        }
        true
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let argument = |k: usize, default: usize| -> Result<usize, Box<dyn Error>> {
        Ok(std::env::args().nth(k).map_or(Ok(default), |a| a.parse())?)
    };
    let (n, values, labels) = (argument(1, 1_000_000)?, argument(2, 30)?, argument(3, 50)?);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(argument(4, 1)?).build()?;
    let (x, truth) = rows(n, values)?;
    let label = |i: usize| match (i < labels, truth[i]) {
        (false, _) => Label::Unknown,
        (_, true) => Label::Pos,
        _ => Label::Neg,
    };
    let problem = Targets { y: (0..n).map(label).collect(), cost: vec![1.0; n] };
    println!("{n} x {COLS}, {} values, {labels} labels", x.view().nonzeros());
    for variant in [Variant::Polished, Variant::Polished, Variant::Thesis] {
        let params = SubmodParams { variant, ratio: Ratio::Given(vec![0.3]), ..Default::default() };
        if variant == Variant::Thesis && n > 50_000 {
            continue;
        }
        let (clock, start) = (Clock(Mutex::new(None)), seconds());
        let fitted = pool.install(|| params.fit(x.view(), std::slice::from_ref(&problem), &clock))?;
        let end = seconds();
        let middle = clock.0.lock().ok().and_then(|at| *at).unwrap_or(end);
        let transduced = fitted.transduced.ok_or("no labels")?;
        let correct = (labels..n).filter(|&i| (transduced.scores[0][i] > 0.0) == truth[i]).count();
        let accuracy = correct as f64 / (n - labels).max(1) as f64;
        println!(
            "{variant:?}: labels {:.2} s, model {:.2} CPU s, accuracy {accuracy:.4}",
            middle - start,
            end - middle
        );
        println!("  {:?}\n  {:?}", fitted.reports[0], transduced.facts);
    }
    Ok(())
}
