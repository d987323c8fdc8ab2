//! Statements of the works that no single cell of a table holds: what is measured for each, as Markdown.

use crate::failure::{Failure, Result};
use crate::found::Found;
use crate::judge::Verdict;
use crate::methods::{Method, Outcome, run, score};
use crate::online;
use crate::run::{Bench, seed_of};
use crate::show::markdown::spread;
use crate::tables::{self, Row};
use evermargin::learn::lasvm::{LasvmParams, Loss};
use evermargin::learn::{Fit, Targets};
use evermargin::metrics::wilcoxon;
use evermargin::query::{StopRule, Strategy};
use std::fmt::Write;

/// A statement.
pub struct Claim {
    /// Unique name.
    pub id: &'static str,
    /// What is claimed.
    pub title: &'static str,
    /// Measures it.
    pub check: fn(&Bench<'_>) -> Result<Found>,
}

/// Every statement.
pub const CLAIMS: &[Claim] = &[
    Claim {
        id: "ertekin-one-pass",
        title: "One pass of LASVM with finishing does what the exact solution does, with fewer kernel values (Adult)",
        check: |bench| one_pass(bench).map(Found::notes),
    },
    Claim {
        id: "ertekin-sparse",
        title: "LASVM-NC needs few support vectors where labels are noisy (Adult, USPS+N)",
        check: |bench| sparse(bench).map(Found::notes),
    },
    Claim {
        id: "ertekin-ramp-end",
        title: "Where the ramp of LASVM-NC and LASVM-I ends: few support vectors against accuracy (Banana, USPS+N, Adult)",
        check: |bench| ramp_end(bench).map(Found::notes),
    },
    Claim {
        id: "ertekin-auto-active",
        title: "Choosing examples reaches the exact solution's accuracy with 2500 support vectors instead of 11278 (Adult)",
        check: |bench| auto_active(bench).map(Found::notes),
    },
    Claim {
        id: "ertekin-imbalance",
        title: "Active learning with class costs against every other remedy (Waveform, 32 negatives a positive)",
        check: |bench| imbalance(bench).map(Found::notes),
    },
    Claim {
        id: "emara-III.3",
        title: "SUBMOD-S3VM is more accurate than its rivals over all data sets (table III.3)",
        check: |bench| crate::few::claims::rivals(bench).map(Found::notes),
    },
    Claim {
        id: "emara-bound",
        title: "The bound that QP-S3VM minimises grows with the S3VM objective (section III.3)",
        check: |bench| crate::few::claims::hamming(bench).map(Found::notes),
    },
    Claim {
        id: "emara-scaling",
        title: "SUBMOD-S3VM takes time in proportion to the rows (figure III.15)",
        check: |bench| crate::few::claims::scaling(bench).map(Found::notes),
    },
    Claim {
        id: "emara-vi",
        title: "Learning each sample among its neighbours: a fixed radius is faster, growth nearer to the optimum (figures \
                VI.11 and VI.12)",
        check: |bench| crate::local::neighbourhoods(bench).map(Found::notes),
    },
    Claim {
        id: "emara-iv",
        title: "Streams labelled with three batches of memory as well as with all of it, in constant time (figures IV.19 to IV.30)",
        check: |bench| crate::stream::memory::streams(bench).map(Found::notes),
    },
    Claim {
        id: "emara-iv-exemplars",
        title: "One exemplar in a hundred rows stands for a batch when the next is labelled (figures IV.13 to IV.15)",
        check: |bench| crate::stream::pairs::agreement(bench).map(Found::notes),
    },
    Claim {
        id: "emara-v",
        title: "SUBMOD-ACTV against random asking along streams (figures V.2 to V.4)",
        check: |bench| crate::stream::asking::streams(bench).map(Found::notes),
    },
    Claim {
        id: "sindhwani-svmlin",
        title: "Linear TSVM and DA find what SVMlin finds (50 labels)",
        check: |bench| crate::few::claims::svmlin(bench).map(Found::notes),
    },
    Claim {
        id: "sindhwani-2.3",
        title: "Letters of Isolet, one speaker labelled",
        check: crate::sindhwani::benchmarks::isolet,
    },
    Claim {
        id: "sindhwani-2.4",
        title: "Course pages of WebKB with twelve labels",
        check: crate::sindhwani::words::table,
    },
    Claim {
        id: "sindhwani-2.6",
        title: "Error on unlabelled rows of four data sets",
        check: crate::sindhwani::benchmarks::four_sets,
    },
    Claim {
        id: "sindhwani-2.7",
        title: "WebKB: 100 less the break-even point on unlabelled pages",
        check: crate::sindhwani::pages::joint,
    },
    Claim {
        id: "sindhwani-2.8",
        title: "WebKB: a university in and out of the sample, LapSVM",
        check: crate::sindhwani::pages::one_view_out,
    },
    Claim {
        id: "sindhwani-2.9",
        title: "Error on unlabelled and on test rows of four data sets",
        check: crate::sindhwani::benchmarks::out_of_sample,
    },
    Claim {
        id: "sindhwani-3.1",
        title: "Two moons: global and local optima",
        check: crate::sindhwani::optima::two_moons,
    },
    Claim {
        id: "sindhwani-3.2",
        title: "Three cars of COIL: global and local optima",
        check: crate::sindhwani::optima::three_cars,
    },
    Claim {
        id: "sindhwani-3.4",
        title: "Two moons and two circles: draws without an error, of ten",
        check: crate::sindhwani::optima::perfect_draws,
    },
    Claim {
        id: "sindhwani-3.6",
        title: "Annealing and other S3VM",
        check: crate::sindhwani::annealing::rivals,
    },
    Claim {
        id: "sindhwani-3.7",
        title: "Annealing and fixed temperatures",
        check: crate::sindhwani::annealing::temperatures,
    },
    Claim {
        id: "sindhwani-4.1",
        title: "WebKB in two views: break-even point on unlabelled pages",
        check: crate::sindhwani::pages::two_views,
    },
    Claim {
        id: "sindhwani-4.2",
        title: "WebKB in two views: a university in and out of the sample",
        check: crate::sindhwani::pages::views_out,
    },
    Claim {
        id: "sindhwani-5.2",
        title: "Few basis functions: full, greedy and supervised machines",
        check: crate::sindhwani::sparse::greedy,
    },
    Claim {
        id: "sindhwani-5.3",
        title: "Few basis functions: how they are chosen",
        check: crate::sindhwani::sparse::choices,
    },
    Claim {
        id: "sindhwani-5.4",
        title: "Few basis functions of an oracle",
        check: crate::sindhwani::sparse::oracle,
    },
    Claim {
        id: "sindhwani-5.5",
        title: "Few basis functions: slack",
        check: crate::sindhwani::sparse::slack,
    },
    Claim {
        id: "sindhwani-two-moons-two-lines",
        title: "Two views get right what neither does alone (figures 4.2 and 4.3)",
        check: |bench| crate::few::lines::moons_and_lines(bench).map(Found::notes),
    },
    Claim {
        id: "sindhwani-5-large",
        title: "Sparse manifold regularization of 60,000 digits: accuracy against basis and seconds",
        check: |bench| crate::few::sparse::large(bench).map(Found::notes),
    },
    Claim {
        id: "hou-hero-1",
        title: "Sequential MED on categories is far above the current batch alone and near all batches again (figure 1)",
        check: |bench| crate::sequential::categories(bench).map(Found::notes),
    },
    Claim {
        id: "hou-hero-2",
        title: "Sequential Laplacian MED in a ball with a tenth of the labels (figure 2)",
        check: |bench| crate::sequential::ball(bench).map(Found::notes),
    },
    Claim {
        id: "hou-hero-3",
        title: "Sequential Laplacian MED on Isolet, 24 batches of five speakers, one labelled (figure 3)",
        check: |bench| crate::sequential::letters(bench).map(Found::notes),
    },
];

fn row(table: &str, name: &str) -> Result<Row> {
    let found = tables::find(table)?.rows.into_iter().find(|r| r.name == name);
    found.ok_or_else(|| Failure::Unknown(format!("table {table} has no data set {name}")))
}

/// The runs of some methods on a row, in the order named.
fn runs(bench: &Bench<'_>, row: &Row, methods: &[Method]) -> Result<Vec<(Method, Vec<Outcome>)>> {
    let done = bench.each(methods, |method| bench.runs(row, *method));
    let named = methods.iter().zip(done);
    named.map(|(m, runs)| runs.map(|r| (*m, r)).map_err(|(verdict, why)| refused(verdict, why))).collect()
}

fn refused(verdict: Verdict, why: String) -> Failure {
    match verdict {
        Verdict::Missing => Failure::Missing { what: why, origin: "see the table of data sets".into() },
        _ => Failure::Content(why),
    }
}

/// Measures of methods as a table; factor and decimals for each measure.
fn measures(runs: &[(Method, Vec<Outcome>)], shown: &[(&str, &str, f64, usize)]) -> String {
    let heads: Vec<&str> = shown.iter().map(|s| s.1).collect();
    let mut out =
        format!("| method | runs | {} |\n|---|--:|{}\n", heads.join(" | "), "--:|".repeat(heads.len()));
    for (method, outcomes) in runs {
        let cells = shown.iter().map(|(metric, _, factor, decimals)| {
            let values: Vec<f64> =
                outcomes.iter().filter_map(|o| o.get(metric)).map(|v| factor * v).collect();
            if values.is_empty() { "-".to_string() } else { spread(&values, *decimals) }
        });
        let cells: Vec<String> = cells.collect();
        let _ = writeln!(out, "| {} | {} | {} |", method.name(), outcomes.len(), cells.join(" | "));
    }
    out
}

fn values(outcomes: &[Outcome], metric: &str) -> Vec<f64> {
    outcomes.iter().filter_map(|o| o.get(metric)).collect()
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len().max(1) as f64
}

fn yes(holds: bool) -> &'static str {
    if holds { "holds" } else { "does not hold" }
}

