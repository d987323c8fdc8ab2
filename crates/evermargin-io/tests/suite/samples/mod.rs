//! Random classifiers and a small random number generator, shared by the tests.

use evermargin::data::{Labels, Matrix, Row};
use evermargin::kernel::Kernel;
use evermargin::model::{Calibration, Classifier, Column, InputSpec, Model, MulticlassScheme, Scaling};
use evermargin::pipeline::partial_fit::OnlineCheckpoint;
use evermargin::pipeline::train::{TrainOptions, train};

/// PCG-XSH-RR 64/32 (O'Neill 2014), with the same numbers on every machine.
pub struct Pcg(u64);

impl Pcg {
    pub fn new(seed: u64) -> Self {
        let mut pcg = Self(seed.wrapping_add(0xda3e_39cb_94b9_5bdb));
        pcg.next();
        pcg
    }

    pub fn next(&mut self) -> u32 {
        let old = self.0;
        self.0 = old.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((((old >> 18) ^ old) >> 27) as u32).rotate_right((old >> 59) as u32)
    }

    pub fn below(&mut self, n: usize) -> usize {
        self.next() as usize % n.max(1)
    }

    /// Between -1 and 1.
    pub fn real(&mut self) -> f64 {
        f64::from(self.next()) / 2f64.powi(31) - 1.0
    }
}

#[derive(Debug, Clone, Copy)]
pub struct Shape {
    pub seed: u64,
    pub classes: usize,
    pub scheme: u8,
    pub kernel: u8,
    pub points: usize,
    pub cols: usize,
    pub sparse: bool,
    pub scaling: u8,
    pub calibration: u8,
    pub narrow: bool,
}

pub fn kernel(which: u8, rng: &mut Pcg) -> Kernel {
    let gamma = rng.real().abs() + 0.01;
    match which {
        1 => Kernel::Rbf { gamma },
        2 => Kernel::Poly { gamma, coef0: rng.real(), degree: 3 },
        3 => Kernel::Sigmoid { gamma, coef0: rng.real() },
        _ => Kernel::Linear,
    }
}

pub fn matrix(rng: &mut Pcg, rows: usize, cols: usize, sparse: bool, narrow: bool) -> Matrix {
    let (mut indptr, mut indices, mut values) = (vec![0], Vec::new(), Vec::new());
    for _ in 0..rows {
        for c in 0..cols {
            if !sparse || rng.below(3) == 0 {
                let v = rng.real() * 3.0;
                indices.push(c as u32);
                values.push(if narrow { f64::from(v as f32) } else { v });
            }
        }
        indptr.push(values.len());
    }
    if sparse {
        Matrix::csr(indptr, indices, values, cols).unwrap()
    } else {
        Matrix::dense(values, rows, cols).unwrap()
    }
}

/// A classifier of the given shape. Scheme 0 is one-vs-one, 1 one-vs-rest; kernel 4 gives a linear model.
pub fn classifier(s: Shape) -> Classifier {
    let rng = &mut Pcg::new(s.seed);
    let n = s.classes;
    let (scheme, outputs) = match s.scheme {
        _ if n == 2 => (MulticlassScheme::Binary, 1),
        0 => (MulticlassScheme::OneVsOne, n * (n - 1) / 2),
        _ => (MulticlassScheme::OneVsRest, n),
    };
    let bias = (0..outputs).map(|_| rng.real()).collect();
    let vectors = |rng: &mut Pcg, width: usize| -> Vec<Vec<f64>> {
        (0..outputs).map(|_| (0..width).map(|_| rng.real()).collect()).collect()
    };
    let model = if s.kernel == 4 {
        Model::Linear { weights: vectors(rng, s.cols), bias }
    } else {
        let kernel = kernel(s.kernel, rng);
        let points = matrix(rng, s.points, s.cols, s.sparse, s.narrow);
        Model::Expansion { kernel, points, coef: vectors(rng, s.points), bias }
    };
    let column = |rng: &mut Pcg| (0..s.cols).map(|_| rng.real()).collect::<Vec<f64>>();
    let scaling = match s.scaling {
        1 => Scaling::Affine { name: "standard".into(), shift: column(rng), factor: column(rng) },
        2 => Scaling::Affine { name: "minmax".into(), shift: Vec::new(), factor: column(rng) },
        3 => Scaling::Unit,
        4 => Scaling::Tfidf { idf: column(rng) },
        _ => Scaling::None,
    };
    let calibration = (0..if s.calibration == 0 { 0 } else { outputs })
        .map(|_| {
            if s.calibration == 1 || rng.below(2) == 0 {
                Calibration::Sigmoid { a: -rng.real().abs() * 3.0, b: rng.real() }
            } else {
                let knots = 1 + rng.below(5);
                let mut at: Vec<f64> = (0..knots).map(|_| rng.real()).collect();
                let mut probability: Vec<f64> = (0..knots).map(|_| rng.real().abs()).collect();
                at.sort_by(f64::total_cmp);
                probability.sort_by(f64::total_cmp);
                Calibration::Isotonic { at, probability }
            }
        })
        .collect();
    let columns = if s.seed.is_multiple_of(2) && s.cols >= 3 {
        let mut columns: Vec<Column> =
            (3..s.cols).map(|c| Column::Number { name: format!("n{c}") }).collect();
        let values = vec!["a".into(), "b".into(), "ü".into()];
        columns.push(Column::Category { name: "kind".into(), values });
        columns
    } else {
        Vec::new()
    };
    Classifier {
        learner: "svc".into(),
        params: [
            ("c".to_string(), rng.real().into()),
            ("note".to_string(), "\u{1f600} \"quoted\"".into()),
            ("n".to_string(), n.into()),
        ]
        .into(),
        classes: (0..n).map(|i| (i as i64 * 3 - 4).to_string()).collect(),
        scheme,
        model,
        scaling,
        input: InputSpec { columns, ..InputSpec::default() },
        calibration,
    }
}

