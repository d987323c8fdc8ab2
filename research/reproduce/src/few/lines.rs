//! Two-moons-two-lines (figures 4.2 and 4.3): errors and plots of learners with one label per class.

use crate::failure::Result;
use crate::run::{Bench, seed_of};
use crate::values::make;
use evermargin::datasets::{GenerateParams, generate};
use evermargin::estimators::{Fit, Targets};
use evermargin::{Label, Matrix, Model};
use serde_json::{Value, json};
use std::fmt::Write;

const ROWS: usize = 200;

struct Toy {
    x: Matrix,
    class: Vec<bool>,
    known: [usize; 2],
    problem: Targets,
}

fn toy(noise: f64, seed: u64) -> Result<Toy> {
    let params = GenerateParams { rows: ROWS, noise: Some(noise), seed, ..GenerateParams::default() };
    let (x, labels) = generate("two-moons-two-lines", &params)?;
    let class: Vec<bool> = labels.of.iter().map(|c| *c == Some(1)).collect();
    let first = |wanted: bool| class.iter().position(|c| *c == wanted).unwrap_or(0);
    let known = [first(false), first(true)];
    let mut y = vec![Label::Unknown; ROWS];
    (y[known[0]], y[known[1]]) = (Label::Neg, Label::Pos);
    Ok(Toy { x, class, known, problem: Targets { y, cost: vec![1.0; ROWS] } })
}

/// Fits a learner by name to one of the views (1, 2) or to both (0); `alone` leaves out the unlabeled rows.
fn model(toy: &Toy, name: &str, more: &Value, view: usize, alone: bool) -> Result<Model> {
    let mut params = json!({ "views": "1..2;3..4", "kernels": "rbf=2;linear", "view": view });
    if let (Value::Object(all), Value::Object(more)) = (&mut params, more) {
        all.extend(more.clone());
    }
    let fit = make(name, &params)?;
    let supervised = fit.supervised();
    let fit: &dyn Fit = supervised.as_deref().filter(|_| alone).unwrap_or(fit.as_ref());
    Ok(fit.fit(toy.x.view(), std::slice::from_ref(&toy.problem), &())?.model)
}

fn wrong(toy: &Toy, model: &Model) -> Result<f64> {
    let f = model.decision(toy.x.view())?;
    let wrong = f.iter().zip(&toy.class).filter(|(f, c)| (**f > 0.0) != **c).count();
    Ok(100.0 * wrong as f64 / (ROWS - 2) as f64)
}

/// Name, learner, its parameters, whether it uses only labeled rows, noise.
fn ways() -> Vec<(&'static str, &'static str, Value, bool, f64)> {
    let along = json!({ "gamma_a": 0.01, "gamma_i": 1.0 });
    let apart = |share: [f64; 2]| json!({ "gamma_a": 0.01, "gamma_i": 1.0, "shares": share });
    let greedy = |rounds: usize| json!({ "machine": "rls", "grow": 2, "rounds": rounds });
    vec![
        ("RLS", "corls", json!({}), true, 0.1),
        ("co-trained, 1 round", "cotraining", greedy(1), false, 0.1),
        ("Co-RLS", "corls", json!({}), false, 0.1),
        ("co-trained, to the end", "cotraining", greedy(0), false, 0.1),
        ("Co-RLS", "corls", json!({}), false, 0.25),
        ("co-trained, to the end", "cotraining", greedy(0), false, 0.25),
        ("LapSVM, graph of the moons", "colapsvm", apart([1.0, 0.0]), false, 0.2),
        ("Co-LapSVM, joint graph", "colapsvm", along.clone(), false, 0.2),
        ("Co-LapSVM, joint graph", "colapsvm", along, false, 0.1),
    ]
}

/// Errors of each learner in each view and in both together.
pub(crate) fn moons_and_lines(bench: &Bench<'_>) -> Result<String> {
    let runs = bench.options.repetitions.unwrap_or(20);
    let mut out = format!(
        "{ROWS} rows, one label per class, {runs} draws; rbf (gamma 2) on the moons, linear on the lines. Mean error % of the rows \
         without a label, and on how many draws at most 1 % are wrong.\n\n\
         | learner | noise | moons | lines | both | draws solved |\n|---|--:|--:|--:|--:|--:|\n"
    );
    for (name, learner, params, alone, noise) in ways() {
        let (mut sums, mut solved) = ([0.0; 3], 0);
        for k in 0..runs {
            let toy = toy(noise, seed_of(bench.options.seed, k))?;
            for (sum, view) in sums.iter_mut().zip([1, 2, 0]) {
                let error = wrong(&toy, &model(&toy, learner, &params, view, alone)?)?;
                *sum += error / runs as f64;
                solved += usize::from(view == 0 && error <= 1.0);
            }
        }
        let [moons, lines, both] = sums;
        bench.say(&format!("{name}: {both:.1}"));
        let _ =
            writeln!(out, "| {name} | {noise} | {moons:.1} | {lines:.1} | {both:.1} | {solved} of {runs} |");
    }
    if let Some(path) = &bench.options.plot {
        evermargin_io::write_atomic(path, drawn(bench.options.seed)?.as_bytes())?;
    }
    Ok(out)
}

