//! `evermargin run`: the loop that never ends, from a stream of rows to labels, questions, a model and a report.

mod args;
mod chart;
mod output;
mod progress_line;
mod record;
pub mod report;
mod session;
mod tally;
mod terminal_oracle;

pub use args::RunArgs;
pub use progress_line::ProgressLine;
pub use record::{Batch, Begin, FORM, Oracle};
pub use session::Session;

use crate::args::Common;
use crate::commands::fit::check_output;
use crate::failure::Failure;
use crate::input::options_of;
use crate::output::console;
use crate::output::progress::Watcher;
use evermargin::engine::Effects;
use evermargin_io::artifacts::model;
use evermargin_io::{Chunk, ReadOptions, Source, Stream, StreamOptions, write_atomic};
use output::Output;
use progress_line::peak_memory;
use serde_json::{Value, json};
use std::path::Path;
use std::time::{Instant, SystemTime, UNIX_EPOCH};
use terminal_oracle::{Answered, TerminalOracle};

/// Batches between two writings of the model.
const MODEL_EVERY: u64 = 20;

/// Runs the verb.
pub fn run(args: &RunArgs, common: &Common, started: Instant) -> Result<(), Failure> {
    check(args)?;
    let watch = Watcher::start(common, None)?;
    let (mut session, mut stream, mut first) = open(args, common, &watch)?;
    let mut output = match &args.output {
        Some(path) => {
            let closed = session.tally.now.closed;
            Some(Output::open(path, closed, &session.last, session.engine.classes())?)
        }
        None => None,
    };
    let mut person = TerminalOracle::new(session.begin.oracle, &args.streams)?;
    let mut live = ProgressLine::new(&watch, common);
    live.resumed(&session);
    let mut left = args.batches.unwrap_or(u64::MAX);
    // a batch that was being asked about when the program stopped
    let mut pending = !session.closed;
    let (mut ended, mut fault) = (false, None);
    while !ended && (left > 0 || pending) {
        let began = Instant::now();
        if !pending {
            let next = match first.take() {
                Some(chunk) => Ok(Some(chunk)),
                None => stream.next_batch(session.begin.batch, &mut || !watch.stopped()),
            };
            let chunk = match next {
                Ok(Some(chunk)) => chunk,
                Ok(None) => break,
                Err(e) => {
                    fault = Some(e); // what was learned before it is still handed out
                    break;
                }
            };
            console::note(common, &stream.take_notes());
            session.arrive(batch_of(chunk, args, session.begin.oracle))?;
            left -= 1;
        }
        pending = false;
        match session.begin.oracle {
            Oracle::Truth => session.answer_by_truth()?,
            Oracle::Terminal => ended = person.answer(&mut session)? == Answered::Quit,
            Oracle::None => {}
        }
        if !ended {
            session.close(now(args))?;
        }
        session.take_news().iter().for_each(|effects| live.tell(effects));
        if ended {
            break; // the questions stay open
        }
        if let Some(output) = &mut output {
            output.write(&session.last, session.engine.classes())?;
        }
        live.batch(&session, began);
        if session.engine.batches().is_multiple_of(MODEL_EVERY) {
            write_model(args, &session)?;
        }
        ended = watch.stopped();
    }
    watch.finish();
    if !ended && session.closed {
        session.keep()?;
    }
    write_model(args, &session)?;
    if let Some(path) = &args.report {
        write_atomic(path, report::page_of(&session, &live, "").as_bytes())?;
    }
    if let Some(fault) = fault {
        return Err(fault.into());
    }
    finish(args, common, &session, &live, started)
}

