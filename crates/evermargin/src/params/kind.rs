//! Kinds of parameters: accepted values, parsing from text, and descriptions.

use super::ParamValue;
use super::step_limit::NONE;
use super::stream_syntax::{class_weights, quota, rule, weights_in_range};
use super::view_syntax::{is_kernel_list, is_view_list};
use std::fmt;

/// One end of a range.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum End {
    /// No limit except that numbers are finite.
    Unbounded,
    /// The limit itself is not allowed.
    Open(f64),
    /// The limit itself is allowed.
    Closed(f64),
}

/// A range of finite numbers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FloatRange {
    /// The lower end.
    pub min: End,
    /// The upper end.
    pub max: End,
    /// Whether 0 is also allowed, as a value with the meaning "choose automatically".
    pub or_zero: bool,
}

impl FloatRange {
    /// Every finite number.
    pub const ANY: Self = Self::new(End::Unbounded, End::Unbounded);
    /// Every finite number above 0.
    pub const POSITIVE: Self = Self::new(End::Open(0.0), End::Unbounded);
    /// 0 and every finite number above it.
    pub const NOT_NEGATIVE: Self = Self::new(End::Closed(0.0), End::Unbounded);
    /// Between 0 and 1, both excluded.
    pub const UNIT_OPEN: Self = Self::new(End::Open(0.0), End::Open(1.0));

    /// The numbers between two ends.
    pub const fn new(min: End, max: End) -> Self {
        Self { min, max, or_zero: false }
    }

    /// The numbers above `min`, up to and including `max`.
    pub const fn above(min: f64, max: f64) -> Self {
        Self::new(End::Open(min), End::Closed(max))
    }

    /// The numbers from `min` to `max`, both included.
    pub const fn closed(min: f64, max: f64) -> Self {
        Self::new(End::Closed(min), End::Closed(max))
    }

    /// The same range and 0.
    #[must_use]
    pub const fn or_zero(self) -> Self {
        Self { or_zero: true, ..self }
    }

    /// Whether a number is in the range.
    pub fn contains(&self, value: f64) -> bool {
        let above = match self.min {
            End::Unbounded => true,
            End::Open(min) => value > min,
            End::Closed(min) => value >= min,
        };
        let below = match self.max {
            End::Unbounded => true,
            End::Open(max) => value < max,
            End::Closed(max) => value <= max,
        };
        value.is_finite() && (above && below || self.or_zero && value == 0.0)
    }
}

/// For example "a number above 0, at most 1e15".
impl fmt::Display for FloatRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = |value: f64| match value.abs() {
            size if size >= 1e6 || (size > 0.0 && size < 1e-4) => format!("{value:e}"),
            _ => value.to_string(),
        };
        if self.or_zero {
            f.write_str("0 or ")?;
        }
        match (self.min, self.max) {
            (End::Unbounded, End::Unbounded) => return f.write_str("a finite number"),
            (End::Open(min), End::Open(max)) => {
                return write!(f, "a number between {} and {} (both excluded)", shown(min), shown(max));
            }
            (End::Closed(min), End::Closed(max)) => {
                return write!(f, "a number from {} to {}", shown(min), shown(max));
            }
            (End::Open(min), _) => write!(f, "a number above {}", shown(min))?,
            (End::Closed(min), _) => write!(f, "a number from {} on", shown(min))?,
            (End::Unbounded, _) => f.write_str("a number")?,
        }
        match (self.min, self.max) {
            (_, End::Unbounded) => Ok(()),
            (End::Unbounded, End::Open(max)) => write!(f, " below {}", shown(max)),
            (End::Unbounded, End::Closed(max)) => write!(f, " up to {}", shown(max)),
            (_, End::Open(max)) => write!(f, ", below {}", shown(max)),
            (_, End::Closed(max)) => write!(f, ", at most {}", shown(max)),
        }
    }
}

