//! Loops over the specifications of all estimators: every parameter rejects wrong types and values out of range by name,
//! defaults are those of the structs, and values are preserved by a round trip through the structs.

use evermargin::Error;
use evermargin::estimators::{ESTIMATORS, EstimatorParams, EstimatorSpec, estimator};
use evermargin::params::{End, FloatRange, ParamKind, ParamValue, ParamValues};
use evermargin::pipeline::train::{Gamma, TrainOptions};
use std::collections::BTreeSet;

/// Texts that a parameter of this kind must refuse: of another type, then out of range.
pub fn wrong_texts(kind: ParamKind) -> Vec<String> {
    let outside = |range: FloatRange| {
        let below = match range.min {
            End::Unbounded => None,
            End::Open(min) if range.or_zero && min == 0.0 => Some(min - 1.0),
            End::Open(min) => Some(min),
            End::Closed(min) => Some(if min > 0.0 { min / 2.0 } else { min - 1.0 }),
        };
        let above = match range.max {
            End::Unbounded => None,
            End::Open(max) => Some(max),
            End::Closed(max) => Some(if max == 0.0 { 1.0 } else { max * 2.0 }),
        };
        let unusable = ["nan", "inf", "-inf", "1e999"].map(String::from);
        below.into_iter().chain(above).map(|v| format!("{v:e}")).chain(unusable).collect::<Vec<_>>()
    };
    let mut out: Vec<String> = vec![String::new()];
    if kind != ParamKind::Views {
        out.push("no-such-thing".into());
    }
    match kind {
        ParamKind::Float(range) | ParamKind::OptionalFloat(range) => out.extend(outside(range)),
        ParamKind::Integer { min, max } => {
            out.extend([(i128::from(min) - 1).to_string(), "1.5".into(), "nan".into(), "true".into()]);
            let above = if max == i64::MAX { i128::from(u64::MAX) + 1 } else { i128::from(max) + 1 };
            out.push(above.to_string());
        }
        ParamKind::Limit => out.extend(["0", "-1", "1.5", "nan", "None"].map(String::from)),
        ParamKind::Bool => out.extend(["1".into(), "yes".into()]),
        ParamKind::Choice(_) => out.extend(["1".into(), "true".into()]),
        ParamKind::Gamma => out.extend(outside(FloatRange::POSITIVE)),
        ParamKind::Ratio => {
            out.extend(outside(FloatRange::UNIT_OPEN));
            out.push("0.5,1.5".into());
        }
        ParamKind::Views => out.extend(["0..2".into(), "3..1".into(), "1.5".into()]),
        ParamKind::Kernels => out.extend(["cubic".into(), "rbf=0".into(), "1".into()]),
        ParamKind::PerView(range) => {
            out.extend(outside(range));
            out.push("1,x".into());
        }
        ParamKind::OptionalCount => out.extend(["-1", "1.5", "nan", "None"].map(String::from)),
        ParamKind::Quota => out.extend(["5", "5/0", "-1/5"].map(String::from)),
        ParamKind::ClassWeights => out.extend(["a=0", "a=1,a=2", "1"].map(String::from)),
        ParamKind::Rule { counted, .. } => out.extend(counted.iter().map(|name| format!("{name}=0"))),
    }
    out
}

fn names(error: &Error, name: &str, text: &str) -> bool {
    matches!(error, Error::Parameter { name: n, value, allowed } if *n == name && value == text && !allowed.is_empty())
}

#[test]
fn every_parameter_of_every_estimator_refuses_wrong_texts_by_name() {
    let mut tried = 0;
    for spec in ESTIMATORS {
        for param in spec.params {
            for text in wrong_texts(param.kind) {
                let error = TrainOptions::new(spec.name).parse(param.name, &text).unwrap_err();
                assert!(names(&error, param.name, &text), "{} {}={text}: {error}", spec.name, param.name);
                let message = error.to_string();
                assert!(!message.contains("--"), "{message}");
                assert!(message.starts_with(&format!("parameter {} = ", param.name)), "{message}");
                tried += 1;
            }
        }
    }
    assert!(tried > 2000, "{tried}");
}

