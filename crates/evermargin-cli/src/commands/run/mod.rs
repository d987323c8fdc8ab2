//! `evermargin run`: the loop over a stream, from rows to predictions, queries, a model and a report.

mod answers;
mod args;
mod chart;
mod engine_args;
mod label_sources;
mod open;
mod output;
mod progress_line;
mod replies;
pub mod report;
mod terminal_oracle;

pub use args::RunArgs;
pub use open::cpu_level;
pub use progress_line::ProgressLine;

use crate::args::Common;
use crate::failure::Failure;
use crate::output::console;
use crate::output::files::Files;
use crate::output::progress::Watcher;
use evermargin::engine::Effects;
use evermargin::solver::{Progress, Watch};
use evermargin_io::artifacts::model;
use evermargin_io::write_atomic;
use evermargin_session::{Batch, ClassCounts, Oracle, Session, SessionError, StreamStatistics};
use open::{Opening, batch_of, open};
use output::{Predictions, Rejects};
use progress_line::peak_memory;
use serde_json::json;
use std::path::Path;
use std::time::{Instant, SystemTime, UNIX_EPOCH};
use terminal_oracle::{Answered, TerminalOracle};

/// Number of batches between two writes of the model.
const MODEL_EVERY: u64 = 20;

/// Runs the command.
pub fn run(args: &RunArgs, common: &Common, started: Instant) -> Result<(), Failure> {
    check(args)?;
    console::note(common, &args.engine.notes(&args.params(common)?));
    let watch = Watcher::start(common, None)?;
    let Opening { mut session, mut stream, mut first } = open(args, common, &watch)?;
    let mut output = args.output.as_deref().map(|path| Predictions::open(path, &session)).transpose()?;
    let mut rejects = args.rejects.as_deref().map(|path| Rejects::open(path, &session)).transpose()?;
    let mut person = TerminalOracle::new(session.oracle(), &args.streams)?;
    let mut progress = ProgressLine::new(&watch, common);
    progress.resumed(&session);
    let mut left = args.batches.unwrap_or(u64::MAX);
    // Whether the program was stopped during the queries of a batch, which is then finished first.
    let mut pending = !session.is_batch_closed();
    let (mut ended, mut fault) = (false, None);
    let stop = UntilSignal(&watch);
    // Rows of standard input cannot be read again, so a signal does not interrupt their ingestion.
    let piped = args.streams.iter().any(|stream| stream == Path::new("-"));
    let arrival: &dyn Watch = if piped { &() } else { &stop };
    while !ended && (left > 0 || pending) {
        let began = Instant::now();
        if !pending {
            let next = match first.take() {
                Some(chunk) => Ok(Some(chunk)),
                None => stream.next_batch(session.config().batch_rows, &mut || !watch.stopped()),
            };
            let chunk = match next {
                Ok(Some(chunk)) => chunk,
                Ok(None) => break,
                Err(e) => {
                    fault = Some(e); // the results so far are still written
                    break;
                }
            };
            console::note(common, &stream.take_notes());
            let batch = batch_of(chunk, args, session.oracle());
            if ingest(&mut session, batch, arrival, common)?.is_none() {
                break; // a resumed run reads these rows again
            }
            if let Some(rejects) = &mut rejects {
                rejects.write(&session)?;
            }
            left -= 1;
            if session.is_batch_closed() {
                // No row of the batch is usable.
                if let Some(output) = &mut output {
                    output.write(&session)?;
                }
                ended = watch.stopped();
                continue;
            }
        }
        pending = false;
        match session.oracle() {
            Oracle::Truth => ended = unless_interrupted(session.answer_from_truth_watched(&stop))?.is_none(),
            Oracle::Terminal => ended = person.answer(&mut session)? == Answered::Quit,
            Oracle::None => {}
        }
        if !ended {
            ended = unless_interrupted(session.close_batch_watched(now(&session), &stop))?.is_none();
        }
        session.take_notices().iter().for_each(|effects| progress.show_effects(effects));
        if ended {
            break; // the batch and its queries stay open
        }
        if let Some(output) = &mut output {
            output.write(&session)?;
        }
        progress.batch(&session, began);
        if session.engine().batches().is_multiple_of(MODEL_EVERY) {
            write_model(args, &session)?;
        }
        ended = watch.stopped();
    }
    watch.finish();
    if session.is_batch_closed() {
        session.save_snapshot()?;
    } else {
        session.store_answers()?;
    }
    write_model(args, &session)?;
    if let Some(path) = &args.report {
        write_atomic(path, report::page_of(&session, &progress, "").as_bytes())?;
    }
    if let Some(fault) = fault {
        return Err(fault.into());
    }
    finish(args, common, &session, &progress, started)
}

