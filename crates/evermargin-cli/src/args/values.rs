//! Parsers of option values: ranges, grids, weights, assignments.

use evermargin::active::pool_size;
use evermargin::estimators::ClassWeight;
use evermargin::estimators::manifold::deformed_kernel::DeformedKernelParams;
use evermargin::metrics::Criterion;
use evermargin::model::MulticlassScheme;
use evermargin::params::{ParamKind, ParamValue, ParamValues};
use evermargin::pipeline::train::{Gamma, ScalingChoice};
use evermargin_io::Format;
use std::collections::BTreeMap;
use std::str::FromStr;

/// A range of rows, counted from 1, both ends included.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rows {
    /// First row.
    pub first: usize,
    /// Last row; none = the last row of the file.
    pub last: Option<usize>,
}

/// Values that `tune` tries for a parameter.
#[derive(Debug, Clone, PartialEq)]
pub enum Grid {
    /// First and last value, evenly spaced on a log scale.
    Range(f64, f64),
    /// The values themselves.
    List(Vec<f64>),
}

impl Grid {
    /// The values, ascending; `points` of them for a range.
    pub fn values(&self, points: usize) -> Vec<f64> {
        match self {
            Self::List(list) => {
                let mut list = list.clone();
                list.sort_by(f64::total_cmp);
                list.dedup();
                list
            }
            Self::Range(from, to) if points < 2 || from == to => vec![(from * to).sqrt()],
            Self::Range(from, to) => {
                let step = (to / from).ln() / (points - 1) as f64;
                (0..points).map(|i| six_digits(from * (step * i as f64).exp())).collect()
            }
        }
    }
}

/// Rounds to six significant digits, so that printed values equal those used.
pub fn six_digits(value: f64) -> f64 {
    format!("{value:.5e}").parse().unwrap_or(value)
}

/// A finite number.
pub fn number(text: &str) -> Result<f64, String> {
    match text.trim().parse::<f64>() {
        Ok(value) if value.is_finite() => Ok(value),
        _ => Err("must be a finite number".into()),
    }
}

/// Parses a word of the core. The error has no parameter name, because clap prints the flag before it.
pub fn word<T: FromStr<Err = evermargin::Error>>(text: &str) -> Result<T, String> {
    text.parse().map_err(|e| match e {
        evermargin::Error::Parameter { allowed, .. } => format!("must be {allowed}"),
        other => other.to_string(),
    })
}

/// A number, `scale` or `auto`.
pub fn gamma(text: &str) -> Result<Gamma, String> {
    word(text)
}

/// `labels`, `auto`, a share, or one share per class.
pub fn ratio(text: &str) -> Result<ParamValue, String> {
    ParamKind::Ratio.parse(text).ok_or_else(|| format!("must be {}", ParamKind::Ratio))
}

/// `none`, or a whole number of 1 or more.
pub fn limit(text: &str) -> Result<ParamValue, String> {
    ParamKind::Limit.parse(text).ok_or_else(|| format!("must be {}", ParamKind::Limit))
}

/// A weight, followed by parameters of the deformed kernel as NAME=VALUE, separated by commas.
pub fn warp(text: &str) -> Result<DeformedKernelParams, String> {
    let mut parts = text.split(',');
    let mut given = ParamValues::new();
    given.insert("ratio".into(), number(parts.next().unwrap_or_default())?.into());
    for part in parts {
        let (name, value) = assignment(part)?;
        if given.insert(name, value.into()).is_some() {
            return Err("a parameter is given twice; the weight comes first, without a name".into());
        }
    }
    DeformedKernelParams::parse(&given).map_err(|e| e.to_string())
}

/// A whole number of 1 or more.
pub fn from_one(text: &str) -> Result<u64, String> {
    whole(1, u64::MAX)(text)
}

/// A whole number in a range; the error names the range.
pub fn whole<T: TryFrom<u64>>(
    min: u64,
    max: u64,
) -> impl Fn(&str) -> Result<T, String> + Clone + Send + Sync + 'static {
    move |text| {
        let digits = text.strip_prefix('+').unwrap_or(text);
        let value = digits.parse::<u64>().ok().filter(|n| (min..=max).contains(n));
        value.and_then(|n| T::try_from(n).ok()).ok_or_else(|| {
            let too_large = !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
            if max <= 100 || (too_large && digits.trim_start_matches('0').len() > 1) {
                format!("must be a whole number from {min} to {max}")
            } else {
                format!("must be a whole number, {min} or more")
            }
        })
    }
}

