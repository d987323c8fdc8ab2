//! Sums, distances and extrema of vectors.

#[cfg(feature = "approximate")]
use super::fma;
use super::fma64;

dispatch! {
    /// `sum += Σ_k coef[k]·rows[k]`, rows in order, for f32 rows of equal length.
    add_rows => add_rows_body(sum: &mut [f64], rows: &[&[f32]], coef: &[f64])
}

#[inline(always)]
fn add_rows_body<const FMA: bool>(sum: &mut [f64], rows: &[&[f32]], coef: &[f64]) {
    let len = sum.len();
    let mut quads = rows.chunks_exact(4).zip(coef.chunks_exact(4));
    for (r, c) in &mut quads {
        let (a, b, d, e) = (&r[0][..len], &r[1][..len], &r[2][..len], &r[3][..len]);
        for i in 0..len {
            let mut s = sum[i];
            s = fma64::<FMA>(c[0], f64::from(a[i]), s);
            s = fma64::<FMA>(c[1], f64::from(b[i]), s);
            s = fma64::<FMA>(c[2], f64::from(d[i]), s);
            sum[i] = fma64::<FMA>(c[3], f64::from(e[i]), s);
        }
    }
    let done = rows.len() / 4 * 4;
    for (row, &c) in rows[done..].iter().zip(&coef[done..]) {
        for (s, &k) in sum.iter_mut().zip(row.iter()) {
            *s = fma64::<FMA>(c, f64::from(k), *s);
        }
    }
}

dispatch! {
    /// `Σ_i k[i]·coef[i]` in sixteen partial sums added in a fixed order.
    dot => dot_body(k: &[f32], coef: &[f64]) -> f64
}

#[inline(always)]
fn dot_body<const FMA: bool>(k: &[f32], coef: &[f64]) -> f64 {
    let mut sum = [0.0f64; 16];
    let (kc, kr) = k.as_chunks::<16>();
    let (cc, cr) = coef.as_chunks::<16>();
    for (k, c) in kc.iter().zip(cc) {
        for l in 0..16 {
            sum[l] = fma64::<FMA>(f64::from(k[l]), c[l], sum[l]);
        }
    }
    let tail: f64 = kr.iter().zip(cr).map(|(&k, c)| f64::from(k) * c).sum();
    sum.iter().sum::<f64>() + tail
}

dispatch! {
    /// `Σ_i weight[i]·max(0, k[i] − cover[i])` in sixteen partial sums added in a fixed order.
    excess => excess_body(k: &[f32], cover: &[f32], weight: &[f64]) -> f64
}

#[inline(always)]
fn excess_body<const FMA: bool>(k: &[f32], cover: &[f32], weight: &[f64]) -> f64 {
    let mut sum = [0.0f64; 16];
    let ((kc, kr), (cc, cr)) = (k.as_chunks::<16>(), cover.as_chunks::<16>());
    let (wc, wr) = weight.as_chunks::<16>();
    for ((k, c), w) in kc.iter().zip(cc).zip(wc) {
        for l in 0..16 {
            let more = f64::from(k[l]) - f64::from(c[l]);
            sum[l] = fma64::<FMA>(w[l], if more > 0.0 { more } else { 0.0 }, sum[l]);
        }
    }
    let rest = kr.iter().zip(cr).zip(wr);
    let tail: f64 = rest.map(|((&k, &c), w)| w * (f64::from(k) - f64::from(c)).max(0.0)).sum();
    sum.iter().sum::<f64>() + tail
}

dispatch! {
    /// Index and value of the largest entry (the first one in ties); index 0 and −∞ for an empty slice.
    argmax => argmax_body(g: &[f64]) -> (usize, f64)
}

