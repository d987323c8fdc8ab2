//! Parser of LIBSVM models. Counts in the header are checked against the lines that follow; nothing is allocated by them.

use crate::artifacts::validate::check;
use crate::error::{Error, Fault, Result, excerpt};
use crate::formats::number;
use crate::formats::pairwise::pair;
use crate::limits::{Limits, index_too_large};
use evermargin::data::Matrix;
use evermargin::kernel::Kernel;
use evermargin::model::{Calibration, Classifier, InputSpec, Model, MulticlassScheme, Scaling};
use evermargin::params::ParamValues;
use evermargin::params::structs::to_value;

type Parsed<T> = std::result::Result<T, Fault>;

/// Parses the text of a LIBSVM model; `name` is the name of the file in error messages.
pub fn from_text(name: &str, text: &[u8], limits: &Limits) -> Result<Classifier> {
    let classifier = parse(text, limits).map_err(|fault| fault.within(name))?;
    check(&classifier).map_err(|what| Error::content(name, what))?;
    Ok(classifier)
}

#[derive(Default)]
struct Header {
    kernel: String,
    degree: Option<f64>,
    gamma: Option<f64>,
    coef0: Option<f64>,
    classes: usize,
    total: usize,
    rho: Vec<f64>,
    labels: Vec<i32>,
    prob_a: Vec<f64>,
    prob_b: Vec<f64>,
    counts: Vec<usize>,
    lines: u64,
}

fn parse(text: &[u8], limits: &Limits) -> Parsed<Classifier> {
    let mut lines = text.split(|b| *b == b'\n').map(|l| l.strip_suffix(b"\r").unwrap_or(l)).zip(1u64..);
    let header = Header::read(&mut lines)?;
    let n = header.labels.len();
    let kernel = header.kernel()?;
    let body = SupportVectors::read(lines, &header, limits)?;

    // The classes of a classifier are in ascending order; place[i] is the position of LIBSVM's class i among them.
    let mut order: Vec<usize> = (0..n).collect();
    order.sort_by_key(|i| header.labels[*i]);
    let mut place = vec![0; n];
    for (at, i) in order.iter().enumerate() {
        place[*i] = at;
    }
    let outputs = header.rho.len();
    let width = if kernel == Kernel::Precomputed { body.cols.max(header.total) } else { header.total };
    limits
        .check_shape(outputs, width)
        .map_err(|what| Fault::new(0, 0, format!("decision functions: {what}")))?;
    let mut coef = vec![vec![0.0; header.total]; outputs];
    let mut bias = vec![0.0; outputs];
    let mut sigmoids = vec![(0.0, 0.0); outputs];
    for i in 0..n {
        for j in i + 1..n {
            let (output, source) = (pair(place[i].min(place[j]), place[i].max(place[j]), n), pair(i, j, n));
            let sign = if place[i] > place[j] { 1.0 } else { -1.0 };
            bias[output] = 0.0 - sign * header.rho[source];
            if let (Some(a), Some(b)) = (header.prob_a.get(source), header.prob_b.get(source)) {
                sigmoids[output] = (*a, sign * b);
            }
            for (v, class) in body.class.iter().enumerate() {
                if *class == i || *class == j {
                    let other = if *class == i { j } else { i };
                    let column = if other > *class { other - 1 } else { other };
                    coef[output][v] = sign * body.coef[v * (n - 1) + column] + 0.0;
                }
            }
        }
    }
    let model = if kernel == Kernel::Precomputed {
        let mut weights = vec![vec![0.0; body.cols]; outputs];
        for (w, c) in weights.iter_mut().zip(&coef) {
            for (c, serial) in c.iter().zip(&body.indices) {
                w[*serial as usize] += c;
            }
        }
        Model::Linear { weights, bias }
    } else {
        let points = Matrix::csr(body.indptr, body.indices, body.values, body.cols)
            .map_err(|e| Fault::new(0, 0, format!("support vectors: {e}")))?;
        Model::Expansion { kernel, points, coef, bias }
    };
    let monotone = sigmoids.iter().all(|s| s.0 <= 0.0);
    let calibration = if header.prob_a.is_empty() || !monotone {
        Vec::new()
    } else {
        sigmoids.iter().map(|(a, b)| Calibration::Sigmoid { a: *a, b: b + 0.0 }).collect()
    };
    let mut params = ParamValues::from([("source".into(), "LIBSVM model".into())]);
    if let Ok(kernel) = to_value(&kernel) {
        params.insert("kernel".into(), kernel);
    }
    if !header.prob_a.is_empty() && !monotone {
        params.insert(
            "note".into(),
            "probA above 0 would invert the decisions; the calibration was omitted".into(),
        );
    }
    Ok(Classifier {
        learner: "svc".into(),
        params,
        classes: order.iter().map(|i| header.labels[*i].to_string()).collect(),
        scheme: if n == 2 { MulticlassScheme::Binary } else { MulticlassScheme::OneVsOne },
        model,
        scaling: Scaling::None,
        input: InputSpec::default().with_serial_column(kernel == Kernel::Precomputed),
        calibration,
    })
}