/// The size of a pool: a number, 0 for all samples, or `auto:P,ETA`.
pub fn pool(text: &str) -> Result<usize, String> {
    let wrong = || "must be a whole number or auto:P,ETA with both between 0 and 1".to_string();
    let Some(shares) = text.strip_prefix("auto:") else { return text.parse().map_err(|_| wrong()) };
    let (p, eta) = shares.split_once(',').ok_or_else(wrong)?;
    pool_size(number(p)?, number(eta)?).map_err(|_| wrong())
}

/// `yes` or `no`.
pub fn yes_or_no(text: &str) -> Result<bool, String> {
    match text {
        "yes" => Ok(true),
        "no" => Ok(false),
        _ => Err("must be yes or no".into()),
    }
}

/// A data format.
pub fn format(text: &str) -> Result<Format, String> {
    Format::from_name(text).ok_or_else(|| {
        let names: Vec<&str> = Format::ALL.iter().map(|f| f.name()).collect();
        format!("must be one of {}", names.join(", "))
    })
}

/// `A..B`, `A..` or `..B`.
pub fn rows(text: &str) -> Result<Rows, String> {
    let wrong = || "must be A..B with rows counted from 1, for example 1..1000 or 501..".to_string();
    let (first, last) = text.split_once("..").ok_or_else(wrong)?;
    let end = |t: &str| -> Result<Option<usize>, String> {
        if t.is_empty() { Ok(None) } else { t.parse().map(Some).map_err(|_| wrong()) }
    };
    let rows = Rows { first: end(first)?.unwrap_or(1), last: end(last)? };
    if rows.first == 0 || rows.last.is_some_and(|last| last < rows.first) {
        return Err(wrong());
    }
    Ok(rows)
}

/// The name of a scaling, or `divide=N`.
pub fn scaling(text: &str) -> Result<ScalingChoice, String> {
    word(text)
}

/// The name of a multiclass scheme.
pub fn multi(text: &str) -> Result<MulticlassScheme, String> {
    word(text)
}

/// `none`, `balanced`, `ratio`, or `A=2,B=1`.
pub fn class_weight(text: &str) -> Result<ClassWeight, String> {
    match text {
        "none" => return Ok(ClassWeight::None),
        "balanced" => return Ok(ClassWeight::Balanced),
        "ratio" => return Ok(ClassWeight::Ratio),
        _ => {}
    }
    let mut map = BTreeMap::new();
    for part in text.split(',') {
        let wrong = || "must be none, balanced, ratio, or CLASS=WEIGHT,… with positive weights".to_string();
        let (class, weight) = part.rsplit_once('=').ok_or_else(wrong)?;
        let weight = number(weight).ok().filter(|w| *w > 0.0).ok_or_else(wrong)?;
        if map.insert(class.trim().to_string(), weight).is_some() {
            return Err(format!("class {} is named twice", class.trim()));
        }
    }
    Ok(ClassWeight::Explicit(map))
}

/// The name of the score for which a threshold is chosen.
pub fn threshold(text: &str) -> Result<Criterion, String> {
    word(text)
}

/// `NAME=VALUE`; the type of the value depends on the parameter.
pub fn assignment(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once('=').ok_or("must be NAME=VALUE")?;
    Ok((name.trim().replace('-', "_"), value.trim().trim_matches('"').into()))
}

/// A parameter and its values to try: `NAME=GRID`. A list may have numbers of any sign.
pub fn axis(text: &str) -> Result<(String, Grid), String> {
    let (name, values) = text.split_once('=').ok_or("must be NAME=GRID")?;
    let wrong = || "must be NAME=FROM..TO with positive numbers, or NAME=A,B,… with any numbers".to_string();
    let grid = match grid(values) {
        Err(_) => {
            let list: Result<Vec<f64>, String> = values.split(',').map(number).collect();
            Grid::List(list.map_err(|_| wrong())?)
        }
        Ok(grid) => grid,
    };
    Ok((name.trim().replace('-', "_"), grid))
}

