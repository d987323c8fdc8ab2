//! Vector operations: dot product, norm, scaled addition. Sums have a fixed order.

/// a·b
pub(crate) fn dot(a: &[f64], b: &[f64]) -> f64 {
    let mut sum = [0.0; 4];
    let (p, q) = (a.chunks_exact(4), b.chunks_exact(4));
    let rest: f64 = p.remainder().iter().zip(q.remainder()).map(|(x, y)| x * y).sum();
    for (x, y) in p.zip(q) {
        (0..4).for_each(|k| sum[k] += x[k] * y[k]);
    }
    (sum[0] + sum[1]) + (sum[2] + sum[3]) + rest
}

/// |a|
pub(crate) fn norm(a: &[f64]) -> f64 {
    dot(a, a).sqrt()
}

/// y += t·x
pub(crate) fn add(t: f64, x: &[f64], y: &mut [f64]) {
    y.iter_mut().zip(x).for_each(|(y, x)| *y += t * x);
}