fn one_pass(bench: &Bench<'_>) -> Result<String> {
    let found = runs(bench, &row("ertekin-3.2", "Adult")?, &[Method::Libsvm, Method::Lasvm])?;
    let mut out = measures(
        &found,
        &[
            ("error", "error %", 100.0, 3),
            ("support_count", "support vectors", 1.0, 0),
            ("support_large", "of them above a thousandth", 1.0, 0),
            ("kernel_evaluations", "kernel values M", 1e-6, 1),
            ("seconds", "s", 1.0, 1),
        ],
    );
    let exact = 100.0 * mean(&values(&found[0].1, "error"));
    let errors = values(&found[1].1, "error");
    let farthest = errors.iter().map(|e| (100.0 * e - exact).abs()).fold(0.0, f64::max);
    let difference = 100.0 * mean(&errors) - exact;
    let most = values(&found[1].1, "kernel_evaluations").iter().fold(0.0, |m: f64, v| m.max(*v)) / 1e6;
    let _ = writeln!(
        out,
        "\n- Error within 0.1 point of the exact solution: mean difference {difference:+.3}, largest of a run {farthest:.3}: {}.",
        yes(difference.abs() <= 0.1)
    );
    let _ =
        writeln!(out, "- Kernel values below 626 M (published): at most {most:.1} M: {}.", yes(most < 626.0));
    Ok(out)
}

