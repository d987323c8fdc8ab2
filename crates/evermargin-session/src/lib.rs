//! Durable learning on a stream, shared by the command line, Python and the server.
//!
//! A [`Session`] combines an [engine](evermargin::engine), an event store ([`evermargin_store`]), the description of the input,
//! statistics, and snapshots. The state is a function of the event log. Every event passes through three steps: the engine
//! plans it and may refuse it, the store makes it durable, and the session commits it. Therefore an event that is refused
//! changes nothing ([`SessionError::Rejected`]), an event that cannot be stored does not take effect
//! ([`SessionError::StorageFull`], [`SessionError::Storage`]), and a process that is killed at any moment resumes with
//! bit-identical results.
//!
//! Rows that cannot be used are counted ([`StatisticsPoint::rejected_rows`]), listed ([`Session::rejected_rows`]) and
//! recorded in the log with their reason and file position; the other rows of their batch are learned. An event of the
//! log that cannot be applied, such as one of an older program, is skipped and listed ([`Session::rejected_events`]).
//!
//! This crate reads no clock: the caller passes the time to [`Session::close_batch`].
//!
//! ```
//! use evermargin::Matrix;
//! use evermargin::engine::EngineParams;
//! use evermargin_io::{Format, Schema};
//! use evermargin_session::{Batch, LabelProtocol, Opened, Oracle, OtherCpu, Session, SessionConfig};
//!
//! let home = tempfile::tempdir()?;
//! let directory = home.path().join("state");
//! let open = || Session::open(&directory, "generic", OtherCpu::Refuse);
//!
//! let Opened::Empty(store) = open()? else { unreachable!() };
//! let mut schema = Schema::new(Format::Csv, 2);
//! schema.sparse = Some(false);
//! let config = SessionConfig {
//!     params: EngineParams::default(),
//!     random_baseline: false,
//!     oracle: Oracle::None,
//!     batch_rows: 4,
//!     input: Vec::new(),
//!     schema,
//!     label_protocol: LabelProtocol::default(),
//!     positive: None,
//!     cpu_level: "generic".into(),
//! };
//! let mut session = Session::new(config, Some(*store))?;
//! let x = Matrix::dense(vec![0.0, 0.0, 0.1, 0.0, 1.0, 1.0, 0.9, 1.0], 4, 2)?;
//! let labels = ["low", "low", "high", "high"].map(|name| Some(name.to_string()));
//! session.ingest(Batch::new(x, labels.to_vec()))?;
//! session.close_batch(0)?;
//! let bytes = session.to_bytes()?;
//! drop(session);
//!
//! let Opened::Session(session) = open()? else { unreachable!() };
//! assert_eq!(session.to_bytes()?, bytes);
//! assert_eq!(session.engine().rows(), 4);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod commit;
mod config;
mod error;
mod label_protocol;
mod log;
mod random_baseline;
mod record;
mod replay;
mod session;
mod snapshot;
mod source_weights;
mod statistics;
mod stream_scores;

pub use config::{FORMAT, Oracle, SessionConfig};
pub use error::SessionError;
pub use label_protocol::{LabelProtocol, MAX_DELAY};
pub use record::Batch;
pub use replay::{Opened, OtherCpu};
pub use session::{RejectedEvent, Session};
pub use source_weights::{SourceWeightHistory, SourceWeightsPoint};
pub use statistics::{ClassCounts, StatisticsPoint, StreamStatistics};
pub use stream_scores::StreamScores;