#[test]
fn every_parameter_of_every_estimator_refuses_wrong_typed_values_by_name() {
    for spec in ESTIMATORS {
        for param in spec.params {
            let mut wrong = vec![ParamValue::Map(ParamValues::new()), ParamValue::List(Vec::new())];
            if param.kind != ParamKind::Bool {
                wrong.push(true.into());
            }
            match param.kind {
                ParamKind::Float(_) | ParamKind::Integer { .. } | ParamKind::Limit | ParamKind::Bool => {
                    wrong.push("word".into());
                }
                ParamKind::Choice(_) | ParamKind::Kernels => wrong.push(1.0.into()),
                ParamKind::Views => wrong.push("0..2".into()),
                _ => wrong.push("neither".into()),
            }
            if param.kind.is_numeric() {
                wrong.extend([f64::NAN.into(), f64::INFINITY.into(), f64::NEG_INFINITY.into()]);
            }
            for value in wrong {
                let given = ParamValues::from([(param.name.to_string(), value.clone())]);
                let error = spec.make(&given).unwrap_err();
                let named = matches!(&error, Error::Parameter { name, .. } if *name == param.name);
                assert!(named, "{} {} = {value:?}: {error}", spec.name, param.name);
            }
        }
    }
}

/// Default values of the specification, with a number for the kernel width.
fn specification_defaults(spec: &EstimatorSpec) -> ParamValues {
    let mut values = spec.complete(&ParamValues::new()).unwrap();
    if let Some(gamma) = values.get_mut("gamma") {
        *gamma = 1.0.into();
    }
    values
}

#[test]
fn defaults_of_specifications_equal_defaults_of_structs() {
    for spec in ESTIMATORS {
        let made = spec.make(&ParamValues::new()).unwrap();
        assert_eq!(made, spec.make(&specification_defaults(spec)).unwrap(), "{}", spec.name);
        assert_eq!(made.spec().name, spec.name);
        let default = default_of(&made);
        assert_eq!(made, default, "{}: a default of the specification is not that of the struct", spec.name);
    }
}

/// Default of the struct as a variant of `EstimatorParams`. Fields in which a specification differs from the default of a
/// struct that several estimators share are copied from `made`.
fn default_of(made: &EstimatorParams) -> EstimatorParams {
    use EstimatorParams as E;
    use evermargin::estimators::manifold::lap;
    use evermargin::estimators::med::LabelsOnly;
    use evermargin::estimators::multiview::colap;
    use evermargin::estimators::online::lasvm::LasvmParams;
    let lasvm =
        |p: &LasvmParams| LasvmParams { variant: p.variant, finish: p.finish, ..LasvmParams::default() };
    match made {
        E::Auto(_) => E::Auto(Default::default()),
        E::Svc(_) => E::Svc(Default::default()),
        E::Lasvm(p) => E::Lasvm(lasvm(p)),
        E::LasvmG(p) => E::LasvmG(lasvm(p)),
        E::LasvmNc(p) => E::LasvmNc(lasvm(p)),
        E::LasvmI(p) => E::LasvmI(lasvm(p)),
        E::LocalSvc(p) => E::LocalSvc(lasvm(p)),
        E::FullSvm(p) => E::FullSvm(lasvm(p)),
        E::RampSvc(_) => E::RampSvc(Default::default()),
        E::OneClass(_) => E::OneClass(Default::default()),
        E::Linear(_) => E::Linear(Default::default()),
        E::Rls(_) => E::Rls(Default::default()),
        E::LinearTsvm(_) => E::LinearTsvm(Default::default()),
        E::LinearDa(_) => E::LinearDa(Default::default()),
        E::Tsvm(_) => E::Tsvm(Default::default()),
        E::GradTsvm(_) => E::GradTsvm(Default::default()),
        E::Da(_) => E::Da(Default::default()),
        E::CccpS3vm(_) => E::CccpS3vm(Default::default()),
        E::BnbS3vm(_) => E::BnbS3vm(Default::default()),
        E::Lapsvm(p) => E::Lapsvm(lap::LapParams { loss: p.loss, ..Default::default() }),
        E::Laprls(p) => E::Laprls(lap::LapParams { loss: p.loss, ..Default::default() }),
        E::SeqMed(_) => {
            E::SeqMed(LabelsOnly(evermargin::estimators::med::MedParams::default().labels_alone()))
        }
        E::SeqLapmed(_) => E::SeqLapmed(Default::default()),
        E::Corls(_) => E::Corls(Default::default()),
        E::Colapsvm(p) => E::Colapsvm(colap::CoLapParams { loss: p.loss, ..Default::default() }),
        E::Colaprls(p) => E::Colaprls(colap::CoLapParams { loss: p.loss, ..Default::default() }),
        E::SparseLap(_) => E::SparseLap(Default::default()),
        E::LabelPropagation(_) => E::LabelPropagation(Default::default()),
        E::SubmodS3vm(_) => E::SubmodS3vm(Default::default()),
        E::QpS3vm(_) => E::QpS3vm(Default::default()),
        E::Perceptron(_) => E::Perceptron(Default::default()),
        E::Cotraining(_) => E::Cotraining(Default::default()),
        E::Parzen(_) => E::Parzen(Default::default()),
    }
}

