//! `svc` with extreme input: huge and tiny values, wide data, kernels that overflow, duplicates, step limits and invalid
//! parameters.
use crate::common::svc::{KERNELS, Problem, close, clouds, decisions, fit, params, sparsify};
use evermargin::estimators::supervised::svc::SvcParams;
use evermargin::estimators::{Fit, Targets};
use evermargin::solver::{Exit, Progress, Watch};
use evermargin::{Kernel, Label, Matrix, Model};

#[test]
fn large_offsets_and_scales_do_not_change_decisions() {
    let p = clouds(200, 3, 12);
    let Matrix::Dense { values, .. } = &p.x else { panic!("dense") };
    let kernel = Kernel::Rbf { gamma: 0.7 };
    let plain = decisions(&fit(&params(kernel, 1.0), &p), &p.x);
    let far = values.iter().map(|v| v + 1e5).collect();
    let moved = Problem { x: Matrix::dense(far, 200, 3).unwrap(), targets: p.targets.clone() };
    close(&decisions(&fit(&params(kernel, 1.0), &moved), &moved.x), &plain, 1e-4);
    let large = values.iter().map(|v| v * 1e40).collect();
    let scaled = Problem { x: Matrix::dense(large, 200, 3).unwrap(), targets: p.targets.clone() };
    let steep = fit(&params(Kernel::Rbf { gamma: 0.7e-80 }, 1.0), &scaled);
    close(&decisions(&steep, &scaled.x), &plain, 1e-4);
}

#[test]
fn a_large_constant_column_of_sparse_data_does_not_change_decisions() {
    let p = clouds(150, 6, 22);
    let sparse = Problem { x: sparsify(&p.x, 0.8), targets: p.targets.clone() };
    let Matrix::Csr { indptr, indices, values, .. } = &sparse.x else { panic!("sparse") };
    let (mut new_indptr, mut new_indices, mut v) = (vec![0], Vec::new(), Vec::new());
    for w in indptr.windows(2) {
        new_indices.extend_from_slice(&indices[w[0]..w[1]]);
        v.extend_from_slice(&values[w[0]..w[1]]);
        new_indices.push(50_000);
        v.push(1000.0);
        new_indptr.push(new_indices.len());
    }
    let offset =
        Problem { x: Matrix::csr(new_indptr, new_indices, v, 50_001).unwrap(), targets: p.targets.clone() };
    let (a, b) = (fit(&params(KERNELS[1], 1.0), &offset), fit(&params(KERNELS[1], 1.0), &sparse));
    close(&decisions(&a, &offset.x), &decisions(&b, &sparse.x), 1e-4);
}

#[test]
fn tiny_values_with_large_gamma_do_not_change_decisions() {
    let p = clouds(100, 3, 23);
    let Matrix::Dense { values, .. } = &p.x else { panic!("dense") };
    let plain = decisions(&fit(&params(Kernel::Rbf { gamma: 0.7 }, 1.0), &p), &p.x);
    let tiny = Matrix::dense(values.iter().map(|v| v * 1e-25).collect(), 100, 3).unwrap();
    let tiny = Problem { x: tiny, targets: p.targets.clone() };
    let steep = Kernel::Rbf { gamma: 0.7e50 };
    close(&decisions(&fit(&params(steep, 1.0), &tiny), &tiny.x), &plain, 1e-4);
}

#[test]
fn wide_sparse_data_gives_the_decisions_of_its_nonempty_columns() {
    let narrow = Problem { x: sparsify(&clouds(120, 8, 21).x, 0.7), targets: clouds(120, 8, 21).targets };
    let Matrix::Csr { indptr, indices, values, .. } = &narrow.x else { panic!("sparse") };
    let far = indices.iter().map(|c| c * 500_000 + 7).collect();
    let wide = Matrix::csr(indptr.clone(), far, values.clone(), 4_000_000).unwrap();
    let wide = Problem { x: wide, targets: narrow.targets.clone() };
    let (a, b) = (fit(&params(KERNELS[1], 1.0), &wide), fit(&params(KERNELS[1], 1.0), &narrow));
    close(&decisions(&a, &wide.x), &decisions(&b, &narrow.x), 1e-9);
    let unseen = Matrix::csr(vec![0, 1], vec![3_999_999], vec![50.0], 4_000_000).unwrap();
    let Model::Expansion { bias, .. } = &a.model else { panic!("expansion") };
    close(&decisions(&a, &unseen), bias, 1e-9);
}

#[test]
fn refuses_overflowing_kernels_and_asymmetric_kernel_matrices() {
    let p = clouds(10, 2, 1);
    let Matrix::Dense { values, .. } = &p.x else { panic!("dense") };
    let large = Problem {
        x: Matrix::dense(values.iter().map(|v| v * 1e14).collect(), 10, 2).unwrap(),
        targets: p.targets.clone(),
    };
    let steep = params(Kernel::Poly { gamma: 1.0, coef0: 0.0, degree: 3 }, 1.0);
    let error = steep.fit(large.x.view(), &[large.targets], &()).unwrap_err().to_string();
    assert!(error.starts_with("values of the poly kernel reach "), "{error}");
    assert!(error.ends_with("on this data: scale the data or lower gamma"), "{error}");
    let folded = params(Kernel::Poly { gamma: 1000.0, coef0: -1000.0, degree: 30 }, 1.0);
    let error = folded.fit(p.x.view(), std::slice::from_ref(&p.targets), &()).unwrap_err().to_string();
    assert!(error.starts_with("values of the poly kernel reach "), "{error}");
    let small = Matrix::dense(values.iter().map(|v| v * 1e-20).collect(), 10, 2).unwrap();
    assert_eq!(
        params(Kernel::Linear, 1.0)
            .fit(small.view(), std::slice::from_ref(&p.targets), &())
            .unwrap_err()
            .to_string(),
        "values of the linear kernel reach 2e-40 on this data: scale the data"
    );
    let mut k = vec![0.0; 100];
    k[1] = 1.0;
    let asymmetric = Matrix::dense(k, 10, 10).unwrap();
    let given = params(Kernel::Precomputed, 1.0);
    assert_eq!(
        given.fit(asymmetric.view(), std::slice::from_ref(&p.targets), &()).unwrap_err().to_string(),
        "kernel matrix: entry (2, 1) is 0 but (1, 2) is 1; it must be symmetric"
    );
}

