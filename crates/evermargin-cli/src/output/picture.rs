//! Picture of a classifier of the plane: colors of the classes, paler toward the boundary, with the samples and the support
//! vectors on top. As SVG, and as characters for the terminal.

use crate::failure::Failure;
use evermargin::model::{Classifier, MulticlassScheme};
use evermargin::{Labels, Matrix, Model};
use std::collections::BTreeMap;
use std::fmt::Write;

/// Class colors: orange, blue, green, purple.
const COLORS: [[f64; 3]; 4] =
    [[230.0, 120.0, 30.0], [40.0, 110.0, 200.0], [50.0, 150.0, 80.0], [140.0, 80.0, 170.0]];
/// Letters of the classes for terminals without color.
const LETTERS: [char; 4] = ['o', 'x', '+', '*'];

/// A square part of the plane.
#[derive(Debug, Clone, Copy)]
struct Window {
    left: f64,
    bottom: f64,
    side: f64,
}

/// A classifier of the plane and the samples drawn with it.
#[derive(Debug)]
pub struct Picture<'a> {
    classifier: &'a Classifier,
    points: Vec<(f64, f64, usize)>,
    support: Vec<(f64, f64)>,
    window: Window,
}

impl<'a> Picture<'a> {
    /// A picture of the rows of `x` (two columns), their labels, and the regions of `classifier` (without scaling).
    pub fn new(classifier: &'a Classifier, x: &Matrix, labels: &Labels) -> Self {
        let pairs = |m: &Matrix| -> Vec<(f64, f64)> {
            (0..m.rows())
                .map(|i| {
                    let mut p = [0.0; 2];
                    m.view().row(i).for_each(|c, v| p[c.min(1)] = v);
                    (p[0], p[1])
                })
                .collect()
        };
        let places = pairs(x);
        let support = match &classifier.model {
            Model::Expansion { points, .. } => pairs(points),
            Model::Linear { .. } | Model::Views { .. } => Vec::new(),
        };
        let range = |of: fn(&(f64, f64)) -> f64| {
            let low = places.iter().map(of).fold(f64::INFINITY, f64::min);
            let high = places.iter().map(of).fold(f64::NEG_INFINITY, f64::max);
            (low, high)
        };
        let ((x0, x1), (y0, y1)) = (range(|p| p.0), range(|p| p.1));
        let side = (x1 - x0).max(y1 - y0) * 1.15;
        let side = if side > 0.0 && side.is_finite() { side } else { 1.0 };
        let window = Window {
            left: f64::midpoint(x0, x1) - side / 2.0,
            bottom: f64::midpoint(y0, y1) - side / 2.0,
            side,
        };
        let points =
            places.iter().zip(&labels.of).map(|(p, c)| (p.0, p.1, c.unwrap_or(0) as usize)).collect();
        Self { classifier, points, support, window }
    }

    /// A picture of the inferred labels of the rows of `x` (two columns), with rings around rows whose label was `known`.
    pub fn of_labels(classifier: &'a Classifier, x: &Matrix, class: &[u32], known: &[bool]) -> Self {
        let of = class.iter().map(|c| Some(*c)).collect();
        let labels = Labels { classes: classifier.classes.clone(), of };
        let mut picture = Self::new(classifier, x, &labels);
        let places = picture.points.iter().zip(known).filter(|(_, k)| **k);
        picture.support = places.map(|((x, y, _), _)| (*x, *y)).collect();
        picture
    }

    /// Class, confidence (0 to 1) and first output on a `w` × `h` grid, top row first.
    fn sample(&self, w: usize, h: usize) -> Result<Vec<(usize, f64, f64)>, Failure> {
        let Window { left, bottom, side } = self.window;
        let mut values = Vec::with_capacity(2 * w * h);
        for i in 0..h {
            for j in 0..w {
                values.push(left + side * (j as f64 + 0.5) / w as f64);
                values.push(bottom + side * (1.0 - (i as f64 + 0.5) / h as f64));
            }
        }
        let p = self.classifier.predict(Matrix::dense(values, w * h, 2)?)?;
        let outputs = self.classifier.model.outputs();
        let (scheme, k) = (self.classifier.scheme, self.classifier.classes.len());
        Ok(p.class
            .iter()
            .zip(p.decision.chunks(outputs))
            .map(|(class, f)| (*class as usize, confidence(scheme, k, *class as usize, f), f[0]))
            .collect())
    }