/// The values that a parameter accepts.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum ParamKind {
    /// A number in a range.
    Float(FloatRange),
    /// An integer, both ends allowed.
    Integer {
        /// Lowest allowed value.
        min: i64,
        /// Highest allowed value.
        max: i64,
    },
    /// A limit on a count: `none`, or an integer of 1 or more.
    Limit,
    /// True or false.
    Bool,
    /// One of these words.
    Choice(&'static [&'static str]),
    /// The width of a kernel: a positive number, `scale` or `auto`.
    Gamma,
    /// The fraction of positives among unlabeled rows: `labels`, `auto`, a number, or one number per class.
    Ratio,
    /// The columns of each view.
    Views,
    /// The kernel of each view.
    Kernels,
    /// One number for all views, or one per view.
    PerView(FloatRange),
    /// `none`, or an integer of 0 or more.
    OptionalCount,
    /// `none`, or a number in a range.
    OptionalFloat(FloatRange),
    /// `none`, or a count per time span, N/SECONDS.
    Quota,
    /// Weights of classes: `none`, `balanced`, `ratio`, or one per class by name.
    ClassWeights,
    /// One of several words, or NAME=N with N ≥ 1.
    Rule {
        /// Words without a count.
        words: &'static [&'static str],
        /// Names followed by a count.
        counted: &'static [&'static str],
    },
}

/// The counts that a limit accepts.
const AT_LEAST_ONE: ParamKind = ParamKind::Integer { min: 1, max: i64::MAX };

/// The counts that an optional count accepts.
const ANY_COUNT: ParamKind = ParamKind::Integer { min: 0, max: i64::MAX };

impl ParamKind {
    /// Whether a value may be a single number.
    pub fn is_numeric(&self) -> bool {
        matches!(
            self,
            Self::Float(_)
                | Self::Integer { .. }
                | Self::Limit
                | Self::OptionalCount
                | Self::OptionalFloat(_)
                | Self::Gamma
                | Self::Ratio
                | Self::PerView(_)
        )
    }

    /// Whether a number of this kind is an integer.
    pub fn is_integer(&self) -> bool {
        matches!(self, Self::Integer { .. } | Self::Limit | Self::OptionalCount)
    }

    /// Name of the type in generated documentation.
    pub fn type_name(&self) -> &'static str {
        match self {
            Self::Float(_) => "float",
            Self::Integer { .. } => "integer",
            Self::Limit => "limit",
            Self::Bool => "bool",
            Self::Choice(_) => "choice",
            Self::Gamma => "gamma",
            Self::Ratio => "ratio",
            Self::Views => "views",
            Self::Kernels => "kernels",
            Self::PerView(_) => "per-view",
            Self::OptionalCount => "optional-count",
            Self::OptionalFloat(_) => "optional-float",
            Self::Quota => "quota",
            Self::ClassWeights => "class-weights",
            Self::Rule { .. } => "rule",
        }
    }

    /// The value that a text represents, or `None` if this kind does not accept it.
    pub fn parse(&self, text: &str) -> Option<ParamValue> {
        let text = text.trim();
        let value = match self {
            Self::Limit | Self::OptionalCount | Self::OptionalFloat(_) if text == NONE => NONE.into(),
            Self::Float(_) | Self::OptionalFloat(_) => text.parse::<f64>().ok()?.into(),
            Self::Integer { .. } => match text.parse::<i128>() {
                Ok(value) => ParamValue::Integer(value),
                Err(_) => text.parse::<f64>().ok()?.into(),
            },
            Self::Limit => return AT_LEAST_ONE.parse(text),
            Self::Bool => text.parse::<bool>().ok()?.into(),
            Self::OptionalCount => return ANY_COUNT.parse(text),
            Self::ClassWeights => return class_weights(text),
            Self::Choice(_) | Self::Views | Self::Kernels | Self::Quota | Self::Rule { .. } => text.into(),
            Self::Gamma | Self::Ratio | Self::PerView(_) => numbers(text).unwrap_or_else(|| text.into()),
        };
        self.accept(&value)
    }

    /// The value in the type of this kind, or `None` if it is not allowed; 5.0 becomes 5 where integers are expected.
    pub fn accept(&self, value: &ParamValue) -> Option<ParamValue> {
        match self {
            Self::Float(range) => number_in(range, value),
            Self::Integer { min, max } => {
                let whole = value.as_integer().filter(|v| (i128::from(*min)..=highest(*max)).contains(v))?;
                Some(ParamValue::Integer(whole))
            }
            Self::Limit => match value {
                ParamValue::Text(word) => (word == NONE).then(|| value.clone()),
                other => AT_LEAST_ONE.accept(other),
            },
            Self::Bool => value.as_bool().map(ParamValue::Bool),
            Self::Choice(words) => value.as_str().filter(|w| words.contains(w)).map(Into::into),
            Self::Gamma => match value {
                ParamValue::Text(word) => ["scale", "auto"].contains(&word.as_str()).then(|| value.clone()),
                other => number_in(&FloatRange::POSITIVE, other),
            },
            Self::Ratio => match value {
                ParamValue::Text(word) => ["labels", "auto"].contains(&word.as_str()).then(|| value.clone()),
                other => one_or_several(&FloatRange::UNIT_OPEN, other),
            },
            Self::Views => {
                let text = value
                    .as_str()
                    .map_or_else(|| value.as_u64().map(|v| v.to_string()), |t| Some(t.into()))?;
                is_view_list(&text).then(|| text.into())
            }
            Self::Kernels => value.as_str().filter(|text| is_kernel_list(text)).map(Into::into),
            Self::PerView(range) => one_or_several(range, value),
            Self::OptionalCount => match value {
                ParamValue::Text(word) => (word == NONE).then(|| value.clone()),
                other => ANY_COUNT.accept(other),
            },
            Self::OptionalFloat(range) => match value {
                ParamValue::Text(word) => (word == NONE).then(|| value.clone()),
                other => number_in(range, other),
            },
            Self::Quota => value.as_str().filter(|text| *text == NONE || quota(text)).map(Into::into),
            Self::ClassWeights => match value {
                ParamValue::Text(text) => class_weights(text),
                ParamValue::Map(weights) if weights_in_range(weights) => Some(value.clone()),
                _ => None,
            },
            Self::Rule { words, counted } => {
                value.as_str().filter(|text| words.contains(text) || rule(text, counted)).map(Into::into)
            }
        }
    }
}