/// `0.1..100`, `0.1,1,10` or `1`, all positive.
pub fn grid(text: &str) -> Result<Grid, String> {
    let wrong = || "must be FROM..TO or a list A,B,… of positive numbers".to_string();
    let positive = |t: &str| number(t).ok().filter(|v| *v > 0.0).ok_or_else(wrong);
    match text.split_once("..") {
        Some((from, to)) => {
            let (from, to) = (positive(from)?, positive(to)?);
            if from <= to { Ok(Grid::Range(from, to)) } else { Err(wrong()) }
        }
        None => text.split(',').map(positive).collect::<Result<_, _>>().map(Grid::List),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_log_spaced_and_lists_are_sorted() {
        assert_eq!(grid("0.1..100").unwrap().values(4), [0.1, 1.0, 10.0, 100.0]);
        assert_eq!(grid("10,1,10").unwrap().values(9), [1.0, 10.0]);
        assert_eq!(grid("4").unwrap().values(9), [4.0]);
        for wrong in ["", "1..", "-1..2", "2..1", "a", "1,,2", "0"] {
            assert!(grid(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn errors_of_whole_numbers_name_the_range() {
        assert_eq!(whole::<u32>(0, 9)("7"), Ok(7));
        assert_eq!(whole::<u64>(0, u64::MAX)("18446744073709551615"), Ok(u64::MAX));
        for text in ["-1", "2.5", "abc", "", "0"] {
            let error = whole::<usize>(1, u64::MAX)(text).unwrap_err();
            assert_eq!(error, "must be a whole number, 1 or more", "{text}");
        }
        let error = whole::<u32>(0, u32::MAX.into())("99999999999999999999").unwrap_err();
        assert_eq!(error, "must be a whole number from 0 to 4294967295");
        assert_eq!(whole::<u8>(0, 1)("2").unwrap_err(), "must be a whole number from 0 to 1");
    }

    #[test]
    fn rows_are_counted_from_one() {
        assert_eq!(rows("2..5").unwrap(), Rows { first: 2, last: Some(5) });
        assert_eq!(rows("..5").unwrap(), Rows { first: 1, last: Some(5) });
        assert_eq!(rows("7..").unwrap(), Rows { first: 7, last: None });
        for wrong in ["0..5", "5..4", "5", "a..b", "1..-2"] {
            assert!(rows(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn assignments_are_split_at_the_equals_sign() {
        assert_eq!(assignment("max-steps=5").unwrap(), ("max_steps".into(), "5".into()));
        assert_eq!(assignment("kernel=rbf").unwrap(), ("kernel".into(), "rbf".into()));
        assert!(assignment("kernel").is_err());
    }

    #[test]
    fn pools_are_numbers_or_computed_from_probabilities() {
        assert_eq!((pool("59"), pool("0"), pool("auto:0.05,0.05")), (Ok(59), Ok(0), Ok(59)));
        for wrong in ["", "-1", "auto", "auto:", "auto:0.05", "auto:0,0.5", "auto:1,1", "auto:x,0.5"] {
            assert!(pool(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn class_weights_name_each_class_once() {
        let ClassWeight::Explicit(map) = class_weight("a=2,b=0.5").unwrap() else { panic!() };
        assert_eq!((map["a"], map["b"]), (2.0, 0.5));
        for wrong in ["a", "a=0", "a=-1", "a=1,a=2", "a=x"] {
            assert!(class_weight(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn names_of_thresholds_are_parsed_and_printed_alike() {
        for text in ["g-means", "f1", "accuracy", "mcc", "break-even", "rate=0.2"] {
            assert_eq!(threshold(text).unwrap().name(), text);
        }
        for wrong in ["", "auc", "rate=0", "rate=1", "rate=x", "rate"] {
            assert!(threshold(wrong).is_err(), "{wrong}");
        }
        assert_eq!(class_weight("ratio"), Ok(ClassWeight::Ratio));
        assert_eq!(class_weight("none"), Ok(ClassWeight::None));
    }
}