fn check(args: &RunArgs) -> Result<(), Failure> {
    if args.oracle == Oracle::Terminal && args.state.is_none() {
        tell!("note: answers are kept only with --state DIR");
    }
    for (k, output) in [&args.output, &args.model, &args.report].into_iter().enumerate() {
        let Some(output) = output else { continue };
        if output == Path::new("-") {
            let option = ["--output", "--model", "--report"][k];
            return Err(Failure::Usage(format!("{option} -: it needs a file of its own")));
        }
        for stream in &args.streams {
            check_output(stream, output)?;
        }
    }
    if args.follow && !args.streams.iter().any(|s| s.is_dir()) {
        tell!("note: --follow waits for files in a folder; there is none here");
    }
    if args.input.labels.is_some() {
        return Err(Failure::Usage("--labels: a stream has its labels beside its rows".into()));
    }
    if args.input.rows.is_some() {
        return Err(Failure::Usage("--rows: a stream is read whole; use --batches to stop early".into()));
    }
    Ok(())
}

/// The session and the stream, from the beginning or where they were left, and rows that were read already.
fn open(
    args: &RunArgs,
    common: &Common,
    watch: &Watcher,
) -> Result<(Session, Stream, Option<Chunk>), Failure> {
    let sources = args.streams.iter().map(|path| source(path)).collect::<Result<Vec<_>, _>>()?;
    let options = StreamOptions {
        read: options_of(&args.input, ReadOptions::default()),
        features: args.features,
        follow: args.follow,
        ..Default::default()
    };
    let params = args.params(common)?;
    let store = match args.state.as_deref().map(Session::resume).transpose()? {
        Some(Ok(session)) => {
            agree(args, &session, &params)?;
            let stream = match session.position() {
                Some(position) => {
                    Stream::resume(sources, options, session.begin.schema.clone(), position.clone())?
                }
                None => Stream::open(sources, options)?,
            };
            return Ok((session, stream, None));
        }
        Some(Err(store)) => Some(store),
        None => None,
    };
    let mut stream = Stream::open(sources, options)?;
    // the first rows fix what the columns are
    let first = stream.next_batch(args.batch as usize, &mut || !watch.stopped())?;
    let Some(schema) = stream.schema().cloned().filter(|_| first.is_some()) else {
        return Err(Failure::Failed("the stream is empty".into()));
    };
    console::note(common, &stream.take_notes());
    let begin = Begin {
        form: FORM,
        params,
        beside: args.report.is_some() && args.oracle == Oracle::Truth,
        oracle: args.oracle,
        batch: args.batch as usize,
        reading: args.reading(),
        schema,
    };
    let session = Session::new(begin, store)?;
    Ok((session, stream, first))
}

/// Refuses to go on with other parameters than the session began with.
fn agree(
    args: &RunArgs,
    session: &Session,
    params: &evermargin::engine::EngineParams,
) -> Result<(), Failure> {
    let begin = &session.begin;
    let text = |v: serde_json::Result<Value>| v.unwrap_or_default();
    let (was, is) = (text(serde_json::to_value(&begin.params)), text(serde_json::to_value(params)));
    let mut other: Vec<String> = was
        .as_object()
        .into_iter()
        .flatten()
        .filter(|(name, value)| is.get(name.as_str()) != Some(value))
        .map(|(name, value)| format!("{name} = {value}"))
        .collect();
    if begin.batch != args.batch as usize {
        other.push(format!("batch = {}", begin.batch));
    }
    if begin.reading != args.reading() {
        other.push(begin.reading.join(" "));
    }
    if begin.oracle != args.oracle {
        other.push(format!("oracle = {}", text(serde_json::to_value(begin.oracle))));
    }
    if other.is_empty() {
        return Ok(());
    }
    let state = args.state.as_deref().unwrap_or(Path::new("")).display().to_string();
    Err(Failure::Usage(format!(
        "--state {state} was begun with {}; go on with the same options, or name a new folder",
        other.join(", ")
    )))
}

fn source(path: &Path) -> Result<Source, Failure> {
    if path == Path::new("-") {
        return Ok(Source::Stdin);
    }
    match std::fs::metadata(path) {
        Ok(found) if found.is_dir() => Ok(Source::Folder(path.to_path_buf())),
        Ok(_) => Ok(Source::File(path.to_path_buf())),
        Err(e) => Err(Failure::Failed(format!("{}: {e}", path.display()))),
    }
}

