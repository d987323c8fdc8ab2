//! Share of the optimal objective that an online learner reaches if only the neighbors of a new sample are updated (Emara 2012,
//! figures VI.10 to VI.12, published without numbers). One fifth of the rows is learned at once, two fifths one at a time, and
//! two fifths are test rows. It also measures how much a new sample changes samples farther away than the kernel width.

use crate::clock::Clock;
use crate::data::Scaling;
use crate::failure::{Failure, Result};
use crate::few::Rows;
use crate::findings::{Findings, Series};
use crate::run::{Bench, seed_of};
use crate::stream::curves::figure;
use evermargin::estimators::online::incremental::locality::changes;
use evermargin::estimators::online::incremental::{ExactParams, ExactSvm};
use evermargin::estimators::online::lasvm::{Lasvm, LasvmParams, LasvmVariant, Mode, Neighborhood};
use evermargin::estimators::supervised::svc::SvcParams;
use evermargin::estimators::{Fit, Targets};
use evermargin::model::Model;
use evermargin::{Kernel, Label, Matrix};
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_pcg::Pcg64;
use serde::{Deserialize, Serialize};

/// COIL2, which the thesis uses, and six of the 24 sets of its table VI.1.
const SETS: [&str; 7] =
    ["ssl:COIL2", "fourclass", "breast-cancer", "german", "svmguide1", "diabetes", "ionosphere"];

/// Maximum number of rows per set, because the exact incremental SVM handles only thousands.
const MAX_ROWS: usize = 2500;

/// A method of learning one sample.
#[derive(Clone, Copy)]
enum Way {
    Near(Mode, f64),
    Lasvm,
    Exact,
    Resolve,
}

const WAYS: [(&str, Way); 9] = [
    ("radius σ", Way::Near(Mode::Radius, 1.0)),
    ("radius 2σ", Way::Near(Mode::Radius, 2.0)),
    ("50 nearest", Way::Near(Mode::Nearest, 1.0)),
    ("iterative", Way::Near(Mode::Iterative, 1.0)),
    ("radius σ, then iterative", Way::Near(Mode::RadiusIterative, 1.0)),
    ("adaptive", Way::Near(Mode::Adaptive, 1.0)),
    ("lasvm", Way::Lasvm),
    ("exact machine", Way::Exact),
    ("solved anew (warm)", Way::Resolve),
];

/// Result of a method: accuracy, share of the optimal objective, CPU microseconds per sample.
type MethodResult = [f64; 3];

/// Results on one draw.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct DrawResults {
    /// One entry per method.
    ways: Vec<MethodResult>,
    /// Accuracy of training at once.
    batch: f64,
    /// Mean |Δα|/C of the samples beyond σ that a new sample changes.
    next_batch_weight: f64,
}

/// Number of new samples whose changes are measured, and maximum number of samples learned before.
const CANDIDATES: (usize, usize) = (40, 400);

/// Rows of one draw in their order: learned at once, learned one at a time, test rows.
struct OrderedRows {
    x: Matrix,
    targets: Targets,
    first: usize,
    learned: usize,
    kernel: Kernel,
    c: f64,
}

/// Statement `emara-vi`: neighborhoods of different kinds.
pub(crate) fn neighborhoods(bench: &Bench<'_>) -> Result<Findings> {
    let options = bench.options;
    let usual = if options.quick { 1 } else { 5 };
    let repetitions = options.repetitions.unwrap_or(usual).max(1);
    let sets = if options.quick { &SETS[1..3] } else { &SETS[..] };
    let named = |s: &&&str| options.data_sets.is_empty() || options.data_sets.iter().any(|n| n == **s);
    let mut pieces = Vec::new();
    for name in sets.iter().filter(named) {
        for narrower in [1.0, 4.0] {
            pieces.extend((0..repetitions).map(|k| (*name, narrower, k)));
        }
    }
    let done = bench.each(&pieces, |(name, narrower, repetition)| -> Result<DrawResults> {
        let key = format!(
            "neighbors {name} {narrower} {repetition} {} {:?} {:?} {:?}",
            options.seed, options.scaling, options.c, options.gamma
        );
        bench.cached(&key, || {
            let rows = Rows::open(name, &options.folder)?;
            OrderedRows::new(bench, &rows, *narrower, *repetition)?.measure()
        })
    });
    let mut found = Findings::default();
    let mut points: Vec<Vec<[f64; 2]>> = vec![Vec::new(); WAYS.len()];
    for (pieces, done) in pieces.chunks(repetitions).zip(chunks(done, repetitions)) {
        let (name, narrower, _) = pieces[0];
        let row = if narrower > 1.0 { format!("{name}, half the width") } else { name.to_string() };
        match done.into_iter().collect::<Result<Vec<DrawResults>>>() {
            Ok(drawn) => record(&row, &drawn, &mut points, &mut found),
            Err(missing @ Failure::Missing { .. }) => found.missing(&row, &missing.to_string()),
            Err(failure) => return Err(failure),
        }
    }
    let mut series = Vec::new();
    for ((name, _), mut points) in WAYS.iter().zip(points) {
        points.sort_by(|a, b| a[0].total_cmp(&b[0]));
        series.push(Series { name: (*name).into(), points });
    }
    let axes = ("CPU microseconds per sample", "share of the optimum %");
    let mut drawn = figure("All data sets and widths, by method", axes, series);
    drawn.log_x = true;
    found.figures.push(drawn);
    Ok(found)
}

