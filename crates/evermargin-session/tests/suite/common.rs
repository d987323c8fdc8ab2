//! Small sessions on generated rows, and commands that run this binary in its own process.

use evermargin::Matrix;
use evermargin::datasets::{GenerateParams, generate};
use evermargin::engine::{Budget, EngineParams};
use evermargin_io::{Format, Schema};
use evermargin_session::{
    Batch, LabelProtocol, Opened, Oracle, OtherCpu, Session, SessionConfig, SessionError,
};
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;

pub const ROWS: usize = 20;

/// A directory that is removed at the end; in memory if the system has such a place.
pub fn temporary_directory() -> TempDir {
    tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap()
}

pub fn config(oracle: Oracle) -> SessionConfig {
    SessionConfig {
        params: EngineParams { budget: Budget { per_batch: 3, ..Default::default() }, ..Default::default() },
        random_baseline: false,
        oracle,
        batch_rows: ROWS,
        input: Vec::new(),
        schema: Schema { sparse: Some(false), ..Schema::new(Format::Csv, 2) },
        label_protocol: LabelProtocol::default(),
        positive: None,
        cpu_level: "generic".into(),
    }
}

/// Batch number `k` of a stream; its labels are hidden.
pub fn batch(k: usize) -> Batch {
    let params = GenerateParams { rows: ROWS, seed: k as u64 + 1, ..Default::default() };
    let (x, labels) = generate("two-moons", &params).unwrap();
    let truth = labels.of.iter().map(|c| c.map(|c| labels.classes[c as usize].clone())).collect();
    Batch { truth, ..Batch::new(x, vec![None; ROWS]) }
}

/// A batch of dense rows that lack a column.
pub fn batch_of_another_width() -> Batch {
    Batch::new(Matrix::dense(vec![0.5; ROWS], ROWS, 1).unwrap(), vec![None; ROWS])
}

pub fn open(directory: &Path) -> Result<Session, SessionError> {
    match Session::open(directory, "generic", OtherCpu::Refuse)? {
        Opened::Session(session) => Ok(*session),
        Opened::Empty(store) => Session::new(config(Oracle::Truth), Some(*store)),
    }
}

/// One round of the loop.
pub fn process(session: &mut Session, k: usize) -> Result<(), SessionError> {
    session.ingest(batch(k))?;
    session.answer_from_truth()?;
    session.close_batch(0)
}

/// Serialized session after a number of batches without interruption.
pub fn uninterrupted_session(batches: usize) -> Vec<u8> {
    let mut session = Session::new(config(Oracle::Truth), None).unwrap();
    (0..batches).for_each(|k| process(&mut session, k).unwrap());
    session.to_bytes().unwrap()
}

/// Lets a command run one ignored test of this binary, with a directory to work on.
pub fn arguments(command: &mut Command, test: &str, directory: &Path) {
    command.arg(std::env::current_exe().unwrap());
    command.args(["--exact", test, "--ignored", "--nocapture", "--test-threads=1"]).env(CHILD, directory);
}

const CHILD: &str = "EVERMARGIN_SESSION_CHILD";

/// The directory that a child process was given; `None` if the test was started by hand.
pub fn child_directory() -> Option<PathBuf> {
    std::env::var_os(CHILD).map(PathBuf::from)
}

/// Whether strace is installed and may trace.
pub fn can_trace() -> bool {
    let works = Command::new("strace").args(["-qq", "-o", "/dev/null", "true"]).status();
    works.is_ok_and(|status| status.success())
}
