//! `lasvm`: invariants of its state after every sample, on random problems. Numbers in brackets are those of the list of
//! invariants for Ertekin's thesis.
use crate::common::{clouds, learn, recompute, small_integers};
use evermargin::data::{Label, Matrix};
use evermargin::estimators::online::lasvm::{Lasvm, LasvmParams, LasvmVariant};
use evermargin::estimators::supervised::svc::SvcParams;
use evermargin::estimators::{Fit, Fitted, Targets};
use evermargin::kernel::Kernel;
use evermargin::model::Model;

const RBF: Kernel = Kernel::Rbf { gamma: 0.5 };

fn params(kernel: Kernel, c: f64) -> LasvmParams {
    LasvmParams { kernel, c, ..Default::default() }
}

fn decisions(model: &Model, x: &Matrix) -> Vec<f64> {
    model.decision(x.view()).unwrap()
}

fn fit(p: &impl Fit, x: &Matrix, problems: &[Targets]) -> Fitted {
    p.fit(x.view(), problems, &()).unwrap()
}

/// target − Kα recomputed with the kernel values that the solver uses.
fn own_gradient(state: &mut Lasvm) -> Vec<f64> {
    let (points, b) = (state.points().clone(), state.biases()[0]);
    let all: Vec<usize> = (0..points.rows()).collect();
    let f = state.decisions(points.view(), &all).unwrap();
    state.output(0).target().iter().zip(&f).map(|(t, f)| t - (f[0] - b)).collect()
}

#[test]
fn state_invariants_hold_after_every_sample() {
    for seed in 0..12 {
        let c = [0.1, 1.0, 10.0][seed as usize % 3];
        let ((x, problems), kernel, exact) = if seed % 2 == 0 {
            (small_integers(60, 3, seed), Kernel::Linear, 1e-9)
        } else {
            (clouds(60, 3, seed), RBF, 3e-7)
        };
        let p = params(kernel, c);
        let mut state = Lasvm::new(&p, x.view(), 1).unwrap();
        let mut before = 0.0;
        for row in 0..60 {
            let e = state.gradient_bounds(0);
            let (b, delta) = (f64::midpoint(e.max_up, e.min_down), e.max_up - e.min_down);
            let f = decisions(&state.model(), &x.view().select(&[row]))[0] - state.biases()[0];
            let process = state.counts().process;
            learn(&mut state, &x, &problems, row);
            let (dual, again) = (state.output(0), recompute(&state, kernel));
            // [1] bounds hold exactly, the sum of α is 0 up to rounding
            for (i, &a) in dual.alpha().iter().enumerate() {
                let (lo, hi) = dual.bounds(i);
                assert!(lo <= a && a <= hi);
                assert!(dual.gradient()[i].is_finite());
            }
            assert!(dual.alpha().iter().sum::<f64>().abs() <= 1e-9 * c * 60.0);
            // [2], [15] gradients equal recomputed ones
            for (g, expected) in dual.gradient().iter().zip(&again.gradient) {
                assert!((g - expected).abs() <= exact * again.l1_norm.max(1.0), "{g} not {expected}");
            }
            // [2] to 1e-8 with the kernel values of the solver. Those of an rbf kernel are single precision, so the
            // comparison with double precision above is limited to that.
            let own = own_gradient(&mut state);
            let dual = state.output(0);
            for (g, expected) in dual.gradient().iter().zip(&own) {
                assert!((g - expected).abs() <= 1e-8 * again.l1_norm.max(1.0), "{g} not {expected}");
            }
            // [3] only live points have nonzero coefficients
            let live: Vec<usize> = state.ids().map(|(s, _)| s).collect();
            assert!((0..dual.len()).all(|s| live.contains(&s) || dual.alpha()[s] == 0.0));
            // [4] the dual objective never decreases (steps.rs checks the exact gain of a step)
            assert!(again.dual >= before - 1e-6 * again.dual.abs().max(1.0), "{} after {before}", again.dual);
            before = again.dual;
            // [7] which samples are processed
            let y = problems[0].y[row].sign();
            let slack = 1.0 + 0.5 * delta - p.tolerance - y * (f + b);
            if delta.is_finite() && slack.abs() > 1e-6 {
                assert_eq!(state.counts().process > process, slack > 0.0, "row {row}, slack {slack}");
            }
            // [8] no idle point is left
            let e = state.gradient_bounds(0);
            if e.min_down < e.max_up && e.max_up.is_finite() && e.min_down.is_finite() {
                assert!(live.iter().all(|&s| !dual.is_idle(s, e)));
            }
            // [6] learning a point again does not change the state
            let member = state.ids().next();
            if let Some((_, id)) = member {
                let (saved, counts) = (state.save(), state.counts());
                learn(&mut state, &x, &problems, id as usize);
                assert_eq!(state.save().outputs, saved.outputs);
                assert_eq!(state.counts().seen, counts.seen);
            }
        }
    }
}