/// Decision values from their definition.
pub fn decisions(model: &Model, x: Row<'_>) -> Vec<f64> {
    match model {
        Model::Linear { weights, bias } => weights
            .iter()
            .zip(bias)
            .map(|(w, b)| {
                let mut sum = *b;
                x.for_each(|c, v| sum += w.get(c).copied().unwrap_or(0.0) * v);
                sum
            })
            .collect(),
        Model::Views { .. } => panic!("LIBSVM has no views"),
        Model::Expansion { kernel, points, coef, bias } => {
            let points = points.view().to_csr();
            coef.iter()
                .zip(bias)
                .map(|(c, b)| {
                    let terms = c.iter().enumerate().map(|(i, c)| c * kernel.eval(points.view().row(i), x));
                    b + terms.sum::<f64>()
                })
                .collect()
        }
    }
}

/// The class of a row by votes; `None` for ties, which a model of `svm-train` resolves by its class order.
pub fn voted(classifier: &Classifier, f: &[f64]) -> Option<String> {
    let n = classifier.classes.len();
    let mut votes = vec![0; n];
    let mut p = 0;
    for a in 0..n {
        for b in a + 1..n {
            votes[if f[p] > 0.0 { b } else { a }] += 1;
            p += 1;
        }
    }
    let most = *votes.iter().max()?;
    let mut winners = (0..n).filter(|c| votes[*c] == most);
    let winner = winners.next()?;
    winners.next().is_none().then(|| classifier.classes[winner].clone())
}

/// Rows of `classes` clouds with different centers, in 4 columns.
pub fn clouds(seed: u64, classes: usize, sparse: bool, rows: usize) -> (Matrix, Labels) {
    let rng = &mut Pcg::new(seed);
    let (mut values, mut of) = (Vec::new(), Vec::new());
    for i in 0..rows {
        let class = i % classes;
        let middle = |c: usize| if c == class { 0.7 } else { 0.0 };
        values.extend((0..4).map(|c| if sparse && rng.below(3) > 0 { 0.0 } else { middle(c) + rng.real() }));
        of.push(Some(class as u32));
    }
    let x = Matrix::dense(values, rows, 4).unwrap();
    let names = ["ant", "bee", "cat", "dog"].iter().take(classes).map(ToString::to_string).collect();
    (if sparse { x.view().to_csr() } else { x }, Labels { classes: names, of })
}

/// Options with which a small data set fills every part of a state.
pub fn online_options(learner: &str) -> TrainOptions {
    let mut options = TrainOptions::new(learner);
    options.params.insert("c".into(), 2.5.into());
    if evermargin::estimators::estimator(learner).unwrap().takes("clean_every") {
        options.params.insert("clean_every".into(), 40.into());
        options.params.insert("clean_keep".into(), 5.into());
    }
    if evermargin::estimators::estimator(learner).unwrap().takes("warm_up") {
        options.params.insert("warm_up".into(), 8.into());
    }
    options
}

/// Checkpoint of a learner trained on `rows` rows.
pub fn checkpoint(learner: &str, classes: usize, sparse: bool, rows: usize) -> OnlineCheckpoint {
    let (x, labels) = clouds(3, classes, sparse, rows);
    let trained = train(x, &labels, &online_options(learner), &()).unwrap();
    OnlineCheckpoint::new(&trained.classifier, &trained.online.unwrap(), &trained.counts)
}
