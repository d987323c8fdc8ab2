//! `evermargin demo`: two toy problems, tuned, trained, tested and drawn within seconds.

use crate::args::Common;
use crate::console::{self, short};
use crate::failure::Failure;
use crate::heatmap::{escaped, page};
use crate::picture::Picture;
use crate::progress::Watcher;
use evermargin::generate::{GenerateParams, generate};
use evermargin::learn::train::{Gamma, ScalingChoice, TrainOptions, train};
use evermargin::learn::validate::{PathTask, along_path, stratified_folds};
use evermargin::learn::{learner, prepare::prepare};
use evermargin::model::Classifier;
use evermargin::{Labels, Matrix};
use evermargin_io::write_atomic;
use serde_json::{Value, json};
use std::fmt::Write;
use std::io::IsTerminal;
use std::path::PathBuf;
use std::time::Instant;

/// See what a large margin looks like, in seconds
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  evermargin demo -o demo.html")]
pub struct DemoArgs {
    /// Page to write, with pictures; the pictures alone when it ends in .svg
    #[arg(long, short, value_name = "FILE", default_value = "evermargin-demo.html")]
    pub output: PathBuf,
}

/// A problem, and what was learned.
struct Scene {
    name: &'static str,
    x: Matrix,
    labels: Labels,
    classifier: Classifier,
    c: f64,
    gamma: f64,
    accuracy: f64,
}

/// Runs the verb.
pub fn run(args: &DemoArgs, common: &Common, started: Instant) -> Result<(), Failure> {
    let watch = Watcher::start(common, None)?;
    let scenes = [
        scene("two-moons", 400, 0.2, None, common.seed, &watch)?,
        scene("spirals", 450, 0.04, Some(3), common.seed, &watch)?,
    ];
    let seconds = started.elapsed().as_secs_f64();
    watch.finish();

    let mut pictures = Vec::new();
    for s in &scenes {
        pictures.push(Picture::new(&s.classifier, &s.x, &s.labels).svg(s.name, 500)?);
    }
    let alone = args.output.extension().is_some_and(|e| e == "svg");
    let text = if alone { side_by_side(&pictures) } else { html(&scenes, &pictures) };
    write_atomic(&args.output, text.as_bytes())?;

    let json = json!({
        "scenes": scenes.iter().map(Scene::json).collect::<Vec<_>>(),
        "output": args.output.display().to_string(),
        "seconds": seconds,
        "total_seconds": started.elapsed().as_secs_f64(),
    });
    console::answer(common, &json, &terminal(&scenes, args, started)?)
}

/// Generates, tunes by 5-fold cross-validation, trains on all rows, and tests on fresh ones.
fn scene(
    name: &'static str,
    rows: usize,
    noise: f64,
    classes: Option<usize>,
    seed: u64,
    watch: &Watcher,
) -> Result<Scene, Failure> {
    let params = GenerateParams { rows, noise: Some(noise), classes, seed, ..GenerateParams::default() };
    let (x, labels) = generate(name, &params)?;
    let mut options = TrainOptions::new("svc");
    options.scaling = Some(ScalingChoice::NONE);
    let svc = learner("svc")?;
    let prepared = prepare(x.clone(), &labels, svc, &options)?;
    let folds = stratified_folds(&prepared.labels, 5, seed)?;
    let costs = [1.0, 10.0, 100.0];
    let mut best = (0.0, 1.0, 1.0);
    for gamma in [0.5, 2.0, 8.0, 32.0] {
        let mut params = options.params.clone();
        params.insert("gamma".into(), gamma.into());
        let task = PathTask {
            params: &params,
            name: "c",
            values: &costs,
            x: prepared.x.view(),
            problems: &prepared.problems,
            folds: &folds,
        };
        for (c, decision) in costs.iter().zip(along_path(svc, &task, watch)?) {
            let outputs = prepared.problems.len();
            let votes = decision.chunks(outputs).map(|f| prepared.scheme.vote(labels.classes.len(), f));
            let right = votes.zip(&labels.of).filter(|(v, c)| Some(*v) == **c).count();
            let accuracy = right as f64 / rows as f64;
            if accuracy > best.0 {
                best = (accuracy, *c, gamma);
            }
        }
    }
    let (_, c, gamma) = best;
    options.params.insert("c".into(), c.into());
    options.gamma = Some(Gamma::Value(gamma));
    let classifier = train(x.clone(), &labels, &options, watch)?.classifier;
    let fresh = GenerateParams { rows: 2000, seed: seed.wrapping_add(1), ..params };
    let (test, truth) = generate(name, &fresh)?;
    let found = classifier.predict(test)?;
    let right = found.class.iter().zip(&truth.of).filter(|(p, t)| Some(**p) == **t).count();
    Ok(Scene { name, x, labels, classifier, c, gamma, accuracy: right as f64 / 2000.0 })
}

fn html(scenes: &[Scene], pictures: &[String]) -> String {
    let mut body = String::from(
        "<h1>evermargin</h1>\n<p>A support vector machine puts the boundary where the margin is widest. Solid: the \
         boundary. Dashed: the edges of the margin. Rings: the support vectors, the only samples the model keeps.</p>\n",
    );
    for (s, svg) in scenes.iter().zip(pictures) {
        let _ = write!(body, "<h2>{}</h2>\n<p>{}</p>\n{svg}\n", s.name, escaped(&s.caption()));
    }
    page("evermargin demo", &body)
}

fn side_by_side(pictures: &[String]) -> String {
    let width = 520 * pictures.len() - 20;
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} 500\" width=\"{width}\" height=\"500\">\n"
    );
    for (i, svg) in pictures.iter().enumerate() {
        let _ = writeln!(out, "<g transform=\"translate({} 0)\">{svg}</g>", 520 * i);
    }
    out.push_str("</svg>\n");
    out
}

impl Scene {
    fn caption(&self) -> String {
        format!(
            "{} samples of {} classes; cross-validation chose C {} and gamma {}; {} support vectors; {} % of 2000 \
             fresh samples right",
            self.x.rows(),
            self.labels.classes.len(),
            short(self.c),
            short(self.gamma),
            self.classifier.model.support_count(),
            short(100.0 * self.accuracy),
        )
    }

    fn json(&self) -> Value {
        json!({
            "name": self.name, "rows": self.x.rows(), "classes": self.labels.classes.len(), "c": self.c,
            "gamma": self.gamma, "support_count": self.classifier.model.support_count(), "accuracy": self.accuracy,
        })
    }
}

/// The pictures side by side, and what they show.
fn terminal(scenes: &[Scene], args: &DemoArgs, started: Instant) -> Result<String, Failure> {
    let colour = std::io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none();
    let width = 36;
    let mut pictures = Vec::new();
    for s in scenes {
        pictures.push(Picture::new(&s.classifier, &s.x, &s.labels).lines(width, colour)?);
    }
    let mut out = String::from("\n");
    for line in 0..pictures.first().map_or(0, Vec::len) {
        out.push(' ');
        for picture in &pictures {
            out.push(' ');
            out.push_str(&picture[line]);
        }
        out.push('\n');
    }
    out.push('\n');
    for s in scenes {
        let _ = writeln!(out, "  {:<10} {}", s.name, s.caption());
    }
    let _ = write!(
        out,
        "\n  {} in all; larger pictures with margins and support vectors: {}\n  next: evermargin generate two-moons -o \
         moons.csv && evermargin fit moons.csv",
        seconds(started),
        args.output.display()
    );
    Ok(out)
}

fn seconds(started: Instant) -> String {
    format!("{} s", short(started.elapsed().as_secs_f64()))
}
