//! Spectral clustering and embedding without labels: functions of a kernel space that vary little along the data.
//!
//! Problem (Sindhwani 2007, section 2.8; Belkin, Niyogi & Sindhwani 2006): over functions f of a kernel space,
//!
//!   min γ|f|² + fᵀLf    subject to Σfᵢ = 0, Σfᵢ² = 1,
//!
//! with L = D − W of a graph of the rows. The first solution is a soft cut, whose signs are two clusters; the first
//! few, each orthogonal to the previous ones, are coordinates (Laplacian eigenmaps). Unlike the eigenvectors of L
//! ([`plain`]) they are functions, so that new samples also have a cluster and coordinates. `by_degree` weights rows by
//! their degrees dᵢ, Σdᵢfᵢ = 0 and Σdᵢfᵢ² = 1, as eigenmaps do (Lf = λDf, section 1.5).
//!
//! In a [`LandmarkSpace`] f = Rv and |f|² = |v|². Let A = γI + RᵀLR = CCᵀ, R̄ the features minus their (weighted) mean
//! r̄, B = R̄ᵀR̄ and w = Cᵀv. The solutions are the largest eigenvalues μ of C⁻¹BC⁻ᵀ on w ⊥ C⁻¹r̄; λ = 1/μ is the
//! objective.
//!
//! Departures. The source's pencil P(γK + KLK)Pv = λPK²Pv is singular and K² ill-conditioned: here B is never inverted,
//! A is at least γ, and subtracting the mean first prevents the constant, which varies least of all, from dominating
//! the rest. Powers of L are omitted. The sign of a coordinate is such that its value of largest magnitude, the first
//! in ties, is positive.

use super::landmark_space::LandmarkSpace;
use crate::data::MatrixView;
use crate::error::{Error, Result};
use crate::graph::{Graph, GraphParams, Weights};
use crate::kernel::Kernel;
use crate::math::blas1::{add, dot, norm};
use crate::math::linalg::{self, Cholesky};
use crate::model::Model;
use crate::solver::Watch;

/// Parameters of clustering and embedding.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SpectralParams {
    /// The kernel.
    pub kernel: Kernel,
    /// γ, the weight of |f|² against fᵀLf; γ_A/γ_I of the source.
    pub gamma: f64,
    /// The graph of the rows.
    pub graph: GraphParams,
    /// Whether rows are weighted by their degrees.
    pub by_degree: bool,
    /// Maximum number of landmarks of the function space.
    pub landmarks: usize,
    /// Random seed for the selection of landmarks.
    pub seed: u64,
}

impl Default for SpectralParams {
    fn default() -> Self {
        Self {
            kernel: Kernel::Rbf { gamma: 1.0 },
            gamma: 1e-3,
            graph: GraphParams { weights: Weights::Heat, ..Default::default() },
            by_degree: false,
            landmarks: 1000,
            seed: 0,
        }
    }
}

/// Coordinates of rows, and the functions that compute them for other samples.
#[derive(Debug, Clone, PartialEq)]
pub struct Embedding {
    /// One output per coordinate.
    pub model: Model,
    /// One vector per coordinate, with a value for each row.
    pub coordinates: Vec<Vec<f64>>,
    /// γ|f|² + fᵀLf of each, ascending.
    pub objectives: Vec<f64>,
    /// Number of connected components of the graph.
    pub components: usize,
}

/// Maximum number of rows for a decomposition of the whole Laplacian.
const MAX_ROWS: usize = 5000;
/// Fraction of the largest μ below which an eigenvalue counts as 0.
const TOLERANCE: f64 = 1e-12;

/// Two clusters, given by the signs of one output; `None` if `watch` ends the computation.
pub fn cluster(x: MatrixView<'_>, params: &SpectralParams, watch: &dyn Watch) -> Result<Option<Embedding>> {
    embed(x, 1, params, watch)
}

/// The first `coordinates` coordinates; `None` if `watch` ends the search for neighbors.
pub fn embed(
    x: MatrixView<'_>,
    coordinates: usize,
    params: &SpectralParams,
    watch: &dyn Watch,
) -> Result<Option<Embedding>> {
    check(x, coordinates, params)?;
    let Some(graph) = Graph::nearest(x, &params.graph, watch)? else { return Ok(None) };
    let span = LandmarkSpace::new(x, params.kernel, params.landmarks, params.seed, watch)?;
    let (functions, objectives) = solve(&span, &graph, coordinates, params)?;
    let components = graph.components().into_iter().max().map_or(0, |c| c as usize + 1);
    let coordinates = functions.iter().map(|v| span.outputs(v)).collect();
    let model = span.model(x, &functions, vec![0.0; functions.len()]);
    Ok(Some(Embedding { model, coordinates, objectives, components }))
}

fn check(x: MatrixView<'_>, coordinates: usize, params: &SpectralParams) -> Result<()> {
    if !(params.gamma > 0.0 && params.gamma <= 1e15) {
        return Err(Error::parameter("gamma", params.gamma, "a number above 0, at most 1e15"));
    }
    if coordinates == 0 || coordinates >= x.rows() {
        let allowed = format!("1 or more, and fewer than the {} rows", x.rows());
        return Err(Error::parameter("coordinates", coordinates, allowed));
    }
    if params.landmarks == 0 {
        return Err(Error::parameter("landmarks", 0, "1 or more"));
    }
    Ok(())
}

