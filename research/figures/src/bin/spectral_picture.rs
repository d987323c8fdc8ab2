//! Draws spectral clusters of two moons and two spirals, and the regions of new points (figures 2.10 and 2.11 of Sindhwani
//! 2007):
//!
//!     cargo run --release --manifest-path research/Cargo.toml --bin spectral_picture -- docs/spectral.svg

use evermargin::datasets::{GenerateParams, generate};
use evermargin::estimators::manifold::spectral::{SpectralParams, cluster};
use evermargin::{Kernel, Matrix};
use std::fmt::Write;

type Outcome<T> = Result<T, Box<dyn std::error::Error>>;

const SIDE: f64 = 320.0;
const EDGE: f64 = 12.0;
/// Number of grid squares along each axis.
const SQUARES: usize = 64;
/// Light and full color of each cluster.
const COLORS: [[&str; 2]; 2] = [["#d1e0f3", "#2868c8"], ["#fae0c8", "#e6781e"]];

fn main() -> Outcome<()> {
    let path = std::env::args().nth(1).unwrap_or_else(|| "spectral.svg".into());
    let (wide, high) = (2.0 * SIDE, SIDE + 24.0);
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {wide} {high}\" width=\"{wide}\" height=\"{high}\" \
         font-family=\"sans-serif\" font-size=\"13\">\n<rect width=\"{wide}\" height=\"{high}\" fill=\"#fff\"/>\n"
    );
    panel(&mut out, 0.0, "two-moons", 0.06, 2.0)?;
    panel(&mut out, SIDE, "spirals", 0.01, 60.0)?;
    out.push_str("</svg>\n");
    Ok(std::fs::write(path, out)?)
}

/// Draws 500 points of a shape, their clusters, and the cluster regions of the plane.
fn panel(out: &mut String, left: f64, name: &str, noise: f64, width: f64) -> Outcome<()> {
    let (x, labels) =
        generate(name, &GenerateParams { rows: 500, noise: Some(noise), ..Default::default() })?;
    let params = SpectralParams {
        kernel: Kernel::Rbf { gamma: width },
        gamma: 1e-4,
        landmarks: 500,
        ..Default::default()
    };
    let found = cluster(x.view(), &params, &())?.ok_or("stopped")?;
    let side = |f: f64| usize::from(f > 0.0);
    let points: Vec<[f64; 2]> = (0..x.rows()).map(|i| point(&x, i)).collect();
    let [low, high] = span(&points);
    let step = (high - low) / SQUARES as f64;
    let middle = |k: usize| low + (k as f64 + 0.5) * step;
    let field = (0..SQUARES * SQUARES).flat_map(|k| [middle(k % SQUARES), middle(k / SQUARES)]).collect();
    let f = found.model.decision(Matrix::dense(field, SQUARES * SQUARES, 2)?.view())?;
    let place = |p: [f64; 2]| {
        let at = |v: f64| EDGE + (v - low) / (high - low) * (SIDE - 2.0 * EDGE);
        (left + at(p[0]), SIDE - at(p[1]))
    };
    let square = (SIDE - 2.0 * EDGE) / SQUARES as f64;
    for (k, [light, full]) in COLORS.iter().enumerate() {
        write!(out, "<path shape-rendering=\"crispEdges\" fill=\"{light}\" d=\"")?;
        for (row, f) in f.chunks_exact(SQUARES).enumerate() {
            let mut first = 0;
            for run in f.chunk_by(|a, b| side(*a) == side(*b)) {
                let (x, y) = place([middle(first), middle(row)]);
                first += run.len();
                if side(run[0]) == k {
                    let (x, y, wide) = (x - square / 2.0, y - square / 2.0, run.len() as f64 * square);
                    let high = square + 0.15; // overlap hides seams between rows
                    write!(out, "M{x:.1} {y:.1}h{wide:.1}v{high:.2}h-{wide:.1}z")?;
                }
            }
        }
        write!(out, "\"/>\n<path stroke=\"{full}\" stroke-width=\"4\" stroke-linecap=\"round\" d=\"")?;
        for (p, _) in points.iter().zip(&found.coordinates[0]).filter(|(_, f)| side(**f) == k) {
            let (x, y) = place(*p);
            write!(out, "M{x:.1} {y:.1}h0")?;
        }
        out.push_str("\"/>\n");
    }
    let same = found.coordinates[0]
        .iter()
        .zip(&labels.of)
        .filter(|(f, c)| side(**f) as u32 == c.unwrap_or(0))
        .count();
    let right = 100.0 * same.max(x.rows() - same) as f64 / x.rows() as f64;
    let (at, below) = (left + SIDE / 2.0, SIDE + 12.0);
    writeln!(
        out,
        "<text x=\"{at}\" y=\"{below}\" text-anchor=\"middle\">no label: {right:.1} % in the right cluster</text>"
    )?;
    Ok(())
}

fn point(x: &Matrix, row: usize) -> [f64; 2] {
    let mut p = [0.0; 2];
    x.view().row(row).for_each(|c, v| p[c.min(1)] = v);
    p
}

/// Common range of both coordinates with a margin.
fn span(points: &[[f64; 2]]) -> [f64; 2] {
    let all = points.iter().flatten();
    let (low, high) = all.fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), v| (a.min(*v), b.max(*v)));
    let more = 0.08 * (high - low);
    [low - more, high + more]
}