/// Interrupts the work on an event after the first signal.
struct UntilSignal<'w>(&'w Watcher);

impl Watch for UntilSignal<'_> {
    fn proceed(&self, _: &Progress) -> bool {
        self.0.tick();
        !self.0.stopped()
    }

    fn seconds(&self) -> Option<f64> {
        Watch::seconds(self.0)
    }
}

/// The result, or none after an interruption, which has changed nothing.
fn unless_interrupted<T>(done: Result<T, SessionError>) -> Result<Option<T>, Failure> {
    match done {
        Ok(done) => Ok(Some(done)),
        Err(SessionError::Interrupted) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// Ingests a batch; returns none if a signal interrupted it. A batch that is refused as a whole is recorded as rejected rows,
/// except the first one, because then the options are probably wrong.
fn ingest(
    session: &mut Session,
    batch: Batch,
    watch: &dyn Watch,
    common: &Common,
) -> Result<Option<()>, Failure> {
    if session.engine().rows() == 0 {
        return Ok(unless_interrupted(session.ingest_watched(batch, watch))?.map(|_| ()));
    }
    let done = unless_interrupted(session.ingest_or_reject(batch, watch))?;
    if let Some(Some(reason)) = &done {
        let rows = console::count(session.rejected_rows().len(), "row");
        console::note(common, &[format!("a batch of {rows} was rejected: {reason}")]);
    }
    Ok(done.map(|_| ()))
}

fn check(args: &RunArgs) -> Result<(), Failure> {
    if args.oracle == Oracle::Terminal && args.state.is_none() {
        status!("note: answers are saved only with --state DIR");
    }
    Files::default()
        .reads_all(&args.streams)
        .writes_folder("--state", args.state.as_ref())
        .writes("--output", args.output.as_ref())
        .writes("--model", args.model.as_ref())
        .writes("--report", args.report.as_ref())
        .writes("--rejects", args.rejects.as_ref())
        .check()?;
    if args.follow && !args.streams.iter().any(|s| s.is_dir()) {
        status!("note: --follow has no effect: no stream is a folder");
    }
    if args.input.labels.is_some() {
        return Err(Failure::Usage("--labels: a stream has its labels in the same files as its rows".into()));
    }
    if args.input.rows.is_some() {
        return Err(Failure::Usage(
            "--rows: a stream is read completely; use --batches to stop early".into(),
        ));
    }
    Ok(())
}

/// Seconds since 1970 if the budget depends on time, otherwise 0, so that results do not depend on the clock.
fn now(session: &Session) -> u64 {
    let timed = session.engine().params().budget.per_time.is_some();
    SystemTime::now().duration_since(UNIX_EPOCH).ok().filter(|_| timed).map_or(0, |d| d.as_secs())
}

fn write_model(args: &RunArgs, session: &Session) -> Result<(), Failure> {
    let (Some(path), Some(classifier)) = (&args.model, session.classifier()) else {
        return Ok(());
    };
    Ok(write_atomic(path, &model::to_bytes(&classifier)?)?)
}

fn finish(
    args: &RunArgs,
    common: &Common,
    session: &Session,
    progress: &ProgressLine<'_>,
    started: Instant,
) -> Result<(), Failure> {
    let (engine, statistics, current) =
        (session.engine(), session.statistics(), &session.statistics().current);
    let random = session.random_statistics();
    let written = session.classifier().is_some();
    let model = args.model.as_ref().filter(|_| written).map(|path| path.display().to_string());
    if args.model.is_some() && !written {
        console::note(common, &["no model was written: labels of two classes are needed".to_string()]);
    }
    let json = json!({
        "rows": current.rows,
        "batches": engine.batches(),
        "labels_spent": engine.budget_usage().total,
        "prequential_accuracy": statistics.accuracy(),
        "prequential_accuracy_last_half": statistics.accuracy_of_last_half(),
        "accuracy_after_asking": statistics.accuracy_after_queries(),
        "random_prequential_accuracy": random.and_then(StreamStatistics::accuracy),
        "random_prequential_accuracy_last_half": random.and_then(StreamStatistics::accuracy_of_last_half),
        "kappa": statistics.kappa(),
        "kappa_t": statistics.kappa_t(),
        "kappa_m": statistics.kappa_m(),
        "windowed_accuracy": statistics.scores.recent.windowed(),
        "fading_accuracy": statistics.scores.recent.fading(),
        "per_class": per_class(statistics),
        "label_delay": session.config().label_protocol.delay,
        "label_rate": session.config().label_protocol.rate,
        "late_labels": session.delayed_labels().0,
        "columns": engine.columns(),
        "dropped_columns": engine.dropped_columns(),
        "rejected_rows": current.rejected_rows,
        "rejected_labels": engine.rejected_labels(),
        "rejected_events": session.rejected_event_count(),
        "rows_without_label": current.rows.saturating_sub(current.scored),
        "classes": engine.classes().names(),
        "exemplars": current.exemplars,
        "support_count": engine.support_count(),
        "summary_cost": current.summary_cost,
        "version": engine.version(),
        "label_sources": engine.label_sources().weights(),
        "label_source_history": label_sources::history(session),
        "label_choice": label_sources::explanation(engine),
        "selection_share": engine.selection_seconds() / progress.seconds().max(1e-9),
        "drifts": engine.metrics().drifts,
        "novelty_alarms": engine.metrics().novelty_alarms,
        "model": model,
        "state_hash": blake3::hash(&session.to_bytes()?).to_hex().as_str(),
        "peak_memory_mb": peak_memory(),
        "seconds": progress.seconds(),
        "total_seconds": started.elapsed().as_secs_f64(),
    });
    console::answer(common, &json, &progress_line::summary(args, session, progress))
}

/// Scores per class of the predictions on arrival.
fn per_class(statistics: &StreamStatistics) -> serde_json::Map<String, serde_json::Value> {
    let class = |class: &ClassCounts| {
        let scores = class.scores();
        let of = json!({
            "rows": class.actual,
            "precision": scores.precision,
            "recall": scores.recall,
            "f1": scores.f1,
        });
        (class.name.clone(), of)
    };
    statistics.classes.iter().map(class).collect()
}

/// Messages about the effects of an event.
pub(crate) fn messages(effects: &Effects) -> Vec<String> {
    let mut out = effects.notes.clone();
    if let Some(d) = effects.drift {
        let rate = match d.sign {
            evermargin::engine::DriftSign::Errors => "the rate of wrong labels",
            evermargin::engine::DriftSign::Margin => "the rate of samples within the margin",
        };
        out.push(format!(
            "the stream has changed: {rate} rose from {:.0} to {:.0} %",
            100.0 * d.before,
            100.0 * d.now
        ));
    }
    match effects.advice {
        Some(evermargin::active::Stopped::Price) => {
            out.push("queries pause: a label is expected to save less than it costs".into());
        }
        Some(_) => out.push("no sample of the last batches was worth a query".into()),
        None => {}
    }
    out
}
