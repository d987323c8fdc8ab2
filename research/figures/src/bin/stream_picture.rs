//! Draws two streams: the sliced cube, whose first batches are misleading, and two moons with a small cloud.
//!
//!     cargo run --release --manifest-path research/Cargo.toml --bin stream_picture -- docs

use evermargin::active::{SubmodParams, diverse_batch, submod_batch};
use evermargin::data::{Matrix, Row};
use evermargin::datasets::{GenerateParams, generate};
use evermargin::engine::transduction::{LabeledRows, Transduction, TransductionParams};
use evermargin::estimators::transductive::submod::Variant;
use evermargin::kernel::Kernel;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;
use std::fmt::Write;
use std::path::Path;

type Point = [f64; 2];
type Outcome<T> = Result<T, Box<dyn std::error::Error>>;

/// A dot: position, size and color.
type Dot = (Point, f64, &'static str);

const COLORS: [&str; 2] = ["#2868c8", "#e6781e"];
const GRAY: &str = "#c4c4c4";
const SIDE: f64 = 300.0;

fn main() -> Outcome<()> {
    let folder = std::env::args().nth(1).unwrap_or_else(|| ".".into());
    cube(&Path::new(&folder).join("sliced-cube.svg"))?;
    moons(&Path::new(&folder).join("moons-stream.svg"))
}

fn rows(points: &[Point]) -> Matrix {
    let mut x = Matrix::empty(2, false);
    points.iter().for_each(|p| x.push(Row::Dense(p)));
    x
}

fn points(x: &Matrix) -> Vec<Point> {
    let one = |i: usize| {
        let mut p = [0.0; 2];
        x.view().row(i).for_each(|c, v| p[c.min(1)] = v);
        p
    };
    (0..x.rows()).map(one).collect()
}

/// Inferred classes of a batch; 0 while no label is known.
fn label(memory: &Transduction, known: &[(Point, u32)], batch: &[Point]) -> Outcome<Vec<u32>> {
    let (x, class) = labeled(known);
    let known = LabeledRows { x: x.view(), class: &class, classes: 2, shares: &[0.5, 0.5] };
    let given = memory.label(known, rows(batch).view(), &())?;
    Ok(given.map_or_else(|| vec![0; batch.len()], |g| g.iter().map(|g| g.class).collect()))
}

fn labeled(known: &[(Point, u32)]) -> (Matrix, Vec<u32>) {
    let (places, class): (Vec<Point>, Vec<u32>) = known.iter().copied().unzip();
    (rows(&places), class)
}

fn absorb(memory: &mut Transduction, known: &[(Point, u32)], batch: &[Point]) -> Outcome<()> {
    let (x, class) = labeled(known);
    let known = LabeledRows { x: x.view(), class: &class, classes: 2, shares: &[0.5, 0.5] };
    let given = memory.label(known, rows(batch).view(), &())?;
    memory.absorb(known, rows(batch), given.as_deref(), 1, &())?;
    Ok(())
}

/// Two slabs; the upper one is class 0. The first batch has one corner of each slab, the second the other corners, each of which
/// is nearer to the wrong class. Later batches cover the slabs.
fn cube(path: &Path) -> Outcome<()> {
    let mut rng = Pcg64::seed_from_u64(3);
    let mut slab = |class: u32, from: f64, to: f64, count: usize| -> Vec<(Point, u32)> {
        let y = if class == 0 { 0.9 } else { 0.0 };
        let mut one = |_| ([rng.random_range(from..to), y + rng.random_range(0.0..0.45)], class);
        (0..count).map(&mut one).collect()
    };
    let mut batches = vec![[slab(0, 0.0, 0.8, 60), slab(1, 1.7, 2.5, 60)].concat()];
    batches.push([slab(0, 1.7, 2.5, 60), slab(1, 0.0, 0.8, 60)].concat());
    for _ in 0..3 {
        batches.push([slab(0, 0.0, 2.5, 60), slab(1, 0.0, 2.5, 60)].concat());
    }
    let known = [([0.3, 1.1], 0), ([2.2, 0.2], 1)];
    let params = params(Kernel::Rbf { gamma: 12.0 });
    let (mut memory, blank) = (Transduction::new(&params, 2, false)?, Transduction::new(&params, 2, false)?);
    let mut frozen = known.to_vec();
    for batch in &batches {
        let places: Vec<Point> = batch.iter().map(|b| b.0).collect();
        let given = label(&blank, &frozen, &places)?;
        frozen.extend(places.iter().copied().zip(given));
        absorb(&mut memory, &known, &places)?;
    }
    let all: Vec<(Point, u32)> = batches.concat();
    let places: Vec<Point> = all.iter().map(|a| a.0).collect();
    let relabeled = label(&memory, &known, &places)?;
    let right = |given: &mut dyn Iterator<Item = u32>| {
        100.0 * given.zip(&all).filter(|(g, a)| *g == a.1).count() as f64 / all.len() as f64
    };
    let (before, after) =
        (right(&mut frozen[known.len()..].iter().map(|f| f.1)), right(&mut relabeled.iter().copied()));
    let shades = ["#17407c", "#c02860", "#8c8c8c", "#8c8c8c", "#8c8c8c"];
    let arrival = batches.iter().zip(shades).flat_map(|(b, s)| b.iter().map(move |b| (b.0, 2.2, s)));
    let colored = |given: &mut dyn Iterator<Item = (Point, u32)>| {
        given.map(|(p, c)| (p, 2.2, COLORS[c as usize])).collect::<Vec<Dot>>()
    };
    let remembered = points(memory.exemplars());
    let panels = [
        ("batch 1 dark, 2 red, 3 to 5 gray".to_string(), arrival.collect(), vec![]),
        (
            format!("earlier labels stay: {before:.0} % correct"),
            colored(&mut frozen[known.len()..].iter().copied()),
            vec![],
        ),
        (
            format!("relabeled, exemplars ringed: {after:.0} % correct"),
            colored(&mut places.iter().copied().zip(relabeled)),
            remembered.iter().map(|p| (*p, 4.5)).collect(),
        ),
    ];
    draw(path, [-0.1, 2.6, -0.7, 2.0], &known, &panels)
}

fn params(kernel: Kernel) -> TransductionParams {
    TransductionParams { kernel, variant: Variant::Polished, ..TransductionParams::default() }
}

/// Twenty batches of 100 rows: two moons with one label per moon, and two rows per batch from a distant cloud.
fn moons(path: &Path) -> Outcome<()> {
    let mut rng = Pcg64::seed_from_u64(2);
    let (mut batches, mut truth) = (Vec::new(), Vec::new());
    for seed in 0..20 {
        let params = GenerateParams { rows: 98, noise: Some(0.1), seed, ..GenerateParams::default() };
        let (x, labels) = generate("two-moons", &params)?;
        let mut batch = points(&x);
        truth.extend(labels.of.iter().map(|c| c.unwrap_or(0)));
        for _ in 0..2 {
            batch.push([2.2 + rng.random_range(-0.2..0.2), 1.6 + rng.random_range(-0.2..0.2)]);
            truth.push(1);
        }
        batches.push(batch);
    }
    let first = |class: u32| truth.iter().position(|t| *t == class).unwrap_or(0);
    let known = [0, 1].map(|c| (batches[0][first(c)], c));
    let kernel = Kernel::Rbf { gamma: 8.0 };
    let params = params(kernel);
    let mut memory = Transduction::new(&params, 2, false)?;
    for batch in &batches {
        absorb(&mut memory, &known, batch)?;
    }
    let all = batches.concat();
    let given = label(&memory, &known, &all)?;
    let right = 100.0 * given.iter().zip(&truth).filter(|(a, b)| a == b).count() as f64 / all.len() as f64;
    let gray: Vec<Dot> = all.iter().map(|p| (*p, 1.4, GRAY)).collect();
    let kept = points(memory.exemplars());
    let mut remembered = gray.clone();
    let weights = kept.iter().zip(memory.weights());
    remembered.extend(weights.map(|(p, w)| (*p, 1.5 + 0.5 * w.sqrt(), "#2868c8")));
    let last = rows(&batches[19]);
    let (x, class) = labeled(&known);
    let labels = LabeledRows { x: x.view(), class: &class, classes: 2, shares: &[0.5, 0.5] };
    let sure = memory.label(labels, last.view(), &())?.unwrap_or_default();
    let closeness: Vec<f64> = sure.iter().map(|g| g.confidence).collect();
    let diverse = diverse_batch(last.view(), &closeness, kernel, 8, &())?.order;
    let how = SubmodParams { kernel, ..SubmodParams::default() };
    let submod = submod_batch(last.view(), x.view(), &[-1.0, 1.0], &how, 8, &())?.order;
    let mut queried = gray;
    queried.extend(batches[19].iter().map(|p| (*p, 2.2, "#707070")));
    queried.extend(diverse.iter().map(|&i| (batches[19][i], 5.0, "#2868c8")));
    let rings = submod.iter().map(|&i| (batches[19][i], 7.0)).collect();
    let colored: Vec<Dot> = all.iter().zip(&given).map(|(p, c)| (*p, 1.8, COLORS[*c as usize])).collect();
    let panels = [
        (format!("2000 rows, 2 labels: {right:.0} % correct"), colored, vec![]),
        (format!("{} exemplars, area by weight", kept.len()), remembered, vec![]),
        ("queries: diverse (blue), submod (rings)".to_string(), queried, rings),
    ];
    draw(path, [-1.4, 2.8, -1.6, 2.6], &known, &panels)
}

/// Title, dots, and rings with their radii.
type Panel = (String, Vec<Dot>, Vec<(Point, f64)>);

/// Draws panels side by side over `[left, right, bottom, top]`; labeled points are squares.
fn draw(path: &Path, span: [f64; 4], known: &[(Point, u32)], panels: &[Panel]) -> Outcome<()> {
    let inner = SIDE - 30.0;
    let (width, height) = (SIDE * panels.len() as f64, SIDE + 20.0);
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" font-family=\"sans-serif\" \
         font-size=\"13\">\n<rect width=\"{width}\" height=\"{height}\" fill=\"#fff\"/>\n"
    );
    for (k, (title, dots, rings)) in panels.iter().enumerate() {
        let place = |p: &Point| {
            let (x, y) = ((p[0] - span[0]) / (span[1] - span[0]), (p[1] - span[2]) / (span[3] - span[2]));
            (k as f64 * SIDE + 15.0 + x * inner, SIDE - 15.0 - y * inner)
        };
        // dots of the same size and color form one path: zero-length lines with round caps
        for same in dots.chunk_by(|a, b| a.1 == b.1 && a.2 == b.2) {
            let (wide, color) = (2.0 * same[0].1, same[0].2);
            write!(out, "<path stroke=\"{color}\" stroke-width=\"{wide:.1}\" stroke-linecap=\"round\" d=\"")?;
            for (p, ..) in same {
                let (x, y) = place(p);
                write!(out, "M{x:.1} {y:.1}h0")?;
            }
            out.push_str("\"/>\n");
        }
        for (p, r) in rings {
            let (x, y) = place(p);
            let style = "fill=\"none\" stroke=\"#222\"";
            writeln!(out, "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{r:.1}\" {style}/>")?;
        }
        for (p, class) in known {
            let (x, y) = place(p);
            let (x, y, fill) = (x - 5.0, y - 5.0, COLORS[*class as usize]);
            writeln!(
                out,
                "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"10\" height=\"10\" fill=\"{fill}\" stroke=\"#000\"/>"
            )?;
        }
        let middle = (k as f64 + 0.5) * SIDE;
        writeln!(out, "<text x=\"{middle}\" y=\"{}\" text-anchor=\"middle\">{title}</text>", SIDE + 8.0)?;
    }
    out.push_str("</svg>\n");
    Ok(std::fs::write(path, out)?)
}
