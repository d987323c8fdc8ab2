//! Curves as SVG: lines over a common axis, with a legend and marks.

use crate::output::console::short;
use crate::output::heatmap::escaped;
use std::fmt::Write;

/// A picture of several curves.
pub struct Chart<'a> {
    pub title: &'a str,
    pub across: &'a str,
    pub up: &'a str,
    pub curves: Vec<Curve<'a>>,
    /// Positions on the horizontal axis that are marked by a vertical line.
    pub marks: Vec<f64>,
    /// Range of the vertical axis; none = the range of the values.
    pub range: Option<(f64, f64)>,
}

/// A curve.
pub struct Curve<'a> {
    pub name: &'a str,
    pub color: &'a str,
    pub points: Vec<(f64, f64)>,
}

const WIDTH: f64 = 520.0;
const HEIGHT: f64 = 300.0;
const LEFT: f64 = 62.0;
const RIGHT: f64 = 14.0;
const TOP: f64 = 34.0;
const BOTTOM: f64 = 46.0;

impl Chart<'_> {
    /// The picture.
    pub fn svg(&self) -> String {
        let all = || self.curves.iter().flat_map(|c| c.points.iter().copied());
        let (x0, x1) = span(all().map(|p| p.0), 0.0);
        let (y0, y1) = self.range.unwrap_or_else(|| span(all().map(|p| p.1), 0.05));
        let x = |v: f64| LEFT + (v - x0) / (x1 - x0) * (WIDTH - LEFT - RIGHT);
        let y = |v: f64| HEIGHT - BOTTOM - (v - y0) / (y1 - y0) * (HEIGHT - TOP - BOTTOM);
        let mut out = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" width=\"{WIDTH}\" \
             height=\"{HEIGHT}\" font-family=\"system-ui,sans-serif\" font-size=\"12\">\n<rect width=\"{WIDTH}\" \
             height=\"{HEIGHT}\" fill=\"#fff\"/>\n<text x=\"{LEFT}\" y=\"20\" font-size=\"14\">{}</text>\n",
            escaped(self.title)
        );
        for v in ticks(y0, y1) {
            let at = y(v);
            let _ = writeln!(
                out,
                "<line x1=\"{LEFT}\" x2=\"{:.1}\" y1=\"{at:.1}\" y2=\"{at:.1}\" stroke=\"#e3e3e3\"/><text x=\"{:.1}\" \
                 y=\"{:.1}\" text-anchor=\"end\" fill=\"#555\">{}</text>",
                WIDTH - RIGHT,
                LEFT - 6.0,
                at + 4.0,
                short(v)
            );
        }
        for v in ticks(x0, x1) {
            let _ = writeln!(
                out,
                "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\" fill=\"#555\">{}</text>",
                x(v),
                HEIGHT - BOTTOM + 16.0,
                short(v)
            );
        }
        for &mark in self.marks.iter().filter(|m| (x0..=x1).contains(*m)) {
            let at = x(mark);
            let _ = writeln!(
                out,
                "<line x1=\"{at:.1}\" x2=\"{at:.1}\" y1=\"{TOP}\" y2=\"{:.1}\" stroke=\"#c33\" \
                 stroke-dasharray=\"4 3\"/>",
                HEIGHT - BOTTOM
            );
        }
        for curve in &self.curves {
            let mut path = String::new();
            for (i, p) in curve.points.iter().enumerate() {
                let _ = write!(
                    path,
                    "{}{:.1} {:.1}",
                    if i == 0 { "M" } else { " L" },
                    x(p.0),
                    y(p.1.clamp(y0, y1))
                );
            }
            let _ = writeln!(
                out,
                "<path d=\"{path}\" fill=\"none\" stroke=\"{}\" stroke-width=\"1.8\" stroke-linejoin=\"round\"/>",
                curve.color
            );
        }
        let mut at = WIDTH - RIGHT;
        for curve in self.curves.iter().rev().filter(|c| !c.name.is_empty()) {
            let _ = writeln!(
                out,
                "<text x=\"{at:.1}\" y=\"{:.1}\" text-anchor=\"end\" fill=\"{}\">{}</text>",
                HEIGHT - BOTTOM - 8.0,
                curve.color,
                escaped(curve.name)
            );
            at -= 7.0 * curve.name.chars().count() as f64 + 18.0;
        }
        let _ = write!(
            out,
            "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\" fill=\"#333\">{}</text>\n<text transform=\"translate(14 \
             {:.1}) rotate(-90)\" text-anchor=\"middle\" fill=\"#333\">{}</text>\n</svg>\n",
            f64::midpoint(LEFT, WIDTH - RIGHT),
            HEIGHT - 8.0,
            escaped(self.across),
            f64::midpoint(TOP, HEIGHT - BOTTOM),
            escaped(self.up)
        );
        out
    }
}

/// The range of the values, widened on both sides by the fraction `wider`. Without a range, an interval of length 1.
fn span(values: impl Iterator<Item = f64>, wider: f64) -> (f64, f64) {
    let (mut min, mut max) = (f64::INFINITY, f64::NEG_INFINITY);
    values.filter(|v| v.is_finite()).for_each(|v| (min, max) = (min.min(v), max.max(v)));
    if !(min.is_finite() && max > min) {
        let middle = if min.is_finite() { min } else { 0.0 };
        return (middle - 0.5, middle + 0.5);
    }
    let more = wider * (max - min);
    (min - more, max + more)
}

/// About five round numbers between two numbers.
fn ticks(from: f64, to: f64) -> Vec<f64> {
    let rough = (to - from) / 5.0;
    let power = 10f64.powf(rough.log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0].into_iter().map(|s| s * power).find(|s| *s >= rough).unwrap_or(rough);
    let first = (from / step).ceil() as i64;
    (first..).map(|k| k as f64 * step).take_while(|v| *v <= to + 1e-9 * step).take(20).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_and_few() {
        assert_eq!(ticks(0.0, 10.0), [0.0, 2.0, 4.0, 6.0, 8.0, 10.0]);
        for (from, to) in [(0.0, 1e-9), (-3.0, 7e6), (99.9, 100.1)] {
            let t = ticks(from, to);
            assert!((2..=11).contains(&t.len()), "{t:?}");
        }
        assert_eq!(span([1.0].into_iter(), 0.1), (0.5, 1.5));
        assert_eq!(span(std::iter::empty(), 0.1), (-0.5, 0.5));
    }
}
