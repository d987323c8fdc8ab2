//! Seconds against rows, both by powers of ten, as SVG.

use std::fmt::Write;

const COLOURS: [&str; 3] = ["#1b6ca8", "#c7522a", "#5a8f29"];

/// One line a name; each point is rows and the seconds of every name. Dashed: time in proportion to the rows.
pub(crate) fn growth(names: &[&str; 3], points: &[(f64, [f64; 3])]) -> String {
    let (left, right, top, bottom) = (70.0, 560.0, 20.0, 320.0);
    let x = |rows: f64| left + (rows.log10() - 3.0) / 3.0 * (right - left);
    let y = |seconds: f64| bottom - (seconds.max(1e-4).log10() + 4.0) / 6.0 * (bottom - top);
    let mut out = String::from(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 720 370\" font-family=\"sans-serif\" font-size=\"13\">\n\
         <rect width=\"720\" height=\"370\" fill=\"white\"/>\n",
    );
    for power in -4..=2 {
        let at = y(10f64.powi(power));
        let _ = writeln!(
            out,
            "<line x1=\"{left}\" y1=\"{at:.1}\" x2=\"{right}\" y2=\"{at:.1}\" stroke=\"#ddd\"/>\
             <text x=\"{}\" y=\"{:.1}\" text-anchor=\"end\">{} s</text>",
            left - 6.0,
            at + 4.0,
            10f64.powi(power)
        );
    }
    for power in 3..=6 {
        let at = x(10f64.powi(power));
        let _ = writeln!(
            out,
            "<line x1=\"{at:.1}\" y1=\"{top}\" x2=\"{at:.1}\" y2=\"{bottom}\" stroke=\"#ddd\"/>\
             <text x=\"{at:.1}\" y=\"{}\" text-anchor=\"middle\">10^{power} rows</text>",
            bottom + 20.0
        );
    }
    if let Some((rows, seconds)) = points.last() {
        let line = |at: f64| format!("{:.1},{:.1}", x(at), y(seconds[0] * at / rows));
        let _ = writeln!(
            out,
            "<polyline points=\"{} {}\" fill=\"none\" stroke=\"#888\" stroke-dasharray=\"5 4\"/>",
            line(1e3),
            line(1e6)
        );
    }
    for (k, (name, colour)) in names.iter().zip(COLOURS).enumerate() {
        let dots: Vec<String> = points.iter().map(|(r, s)| format!("{:.1},{:.1}", x(*r), y(s[k]))).collect();
        let _ = writeln!(
            out,
            "<polyline points=\"{}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"2\"/>\
             <text x=\"{}\" y=\"{:.1}\" fill=\"{colour}\">{name}</text>",
            dots.join(" "),
            right + 8.0,
            points.last().map_or(top, |(_, s)| y(s[k])) + 4.0
        );
    }
    out.push_str("</svg>\n");
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_drawn_where_they_belong() {
        let svg = growth(&["a", "b", "c"], &[(1e3, [1e-4, 1e-3, 1e-2]), (1e6, [1.0, 10.0, 100.0])]);
        assert!(svg.starts_with("<svg") && svg.trim_end().ends_with("</svg>"));
        assert!(svg.contains("70.0,320.0 560.0,120.0"), "{svg}");
        assert_eq!(svg.matches("<polyline").count(), 4);
    }
}
