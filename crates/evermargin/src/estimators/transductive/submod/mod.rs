//! `submod-s3vm`: labels for unlabeled rows by maximizing a set function (Emara 2012, chapter III).
//!
//! Problem: choose k = round(ratio·n) of the n unlabeled rows as positives A to maximize Σ_A a − (κ/2)·cut(A), see
//! [`cut`]. The source adds −(C*²/2)d|A|² and selects greedily (`variant = thesis`): the sum is then submodular and
//! monotone for 0 ≤ K ≤ d, and greedy selection is within 1 − 1/e of the optimum of that sum, which says little about
//! D. For a fixed k the added term is constant, so the picks maximize D greedily all the same. `variant = polished`
//! continues from there, see [`search`].
//!
//! A model for other rows is fitted to all labels, given and inferred, with cost C and C* = κC: squared hinge
//! ([`linear`](crate::estimators::supervised::linear)) for a linear kernel, hinge
//! ([`svc`](crate::estimators::supervised::svc)) for any other.
//!
//! Departures: κ = 2ρl/n unless given, because with κ fixed the cut dominates the labels as n grows; features are
//! centered (the linear kernel of values in [0, 1] is large for any two rows); if r > 1/2 the negatives are selected,
//! because they are fewer. Several classes are assigned together, see [`welfare`].

pub mod cut;
mod inductive;
pub mod polish;
pub mod search;
pub mod space;
pub mod welfare;

use super::{FewLabels, Ratio, Transduced, center, middle};
use crate::data::MatrixView;
use crate::error::{Error, Result};
use crate::estimators::registry::{EstimatorSpec, Parameters};
use crate::estimators::supervised::svc::SvcParams;
use crate::estimators::{Fit, Fitted, Targets};
use crate::kernel::Kernel;
use crate::model::Model;
use crate::params::shared::{C, COEF0, DEGREE, GAMMA, LINEAR_KERNEL, RATIO};
use crate::params::{ParamSpec, ParamValue, ParamValues};
use crate::solver::{Exit, Progress, Watch};
use cut::{Cut, Seeds};
use inductive::Inductive;
use search::{EXCHANGE_ROWS, Search, SearchResult, greedy};
use serde::{Deserialize, Serialize};
use space::{LinearSpace, Space};
use spec::{C_UNLABELED, CENTER, KAPPA, LABEL_WEIGHTS, MODEL_TOLERANCE, RHO, SMALL_CACHE};

/// Method of selecting the set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Variant {
    /// Greedy, reverse greedy and Parzen starts, each polished; the best result is kept.
    Polished,
    /// The Parzen start alone, polished; fast enough for streams.
    Swift,
    /// Lazy greedy selection, as published.
    Thesis,
    /// Greedy selection that computes every gain before every pick, for comparison.
    Plain,
}

/// Weights of labels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LabelWeights {
    /// All 1.
    None,
    /// l/(2l_y): the same total weight for both classes.
    Balanced,
}

/// Parameters of the set function: kernel and weight of the cut. Shared by the estimators that maximize it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CutParams {
    /// The kernel.
    pub kernel: Kernel,
    /// Whether the rows are centered for a linear kernel.
    pub center: bool,
    /// Weights of labels.
    pub label_weights: LabelWeights,
    /// C, the cost of a given label.
    pub c: f64,
    /// C*, the cost of an inferred label; 0 means computed from κ.
    pub c_unlabeled: f64,
    /// κ; 0 means computed from ρ.
    pub kappa: f64,
    /// ρ, the weight of the cut relative to that of the labels.
    pub rho: f64,
    /// Bytes for cached kernel rows.
    pub cache_bytes: usize,
}

/// Parameters of the cut, shared with `qp-s3vm` and `parzen`.
pub(crate) mod spec {
    use crate::params::shared::{CACHE_BYTES, RELATIVE_TOLERANCE};
    use crate::params::{FloatRange, ParamSpec};