/// The highest integer of a range that ends at `max`; [`i64::MAX`] means the maximum of `u64`.
fn highest(max: i64) -> i128 {
    if max == i64::MAX { u64::MAX.into() } else { max.into() }
}

fn number_in(range: &FloatRange, value: &ParamValue) -> Option<ParamValue> {
    value.as_f64().filter(|v| range.contains(*v)).map(ParamValue::Float)
}

/// A number, or a list of numbers, all in the range.
fn one_or_several(range: &FloatRange, value: &ParamValue) -> Option<ParamValue> {
    match value {
        ParamValue::List(values) if !values.is_empty() => {
            values.iter().map(|v| number_in(range, v)).collect::<Option<_>>().map(ParamValue::List)
        }
        other => number_in(range, other),
    }
}

/// One number, or several separated by commas, with or without brackets.
fn numbers(text: &str) -> Option<ParamValue> {
    let inside = text.strip_prefix('[').and_then(|t| t.strip_suffix(']'));
    let listed = inside.is_some() || text.contains(',');
    let values: Option<Vec<f64>> = inside.unwrap_or(text).split(',').map(|t| t.trim().parse().ok()).collect();
    match values?.as_slice() {
        [one] if !listed => Some((*one).into()),
        several => Some(several.to_vec().into()),
    }
}

