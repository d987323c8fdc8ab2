//! Specification of every engine parameter that a user can set: one table for the command line, Python and research.
//!
//! A new parameter needs a field of [`EngineParams`], a row here and a line in [`EngineParams::from_values`]. The flag
//! of `run`, the default, the help and the error messages follow from the row.

use super::params::{Budget, EngineParams, KernelChoice, parse_loss};
use super::transduction::TransductionParams;
use crate::error::{Error, Result};
use crate::estimators::ClassWeight;
use crate::estimators::online::lasvm::LasvmVariant;
use crate::estimators::transductive::Ratio;
use crate::kernel::Kernel;
use crate::model::ScalingName;
use crate::params::{FloatRange, ParamKind, ParamSpec, ParamValue, ParamValues, one_of, shared};
use crate::pipeline::options::Gamma;
use std::collections::BTreeMap;
use std::str::FromStr;

/// Group of parameters under one heading.
#[derive(Debug, Clone, Copy)]
pub struct ParamGroup {
    /// The heading.
    pub title: &'static str,
    /// The parameters.
    pub params: &'static [ParamSpec],
}

/// Every engine parameter, by group.
pub static ENGINE_PARAMS: [ParamGroup; 3] = [
    ParamGroup { title: "Queries", params: QUERIES },
    ParamGroup { title: "Learning", params: LEARNING },
    ParamGroup { title: "Memory", params: MEMORY },
];

/// Maximum value of a parameter that counts rows, labels or points.
const MAX_ITEMS: i64 = 1 << 24;

/// Specification of a maximum or fixed number of rows, labels or points.
const fn items(name: &'static str, min: i64, default: &'static str, help: &'static str) -> ParamSpec {
    ParamSpec::new(name, ParamKind::Integer { min, max: MAX_ITEMS }, default, help)
}

const QUERIES: &[ParamSpec] = &[
    ParamSpec::new(
        "budget",
        ParamKind::OptionalCount,
        "none",
        "maximum number of queries in total; none = no limit. May change when a state is resumed",
    ),
    ParamSpec::count(
        "queries_per_batch",
        0,
        "10",
        "maximum number of queries per batch. May change when a state is resumed",
    ),
    ParamSpec::new(
        "per_time",
        ParamKind::Quota,
        "none",
        "maximum number of queries in a span of time, N/SECONDS; none = no limit",
    ),
    items(
        "queries_per_round",
        1,
        "1",
        "number of queries asked at once; the queries of the next round depend on the answers",
    ),
    ParamSpec::choice(
        "strategy",
        &["small-pool", "margin", "diverse", "bandit", "submod", "random", "none"],
        "small-pool",
        "strategy for choosing the samples to query: small-pool (nearest to the boundary among a few drawn at random), \
         margin (nearest of the batch), diverse (near the boundary and unlike each other), bandit (chooses among random, small-pool, \
         diverse and submod by their answers), submod (SUBMOD-ACTV), random, or none",
    ),
    ParamSpec::choice(
        "submod_weights",
        &["dense", "outliers", "learned"],
        "dense",
        "weights of the strategy submod: dense (rows like many others), outliers (rows unlike most others) or learned \
         (from remembered labels)",
    ),
    ParamSpec::choice(
        "pairwise_queries",
        &["on-request", "after-skip", "always"],
        "on-request",
        "when to ask whether a sample is of the same class as a labeled one: on-request (by an annotator who cannot name \
         the class), after-skip (also when a query about the class is skipped) or always (before asking for the class), \
         the latter two once new classes are rare",
    ),
    ParamSpec::new(
        "label_price",
        ParamKind::OptionalFloat(FloatRange::closed(0.0, 1e15)),
        "none",
        "price of a label: query only while a label is expected to save more; needs error_price; none = no price",
    ),
    ParamSpec::new(
        "error_price",
        ParamKind::OptionalFloat(FloatRange::closed(0.0, 1e15)),
        "none",
        "price of a wrong label in the output; needs label_price; none = no price",
    ),
    ParamSpec::new(
        "price_horizon",
        ParamKind::OptionalCount,
        "none",
        "number of rows for which a label is useful, for label_price; none = as many as were seen so far",
    ),
    items("pool", 1, "59", "number of samples that small-pool draws"),
    ParamSpec::float(
        "exploration_rate",
        FloatRange::closed(0.0, 1.0),
        "0.1",
        "fraction of queries drawn at random; accuracy and drift are measured on them",
    ),
    ParamSpec::float(
        "max_margin_distance",
        FloatRange::NOT_NEGATIVE,
        "1",
        "maximum distance from the boundary of samples that a strategy queries; the margin is at 1",
    ),
    ParamSpec::flag(
        "novelty",
        "false",
        "whether to report improbably many rows unlike all earlier ones, and to reserve up to a fifth of the queries of \
         the batch for them",
    ),
];