#[test]
fn converges_on_duplicates_with_opposite_labels() {
    let x = Matrix::dense([0.0, 1.0, 0.5, 0.25].repeat(20), 40, 2).unwrap();
    let y = (0..40).map(|i| if i % 4 < 2 { Label::Pos } else { Label::Neg }).collect();
    let p = Problem { x, targets: Targets { y, cost: vec![1.0; 40] } };
    let fitted = fit(&params(KERNELS[1], 100.0), &p);
    assert_eq!(fitted.reports[0].exit, Exit::Converged);
    assert!(decisions(&fitted, &p.x).iter().all(|f| f.is_finite()));
}

#[test]
fn decision_of_a_distant_point_is_the_bias() {
    let p = clouds(50, 2, 13);
    let fitted = fit(&params(KERNELS[1], 1.0), &p);
    let Model::Expansion { bias, .. } = &fitted.model else { panic!("expansion") };
    let far = Matrix::dense(vec![1e6, -1e6, 1e90, 1e90], 2, 2).unwrap();
    close(&decisions(&fitted, &far), &[bias[0], bias[0]], 1e-6);
}

/// Stops training after a number of calls.
struct StopAfter(std::sync::atomic::AtomicU64);

impl Watch for StopAfter {
    fn proceed(&self, _: &Progress) -> bool {
        let left = self.0.load(std::sync::atomic::Ordering::Relaxed);
        self.0.store(left.saturating_sub(1), std::sync::atomic::Ordering::Relaxed);
        left > 0
    }
}

#[test]
fn an_interrupt_or_a_step_limit_leaves_a_valid_model() {
    let p = clouds(2500, 6, 14);
    let base = SvcParams { kernel: KERNELS[1], c: 10.0, tolerance: 1e-7, ..Default::default() };
    let stopped = base.fit(p.x.view(), std::slice::from_ref(&p.targets), &StopAfter(2.into())).unwrap();
    assert_eq!(stopped.reports[0].exit, Exit::Interrupted);
    let limited = fit(&SvcParams { max_steps: Some(300), ..base }, &p);
    assert_eq!((limited.reports[0].exit, limited.reports[0].steps), (Exit::Limit, 300));
    for fitted in [stopped, limited] {
        fitted.model.check().unwrap();
        let f = decisions(&fitted, &p.x);
        let right = f.iter().zip(&p.targets.y).filter(|(f, y)| (**f > 0.0) == (**y == Label::Pos)).count();
        assert!(right > 1500, "{right} of 2500 right");
    }
}

#[test]
fn names_invalid_parameters_and_data() {
    let p = clouds(10, 2, 1);
    let message = |params: SvcParams, targets: &Targets| {
        params.fit(p.x.view(), std::slice::from_ref(targets), &()).unwrap_err().to_string()
    };
    let good = SvcParams::default();
    let t = &p.targets;
    let with = |f: &dyn Fn(&mut SvcParams)| {
        let mut params = good.clone();
        f(&mut params);
        params
    };
    assert_eq!(message(with(&|p| p.c = 0.0), t), "parameter c = 0: must be a number above 0, at most 1e15");
    assert_eq!(
        message(with(&|p| p.c = f64::NAN), t),
        "parameter c = NaN: must be a number above 0, at most 1e15"
    );
    assert_eq!(
        message(with(&|p| p.tolerance = -1.0), t),
        "parameter tolerance = -1: must be a positive number"
    );
    assert_eq!(
        message(with(&|p| p.kernel = Kernel::Rbf { gamma: f64::INFINITY }), t),
        "parameter gamma = inf: must be a positive number"
    );
    assert_eq!(
        message(with(&|p| p.kernel = Kernel::Poly { gamma: 1.0, coef0: 0.0, degree: 0 }), t),
        "parameter degree = 0: must be a whole number from 1 to 32"
    );
    assert_eq!(
        message(with(&|p| p.kernel = Kernel::Sigmoid { gamma: 1.0, coef0: f64::NAN }), t),
        "parameter coef0 = NaN: must be a finite number"
    );
    assert_eq!(
        message(with(&|p| p.kernel = Kernel::Precomputed), t),
        "columns of a precomputed kernel matrix: expected 10, found 2"
    );
    let one_class = Targets { y: vec![Label::Pos; 10], cost: vec![1.0; 10] };
    assert_eq!(
        message(good.clone(), &one_class),
        "training needs labeled rows of two classes; only one class (or none) has any"
    );
    let short = Targets { y: vec![Label::Pos; 9], cost: vec![1.0; 10] };
    assert_eq!(message(good.clone(), &short), "labels: expected 10, found 9");
    let negative = Targets { y: t.y.clone(), cost: vec![-1.0; 10] };
    assert_eq!(message(good, &negative), "weight -1 of row 1: must be a finite number, 0 or more");
}
