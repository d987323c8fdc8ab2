//! The container of every artifact (models, states, summaries): a safetensors file with a checksum.
//!
//! The header of the file begins with its metadata, and the metadata with the checksum, so that these have a fixed place:
//! bytes 0 to 7 are the length of the header, 8 to 36 are `{"__metadata__":{"checksum":"`, and 37 to 44 are the checksum,
//! eight hexadecimal digits: the CRC-32 of the whole file with `00000000` in their place. CRC-32 detects every single
//! flipped bit and every burst of up to 32 bits. The checksum is verified before anything else is read. Further metadata are
//! `format` = `evermargin`, `format_version`, `kind`, `description` (JSON of everything that is small) and, for states, `cpu`,
//! the [`CpuLevel`] of the machine that wrote the state.

use crate::artifacts::model::foreign;
use crate::artifacts::tensor_parts::Restored;
use crate::artifacts::tensors::{Bundle, Loaded};
use crate::error::{Error, Result, excerpt};
use crate::limits::Limits;
use evermargin::cpu::{CpuLevel, cpu_feature_level};

const FORMAT: &str = "evermargin";

/// Format version that is written and read. Versions 1 and 2 had no checksum in models and no `kind`; version 3 had a
/// different description for each kind.
const VERSION: u32 = 4;

/// Bytes after the length of the header in every artifact.
const MAGIC: &[u8] = b"{\"__metadata__\":{\"checksum\":\"";

/// Position of the first byte of the checksum.
const SUM_AT: usize = 8 + MAGIC.len();

/// Placeholder for the checksum while it is computed.
const NO_SUM: &str = "00000000";

/// First bytes of the states that earlier versions wrote without a container.
const EARLIER: [&[u8]; 2] = [b"EVMENGN1", b"EVMMEDS1"];

/// Kind of the contents of an artifact.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A classifier.
    Model,
    /// An online learner whose training can be resumed.
    State,
    /// Exemplars of a data set.
    Summary,
    /// An engine that can process more events.
    Engine,
    /// A sequential learner whose training can be resumed.
    Sequential,
}

impl Kind {
    const ALL: [Self; 5] = [Self::Model, Self::State, Self::Summary, Self::Engine, Self::Sequential];

    /// Name of the kind in the metadata.
    fn name(self) -> &'static str {
        match self {
            Self::Model => "model",
            Self::State => "state",
            Self::Summary => "summary",
            Self::Engine => "engine",
            Self::Sequential => "sequential",
        }
    }

    /// Description of the kind for messages.
    fn noun(self) -> &'static str {
        match self {
            Self::Model => "an evermargin model",
            Self::State => "the state of an online learner",
            Self::Summary => "an evermargin summary",
            Self::Engine => "the state of an engine",
            Self::Sequential => "the state of a sequential learner",
        }
    }

    /// Purpose of the kind, for messages about a file of another kind than expected.
    fn purpose(self) -> &'static str {
        match self {
            Self::Model => "predict with it; it cannot continue learning",
            Self::State => "resume learning from it",
            Self::Summary => "merge it with other summaries",
            Self::Engine | Self::Sequential => "load it in Python with the class that saved it",
        }
    }

    /// Whether learning continues from artifacts of this kind, which therefore contain the CPU level.
    fn continues(self) -> bool {
        matches!(self, Self::State | Self::Engine | Self::Sequential)
    }
}

/// Options for loading an artifact.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoadOptions {
    /// Limits on the bytes and columns of the artifact.
    pub limits: Limits,
    /// CPU level on which learning will continue; by default that of this machine.
    pub cpu: CpuLevel,
    /// Whether to load a state of another CPU level. Learning can continue, but its results differ in the last bits from
    /// those of the machine that wrote the state.
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

/// Encodes an artifact with its checksum.
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

/// Updates the checksum of an artifact whose bytes were changed; for tests of the checks after the checksum.
pub fn reseal(bytes: &mut [u8]) {
    if is_artifact(bytes) {
        let sum = checksum(bytes);
        bytes[SUM_AT..SUM_AT + NO_SUM.len()].copy_from_slice(sum.as_bytes());
    }
}

/// Verifies the checksum, version and kind of an artifact and returns its arrays and metadata.
pub(crate) fn open(wanted: Kind, bytes: &[u8]) -> Restored<Loaded<'_>> {
    if !is_artifact(bytes) {
        return Err(not_artifact_message(wanted, bytes).into());
    }
    if checksum(bytes).as_bytes() != &bytes[SUM_AT..SUM_AT + NO_SUM.len()] {
        return Err(
            "the file is damaged: its checksum does not match its contents; fetch it again or restore a copy"
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
        Some(found) => Err(format!("{}, not {}; {}", found.noun(), wanted.noun(), found.purpose()).into()),
        None => Err(format!("not {}", wanted.noun()).into()),
    }
}

/// Returns an error for a state of another CPU level than the one on which learning would continue.
pub(crate) fn check_cpu(name: &str, tensors: &Loaded<'_>, options: &LoadOptions) -> Result<()> {
    let made = tensors.metadata("cpu").unwrap_or_default();
    let Some(made) = CpuLevel::from_name(made) else {
        let what = format!("CPU level '{}' is not known; update evermargin", excerpt(made.as_bytes()));
        return Err(Error::content(name, what));
    };
    if made == options.cpu || options.allow_other_cpu {
        return Ok(());
    }
    Err(Error::OtherCpu { file: name.to_string(), made, here: options.cpu })
}

/// Kind of an artifact by its metadata, without verification of the checksum.
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

/// Reason why bytes that do not begin like an artifact cannot be read.
fn not_artifact_message(wanted: Kind, bytes: &[u8]) -> String {
    if EARLIER.iter().any(|magic| bytes.starts_with(magic)) {
        return earlier_version_message("1");
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

/// Reason why the format or its version is not supported; `None` if it is supported.
fn version_fault(tensors: &Loaded<'_>) -> Option<String> {
    let format = tensors.metadata("format").unwrap_or_default();
    if !matches!(format, FORMAT | "evermargin-state" | "evermargin-summary") {
        return Some(match format {
            "" => "a safetensors file, but not of evermargin (or a damaged one)".into(),
            other => {
                format!("a file of '{}', not of evermargin (or a damaged one)", excerpt(other.as_bytes()))
            }
        });
    }
    let version = tensors.metadata("format_version").unwrap_or_default();
    match version.parse::<u32>() {
        Ok(VERSION) if format == FORMAT => None,
        Ok(newer) if newer > VERSION => {
            Some(format!("format {newer} is newer than this evermargin reads ({VERSION}); update evermargin"))
        }
        _ => Some(earlier_version_message(version)),
    }
}

fn earlier_version_message(version: &str) -> String {
    format!(
        "written by an earlier evermargin in format '{}'; this version reads format {VERSION}: make the file again",
        excerpt(version.as_bytes())
    )
}
