//! Inner loops of the dual solvers: selection of a pair, its step, and the duality gap.

/// Result of [`second_order`].
#[derive(Debug, Clone, Copy)]
pub struct Partner {
    /// Index with the largest gain.
    pub index: usize,
    /// Largest gain; 0 if no candidate has a positive one.
    pub gain: f64,
    /// Smallest gradient of all candidates.
    pub min_down: f64,
}

dispatch! {
    /// Selects the partner j of a pair step: largest `(max_up − down[j])² / max(kii + diag[j] − 2·row[j], tiny)` over
    /// all j with `down[j] < max_up`. `down` is +∞ where j cannot decrease. Lengths must be equal.
    second_order => second_order_body(
        down: &[f64], max_up: f64, row: &[f32], diag: &[f64], kii: f64) -> Partner
}

#[inline(always)]
fn second_order_body<const FMA: bool>(
    down: &[f64],
    max_up: f64,
    row: &[f32],
    diag: &[f64],
    kii: f64,
) -> Partner {
    let (mut best, mut at, mut min_down) = ([0.0f64; 8], [0u64; 8], [f64::INFINITY; 8]);
    let (dc, dr) = down.as_chunks::<8>();
    let (rc, rr) = row[..down.len()].as_chunks::<8>();
    let (qc, qr) = diag[..down.len()].as_chunks::<8>();
    let gain = |d: f64, r: f32, q: f64| {
        let rise = (max_up - d).max(0.0);
        let curve = (kii + q - 2.0 * f64::from(r)).max(TINY);
        rise * rise / curve
    };
    for (k, ((d, r), q)) in dc.iter().zip(rc).zip(qc).enumerate() {
        for l in 0..8 {
            let g = gain(d[l], r[l], q[l]);
            min_down[l] = if d[l] < min_down[l] { d[l] } else { min_down[l] };
            let better = g > best[l];
            best[l] = if better { g } else { best[l] };
            at[l] = if better { k as u64 } else { at[l] };
        }
    }
    let mut found = Partner { index: 0, gain: 0.0, min_down: f64::INFINITY };
    for l in 0..8 {
        let i = at[l] as usize * 8 + l;
        if best[l] > found.gain || (best[l] == found.gain && i < found.index) {
            (found.index, found.gain) = (i, best[l]);
        }
        found.min_down = found.min_down.min(min_down[l]);
    }
    for i in 0..dr.len() {
        let g = gain(dr[i], rr[i], qr[i]);
        found.min_down = found.min_down.min(dr[i]);
        if g > found.gain {
            (found.index, found.gain) = (dc.len() * 8 + i, g);
        }
    }
    found
}

/// Smallest curvature of a pair: LIBSVM's τ.
pub const TINY: f64 = 1e-12;

dispatch! {
    /// Updates the gradients after a pair step of size `step` (i increases, j decreases): subtracts `step·(row_i −
    /// row_j)` from `up` and `down`. Infinite entries stay infinite.
    pair_update => pair_update_body(up: &mut [f64], down: &mut [f64], row_i: &[f32], row_j: &[f32], step: f64)
}

#[inline(always)]
fn pair_update_body<const FMA: bool>(
    up: &mut [f64],
    down: &mut [f64],
    row_i: &[f32],
    row_j: &[f32],
    step: f64,
) {
    let n = up.len();
    let (down, row_i, row_j) = (&mut down[..n], &row_i[..n], &row_j[..n]);
    for k in 0..n {
        let change = step * (f64::from(row_i[k]) - f64::from(row_j[k]));
        up[k] -= change;
        down[k] -= change;
    }
}

dispatch! {
    /// `g −= step·(row_i − row_j)`.
    pair_step => pair_step_body(g: &mut [f64], row_i: &[f32], row_j: &[f32], step: f64)
}

#[inline(always)]
fn pair_step_body<const FMA: bool>(g: &mut [f64], row_i: &[f32], row_j: &[f32], step: f64) {
    for ((g, &i), &j) in g.iter_mut().zip(row_i).zip(row_j) {
        *g -= step * (f64::from(i) - f64::from(j));
    }
}

dispatch! {
    /// Largest gradient of a variable that may increase (−∞ if none may), smallest of one that may decrease (+∞ if none
    /// may).
    gradient_bounds => gradient_bounds_body(alpha: &[f64], lo: &[f64], hi: &[f64], g: &[f64]) -> (f64, f64)
}

#[inline(always)]
fn gradient_bounds_body<const FMA: bool>(alpha: &[f64], lo: &[f64], hi: &[f64], g: &[f64]) -> (f64, f64) {
    let n = g.len();
    let (alpha, lo, hi) = (&alpha[..n], &lo[..n], &hi[..n]);
    let mut bounds = Bounds::NONE;
    by_eights(n, |l, i| bounds.update(l, alpha[i], lo[i], hi[i], g[i]));
    bounds.reduce()
}

/// Gradient bounds of eight interleaved parts.
struct Bounds {
    max_up: [f64; 8],
    min_down: [f64; 8],
}

impl Bounds {
    const NONE: Self = Self { max_up: [f64::NEG_INFINITY; 8], min_down: [f64::INFINITY; 8] };

    #[inline(always)]
    fn update(&mut self, l: usize, alpha: f64, lo: f64, hi: f64, g: f64) {
        let up = if alpha < hi { g } else { f64::NEG_INFINITY };
        let down = if alpha > lo { g } else { f64::INFINITY };
        self.max_up[l] = if up > self.max_up[l] { up } else { self.max_up[l] };
        self.min_down[l] = if down < self.min_down[l] { down } else { self.min_down[l] };
    }