/// Functions v with 1ᵀRv = 0 and |Rv| = 1, orthogonal to each other, and their objectives.
fn solve(
    span: &LandmarkSpace,
    graph: &Graph,
    count: usize,
    params: &SpectralParams,
) -> Result<(Vec<Vec<f64>>, Vec<f64>)> {
    let (m, features) = (span.dim(), span.features());
    let weight = |i: usize| if params.by_degree { graph.degrees()[i] } else { 1.0 };
    let total: f64 = (0..span.rows()).map(weight).sum();
    if total <= 0.0 || m == 0 {
        return Err(Error::Data(
            "the graph has no edges, or the kernel is 0: there is nothing to cluster".into(),
        ));
    }
    let mut mean = vec![0.0; m];
    (0..span.rows()).for_each(|i| add(weight(i) / total, span.row(i), &mut mean));

    let mut image = vec![0.0; features.len()];
    graph.laplacian_rows(features, m, false, &mut image);
    let mut a = linalg::symmetric_product(features, &image, m);
    (0..m).for_each(|i| a[i * m + i] += params.gamma);
    let factor = Cholesky::new(a, m)?.lower();

    let centered: Vec<f64> =
        features.chunks_exact(m).flat_map(|row| row.iter().zip(&mean).map(|(r, c)| r - c)).collect();
    (0..span.rows()).for_each(|i| {
        let (from, to) = (&centered[i * m..(i + 1) * m], &mut image[i * m..(i + 1) * m]);
        to.iter_mut().zip(from).for_each(|(t, f)| *t = weight(i) * f);
    });
    let mut s = linalg::symmetric_product(&image, &centered, m);
    factor.solve_rows(&mut s);
    transpose(&mut s, m);
    factor.solve_rows(&mut s);

    factor.solve_rows(&mut mean);
    let length = norm(&mean);
    if length > 0.0 {
        mean.iter_mut().for_each(|c| *c /= length);
        project(&mut s, &mean);
    }
    let (roots, vectors) = linalg::eigen(&s, m)?;
    let largest = roots.last().copied().unwrap_or(0.0);
    let found = roots.iter().zip(vectors.chunks_exact(m)).rev().take(count);
    let found: Vec<(f64, &[f64])> =
        found.map(|(mu, w)| (*mu, w)).filter(|(mu, _)| *mu > TOLERANCE * largest).collect();
    if found.len() < count {
        let allowed = format!(
            "at most {}, the dimension of the function space (identical rows, few landmarks, or a very wide or narrow kernel reduce it)",
            found.len()
        );
        return Err(Error::parameter("coordinates", count, allowed));
    }
    let function = |(mu, w): &(f64, &[f64])| {
        let mut v = w.to_vec();
        add(-dot(&mean, w), &mean, &mut v);
        factor.solve_transposed(&mut v);
        let f = span.outputs(&v);
        let sign = f.iter().fold(0.0f64, |far, f| if f.abs() > far.abs() { *f } else { far }).signum();
        v.iter_mut().for_each(|v| *v *= sign / mu.sqrt());
        v
    };
    Ok((found.iter().map(function).collect(), found.iter().map(|(mu, _)| mu.recip()).collect()))
}

fn transpose(a: &mut [f64], n: usize) {
    for i in 0..n {
        for j in 0..i {
            a.swap(i * n + j, j * n + i);
        }
    }
}

/// S → PSP with P = I − qqᵀ, for |q| = 1; also restores the symmetry lost to rounding.
fn project(s: &mut [f64], q: &[f64]) {
    let n = q.len();
    let image: Vec<f64> = s.chunks_exact(n).map(|row| dot(row, q)).collect();
    let along = dot(&image, q);
    for i in 0..n {
        for j in 0..=i {
            let even = f64::midpoint(s[i * n + j], s[j * n + i]);
            let value = even - image[i] * q[j] - q[i] * image[j] + along * q[i] * q[j];
            s[i * n + j] = value;
            s[j * n + i] = value;
        }
    }
}

/// The baseline (section 1.5), defined only on the rows of a graph: min qᵀLq with |q| = 1 and q ⊥ 1, and the following
/// eigenvectors; for the normalized Laplacian q ⊥ D^½1. Solved densely, for at most 5000 rows.
pub fn plain(graph: &Graph, count: usize, normalized: bool) -> Result<Vec<Vec<f64>>> {
    let n = graph.len();
    if n > MAX_ROWS {
        return Err(Error::Data(format!("{n} rows: plain spectral clustering is for at most {MAX_ROWS}")));
    }
    if count == 0 || count >= n {
        return Err(Error::parameter(
            "coordinates",
            count,
            format!("1 or more, and fewer than the {n} rows"),
        ));
    }
    let mut unit = vec![0.0; n * n];
    (0..n).for_each(|i| unit[i * n + i] = 1.0);
    let mut laplacian = vec![0.0; n * n];
    graph.laplacian_rows(&unit, n, normalized, &mut laplacian);
    // the null vector of every graph Laplacian is shifted above all other eigenvalues
    let degrees = graph.degrees();
    let mut null: Vec<f64> = degrees.iter().map(|d| if normalized { d.sqrt() } else { 1.0 }).collect();
    let length = norm(&null).max(f64::MIN_POSITIVE);
    null.iter_mut().for_each(|v| *v /= length);
    let above = 2.0 * if normalized { 2.0 } else { degrees.iter().fold(1.0, |a: f64, d| a.max(2.0 * d)) };
    laplacian.chunks_exact_mut(n).zip(&null).for_each(|(row, v)| add(above * v, &null, row));
    let (_, vectors) = linalg::eigen(&laplacian, n)?;
    Ok(vectors.chunks_exact(n).take(count).map(<[f64]>::to_vec).collect())
}
