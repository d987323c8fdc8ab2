//! Active learning. Numbers in brackets are those of the list of invariants for Ertekin's thesis.
use crate::common::clouds;
use evermargin::active::{StopRule, Stopped, Strategy};
use evermargin::data::{Label, Matrix};
use evermargin::estimators::online::PoolScores;
use evermargin::estimators::online::lasvm::{Lasvm, LasvmParams, Online};
use evermargin::estimators::{Fit, Targets};
use evermargin::kernel::Kernel;
use evermargin::model::Model;

const RBF: Kernel = Kernel::Rbf { gamma: 0.5 };

fn params(select: Strategy) -> LasvmParams {
    LasvmParams { kernel: RBF, select, ..Default::default() }
}

fn fit(p: &LasvmParams, x: &Matrix, problems: &[Targets]) -> (Model, Online) {
    let fitted = p.fit(x.view(), problems, &()).unwrap();
    (fitted.model, fitted.online.unwrap())
}

/// Flips the labels of all rows whose label does not influence the run.
fn flip_unseen(x: &Matrix, problems: &[Targets], p: &LasvmParams) -> (Vec<Targets>, usize) {
    // rows whose label was read are found by flipping each label in turn
    let (model, online) = fit(p, x, problems);
    let mut flipped = problems.to_vec();
    let mut unseen = 0;
    for i in 0..x.rows() {
        let before = flipped[0].y[i];
        flipped[0].y[i] = if before == Label::Pos { Label::Neg } else { Label::Pos };
        let (again, _) = fit(p, x, &flipped);
        if again == model {
            unseen += 1;
        } else {
            flipped[0].y[i] = before;
        }
    }
    assert!(
        unseen + online.labels >= x.rows(),
        "{unseen} labels have no influence, {} were queried",
        online.labels
    );
    (flipped, unseen)
}

#[test]
fn choices_do_not_depend_on_labels_that_were_not_queried() {
    // [25]
    let (x, problems) = clouds(90, 2, 2);
    for select in [Strategy::Active, Strategy::AutoActive] {
        let p = LasvmParams { labels: 40, pool: 20, stop: StopRule::Never, finish: false, ..params(select) };
        let (_, online) = fit(&p, &x, &problems);
        assert_eq!((online.labels, online.stopped), (40, Stopped::Budget));
        let (flipped, unseen) = flip_unseen(&x, &problems, &p);
        assert!(unseen >= 50);
        assert!(fit(&p, &x, &flipped).0 == fit(&p, &x, &problems).0);
    }
    // the gradient strategy also reads labels that it does not choose: they are counted, and training ends with the budget
    let p = LasvmParams { pool: 20, stop: StopRule::Never, labels: 60, ..params(Strategy::Gradient) };
    let (_, online) = fit(&p, &x, &problems);
    assert_eq!((online.labels, online.stopped), (60, Stopped::Budget));
}

#[test]
fn a_pool_of_all_rows_equals_the_full_search() {
    // [26]
    let (x, problems) = clouds(150, 3, 7);
    let p = LasvmParams { labels: 60, stop: StopRule::Never, finish: false, ..params(Strategy::Active) };
    let (a, _) = fit(&LasvmParams { pool: 150, ..p.clone() }, &x, &problems);
    let (b, _) = fit(&LasvmParams { pool: 0, ..p }, &x, &problems);
    let points = |m: &Model| {
        let Model::Expansion { points, .. } = m else { panic!() };
        let mut rows: Vec<String> =
            (0..points.rows()).map(|i| format!("{:?}", points.view().row(i))).collect();
        rows.sort();
        rows
    };
    // the first choices agree; a pool is drawn in random order, so rows with equal scores may differ later
    assert_eq!(points(&a), points(&b));
}

#[test]
fn every_sample_is_learned_once() {
    // [28]
    let (x, problems) = clouds(200, 2, 9);
    for select in [Strategy::Random, Strategy::Active, Strategy::AutoActive, Strategy::Gradient] {
        let p = LasvmParams { stop: StopRule::Never, curve: true, ..params(select) };
        let (_, online) = fit(&p, &x, &problems);
        assert_eq!((online.labels, online.counts.seen, online.stopped), (200, 200, Stopped::Exhausted));
        let learned: Vec<usize> = online.curve.iter().map(|c| c.learned).collect();
        assert!(learned.windows(2).all(|w| w[0] < w[1]) && learned.last() == Some(&200), "{learned:?}");
    }
}