/// A valid value that is not the default.
fn valid_value_unlike(kind: ParamKind, default: &ParamValue) -> ParamValue {
    let inside = |range: &FloatRange| {
        let tries = [0.25, 0.75, 2.0, -0.5, -0.25, 1e-3, 0.9];
        tries.into_iter().find(|v| range.contains(*v) && default.as_f64() != Some(*v)).unwrap()
    };
    match kind {
        ParamKind::Float(range) | ParamKind::OptionalFloat(range) => inside(&range).into(),
        ParamKind::PerView(range) => vec![inside(&range), 1.0].into(),
        ParamKind::Integer { min, .. } => {
            let value = i128::from(min) + 3;
            ParamValue::Integer(if default.as_integer() == Some(value) { value + 1 } else { value })
        }
        ParamKind::Limit | ParamKind::OptionalCount => ParamValue::Integer(7),
        ParamKind::Bool => (default.as_bool() == Some(false)).into(),
        ParamKind::Choice(words) => (*words.iter().find(|w| default.as_str() != Some(w)).unwrap()).into(),
        ParamKind::Gamma => 0.125.into(),
        ParamKind::Ratio => vec![0.25, 0.25, 0.5].into(),
        ParamKind::Views => "1..2;3".into(),
        ParamKind::Kernels => "linear;rbf=0.5".into(),
        ParamKind::Quota => "20/3600".into(),
        ParamKind::ClassWeights => "balanced".into(),
        ParamKind::Rule { counted, .. } => format!("{}=5", counted[0]).as_str().into(),
    }
}

#[test]
fn every_parameter_value_survives_a_round_trip_through_the_struct() {
    for spec in ESTIMATORS {
        let plain = spec.make(&ParamValues::new()).unwrap();
        for param in spec.params {
            let value = valid_value_unlike(param.kind, &param.default_value().unwrap());
            let mut given = ParamValues::from([(param.name.to_string(), value.clone())]);
            if ["degree", "coef0"].contains(&param.name) {
                given.insert("kernel".into(), "poly".into()); // only this kernel has the parameter
            } else if param.name == "gamma" {
                given.insert("kernel".into(), "rbf".into());
            }
            let made = spec.make(&given).unwrap();
            assert_ne!(made, plain, "{} {} = {value} changes nothing", spec.name, param.name);
            let values = made.values().unwrap();
            assert_eq!(values[param.name], value, "{} {}", spec.name, param.name);
            assert_eq!(made, spec.make(&values).unwrap(), "{} {}", spec.name, param.name);
            let bytes = rmp_serde::to_vec_named(&made).unwrap();
            assert_eq!(made, rmp_serde::from_slice(&bytes).unwrap(), "{} {}", spec.name, param.name);
            let text = value.to_string();
            assert_eq!(param.parse(&text).unwrap(), value, "{} {}={text}", spec.name, param.name);
        }
    }
}

