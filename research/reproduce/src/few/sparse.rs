//! Manifold regularization with few basis functions on 60,000 rows (Sindhwani 2007, chapter 5, at a size it does not reach).

use super::Rows;
use crate::clock::Clock;
use crate::data::digits;
use crate::failure::Result;
use crate::run::{Bench, seed_of};
use evermargin::estimators::Targets;
use evermargin::estimators::manifold::dictionary::Dictionary;
use evermargin::estimators::manifold::penalty::{Penalty, PenaltyParams};
use evermargin::estimators::manifold::sparse::matching_pursuit::{Backfit, Candidates, Norm, Pursuit};
use evermargin::estimators::manifold::sparse::objective::{LabeledTargets, SparseObjective, transduce};
use evermargin::{Kernel, Label, Labels, Matrix, Model};
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_pcg::Pcg64;
use std::fmt::Write;

/// Rows, and the indices of labeled rows.
struct Draw {
    train: Rows,
    labeled: Vec<usize>,
}

fn outputs(model: &Model, x: &Matrix) -> Result<Vec<f64>> {
    Ok(model.decision(x.view())?)
}

/// Share of the rows on the wrong side, without the rows `but`.
fn wrong(scores: &[f64], labels: &Labels, but: &[usize]) -> f64 {
    let counted = (0..scores.len()).filter(|i| !but.contains(i));
    let off = counted.clone().filter(|&i| labels.of[i] != Some(u32::from(scores[i] > 0.0))).count();
    off as f64 / counted.count().max(1) as f64
}

fn problem(draw: &Draw) -> Targets {
    let mut y = vec![Label::Unknown; draw.train.labels.of.len()];
    for &i in &draw.labeled {
        y[i] = if draw.train.labels.of[i] == Some(1) { Label::Pos } else { Label::Neg };
    }
    Targets { cost: vec![1.0; y.len()], y }
}

/// An intermediate model: method, power of the Laplacian, basis functions, share of unlabeled rows right, seconds.
type Line = (&'static str, usize, usize, f64, f64);

const GAMMA: [f64; 2] = [1e-3, 0.1];
const KERNEL: Kernel = Kernel::Rbf { gamma: 0.02 };
const WAYS: [(&str, usize); 4] = [("decoupled", 1), ("decoupled", 2), ("greedy", 1), ("greedy", 2)];
const BASES: [usize; 3] = [100, 300, 1000];

/// Accuracy and time for increasing numbers of basis functions on even against odd digits of MNIST with 100 labels. All models use
/// one graph. The pursuit continues from 100 functions to 300 and 1000, so each line includes the seconds of those before it.
pub(crate) fn large(bench: &Bench<'_>) -> Result<String> {
    if bench.options.quick {
        return Ok("Left out by --quick.\n".into());
    }
    let draw = even_and_odd(bench)?;
    let params = PenaltyParams { n_neighbors: 10, ..PenaltyParams::default() };
    let met = bench.each(&[()], |()| {
        let start = Clock::start();
        params.graph(draw.train.x.view(), &()).map(|graph| graph.map(|g| (g, start.seconds())))
    });
    let Some((nearest, seconds)) = met.into_iter().next().transpose()?.flatten() else {
        return Ok(String::new());
    };
    bench.say(&format!("graph: {seconds:.1} s"));
    let mut out = format!(
        "60,000 × 784, γ 0.02, γ_A 0.001, γ_I 0.1, 10 neighbors; as many positives as among the labels. The graph takes \
         {seconds:.0} s, once; processor seconds, one thread.\n\n| method | power of L | basis | accuracy % on unlabeled rows | \
         seconds beside the graph |\n|---|--:|--:|--:|--:|\n"
    );
    let done = bench.each(&WAYS, |&(method, power)| {
        let penalty = PenaltyParams { power, ..params.clone() }.of_graphs(vec![(1.0, nearest.clone())]);
        along(bench, &draw, method, power, &penalty)
    });
    for lines in done {
        for (method, power, basis, right, seconds) in lines? {
            let _ = writeln!(out, "| {method} | {power} | {basis} | {right:.2} | {seconds:.1} |");
        }
    }
    Ok(out)
}

fn even_and_odd(bench: &Bench<'_>) -> Result<Draw> {
    let set = digits(&bench.options.folder, "train")?;
    let mut values = set.x.view().to_dense();
    if let Matrix::Dense { values, .. } = &mut values {
        values.iter_mut().for_each(|v| *v /= 255.0);
    }
    let odd = set.labels.of.iter().map(|c| c.map(|c| c % 2)).collect();
    let labels = Labels { classes: vec!["even".into(), "odd".into()], of: odd };
    let rng = &mut Pcg64::seed_from_u64(seed_of(bench.options.seed, 0));
    let mut order: Vec<usize> = (0..values.rows()).collect();
    order.shuffle(rng);
    let labeled = order[..100].to_vec();
    Ok(Draw { train: Rows { x: values, labels, splits: Vec::new() }, labeled })
}

/// Runs one method with increasing numbers of basis functions.
fn along(
    bench: &Bench<'_>,
    draw: &Draw,
    method: &'static str,
    power: usize,
    penalty: &Penalty,
) -> Result<Vec<Line>> {
    let view = draw.train.x.view();
    let mut lines = Vec::new();
    let mut tell = |method: &'static str, basis: usize, scores: &[f64], seconds: f64| {
        let right = 100.0 * (1.0 - wrong(&balanced(scores, draw), &draw.train.labels, &draw.labeled));
        bench.say(&format!("{method} {power} {basis}: {right:.2} %, {seconds:.1} s"));
        lines.push((method, power, basis, right, seconds));
    };
    let known = LabeledTargets::of(&[problem(draw)])?;
    let dictionary = Dictionary::new(view, vec![KERNEL])?;
    let start = Clock::start();
    let aim = if method == "greedy" {
        SparseObjective::plain(GAMMA, &known, Some(penalty))
    } else {
        let Some(fields) = transduce(GAMMA[1], &known, penalty, &()) else { return Ok(lines) };
        tell("graph alone", view.rows(), &fields[0], start.seconds());
        SparseObjective::decoupled(GAMMA[0], fields)
    };
    let mut pursuit = Pursuit::new(&aim, &dictionary, Norm::Kernel, Candidates::of(50, Backfit::Post, 1));
    let mut seconds = start.seconds();
    for basis in BASES {
        let start = Clock::start();
        pursuit.run(basis, &());
        seconds += start.seconds();
        let rows: Vec<usize> = pursuit.atoms().iter().map(|a| a.row).collect();
        let coef = pursuit.coefficients().to_vec();
        let model = Model::Expansion { kernel: KERNEL, points: view.select(&rows), coef, bias: vec![0.0] };
        tell(method, basis, &outputs(&model, &draw.train.x)?, seconds);
    }
    Ok(lines)
}

/// Shifts scores so that the share of positives equals that of the labels.
fn balanced(scores: &[f64], draw: &Draw) -> Vec<f64> {
    let positive = draw.labeled.iter().filter(|&&i| draw.train.labels.of[i] == Some(1)).count();
    let share = positive as f64 / draw.labeled.len().max(1) as f64;
    let mut sorted = scores.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let at = ((1.0 - share) * scores.len() as f64) as usize;
    let threshold = sorted.get(at).copied().unwrap_or(0.0);
    scores.iter().map(|s| s - threshold).collect()
}
