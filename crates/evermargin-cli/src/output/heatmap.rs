//! A grid of accuracies, as a table for the terminal and as a self-contained picture.

use crate::failure::Failure;
use crate::output::console::short;
use std::fmt::Write;
use std::path::Path;

/// Accuracies over costs (rows) and gammas (columns).
#[derive(Debug)]
pub struct Heatmap {
    /// Title above the picture.
    pub title: String,
    /// Name of the parameter that differs between rows.
    pub name: String,
    /// Values of that parameter, one per row.
    pub costs: Vec<f64>,
    /// Values of gamma, one per column; a single `None` if there is no gamma.
    pub gammas: Vec<Option<f64>>,
    /// Cost, gamma and accuracy of each tried point.
    pub cells: Vec<(f64, Option<f64>, f64)>,
    /// Cost and gamma of the best point.
    pub best: (f64, Option<f64>),
}

/// Refuses a file name that ends neither in `.svg` nor in `.html`.
pub fn check_name(path: &Path) -> Result<(), Failure> {
    match path.extension().and_then(|e| e.to_str()) {
        Some("svg" | "html") => Ok(()),
        _ => Err(Failure::Usage(format!("--plot {}: must end in .svg or .html", path.display()))),
    }
}

/// A self-contained HTML page.
pub fn page(title: &str, body: &str) -> String {
    format!(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>{}</title>\n<style>body{{font:15px \
         system-ui,sans-serif;margin:2em auto;padding:0 1em;max-width:1100px;color:#222;background:#fff}}svg{{max-width:100%;\
         height:auto}}</style></head>\n<body>\n{body}\n</body></html>\n",
        escaped(title)
    )
}

/// Text with the special characters of HTML replaced.
pub fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

impl Heatmap {
    fn at(&self, cost: f64, gamma: Option<f64>) -> Option<f64> {
        self.cells.iter().find(|c| c.0 == cost && c.1 == gamma).map(|c| c.2)
    }

    /// A table for the terminal, with accuracies in percent and a star at the best.
    pub fn table(&self) -> String {
        let mut out = format!("accuracy in %, {} down", self.name);
        if self.gammas.iter().any(Option::is_some) {
            out.push_str(", gamma across\n          ");
            for gamma in self.gammas.iter().flatten() {
                let _ = write!(out, "{:>10}", short(*gamma));
            }
        }
        for &cost in &self.costs {
            let _ = write!(out, "\n{:>10}", short(cost));
            for &gamma in &self.gammas {
                let star = if (cost, gamma) == self.best { "*" } else { " " };
                match self.at(cost, gamma) {
                    Some(a) => {
                        let _ = write!(out, "{:>9.2}{star}", 100.0 * a);
                    }
                    None => out.push_str("        - "),
                }
            }
        }
        out
    }

    /// The picture, as an HTML page if the name ends in `.html`.
    pub fn render(&self, path: &Path) -> String {
        let svg = self.svg();
        if path.extension().is_some_and(|e| e == "html") { page(&self.title, &svg) } else { svg }
    }

    fn svg(&self) -> String {
        let (w, h, left, top) = (74, 44, 90, 60);
        let (width, height) = (left + w * self.gammas.len() + 20, top + h * self.costs.len() + 60);
        let low = self.cells.iter().map(|c| c.2).fold(1.0, f64::min);
        let high = self.cells.iter().map(|c| c.2).fold(0.0, f64::max);
        let mut out = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" \
             height=\"{height}\" font-family=\"system-ui,sans-serif\" font-size=\"13\" text-anchor=\"middle\">\n\
             <rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n<text x=\"{left}\" y=\"24\" font-size=\"15\" \
             text-anchor=\"start\">{}</text>\n",
            escaped(&self.title)
        );
        for (j, gamma) in self.gammas.iter().enumerate() {
            let x = left + w * j;
            for (i, &cost) in self.costs.iter().rev().enumerate() {
                let y = top + h * i;
                let Some(a) = self.at(cost, *gamma) else { continue };
                let share = if high > low { (a - low) / (high - low) } else { 1.0 };
                let ink = if share > 0.6 { "#111" } else { "#fff" };
                let ring =
                    if (cost, *gamma) == self.best { " stroke=\"#d00\" stroke-width=\"3\"" } else { "" };
                let _ = writeln!(
                    out,
                    "<rect x=\"{x}\" y=\"{y}\" width=\"{}\" height=\"{}\" fill=\"{}\"{ring}/><text x=\"{}\" y=\"{}\" \
                     fill=\"{ink}\">{:.1}</text>",
                    w - 3,
                    h - 3,
                    color(share),
                    x + w / 2 - 1,
                    y + h / 2 + 4,
                    100.0 * a
                );
            }
            if let Some(gamma) = gamma {
                let y = top + h * self.costs.len() + 18;
                let _ = writeln!(out, "<text x=\"{}\" y=\"{y}\">{}</text>", x + w / 2, short(*gamma));
            }
        }
        for (i, &cost) in self.costs.iter().rev().enumerate() {
            let y = top + h * i + h / 2 + 4;
            let _ = writeln!(
                out,
                "<text x=\"{}\" y=\"{y}\" text-anchor=\"end\">{}</text>",
                left - 8,
                short(cost)
            );
        }
        if self.gammas.iter().any(Option::is_some) {
            let _ = writeln!(
                out,
                "<text x=\"{}\" y=\"{}\">gamma</text>",
                usize::midpoint(left, width),
                height - 14
            );
        }
        let _ = writeln!(
            out,
            "<text x=\"{}\" y=\"{}\">{}</text>\n</svg>",
            left / 2,
            top - 12,
            escaped(&self.name)
        );
        out
    }
}

/// A color from dark blue through green to yellow (five stops of viridis).
fn color(share: f64) -> String {
    const STOPS: [[f64; 3]; 5] = [
        [68.0, 1.0, 84.0],
        [59.0, 82.0, 139.0],
        [33.0, 145.0, 140.0],
        [94.0, 201.0, 98.0],
        [253.0, 231.0, 37.0],
    ];
    let at = share.clamp(0.0, 1.0) * 4.0;
    let i = (at as usize).min(3);
    let mix = |k: usize| (STOPS[i][k] + (at - i as f64) * (STOPS[i + 1][k] - STOPS[i][k])).round() as u8;
    format!("#{:02x}{:02x}{:02x}", mix(0), mix(1), mix(2))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_point_is_marked_in_table_and_picture() {
        let map = Heatmap {
            title: "a < b".into(),
            name: "C".into(),
            costs: vec![1.0, 10.0],
            gammas: vec![Some(0.5), Some(2.0)],
            cells: vec![(1.0, Some(0.5), 0.5), (10.0, Some(0.5), 0.75), (1.0, Some(2.0), 0.9)],
            best: (1.0, Some(2.0)),
        };
        let table = map.table();
        assert!(table.contains("90.00*") && table.contains("        - "), "{table}");
        let svg = map.render(Path::new("x.svg"));
        assert!(svg.starts_with("<svg") && svg.contains("a &lt; b") && svg.matches("#d00").count() == 1);
        assert!(map.render(Path::new("x.html")).starts_with("<!doctype html>"));
        assert!(check_name(Path::new("x.png")).is_err());
    }
}