fn chunks<T>(items: Vec<T>, size: usize) -> Vec<Vec<T>> {
    let mut items = items.into_iter();
    let mut out = Vec::new();
    loop {
        let chunk: Vec<T> = items.by_ref().take(size).collect();
        if chunk.is_empty() {
            return out;
        }
        out.push(chunk);
    }
}

fn place(name: &str) -> usize {
    WAYS.iter().position(|(n, _)| *n == name).unwrap_or(0)
}

fn record(row: &str, drawn: &[DrawResults], points: &mut [Vec<[f64; 2]>], found: &mut Findings) {
    let (radius, growth) = (place("radius σ"), place("iterative"));
    for (k, (way, _)) in WAYS.iter().enumerate() {
        let of = |value: &dyn Fn(&DrawResults) -> f64| drawn.iter().map(value).collect::<Vec<f64>>();
        found.add(row, way, "loss", of(&|d| d.batch - d.ways[k][0]));
        found.add(row, way, "share", of(&|d| d.ways[k][1]));
        found.add(row, way, "over_radius", of(&|d| d.ways[k][0] - d.ways[radius][0]));
        let mean = |c: usize, w: usize| drawn.iter().map(|d| d.ways[w][c]).sum::<f64>() / drawn.len() as f64;
        found.add(row, way, "times_faster", vec![mean(2, growth) / mean(2, k).max(1e-9)]);
        points[k].push([mean(2, k).max(0.1), 100.0 * mean(1, k)]);
    }
    found.add(row, "radius σ", "change_beyond", drawn.iter().map(|d| d.next_batch_weight).collect());
}

impl OrderedRows {
    fn new(bench: &Bench<'_>, rows: &Rows, narrower: f64, repetition: usize) -> Result<Self> {
        let mut rng = Pcg64::seed_from_u64(seed_of(bench.options.seed, repetition));
        let mut order: Vec<usize> = (0..rows.labels.of.len()).collect();
        order.shuffle(&mut rng);
        order.truncate(MAX_ROWS);
        let x = rows.x.view().select(&order).view().to_dense();
        let scaling = bench.options.scaling.unwrap_or(Scaling::Standard).fit(&x)?;
        let x = scaling.apply(x)?;
        let label = |i: &usize| if rows.labels.of[*i] == Some(1) { Label::Pos } else { Label::Neg };
        let targets = Targets { y: order.iter().map(label).collect(), cost: vec![1.0; order.len()] };
        let gamma = bench.options.gamma.unwrap_or(narrower / x.cols() as f64);
        Ok(Self {
            first: order.len() / 5,
            learned: order.len() * 3 / 5,
            kernel: Kernel::Rbf { gamma },
            c: bench.options.c.unwrap_or(10.0),
            x,
            targets,
        })
    }

    /// Accuracy and objective of training on all samples at once.
    fn batch(&self) -> Result<(f64, f64)> {
        let learned: Vec<usize> = (0..self.learned).collect();
        let (x, t) = (self.x.view().select(&learned), self.targets.select(&learned));
        let svc = |tolerance| SvcParams { kernel: self.kernel, c: self.c, tolerance, ..SvcParams::default() };
        let fitted = svc(1e-6).fit(x.view(), &[t], &())?;
        Ok((self.accuracy(&fitted.model)?, fitted.reports[0].objective))
    }

    fn measure(&self) -> Result<DrawResults> {
        let (batch, optimum) = self.batch()?;
        let ways = WAYS.iter().map(|(_, way)| self.run(*way, optimum)).collect::<Result<_>>()?;
        Ok(DrawResults { ways, batch, next_batch_weight: self.beyond()? })
    }

    /// Mean |Δα|/C over the samples beyond σ that a new sample changes.
    fn beyond(&self) -> Result<f64> {
        let (candidates, max_known) = CANDIDATES;
        let known = self.learned.min(max_known);
        let params = ExactParams { kernel: self.kernel, c: self.c, ..ExactParams::default() };
        let mut machine = ExactSvm::new(&params, self.x.cols(), false)?;
        for row in 0..known {
            machine.add(self.x.view(), row, self.targets.y[row], 1.0, row as u64)?;
        }
        let (mut sum, mut count) = (0.0, 0usize);
        for row in known..(known + candidates).min(self.x.rows()) {
            for c in changes(&machine, self.x.view(), row, self.targets.y[row])? {
                if c.distance > 1.0 && c.change > 1e-9 {
                    (sum, count) = (sum + c.change, count + 1);
                }
            }
        }
        Ok(sum / count.max(1) as f64)
    }

