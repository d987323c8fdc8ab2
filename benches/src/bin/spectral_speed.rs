//! Time and accuracy of spectral clustering on two moons or two spirals, including new points:
//! `spectral_speed [two-moons|spirals] [ROWS] [LANDMARKS]`.

use evermargin::datasets::{GenerateParams, generate};
use evermargin::estimators::manifold::spectral::{SpectralParams, cluster, plain};
use evermargin::graph::Graph;
use evermargin::{Kernel, Labels};
use std::time::Instant;

fn main() -> evermargin::Result<()> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let name = args.first().map_or("two-moons", String::as_str);
    let number = |at: usize, default| args.get(at).and_then(|a| a.parse().ok()).unwrap_or(default);
    let rows = number(1, 2000);
    let (noise, width) = if name == "spirals" { (0.01, 60.0) } else { (0.06, 2.0) };
    let made =
        |seed| generate(name, &GenerateParams { rows, noise: Some(noise), seed, ..Default::default() });
    let ((x, class), (new, new_class)) = (made(1)?, made(2)?);
    let params = SpectralParams {
        kernel: Kernel::Rbf { gamma: width },
        gamma: 1e-4,
        landmarks: number(2, 500),
        ..Default::default()
    };
    let clock = Instant::now();
    let Some(found) = cluster(x.view(), &params, &())? else { return Ok(()) };
    let seconds = clock.elapsed().as_secs_f64();
    let train_accuracy = accuracy(&found.coordinates[0], &class);
    let test_accuracy = accuracy(&found.model.decision(new.view())?, &new_class);
    println!(
        "{name}, {rows} rows, {} landmarks, {} components: {seconds:.2} s; accuracy {train_accuracy:.4}, on new rows {test_accuracy:.4}",
        found.model.support_count(),
        found.components
    );
    if rows <= 3000 {
        let clock = Instant::now();
        if let Some(graph) = Graph::nearest(x.view(), &params.graph, &())? {
            let train_accuracy = accuracy(&plain(&graph, 1, false)?[0], &class);
            println!(
                "plain spectral clustering: {:.2} s; accuracy {train_accuracy:.4}",
                clock.elapsed().as_secs_f64()
            );
        }
    }
    Ok(())
}

/// Fraction of rows whose sign agrees with their class, up to an exchange of the signs.
fn accuracy(f: &[f64], labels: &Labels) -> f64 {
    let correct = f.iter().zip(&labels.of).filter(|(f, c)| (**f > 0.0) == (**c == Some(1))).count();
    correct.max(f.len() - correct) as f64 / f.len() as f64
}
