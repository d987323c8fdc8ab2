//! One-vs-one decision functions in the layout of LIBSVM and ONNX: support vectors are grouped by class, and each has one
//! coefficient per other class. The decision of a pair of classes is a sum over the vectors of these two classes.

/// Point as a support vector of one class.
pub(crate) struct ClassVector {
    pub(crate) class: usize,
    pub(crate) point: usize,
    /// One coefficient per class; 0 for its own class.
    pub(crate) coef: Vec<f64>,
}

/// Number of the pair (a, b), a < b < n, in the order (0,1), (0,2), …, (1,2), ….
pub(crate) fn pair(a: usize, b: usize, n: usize) -> usize {
    a * (2 * n - a - 1) / 2 + (b - a - 1)
}

/// Converts coefficients, one row per pair of classes, to the layout by class. A point whose coefficient in the pair (a, b)
/// is positive becomes a vector of b, and a negative one a vector of a, so a point can be a vector of several classes.
/// Points without a coefficient are omitted.
pub(crate) fn by_class(coef: &[Vec<f64>], n: usize) -> Vec<ClassVector> {
    let points = coef.first().map_or(0, Vec::len);
    let mut vectors = Vec::with_capacity(points);
    let mut against = vec![0.0; n * n]; // [class, other class]
    for point in 0..points {
        against.fill(0.0);
        for (a, b) in (0..n).flat_map(|a| (a + 1..n).map(move |b| (a, b))) {
            let c = coef[pair(a, b, n)][point];
            against[if c > 0.0 { b * n + a } else { a * n + b }] = c;
        }
        for (class, coef) in against.chunks(n.max(1)).enumerate() {
            if coef.iter().any(|c| *c != 0.0) {
                vectors.push(ClassVector { class, point, coef: coef.to_vec() });
            }
        }
    }
    vectors
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_pairs_in_order() {
        for n in 2..9 {
            let mut next = 0;
            for a in 0..n {
                for b in a + 1..n {
                    assert_eq!(pair(a, b, n), next);
                    next += 1;
                }
            }
        }
    }

    #[test]
    fn assigns_each_coefficient_to_one_class_of_its_pair() {
        // pairs (0,1), (0,2), (1,2); four points, the last without a coefficient
        let coef = [vec![1.0, -2.0, 0.0, 0.0], vec![0.0, 3.0, -4.0, 0.0], vec![5.0, 0.0, 6.0, 0.0]];
        let vectors = by_class(&coef, 3);
        for (a, b) in [(0, 1), (0, 2), (1, 2)] {
            for (point, c) in coef[pair(a, b, 3)].iter().enumerate() {
                let of = |class: usize, other: usize| {
                    let own = vectors.iter().filter(|v| v.point == point && v.class == class);
                    own.map(|v| v.coef[other]).sum::<f64>()
                };
                assert_eq!(of(a, b) + of(b, a), *c);
                assert!(of(a, b) <= 0.0 && of(b, a) >= 0.0);
            }
        }
        assert_eq!(vectors.len(), 6);
        assert!(vectors.iter().all(|v| v.coef[v.class] == 0.0 && v.point < 3));
        assert!(by_class(&[Vec::new()], 2).is_empty());
    }
}
