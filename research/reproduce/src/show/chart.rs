//! Figures as SVG: axes with round numbers, and a color and a name per curve.

use crate::findings::Figure;
use std::fmt::Write;

const WIDTH: f64 = 720.0;
const HEIGHT: f64 = 360.0;
const LEFT: f64 = 64.0;
const RIGHT: f64 = 700.0;
const TOP: f64 = 12.0;
const BOTTOM: f64 = 310.0;

/// Colors that color-blind readers can distinguish (Okabe and Ito).
const COLORS: [&str; 8] =
    ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#8a6d00", "#56b4e9", "#e69f00", "#444444"];

/// Lines after the first eight are dashed.
const DASHES: [&str; 3] = ["", "6 3", "2 3"];

/// An axis, which maps values to positions.
struct Axis {
    min: f64,
    max: f64,
    log: bool,
    from: f64,
    to: f64,
}

impl Axis {
    fn new(values: impl Iterator<Item = f64>, log: bool, (from, to): (f64, f64)) -> Option<Self> {
        let usable = values.filter(|v| v.is_finite() && (!log || *v > 0.0));
        let (min, max) = usable.fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), v| (a.min(v), b.max(v)));
        if min > max {
            return None;
        }
        let (min, max) = if log {
            (10f64.powf(min.log10().floor()), 10f64.powf(max.log10().ceil().max(min.log10().floor() + 1.0)))
        } else {
            let pad = if max > min { 0.04 * (max - min) } else { 0.5 * max.abs().max(1.0) };
            (min - pad, max + pad)
        };
        Some(Self { min, max, log, from, to })
    }

    fn at(&self, value: f64) -> f64 {
        let scale = |v: f64| if self.log { v.max(1e-300).log10() } else { v };
        let (a, b) = (scale(self.min), scale(self.max));
        self.from + (scale(value) - a) / (b - a) * (self.to - self.from)
    }

    /// Positions of labels: powers of ten, or steps of 1, 2 or 5.
    fn marks(&self) -> Vec<f64> {
        if self.log {
            let (a, b) = (self.min.log10().round() as i32, self.max.log10().round() as i32);
            return (a..=b).map(|p| 10f64.powi(p)).collect();
        }
        let rough = (self.max - self.min) / 6.0;
        let power = 10f64.powf(rough.log10().floor());
        let step =
            [1.0, 2.0, 5.0, 10.0].map(|s| s * power).into_iter().find(|s| *s >= rough).unwrap_or(rough);
        let first = (self.min / step).ceil() as i64;
        let last = (self.max / step).floor() as i64;
        (first..=last).map(|k| k as f64 * step).collect()
    }
}

fn number(value: f64) -> String {
    if value != 0.0 && (value.abs() >= 1e5 || value.abs() < 1e-3) {
        return format!("{value:.0e}");
    }
    let text = format!("{value:.3}");
    text.trim_end_matches('0').trim_end_matches('.').to_string()
}

/// SVG of a figure; empty if it has no points.
pub fn svg(figure: &Figure) -> String {
    let points = || figure.series.iter().flat_map(|s| &s.points);
    let Some(x) = Axis::new(points().map(|p| p[0]), figure.log_x, (LEFT, RIGHT)) else {
        return String::new();
    };
    let Some(y) = Axis::new(points().map(|p| p[1]), figure.log_y, (BOTTOM, TOP)) else {
        return String::new();
    };
    let rows = figure.series.len().div_ceil(2);
    let height = HEIGHT + 20.0 * rows as f64;
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" role=\"img\" \
         font-family=\"sans-serif\" font-size=\"13\" fill=\"currentColor\"><title>{}</title>\n",
        escaped(&figure.title)
    );
    axes(&x, &y, figure, &mut out);
    for (k, series) in figure.series.iter().enumerate() {
        let seen = series.points.iter().filter(|p| p[0].is_finite() && p[1].is_finite());
        let dots: Vec<String> =
            seen.map(|p| format!("{:.1},{:.1}", x.at(p[0]), y.at(p[1]).clamp(TOP, BOTTOM))).collect();
        let (color, dash) = (COLORS[k % COLORS.len()], DASHES[k / COLORS.len() % DASHES.len()]);
        let _ = writeln!(
            out,
            "<polyline points=\"{}\" fill=\"none\" stroke=\"{color}\" stroke-width=\"1.8\" stroke-dasharray=\"{dash}\"/>",
            dots.join(" ")
        );
        if dots.len() <= 40 {
            for dot in &dots {
                let (cx, cy) = dot.split_once(',').unwrap_or((dot, "0"));
                let _ = write!(out, "<circle cx=\"{cx}\" cy=\"{cy}\" r=\"2.6\" fill=\"{color}\"/>");
            }
        }
        let (left, top) = (LEFT + 320.0 * (k % 2) as f64, HEIGHT + 20.0 * (k / 2) as f64);
        let _ = writeln!(
            out,
            "<line x1=\"{left}\" y1=\"{0}\" x2=\"{1}\" y2=\"{0}\" stroke=\"{color}\" stroke-width=\"3\" stroke-dasharray=\"{dash}\"/>\
             <text x=\"{2}\" y=\"{3}\">{4}</text>",
            top - 4.0,
            left + 22.0,
            left + 28.0,
            top,
            escaped(&series.name)
        );
    }
    out.push_str("</svg>\n");
    out
}