    fn run(&self, way: Way, optimum: f64) -> Result<MethodResult> {
        let (model, objective, micros) = match way {
            Way::Exact => self.exact()?,
            Way::Near(mode, nu) => self.online(&LasvmParams {
                variant: LasvmVariant::Local,
                local: near(mode, nu),
                ..self.params()
            })?,
            Way::Resolve => self.online(&LasvmParams {
                variant: LasvmVariant::Local,
                local: near(Mode::Full, 1.0),
                ..self.params()
            })?,
            Way::Lasvm => self.online(&LasvmParams { variant: LasvmVariant::Hinge, ..self.params() })?,
        };
        Ok([self.accuracy(&model)?, objective / optimum, micros])
    }

    fn params(&self) -> LasvmParams {
        LasvmParams { kernel: self.kernel, c: self.c, ..LasvmParams::default() }
    }

    /// Solves the first rows at once, then learns one row at a time.
    fn online(&self, params: &LasvmParams) -> Result<(Model, f64, f64)> {
        let problems = std::slice::from_ref(&self.targets);
        let full =
            LasvmParams { variant: LasvmVariant::Local, local: near(Mode::Full, 1.0), ..params.clone() };
        let mut state = Lasvm::new(&full, self.x.view(), 1)?;
        state.learn(self.x.view(), &(0..self.first).collect::<Vec<_>>(), 0, problems, &())?;
        let mut saved = state.save();
        saved.params = params.clone();
        let mut state = Lasvm::resume(&saved)?;
        let clock = Clock::start();
        for row in self.first..self.learned {
            state.learn(self.x.view(), &[row], 0, problems, &())?;
        }
        let micros = 1e6 * clock.seconds() / (self.learned - self.first) as f64;
        Ok((state.model(), state.output(0).objective(), micros))
    }

    fn exact(&self) -> Result<(Model, f64, f64)> {
        let params = ExactParams { kernel: self.kernel, c: self.c, ..ExactParams::default() };
        let mut machine = ExactSvm::new(&params, self.x.cols(), false)?;
        let mut clock = Clock::start();
        for row in 0..self.learned {
            if row == self.first {
                clock = Clock::start();
            }
            machine.add(self.x.view(), row, self.targets.y[row], 1.0, row as u64)?;
        }
        let micros = 1e6 * clock.seconds() / (self.learned - self.first) as f64;
        // ½αᵀQα − Σα = −½Σα(1 − g), for Qα = g + 1 − yb and Σyα = 0
        let (alpha, g) = (machine.alpha(), machine.g());
        let objective = -0.5 * alpha.iter().zip(g).map(|(a, g)| a * (1.0 - g)).sum::<f64>();
        let empty = Model::Linear { weights: vec![vec![0.0; self.x.cols()]], bias: vec![0.0] };
        Ok((machine.model().unwrap_or(empty), objective, micros))
    }

    fn accuracy(&self, model: &Model) -> Result<f64> {
        let test: Vec<usize> = (self.learned..self.x.rows()).collect();
        let f = model.decision(self.x.view().select(&test).view())?;
        let right = test.iter().zip(&f).filter(|(i, f)| (**f > 0.0) == (self.targets.y[**i] == Label::Pos));
        Ok(right.count() as f64 / test.len() as f64)
    }
}

fn near(mode: Mode, nu: f64) -> Neighborhood {
    Neighborhood { mode, radius_factor: nu, ..Neighborhood::default() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn methods_are_compared_with_training_at_once() {
        let ways = (0..WAYS.len()).map(|k| [0.9 - 0.01 * k as f64, 1.0, 10.0 * (k + 1) as f64]).collect();
        let drawn = [DrawResults { ways, batch: 0.95, next_batch_weight: 0.02 }];
        let (mut found, mut points) = (Findings::default(), vec![Vec::new(); WAYS.len()]);
        record("here", &drawn, &mut points, &mut found);
        let value = |way: &str, metric: &str| found.of("here", way, metric).unwrap().runs.clone().unwrap()[0];
        assert!((value("radius σ", "loss") - 0.05).abs() < 1e-12);
        assert!((value("iterative", "over_radius") + 0.03).abs() < 1e-12);
        assert!((value("radius σ", "times_faster") - 4.0).abs() < 1e-12);
        assert_eq!(points[8], [[90.0, 100.0]]);
        assert_eq!(chunks(vec![1, 2, 3], 2), [vec![1, 2], vec![3]]);
    }
}
