//! Validation of classifiers and their parts, because files can have any contents.

use crate::formats::text;
use evermargin::model::{Calibration, Classifier, Column, InputSpec, MulticlassScheme, Scaling};

/// Returns an error for a classifier whose parts contradict each other; the message names them.
pub fn check(classifier: &Classifier) -> Result<(), String> {
    classifier.model.check().map_err(|e| e.to_string())?;
    let (outputs, cols) = (classifier.model.outputs(), classifier.model.cols());
    check_classes(&classifier.classes, classifier.scheme, outputs)?;
    check_scaling(&classifier.scaling, cols)?;
    check_input(&classifier.input, cols)?;
    let given = classifier.calibration.len();
    if given != 0 && given != outputs {
        return Err(format!("{given} calibrations for {outputs} decision functions"));
    }
    classifier.calibration.iter().try_for_each(check_calibration)
}

pub(crate) fn check_classes(
    names: &[String],
    scheme: MulticlassScheme,
    outputs: usize,
) -> Result<(), String> {
    let classes = names.len();
    if classes < 2 {
        return Err(format!("{classes} classes; a classifier has at least two"));
    }
    let mut names: Vec<&String> = names.iter().collect();
    names.sort_unstable();
    if let Some([twice, ..]) = names.windows(2).find(|w| w[0] == w[1]) {
        return Err(format!("class '{twice}' is listed twice"));
    }
    let (name, needed) = match scheme {
        MulticlassScheme::Binary if classes != 2 => {
            return Err(format!("{classes} classes; a binary classifier has two"));
        }
        MulticlassScheme::Binary => ("binary", 1),
        MulticlassScheme::OneVsRest => ("one-vs-rest", classes),
        MulticlassScheme::OneVsOne => ("one-vs-one", classes.saturating_mul(classes - 1) / 2),
    };
    if outputs != needed {
        return Err(format!(
            "{name} over {classes} classes needs {needed} decision functions, found {outputs}"
        ));
    }
    Ok(())
}

pub(crate) fn check_scaling(scaling: &Scaling, cols: usize) -> Result<(), String> {
    let vectors: &[(&str, &Vec<f64>, bool)] = match scaling {
        Scaling::None | Scaling::Unit => &[],
        Scaling::Affine { shift, factor, .. } => &[("shift", shift, true), ("factor", factor, false)],
        Scaling::Tfidf { idf } => &[("idf", idf, false)],
    };
    for (name, vector, may_be_empty) in vectors {
        if vector.len() != cols && !(*may_be_empty && vector.is_empty()) {
            return Err(format!("scaling: {name} has {} values for {cols} columns", vector.len()));
        }
        if vector.iter().any(|v| !v.is_finite()) {
            return Err(format!("scaling: {name} must be finite"));
        }
    }
    Ok(())
}

/// Returns an error for a description of the input that contradicts itself or the number of features, `cols`.
pub(crate) fn check_input(input: &InputSpec, cols: usize) -> Result<(), String> {
    check_columns(&input.columns, cols)?;
    if input.optional_columns > input.columns.len() {
        let (optional, all) = (input.optional_columns, input.columns.len());
        return Err(format!("{optional} of its {all} columns may be missing"));
    }
    let labels = input.files.iter().map(|f| &f.label).chain([&input.label]);
    if labels.flatten().any(|label| label.index == 0) {
        return Err("the label is in column 0; columns are counted from 1".into());
    }
    let bases = input.files.iter().map(|f| f.index_base).chain([input.index_base]);
    if let Some(base) = bases.flatten().find(|base| *base > 1) {
        return Err(format!("columns of LIBSVM text are counted from {base}; must be 0 or 1"));
    }
    if input.files.is_empty() {
        return Ok(());
    }
    let sum = |of: fn(&evermargin::model::ViewFile) -> usize| {
        input.files.iter().try_fold(0usize, |sum, f| sum.checked_add(of(f)))
    };
    if sum(|f| f.features) != Some(cols) || sum(|f| f.columns) != Some(input.columns.len()) {
        return Err("its view files have other features or columns than the model".into());
    }
    Ok(())
}

pub(crate) fn check_columns(columns: &[Column], cols: usize) -> Result<(), String> {
    if columns.is_empty() {
        return Ok(());
    }
    let mut features = 0;
    for column in columns {
        match column {
            Column::Number { .. } => {}
            Column::Category { name, values } => {
                if values.windows(2).any(|w| w[0] >= w[1]) {
                    return Err(format!("column '{name}': its values must be sorted and distinct"));
                }
            }
            Column::Text { name, buckets, documents, frequency } => {
                text::check_buckets(*buckets as usize).map_err(|what| format!("column '{name}': {what}"))?;
                let sorted = frequency.windows(2).all(|w| w[0].0 < w[1].0);
                let known = frequency.iter().all(|(b, n)| b < buckets && (1..=*documents).contains(n));
                if !sorted || !known {
                    return Err(format!("column '{name}': its buckets must be sorted, distinct and counted"));
                }
            }
        }
        features += column.features();
    }
    if features != cols {
        return Err(format!("the columns make {features} features, but the model has {cols}"));
    }
    Ok(())
}

fn check_calibration(calibration: &Calibration) -> Result<(), String> {
    match calibration {
        Calibration::Sigmoid { a, b } if a.is_finite() && b.is_finite() && *a <= 0.0 => Ok(()),
        Calibration::Sigmoid { .. } => Err("calibration: a must be finite and at most 0, b finite".into()),
        Calibration::Isotonic { at, probability } => {
            let finite = at.iter().all(|v| v.is_finite());
            let rising = at.windows(2).all(|w| w[0] <= w[1]) && probability.windows(2).all(|w| w[0] <= w[1]);
            let bounded = probability.iter().all(|p| (0.0..=1.0).contains(p));
            if at.is_empty() || at.len() != probability.len() || !finite || !rising || !bounded {
                return Err("calibration: knots must rise, one probability from 0 to 1 each".into());
            }
            Ok(())
        }
    }
}