fn axes(x: &Axis, y: &Axis, figure: &Figure, out: &mut String) {
    for mark in x.marks() {
        let at = x.at(mark);
        let _ = writeln!(
            out,
            "<line x1=\"{at:.1}\" y1=\"{TOP}\" x2=\"{at:.1}\" y2=\"{BOTTOM}\" stroke=\"#8884\"/>\
             <text x=\"{at:.1}\" y=\"{}\" text-anchor=\"middle\">{}</text>",
            BOTTOM + 17.0,
            number(mark)
        );
    }
    for mark in y.marks() {
        let at = y.at(mark);
        let _ = writeln!(
            out,
            "<line x1=\"{LEFT}\" y1=\"{at:.1}\" x2=\"{RIGHT}\" y2=\"{at:.1}\" stroke=\"#8884\"/>\
             <text x=\"{}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>",
            LEFT - 6.0,
            at + 4.0,
            number(mark)
        );
    }
    let middle = f64::midpoint(LEFT, RIGHT);
    let _ = writeln!(
        out,
        "<text x=\"{middle}\" y=\"{}\" text-anchor=\"middle\">{}</text>\
         <text transform=\"translate(13 {}) rotate(-90)\" text-anchor=\"middle\">{}</text>",
        BOTTOM + 34.0,
        escaped(&figure.x),
        f64::midpoint(TOP, BOTTOM),
        escaped(&figure.y)
    );
}

/// Escapes text for HTML.
pub(crate) fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::findings::Series;

    fn figure(points: Vec<[f64; 2]>, log: bool) -> Figure {
        Figure {
            title: "a < b".into(),
            x: "rows".into(),
            y: "s".into(),
            log_x: log,
            log_y: log,
            series: vec![Series { name: "one".into(), points }],
        }
    }

    #[test]
    fn powers_of_ten_are_equidistant() {
        let drawn = svg(&figure(vec![[10.0, 1.0], [100.0, 10.0], [1000.0, 100.0]], true));
        let middle = f64::midpoint(LEFT, RIGHT);
        assert!(
            drawn.contains(&format!("{LEFT:.1},{BOTTOM:.1} {middle:.1},{:.1}", f64::midpoint(TOP, BOTTOM))),
            "{drawn}"
        );
        assert!(drawn.contains("a &lt; b") && !drawn.contains("a < b"));
    }

    #[test]
    fn axis_labels_are_round_and_within_the_range() {
        let axis = Axis::new([0.0, 100.0].into_iter(), false, (0.0, 1.0)).unwrap();
        assert_eq!(axis.marks(), [0.0, 20.0, 40.0, 60.0, 80.0, 100.0]);
        assert_eq!([number(0.5), number(1e6), number(20.0), number(0.0)], ["0.5", "1e6", "20", "0"]);
    }

    #[test]
    fn points_that_are_not_finite_are_skipped() {
        assert_eq!(svg(&figure(vec![], false)), "");
        assert_eq!(svg(&figure(vec![[f64::NAN, 1.0]], false)), "");
        let flat = svg(&figure(vec![[1.0, 5.0], [2.0, 5.0], [3.0, f64::INFINITY]], false));
        assert!(flat.contains("polyline") && !flat.contains("inf") && !flat.contains("NaN"), "{flat}");
        let below = svg(&figure(vec![[1.0, 0.0], [10.0, 1.0]], true));
        assert!(below.contains("polyline") && !below.contains("NaN"));
    }
}
