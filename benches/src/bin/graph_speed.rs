//! Time to find the neighbors of every row: `graph_speed [ROWS] [COLS] [K] [FILE]`.
//!
//! The last ROWS·COLS bytes of FILE are the values (an IDX image file works). Without FILE, rows are mixtures of 40
//! random shapes with noise, which have the low intrinsic dimension of images.

use evermargin::Matrix;
use evermargin::graph::{Graph, GraphParams, Search, Weights};
use rand::{RngExt, SeedableRng};
use std::time::Instant;

fn main() -> evermargin::Result<()> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let number = |at: usize, default| args.get(at).and_then(|a| a.parse().ok()).unwrap_or(default);
    let (rows, cols, k) = (number(0, 10_000), number(1, 784), number(2, 10));
    let values = match args.get(3) {
        Some(file) => bytes(file, rows * cols),
        None => shapes(rows, cols),
    };
    let x = Matrix::dense(values, rows, cols)?;
    let mut graphs = Vec::new();
    for search in [Search::Exact, Search::Approximate] {
        let params = GraphParams { n_neighbors: k, weights: Weights::Heat, search, ..Default::default() };
        let (clock, cpu) = (Instant::now(), cpu_seconds());
        let graph = Graph::nearest(x.view(), &params, &())?;
        println!(
            "{search:?}: {rows} rows, {cols} columns, k = {k}: {:.2} s, {:.2} CPU s, {} edges",
            clock.elapsed().as_secs_f64(),
            cpu_seconds() - cpu,
            graph.as_ref().map_or(0, Graph::edges)
        );
        graphs.extend(graph);
    }
    if let [exact, near] = graphs.as_slice() {
        let shared =
            (0..rows).map(|i| near.row(i).filter(|(j, _)| exact.row(i).any(|(l, _)| l == *j)).count());
        println!(
            "fraction of the exact edges found: {:.4}",
            shared.sum::<usize>() as f64 / (2 * exact.edges()) as f64
        );
    }
    Ok(())
}

fn bytes(file: &str, count: usize) -> Vec<f64> {
    let all = std::fs::read(file).unwrap_or_default();
    let kept = &all[all.len().saturating_sub(count)..];
    kept.iter().map(|b| f64::from(*b) / 255.0).chain(std::iter::repeat(0.0)).take(count).collect()
}

fn shapes(rows: usize, cols: usize) -> Vec<f64> {
    let mut rng = rand_pcg::Pcg64::seed_from_u64(1);
    let shapes: Vec<f64> = (0..40 * cols).map(|_| rng.random::<f64>()).collect();
    let mut out = Vec::with_capacity(rows * cols);
    for _ in 0..rows {
        let parts: Vec<f64> = (0..40).map(|_| rng.random::<f64>().powi(4)).collect();
        out.extend((0..cols).map(|c| {
            (0..40).map(|s| parts[s] * shapes[s * cols + c]).sum::<f64>() + 0.02 * rng.random::<f64>()
        }));
    }
    out
}

/// User and system time of all threads so far, from `/proc`; 0 if it is not available.
fn cpu_seconds() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap_or("").split_whitespace().collect();
    let ticks = |at: usize| fields.get(at).and_then(|t| t.parse::<f64>().ok()).unwrap_or(0.0);
    (ticks(11) + ticks(12)) / 100.0
}
