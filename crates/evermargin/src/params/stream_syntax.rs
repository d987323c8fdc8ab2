//! The syntax of stream parameters: class weights, a count per time span, a rule with a count.

use super::{ParamValue, ParamValues};

/// The largest weight of a class.
const MAX_WEIGHT: f64 = 1e15;

/// `none`, `balanced`, `ratio`, or CLASS=WEIGHT separated by commas, each class once. A class name may contain `=`.
pub(super) fn class_weights(text: &str) -> Option<ParamValue> {
    if ["none", "balanced", "ratio"].contains(&text) {
        return Some(text.into());
    }
    let mut weights = ParamValues::new();
    for part in text.split(',') {
        let (class, weight) = part.rsplit_once('=')?;
        let weight: f64 = weight.trim().parse().ok()?;
        if weights.insert(class.trim().to_string(), weight.into()).is_some() {
            return None;
        }
    }
    weights_in_range(&weights).then(|| weights.into())
}

/// Whether all weights are positive and not too large.
pub(super) fn weights_in_range(weights: &ParamValues) -> bool {
    weights.values().all(|w| w.as_f64().is_some_and(|w| w > 0.0 && w <= MAX_WEIGHT))
}

/// Whether a text is N/SECONDS with at least one second.
pub(super) fn quota(text: &str) -> bool {
    let parts = text.split_once('/');
    parts.is_some_and(|(n, s)| n.parse::<u64>().is_ok() && s.parse::<u64>().is_ok_and(|s| s > 0))
}

/// Whether a text is NAME=N with one of the names and N ≥ 1.
pub(super) fn rule(text: &str, names: &[&str]) -> bool {
    let parts = text.split_once('=');
    parts.is_some_and(|(name, n)| names.contains(&name) && n.parse::<u64>().is_ok_and(|n| n > 0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn class_weights_name_each_class_once_with_a_positive_number() {
        let two = ParamValues::from([("a=b".to_string(), 2.0.into()), ("c".to_string(), 0.5.into())]);
        assert_eq!(class_weights("a=b=2, c=0.5"), Some(two.into()));
        assert_eq!(class_weights("ratio"), Some("ratio".into()));
        for wrong in ["", "a", "a=0", "a=-1", "a=1,a=2", "a=x", "a=inf", "a=nan", "a=1e16"] {
            assert_eq!(class_weights(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn quotas_have_a_count_and_seconds() {
        assert!(quota("20/3600") && quota("0/1"));
        for wrong in ["", "20", "20/0", "/5", "5/", "-1/5", "1.5/2"] {
            assert!(!quota(wrong), "{wrong}");
        }
    }

    #[test]
    fn rules_have_a_known_name_and_a_positive_count() {
        assert!(rule("window=5", &["window"]));
        for wrong in ["window", "window=0", "window=", "other=5", "window=-1", "=5"] {
            assert!(!rule(wrong, &["window"]), "{wrong}");
        }
    }
}