#[inline(always)]
fn argmax_body<const FMA: bool>(g: &[f64]) -> (usize, f64) {
    let (mut best, mut at) = ([f64::NEG_INFINITY; 8], [0u64; 8]);
    let (chunks, rest) = g.as_chunks::<8>();
    for (k, chunk) in chunks.iter().enumerate() {
        for l in 0..8 {
            let better = chunk[l] > best[l];
            best[l] = if better { chunk[l] } else { best[l] };
            at[l] = if better { k as u64 } else { at[l] };
        }
    }
    let (mut index, mut value) = (0, f64::NEG_INFINITY);
    for l in 0..8 {
        let i = at[l] as usize * 8 + l;
        if best[l] > value || (best[l] == value && i < index) {
            (index, value) = (i, best[l]);
        }
    }
    for (i, &v) in rest.iter().enumerate() {
        if v > value {
            (index, value) = (g.len() - rest.len() + i, v);
        }
    }
    (index, value)
}

dispatch! {
    #[cfg(feature = "approximate")]
    /// Σ(a − b)² in single precision, with columns distributed over sixteen partial sums.
    distance_f32 => distance_f32_body(a: &[f32], b: &[f32]) -> f32
}

#[cfg(feature = "approximate")]
#[inline(always)]
fn distance_f32_body<const FMA: bool>(a: &[f32], b: &[f32]) -> f32 {
    let mut sum = [0.0f32; 16];
    let ((a, a_rest), (b, b_rest)) = (a.as_chunks::<16>(), b.as_chunks::<16>());
    for (a, b) in a.iter().zip(b) {
        for l in 0..16 {
            sum[l] = fma::<FMA>(a[l] - b[l], a[l] - b[l], sum[l]);
        }
    }
    let rest: f32 = a_rest.iter().zip(b_rest).map(|(a, b)| (a - b) * (a - b)).sum();
    sum.iter().sum::<f32>() + rest
}

dispatch! {
    /// Σ(a − b)² of a row with four others at once, which hides memory latency. Columns are distributed over eight
    /// partial sums, without fused multiply-add: the result is bit-identical on every machine, and to that of the plain
    /// loop.
    distances => distances_body(own: &[f64], others: [&[f64]; 4]) -> [f64; 4]
}

#[inline(always)]
fn distances_body<const FMA: bool>(own: &[f64], others: [&[f64]; 4]) -> [f64; 4] {
    let mut sums = [[0.0; 8]; 4];
    let (chunks, rest) = own.as_chunks::<8>();
    let others = others.map(|o| o.as_chunks::<8>());
    for (k, own) in chunks.iter().enumerate() {
        for (sums, (other, _)) in sums.iter_mut().zip(&others) {
            for l in 0..8 {
                sums[l] += (own[l] - other[k][l]) * (own[l] - other[k][l]);
            }
        }
    }
    for (sums, (_, other)) in sums.iter_mut().zip(&others) {
        for (l, (a, b)) in rest.iter().zip(*other).enumerate() {
            sums[l] += (a - b) * (a - b);
        }
    }
    sums.map(|s| ((s[0] + s[1]) + (s[2] + s[3])) + ((s[4] + s[5]) + (s[6] + s[7])))
}

dispatch! {
    /// Indices where `values − offset ≥ limits`, ascending. Fast if there are few.
    reaching => reaching_body(values: &[f32], limits: &[f32], offset: f32, places: &mut Vec<u32>)
}

#[inline(always)]
fn reaching_body<const FMA: bool>(values: &[f32], limits: &[f32], offset: f32, places: &mut Vec<u32>) {
    const RUN: usize = 32;
    places.clear();
    let (runs, rest) = values.as_chunks::<RUN>();
    let (limit_runs, limit_rest) = limits.as_chunks::<RUN>();
    let reaches = |v: f32, limit: f32| v - offset >= limit;
    for (k, (run, limits)) in runs.iter().zip(limit_runs).enumerate() {
        let mut any = false;
        for l in 0..RUN {
            any |= reaches(run[l], limits[l]);
        }
        if any {
            let found = (0..RUN).filter(|&l| reaches(run[l], limits[l]));
            places.extend(found.map(|l| (k * RUN + l) as u32));
        }
    }
    let first = runs.len() * RUN;
    let found = rest.iter().zip(limit_rest).enumerate().filter(|(_, (v, limit))| reaches(**v, **limit));
    places.extend(found.map(|(l, _)| (first + l) as u32));
}