const SIZE: f64 = 220.0;
const CELLS: usize = 55;

/// Draws three learners in rows and the two views in columns.
fn drawn(seed: u64) -> Result<String> {
    let toy = toy(0.1, seed_of(seed, 0))?;
    let (width, height) = (2.0 * SIZE + 30.0, 3.0 * (SIZE + 26.0) + 10.0);
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" font-family=\"sans-serif\" \
         font-size=\"12\">\n<rect width=\"{width}\" height=\"{height}\" fill=\"white\"/>\n"
    );
    for (row, (name, learner, params, alone, _)) in ways().into_iter().take(3).enumerate() {
        let top = row as f64 * (SIZE + 26.0) + 20.0;
        for view in 0..2 {
            let left = 10.0 + view as f64 * (SIZE + 10.0);
            let model = model(&toy, learner, &params, view + 1, alone)?;
            let error = wrong(&toy, &model)?;
            let title = ["two moons", "two lines"][view];
            let _ = writeln!(
                out,
                "<text x=\"{left}\" y=\"{}\">{name}, {title}: {error:.0} % wrong</text>\n\
                 <g transform=\"translate({left} {top})\">",
                top - 6.0
            );
            panel(&toy, &model, 2 * view, &mut out)?;
            out.push_str("</g>\n");
        }
    }
    out.push_str("</svg>\n");
    Ok(out)
}

/// Draws one view: the region of positive values and the rows, with large labeled rows.
fn panel(toy: &Toy, model: &Model, column: usize, out: &mut String) -> Result<()> {
    let mut points = vec![[0.0; 2]; ROWS];
    for (i, p) in points.iter_mut().enumerate() {
        toy.x.view().row(i).for_each(|c, v| {
            if c == column || c == column + 1 {
                p[c - column] = v;
            }
        });
    }
    let reach =
        |of: fn(f64, f64) -> f64, axis: usize| points.iter().map(|p| p[axis]).reduce(of).unwrap_or(0.0);
    let low = [reach(f64::min, 0), reach(f64::min, 1)];
    let span = (reach(f64::max, 0) - low[0]).max(reach(f64::max, 1) - low[1]);
    let (side, start) = (1.1 * span, low.map(|v| v - 0.05 * span));
    let mut grid = Vec::with_capacity(4 * CELLS * CELLS);
    for i in 0..CELLS {
        for j in 0..CELLS {
            let mut row = [0.0; 4];
            row[column] = start[0] + side * (j as f64 + 0.5) / CELLS as f64;
            row[column + 1] = start[1] + side * (1.0 - (i as f64 + 0.5) / CELLS as f64);
            grid.extend(row);
        }
    }
    let f = model.decision(Matrix::dense(grid, CELLS * CELLS, 4)?.view())?;
    let cell = SIZE / CELLS as f64;
    let _ = writeln!(out, "<rect width=\"{SIZE}\" height=\"{SIZE}\" fill=\"#f7ddd0\"/>");
    let mut path = String::new();
    for (i, row) in f.chunks(CELLS).enumerate() {
        let mut first = 0;
        for run in row.chunk_by(|a, b| (*a > 0.0) == (*b > 0.0)) {
            if run[0] > 0.0 {
                let _ = write!(path, "M{first} {i}h{}v1h-{0}z", run.len());
            }
            first += run.len();
        }
    }
    let _ = writeln!(
        out,
        "<path shape-rendering=\"crispEdges\" transform=\"scale({cell})\" fill=\"#cfe1f0\" d=\"{path}\"/>"
    );
    for (i, (p, class)) in points.iter().zip(&toy.class).enumerate() {
        let (x, y) = (SIZE * (p[0] - start[0]) / side, SIZE * (1.0 - (p[1] - start[1]) / side));
        let color = if *class { "#1b6ca8" } else { "#c7522a" };
        let known = toy.known.contains(&i);
        let _ = writeln!(
            out,
            "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{}\" fill=\"{color}\"{}/>",
            if known { 7 } else { 2 },
            if known { " stroke=\"#111\" stroke-width=\"2\"" } else { "" }
        );
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn six_panels_show_all_rows() {
        let svg = drawn(1).unwrap();
        assert!(svg.starts_with("<svg") && svg.trim_end().ends_with("</svg>"));
        assert_eq!(svg.matches("<circle").count(), 6 * ROWS);
        assert_eq!(svg.matches("r=\"7\"").count(), 12);
        assert!(!svg.contains("NaN"));
    }
}