const LEARNING: &[ParamSpec] = &[
    ParamSpec::choice(
        "classifier",
        &["lasvm", "local", "seq-lapmed"],
        "lasvm",
        "online classifier: lasvm, local (keeps every label; a new label updates its neighborhood) or seq-lapmed (also \
         learns the unlabeled rows of a batch)",
    ),
    ParamSpec::float(
        "graph_weight",
        FloatRange::closed(0.0, 1e6),
        "0.5",
        "weight of the variation along the graph of a batch in seq-lapmed, divided by the number of the batch; 0 = labels \
         alone",
    ),
    ParamSpec::choice(
        "kernel",
        &["auto", "rbf", "linear", "poly"],
        "auto",
        "kernel: auto (linear for sparse rows of 1000 columns or more, else rbf), rbf, linear or poly",
    ),
    shared::GAMMA.help_of(
        "width of the rbf and poly kernels: a number, scale = 1/(d·Var X) of the first batch, or auto = 1/d",
    ),
    shared::DEGREE,
    shared::COEF0.default_of("1").help_of("constant of the poly kernel"),
    shared::C.default_of("3").help_of("cost of a margin violation of a true label"),
    ParamSpec::float(
        "c_inferred",
        FloatRange::closed(0.0, 1e15),
        "3",
        "cost of a margin violation of an inferred label of full confidence in the published classifier; 0 = learn from true \
         labels alone",
    ),
    ParamSpec::choice("loss", &["hinge", "ramp"], "hinge", "loss: hinge, or ramp where labels may be wrong"),
    ParamSpec::new(
        "class_weight",
        ParamKind::ClassWeights,
        "none",
        "class weights: none, balanced (equal total weight per class), ratio (n_largest / n_class), or CLASS=WEIGHT,…",
    ),
    ParamSpec::choice(
        "scale",
        &["auto", "none", "minmax", "range", "standard", "unit", "tfidf"],
        "auto",
        "scaling, fitted on the first batch: minmax, range, standard, unit, tfidf, none, or auto = chosen from that batch",
    ),
    ParamSpec::choice(
        "label_source",
        &["auto", "model", "transduction", "tsvm", "graph"],
        "auto",
        "source of inferred labels: model (the classifier trained on true labels), transduction (SUBMOD-S3VM), tsvm, graph \
         (label propagation), or auto = all of them, weighted by their accuracy on held-out labels",
    ),
    shared::RATIO.default_of("auto").help_of(
        "share of the second class among unlabeled rows, or of each class in order of names: a number, 0.2,0.3,0.5, labels \
         (as among labels that no query strategy chose) or auto (estimated)",
    ),
    ParamSpec::new(
        "forget",
        ParamKind::Rule { words: &["nothing"], counted: &["window", "half-life", "on-drift"] },
        "on-drift=5",
        "labels to forget: nothing, window=N (all but the last N), half-life=N (weight halves every N batches), or \
         on-drift=N (after drift, those at least N batches old, except for the newest 50 and the newest 10 of each class)",
    ),
    ParamSpec::choice(
        "drift",
        &["none", "windowed", "adwin", "kswin", "page-hinkley"],
        "windowed",
        "drift detector on the errors of labels that no query strategy chose: windowed (windows of 50 labels), adwin, \
         kswin, page-hinkley, or none; all but none also test the share of rows within the margin",
    ),
    shared::SEED.help_of("random seed"),
];