#[test]
fn finishing_reaches_the_optimum_over_the_points() {
    for seed in 20..28 {
        let (x, problems) = clouds(80, 2, seed);
        let p = params(RBF, 2.0);
        let mut state = Lasvm::new(&p, x.view(), 1).unwrap();
        state.learn(x.view(), &(0..80).collect::<Vec<_>>(), 0, &problems, &()).unwrap();
        let before = recompute(&state, RBF).dual;
        state.finish(&());
        // [4], [5]
        assert!(recompute(&state, RBF).dual >= before - 1e-9);
        let e = state.gradient_bounds(0);
        assert!(e.max_up - e.min_down <= p.tolerance);
        let saved = state.save();
        assert_eq!(state.finish(&())[0].steps, 0, "finishing again takes no steps");
        assert_eq!(state.save().outputs, saved.outputs);
        // [9] margins, with b at the midpoint
        let (dual, b) = (state.output(0), f64::midpoint(e.max_up, e.min_down));
        let half = 0.5 * p.tolerance + 1e-6;
        for s in 0..dual.len() {
            let (y, (lo, hi), a) = (dual.target()[s], dual.bounds(s), dual.alpha()[s]);
            let z = 1.0 - y * (dual.gradient()[s] - b);
            if lo < a && a < hi {
                assert!((z - 1.0).abs() <= half, "free, z = {z}");
            }
            if z < 1.0 - half {
                assert_eq!(a, if y > 0.0 { hi } else { lo });
            }
            if z > 1.0 + half {
                assert_eq!(a, 0.0);
            }
        }
    }
}

#[test]
fn several_epochs_reach_the_solution_of_the_batch_solver() {
    let (x, problems) = clouds(300, 3, 5);
    let batch = fit(&SvcParams { kernel: RBF, c: 1.0, tolerance: 1e-4, ..Default::default() }, &x, &problems);
    let p = LasvmParams { epochs: 5, tolerance: 1e-4, ..params(RBF, 1.0) };
    let online = fit(&p, &x, &problems);
    // [10]
    let (a, b) = (batch.reports[0].objective, online.reports[0].objective);
    assert!((a - b).abs() < 1e-4 * a.abs(), "{a} {b}");
    let (fa, fb) = (decisions(&batch.model, &x), decisions(&online.model, &x));
    assert!(fa.iter().zip(&fb).all(|(a, b)| (a - b).abs() < 2e-3));
    assert!(batch.model.support_count().abs_diff(online.model.support_count()) <= 3);
    // training on the support vectors only gives the same function
    let Model::Expansion { points, coef, .. } = &online.model else { panic!() };
    let y = coef[0].iter().map(|c| if *c > 0.0 { Label::Pos } else { Label::Neg }).collect();
    let alone = vec![Targets { y, cost: vec![1.0; points.rows()] }];
    let again =
        fit(&SvcParams { kernel: RBF, c: 1.0, tolerance: 1e-4, ..Default::default() }, points, &alone);
    let fc = decisions(&again.model, &x);
    assert!(fb.iter().zip(&fc).all(|(a, b)| (a - b).abs() < 2e-3));
}

