//! How much of the optimum a machine keeps that lets only the neighbours of a newcomer move (Emara 2012, figures VI.11 and
//! VI.12, printed without numbers): a fifth of the rows at once, two fifths one at a time, two fifths to score on.

use crate::clock::Clock;
use crate::data::Scaling;
use crate::failure::Result;
use crate::few::Rows;
use crate::run::{Bench, seed_of};
use crate::show::markdown::spread;
use evermargin::learn::incremental::{ExactParams, ExactSvm};
use evermargin::learn::lasvm::{Lasvm, LasvmParams, Loss, Mode, Neighbourhood};
use evermargin::learn::svc::SvcParams;
use evermargin::learn::{Fit, Targets};
use evermargin::model::Model;
use evermargin::{Kernel, Label, Matrix};
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_pcg::Pcg64;
use std::fmt::Write;

/// COIL2, which the thesis has, and four of the 24 sets of its table VI.1.
const SETS: [&str; 5] = ["ssl:COIL2", "fourclass", "breast-cancer", "german", "svmguide1"];

/// Most rows of a set that take part: the exact machine is for thousands.
const MOST_ROWS: usize = 2500;

/// One way to take in a sample.
#[derive(Clone, Copy)]
enum Way {
    Near(Mode, f64),
    Lasvm,
    Exact,
    Anew,
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
    ("solved anew (warm)", Way::Anew),
];

/// What a way came to: accuracy and share of the optimum in percent, CPU microseconds a sample.
type Found = [f64; 3];

/// Rows of one draw, in the order in which they come: first, stream, test.
struct Draw {
    x: Matrix,
    targets: Targets,
    first: usize,
    learnt: usize,
    kernel: Kernel,
    c: f64,
}

/// The table, one block a data set and width.
pub(crate) fn neighbourhoods(bench: &Bench<'_>) -> Result<String> {
    let mut out = String::from(
        "Mean 0 and deviation 1 of every column; gamma = 1/columns (σ = √(columns/2)) and four times that; C = 10 unless \
         `--c` says otherwise. Share: dual objective over that of all samples learnt, solved to 1e-6. CPU µs: of one \
         sample of the stream, mean.\n\n| data set | σ | way | accuracy % | share % | CPU µs a sample |\n\
         |---|--:|---|--:|--:|--:|\n",
    );
    let named = &bench.options.data_sets;
    for name in SETS.iter().filter(|s| named.is_empty() || named.iter().any(|n| n == *s)) {
        let rows = Rows::open(name, &bench.options.folder)?;
        for narrower in [1.0, 4.0] {
            block(bench, name, &rows, narrower, &mut out)?;
        }
    }
    Ok(out)
}

fn block(bench: &Bench<'_>, name: &str, rows: &Rows, narrower: f64, out: &mut String) -> Result<()> {
    let mut found: Vec<Vec<Found>> = vec![Vec::new(); WAYS.len()];
    let mut batch = Vec::new();
    let mut sigma = 0.0;
    for repetition in 0..bench.options.repetitions.unwrap_or(5) {
        let draw = Draw::new(bench, rows, narrower, repetition)?;
        if let Kernel::Rbf { gamma } = draw.kernel {
            sigma = (0.5 / gamma).sqrt();
        }
        let (best, optimum) = draw.batch()?;
        batch.push(best);
        for (found, (_, way)) in found.iter_mut().zip(WAYS) {
            found.push(draw.run(way, optimum)?);
        }
    }
    for ((way, _), found) in WAYS.iter().zip(&found) {
        let column = |k: usize, decimals| spread(&found.iter().map(|f| f[k]).collect::<Vec<_>>(), decimals);
        let _ = writeln!(
            out,
            "| {name} | {sigma:.2} | {way} | {} | {} | {} |",
            column(0, 1),
            column(1, 2),
            column(2, 0)
        );
    }
    let accuracy: Vec<f64> = batch.iter().map(|b| b[0]).collect();
    let cost: Vec<f64> = batch.iter().map(|b| b[2]).collect();
    let (accuracy, cost) = (spread(&accuracy, 1), spread(&cost, 0));
    let _ = writeln!(
        out,
        "| {name} | {sigma:.2} | svc, all at once | {accuracy} | 100 | {cost} (a whole training) |"
    );
    bench.say(&format!("{name}, σ {sigma:.2}"));
    Ok(())
}