    /// The picture as an SVG element, `size` units wide and high.
    pub fn svg(&self, title: &str, size: usize) -> Result<String, Failure> {
        let n = 100;
        let grid = self.sample(n, n)?;
        let cell = size as f64 / n as f64;
        let mut out = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {size} {size}\" width=\"{size}\" height=\"{size}\" \
             role=\"img\" aria-label=\"{title}\">\n<title>{title}</title>\n<g shape-rendering=\"crispEdges\" transform=\"scale({cell})\">\n"
        );
        let mut fields: BTreeMap<String, String> = BTreeMap::new();
        for (i, row) in grid.chunks(n).enumerate() {
            let colors: Vec<String> = row.iter().map(|(c, s, _)| hex(tint(*c, *s))).collect();
            let mut start = 0;
            for j in 1..=n {
                if j == n || colors[j] != colors[start] {
                    let field = fields.entry(colors[start].clone()).or_default();
                    let _ = write!(field, "M{start} {i}h{}v1H{start}z", j - start);
                    start = j;
                }
            }
        }
        for (color, field) in fields {
            let _ = writeln!(out, "<path fill=\"{color}\" d=\"{field}\"/>");
        }
        out.push_str("</g>\n");
        if self.classifier.scheme == MulticlassScheme::Binary {
            let f: Vec<f64> = grid.iter().map(|g| g.2).collect();
            for (level, style) in
                [(-1.0, "1\" stroke-dasharray=\"4 3"), (0.0, "2"), (1.0, "1\" stroke-dasharray=\"4 3")]
            {
                let path = contour(&f, n, level, cell);
                let _ = writeln!(
                    out,
                    "<path d=\"{path}\" fill=\"none\" stroke=\"#222\" stroke-width=\"{style}\"/>"
                );
            }
        }
        let Window { left, bottom, side } = self.window;
        let place =
            |x: f64, y: f64| ((x - left) / side * size as f64, (1.0 - (y - bottom) / side) * size as f64);
        for &(x, y, class) in &self.points {
            let (x, y) = place(x, y);
            let fill = hex(COLORS[class % COLORS.len()]);
            let _ = writeln!(
                out,
                "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"3.2\" fill=\"{fill}\" stroke=\"#fff\" stroke-width=\"0.7\"/>"
            );
        }
        for &(x, y) in &self.support {
            let (x, y) = place(x, y);
            let _ = writeln!(
                out,
                "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"5.2\" fill=\"none\" stroke=\"#111\" stroke-width=\"1.1\"/>"
            );
        }
        out.push_str("</svg>");
        Ok(out)
    }

    /// Lines for a terminal, `width` characters wide and half as many high. With color each character shows two pixels, one
    /// above the other; without color a letter stands for a sample and its class.
    pub fn lines(&self, width: usize, color: bool) -> Result<Vec<String>, Failure> {
        let rows = if color { width } else { width / 2 };
        let grid = self.sample(width, rows)?;
        let mut marks: Vec<Option<usize>> = vec![None; width * rows];
        let Window { left, bottom, side } = self.window;
        for &(x, y, class) in &self.points {
            let column = (x - left) / side * width as f64;
            let row = (1.0 - (y - bottom) / side) * rows as f64;
            marks[(row as usize).min(rows - 1) * width + (column as usize).min(width - 1)] = Some(class);
        }
        let pixel = |i: usize| match marks[i] {
            Some(class) => COLORS[class % COLORS.len()],
            None => tint(grid[i].0, grid[i].1),
        };
        let mut lines = Vec::new();
        if color {
            for pair in 0..rows / 2 {
                let mut line = String::new();
                for j in 0..width {
                    let (up, down) = (pixel(2 * pair * width + j), pixel((2 * pair + 1) * width + j));
                    let [r, g, b] = up.map(|v| v as u8);
                    let [s, t, u] = down.map(|v| v as u8);
                    let _ = write!(line, "\x1b[38;2;{r};{g};{b};48;2;{s};{t};{u}m▀");
                }
                line.push_str("\x1b[0m");
                lines.push(line);
            }
        } else {
            for i in 0..rows {
                let character = |j: usize| match (marks[i * width + j], grid[i * width + j]) {
                    (Some(class), _) => LETTERS[class % LETTERS.len()],
                    (None, (class, s, _)) if s.abs() > 0.5 => ['.', ' ', ':', '\''][class % 4],
                    _ => '~',
                };
                lines.push((0..width).map(character).collect());
            }
        }
        Ok(lines)
    }
}

