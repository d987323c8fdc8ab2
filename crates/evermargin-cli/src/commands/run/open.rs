//! Opens the session and the stream of a run, from the beginning or at the position of an earlier run.

use super::args::RunArgs;
use super::output::Rejects;
use crate::args::Common;
use crate::failure::Failure;
use crate::input::{column, options_of};
use crate::output::console;
use crate::output::progress::Watcher;
use evermargin::engine::{EngineParams, Event};
use evermargin_io::{Chunk, ColumnCap, ReadOptions, RejectedRow, Source, Stream, StreamOptions};
use evermargin_session::{Batch, LabelProtocol, Opened, Oracle, OtherCpu, Session, SessionConfig};
use serde_json::Value;
use std::path::Path;

/// Maximum number of rejected rows before the first usable row.
const MAX_REJECTED_FIRST: usize = 1_000_000;

/// A session, its stream, and the first rows if they were already read.
pub struct Opening {
    pub session: Session,
    pub stream: Stream,
    pub first: Option<Chunk>,
}

/// Opens the session and the stream.
pub fn open(args: &RunArgs, common: &Common, watch: &Watcher) -> Result<Opening, Failure> {
    let sources = args.streams.iter().map(|path| source(path)).collect::<Result<Vec<_>, _>>()?;
    let params = args.params_of_protocol(common)?;
    let label_protocol = args.label_protocol()?;
    let cap = ColumnCap { sparse: params.column_cap(true), dense: params.column_cap(false) };
    let id = args.id.as_deref().map(column);
    let options = StreamOptions {
        read: options_of(&args.input, ReadOptions { id, ..ReadOptions::default() }),
        growth: Some(cap),
        features: args.features,
        follow: args.follow,
        reject_bad_rows: true,
        ..Default::default()
    };
    let other = if args.force { OtherCpu::Continue } else { OtherCpu::Refuse };
    let opened = args.state.as_deref().map(|state| Session::open(state, &cpu_level(), other)).transpose()?;
    let store = match opened {
        Some(Opened::Session(mut session)) => {
            check_options(args, &session, &params, label_protocol)?;
            if session.engine().params().budget != params.budget {
                session.submit(Event::SetBudget { budget: params.budget })?;
            }
            let mut stream = match session.position() {
                Some(position) => {
                    Stream::resume(sources, options, session.schema().clone(), position.clone())?
                }
                None => Stream::open(sources, options)?,
            };
            stream.stop_on(Watcher::stop_flag());
            return Ok(Opening { session: *session, stream, first: None });
        }
        Some(Opened::Empty(store)) => Some(*store),
        None => None,
    };
    let mut stream = Stream::open(sources, options)?;
    stream.stop_on(Watcher::stop_flag());
    // The first rows determine the columns.
    let (first, rejected) = first_batch(args, &mut stream, watch)?;
    console::note(common, &stream.take_notes());
    let (first, schema) = match (first, stream.schema()) {
        (Some(first), Some(schema)) => (Chunk { rejected, new_columns: Vec::new(), ..first }, schema.clone()),
        _ => return Err(no_usable_row(args, &rejected)?),
    };
    let config = SessionConfig {
        params,
        random_baseline: args.report.is_some() && args.oracle == Oracle::Truth,
        oracle: args.oracle,
        batch_rows: args.batch as usize,
        input: args.reading(),
        schema,
        label_protocol,
        positive: args.input.positive.clone(),
        cpu_level: cpu_level(),
    };
    let session = Session::new(config, store)?;
    Ok(Opening { session, stream, first: Some(first) })
}

/// The first batch with a usable row, if there is one, and all rows rejected before its end.
fn first_batch(
    args: &RunArgs,
    stream: &mut Stream,
    watch: &Watcher,
) -> Result<(Option<Chunk>, Vec<RejectedRow>), Failure> {
    let mut rejected = Vec::new();
    while rejected.len() < MAX_REJECTED_FIRST {
        let next = stream.next_batch(args.batch as usize, &mut || !watch.stopped());
        let chunk = match next {
            Ok(chunk) => chunk,
            Err(error) => {
                write_rejects(args, &rejected)?;
                return Err(error.into());
            }
        };
        let Some(mut chunk) = chunk else { break };
        rejected.append(&mut chunk.rejected);
        if chunk.x.rows() > 0 {
            return Ok((Some(chunk), rejected));
        }
        if watch.stopped() {
            break;
        }
    }
    Ok((None, rejected))
}