#[test]
fn one_epoch_is_close_to_the_optimum_and_three_reach_it() {
    let (x, problems) = clouds(400, 2, 77);
    let exact = fit(&SvcParams { kernel: RBF, c: 1.0, tolerance: 1e-6, ..Default::default() }, &x, &problems);
    let objective =
        |epochs| fit(&LasvmParams { epochs, ..params(RBF, 1.0) }, &x, &problems).reports[0].objective;
    let best = exact.reports[0].objective;
    assert!(objective(1) < 0.97 * best && objective(1) >= best - 1e-6 * best.abs());
    assert!((objective(3) - best).abs() < 2e-3 * best.abs());
}

#[test]
fn flipped_labels_scaled_kernels_and_permuted_columns_give_the_same_function() {
    let (x, problems) = small_integers(80, 3, 9);
    let p = LasvmParams { kernel: Kernel::Linear, c: 0.5, ..Default::default() };
    let base = decisions(&fit(&p, &x, &problems).model, &x);
    // [11] flipped labels negate the function. Here samples are learned in row order, because the default order of both
    // runs begins with one row of each class.
    let run = |p: &LasvmParams, x: &Matrix, problems: &[Targets]| {
        let mut s = Lasvm::new(p, x.view(), 1).unwrap();
        s.learn(x.view(), &(0..x.rows()).collect::<Vec<_>>(), 0, problems, &()).unwrap();
        decisions(&s.model(), x)
    };
    let plain = run(&p, &x, &problems);
    let flipped =
        problems[0].y.iter().map(|y| if *y == Label::Pos { Label::Neg } else { Label::Pos }).collect();
    let flipped = [Targets { y: flipped, cost: vec![1.0; 80] }];
    let close = |a: &[f64], b: &[f64], sign: f64| a.iter().zip(b).all(|(a, b)| (a - sign * b).abs() < 1e-5);
    assert!(close(&plain, &run(&p, &x, &flipped), -1.0));
    // K to 4K and C to C/4: the same function
    let Matrix::Dense { values, .. } = &x else { panic!() };
    let doubled = Matrix::dense(values.iter().map(|v| 2.0 * v).collect(), 80, 3).unwrap();
    assert!(close(&plain, &run(&LasvmParams { c: 0.125, ..p.clone() }, &doubled, &problems), 1.0));
    // columns in another order
    let turned: Vec<f64> = (0..80).flat_map(|i| [2, 0, 1].map(|c| values[i * 3 + c])).collect();
    assert!(close(&plain, &run(&p, &Matrix::dense(turned, 80, 3).unwrap(), &problems), 1.0));
    assert_eq!(base.len(), 80);
}

#[test]
fn degenerate_data_gives_finite_decisions() {
    // [12]
    let all_losses = [
        LasvmVariant::Hinge,
        LasvmVariant::Gap,
        LasvmVariant::Ramp,
        LasvmVariant::Filter,
        LasvmVariant::Full,
        LasvmVariant::Local,
    ];
    let cases: Vec<(Vec<f64>, Vec<Label>)> = vec![
        (vec![0.0; 80], (0..40).map(|i| if i % 2 == 0 { Label::Pos } else { Label::Neg }).collect()),
        ([1.0, 2.0].repeat(40), (0..40).map(|i| if i < 30 { Label::Pos } else { Label::Neg }).collect()),
        (
            (0..80).map(|i| f64::from(i / 2 % 5)).collect(),
            (0..40).map(|i| if i % 3 == 0 { Label::Pos } else { Label::Neg }).collect(),
        ),
    ];
    for (values, y) in cases {
        let x = Matrix::dense(values, 40, 2).unwrap();
        let problems = [Targets { y, cost: vec![1.0; 40] }];
        for loss in all_losses {
            for kernel in [Kernel::Linear, RBF, Kernel::Sigmoid { gamma: 0.5, coef0: -1.0 }] {
                for c in [1e-9, 1.0, 1e9] {
                    let p = LasvmParams { variant: loss, warm_up: 2, epochs: 2, ..params(kernel, c) };
                    let fitted = fit(&p, &x, &problems);
                    assert!(
                        decisions(&fitted.model, &x).iter().all(|f| f.is_finite()),
                        "{loss:?} {kernel:?} {c}"
                    );
                }
            }
        }
    }
}

