//! Growth of a quantity along a stream.

/// Least-squares slope of values over their index, and its standard error.
pub(super) fn slope(values: &[f64]) -> (f64, f64) {
    let n = values.len() as f64;
    if values.len() < 3 {
        return (0.0, f64::INFINITY);
    }
    let (middle, mean) = ((n - 1.0) / 2.0, values.iter().sum::<f64>() / n);
    let spread: f64 = (0..values.len()).map(|i| (i as f64 - middle).powi(2)).sum();
    let along =
        values.iter().enumerate().map(|(i, v)| (i as f64 - middle) * (v - mean)).sum::<f64>() / spread;
    let rest =
        values.iter().enumerate().map(|(i, v)| (v - mean - along * (i as f64 - middle)).powi(2)).sum::<f64>();
    (along, (rest / (n - 2.0) / spread).sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Against `scipy.stats.linregress([0, 1, 2, 3, 4], [1, 3, 2, 5, 4])`.
    #[test]
    fn slope_matches_least_squares() {
        let (along, error) = slope(&[1.0, 3.0, 2.0, 5.0, 4.0]);
        assert!((along - 0.8).abs() < 1e-12);
        assert!((error - 0.346_410_161_513_775_5).abs() < 1e-12);
        assert_eq!(slope(&[2.0; 9]), (0.0, 0.0));
        assert!(slope(&[1.0, 2.0]).1.is_infinite());
    }
}