/// Confidence of the outputs in the class, from 0 to 1: tanh of the smallest margin of the class against the others.
fn confidence(scheme: MulticlassScheme, k: usize, class: usize, f: &[f64]) -> f64 {
    let margin = match scheme {
        MulticlassScheme::Binary => f[0].abs(),
        MulticlassScheme::OneVsRest => {
            let others = f.iter().enumerate().filter(|(j, _)| *j != class).map(|(_, v)| *v);
            f[class] - others.fold(f64::NEG_INFINITY, f64::max)
        }
        MulticlassScheme::OneVsOne => {
            let pairs = (0..k).flat_map(|a| (a + 1..k).map(move |b| (a, b)));
            pairs
                .zip(f)
                .filter(|((a, b), _)| *a == class || *b == class)
                .map(|((_, b), v)| if b == class { *v } else { -*v })
                .fold(f64::INFINITY, f64::min)
        }
    };
    margin.max(0.0).tanh()
}

/// The color of a class, paler for lower confidence.
fn tint(class: usize, confidence: f64) -> [f64; 3] {
    let strength = 0.1 + 0.45 * (confidence * 8.0).round() / 8.0;
    COLORS[class % COLORS.len()].map(|c| 255.0 + strength * (c - 255.0))
}

fn hex(color: [f64; 3]) -> String {
    let [r, g, b] = color.map(|v| v.round() as u8);
    format!("#{r:02x}{g:02x}{b:02x}")
}

/// SVG path of the line on which `f`, given on an n × n grid of cell centers, crosses `level`: straight pieces within each
/// square of four neighbors (marching squares).
fn contour(f: &[f64], n: usize, level: f64, cell: f64) -> String {
    let mut path = String::new();
    let center = |i: usize| (i as f64 + 0.5) * cell;
    for i in 0..n - 1 {
        for j in 0..n - 1 {
            let corner = [(i, j), (i, j + 1), (i + 1, j + 1), (i + 1, j)];
            let value = corner.map(|(a, b)| f[a * n + b] - level);
            let mut crossings = Vec::new();
            for e in 0..4 {
                let (p, q) = (e, (e + 1) % 4);
                if (value[p] > 0.0) != (value[q] > 0.0) {
                    let t = value[p] / (value[p] - value[q]);
                    let mix = |a: usize, b: usize| center(a) + t * (center(b) - center(a));
                    crossings.push((mix(corner[p].1, corner[q].1), mix(corner[p].0, corner[q].0)));
                }
            }
            for ends in crossings.chunks_exact(2) {
                let _ = write!(path, "M{:.1} {:.1}L{:.1} {:.1}", ends[0].0, ends[0].1, ends[1].0, ends[1].1);
            }
        }
    }
    path
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_contour_follows_the_change_of_sign() {
        // f = column − 1.5 on a 4 × 4 grid: a straight line between the second and third column
        let f: Vec<f64> = (0..16).map(|i| f64::from(i % 4) - 1.5).collect();
        let path = contour(&f, 4, 0.0, 1.0);
        assert_eq!(path.matches('M').count(), 3, "{path}");
        assert!(path.split(['M', 'L']).filter(|s| !s.is_empty()).all(|s| s.starts_with("2.0 ")), "{path}");
    }

    #[test]
    fn confidence_of_one_vs_one_is_that_of_the_closest_pair() {
        assert!(
            (confidence(MulticlassScheme::OneVsOne, 3, 1, &[2.0, 9.0, -0.5]) - 0.5f64.tanh()).abs() < 1e-12
        );
        assert!((confidence(MulticlassScheme::Binary, 2, 0, &[-1.0]) - 1.0f64.tanh()).abs() < 1e-12);
    }
}