impl Draw {
    fn new(bench: &Bench<'_>, rows: &Rows, narrower: f64, repetition: usize) -> Result<Self> {
        let mut rng = Pcg64::seed_from_u64(seed_of(bench.options.seed, repetition));
        let mut order: Vec<usize> = (0..rows.labels.of.len()).collect();
        order.shuffle(&mut rng);
        order.truncate(MOST_ROWS);
        let x = rows.x.view().select(&order).view().to_dense();
        let scaling = bench.options.scaling.unwrap_or(Scaling::Standard).fit(&x)?;
        let x = scaling.apply(x)?;
        let label = |i: &usize| if rows.labels.of[*i] == Some(1) { Label::Pos } else { Label::Neg };
        let targets = Targets { y: order.iter().map(label).collect(), cost: vec![1.0; order.len()] };
        let gamma = bench.options.gamma.unwrap_or(narrower / x.cols() as f64);
        Ok(Self {
            first: order.len() / 5,
            learnt: order.len() * 3 / 5,
            kernel: Kernel::Rbf { gamma },
            c: bench.options.c.unwrap_or(10.0),
            x,
            targets,
        })
    }

    /// Accuracy of training on all samples learnt, its cost, and its objective.
    fn batch(&self) -> Result<(Found, f64)> {
        let learnt: Vec<usize> = (0..self.learnt).collect();
        let (x, t) = (self.x.view().select(&learnt), self.targets.select(&learnt));
        let svc = |tolerance| SvcParams { kernel: self.kernel, c: self.c, tolerance, ..SvcParams::default() };
        let clock = Clock::start();
        let fitted = svc(1e-3).fit(x.view(), std::slice::from_ref(&t), &())?;
        let micros = 1e6 * clock.seconds();
        let optimum = svc(1e-6).fit(x.view(), &[t], &())?.reports[0].objective;
        Ok(([self.accuracy(&fitted.model)?, 100.0, micros], optimum))
    }

    fn run(&self, way: Way, optimum: f64) -> Result<Found> {
        let (model, objective, micros) = match way {
            Way::Exact => self.exact()?,
            Way::Near(mode, nu) => {
                self.online(&LasvmParams { loss: Loss::Local, local: near(mode, nu), ..self.params() })?
            }
            Way::Anew => self.online(&LasvmParams {
                loss: Loss::Local,
                local: near(Mode::Full, 1.0),
                ..self.params()
            })?,
            Way::Lasvm => self.online(&LasvmParams { loss: Loss::Hinge, ..self.params() })?,
        };
        Ok([self.accuracy(&model)?, 100.0 * objective / optimum, micros])
    }

    fn params(&self) -> LasvmParams {
        LasvmParams { kernel: self.kernel, c: self.c, ..LasvmParams::default() }
    }

    /// The first rows solved at once, then one at a time.
    fn online(&self, params: &LasvmParams) -> Result<(Model, f64, f64)> {
        let problems = std::slice::from_ref(&self.targets);
        let full = LasvmParams { loss: Loss::Local, local: near(Mode::Full, 1.0), ..params.clone() };
        let mut state = Lasvm::new(&full, self.x.view(), 1)?;
        state.learn(self.x.view(), &(0..self.first).collect::<Vec<_>>(), 0, problems, &())?;
        let mut saved = state.save();
        saved.params = params.clone();
        let mut state = Lasvm::resume(&saved)?;
        let clock = Clock::start();
        for row in self.first..self.learnt {
            state.learn(self.x.view(), &[row], 0, problems, &())?;
        }
        let micros = 1e6 * clock.seconds() / (self.learnt - self.first) as f64;
        Ok((state.model(), state.output(0).objective(), micros))
    }

    fn exact(&self) -> Result<(Model, f64, f64)> {
        let params = ExactParams { kernel: self.kernel, c: self.c, ..ExactParams::default() };
        let mut machine = ExactSvm::new(&params, self.x.cols(), false)?;
        let mut clock = Clock::start();
        for row in 0..self.learnt {
            if row == self.first {
                clock = Clock::start();
            }
            machine.add(self.x.view(), row, self.targets.y[row], 1.0, row as u64)?;
        }
        let micros = 1e6 * clock.seconds() / (self.learnt - self.first) as f64;
        // ½αᵀQα − Σα = −½Σα(1 − g), for Qα = g + 1 − yb and Σyα = 0
        let (alpha, g) = (machine.alpha(), machine.g());
        let objective = -0.5 * alpha.iter().zip(g).map(|(a, g)| a * (1.0 - g)).sum::<f64>();
        let empty = Model::Linear { weights: vec![vec![0.0; self.x.cols()]], bias: vec![0.0] };
        Ok((machine.model().unwrap_or(empty), objective, micros))
    }

    fn accuracy(&self, model: &Model) -> Result<f64> {
        let test: Vec<usize> = (self.learnt..self.x.rows()).collect();
        let f = model.decision(self.x.view().select(&test).view())?;
        let right = test.iter().zip(&f).filter(|(i, f)| (**f > 0.0) == (self.targets.y[**i] == Label::Pos));
        Ok(100.0 * right.count() as f64 / test.len() as f64)
    }
}

fn near(mode: Mode, nu: f64) -> Neighbourhood {
    Neighbourhood { mode, nu, ..Neighbourhood::default() }
}
