//! Time to select the next query after one more label, over a pool of 60 000 × 784: the nearest of all samples, with
//! cached scores, and the nearest of a small pool of 59.
//!
//!     cargo run --release --manifest-path research/Cargo.toml --bin ask_speed

use evermargin::active::closeness;
use evermargin::data::{Label, Matrix, MatrixView};
use evermargin::estimators::Targets;
use evermargin::estimators::online::PoolScores;
use evermargin::estimators::online::lasvm::{Lasvm, LasvmParams};
use evermargin::kernel::Kernel;
use rand::{RngExt, SeedableRng};
use std::time::Instant;

const ROWS: usize = 60_000;
const COLS: usize = 784;

fn main() -> evermargin::Result<()> {
    let mut rng = rand_pcg::Pcg64::seed_from_u64(1);
    let mut values = vec![0.0; ROWS * COLS];
    let mut y = Vec::with_capacity(ROWS);
    for row in values.chunks_exact_mut(COLS) {
        let positive = rng.random_bool(0.5);
        let center = if positive { 0.52 } else { 0.48 };
        row.iter_mut().for_each(|v| *v = (center + rng.random_range(-0.5..0.5f64)).clamp(0.0, 1.0));
        y.push(if positive { Label::Pos } else { Label::Neg });
    }
    let x = Matrix::dense(values, ROWS, COLS)?;
    let problems = [Targets { y, cost: vec![1.0; ROWS] }];
    let params = LasvmParams { kernel: Kernel::Rbf { gamma: 0.01 }, c: 10.0, ..Default::default() };
    let mut state = Lasvm::new(&params, x.view(), 1)?;
    state.learn(x.view(), &(0..300).collect::<Vec<_>>(), 0, &problems, &())?;

    let mut scores = PoolScores::new(x.view(), &state, 512 << 20)?;
    scores.refresh(&state);
    let mut times = Vec::new();
    let mut next = 300;
    for _ in 0..100 {
        state.learn(x.view(), &[next], 0, &problems, &())?;
        let start = Instant::now();
        scores.refresh(&state);
        let bias = state.biases();
        let near = |i: usize| closeness(&scores.decision(i, &bias));
        next = (301..ROWS).min_by(|&a, &b| near(a).total_cmp(&near(b))).unwrap_or(301);
        times.push(start.elapsed().as_secs_f64() * 1e3);
    }
    report("nearest of 60 000", &mut times);

    let mut times = Vec::new();
    for _ in 0..200 {
        let pool: Vec<usize> = (0..59).map(|_| rng.random_range(301..ROWS)).collect();
        let start = Instant::now();
        let best = nearest(&mut state, x.view(), &pool)?;
        state.learn(x.view(), &[pool[best]], 0, &problems, &())?;
        times.push(start.elapsed().as_secs_f64() * 1e3);
    }
    report("nearest of 59, and learning from it", &mut times);
    println!("{} support vectors", state.support_count());
    Ok(())
}

fn nearest(state: &mut Lasvm, x: MatrixView<'_>, pool: &[usize]) -> evermargin::Result<usize> {
    let f = state.decisions(x, pool)?;
    Ok((0..pool.len()).min_by(|&a, &b| closeness(&f[a]).total_cmp(&closeness(&f[b]))).unwrap_or(0))
}

fn report(what: &str, times: &mut [f64]) {
    times.sort_by(f64::total_cmp);
    let (middle, worst) = (times[times.len() / 2], times[times.len() - 1]);
    println!("{what}: median {middle:.2} ms, longest {worst:.2} ms");
}