    pub const RHO: ParamSpec = ParamSpec::float(
        "rho",
        FloatRange::closed(0.0, 1e15),
        "10",
        "weight of the cut relative to that of the labels; 0 = labels alone",
    );
    pub const KAPPA: ParamSpec = ParamSpec::float(
        "kappa",
        FloatRange::closed(0.0, 1e15),
        "0",
        "C*/C, cost of an inferred label relative to a given one; 0 = 2·rho·labeled/unlabeled",
    );
    pub const C_UNLABELED: ParamSpec = ParamSpec::float(
        "c_unlabeled",
        FloatRange::closed(0.0, 1e15),
        "0",
        "C*, cost of an inferred label; 0 = kappa·c",
    );
    pub const CENTER: ParamSpec =
        ParamSpec::flag("center", "true", "whether to center the rows for the linear kernel");
    pub const LABEL_WEIGHTS: ParamSpec = ParamSpec::choice(
        "label_weights",
        &["none", "balanced"],
        "none",
        "weights of labels: none = all 1, balanced = the same total weight for both classes",
    );
    pub const MODEL_TOLERANCE: ParamSpec =
        RELATIVE_TOLERANCE.default_of("0.01").help_of("accuracy of the model fitted to all labels");
    pub const SMALL_CACHE: ParamSpec = CACHE_BYTES.default_of("268435456");
}

/// The specification of `submod-s3vm`.
pub static SPEC: EstimatorSpec = EstimatorSpec::semi_supervised(
    "submod-s3vm",
    "labels unlabeled rows by a seeded cut of the data, very fast (semi-supervised)",
    &[
        LINEAR_KERNEL,
        GAMMA,
        DEGREE,
        COEF0,
        RATIO.default_of("auto"),
        RHO,
        KAPPA,
        C_UNLABELED,
        C,
        ParamSpec::choice(
            "variant",
            &["polished", "swift", "thesis", "plain"],
            "polished",
            "polished = best of several starts, swift = one start from the labels, thesis = lazy greedy as published, plain = plain greedy",
        ),
        CENTER,
        LABEL_WEIGHTS,
        MODEL_TOLERANCE,
        SMALL_CACHE,
    ],
);

impl Parameters for SubmodParams {}

/// Parameters of [`submod-s3vm`](self).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct SubmodParams {
    /// The kernel.
    pub kernel: Kernel,
    /// Share of positives among the unlabeled rows.
    pub ratio: Ratio,
    /// ρ: weight of the cut relative to that of the labels, κn/2l; 0 leaves the labels alone.
    pub rho: f64,
    /// κ = C*/C; 0 means computed from `rho`.
    pub kappa: f64,
    /// C*, the cost of an inferred label; 0 means κC.
    pub c_unlabeled: f64,
    /// Cost of a margin violation of a labeled row in the model.
    pub c: f64,
    /// Method of selecting the set.
    pub variant: Variant,
    /// Whether to center the rows for the linear kernel.
    pub center: bool,
    /// Weights of the labels.
    pub label_weights: LabelWeights,
    /// Tolerance of the model, as in `linear` or `svc`.
    pub tolerance: f64,
    /// Bytes for cached kernel rows.
    pub cache_bytes: usize,
}

impl Default for SubmodParams {
    fn default() -> Self {
        Self {
            kernel: Kernel::Linear,
            ratio: Ratio::Auto,
            rho: 10.0,
            kappa: 0.0,
            c_unlabeled: 0.0,
            c: 1.0,
            variant: Variant::Polished,
            center: true,
            label_weights: LabelWeights::None,
            tolerance: 1e-2,
            cache_bytes: 1 << 28,
        }
    }
}

impl SubmodParams {
    pub(crate) fn cut(&self) -> CutParams {
        CutParams {
            kernel: self.kernel,
            center: self.center,
            label_weights: self.label_weights,
            c: self.c,
            c_unlabeled: self.c_unlabeled,
            kappa: self.kappa,
            rho: self.rho,
            cache_bytes: self.cache_bytes,
        }
    }

    pub(crate) fn inductive(&self) -> Inductive {
        let (kernel, c, tolerance, cache_bytes) = (self.kernel, self.c, self.tolerance, self.cache_bytes);
        Inductive { kernel, c, tolerance, cache_bytes }
    }
}