fn sparse(bench: &Bench<'_>) -> Result<String> {
    let mut out = String::new();
    for (name, most, least) in [("Adult", 4609.0, 85.0), ("USPS+N", 752.0, 99.5)] {
        let methods = [Method::Libsvm, Method::LasvmNc, Method::LasvmI];
        let found = runs(bench, &row("ertekin-6.3", name)?, &methods)?;
        let _ = writeln!(out, "{name}:\n");
        out.push_str(&measures(
            &found,
            &[
                ("accuracy", "accuracy %", 100.0, 3),
                ("support_count", "support vectors", 1.0, 0),
                ("support_large", "of them above a thousandth", 1.0, 0),
                ("kernel_evaluations", "kernel values M", 1e-6, 1),
                ("seconds", "s", 1.0, 1),
            ],
        ));
        let nc = &found[1].1;
        let (count, rate) = (values(nc, "support_count"), values(nc, "accuracy"));
        let both =
            nc.iter().filter(|o| o.support_count as f64 <= most && 100.0 * o.accuracy >= least).count();
        let _ = writeln!(
            out,
            "\n- LASVM-NC, at most {most} support vectors: mean {:.0}: {}; at least {least} % right: mean {:.3}: {}; both in {both} of {} runs.\n",
            mean(&count),
            yes(mean(&count) <= most),
            100.0 * mean(&rate),
            yes(100.0 * mean(&rate) >= least),
            nc.len()
        );
    }
    Ok(out)
}

/// Ends of the ramp that are compared.
const ENDS: [f64; 9] = [0.5, 0.0, -0.5, -0.75, -1.0, -1.1, -1.25, -1.5, -2.0];

