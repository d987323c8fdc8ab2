//! Kernel values: inner products with sparse rows, and their conversion to RBF values.

use super::{fma, fma64};

/// Number of queries processed in one pass over sparse rows.
pub const LANES: usize = 32;

dispatch! {
    /// Converts inner products to RBF values: `k[r] = exp(−gamma·max(0, norm + norms[r] − 2·k[r]))`.
    rbf => rbf_body(k: &mut [f32], norms: &[f32], norm: f32, gamma: f32)
}

#[inline(always)]
fn rbf_body<const FMA: bool>(k: &mut [f32], norms: &[f32], norm: f32, gamma: f32) {
    for (k, &n) in k.iter_mut().zip(norms) {
        let distance = (norm + n - 2.0 * *k).max(0.0);
        *k = exp::<FMA>(-gamma * distance);
    }
}

dispatch! {
    /// As [`rbf`], for rows with squared lengths `norms` and a lane of queries with squared lengths `queries`.
    rbf_lanes => rbf_lanes_body(k: &mut [[f32; LANES]], norms: &[f32], queries: &[f32; LANES], gamma: f32)
}

#[inline(always)]
fn rbf_lanes_body<const FMA: bool>(
    k: &mut [[f32; LANES]],
    norms: &[f32],
    queries: &[f32; LANES],
    gamma: f32,
) {
    for (k, &norm) in k.iter_mut().zip(norms) {
        rbf_body::<FMA>(k, queries, norm, gamma);
    }
}

dispatch! {
    /// `out[j][r] = lanes[r][j]` for the first `out.len()` lanes.
    transpose => transpose_body(lanes: &[[f32; LANES]], out: &mut [&mut [f32]])
}

#[inline(always)]
fn transpose_body<const FMA: bool>(lanes: &[[f32; LANES]], out: &mut [&mut [f32]]) {
    const SIDE: usize = 16;
    let (blocks, rest) = lanes.as_chunks::<SIDE>();
    for (b, block) in blocks.iter().enumerate() {
        for (j, out) in out.iter_mut().enumerate() {
            let mut run = [0.0f32; SIDE];
            for r in 0..SIDE {
                run[r] = block[r][j % LANES];
            }
            out[b * SIDE..(b + 1) * SIDE].copy_from_slice(&run);
        }
    }
    let done = blocks.len() * SIDE;
    for (r, lane) in rest.iter().enumerate() {
        for (out, &v) in out.iter_mut().zip(lane) {
            out[done + r] = v;
        }
    }
}

dispatch! {
    /// Inner products of a block of sparse rows with [`LANES`] scattered queries: `out[r][l] = Σ_c
    /// row_r[c]·lanes[c][l]`.
    sparse_dots => sparse_dots_body(
        indptr: &[usize], indices: &[u32], values: &[f32], lanes: &[[f32; LANES]], out: &mut [[f32; LANES]])
}

#[inline(always)]
fn sparse_dots_body<const FMA: bool>(
    indptr: &[usize],
    indices: &[u32],
    values: &[f32],
    lanes: &[[f32; LANES]],
    out: &mut [[f32; LANES]],
) {
    for (span, out) in indptr.windows(2).zip(out) {
        let mut sum = [0.0f32; LANES];
        for (&c, &v) in indices[span[0]..span[1]].iter().zip(&values[span[0]..span[1]]) {
            let lane = &lanes[c as usize];
            for l in 0..LANES {
                sum[l] = fma::<FMA>(v, lane[l], sum[l]);
            }
        }
        *out = sum;
    }
}

dispatch! {
    /// [`sparse_dots`] in double precision, for one row.
    sparse_dot_f64 => sparse_dot_f64_body(
        indices: &[u32], values: &[f64], lanes: &[[f64; LANES]], out: &mut [f64; LANES])
}

#[inline(always)]
fn sparse_dot_f64_body<const FMA: bool>(
    indices: &[u32],
    values: &[f64],
    lanes: &[[f64; LANES]],
    out: &mut [f64; LANES],
) {
    *out = [0.0; LANES];
    for (&c, &v) in indices.iter().zip(values) {
        let lane = &lanes[c as usize];
        for l in 0..LANES {
            out[l] = fma64::<FMA>(v, lane[l], out[l]);
        }
    }
}

/// exp(x) for x ≤ 0, accurate to 2 units in the last place; below −87 the smallest normal numbers. Range reduction to
/// |r| ≤ ln 2 / 2 and the minimax polynomial of `expf` in Cephes (Moshier).
#[inline(always)]
fn exp<const FMA: bool>(x: f32) -> f32 {
    const ROUND: f32 = 12_582_912.0; // 1.5 · 2²³: adding it leaves the nearest whole number in the low bits
    let x = x.max(-87.0);
    let t = fma::<FMA>(x, std::f32::consts::LOG2_E, ROUND);
    let n = t - ROUND;
    let r = fma::<FMA>(n, -0.693_359_4, x);
    let r = fma::<FMA>(n, 2.121_944_4e-4, r);
    let mut p = 1.987_569_1e-4;
    for c in [1.398_199_9e-3, 8.333_452e-3, 4.166_579_6e-2, 1.666_666_5e-1, 0.5] {
        p = fma::<FMA>(p, r, c);
    }
    let e = fma::<FMA>(p, r * r, r) + 1.0;
    let scale = f32::from_bits((t.to_bits() << 23).wrapping_add(0x3f80_0000));
    e * scale
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exp_is_accurate_to_two_units_in_the_last_place() {
        for i in 0..100_000 {
            let d = i as f32 * 8.6e-4;
            let mut k = [0.0f32];
            rbf(&mut k, &[d], 0.0, 1.0);
            let exact = f64::from(-d).exp();
            assert!((f64::from(k[0]) - exact).abs() <= 2.5e-7 * exact, "exp(-{d}) = {} not {exact}", k[0]);
        }
    }

    #[test]
    fn rbf_of_far_points_is_tiny_and_of_equal_points_one() {
        let mut k = [0.0f32, 8.0, 8.1];
        rbf(&mut k, &[1e30, 8.0, 8.0], 8.0, 1.0);
        assert!(k[0] >= 0.0 && k[0] < 1e-37);
        assert_eq!(&k[1..], &[1.0, 1.0]);
    }

    #[test]
    fn sparse_dots_equal_the_plain_loops() {
        let (indptr, indices, values) = ([0, 2, 2, 5], [0u32, 3, 1, 2, 3], [1.0f32, 2.0, 3.0, 4.0, 5.0]);
        let mut lanes = vec![[0.0f32; LANES]; 4];
        for (c, lane) in lanes.iter_mut().enumerate() {
            for (l, v) in lane.iter_mut().enumerate() {
                *v = (c * l) as f32;
            }
        }
        let mut out = vec![[9.0f32; LANES]; 3];
        sparse_dots(&indptr, &indices, &values, &lanes, &mut out);
        for l in 0..LANES {
            let f = l as f32;
            assert_eq!([out[0][l], out[1][l], out[2][l]], [6.0 * f, 0.0, 3.0 * f + 8.0 * f + 15.0 * f]);
        }
    }
}
