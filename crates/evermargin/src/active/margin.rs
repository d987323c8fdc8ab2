//! Margin of a row toward a class, in decision values, for every multi-class scheme.
//!
//! Two classes: y·f. One output per class: half the difference between the output of the class and the largest other
//! output, which is the same for two outputs f and −f. One output per pair: the smallest decision value in favor of the
//! class over its pairs; votes are not used. In each case 1 is the margin and values below 0 are on the wrong side.

use crate::model::{MulticlassScheme, Predictions};

/// The margin of a row with outputs `f` toward `class`, one of `classes`.
pub fn margin_toward(scheme: MulticlassScheme, classes: usize, f: &[f64], class: usize) -> f64 {
    match scheme {
        MulticlassScheme::Binary => f.first().map_or(0.0, |f| if class == 1 { *f } else { -f }),
        MulticlassScheme::OneVsRest => {
            let others = f.iter().enumerate().filter(|(j, _)| *j != class).map(|(_, f)| *f);
            let best = others.fold(f64::NEG_INFINITY, f64::max);
            f.get(class).map_or(0.0, |own| 0.5 * (own - best))
        }
        MulticlassScheme::OneVsOne => {
            let pairs = (0..classes).flat_map(|a| (a + 1..classes).map(move |b| (a, b)));
            let margins = pairs.zip(f).filter_map(|((a, b), f)| match class {
                c if c == a => Some(-f),
                c if c == b => Some(*f),
                _ => None,
            });
            margins.fold(f64::INFINITY, f64::min)
        }
    }
}

/// Distance of each row from the boundary: its margin toward the predicted class, or 0 if pairs contradict each other.
pub fn closeness_of(scheme: MulticlassScheme, classes: usize, predictions: &Predictions) -> Vec<f64> {
    let outputs = predictions.decision.len() / predictions.class.len().max(1);
    let rows = predictions.decision.chunks(outputs.max(1)).zip(&predictions.class);
    rows.map(|(f, c)| margin_toward(scheme, classes, f, *c as usize).max(0.0)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn margins_agree_between_schemes() {
        assert_eq!(margin_toward(MulticlassScheme::Binary, 2, &[0.3], 1), 0.3);
        assert_eq!(margin_toward(MulticlassScheme::Binary, 2, &[0.3], 0), -0.3);
        assert_eq!(margin_toward(MulticlassScheme::OneVsRest, 2, &[-0.3, 0.3], 1), 0.3);
        assert_eq!(margin_toward(MulticlassScheme::OneVsOne, 2, &[0.3], 0), -0.3);
        // pairs (0,1), (0,2), (1,2): positive values favor the second class
        let f = [-1.0, -2.0, 0.5];
        let margins: Vec<f64> = (0..3).map(|c| margin_toward(MulticlassScheme::OneVsOne, 3, &f, c)).collect();
        assert_eq!(margins, [1.0, -1.0, -2.0]);
        assert_eq!(margin_toward(MulticlassScheme::OneVsRest, 3, &[2.0, -1.0, 1.0], 0), 0.5);
    }

    #[test]
    fn closeness_is_never_negative() {
        // a cycle: each class loses one pair
        let p = Predictions { class: vec![0], decision: vec![9.0, -1.0, 2.0], probability: None };
        assert_eq!(closeness_of(MulticlassScheme::OneVsOne, 3, &p), [0.0]);
        let p = Predictions { class: vec![0, 1], decision: vec![-0.25, 2.0], probability: None };
        assert_eq!(closeness_of(MulticlassScheme::Binary, 2, &p), [0.25, 2.0]);
    }
}
