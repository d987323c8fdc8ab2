//! Parameters on the command line: all specifications through the parser that `--set` uses, a sample of them through the
//! program, and `tune --over` for every numeric parameter.

use crate::shell::Shell;
use evermargin::estimators::{ESTIMATORS, estimator};
use evermargin::params::ParamKind;
use evermargin::pipeline::train::TrainOptions;
use std::collections::BTreeMap;

const ROWS: &str = "a,b,label\n1,2,x\n2,1,x\n3,4,x\n8,9,y\n9,8,y\n7,9,y\n";

/// Two invalid texts for parameters of a kind: of another type, and out of range.
fn invalid_texts(kind: ParamKind) -> [&'static str; 2] {
    match kind {
        ParamKind::Integer { .. } | ParamKind::OptionalCount => ["many", "-1"],
        ParamKind::OptionalFloat(_) => ["much", "-1"],
        ParamKind::Limit => ["many", "0"],
        ParamKind::Quota => ["5", "5/0"],
        ParamKind::ClassWeights => ["5", "a=0"],
        ParamKind::Rule { .. } => ["5", "window=0"],
        ParamKind::Bool => ["yes", "2"],
        ParamKind::Choice(_) => ["5", "nothing"],
        ParamKind::Views => ["1.5", "0..2"],
        ParamKind::Kernels => ["5", "rbf=0"],
        ParamKind::Float(_) | ParamKind::Gamma | ParamKind::Ratio | ParamKind::PerView(_) => {
            ["word", "1e999"]
        }
    }
}

#[test]
fn every_parameter_refuses_a_wrong_type_and_a_value_out_of_range_by_name() {
    for spec in ESTIMATORS {
        for param in spec.params {
            for text in invalid_texts(param.kind) {
                let error = TrainOptions::new(spec.name).parse(param.name, text).unwrap_err().to_string();
                let expected = format!("parameter {} = {text}: must be ", param.name);
                assert!(error.starts_with(&expected), "{} {}={text}: {error}", spec.name, param.name);
            }
        }
    }
}

#[test]
fn the_program_refuses_one_parameter_of_each_kind_by_name() {
    let shell = Shell::new();
    shell.write("d.csv", ROWS);
    let mut kinds = BTreeMap::new();
    for spec in ESTIMATORS {
        for param in spec.params {
            kinds.entry(param.kind.type_name()).or_insert((spec.name, param));
        }
    }
    assert_eq!(kinds.len(), 10, "{:?}", kinds.keys());
    for (learner, param) in kinds.into_values() {
        for text in invalid_texts(param.kind) {
            let output = shell.run(&format!("fit d.csv --learner {learner} --set {}={text}", param.name));
            assert_eq!(output.code, 2, "{learner} {}={text}: {}", param.name, output.err);
            let expected = format!("parameter {} = {text}: must be ", param.name);
            assert!(output.err.contains(&expected), "{learner} {}={text}: {}", param.name, output.err);
        }
    }
}

#[test]
fn tune_over_accepts_exactly_the_numeric_parameters() {
    let shell = Shell::new();
    // The grid is checked before files are read: an accepted grid ends with the error of the missing file.
    let mut tried = std::collections::BTreeSet::new();
    for spec in ESTIMATORS.iter().filter(|e| !e.one_class) {
        for param in spec.params {
            if !tried.insert((param.name, param.kind.type_name())) {
                continue;
            }
            let value = match param.kind {
                ParamKind::Integer { min, .. } => (min + 2).to_string(),
                ParamKind::Limit => "3".into(),
                ParamKind::Float(range) => {
                    let tries = [0.5, 2.0, -0.5, 1e-3];
                    tries.into_iter().find(|v| range.contains(*v)).map(|v| v.to_string()).unwrap_or_default()
                }
                _ => "0.5".into(),
            };
            let output =
                shell.run(&format!("tune missing.csv --learner {} --over {}={value}", spec.name, param.name));
            if param.kind.is_numeric() {
                assert!(
                    output.err.contains("missing.csv"),
                    "{} {}={value}: {}",
                    spec.name,
                    param.name,
                    output.err
                );
                assert_eq!(output.code, 1, "{} {}: {}", spec.name, param.name, output.err);
            } else {
                assert!(
                    output.err.contains(&format!("--over {}: not a number", param.name)),
                    "{}",
                    output.err
                );
                assert_eq!(output.code, 2, "{} {}: {}", spec.name, param.name, output.err);
            }
        }
    }
    let output = shell.run("tune missing.csv --learner svc --over cache_bytes=-1");
    assert!(
        output.err.contains("parameter cache_bytes = -1: must be a whole number from 0 on"),
        "{}",
        output.err
    );
    assert!(estimator("svc").unwrap().takes("cache_bytes"));
}
