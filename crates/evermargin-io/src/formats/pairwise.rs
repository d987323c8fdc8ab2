//! One class against one other as LIBSVM and ONNX hold it: vectors stand class by class, each with one coefficient for each
//! other class. The decision of a pair is the sum over the vectors of its two classes.

/// A point in the ranks of a class.
pub(crate) struct Standing {
    pub(crate) class: usize,
    pub(crate) point: usize,
    /// One coefficient for each other class; 0 for its own.
    pub(crate) coef: Vec<f64>,
}

/// The number of the pair (a, b), a < b < n, in the order (0,1), (0,2), …, (1,2), ….
pub(crate) fn pair(a: usize, b: usize, n: usize) -> usize {
    a * (2 * n - a - 1) / 2 + (b - a - 1)
}

/// Each point once for every class it stands for: above 0 in the pair (a, b) it came from b, below 0 from a. Points
/// without a coefficient are left out. `coef` has one row a pair.
pub(crate) fn by_class(coef: &[Vec<f64>], n: usize) -> Vec<Standing> {
    let points = coef.first().map_or(0, Vec::len);
    let mut standing = Vec::with_capacity(points);
    let mut against = vec![0.0; n * n]; // [class, other class]
    for point in 0..points {
        against.fill(0.0);
        for (a, b) in (0..n).flat_map(|a| (a + 1..n).map(move |b| (a, b))) {
            let c = coef[pair(a, b, n)][point];
            against[if c > 0.0 { b * n + a } else { a * n + b }] = c;
        }
        for (class, coef) in against.chunks(n.max(1)).enumerate() {
            if coef.iter().any(|c| *c != 0.0) {
                standing.push(Standing { class, point, coef: coef.to_vec() });
            }
        }
    }
    standing
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_are_numbered_in_order() {
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
    fn every_coefficient_stands_once_in_one_of_its_two_classes() {
        // pairs (0,1), (0,2), (1,2); four points, the last without a coefficient
        let coef = [vec![1.0, -2.0, 0.0, 0.0], vec![0.0, 3.0, -4.0, 0.0], vec![5.0, 0.0, 6.0, 0.0]];
        let standing = by_class(&coef, 3);
        for (a, b) in [(0, 1), (0, 2), (1, 2)] {
            for (point, c) in coef[pair(a, b, 3)].iter().enumerate() {
                let of = |class: usize, other: usize| {
                    let own = standing.iter().filter(|s| s.point == point && s.class == class);
                    own.map(|s| s.coef[other]).sum::<f64>()
                };
                assert_eq!(of(a, b) + of(b, a), *c);
                assert!(of(a, b) <= 0.0 && of(b, a) >= 0.0);
            }
        }
        assert_eq!(standing.len(), 6);
        assert!(standing.iter().all(|s| s.coef[s.class] == 0.0 && s.point < 3));
        assert!(by_class(&[Vec::new()], 2).is_empty());
    }
}
