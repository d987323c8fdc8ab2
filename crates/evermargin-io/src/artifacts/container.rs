//! The container of every artifact (models, states, summaries): a safetensors file with a checksum.
//!
//! The header of the file begins with its metadata, and the metadata with the checksum, so that these have a fixed place:
//! bytes 0 to 7 the length of the header, 8 to 36 `{"__metadata__":{"checksum":"`, 37 to 44 the checksum, eight hexadecimal
//! digits: the CRC-32 of the whole file with `00000000` in their place. CRC-32 detects every single flipped bit and every
//! burst of up to 32 bits. The checksum is verified before anything else is read. Further metadata: `format` = `evermargin`,
//! `format_version`, `kind`, `description` (JSON of everything that is small) and, of states, `cpu`, the
//! [`CpuLevel`] of the machine that made it.

use crate::artifacts::model::foreign;
use crate::artifacts::tensor_parts::Restored;
use crate::artifacts::tensors::{Bundle, Loaded};
use crate::error::{Error, Result, shown};
use crate::limits::Limits;
use evermargin::cpu::{CpuLevel, cpu_feature_level};

const FORMAT: &str = "evermargin";

/// The format version that is written and read. Versions 1 and 2 had no checksum in models and no `kind`; version 3 had a
/// description of its own for each kind.
const VERSION: u32 = 4;

/// What follows the length of the header in every artifact.
const MAGIC: &[u8] = b"{\"__metadata__\":{\"checksum\":\"";

/// First byte of the checksum.
const SUM_AT: usize = 8 + MAGIC.len();

/// What the checksum is computed over in the place of itself.
const NO_SUM: &str = "00000000";

/// First bytes of the states that earlier versions wrote without a container.
const EARLIER: [&[u8]; 2] = [b"EVMENGN1", b"EVMMEDS1"];

/// What an artifact holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A classifier.
    Model,
    /// An online learner that can continue.
    State,
    /// Exemplars of a data set.
    Summary,
    /// An engine that can continue.
    Engine,
    /// A sequential learner that can continue.
    Sequential,
}

impl Kind {
    const ALL: [Self; 5] = [Self::Model, Self::State, Self::Summary, Self::Engine, Self::Sequential];

    /// The name in the metadata.
    fn name(self) -> &'static str {
        match self {
            Self::Model => "model",
            Self::State => "state",
            Self::Summary => "summary",
            Self::Engine => "engine",
            Self::Sequential => "sequential",
        }
    }

    /// What it is, for messages.
    fn noun(self) -> &'static str {
        match self {
            Self::Model => "an evermargin model",
            Self::State => "the state of an online learner",
            Self::Summary => "an evermargin summary",
            Self::Engine => "the state of an engine",
            Self::Sequential => "the state of a sequential learner",
        }
    }

    /// What can be done with it, for those who meant another kind.
    fn use_of(self) -> &'static str {
        match self {
            Self::Model => "predict with it; it cannot continue learning",
            Self::State => "resume learning from it",
            Self::Summary => "merge it with other summaries",
            Self::Engine | Self::Sequential => "load it in Python with the class that saved it",
        }
    }

    /// Whether learning continues from it, which makes the CPU level part of it.
    fn continues(self) -> bool {
        matches!(self, Self::State | Self::Engine | Self::Sequential)
    }
}

/// How an artifact is loaded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoadOptions {
    /// Limits on its bytes and columns.
    pub limits: Limits,
    /// The CPU level at which learning will continue: that of this machine by default.
    pub cpu: CpuLevel,
    /// Whether to load a state that was made at another CPU level. Learning continues, but its results differ in the last
    /// bits from those of the machine that made the state.
    pub allow_other_cpu: bool,
}

impl Default for LoadOptions {
    fn default() -> Self {
        Self { limits: Limits::default(), cpu: cpu_feature_level(), allow_other_cpu: false }
    }
}

impl LoadOptions {
    /// Default options with these limits.
    pub fn within(limits: &Limits) -> Self {
        Self { limits: limits.clone(), ..Self::default() }
    }
}

/// The bytes of an artifact.
pub(crate) fn write(kind: Kind, description: &str, bundle: Bundle) -> Vec<u8> {
    let version = VERSION.to_string();
    let mut metadata = vec![
        ("checksum", NO_SUM),
        ("description", description),
        ("format", FORMAT),
        ("format_version", &version),
        ("kind", kind.name()),
    ];
    if kind.continues() {
        metadata.push(("cpu", cpu_feature_level().name()));
    }
    let mut bytes = bundle.into_bytes(&metadata);
    reseal(&mut bytes);
    bytes
}