/// Maximum number of sweeps of top-k from one start.
pub(crate) const SWEEPS: u64 = 60;

impl SubmodParams {
    fn label_rows(
        &self,
        x: MatrixView<'_>,
        problems: &[Targets],
        few: &[FewLabels],
        watch: &dyn Watch,
    ) -> Result<CutInput> {
        let cut = self.cut();
        cut.check(x)?;
        let swift = self.variant == Variant::Swift;
        if problems.len() > 1
            && welfare::is_one_against_rest(few)
            && matches!(self.variant, Variant::Polished | Variant::Swift)
        {
            return welfare::fit(&cut, x, problems, few, SWEEPS, !swift, watch);
        }
        let search = |n: usize| Search {
            sweeps: SWEEPS,
            greedy: !swift,
            exchanges: if n <= EXCHANGE_ROWS && !swift { SWEEPS } else { 0 },
            random: 0,
            seed: 0,
        };
        let choose = |cut: &mut Cut<'_, '_>, k: usize, watch: &dyn Watch| match self.variant {
            Variant::Polished | Variant::Swift => search(few[0].unlabeled.len()).run(cut, k, watch),
            Variant::Thesis | Variant::Plain => thesis(cut, k, self.variant == Variant::Plain, watch),
        };
        cut.transduce(x, problems, few, &choose, watch)
    }
}

impl Fit for SubmodParams {
    fn fit(&self, x: MatrixView<'_>, problems: &[Targets], watch: &dyn Watch) -> Result<Fitted> {
        self.inductive().check()?;
        let few = FewLabels::of(x, problems, &self.ratio, watch)?;
        if few.iter().all(|f| f.unlabeled.is_empty()) {
            self.cut().check(x)?;
            return self.inductive().fit_without_unlabeled(x, problems, &few, watch);
        }
        let given = self.label_rows(x, problems, &few, watch)?;
        self.inductive().fit(x, problems, &few, given, watch)
    }

    /// At least one row must have no label.
    fn transduce(&self, x: MatrixView<'_>, problems: &[Targets], watch: &dyn Watch) -> Result<Transduced> {
        let few = FewLabels::of(x, problems, &self.ratio, watch)?;
        Ok(self.label_rows(x, problems, &few, watch)?.labels)
    }

    fn supervised(&self) -> Option<Box<dyn Fit>> {
        Some(self.inductive().supervised())
    }
}

/// Greedy selection as published, of the class with fewer rows.
fn thesis(cut: &mut Cut<'_, '_>, k: usize, every_gain: bool, watch: &dyn Watch) -> SearchResult {
    let n = cut.pull().len();
    let chosen = greedy(cut, k, 2 * k > n, every_gain, watch);
    let [evaluations, full] = chosen.evaluations;
    let mut labeling = polish::polish(cut, chosen.positive, 0, 0, watch);
    labeling.interrupted = chosen.interrupted;
    let (start, objectives) = ("greedy", vec![("greedy", labeling.objective)]);
    SearchResult { labeling, start, objectives, sweeps: 0, evaluations, full }
}

/// Inferred labels, and the initial model for training on them.
#[derive(Debug)]
pub(crate) struct CutInput {
    pub labels: Transduced,
    /// κ of each problem, or of all problems.
    pub kappas: Vec<f64>,
    /// The scores as linear functions of the columns, if they are linear.
    pub start: Option<Model>,
}

/// A function that selects k rows of a cut.
pub type Choose<'c> = dyn Fn(&mut Cut<'_, '_>, usize, &dyn Watch) -> SearchResult + 'c;

impl CutParams {
    pub(crate) fn check(&self, x: MatrixView<'_>) -> Result<()> {
        SvcParams { kernel: self.kernel, c: self.c, ..Default::default() }.check(x)?;
        for (name, value) in [("rho", self.rho), ("kappa", self.kappa), ("c_unlabeled", self.c_unlabeled)] {
            if !(0.0..=1e15).contains(&value) {
                return Err(Error::parameter(name, value, "a number from 0 to 1e15"));
            }
        }
        Ok(())
    }