/// The error for a stream without a usable row. Its rejected rows are written.
fn no_usable_row(args: &RunArgs, rejected: &[RejectedRow]) -> Result<Failure, Failure> {
    let Some(bad) = rejected.first() else { return Ok(Failure::Failed("the stream is empty".into())) };
    write_rejects(args, rejected)?;
    let rows = console::count(rejected.len(), "row");
    let column = bad.column.as_ref().map_or(String::new(), |c| format!("column '{c}': "));
    let reason = format!("{}:{}: {column}{}", bad.file, bad.line, bad.reason);
    Ok(Failure::Failed(format!("no usable row among the first {rows}; {reason}")))
}

fn write_rejects(args: &RunArgs, rejected: &[RejectedRow]) -> Result<(), Failure> {
    args.rejects.as_deref().map_or(Ok(()), |path| Rejects::write_without_session(path, rejected))
}

/// Refuses to resume a session with other options than it began with. The budget may differ.
fn check_options(
    args: &RunArgs,
    session: &Session,
    params: &EngineParams,
    label_protocol: LabelProtocol,
) -> Result<(), Failure> {
    let config = session.config();
    let text = |v: serde_json::Result<Value>| v.unwrap_or_default();
    let (was, is) = (text(serde_json::to_value(&config.params)), text(serde_json::to_value(params)));
    let mut other: Vec<String> = was
        .as_object()
        .into_iter()
        .flatten()
        .filter(|(name, value)| *name != "budget" && is.get(name.as_str()) != Some(value))
        .map(|(name, value)| format!("{name} = {value}"))
        .collect();
    if config.batch_rows != args.batch as usize {
        other.push(format!("batch = {}", config.batch_rows));
    }
    if config.input != args.reading() {
        other.push(config.input.join(" "));
    }
    if config.label_protocol != label_protocol {
        let LabelProtocol { delay, rate } = config.label_protocol;
        other.push(format!("label-delay = {delay}, label-rate = {rate}"));
    }
    if config.oracle != args.oracle {
        other.push(format!("oracle = {}", text(serde_json::to_value(config.oracle))));
    }
    if other.is_empty() {
        return Ok(());
    }
    let state = args.state.as_deref().unwrap_or(Path::new("")).display().to_string();
    Err(Failure::Usage(format!(
        "--state {state} has {}; resume it with the same options, or name a new folder",
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

/// A batch of the session, with labels that are visible to the engine or hidden from it, and texts for an annotator.
pub fn batch_of(chunk: Chunk, args: &RunArgs, oracle: Oracle) -> Batch {
    let named = |label: Option<String>| label.map(|l| against_rest(l, args.input.positive.as_deref()));
    let labels: Vec<Option<String>> = chunk.labels.into_iter().map(named).collect();
    let (labels, truth) =
        if oracle.hides_labels() { (vec![None; labels.len()], labels) } else { (labels, Vec::new()) };
    let texts = if oracle == Oracle::Terminal { chunk.shown } else { Vec::new() };
    let Chunk { x, ids, new_columns, places, rejected, position, .. } = chunk;
    Batch { x, labels, truth, texts, ids, new_columns, places, rejected, position }
}

/// The class of `positive`, a list separated by commas, or the class of all others.
fn against_rest(label: String, positive: Option<&str>) -> String {
    let Some(positive) = positive else { return label };
    let number = |t: &str| t.trim().parse::<f64>().ok();
    let same = |p: &str| p.trim() == label || (number(p).is_some() && number(p) == number(&label));
    if positive.split(',').any(same) { positive.to_string() } else { format!("not-{positive}") }
}

/// The CPU feature level, on which the last bits of results depend.
pub fn cpu_level() -> String {
    evermargin::cpu::cpu_feature_level().name().into()
}