/// Rows as they are kept: what the engine sees, what it does not, what a person is shown.
fn batch_of(chunk: Chunk, args: &RunArgs, oracle: Oracle) -> Batch {
    let named = |label: Option<String>| label.map(|l| against_rest(l, args.input.positive.as_deref()));
    let labels: Vec<Option<String>> = chunk.labels.into_iter().map(named).collect();
    let (labels, truth) =
        if session::hides(oracle) { (vec![None; labels.len()], labels) } else { (labels, Vec::new()) };
    let shown = if oracle == Oracle::Terminal { chunk.shown } else { Vec::new() };
    Batch { x: chunk.x, labels, truth, shown, position: chunk.position }
}

/// Some classes, separated by commas, against all others.
fn against_rest(label: String, positive: Option<&str>) -> String {
    let Some(positive) = positive else { return label };
    let number = |t: &str| t.trim().parse::<f64>().ok();
    let same = |p: &str| p.trim() == label || (number(p).is_some() && number(p) == number(&label));
    if positive.split(',').any(same) { positive.to_string() } else { format!("not-{positive}") }
}

/// Seconds, where a budget asks for them: otherwise time has no part in what is learned.
fn now(args: &RunArgs) -> u64 {
    let timed = args.query_strategy.per_time.is_some();
    SystemTime::now().duration_since(UNIX_EPOCH).ok().filter(|_| timed).map_or(0, |d| d.as_secs())
}

fn write_model(args: &RunArgs, session: &Session) -> Result<(), Failure> {
    let (Some(path), Some(mut classifier)) = (&args.model, session.engine.classifier()) else {
        return Ok(());
    };
    classifier.columns.clone_from(&session.begin.schema.columns);
    Ok(write_atomic(path, &model::to_bytes(&classifier)?)?)
}

fn finish(
    args: &RunArgs,
    common: &Common,
    session: &Session,
    live: &ProgressLine<'_>,
    started: Instant,
) -> Result<(), Failure> {
    let (engine, tally) = (&session.engine, &session.tally);
    let json = json!({
        "rows": engine.rows(),
        "batches": engine.batches(),
        "labels_spent": engine.spent().total,
        "prequential_accuracy": tally.accuracy(),
        "prequential_accuracy_last_half": tally.accuracy_of_last_half(),
        "accuracy_after_asking": tally.accuracy_after(),
        "random_prequential_accuracy": session.random.accuracy(),
        "random_prequential_accuracy_last_half": session.random.accuracy_of_last_half(),
        "rows_without_label": engine.rows() - tally.now.judged.min(engine.rows()),
        "classes": engine.classes().names(),
        "exemplars": tally.now.exemplars,
        "support_count": engine.support_count(),
        "summary_cost": tally.now.cost,
        "version": engine.version(),
        "drifts": engine.meter().drifts,
        "state_hash": blake3::hash(&session.bytes()?).to_hex().as_str(),
        "peak_memory_mb": peak_memory(),
        "seconds": live.seconds(),
        "total_seconds": started.elapsed().as_secs_f64(),
    });
    console::answer(common, &json, &progress_line::summary(args, session, live))
}

/// What a person should hear of an effect.
pub(crate) fn heard(effects: &Effects) -> Vec<String> {
    let mut out = effects.notes.clone();
    if let Some(d) = effects.drift {
        let what = match d.sign {
            evermargin::engine::DriftSign::Errors => "wrong labels",
            evermargin::engine::DriftSign::Margin => "samples in doubt",
        };
        out.push(format!(
            "the stream has changed: {what} rose from {:.0} to {:.0} %",
            100.0 * d.before,
            100.0 * d.now
        ));
    }
    if effects.advice.is_some() {
        out.push("no sample of the last batches was worth a question".into());
    }
    out
}