#[test]
fn the_cache_size_does_not_change_the_result() {
    // [13] finishing fetches as many rows at a time as the cache holds, at most 384; apart from this, results are
    // bit-identical
    let (x, problems) = clouds(500, 4, 3);
    for loss in [LasvmVariant::Hinge, LasvmVariant::Gap] {
        let run = |cache_bytes, finish| {
            fit(&LasvmParams { variant: loss, finish, cache_bytes, ..params(RBF, 1.0) }, &x, &problems)
        };
        let (small, large) = (run(0, false), run(1 << 28, false));
        assert!(small.model == large.model);
        assert!(small.reports[0].kernel_evaluations > large.reports[0].kernel_evaluations);
        assert!(run(4 << 20, true).model == run(1 << 28, true).model);
        let (small, large) = (run(0, true), run(1 << 28, true));
        assert!((small.reports[0].objective - large.reports[0].objective).abs() < 1e-4);
    }
}

#[test]
fn chunks_checkpoints_and_threads_do_not_change_the_result() {
    // [14]
    let (x, mut problems) = clouds(300, 4, 4);
    let second =
        problems[0].y.iter().enumerate().map(|(i, y)| if i % 3 == 0 { Label::Neg } else { *y }).collect();
    problems.push(Targets { y: second, cost: vec![1.0; 300] });
    let sparse = x.view().to_csr();
    for loss in [
        LasvmVariant::Hinge,
        LasvmVariant::Gap,
        LasvmVariant::Ramp,
        LasvmVariant::Filter,
        LasvmVariant::Local,
    ] {
        let p = LasvmParams { variant: loss, warm_up: 20, clean_every: 50, ..params(RBF, 1.0) };
        for x in [&x, &sparse] {
            let all: Vec<usize> = (0..300).collect();
            let mut whole = Lasvm::new(&p, x.view(), 2).unwrap();
            whole.learn(x.view(), &all, 0, &problems, &()).unwrap();
            let mut parts = Lasvm::new(&p, x.view(), 2).unwrap();
            let pool = rayon::ThreadPoolBuilder::new().num_threads(3).build().unwrap();
            let mut start = 0;
            for size in [1, 2, 61, 7, 100, 64, 65] {
                let rows = &all[start..start + size];
                pool.install(|| parts.learn(x.view(), rows, 0, &problems, &())).unwrap();
                parts = Lasvm::resume(&parts.save()).unwrap();
                start += size;
            }
            assert_eq!(start, 300);
            whole.finish(&());
            parts.finish(&());
            assert!(whole.model() == parts.model(), "{loss:?}");
            let (a, b) = (whole.save(), parts.save());
            assert!((a.outputs, a.ids, a.points) == (b.outputs, b.ids, b.points));
            assert_eq!(a.counts.process, b.counts.process);
        }
    }
}

#[test]
fn weight_two_equals_twice_the_cost() {
    let (x, problems) = clouds(100, 2, 31);
    let weighted = [Targets { cost: vec![2.0; 100], ..problems[0].clone() }];
    let (a, b) = (fit(&params(RBF, 1.0), &x, &weighted), fit(&params(RBF, 2.0), &x, &problems));
    assert_eq!(a.model, b.model);
}

