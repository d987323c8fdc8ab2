//! `perceptron` against a direct implementation in double precision.
use crate::common::clouds;
use evermargin::data::{Label, Matrix};
use evermargin::estimators::baselines::perceptron::PerceptronParams;
use evermargin::estimators::{Fit, Targets};
use evermargin::kernel::Kernel;
use evermargin::solver::Exit;
use rand::SeedableRng;
use rand::seq::SliceRandom;

const RBF: Kernel = Kernel::Rbf { gamma: 0.7 };

/// Order of the rows in one epoch: shuffled with the seed, one row of each class first.
fn order(problems: &[Targets], seed: u64) -> Vec<usize> {
    let n = problems[0].y.len();
    let mut order: Vec<usize> = (0..n).collect();
    order.shuffle(&mut rand_pcg::Pcg64::seed_from_u64(seed));
    let first = |class: Label| *order.iter().find(|&&i| problems[0].y[i] == class).unwrap();
    let seeds = [first(Label::Neg), first(Label::Pos)];
    seeds.into_iter().chain(order.into_iter().filter(|i| !seeds.contains(i))).collect()
}

/// One epoch from the definition. Returns the decisions of all rows by the last and by the averaged function, and the
/// number of points.
fn reference_epoch(x: &Matrix, problems: &[Targets], p: &PerceptronParams) -> (Vec<f64>, Vec<f64>, usize) {
    let k = |i: usize, j: usize| p.kernel.eval(x.view().row(i), x.view().row(j));
    let n = x.rows();
    let (mut points, mut mean): (Vec<(usize, f64)>, Vec<f64>) = (Vec::new(), vec![0.0; n]);
    for row in order(problems, p.seed) {
        let y = problems[0].y[row].sign();
        let f: f64 = points.iter().map(|&(i, a)| a * k(i, row)).sum();
        if y * f <= p.beta {
            points.push((row, y));
        }
        if p.budget > 0 && points.len() > p.budget {
            let without = |&(i, a): &(usize, f64)| {
                a.signum() * (points.iter().map(|&(j, b)| b * k(i, j)).sum::<f64>() - a * k(i, i))
            };
            let best = (0..points.len()).max_by(|&a, &b| without(&points[a]).total_cmp(&without(&points[b])));
            points.remove(best.unwrap());
        }
        for (r, m) in mean.iter_mut().enumerate() {
            *m += points.iter().map(|&(i, a)| a * k(i, r)).sum::<f64>() / n as f64;
        }
    }
    let last = (0..n).map(|r| points.iter().map(|&(i, a)| a * k(i, r)).sum()).collect();
    (last, mean, points.len())
}

fn close(a: &[f64], b: &[f64]) -> bool {
    a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-4)
}

#[test]
fn one_epoch_equals_the_reference_loop() {
    for seed in 0..5 {
        let (x, problems) = clouds(90, 2, seed);
        for p in [
            PerceptronParams { kernel: RBF, seed, ..Default::default() },
            PerceptronParams { kernel: RBF, seed, beta: 0.3, ..Default::default() },
            PerceptronParams { kernel: RBF, seed, average: true, ..Default::default() },
            PerceptronParams { kernel: RBF, seed, budget: 12, beta: 0.1, ..Default::default() },
        ] {
            let fitted = p.fit(x.view(), &problems, &()).unwrap();
            let f = fitted.model.decision(x.view()).unwrap();
            let (last, mean, points) = reference_epoch(&x, &problems, &p);
            assert!(close(&f, if p.average { &mean } else { &last }), "{p:?}");
            assert_eq!(fitted.model.support_count(), points);
            assert!(p.budget == 0 || points <= p.budget);
        }
    }
}

#[test]
fn converges_without_mistakes_on_separable_data() {
    let (x, mut problems) = clouds(100, 2, 6);
    for i in 0..100 {
        let mut sum = 0.0;
        x.view().row(i).for_each(|_, v| sum += v);
        problems[0].y[i] = if sum > 0.0 { Label::Pos } else { Label::Neg };
    }
    let p = PerceptronParams { kernel: RBF, epochs: 500, ..Default::default() };
    let fitted = p.fit(x.view(), &problems, &()).unwrap();
    assert_eq!(fitted.reports[0].exit, Exit::Converged);
    let f = fitted.model.decision(x.view()).unwrap();
    assert!(f.iter().zip(&problems[0].y).all(|(f, y)| f * y.sign() > 0.0));
}

#[test]
fn refuses_a_budget_together_with_averaging() {
    let (x, problems) = clouds(20, 2, 1);
    let p = PerceptronParams { average: true, budget: 5, ..Default::default() };
    assert!(p.fit(x.view(), &problems, &()).unwrap_err().to_string().contains("together with average"));
}