#[test]
fn the_margin_rule_stops_early_without_loss_of_accuracy() {
    // [29]
    let (x, problems) = clouds(2000, 2, 14);
    let (model, online) = fit(&params(Strategy::Active), &x, &problems);
    assert_eq!(online.stopped, Stopped::Margin);
    assert!(online.labels < 1700, "{}", online.labels);
    let (all, _) = fit(&params(Strategy::Random), &x, &problems);
    let right = |m: &Model| {
        let f = m.decision(x.view()).unwrap();
        f.iter().zip(&problems[0].y).filter(|(f, y)| *f * y.sign() > 0.0).count()
    };
    assert!(right(&model) + 40 > right(&all), "{} {}", right(&model), right(&all));
    let p = LasvmParams { stop: StopRule::Never, ..params(Strategy::Active) };
    assert_eq!(fit(&p, &x, &problems).1.stopped, Stopped::Exhausted);
}

#[test]
fn the_cross_validated_rule_stops_before_all_samples() {
    let (x, problems) = clouds(300, 2, 15);
    let p = LasvmParams { stop: StopRule::CrossValidated, ..params(Strategy::Active) };
    let (_, online) = fit(&p, &x, &problems);
    assert_eq!((online.stopped, online.labels), (Stopped::CrossValidated, 300));
    assert!(online.counts.seen < 300);
}

#[test]
fn a_label_budget_is_never_exceeded_and_includes_initial_labels() {
    let (x, mut problems) = clouds(400, 2, 16);
    for (i, y) in problems[0].y.iter_mut().enumerate() {
        *y = if i % 40 == 0 { Label::Pos } else { Label::Neg };
    }
    for select in [Strategy::Random, Strategy::Active, Strategy::AutoActive] {
        for labels in [60, 61, 200] {
            match (LasvmParams { labels, ..params(select) }).fit(x.view(), &problems, &()) {
                Ok(fitted) => assert!(fitted.online.unwrap().labels <= labels),
                Err(e) => assert!(e.to_string().contains("raise the budget"), "{e}"),
            }
        }
        let (_, online) = fit(&LasvmParams { labels: 380, ..params(select) }, &x, &problems);
        assert_eq!(online.counts.seen as usize, online.labels, "every queried label is learned");
        let (_, online) = fit(&LasvmParams { curve: true, ..params(select) }, &x, &problems);
        assert!(
            online.labels >= 100,
            "five labels of the rare class take about two hundred queries: {}",
            online.labels
        );
    }
}

#[test]
fn refuses_incompatible_parameters() {
    let (x, problems) = clouds(60, 2, 20);
    let refused = |p: LasvmParams| p.fit(x.view(), &problems, &()).unwrap_err().to_string();
    let p = params(Strategy::Active);
    assert!(refused(LasvmParams { epochs: 2, ..p.clone() }).contains("epochs = 2"));
    let both = LasvmParams { labels: 20, stop: StopRule::CrossValidated, ..p.clone() };
    assert!(refused(both).contains("labels = 20"));
    assert!(refused(LasvmParams { virtual_points: 101, ..p.clone() }).contains("virtual = 101"));
    assert!(refused(LasvmParams { n_neighbors: 0, ..p }).contains("neighbors = 0"));
}

#[test]
fn pairs_of_classes_are_queried_separately() {
    let (x, problems) = clouds(120, 2, 21);
    let pair = |skip: usize| {
        let y = (0..120).map(|i| if i % 3 == skip { Label::Unknown } else { problems[0].y[i] }).collect();
        Targets { y, cost: vec![1.0; 120] }
    };
    let pairs = [pair(0), pair(1)];
    let together = params(Strategy::Active).fit(x.view(), &pairs, &()).unwrap();
    assert_eq!(together.model.outputs(), 2);
    let f = together.model.decision(x.view()).unwrap();
    for (j, p) in pairs.iter().enumerate() {
        let used = p.used();
        let alone =
            params(Strategy::Active).fit(x.view().select(&used).view(), &[p.select(&used)], &()).unwrap();
        let g = alone.model.decision(x.view()).unwrap();
        assert!((0..120).all(|i| (f[i * 2 + j] - g[i]).abs() < 1e-6));
    }
}