    /// κ for labeled and unlabeled rows of these total weights: their numbers, if all rows have equal weight.
    pub fn kappa(&self, labeled: f64, unlabeled: f64) -> f64 {
        if self.kappa > 0.0 {
            return self.kappa;
        }
        if self.c_unlabeled > 0.0 {
            return self.c_unlabeled / self.c;
        }
        if unlabeled > 0.0 { 2.0 * self.rho * labeled / unlabeled } else { 0.0 }
    }

    /// The kernel on the rows of the data, with the weights of the rows that take part.
    pub fn space<'a>(&self, x: MatrixView<'a>, weight: &[f64]) -> Result<Space<'a>> {
        Ok(match self.kernel {
            Kernel::Linear => Space::Linear(LinearSpace::new(x, self.center.then_some(weight))),
            kernel => {
                let svc = SvcParams { kernel, cache_bytes: self.cache_bytes, ..Default::default() };
                Space::Kernel(svc.gram(x)?)
            }
        })
    }

    /// Labels and weights of one problem.
    pub fn seeds(&self, few: &FewLabels, targets: &Targets) -> Seeds {
        let l = total(&few.labeled, targets);
        let of = |sign: f64| {
            let own = few.labeled.iter().zip(&few.y).filter(|(_, y)| **y == sign);
            own.map(|(&i, _)| targets.cost[i]).sum::<f64>()
        };
        let [negative, positive] = [of(-1.0), of(1.0)];
        let share = |y: f64| match self.label_weights {
            LabelWeights::None => 1.0,
            LabelWeights::Balanced => l / (2.0 * if y > 0.0 { positive } else { negative }),
        };
        let mut pull = vec![0.0; targets.y.len()];
        for (&i, &y) in few.labeled.iter().zip(&few.y) {
            pull[i] = y * share(y) * targets.cost[i];
        }
        let narrow = |rows: &[usize]| rows.iter().map(|&i| i as u32).collect();
        Seeds {
            labeled: narrow(&few.labeled),
            pull,
            unlabeled: narrow(&few.unlabeled),
            weight: targets.cost.clone(),
        }
    }

    /// Weights of all rows; 0 for those that take no part in a problem.
    pub(crate) fn taking_part(seeds: &Seeds) -> Vec<f64> {
        let mut weight = vec![0.0; seeds.weight.len()];
        for &i in seeds.labeled.iter().chain(&seeds.unlabeled) {
            weight[i as usize] = seeds.weight[i as usize];
        }
        weight
    }

    /// Selects the positives of every problem separately.
    pub(crate) fn transduce(
        &self,
        x: MatrixView<'_>,
        problems: &[Targets],
        few: &[FewLabels],
        choose: &Choose<'_>,
        watch: &dyn Watch,
    ) -> Result<CutInput> {
        let mut out = Transduced::default();
        let (mut kappas, mut each) = (Vec::new(), Vec::new());
        let (mut weights, mut bias) = (Vec::new(), Vec::new());
        let all: Vec<u32> = (0..x.rows() as u32).collect();
        for (few, targets) in few.iter().zip(problems) {
            let seeds = self.seeds(few, targets);
            let mut space = self.space(x, &Self::taking_part(&seeds))?;
            let labeled = total(&few.labeled, targets);
            let kappa = self.kappa(labeled, total(&few.unlabeled, targets));
            let mut cut = Cut::watched(&mut space, &seeds, kappa, watch);
            let mut found = choose(&mut cut, few.positives, watch);
            found.labeling.interrupted |= cut.stopped();
            let function = cut.function().clone();
            let mut facts = found.facts(few);
            self.totals(&cut, &found, few, labeled, &mut facts);
            let mut scores = vec![0.0; x.rows()];
            space.values(&function, &all, &mut scores);
            let (middle, factor) =
                normalize_scores(&mut scores, &few.unlabeled, &targets.cost, &found.labeling.positive);
            if let Space::Linear(linear) = &space {
                let (mut w, b) = linear.function(&function);
                w.iter_mut().for_each(|w| *w *= factor);
                weights.push(w);
                bias.push((b - middle) * factor);
            }
            out.scores.push(scores);
            out.ratio.push(few.ratio);
            kappas.push(kappa);
            each.push(ParamValue::Map(facts));
        }
        match <[ParamValue; 1]>::try_from(each) {
            Ok([ParamValue::Map(facts)]) => out.facts = facts,
            Ok([other]) => drop(out.facts.insert("problems".into(), other)),
            Err(each) => {
                out.facts = few.iter().flat_map(FewLabels::facts).collect();
                out.facts.insert("problems".into(), ParamValue::List(each));
            }
        }
        let start = Some(Model::Linear { weights, bias }).filter(|m| m.check().is_ok());
        Ok(CutInput { labels: out, kappas, start })
    }

    /// Adds κ, and D and S as defined by the source.
    fn totals(
        &self,
        cut: &Cut<'_, '_>,
        found: &SearchResult,
        few: &FewLabels,
        l: f64,
        facts: &mut ParamValues,
    ) {
        let (n, k) = (few.unlabeled.len() as f64, few.positives as f64);
        let (c, star) = (self.c, self.c * cut.kappa());
        let objective = c * star * found.labeling.objective;
        let bound = cut.largest_entry();
        let size = bound * ((1.5 * star * star * n + c * star * l) * k - 0.5 * star * star * k * k);
        facts.insert("kappa".into(), cut.kappa().into());
        facts.insert("objective".into(), objective.into());
        facts.insert("submodular_objective".into(), (objective + size).into());
    }
}