#[test]
fn a_larger_delta_max_gives_a_smaller_gap_before_finishing() {
    let (x, problems) = clouds(400, 2, 13);
    let gap = |delta_max| {
        let p = LasvmParams { delta_max, finish: false, ..params(Kernel::Rbf { gamma: 2.0 }, 100.0) };
        let fitted = fit(&p, &x, &problems);
        (fitted.reports[0].gap, fitted.online.unwrap().counts.reprocess)
    };
    let ((loose, few), (tight, many)) = (gap(0.0), gap(0.1));
    assert!(tight < loose && many > few, "{loose} {tight} {few} {many}");
}

#[test]
fn several_outputs_reach_the_objectives_of_separate_fits() {
    let (x, problems) = clouds(200, 3, 8);
    let three: Vec<Targets> = (0..3)
        .map(|k| Targets {
            y: (0..200).map(|i| if i % 3 == k { Label::Pos } else { Label::Neg }).collect(),
            cost: vec![1.0; 200],
        })
        .chain(problems)
        .collect();
    let p = LasvmParams { epochs: 10, tolerance: 1e-4, ..params(RBF, 1.0) };
    let fitted = fit(&p, &x, &three);
    let svc = SvcParams { kernel: RBF, c: 1.0, tolerance: 1e-5, ..Default::default() };
    for (j, problem) in three.iter().enumerate() {
        let alone = fit(&svc, &x, std::slice::from_ref(problem)).reports[0].objective;
        let together = fitted.reports[j].objective;
        assert!((alone - together).abs() < 1e-3 * alone.abs(), "output {j}: {alone} {together}");
    }
}

#[test]
fn max_points_holds_and_accuracy_stays_useful() {
    let (x, problems) = clouds(2000, 2, 41);
    for loss in
        [LasvmVariant::Hinge, LasvmVariant::Gap, LasvmVariant::Ramp, LasvmVariant::Filter, LasvmVariant::Full]
    {
        let p = LasvmParams { variant: loss, max_points: 60, warm_up: 20, ..params(RBF, 1.0) };
        let mut state = Lasvm::new(&p, x.view(), 1).unwrap();
        for row in 0..2000 {
            learn(&mut state, &x, &problems, row);
            assert!(state.len() <= 60);
        }
        let again = recompute(&state, RBF);
        let dual = state.output(0);
        let drift =
            dual.gradient().iter().zip(&again.gradient).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        assert!(drift < 1e-5 * again.l1_norm.max(1.0), "{drift}");
        let right = |model: &Model| {
            let f = decisions(model, &x);
            f.iter().zip(&problems[0].y).filter(|(f, y)| *f * y.sign() > 0.0).count()
        };
        let free = fit(&LasvmParams { variant: loss, ..params(RBF, 1.0) }, &x, &problems);
        let (kept, all) = (right(&state.model()), right(&free.model));
        assert!(
            kept * 100 > all * 85,
            "{loss:?}: {kept} right with 60 points, {all} with {}",
            free.model.support_count()
        );
    }
}

#[test]
fn a_million_samples_use_constant_memory() {
    let (x, problems) = clouds(1000, 2, 6);
    for loss in [LasvmVariant::Hinge, LasvmVariant::Ramp] {
        let p =
            LasvmParams { variant: loss, max_points: 30, warm_up: 10, cache_bytes: 0, ..params(RBF, 1.0) };
        let mut state = Lasvm::new(&p, x.view(), 1).unwrap();
        let all: Vec<usize> = (0..1000).collect();
        for round in 0..1000u64 {
            state.learn(x.view(), &all, 1000 * round, &problems, &()).unwrap();
            assert!(
                state.len() <= 30 && state.points().rows() <= 30 * 4 / 3 + 17,
                "{}",
                state.points().rows()
            );
        }
        assert_eq!(state.counts().seen, 1_000_000);
        let drift = recompute(&state, RBF);
        let worst = state.output(0).gradient().iter().zip(&drift.gradient).map(|(a, b)| (a - b).abs());
        assert!(worst.fold(0.0, f64::max) < 1e-4, "gradients have drifted");
    }
}