/// A sweep of s: LASVM-NC finished and not, LASVM-I, on the same samples.
fn ramp_end(bench: &Bench<'_>) -> Result<String> {
    let mut out = String::new();
    let wanted = |name: &str| {
        let sets = &bench.options.data_sets;
        sets.is_empty() || sets.iter().any(|s| s.eq_ignore_ascii_case(name))
    };
    let methods = [
        ("LASVM-NC", Method::LasvmNc, None),
        ("not finished", Method::LasvmNc, Some(false)),
        ("LASVM-I", Method::LasvmI, None),
    ];
    for name in ["Banana", "USPS+N", "Adult"].into_iter().filter(|name| wanted(name)) {
        let row = row("ertekin-6.3", name)?;
        let repetitions = bench.repetitions(&row);
        let mut found = vec![vec![Vec::new(); methods.len()]; ENDS.len()];
        for repetition in 0..repetitions {
            let mut task = bench.task(&row, repetition)?;
            for (e, s) in ENDS.into_iter().enumerate() {
                for (m, (_, method, finish)) in methods.into_iter().enumerate() {
                    (task.open.s, task.open.finish) = (s, finish);
                    let outcome = run(method, &task, seed_of(bench.options.seed, repetition))?;
                    found[e][m].push((100.0 * outcome.accuracy, outcome.support_count as f64));
                }
            }
            bench.say(&format!("{name} {}/{repetitions}", repetition + 1));
        }
        let heads = methods.map(|(name, ..)| format!("{name}: accuracy % | support vectors"));
        let _ = writeln!(
            out,
            "{name}, {repetitions} runs:\n\n| s | {} |\n|--:|{}",
            heads.join(" | "),
            "--:|--:|".repeat(methods.len())
        );
        for (s, row) in ENDS.iter().zip(&found) {
            let cells = row.iter().map(|runs| {
                let (rate, count): (Vec<f64>, Vec<f64>) = runs.iter().copied().unzip();
                format!("{} | {}", spread(&rate, 2), spread(&count, 0))
            });
            let _ = writeln!(out, "| {s} | {} |", cells.collect::<Vec<_>>().join(" | "));
        }
        out.push('\n');
    }
    Ok(out)
}

/// A model along the way: examples learnt from, support vectors, share of test rows right.
struct Station {
    learnt: usize,
    labels: usize,
    support: usize,
    accuracy: f64,
}

fn auto_active(bench: &Bench<'_>) -> Result<String> {
    let row = row("ertekin-3.2", "Adult")?;
    let exact = runs(bench, &row, &[Method::Libsvm])?;
    let exact = 100.0 * mean(&values(&exact[0].1, "accuracy"));
    let seeds = bench.options.repetitions.unwrap_or(10).max(1);
    let mut out = String::new();
    let ways = [
        ("auto-active", Strategy::AutoActive, Loss::Hinge),
        ("active, pools of 50", Strategy::Active, Loss::Hinge),
        ("auto-active with ramp loss, any number of labels", Strategy::AutoActive, Loss::Ramp),
    ];
    for (name, select, loss) in ways {
        let mut curves = Vec::new();
        for repetition in 0..seeds {
            curves.push(curve(bench, &row, (select, loss), repetition)?);
            bench.say(&format!("{name} {}/{seeds}", repetition + 1));
        }
        let _ = writeln!(out, "{name}:\n\n{}", stations(&curves, exact));
    }
    Ok(out)
}

/// Finished models along one run, scored.
fn curve(
    bench: &Bench<'_>,
    row: &Row,
    (select, loss): (Strategy, Loss),
    repetition: usize,
) -> Result<Vec<Station>> {
    let task = bench.task(row, repetition)?;
    let params = LasvmParams {
        select,
        loss,
        pool: 50,
        labels: if loss == Loss::Hinge { task.open.labels } else { 0 },
        stop: StopRule::Never,
        curve: true,
        ..online::params(&task, seed_of(bench.options.seed, repetition))
    };
    let train = &task.split.train;
    let targets = Targets { y: train.y.clone(), cost: vec![1.0; train.rows()] };
    let online = params.fit(train.x.view(), &[targets], &())?.online;
    let stops = online.map(|o| o.curve).unwrap_or_default();
    let scored = stops.iter().filter(|c| c.learnt >= 100).map(|c| {
        let accuracy = 100.0 * score(&c.model, &task, 0, 0.0)?.accuracy;
        Ok(Station { learnt: c.learnt, labels: c.labels, support: c.support, accuracy })
    });
    scored.collect()
}