/// Gives the bytes of an artifact that were changed the checksum they should have, for tests of what lies behind it.
pub fn reseal(bytes: &mut [u8]) {
    if is_artifact(bytes) {
        let sum = checksum(bytes);
        bytes[SUM_AT..SUM_AT + NO_SUM.len()].copy_from_slice(sum.as_bytes());
    }
}

/// The arrays and the metadata of an artifact of the wanted kind; the checksum is right.
pub(crate) fn open(wanted: Kind, bytes: &[u8]) -> Restored<Loaded<'_>> {
    if !is_artifact(bytes) {
        return Err(no_artifact(wanted, bytes).into());
    }
    if checksum(bytes).as_bytes() != &bytes[SUM_AT..SUM_AT + NO_SUM.len()] {
        return Err(
            "the file is damaged: its checksum is not that of its bytes; fetch it again or restore a copy"
                .into(),
        );
    }
    let tensors = Loaded::parse(bytes, wanted.name())
        .map_err(|e| format!("not {}, or a damaged one ({e})", wanted.noun()))?;
    if let Some(what) = version_fault(&tensors) {
        return Err(what.into());
    }
    match kind(&tensors) {
        Some(found) if found == wanted => Ok(tensors),
        Some(found) => Err(format!("{}, not {}; {}", found.noun(), wanted.noun(), found.use_of()).into()),
        None => Err(format!("not {}", wanted.noun()).into()),
    }
}

/// Refuses a state that was made at another CPU level than the one at which it would continue.
pub(crate) fn check_cpu(name: &str, tensors: &Loaded<'_>, options: &LoadOptions) -> Result<()> {
    let made = tensors.metadata("cpu").unwrap_or_default();
    let Some(made) = CpuLevel::from_name(made) else {
        let what = format!("CPU level '{}' is not known; update evermargin", shown(made.as_bytes()));
        return Err(Error::content(name, what));
    };
    if made == options.cpu || options.allow_other_cpu {
        return Ok(());
    }
    Err(Error::OtherCpu { file: name.to_string(), made, here: options.cpu })
}

/// What an artifact says it is, its checksum not looked at.
pub(crate) fn kind_of(bytes: &[u8]) -> Option<Kind> {
    is_artifact(bytes).then(|| Loaded::parse(bytes, "file").ok())?.as_ref().and_then(kind)
}

fn kind(tensors: &Loaded<'_>) -> Option<Kind> {
    let name = tensors.metadata("kind")?;
    Kind::ALL.into_iter().find(|kind| kind.name() == name)
}

fn is_artifact(bytes: &[u8]) -> bool {
    bytes.len() >= SUM_AT + NO_SUM.len() && bytes[8..].starts_with(MAGIC)
}

fn checksum(bytes: &[u8]) -> String {
    let mut sum = crc32fast::Hasher::new();
    sum.update(&bytes[..SUM_AT]);
    sum.update(NO_SUM.as_bytes());
    sum.update(&bytes[SUM_AT + NO_SUM.len()..]);
    format!("{:08x}", sum.finalize())
}

/// Why bytes that do not begin as an artifact are none.
fn no_artifact(wanted: Kind, bytes: &[u8]) -> String {
    if EARLIER.iter().any(|magic| bytes.starts_with(magic)) {
        return earlier("1");
    }
    if let Some(kind) = foreign(bytes) {
        return format!("{kind}, not {}", wanted.noun());
    }
    match Loaded::parse(bytes, wanted.name()) {
        Ok(tensors) => version_fault(&tensors).unwrap_or_else(|| {
            format!(
                "a safetensors file without the checksum of evermargin: not {}, or a damaged one",
                wanted.noun()
            )
        }),
        Err(e) => format!("not {}, or a damaged one ({e})", wanted.noun()),
    }
}

/// Why the format or its version is not read, if it is not.
fn version_fault(tensors: &Loaded<'_>) -> Option<String> {
    let format = tensors.metadata("format").unwrap_or_default();
    if !matches!(format, FORMAT | "evermargin-state" | "evermargin-summary") {
        return Some(match format {
            "" => "a safetensors file, but not of evermargin (or a damaged one)".into(),
            other => format!("a file of '{}', not of evermargin (or a damaged one)", shown(other.as_bytes())),
        });
    }
    let version = tensors.metadata("format_version").unwrap_or_default();
    match version.parse::<u32>() {
        Ok(VERSION) if format == FORMAT => None,
        Ok(newer) if newer > VERSION => {
            Some(format!("format {newer} is newer than this evermargin reads ({VERSION}); update evermargin"))
        }
        _ => Some(earlier(version)),
    }
}

fn earlier(version: &str) -> String {
    format!(
        "written by an earlier evermargin in format '{}'; this version reads format {VERSION}: make the file again",
        shown(version.as_bytes())
    )
}
