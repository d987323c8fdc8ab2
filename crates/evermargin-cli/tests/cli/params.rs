//! Parameters on the command line: the loop over all specifications through the parser that `--set` uses, a sample of
//! them through the program, and `tune --over` for every numeric parameter.

use crate::shell::Shell;
use evermargin::estimators::{ESTIMATORS, estimator};
use evermargin::params::ParamKind;
use evermargin::pipeline::train::TrainOptions;
use std::collections::BTreeMap;

const ROWS: &str = "a,b,label\n1,2,x\n2,1,x\n3,4,x\n8,9,y\n9,8,y\n7,9,y\n";

/// A text that every parameter of a kind refuses: one of another type, one out of range.
fn wrong(kind: ParamKind) -> [&'static str; 2] {
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
            for text in wrong(param.kind) {
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
        for text in wrong(param.kind) {
            let said = shell.run(&format!("fit d.csv --learner {learner} --set {}={text}", param.name));
            assert_eq!(said.code, 2, "{learner} {}={text}: {}", param.name, said.err);
            let expected = format!("parameter {} = {text}: must be ", param.name);
            assert!(said.err.contains(&expected), "{learner} {}={text}: {}", param.name, said.err);
        }
    }
}

#[test]
fn tune_over_takes_every_numeric_parameter_and_refuses_the_others() {
    let shell = Shell::new();
    // No file is read before the grid is known: a grid that is taken ends with the missing file.
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
            let said =
                shell.run(&format!("tune missing.csv --learner {} --over {}={value}", spec.name, param.name));
            if param.kind.is_numeric() {
                assert!(
                    said.err.contains("missing.csv"),
                    "{} {}={value}: {}",
                    spec.name,
                    param.name,
                    said.err
                );
                assert_eq!(said.code, 1, "{} {}: {}", spec.name, param.name, said.err);
            } else {
                assert!(
                    said.err.contains(&format!("--over {}: it is no number", param.name)),
                    "{}",
                    said.err
                );
                assert_eq!(said.code, 2, "{} {}: {}", spec.name, param.name, said.err);
            }
        }
    }
    let said = shell.run("tune missing.csv --learner svc --over cache_bytes=-1");
    assert!(
        said.err.contains("parameter cache_bytes = -1: must be a whole number from 0 on"),
        "{}",
        said.err
    );
    assert!(estimator("svc").unwrap().takes("cache_bytes"));
}