    #[inline(always)]
    fn reduce(self) -> (f64, f64) {
        let max_up = self.max_up.into_iter().fold(f64::NEG_INFINITY, f64::max);
        (max_up, self.min_down.into_iter().fold(f64::INFINITY, f64::min))
    }
}

/// Calls `visit` with lane and index of `n` elements, eight at a time.
#[inline(always)]
fn by_eights(n: usize, mut visit: impl FnMut(usize, usize)) {
    let whole = n / 8 * 8;
    for k in (0..whole).step_by(8) {
        for l in 0..8 {
            visit(l, k + l);
        }
    }
    (whole..n).for_each(|i| visit(i - whole, i));
}

dispatch! {
    /// The first variable below `hi` whose gradient is at least `min`; the length if there is none.
    first_rising => first_rising_body(alpha: &[f64], hi: &[f64], g: &[f64], min: f64) -> usize
}

#[inline(always)]
fn first_rising_body<const FMA: bool>(alpha: &[f64], hi: &[f64], g: &[f64], min: f64) -> usize {
    let (alpha, hi) = (&alpha[..g.len()], &hi[..g.len()]);
    first(g.len(), |s| (g[s] >= min) & (alpha[s] < hi[s]))
}

dispatch! {
    /// The first variable above `lo` whose gradient is at most `max`; the length if there is none.
    first_falling => first_falling_body(alpha: &[f64], lo: &[f64], g: &[f64], max: f64) -> usize
}

#[inline(always)]
fn first_falling_body<const FMA: bool>(alpha: &[f64], lo: &[f64], g: &[f64], max: f64) -> usize {
    let (alpha, lo) = (&alpha[..g.len()], &lo[..g.len()]);
    first(g.len(), |s| (g[s] <= max) & (alpha[s] > lo[s]))
}

/// First of `n` indices that pass a test; blocks without any are skipped quickly, which suits tests that few indices
/// pass.
#[inline(always)]
fn first(n: usize, passes: impl Fn(usize) -> bool) -> usize {
    const BLOCK: usize = 64;
    for start in (0..n / BLOCK * BLOCK).step_by(BLOCK) {
        let mut any = false;
        for l in 0..BLOCK {
            any |= passes(start + l);
        }
        if any {
            return (start..start + BLOCK).find(|&s| passes(s)).unwrap_or(n);
        }
    }
    (n / BLOCK * BLOCK..n).find(|&s| passes(s)).unwrap_or(n)
}

/// Sums computed by [`gap`] over the variables.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct GapSums {
    /// Σ h − αg, with the loss h = max(lo·g, hi·g).
    pub gap: f64,
    /// Σ h over the variables with α ≠ 0.
    pub loss: f64,
    /// Σ h² over the variables with α ≠ 0.
    pub squares: f64,
    /// Number of variables with α ≠ 0.
    pub count: f64,
    /// Largest gradient of a variable that may increase, as in [`gradient_bounds`].
    pub max_up: f64,
    /// Smallest gradient of a variable that may decrease, as in [`gradient_bounds`].
    pub min_down: f64,
}

dispatch! {
    /// Duality gap of a problem without bias, sums of its losses, and gradient bounds, in one pass.
    gap => gap_body(alpha: &[f64], lo: &[f64], hi: &[f64], g: &[f64]) -> GapSums
}

#[inline(always)]
fn gap_body<const FMA: bool>(alpha: &[f64], lo: &[f64], hi: &[f64], g: &[f64]) -> GapSums {
    let n = g.len();
    let (alpha, lo, hi) = (&alpha[..n], &lo[..n], &hi[..n]);
    let mut sums = [[0.0f64; 8]; 4];
    let mut bounds = Bounds::NONE;
    by_eights(n, |l, i| {
        let (a, b) = (lo[i] * g[i], hi[i] * g[i]);
        let h = if a > b { a } else { b };
        let support = if alpha[i] == 0.0 { 0.0 } else { 1.0 };
        sums[0][l] += h - alpha[i] * g[i];
        sums[1][l] += support * h;
        sums[2][l] += support * h * h;
        sums[3][l] += support;
        bounds.update(l, alpha[i], lo[i], hi[i], g[i]);
    });
    let [gap, loss, squares, count] = sums.map(|s| s.into_iter().sum());
    let (max_up, min_down) = bounds.reduce();
    GapSums { gap, loss, squares, count, max_up, min_down }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn second_order_equals_the_plain_loop() {
        for n in 1..50usize {
            let down: Vec<f64> = (0..n)
                .map(|i| if i % 5 == 3 { f64::INFINITY } else { ((i * 37) % 11) as f64 - 7.0 })
                .collect();
            let row: Vec<f32> = (0..n).map(|i| ((i * 13) % 7) as f32 / 7.0).collect();
            let diag = vec![1.0; n];
            let plain = (0..n)
                .map(|j| (1.0 - down[j]).max(0.0).powi(2) / (2.0 - 2.0 * f64::from(row[j])).max(TINY))
                .enumerate()
                .fold((0, 0.0), |best, (j, g)| if g > best.1 { (j, g) } else { best });
            let found = second_order(&down, 1.0, &row, &diag, 1.0);
            assert_eq!((found.index, found.gain), plain);
            assert_eq!(found.min_down, down.iter().copied().fold(f64::INFINITY, f64::min));
        }
    }
}