/// The text after "must be".
impl fmt::Display for ParamKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Float(range) => range.fmt(f),
            Self::Integer { min, max: i64::MAX } => write!(f, "a whole number from {min} on"),
            Self::Integer { min, max } => write!(f, "a whole number from {min} to {max}"),
            Self::Limit => write!(f, "{NONE}, or {AT_LEAST_ONE}"),
            Self::Bool => f.write_str("true or false"),
            Self::Choice(words) => write!(f, "one of {}", words.join(", ")),
            Self::Gamma => f.write_str("a positive number, scale or auto"),
            Self::Ratio => f.write_str("labels, auto, or shares between 0 and 1 (both excluded)"),
            Self::Views => f.write_str("all, or the columns of each view from 1 on, like 1..3000;3001..4840"),
            Self::Kernels => f.write_str("same, or for each view linear, rbf or rbf=GAMMA, like rbf;linear"),
            Self::PerView(range) => write!(f, "{range}, or a list of such numbers, one per view"),
            Self::OptionalCount => write!(f, "{NONE}, or {ANY_COUNT}"),
            Self::OptionalFloat(range) => write!(f, "{NONE}, or {range}"),
            Self::Quota => write!(f, "{NONE}, or N/SECONDS, like 20/3600"),
            Self::ClassWeights => {
                f.write_str("none, balanced, ratio, or CLASS=WEIGHT,… with positive weights, each class once")
            }
            Self::Rule { words, counted } => {
                write!(f, "one of {}, {}=N with N from 1 on", words.join(", "), counted.join("=N, "))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_described_in_words() {
        for (range, words) in [
            (FloatRange::above(0.0, 1e15), "a number above 0, at most 1e15"),
            (FloatRange::closed(1e-14, 1e15), "a number from 1e-14 to 1e15"),
            (FloatRange::closed(1e-12, 1e12).or_zero(), "0 or a number from 1e-12 to 1e12"),
            (FloatRange::UNIT_OPEN, "a number between 0 and 1 (both excluded)"),
            (FloatRange::new(End::Unbounded, End::Open(1.0)), "a number below 1"),
            (FloatRange::new(End::Closed(0.0), End::Open(1.0)), "a number from 0 on, below 1"),
            (FloatRange::POSITIVE, "a number above 0"),
            (FloatRange::ANY, "a finite number"),
        ] {
            assert_eq!(range.to_string(), words);
        }
    }

    #[test]
    fn integers_may_be_written_with_a_point_or_an_exponent() {
        let kind = ParamKind::Integer { min: 1, max: 5000 };
        for text in ["5", "5.0", " 5 ", "5e0"] {
            assert_eq!(kind.parse(text), Some(ParamValue::Integer(5)), "{text}");
        }
        for text in ["5.5", "0", "5001", "five", "", "-1", "nan", "inf", "1e400"] {
            assert_eq!(kind.parse(text), None, "{text}");
        }
        let seed = ParamKind::Integer { min: 0, max: i64::MAX };
        assert_eq!(seed.parse(&u64::MAX.to_string()), Some(u64::MAX.into()));
    }

    #[test]
    fn a_limit_is_none_or_a_positive_count() {
        let kind = ParamKind::Limit;
        assert_eq!(kind.parse("none"), Some("none".into()));
        assert_eq!(kind.parse(" 7 "), Some(ParamValue::Integer(7)));
        for text in ["0", "-1", "1.5", "", "None", "no"] {
            assert_eq!(kind.parse(text), None, "{text}");
        }
        assert_eq!(kind.to_string(), "none, or a whole number from 1 on");
    }

    #[test]
    fn ratios_are_words_numbers_or_lists() {
        for (text, value) in [
            ("labels", "labels".into()),
            ("0.25", 0.25.into()),
            ("0.25,0.75", vec![0.25, 0.75].into()),
            ("[0.25, 0.75]", vec![0.25, 0.75].into()),
        ] {
            assert_eq!(ParamKind::Ratio.parse(text), Some(value), "{text}");
        }
        for text in ["half", "0", "1", "0.5,2", "[]", "0.5,"] {
            assert_eq!(ParamKind::Ratio.parse(text), None, "{text}");
        }
    }

    #[test]
    fn validates_the_syntax_of_views_and_their_kernels() {
        for text in ["all", "1..3;4..6", "1", "1,3..4;2", "height,width;weight"] {
            assert!(ParamKind::Views.parse(text).is_some(), "{text}");
        }
        assert_eq!(ParamKind::Views.accept(&2usize.into()), Some("2".into()));
        for text in ["", "0..2", "3..1", "1.5", "1..;2", "1;;2"] {
            assert!(ParamKind::Views.parse(text).is_none(), "{text}");
        }
        for text in ["same", "rbf;linear", "rbf=0.5;rbf"] {
            assert!(ParamKind::Kernels.parse(text).is_some(), "{text}");
        }
        for text in ["", "cubic", "rbf=0", "rbf=x", "linear;"] {
            assert!(ParamKind::Kernels.parse(text).is_none(), "{text}");
        }
    }
}
