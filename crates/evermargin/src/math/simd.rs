//! The inner loops that want wide registers, and the only module with `unsafe`.
//!
//! Each loop is written once as plain Rust that the compiler vectorises, compiled three times (AVX-512,
//! AVX2 with FMA, baseline) and chosen at run time. The one unsafe act is calling a function compiled for
//! features that were detected first. Results may differ in the last bits between the three, never between
//! runs or thread counts on one machine.
#![allow(unsafe_code, clippy::inline_always, clippy::needless_bitwise_bool)]

/// Queries computed in one pass over sparse rows.
pub const LANES: usize = 32;

/// Defines `$name`, which runs `$body::<FMA>` with the widest registers this machine has.
macro_rules! dispatch {
    ($(#[$doc:meta])* $name:ident => $body:ident ( $($arg:ident : $ty:ty),* $(,)? ) $(-> $ret:ty)?) => {
        $(#[$doc])*
        #[inline]
        pub fn $name($($arg: $ty),*) $(-> $ret)? {
            #[cfg(target_arch = "x86_64")]
            {
                #[target_feature(enable = "avx512f,avx512bw,avx512cd,avx512dq,avx512vl,avx2,fma")]
                fn avx512($($arg: $ty),*) $(-> $ret)? { $body::<true>($($arg),*) }
                #[target_feature(enable = "avx2,fma")]
                fn avx2($($arg: $ty),*) $(-> $ret)? { $body::<true>($($arg),*) }
                if has_avx512() {
                    // SAFETY: the features were detected on this machine.
                    return unsafe { avx512($($arg),*) };
                }
                if has_avx2_fma() {
                    // SAFETY: the features were detected on this machine.
                    return unsafe { avx2($($arg),*) };
                }
            }
            $body::<{ cfg!(target_arch = "aarch64") }>($($arg),*)
        }
    };
}

/// Whether the loops run in their AVX-512 form.
#[cfg(target_arch = "x86_64")]
#[inline]
pub fn has_avx512() -> bool {
    is_x86_feature_detected!("avx512f")
        && is_x86_feature_detected!("avx512bw")
        && is_x86_feature_detected!("avx512cd")
        && is_x86_feature_detected!("avx512dq")
        && is_x86_feature_detected!("avx512vl")
        && is_x86_feature_detected!("fma")
}

/// Whether the loops run in their AVX2 form, which fuses multiplication and addition, unless they run in a wider one.
#[cfg(target_arch = "x86_64")]
#[inline]
pub fn has_avx2_fma() -> bool {
    is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma")
}

/// Whether the loops run in their AVX-512 form.
#[cfg(not(target_arch = "x86_64"))]
pub fn has_avx512() -> bool {
    false
}

/// Whether the loops run in their AVX2 form.
#[cfg(not(target_arch = "x86_64"))]
pub fn has_avx2_fma() -> bool {
    false
}

dispatch! {
    /// Inner products to RBF values: `k[r] = exp(−gamma·max(0, norm + norms[r] − 2·k[r]))`.
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
    /// As [`rbf`] for rows of lengths `norms` against a lane of queries of lengths `queries`.
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
    /// A block of sparse rows against [`LANES`] scattered queries: `out[r][l] = Σ_c row_r[c]·lanes[c][l]`.
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
    /// `Σ_i k[i]·coef[i]` in eight partial sums added in a fixed order.
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
    /// Index and value of the largest entry (the first of equals); −∞ and index 0 for none.
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
    /// Σ(a − b)² in single precision, columns dealt to sixteen sums.
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
    /// Σ(a − b)² of a row with four others at once, which hides the way of the others from memory. Columns are dealt to
    /// eight sums, without fused steps: the bits are the same on every machine, and the same as those of the plain loop.
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
    /// The places where `values − offset ≥ limits`, ascending. Few are expected.
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

/// Index and value of the smallest entry (the first of equals); +∞ and index 0 for none.
pub fn argmin(g: &[f64]) -> (usize, f64) {
    let least = g.iter().copied().fold(f64::INFINITY, |a, b| if b < a { b } else { a });
    (g.iter().position(|v| *v == least).unwrap_or(0), least)
}

/// What [`second_order`] finds.
#[derive(Debug, Clone, Copy)]
pub struct Partner {
    /// The index with the largest gain.
    pub index: usize,
    /// Its gain; 0 if nothing gains.
    pub gain: f64,
    /// The smallest gradient among all candidates.
    pub least: f64,
}

dispatch! {
    /// The partner j of a pair step: largest `(top − down[j])² / max(kii + diag[j] − 2·row[j], tiny)` over
    /// all j with `down[j] < top`. `down` is +∞ where j cannot go down. Lengths must be equal.
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
    let (mut best, mut at, mut least) = ([0.0f64; 8], [0u64; 8], [f64::INFINITY; 8]);
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
            least[l] = if d[l] < least[l] { d[l] } else { least[l] };
            let better = g > best[l];
            best[l] = if better { g } else { best[l] };
            at[l] = if better { k as u64 } else { at[l] };
        }
    }
    let mut found = Partner { index: 0, gain: 0.0, least: f64::INFINITY };
    for l in 0..8 {
        let i = at[l] as usize * 8 + l;
        if best[l] > found.gain || (best[l] == found.gain && i < found.index) {
            (found.index, found.gain) = (i, best[l]);
        }
        found.least = found.least.min(least[l]);
    }
    for i in 0..dr.len() {
        let g = gain(dr[i], rr[i], qr[i]);
        found.least = found.least.min(dr[i]);
        if g > found.gain {
            (found.index, found.gain) = (dc.len() * 8 + i, g);
        }
    }
    found
}

/// Smallest curvature of a pair: LIBSVM's τ.
pub const TINY: f64 = 1e-12;

dispatch! {
    /// After a pair step of size `step` (up at i, down at j): `up` and `down` lose `step·(row_i − row_j)`.
    /// Infinite entries stay infinite.
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
    /// Largest gradient where a variable may rise (−∞ if none may), smallest where one may fall (+∞).
    gradient_bounds => extremes_body(alpha: &[f64], lo: &[f64], hi: &[f64], g: &[f64]) -> (f64, f64)
}

#[inline(always)]
fn extremes_body<const FMA: bool>(alpha: &[f64], lo: &[f64], hi: &[f64], g: &[f64]) -> (f64, f64) {
    let n = g.len();
    let (alpha, lo, hi) = (&alpha[..n], &lo[..n], &hi[..n]);
    let mut ends = Ends::NONE;
    by_eights(n, |l, i| ends.see(l, alpha[i], lo[i], hi[i], g[i]));
    ends.outermost()
}

/// The extremes of eight interleaved parts.
struct Ends {
    max_up: [f64; 8],
    min_down: [f64; 8],
}

impl Ends {
    const NONE: Self = Self { max_up: [f64::NEG_INFINITY; 8], min_down: [f64::INFINITY; 8] };

    #[inline(always)]
    fn see(&mut self, l: usize, alpha: f64, lo: f64, hi: f64, g: f64) {
        let up = if alpha < hi { g } else { f64::NEG_INFINITY };
        let down = if alpha > lo { g } else { f64::INFINITY };
        self.max_up[l] = if up > self.max_up[l] { up } else { self.max_up[l] };
        self.min_down[l] = if down < self.min_down[l] { down } else { self.min_down[l] };
    }

    #[inline(always)]
    fn outermost(self) -> (f64, f64) {
        let max_up = self.max_up.into_iter().fold(f64::NEG_INFINITY, f64::max);
        (max_up, self.min_down.into_iter().fold(f64::INFINITY, f64::min))
    }
}

/// Calls `see` with lane and place of `n` places, eight at a time.
#[inline(always)]
fn by_eights(n: usize, mut see: impl FnMut(usize, usize)) {
    let whole = n / 8 * 8;
    for k in (0..whole).step_by(8) {
        for l in 0..8 {
            see(l, k + l);
        }
    }
    (whole..n).for_each(|i| see(i - whole, i));
}

dispatch! {
    /// The first variable below `hi` whose gradient is at least `least`; the length if there is none.
    first_rising => first_rising_body(alpha: &[f64], hi: &[f64], g: &[f64], least: f64) -> usize
}

#[inline(always)]
fn first_rising_body<const FMA: bool>(alpha: &[f64], hi: &[f64], g: &[f64], least: f64) -> usize {
    let (alpha, hi) = (&alpha[..g.len()], &hi[..g.len()]);
    first(g.len(), |s| (g[s] >= least) & (alpha[s] < hi[s]))
}

dispatch! {
    /// The first variable above `lo` whose gradient is at most `most`; the length if there is none.
    first_falling => first_falling_body(alpha: &[f64], lo: &[f64], g: &[f64], most: f64) -> usize
}

#[inline(always)]
fn first_falling_body<const FMA: bool>(alpha: &[f64], lo: &[f64], g: &[f64], most: f64) -> usize {
    let (alpha, lo) = (&alpha[..g.len()], &lo[..g.len()]);
    first(g.len(), |s| (g[s] <= most) & (alpha[s] > lo[s]))
}

/// The first of `n` places that pass a test which few pass: blocks without any are passed over quickly.
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

/// What [`gap`] sums up over the variables.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct GapSums {
    /// Σ h − αg, with the loss h = max(lo·g, hi·g).
    pub gap: f64,
    /// Σ h over the variables that are not zero.
    pub loss: f64,
    /// Σ h² over the same.
    pub squares: f64,
    /// Their number.
    pub count: f64,
    /// As of [`extremes`].
    pub max_up: f64,
    /// As of [`extremes`].
    pub min_down: f64,
}