#[test]
fn virtual_points_lie_between_positive_samples() {
    // [30]
    let (x, mut problems) = clouds(300, 2, 17);
    for (i, y) in problems[0].y.iter_mut().enumerate() {
        if *y == Label::Pos && i % 4 != 0 {
            *y = Label::Neg;
        }
    }
    let positives: Vec<usize> = (0..300).filter(|&i| problems[0].y[i] == Label::Pos).collect();
    for v in [1, 3] {
        let p = LasvmParams { virtual_points: v, stop: StopRule::Never, ..params(Strategy::Active) };
        let (model, online) = fit(&p, &x, &problems);
        let [created, support] = online.virtual_points;
        assert!(created > 0 && created % v == 0 && created <= v * positives.len() && support <= created);
        assert_eq!(online.counts.seen as usize, 300 + created, "virtual points are candidates");
        let Model::Expansion { points, .. } = &model else { panic!() };
        let pair = |i: usize, m: &Matrix| {
            let mut p = [0.0; 2];
            m.view().row(i).for_each(|c, v| p[c] = v);
            p
        };
        let real: Vec<[f64; 2]> = (0..300).map(|i| pair(i, &x)).collect();
        let made: Vec<[f64; 2]> =
            (0..points.rows()).map(|i| pair(i, points)).filter(|p| !real.contains(p)).collect();
        assert_eq!(made.len(), support);
        let virtual_rows = online.made.unwrap();
        let all_made: Vec<[f64; 2]> = (0..virtual_rows.rows()).map(|i| pair(i, &virtual_rows)).collect();
        assert_eq!(all_made.len(), created);
        assert!(made.iter().all(|m| all_made.contains(m)));
        for m in all_made {
            let on = |a: [f64; 2], b: [f64; 2]| {
                let (u, w) = ([b[0] - a[0], b[1] - a[1]], [m[0] - a[0], m[1] - a[1]]);
                let (along, length) = (u[0] * w[0] + u[1] * w[1], u[0] * u[0] + u[1] * u[1]);
                (u[0] * w[1] - u[1] * w[0]).abs() < 1e-9 && along >= 0.0 && along <= length
            };
            assert!(
                positives.iter().any(|&a| positives.iter().any(|&b| a != b && on(real[a], real[b]))),
                "{m:?}"
            );
        }
    }
}

#[test]
fn pool_scores_follow_the_decisions_of_the_state() {
    let (x, problems) = clouds(300, 3, 18);
    for (max_points, bytes) in [(1000, 1 << 20), (1000, 0), (40, 1 << 20), (40, 0)] {
        let p = LasvmParams { kernel: RBF, max_points, ..Default::default() };
        let mut state = Lasvm::new(&p, x.view(), 1).unwrap();
        let mut scores = PoolScores::new(x.view(), &state, bytes).unwrap();
        let mut own = PoolScores::new(x.view(), &state, bytes).unwrap().of_own_samples();
        for rows in (0..300).collect::<Vec<_>>().chunks(7) {
            state.learn(x.view(), rows, 0, &problems, &()).unwrap();
            scores.refresh(&state);
            own.refresh(&state);
            let f = state.model().decision(x.view()).unwrap();
            let bias = state.biases();
            for i in 0..300 {
                for scores in [&scores, &own] {
                    let score = scores.decision(i, &bias)[0];
                    assert!((score - f[i]).abs() < 1e-4, "{score} {}", f[i]);
                }
            }
        }
    }
}

#[test]
fn retraining_after_every_label_equals_batch_training() {
    let (x, problems) = clouds(120, 2, 19);
    let p = LasvmParams { retrain: true, labels: 50, tolerance: 1e-5, ..params(Strategy::Active) };
    let (model, online) = fit(&p, &x, &problems);
    let asked: Vec<usize> = online.saved.ids.iter().map(|id| *id as usize).collect();
    let part = [problems[0].select(&asked)];
    let svc = evermargin::estimators::supervised::svc::SvcParams {
        kernel: RBF,
        tolerance: 1e-5,
        ..Default::default()
    };
    let batch = svc.fit(x.view().select(&asked).view(), &part, &()).unwrap();
    let (a, b) = (model.decision(x.view()).unwrap(), batch.model.decision(x.view()).unwrap());
    assert!(a.iter().zip(&b).all(|(a, b)| (a - b).abs() < 1e-3));
}