impl Header {
    fn read<'a>(lines: &mut impl Iterator<Item = (&'a [u8], u64)>) -> Parsed<Self> {
        let mut header = Self::default();
        let mut svm_type = false;
        for (text, line) in lines {
            header.lines = line;
            let wrong = |what: String| Fault::new(line, 0, what);
            let text = std::str::from_utf8(text).map_err(|_| wrong("bytes that are not text".into()))?;
            let mut words = text.split_ascii_whitespace();
            let key = words.next().unwrap_or_default();
            let words: Vec<&str> = words.collect();
            match key {
                "svm_type" if words == ["c_svc"] => svm_type = true,
                "svm_type" => {
                    let found = excerpt(words.join(" ").as_bytes());
                    return Err(wrong(format!("svm_type {found} is not supported; only c_svc is")));
                }
                _ if !svm_type => {
                    return Err(wrong("not a LIBSVM model: the first line must be svm_type c_svc".into()));
                }
                "kernel_type" => header.kernel = words.join(" "),
                "degree" => header.degree = Some(one(key, &words).map_err(wrong)?),
                "gamma" => header.gamma = Some(one(key, &words).map_err(wrong)?),
                "coef0" => header.coef0 = Some(one(key, &words).map_err(wrong)?),
                "nr_class" => header.classes = count(key, &words).map_err(wrong)?,
                "total_sv" => header.total = count(key, &words).map_err(wrong)?,
                "rho" => header.rho = numbers(key, &words).map_err(wrong)?,
                "probA" => header.prob_a = numbers(key, &words).map_err(wrong)?,
                "probB" => header.prob_b = numbers(key, &words).map_err(wrong)?,
                "label" => {
                    let label = |w: &&str| {
                        w.parse().map_err(|_| {
                            wrong(format!("label '{}' is not a whole number", excerpt(w.as_bytes())))
                        })
                    };
                    header.labels = words.iter().map(label).collect::<Parsed<_>>()?;
                }
                "nr_sv" => {
                    header.counts =
                        words.iter().map(|w| count(key, &[w]).map_err(wrong)).collect::<Parsed<_>>()?;
                }
                "SV" if words.is_empty() => {
                    header.check()?;
                    return Ok(header);
                }
                "" => {}
                _ => {
                    return Err(wrong(format!(
                        "'{}' is not a line of a LIBSVM model",
                        excerpt(text.as_bytes())
                    )));
                }
            }
        }
        Err(Fault::new(header.lines, 0, "the model ends before its support vectors"))
    }

    /// Checks that all counts agree with the lists in the header.
    fn check(&self) -> Parsed<()> {
        let wrong = |what: String| Err(Fault::new(self.lines, 0, what));
        let n = self.labels.len();
        if self.classes < 2 || n != self.classes {
            return wrong(format!(
                "nr_class is {} but there are {n} labels; there must be two or more, one per class",
                self.classes
            ));
        }
        let mut sorted = self.labels.clone();
        sorted.sort_unstable();
        if let Some([twice, ..]) = sorted.windows(2).find(|w| w[0] == w[1]) {
            return wrong(format!("label {twice} is listed twice"));
        }
        let pairs = n * (n - 1) / 2;
        if self.rho.len() != pairs {
            return wrong(format!("{n} classes need {pairs} values of rho, found {}", self.rho.len()));
        }
        let (a, b) = (self.prob_a.len(), self.prob_b.len());
        if a != b || (a != 0 && a != pairs) {
            return wrong(format!("{n} classes need {pairs} values of probA and probB, found {a} and {b}"));
        }
        let sum = self.counts.iter().try_fold(0usize, |s, c| s.checked_add(*c));
        if self.counts.len() != n || sum != Some(self.total) {
            return wrong(format!("nr_sv must list {n} counts that sum to total_sv, {}", self.total));
        }
        Ok(())
    }

    fn kernel(&self) -> Parsed<Kernel> {
        let wrong = |what: String| Fault::new(self.lines, 0, what);
        let needed = |value: Option<f64>, key: &str| {
            value.ok_or_else(|| wrong(format!("kernel {} needs a line {key}", self.kernel)))
        };
        let kernel = match self.kernel.as_str() {
            "linear" => Kernel::Linear,
            "rbf" => Kernel::Rbf { gamma: needed(self.gamma, "gamma")? },
            "polynomial" => {
                let degree = needed(self.degree, "degree")?;
                if degree.fract() != 0.0 || !(1.0..=32.0).contains(&degree) {
                    return Err(wrong(format!("degree {degree} is not a whole number from 1 to 32")));
                }
                Kernel::Poly {
                    gamma: needed(self.gamma, "gamma")?,
                    coef0: needed(self.coef0, "coef0")?,
                    degree: degree as u32,
                }
            }
            "sigmoid" => {
                Kernel::Sigmoid { gamma: needed(self.gamma, "gamma")?, coef0: needed(self.coef0, "coef0")? }
            }
            "precomputed" => Kernel::Precomputed,
            other => return Err(wrong(format!("kernel_type '{}' is not known", excerpt(other.as_bytes())))),
        };
        kernel.check().map_err(|e| wrong(e.to_string()))?;
        Ok(kernel)
    }
}