fn stations(curves: &[Vec<Station>], exact: f64) -> String {
    let mut out = String::from(
        "| examples | labels looked at | support vectors | accuracy % | runs at least 85.1 % | runs at least exact |\n|--:|--:|--:|--:|--:|--:|\n",
    );
    let length = curves.iter().map(Vec::len).min().unwrap_or(0);
    for k in 0..length {
        let at: Vec<&Station> = curves.iter().map(|c| &c[k]).collect();
        let of = |f: fn(&Station) -> f64| at.iter().map(|s| f(s)).collect::<Vec<f64>>();
        let accuracy = of(|s| s.accuracy);
        let above = |bar: f64| accuracy.iter().filter(|a| **a >= bar).count();
        let _ = writeln!(
            out,
            "| {} | {} | {} | {} | {} of {} | {} of {} |",
            spread(&of(|s| s.learnt as f64), 0),
            spread(&of(|s| s.labels as f64), 0),
            spread(&of(|s| s.support as f64), 0),
            spread(&accuracy, 3),
            above(85.1),
            at.len(),
            above(exact),
            at.len()
        );
    }
    let small = |c: &Vec<Station>| {
        let small = c.iter().filter(|s| s.support <= 2500);
        small.map(|s| (s.accuracy, s.support)).fold((0.0, 0), |a, b| if b.0 > a.0 { b } else { a })
    };
    let best: Vec<(f64, usize)> = curves.iter().map(small).collect();
    let rates: Vec<f64> = best.iter().map(|b| b.0).collect();
    let counts: Vec<f64> = best.iter().map(|b| b.1 as f64).collect();
    let top = best.iter().copied().fold((0.0, 0), |a, b| if b.0 > a.0 { b } else { a });
    let _ = writeln!(
        out,
        "\nThe exact solution has {exact:.3} %. Every model is finished before it is scored. Best model of each run with at most 2500 support vectors: {} % with {} support vectors; best of all {:.3} % with {}. This choice looks at the test sample; the rows above do not.",
        spread(&rates, 3),
        spread(&counts, 0),
        top.0,
        top.1
    );
    out
}

fn imbalance(bench: &Bench<'_>) -> Result<String> {
    let methods = [
        Method::Batch,
        Method::BatchTuned,
        Method::Us,
        Method::UsEven,
        Method::Smote,
        Method::Al,
        Method::Virtual,
        Method::Dc,
        Method::AlDc,
    ];
    let found = runs(bench, &row("ertekin-waveform-imbalance", "Waveform IR 32")?, &methods)?;
    let mut out = measures(
        &found,
        &[
            ("g_means", "g-means %", 100.0, 2),
            ("auc", "AUC %", 100.0, 2),
            ("prbep", "break-even %", 100.0, 2),
            ("accuracy", "accuracy %", 100.0, 2),
            ("support_count", "support vectors", 1.0, 0),
            ("data_efficiency", "examples used %", 100.0, 1),
            ("label_share", "labels looked at %", 100.0, 1),
        ],
    );
    let of = |m: Method| found.iter().find(|f| f.0 == m).map(|f| values(&f.1, "g_means")).unwrap_or_default();
    let best = of(Method::AlDc);
    let _ = writeln!(
        out,
        "\n- Active learning with class costs, g-means at least 79: mean {:.2}: {}.",
        100.0 * mean(&best),
        yes(100.0 * mean(&best) >= 79.0)
    );
    for other in methods.iter().filter(|m| **m != Method::AlDc) {
        let values = of(*other);
        let p = wilcoxon(&best, &values, 1e-12).map_or(1.0, |t| t.p);
        let difference = 100.0 * (mean(&best) - mean(&values));
        let _ = writeln!(
            out,
            "- above {}: {difference:+.2} (Wilcoxon p {p:.4}): {}.",
            other.name(),
            yes(difference > 0.0)
        );
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::Options;

    #[test]
    fn stations_name_the_best_small_model() {
        let at = |support, accuracy| Station { learnt: 200, labels: 210, support, accuracy };
        let curves = [vec![at(100, 84.0), at(2400, 85.3)], vec![at(110, 84.5), at(2600, 86.0)]];
        let text = stations(&curves, 85.0);
        assert!(text.contains("best of all 85.300 % with 2400"), "{text}");
        assert!(text.contains("| 105 ± 7 |"), "{text}");
    }

    #[test]
    fn claims_without_data_are_refused_not_a_crash() {
        let options = Options { folder: "/nonexistent".into(), ..Options::default() };
        let bench = Bench::new(&options, &|_| ());
        assert!(one_pass(&bench).is_err() && sparse(&bench).is_err() && auto_active(&bench).is_err());
    }
}