/// Index and value of the smallest entry (the first one in ties); index 0 and +∞ for an empty slice.
pub fn argmin(g: &[f64]) -> (usize, f64) {
    let min = g.iter().copied().fold(f64::INFINITY, |a, b| if b < a { b } else { a });
    (g.iter().position(|v| *v == min).unwrap_or(0), min)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reaching_equals_the_plain_loop() {
        for n in [0, 1, 31, 32, 33, 100] {
            let values: Vec<f32> = (0..n).map(|i| ((i * 37) % 23) as f32).collect();
            let limits: Vec<f32> =
                (0..n).map(|i| [3.0, f32::INFINITY, f32::NEG_INFINITY][i % 7 % 3]).collect();
            for offset in [0.0, 15.0, f32::NEG_INFINITY] {
                let mut places = vec![9];
                reaching(&values, &limits, offset, &mut places);
                let plain = (0..n).filter(|&i| values[i] - offset >= limits[i]).map(|i| i as u32);
                assert!(plain.eq(places.iter().copied()), "{n} {offset}");
            }
        }
    }

    #[test]
    fn distances_equal_the_plain_loops() {
        for n in [0, 1, 7, 8, 9, 16, 100, 130] {
            let row = |r: usize| -> Vec<f64> { (0..n).map(|c| ((c * 7 + r * 13) % 17) as f64).collect() };
            let plain = |b: usize| row(0).iter().zip(row(b)).map(|(a, b)| (a - b) * (a - b)).sum::<f64>();
            let others = [row(1), row(2), row(3), row(4)];
            let four = distances(&row(0), others.each_ref().map(Vec::as_slice));
            assert_eq!(four, [plain(1), plain(2), plain(3), plain(4)]);
            #[cfg(feature = "approximate")]
            {
                let single = |r| row(r).into_iter().map(|v| v as f32).collect::<Vec<_>>();
                assert_eq!(f64::from(distance_f32(&single(0), &single(3))), plain(3));
            }
        }
    }

    #[test]
    fn argmax_returns_the_first_of_equal_entries() {
        for n in 0..40 {
            for at in 0..n {
                let mut g = vec![0.0; n];
                g[at] = 1.0;
                g[n - 1] = 1.0;
                assert_eq!(argmax(&g), (at, 1.0));
            }
        }
        assert_eq!(argmax(&[]).1, f64::NEG_INFINITY);
    }

    #[test]
    fn add_rows_and_dot_equal_the_plain_loops() {
        let rows: Vec<Vec<f32>> = (0..7).map(|r| (0..37).map(|c| ((r * c) % 9) as f32).collect()).collect();
        let views: Vec<&[f32]> = rows.iter().map(Vec::as_slice).collect();
        let coef = [1.0, -2.0, 0.5, 3.0, 1.0, 0.25, -1.0];
        let mut sum = vec![1.0; 37];
        add_rows(&mut sum, &views, &coef);
        for c in 0..37 {
            let exact = 1.0 + (0..7).map(|r| coef[r] * f64::from(rows[r][c])).sum::<f64>();
            assert_eq!(sum[c], exact);
        }
        let weights: Vec<f64> = (0..37).map(f64::from).collect();
        let exact: f64 = rows[5].iter().zip(&weights).map(|(k, w)| f64::from(*k) * w).sum();
        assert_eq!(dot(&rows[5], &weights), exact);
    }

    #[test]
    fn excess_equals_the_plain_loop() {
        for n in [0, 1, 15, 16, 37, 64] {
            let k: Vec<f32> = (0..n).map(|i| ((i * 7) % 11) as f32).collect();
            let cover: Vec<f32> = (0..n).map(|i| ((i * 5) % 13) as f32).collect();
            let weight: Vec<f64> = (0..n).map(|i| f64::from((i % 3) as u8) + 0.5).collect();
            let terms = (0..n).map(|i| weight[i] * f64::from((k[i] - cover[i]).max(0.0)));
            assert_eq!(excess(&k, &cover, &weight), terms.sum::<f64>());
        }
    }
}