dispatch! {
    /// The duality gap of a problem without bias, the spread of its losses, and its extremes, in one pass.
    gap => gap_body(alpha: &[f64], lo: &[f64], hi: &[f64], g: &[f64]) -> GapSums
}

#[inline(always)]
fn gap_body<const FMA: bool>(alpha: &[f64], lo: &[f64], hi: &[f64], g: &[f64]) -> GapSums {
    let n = g.len();
    let (alpha, lo, hi) = (&alpha[..n], &lo[..n], &hi[..n]);
    let mut sums = [[0.0f64; 8]; 4];
    let mut ends = Ends::NONE;
    by_eights(n, |l, i| {
        let (a, b) = (lo[i] * g[i], hi[i] * g[i]);
        let h = if a > b { a } else { b };
        let support = if alpha[i] == 0.0 { 0.0 } else { 1.0 };
        sums[0][l] += h - alpha[i] * g[i];
        sums[1][l] += support * h;
        sums[2][l] += support * h * h;
        sums[3][l] += support;
        ends.see(l, alpha[i], lo[i], hi[i], g[i]);
    });
    let [gap, loss, squares, count] = sums.map(|s| s.into_iter().sum());
    let (max_up, min_down) = ends.outermost();
    GapSums { gap, loss, squares, count, max_up, min_down }
}

#[inline(always)]
fn fma<const FMA: bool>(a: f32, b: f32, c: f32) -> f32 {
    if FMA { a.mul_add(b, c) } else { a * b + c }
}

#[inline(always)]
fn fma64<const FMA: bool>(a: f64, b: f64, c: f64) -> f64 {
    if FMA { a.mul_add(b, c) } else { a * b + c }
}

/// exp(x) for x ≤ 0 to 2 units in the last place; below −87 the smallest normal numbers.
/// Range reduction to |r| ≤ ln 2 / 2 and the minimax polynomial of Cephes' `expf` (Moshier).
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
    fn places_that_reach_are_those_of_the_plain_loop() {
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
    fn argmax_takes_the_first_of_equals() {
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
            assert_eq!(found.least, down.iter().copied().fold(f64::INFINITY, f64::min));
        }
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