#[test]
fn refuses_serialized_parameters_with_unknown_names_or_wrong_values() {
    let read = |text: &str| serde_json::from_str::<EstimatorParams>(text).map_err(|e| e.to_string());
    assert!(read(r#"{"estimator": "svc", "params": {"c": 2}}"#).is_ok());
    for (text, says) in [
        (r#"{"estimator": "svm", "params": {}}"#, "did you mean svc?"),
        (r#"{"estimator": "svc", "params": {"nu": 0.5}}"#, "has no parameter nu"),
        (
            r#"{"estimator": "svc", "params": {"c": -2}}"#,
            "parameter c = -2: must be a number above 0, at most 1e15",
        ),
        (r#"{"estimator": "svc", "params": {"c": "two"}}"#, "parameter c = two"),
        (r#"{"estimator": "svc", "params": {}, "more": 1}"#, "more"),
    ] {
        let error = read(text).unwrap_err();
        assert!(error.contains(says), "{text}: {error}");
    }
}

#[test]
fn unknown_names_are_refused_with_a_suggestion() {
    let error = estimator("svm").unwrap_err().to_string();
    assert!(error.starts_with("parameter learner = svm: must be one of auto, svc, "), "{error}");
    assert!(error.ends_with("(did you mean svc?)"), "{error}");
    let svc = estimator("svc").unwrap();
    let wrong = |name: &str, value: ParamValue| {
        svc.make(&ParamValues::from([(name.to_string(), value)])).unwrap_err().to_string()
    };
    let error = wrong("gama", 1.0.into());
    assert!(error.starts_with("learner svc has no parameter gama: must be one of kernel, gamma,"), "{error}");
    assert!(error.ends_with("(did you mean gamma?)"), "{error}");
    let error = wrong("kernel", "rbg".into());
    assert!(error.contains("kernel = rbg") && error.ends_with("(did you mean rbf?)"), "{error}");
    assert_eq!(wrong("c", "big".into()), "parameter c = big: must be a number above 0, at most 1e15");
}

#[test]
fn kernel_parameters_are_flat_and_gamma_is_a_training_option() {
    let given = ParamValues::from([
        ("kernel".to_string(), "poly".into()),
        ("gamma".to_string(), 2.0.into()),
        ("degree".to_string(), 4.0.into()),
    ]);
    let made = estimator("svc").unwrap().make(&given).unwrap();
    assert!(format!("{made:?}").contains("Poly { gamma: 2.0, coef0: 0.0, degree: 4 }"), "{made:?}");
    let mut options = TrainOptions::new("svc");
    for (text, gamma) in [("0.5", Gamma::Value(0.5)), ("auto", Gamma::Auto), ("scale", Gamma::Scale)] {
        options.parse("gamma", text).unwrap();
        assert_eq!((options.gamma, options.params.len()), (Some(gamma), 0));
    }
    assert!(options.parse("gamma", "0").is_err());
}

#[test]
fn parameter_names_are_unambiguous_and_parameters_have_help() {
    for name in ["nu", "weights", "bias", "scaling", "forget", "neighbors", "basis"] {
        let users: Vec<&str> = ESTIMATORS.iter().filter(|e| e.takes(name)).map(|e| e.name).collect();
        let expected: &[&str] = if name == "nu" { &["one-class"] } else { &[] };
        assert_eq!(users, expected, "{name}");
    }
    let all: BTreeSet<&str> = ESTIMATORS.iter().map(|e| e.name).collect();
    assert_eq!(all.len(), ESTIMATORS.len());
    let baselines: Vec<&str> = ESTIMATORS.iter().filter(|e| e.baseline).map(|e| e.name).collect();
    assert_eq!(baselines, ["full-svm", "perceptron", "cotraining", "parzen"]);
    assert!(ESTIMATORS.iter().all(|e| e.params.iter().all(|p| !p.help.is_empty())));
}