/// The support vectors, each with its class and n − 1 coefficients.
#[derive(Default)]
struct SupportVectors {
    class: Vec<usize>,
    coef: Vec<f64>,
    indptr: Vec<usize>,
    indices: Vec<u32>,
    values: Vec<f64>,
    cols: usize,
}

impl SupportVectors {
    fn read<'a>(
        lines: impl Iterator<Item = (&'a [u8], u64)>,
        header: &Header,
        limits: &Limits,
    ) -> Parsed<Self> {
        let n = header.labels.len();
        let precomputed = header.kernel == "precomputed";
        let mut body = Self { indptr: vec![0], ..Self::default() };
        let mut classes = header.counts.iter().enumerate().flat_map(|(c, k)| std::iter::repeat_n(c, *k));
        let mut last = header.lines;
        for (text, line) in lines.filter(|(text, _)| !text.trim_ascii().is_empty()) {
            last = line;
            let wrong = |what: String| Fault::new(line, 0, what);
            let class = classes
                .next()
                .ok_or_else(|| wrong(format!("more support vectors than total_sv, {}", header.total)))?;
            body.class.push(class);
            let mut tokens = text.split(|b| matches!(b, b' ' | b'\t')).filter(|t| !t.is_empty());
            for _ in 1..n {
                let token = tokens.next().unwrap_or_default();
                let value = number::parse(token).filter(|v| v.is_finite()).ok_or_else(|| {
                    wrong(format!(
                        "a line begins with one coefficient per other class ({}), found '{}'",
                        n - 1,
                        excerpt(token)
                    ))
                })?;
                body.coef.push(value);
            }
            let start = body.indices.len();
            for token in tokens {
                let (index, value) = feature(token, precomputed).map_err(wrong)?;
                if index as usize >= limits.columns() {
                    let cap = limits.columns();
                    return Err(Fault::new(line, 0, index_too_large(index as usize + 1, cap)));
                }
                if body.indices.len() > start && body.indices.last().is_some_and(|l| *l >= index) {
                    return Err(wrong(format!("index {} does not ascend", index as usize + 1)));
                }
                body.cols = body.cols.max(index as usize + 1);
                body.indices.push(index);
                body.values.push(value);
            }
            if precomputed && body.indices.len() != start + 1 {
                return Err(wrong("a support vector of a precomputed kernel is written 0:number".into()));
            }
            body.indptr.push(body.indices.len());
        }
        if body.class.len() != header.total {
            let what =
                format!("the model ends after {} of {} support vectors", body.class.len(), header.total);
            return Err(Fault::new(last, 0, what));
        }
        Ok(body)
    }
}

/// Parses a token as a column (from 0) and a value; for a precomputed kernel, as the number of a sample (from 0) and 1.
fn feature(token: &[u8], precomputed: bool) -> std::result::Result<(u32, f64), String> {
    let bad = || format!("expected index:value, found '{}'", excerpt(token));
    let colon = memchr::memchr(b':', token).ok_or_else(bad)?;
    let index =
        std::str::from_utf8(&token[..colon]).ok().and_then(|t| t.parse::<u32>().ok()).ok_or_else(bad)?;
    let value = number::parse(&token[colon + 1..]).filter(|v| v.is_finite()).ok_or_else(bad)?;
    if precomputed {
        if index != 0 || value < 1.0 || value.fract() != 0.0 || value > f64::from(u32::MAX) {
            return Err(bad());
        }
        return Ok((value as u32 - 1, 1.0));
    }
    match index.checked_sub(1) {
        Some(column) => Ok((column, value)),
        None => {
            Err("index 0, but the indices of a LIBSVM model are counted from 1; train on data counted from 1"
                .into())
        }
    }
}

fn one(key: &str, words: &[&str]) -> std::result::Result<f64, String> {
    match numbers(key, words)?[..] {
        [value] => Ok(value),
        ref other => Err(format!("{key} has {} values instead of one", other.len())),
    }
}

fn numbers(key: &str, words: &[&str]) -> std::result::Result<Vec<f64>, String> {
    let number = |w: &&str| {
        number::parse(w.as_bytes())
            .filter(|v| v.is_finite())
            .ok_or_else(|| format!("{key}: '{}' is not a finite number", excerpt(w.as_bytes())))
    };
    words.iter().map(number).collect()
}

fn count(key: &str, words: &[&str]) -> std::result::Result<usize, String> {
    let [word] = words else { return Err(format!("{key} has {} values instead of one", words.len())) };
    word.parse().map_err(|_| format!("{key}: '{}' is not a count", excerpt(word.as_bytes())))
}