const MEMORY: &[ParamSpec] = &[
    items(
        "exemplars",
        0,
        "200",
        "maximum number of exemplars of past unlabeled rows; 0 = as many as the largest batch has rows",
    ),
    ParamSpec::float(
        "tolerance",
        FloatRange::closed(0.0, 1.0),
        "0.05",
        "share of a batch's labels that may change when the past is summarized; 0 = none may change",
    ),
    ParamSpec::float(
        "evicted_weight",
        FloatRange::closed(0.0, 1e15),
        "0",
        "total weight, in batches, that evicted rows keep in transduction through their class means; 0 disables this",
    ),
    items("max_labels", 10, "4000", "maximum number of true labels that are remembered"),
    ParamSpec::new(
        "max_features",
        ParamKind::OptionalCount,
        "none",
        "maximum number of columns that a stream may grow to; none = 1048576 for sparse rows, 4096 for dense rows",
    ),
    items("max_points", 10, "4000", "maximum number of points of the classifier"),
    items("max_open", 1, "1000", "maximum number of pending queries; the oldest lapse"),
    items("max_classes", 2, "100", "maximum number of classes; labels of further classes are rejected"),
    ParamSpec::new(
        "cache_mb",
        ParamKind::Integer { min: 0, max: 1 << 20 },
        "256",
        "memory for cached kernel rows, in megabytes",
    ),
];

/// Specifications of all engine parameters, in the order of the table.
pub fn engine_param_specs() -> impl Iterator<Item = &'static ParamSpec> {
    ENGINE_PARAMS.iter().flat_map(|group| group.params)
}

impl EngineParams {
    /// Parameters from values by name; parameters without a value have their default. An unknown name or an invalid
    /// value is an error that names the parameter, the value and the allowed values.
    pub fn from_values(values: &ParamValues) -> Result<Self> {
        let given = Resolved::new(values)?;
        let params = Self {
            classifier: given.parsed("classifier")?,
            graph_weight: given.number("graph_weight")?,
            loss: parse_loss(given.word("loss")?)?,
            kernel: given.kernel()?,
            scale: given.parsed_unless("auto", "scale")?,
            c: given.number("c")?,
            c_inferred: given.number("c_inferred")?,
            ratio: given.ratio()?,
            class_weight: given.class_weight()?,
            label_source: given.parsed("label_source")?,
            transduction: Some(TransductionParams {
                tolerance: given.number("tolerance")?,
                exemplars: given.count("exemplars")?,
                evicted_weight: given.number("evicted_weight")?,
                ..Self::default_transduction()
            }),
            query_strategy: given.parsed("strategy")?,
            submod_weights: given.parsed("submod_weights")?,
            pairwise_queries: given.parsed("pairwise_queries")?,
            label_price: given.optional_number("label_price"),
            error_price: given.optional_number("error_price"),
            price_horizon: given.optional_count("price_horizon"),
            budget: Budget {
                per_batch: given.count("queries_per_batch")?,
                total: given.optional_count("budget"),
                per_time: given.quota("per_time"),
                queries_per_round: given.count("queries_per_round")?,
                ..Budget::default()
            },
            pool: given.count("pool")?,
            exploration_rate: given.number("exploration_rate")?,
            max_margin_distance: given.number("max_margin_distance")?,
            novelty: given.flag("novelty")?,
            forget: given.parsed("forget")?,
            drift: given.parsed("drift")?,
            max_features: given.optional_count("max_features").map(|n| n as usize),
            max_labels: given.count("max_labels")?,
            max_points: given.count("max_points")?,
            max_open: given.count("max_open")?,
            max_classes: given.count("max_classes")?,
            cache_bytes: given.count("cache_mb")? << 20,
            seed: given.count("seed")? as u64,
            ..Self::default()
        };
        params.check()?;
        Ok(params)
    }