impl SearchResult {
    fn facts(&self, few: &FewLabels) -> ParamValues {
        let mut facts = few.facts();
        facts.insert("positives".into(), few.positives.into());
        facts.insert("start".into(), self.start.into());
        facts.insert("sweeps".into(), self.sweeps.into());
        facts.insert("evaluations".into(), self.evaluations.into());
        facts.insert("full_greedy_evaluations".into(), self.full.into());
        facts.insert("interrupted".into(), self.labeling.interrupted.into());
        facts
    }
}

/// Total weight of rows.
pub(crate) fn total(rows: &[usize], targets: &Targets) -> f64 {
    rows.iter().map(|&i| targets.cost[i]).sum()
}

/// Shifts scores so that their signs are the labels found for `rows`, and scales them so that the weighted mean
/// distance of these rows is 1. Returns the offset that was subtracted, and the factor applied after it.
pub(crate) fn normalize_scores(
    scores: &mut [f64],
    rows: &[usize],
    weight: &[f64],
    positive: &[bool],
) -> (f64, f64) {
    let middle = middle(rows.iter().map(|&i| scores[i]), positive);
    let factor = move_to(scores, rows, weight, middle);
    let mut own: Vec<f64> = rows.iter().map(|&i| scores[i]).collect();
    center(&mut own, positive);
    rows.iter().zip(own).for_each(|(&i, s)| scores[i] = s);
    (middle, factor)
}

/// Subtracts `middle` and scales so that the weighted mean distance of `rows` is 1; returns the factor.
pub(crate) fn move_to(scores: &mut [f64], rows: &[usize], weight: &[f64], middle: f64) -> f64 {
    let all: f64 = rows.iter().map(|&i| weight[i]).sum();
    let mean = rows.iter().map(|&i| weight[i] * (scores[i] - middle).abs()).sum::<f64>() / all;
    let factor = if mean > 0.0 && mean.is_finite() { 1.0 / mean } else { 1.0 };
    scores.iter_mut().for_each(|s| *s = (*s - middle) * factor);
    factor
}

/// Exit of a fit whose labeling may have been interrupted.
pub(crate) fn exit_of(given: &Transduced, exit: Exit, watch: &dyn Watch) -> Exit {
    let stopped = given.facts.get("interrupted") == Some(&ParamValue::Bool(true));
    let progress = Progress { steps: 0, violation: 1.0, tolerance: 0.0 };
    if stopped || !watch.proceed(&progress) { Exit::Interrupted } else { exit }
}
