//! Views: groups of columns, each with its own kernel (Sindhwani 2007, chapter 4).
//!
//! `views` lists the columns of each view, counted from 1 and with both ends included: `1..3000;3001..4840`. A view may have
//! several ranges (`1..3,7;4..6`), and views may share columns (`1..3000;3001..4840;1..4840` has a third view with all
//! columns).

use crate::data::{Matrix, MatrixView};
use crate::error::{Error, Result};
use crate::estimators::manifold::landmark_space::LandmarkSpace;
use crate::estimators::{Fit, Fitted, Targets};
use crate::kernel::Kernel;
use crate::model::{Columns, Model, Part};
use crate::solver::Watch;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// One view of the rows.
#[derive(Debug, Clone)]
pub struct View {
    /// Columns of the view.
    pub columns: Columns,
    /// Kernel of the view.
    pub kernel: Kernel,
}

/// The columns of each view as text; `all` is one view with all columns.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ViewList(pub String);

impl Default for ViewList {
    fn default() -> Self {
        Self("all".into())
    }
}

impl<'de> Deserialize<'de> for ViewList {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Written {
            Text(String),
            Column(u32),
        }
        Ok(match Written::deserialize(deserializer)? {
            Written::Text(text) => Self(text),
            Written::Column(column) => Self(column.to_string()),
        })
    }
}

impl ViewList {
    /// Parses the columns of each view, for data with `cols` columns.
    pub fn columns(&self, cols: usize) -> Result<Vec<Columns>> {
        if self.0 == "all" {
            return Ok(vec![Columns::all(cols)]);
        }
        let wrong = || {
            let example = "all, or the columns of each view from 1 on, like 1..3000;3001..4840";
            Error::parameter("views", &self.0, format!("{example}, among the {cols} columns of the data"))
        };
        let place = |text: &str| text.trim().parse::<usize>().ok().filter(|c| (1..=cols).contains(c));
        let range = |text: &str| {
            let (first, last) = text.split_once("..").unwrap_or((text, text));
            let (first, last) = (place(first)?, place(last)?);
            (first <= last).then_some((first - 1, last))
        };
        let view = |text: &str| text.split(',').map(range).collect::<Option<Vec<_>>>().map(Columns);
        self.0.split(';').map(|text| view(text).ok_or_else(wrong)).collect()
    }
}

/// Parses the kernels of all views: `same` (the kernel `same` for all views), or a list with `linear` or `rbf` per view.
/// `rbf` may have its gamma (`rbf=0.5`); the default is 1/(d·Var) of the view's columns.
pub fn kernels(written: &str, same: Kernel, columns: &[Columns], x: MatrixView<'_>) -> Result<Vec<Kernel>> {
    same.check()?;
    let each =
        if written == "same" { vec![same; columns.len()] } else { parse_kernels(written, columns, x)? };
    for kernel in &each {
        kernel.check()?;
        if *kernel == Kernel::Precomputed {
            return Err(Error::parameter("kernel", "precomputed", "a kernel of samples: views have columns"));
        }
    }
    Ok(each)
}

/// Parses a list with one kernel per view.
fn parse_kernels(written: &str, columns: &[Columns], x: MatrixView<'_>) -> Result<Vec<Kernel>> {
    let wrong = || {
        let one = "same, or for each view linear, rbf or rbf=GAMMA, like rbf;linear";
        Error::parameter("kernels", written, format!("{one} ({} views)", columns.len()))
    };
    let words: Vec<&str> = written.split(';').map(str::trim).collect();
    if words.len() != columns.len() {
        return Err(wrong());
    }
    let kernel = |(word, columns): (&&str, &Columns)| match word.split_once('=') {
        None if *word == "linear" => Ok(Kernel::Linear),
        None if *word == "rbf" => Ok(Kernel::Rbf { gamma: default_gamma(columns.of(x).view()) }),
        Some(("rbf", gamma)) => gamma.parse().map(|gamma| Kernel::Rbf { gamma }).map_err(|_| wrong()),
        _ => Err(wrong()),
    };
    words.iter().zip(columns).map(kernel).collect()
}

/// 1/(d·Var) with the variance of all cells; 1 if the variance is 0.
fn default_gamma(x: MatrixView<'_>) -> f64 {
    let cells = x.rows() as f64 * x.cols() as f64;
    let (mut sum, mut squares) = (0.0, 0.0);
    for i in 0..x.rows() {
        x.row(i).for_each(|_, v| sum += v);
        squares += x.row(i).norm2();
    }
    let variance = squares / cells - (sum / cells).powi(2);
    if variance > 0.0 { 1.0 / (x.cols() as f64 * variance) } else { 1.0 }
}

/// One number for all views, or one number per view.
#[derive(Debug, Clone, PartialEq)]
pub struct PerView(pub Vec<f64>);