    /// Value of every parameter of the table. [`EngineParams::from_values`] returns equal parameters for them, except
    /// for fields without a row in the table. Values without an effect, such as the degree of an rbf kernel, are the
    /// defaults.
    pub fn values(&self) -> ParamValues {
        let number = |value: f64| ParamValue::from(value);
        let count = |value: usize| ParamValue::from(value);
        let or_none = |value: Option<ParamValue>| value.unwrap_or_else(|| "none".into());
        let transduction = self.transduction.clone().unwrap_or_else(Self::default_transduction);
        let budget = &self.budget;
        let quota = |(n, seconds): (u64, u64)| format!("{n}/{seconds}").into();
        let mut values: ParamValues = [
            ("budget", or_none(budget.total.map(Into::into))),
            ("queries_per_batch", count(budget.per_batch)),
            ("per_time", or_none(budget.per_time.map(quota))),
            ("queries_per_round", count(budget.queries_per_round)),
            ("strategy", self.query_strategy.name().into()),
            ("submod_weights", self.submod_weights.name().into()),
            ("pairwise_queries", self.pairwise_queries.name().into()),
            ("label_price", or_none(self.label_price.map(Into::into))),
            ("error_price", or_none(self.error_price.map(Into::into))),
            ("price_horizon", or_none(self.price_horizon.map(Into::into))),
            ("pool", count(self.pool)),
            ("exploration_rate", number(self.exploration_rate)),
            ("max_margin_distance", number(self.max_margin_distance)),
            ("novelty", self.novelty.into()),
            ("classifier", self.classifier.name().into()),
            ("graph_weight", number(self.graph_weight)),
            ("c", number(self.c)),
            ("c_inferred", number(self.c_inferred)),
            ("loss", if self.loss == LasvmVariant::Ramp { "ramp" } else { "hinge" }.into()),
            ("class_weight", or_none(self.class_weight.value())),
            ("scale", self.scale.map_or("auto", ScalingName::name).into()),
            ("label_source", self.label_source.name().into()),
            ("ratio", ratio_value(&self.ratio)),
            ("forget", self.forget.to_string().into()),
            ("drift", self.drift.name().into()),
            ("seed", self.seed.into()),
            ("exemplars", count(transduction.exemplars)),
            ("tolerance", number(transduction.tolerance)),
            ("evicted_weight", number(transduction.evicted_weight)),
            ("max_labels", count(self.max_labels)),
            ("max_features", or_none(self.max_features.map(Into::into))),
            ("max_points", count(self.max_points)),
            ("max_open", count(self.max_open)),
            ("max_classes", count(self.max_classes)),
            ("cache_mb", count(self.cache_bytes >> 20)),
        ]
        .into_iter()
        .map(|(name, value)| (name.to_string(), value))
        .collect();
        let kernel = kernel_values(&self.kernel);
        values.extend(kernel.into_iter().map(|(name, value)| (name.to_string(), value)));
        values
    }
}

fn ratio_value(ratio: &Ratio) -> ParamValue {
    match ratio {
        Ratio::Labels => "labels".into(),
        Ratio::Auto => "auto".into(),
        Ratio::Given(shares) => match shares.as_slice() {
            [share] => (*share).into(),
            several => several.to_vec().into(),
        },
    }
}

