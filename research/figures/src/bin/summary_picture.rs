//! Draws exemplars and batch queries for two moons and a small cloud.
//!
//!     cargo run --release --manifest-path research/Cargo.toml --bin summary_picture -- docs

use evermargin::active::{SubmodParams, diverse_batch, submod_batch};
use evermargin::data::{Matrix, MatrixView};
use evermargin::datasets::{GenerateParams, generate};
use evermargin::kernel::Kernel;
use evermargin::summary::{ExemplarParams, Objective, Pool, carry_weights, choose};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;
use std::fmt::Write;
use std::path::Path;

const SIDE: f64 = 300.0;
const KERNEL: Kernel = Kernel::Rbf { gamma: 8.0 };

/// A marked row and the size of its mark.
type Mark = (usize, f64);

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = std::env::args().nth(1).unwrap_or_else(|| ".".into());
    let (x, classes) = moons_with_cloud()?;
    let (view, n) = (x.view(), x.rows());
    let weighted = |rows: &[usize]| -> evermargin::Result<Vec<Mark>> {
        let weights = carry_weights(view, &[], rows, KERNEL)?;
        Ok(rows.iter().copied().zip(weights).collect())
    };
    let random: Vec<usize> = {
        let mut rng = Pcg64::seed_from_u64(2);
        (0..25).map(|_| rng.random_range(0..n)).collect()
    };
    let of = |objective| {
        let params = ExemplarParams { kernel: KERNEL, objective, ..Default::default() };
        choose(&params, &Pool::of(view), 25, &())
    };
    let remembered = [
        ("25 at random", weighted(&random)?),
        ("25 exemplars", weighted(&of(Objective::Exemplars)?.order)?),
        ("25 by facility location", weighted(&of(Objective::FacilityLocation)?.order)?),
    ];
    draw(&Path::new(&folder).join("summary.svg"), view, &[], &remembered)?;

    // one label per moon; closeness from the difference of the two similarities
    let known: Vec<usize> = [0, 1].iter().filter_map(|c| classes.iter().position(|k| k == c)).collect();
    let similarity = |i: usize, j: usize| Kernel::Rbf { gamma: 1.0 }.eval(view.row(i), view.row(j));
    let closeness: Vec<f64> =
        (0..n).map(|i| 4.0 * (similarity(i, known[0]) - similarity(i, known[1])).abs()).collect();
    let mut nearest: Vec<usize> = (0..n).collect();
    nearest.sort_by(|&a, &b| closeness[a].total_cmp(&closeness[b]));
    let labeled = view.select(&known);
    let params = SubmodParams { kernel: KERNEL, ..Default::default() };
    let submod = submod_batch(view, labeled.view(), &[-1.0, 1.0], &params, 12, &())?;
    let diverse = diverse_batch(view, &closeness, KERNEL, 12, &())?;
    let plain = |rows: &[usize]| rows.iter().map(|&i| (i, 12.0)).collect();
    let asked = [
        ("12 nearest to the boundary", plain(&nearest[..12])),
        ("12 diverse", plain(&diverse.order)),
        ("12 by submod", plain(&submod.order)),
    ];
    draw(&Path::new(&folder).join("batch-queries.svg"), view, &known, &asked)?;
    Ok(())
}

/// Two moons with 300 rows, and a distant cloud of 12 rows.
fn moons_with_cloud() -> evermargin::Result<(Matrix, Vec<u32>)> {
    let params = GenerateParams { rows: 300, noise: Some(0.1), seed: 1, ..Default::default() };
    let (mut x, labels) = generate("two-moons", &params)?;
    let mut rng = Pcg64::seed_from_u64(1);
    let mut classes: Vec<u32> = labels.of.iter().map(|c| c.unwrap_or(0)).collect();
    for _ in 0..12 {
        let apart = [2.2 + rng.random_range(-0.15..0.15), 1.6 + rng.random_range(-0.15..0.15)];
        x.push(evermargin::data::Row::Dense(&apart));
    }
    classes.resize(x.rows(), 1);
    Ok((x, classes))
}

fn draw(
    path: &Path,
    x: MatrixView<'_>,
    known: &[usize],
    panels: &[(&str, Vec<Mark>)],
) -> Result<(), Box<dyn std::error::Error>> {
    let place = |i: usize, panel: usize| {
        let mut p = [0.0; 2];
        x.row(i).for_each(|c, v| p[c.min(1)] = v);
        let left = panel as f64 * SIDE + 20.0;
        (left + (p[0] + 1.4) / 4.2 * (SIDE - 40.0), SIDE - 20.0 - (p[1] + 1.4) / 4.2 * (SIDE - 40.0))
    };
    let (width, height) = (SIDE * panels.len() as f64, SIDE + 20.0);
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" font-family=\"sans-serif\" \
         font-size=\"13\">\n<rect width=\"{width}\" height=\"{height}\" fill=\"#fff\"/>\n"
    );
    for (panel, (title, marks)) in panels.iter().enumerate() {
        for i in 0..x.rows() {
            let (a, b) = place(i, panel);
            writeln!(out, "<circle cx=\"{a:.1}\" cy=\"{b:.1}\" r=\"2\" fill=\"#b8b8b8\"/>")?;
        }
        for &(i, weight) in marks {
            let ((a, b), r) = (place(i, panel), 2.0 + 0.9 * weight.sqrt());
            let style = "fill=\"#2868c8\" fill-opacity=\"0.55\" stroke=\"#17407c\"";
            writeln!(out, "<circle cx=\"{a:.1}\" cy=\"{b:.1}\" r=\"{r:.1}\" {style}/>")?;
        }
        for &i in known {
            let (a, b) = place(i, panel);
            let style = "fill=\"#e6781e\" stroke=\"#7c3c08\"";
            let (a, b) = (a - 5.0, b - 5.0);
            writeln!(out, "<rect x=\"{a:.1}\" y=\"{b:.1}\" width=\"10\" height=\"10\" {style}/>")?;
        }
        let middle = (panel as f64 + 0.5) * SIDE;
        writeln!(out, "<text x=\"{middle}\" y=\"{}\" text-anchor=\"middle\">{title}</text>", SIDE + 8.0)?;
    }
    out.push_str("</svg>\n");
    Ok(std::fs::write(path, out)?)
}