impl PerView {
    /// The numbers of `views` views. A number that is not `good` is an error; `allowed` describes the good ones.
    pub fn of(
        &self,
        name: &'static str,
        views: usize,
        allowed: &str,
        good: impl Fn(f64) -> bool,
    ) -> Result<Vec<f64>> {
        let written = || self.0.iter().map(f64::to_string).collect::<Vec<_>>().join(",");
        if self.0.iter().any(|v| !good(*v)) {
            return Err(Error::parameter(name, written(), allowed));
        }
        match self.0.as_slice() {
            [one] => Ok(vec![*one; views]),
            each if each.len() == views => Ok(each.to_vec()),
            _ => Err(Error::parameter(
                name,
                written(),
                format!("one number, or a list of {views}, one per view"),
            )),
        }
    }
}

impl Serialize for PerView {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        match self.0.as_slice() {
            [one] => serializer.serialize_f64(*one),
            each => each.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for PerView {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged, expecting = "expected a number, or a list of numbers, one per view")]
        enum Written {
            One(f64),
            Each(Vec<f64>),
        }
        Ok(match Written::deserialize(deserializer)? {
            Written::One(value) => Self(vec![value]),
            Written::Each(values) => Self(values),
        })
    }
}

/// Indices of the views that the model uses: all of them for 0, otherwise the one with this number, counted from 1.
pub fn speaking(view: usize, views: usize) -> Result<Vec<usize>> {
    match view {
        0 => Ok((0..views).collect()),
        k if k <= views => Ok(vec![k - 1]),
        _ => Err(Error::parameter("view", view, format!("0 (all) or the number of a view, at most {views}"))),
    }
}

/// The views of the rows and the function space of each view.
#[derive(Debug)]
pub struct Spaces {
    /// Columns and kernel of each view.
    pub views: Vec<View>,
    /// The rows, restricted to the columns of each view.
    pub data: Vec<Matrix>,
    /// Function space of each view.
    pub spans: Vec<LandmarkSpace>,
}

impl Spaces {
    /// The spaces for the rows of `x`, each with at most `max` landmarks.
    pub fn new(
        views: Vec<View>,
        x: MatrixView<'_>,
        max: usize,
        seed: u64,
        watch: &dyn Watch,
    ) -> Result<Self> {
        let data: Vec<Matrix> = views.iter().map(|v| v.columns.of(x)).collect();
        let span =
            |(view, data): (&View, &Matrix)| LandmarkSpace::new(data.view(), view.kernel, max, seed, watch);
        let spans = views.iter().zip(&data).map(span).collect::<Result<_>>()?;
        Ok(Self { views, data, spans })
    }

    /// The model `factor` times the mean of fᵥ + intercept over the views in `speaking`. `functions` holds w and `constants`
    /// the intercept of each problem and view.
    pub fn model(
        &self,
        speaking: &[usize],
        functions: &[Vec<Vec<f64>>],
        constants: &[Vec<f64>],
        factor: f64,
        cols: usize,
    ) -> Model {
        let weight = factor / speaking.len() as f64;
        let part = |&v: &usize| {
            let scaled = |f: &Vec<Vec<f64>>| f[v].iter().map(|w| weight * w).collect::<Vec<f64>>();
            let own: Vec<Vec<f64>> = functions.iter().map(scaled).collect();
            let bias = constants.iter().map(|c| weight * c[v]).collect();
            Part {
                columns: self.views[v].columns.clone(),
                model: self.spans[v].model(self.data[v].view(), &own, bias),
            }
        };
        Model::of_views(speaking.iter().map(part).collect(), cols, vec![0.0; functions.len()])
    }
}

/// A multi-view learner that can also learn without the unlabeled rows.
pub(crate) trait WithViews: Clone + std::fmt::Debug + Send + Sync + 'static {
    /// Learns from all rows, or with `labels_only` from the labeled ones.
    fn learn(
        &self,
        x: MatrixView<'_>,
        problems: &[Targets],
        labels_only: bool,
        watch: &dyn Watch,
    ) -> Result<Fitted>;
}

impl<P: WithViews> Fit for P {
    fn fit(&self, x: MatrixView<'_>, problems: &[Targets], watch: &dyn Watch) -> Result<Fitted> {
        self.learn(x, problems, false, watch)
    }

    fn supervised(&self) -> Option<Box<dyn Fit>> {
        Some(Box::new(LabelsOnly(self.clone())))
    }
}

/// The learner without the unlabeled rows.
#[derive(Debug)]
struct LabelsOnly<P>(P);

impl<P: WithViews> Fit for LabelsOnly<P> {
    fn fit(&self, x: MatrixView<'_>, problems: &[Targets], watch: &dyn Watch) -> Result<Fitted> {
        self.0.learn(x, problems, true, watch)
    }
}