/// Values of the kernel parameters; those that do not apply to the kernel are the defaults.
fn kernel_values(kernel: &KernelChoice) -> [(&'static str, ParamValue); 4] {
    let width = |gamma: &Gamma| match gamma {
        Gamma::Value(gamma) => (*gamma).into(),
        Gamma::Scale => ParamValue::from("scale"),
        Gamma::Auto => "auto".into(),
    };
    let of = |name: &str, gamma: ParamValue, degree: u32, coef0: f64| {
        [("kernel", name.into()), ("gamma", gamma), ("degree", degree.into()), ("coef0", coef0.into())]
    };
    match kernel {
        KernelChoice::Auto => of("auto", "scale".into(), 3, 1.0),
        KernelChoice::Rbf(gamma) => of("rbf", width(gamma), 3, 1.0),
        KernelChoice::Poly { gamma, degree, coef0 } => of("poly", width(gamma), *degree, *coef0),
        KernelChoice::Fixed(kernel) => match *kernel {
            Kernel::Rbf { gamma } => of("rbf", gamma.into(), 3, 1.0),
            Kernel::Poly { gamma, degree, coef0 } => of("poly", gamma.into(), degree, coef0),
            _ => of("linear", "scale".into(), 3, 1.0),
        },
    }
}

/// Value of every parameter of the table: the given one, or the default.
struct Resolved(BTreeMap<&'static str, ParamValue>);

impl Resolved {
    fn new(values: &ParamValues) -> Result<Self> {
        let names: Vec<&str> = engine_param_specs().map(|spec| spec.name).collect();
        if let Some(unknown) = values.keys().find(|name| !names.contains(&name.as_str())) {
            let allowed = one_of(unknown, &names);
            return Err(Error::Data(format!("the engine has no parameter {unknown}: must be {allowed}")));
        }
        let value = |spec: &'static ParamSpec| match values.get(spec.name) {
            Some(value) => spec.accept(value).map(|value| (spec.name, value)),
            None => spec.default_value().map(|value| (spec.name, value)),
        };
        engine_param_specs().map(value).collect::<Result<_>>().map(Self)
    }

    /// Value of a parameter, converted to a type. The conversion succeeds for every row whose kind matches the type of
    /// its field. A row of another kind is a programming error, which shows as an error when the first engine is
    /// created.
    fn typed<'v, T>(
        &'v self,
        name: &'static str,
        convert: impl FnOnce(&'v ParamValue) -> Option<T>,
    ) -> Result<T> {
        let value = self.0.get(name);
        let shown = || value.map_or_else(|| "nothing".to_string(), ToString::to_string);
        value.and_then(convert).ok_or_else(|| Error::parameter(name, shown(), "a value of another type"))
    }

    fn number(&self, name: &'static str) -> Result<f64> {
        self.typed(name, ParamValue::as_f64)
    }

    fn count(&self, name: &'static str) -> Result<usize> {
        self.typed(name, |value| value.as_u64().and_then(|n| n.try_into().ok()))
    }

    fn flag(&self, name: &'static str) -> Result<bool> {
        self.typed(name, ParamValue::as_bool)
    }

    fn word(&self, name: &'static str) -> Result<&str> {
        self.typed(name, ParamValue::as_str)
    }

    fn parsed<T: FromStr<Err = Error>>(&self, name: &'static str) -> Result<T> {
        self.word(name)?.parse()
    }

    /// `None` if the value is the word `none`, else the parsed value.
    fn parsed_unless<T: FromStr<Err = Error>>(&self, none: &str, name: &'static str) -> Result<Option<T>> {
        let word = self.word(name)?;
        if word == none { Ok(None) } else { word.parse().map(Some) }
    }

    fn optional_count(&self, name: &str) -> Option<u64> {
        self.0.get(name).and_then(ParamValue::as_u64)
    }

    fn optional_number(&self, name: &str) -> Option<f64> {
        self.0.get(name).and_then(ParamValue::as_f64)
    }

    fn quota(&self, name: &str) -> Option<(u64, u64)> {
        let (count, seconds) = self.0.get(name)?.as_str()?.split_once('/')?;
        Some((count.parse().ok()?, seconds.parse().ok()?))
    }

    fn ratio(&self) -> Result<Ratio> {
        self.typed("ratio", |value| match value {
            ParamValue::Text(word) if word == "labels" => Some(Ratio::Labels),
            ParamValue::Text(_) => Some(Ratio::Auto),
            ParamValue::List(shares) => {
                shares.iter().map(ParamValue::as_f64).collect::<Option<_>>().map(Ratio::Given)
            }
            share => share.as_f64().map(|share| Ratio::Given(vec![share])),
        })
    }

    fn class_weight(&self) -> Result<ClassWeight> {
        match self.0.get("class_weight") {
            Some(ParamValue::Text(word)) if word == "none" => Ok(ClassWeight::None),
            value => ClassWeight::from_value(value),
        }
    }

    fn kernel(&self) -> Result<KernelChoice> {
        let gamma = match self.0.get("gamma") {
            Some(ParamValue::Text(word)) => word.parse()?,
            Some(value) => value.as_f64().map_or(Gamma::Scale, Gamma::Value),
            None => Gamma::Scale,
        };
        Ok(match self.word("kernel")? {
            "linear" => KernelChoice::Fixed(Kernel::Linear),
            "poly" => {
                let (degree, coef0) = (self.count("degree")? as u32, self.number("coef0")?);
                KernelChoice::Poly { gamma, degree, coef0 }
            }
            // An explicit width selects the rbf kernel, because a linear kernel has none.
            "auto" if gamma == Gamma::Scale => KernelChoice::Auto,
            _ => KernelChoice::Rbf(gamma),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::{Forgetting, QueryStrategy};

    fn params_of(pairs: &[(&str, &str)]) -> Result<EngineParams> {
        let mut values = ParamValues::new();
        for (name, text) in pairs {
            let spec = engine_param_specs().find(|spec| spec.name == *name).unwrap();
            values.insert((*name).to_string(), spec.parse(text)?);
        }
        EngineParams::from_values(&values)
    }

    #[test]
    fn no_values_give_the_default_parameters() {
        assert_eq!(EngineParams::from_values(&ParamValues::new()).unwrap(), EngineParams::default());
    }

    /// A value other than the default changes the parameters, and `values` returns it.
    #[test]
    fn every_parameter_of_the_table_has_an_effect() {
        let other_value = |spec: &ParamSpec| match spec.kind {
            ParamKind::Float(_) => "0.75".to_string(),
            ParamKind::Integer { .. } => "17".into(),
            ParamKind::Bool => (spec.default == "false").to_string(),
            ParamKind::Choice(words) => words.iter().rfind(|w| **w != spec.default).unwrap().to_string(),
            ParamKind::Gamma | ParamKind::Ratio => "0.3".into(),
            ParamKind::OptionalCount | ParamKind::OptionalFloat(_) => "7".into(),
            ParamKind::Quota => "20/3600".into(),
            ParamKind::ClassWeights => "a=2,b=0.5".into(),
            ParamKind::Rule { counted, .. } => format!("{}=5", counted[0]),
            kind => panic!("{}: no example for {kind}", spec.name),
        };
        for spec in engine_param_specs() {
            let base: &[(&str, &str)] = match spec.name {
                "degree" | "coef0" => &[("kernel", "poly")],
                "label_price" | "error_price" => &[("label_price", "2"), ("error_price", "3")],
                _ => &[],
            };
            let value = other_value(spec);
            let changed = [base, &[(spec.name, value.as_str())]].concat();
            let changed = params_of(&changed).unwrap();
            assert_ne!(changed, params_of(base).unwrap(), "{}", spec.name);
            let values = changed.values();
            assert_eq!(EngineParams::from_values(&values).unwrap(), changed, "{}", spec.name);
            assert_eq!(values.len(), engine_param_specs().count());
            let default = params_of(base).unwrap().values();
            assert_ne!(values[spec.name], default[spec.name], "{}", spec.name);
        }
    }

    #[test]
    fn names_are_unique_and_help_is_one_sentence_without_a_full_stop() {
        let mut names: Vec<&str> = engine_param_specs().map(|spec| spec.name).collect();
        names.sort_unstable();
        let all = names.len();
        names.dedup();
        assert_eq!(names.len(), all);
        for spec in engine_param_specs() {
            assert!(!spec.help.ends_with('.') && !spec.help.contains("  "), "{}: {}", spec.name, spec.help);
            assert!(spec.default_value().is_ok(), "{}", spec.name);
        }
    }

    #[test]
    fn values_reach_their_fields() {
        let params = params_of(&[
            ("strategy", "margin"),
            ("budget", "0"),
            ("per_time", "20/3600"),
            ("forget", "half-life=6"),
            ("scale", "standard"),
            ("kernel", "poly"),
            ("gamma", "auto"),
            ("class_weight", "a=2"),
            ("cache_mb", "1"),
        ])
        .unwrap();
        assert_eq!(params.query_strategy, QueryStrategy::Margin);
        assert_eq!((params.budget.total, params.budget.per_time), (Some(0), Some((20, 3600))));
        assert_eq!(params.forget, Forgetting::HalfLife(6));
        assert_eq!(params.scale, Some(ScalingName::Standard));
        assert_eq!(params.kernel, KernelChoice::Poly { gamma: Gamma::Auto, degree: 3, coef0: 1.0 });
        assert_eq!(params.class_weight, ClassWeight::Explicit([("a".to_string(), 2.0)].into()));
        assert_eq!(params.cache_bytes, 1 << 20);
    }

    #[test]
    fn errors_name_the_parameter_its_value_and_the_allowed_values() {
        for (name, value, allowed) in [
            ("c", ParamValue::from(-1.0), "a number above 0"),
            ("c", "much".into(), "a number above 0"),
            ("strategy", "margins".into(), "did you mean margin?"),
            ("budget", (-1).into(), "none, or a whole number from 0 on"),
            ("per_time", "20/0".into(), "N/SECONDS"),
            ("forget", "window=0".into(), "window=N"),
            ("class_weight", "a=0".into(), "CLASS=WEIGHT"),
            ("drift", "adwim".into(), "did you mean adwin?"),
        ] {
            let values = ParamValues::from([(name.to_string(), value.clone())]);
            let error = EngineParams::from_values(&values).unwrap_err();
            let Error::Parameter { name: named, value: shown, allowed: message, .. } = &error else {
                panic!("{error}")
            };
            assert_eq!((&**named, shown.clone()), (name, value.to_string()), "{error}");
            assert!(message.contains(allowed), "{error}");
        }
        let unknown = ParamValues::from([("strategi".to_string(), "margin".into())]);
        let error = EngineParams::from_values(&unknown).unwrap_err().to_string();
        assert!(error.contains("strategi") && error.contains("did you mean strategy?"), "{error}");
        let round = params_of(&[("queries_per_round", "50"), ("max_open", "40")]).unwrap_err().to_string();
        assert!(round.contains("queries_per_round") && round.contains("at most 40"), "{round}");
    }
}