#[test]
fn refuses_invalid_parameters_data_and_states() {
    let (x, problems) = clouds(20, 2, 1);
    let refused = |p: LasvmParams| p.fit(x.view(), &problems, &()).unwrap_err().to_string();
    assert!(refused(params(RBF, 0.0)).contains("parameter c = 0"));
    assert!(refused(params(Kernel::Precomputed, 1.0)).contains("kernel = precomputed"));
    assert!(refused(LasvmParams { s: 1.0, ..params(RBF, 1.0) }).contains("s = 1"));
    assert!(refused(LasvmParams { max_points: 1, ..params(RBF, 1.0) }).contains("max_points = 1"));
    let mut state = Lasvm::new(&params(RBF, 1.0), x.view(), 1).unwrap();
    let wide = Matrix::dense(vec![0.0; 3], 1, 3).unwrap();
    assert!(state.learn(wide.view(), &[0], 0, &problems, &()).unwrap_err().to_string().contains("columns"));
    let mut saved = state.save();
    saved.ids.push(7);
    assert!(Lasvm::resume(&saved).unwrap_err().to_string().contains("damaged"));
}

#[test]
fn beyond_max_points_the_most_contradicted_point_is_evicted() {
    let (x, problems) = clouds(400, 2, 44);
    let p = LasvmParams { max_points: 40, delta_max: 1e-3, ..params(RBF, 1.0) };
    let mut state = Lasvm::new(&p, x.view(), 1).unwrap();
    let mut seen = 0;
    for row in 0..400 {
        let before = state.save();
        learn(&mut state, &x, &problems, row);
        if state.counts().over_cap == before.counts.over_cap {
            continue;
        }
        // the same without a limit: which point contradicts the model most?
        let free = LasvmParams { max_points: 1000, ..p.clone() };
        let mut free =
            Lasvm::resume(&evermargin::estimators::online::lasvm::Saved { params: free, ..before }).unwrap();
        learn(&mut free, &x, &problems, row);
        let (dual, b) = (free.output(0), free.biases()[0]);
        let pull = |s: usize| dual.alpha()[s] * (dual.gradient()[s] - b);
        let live: Vec<(usize, u64)> = free.ids().collect();
        let gone: Vec<usize> =
            live.iter().filter(|(_, id)| !state.ids().any(|(_, k)| k == *id)).map(|(s, _)| *s).collect();
        assert_eq!(gone.len(), 1);
        if live.iter().all(|(s, _)| dual.alpha()[*s] != 0.0) {
            assert!(live.iter().all(|(s, _)| pull(*s) <= pull(gone[0])));
            seen += 1;
        } else {
            assert_eq!(dual.alpha()[gone[0]], 0.0, "idle points are evicted first");
        }
    }
    assert!(seen > 50, "{seen}");
}

#[test]
fn accepts_streams_that_begin_with_one_class() {
    let (x, mut problems) = clouds(200, 2, 45);
    problems[0].y[..150].fill(Label::Neg);
    problems[0].y[150..]
        .iter_mut()
        .enumerate()
        .for_each(|(i, y)| *y = if i % 2 == 0 { Label::Pos } else { *y });
    for loss in
        [LasvmVariant::Hinge, LasvmVariant::Gap, LasvmVariant::Ramp, LasvmVariant::Filter, LasvmVariant::Full]
    {
        let p = LasvmParams { variant: loss, max_points: 100, ..params(RBF, 1.0) };
        let mut state = Lasvm::new(&p, x.view(), 1).unwrap();
        for row in 0..200 {
            learn(&mut state, &x, &problems, row);
            assert!(state.len() <= 100 && state.biases()[0].is_finite());
        }
        assert!(decisions(&state.model(), &x).iter().any(|f| *f > 0.0), "{loss:?}");
    }
}
