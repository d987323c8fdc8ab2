//! Named arrays in a safetensors container, written in a fixed order and read with every access checked.

use crate::error::shown;
use safetensors::tensor::{Dtype, SafeTensorError, SafeTensors};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Arrays to be written.
#[derive(Default)]
pub(crate) struct Bundle {
    tensors: Vec<Tensor>,
}

struct Tensor {
    name: String,
    dtype: &'static str,
    width: usize,
    shape: Vec<usize>,
    data: Vec<u8>,
}

impl Bundle {
    fn push<const N: usize>(
        &mut self,
        name: &str,
        dtype: &'static str,
        shape: &[usize],
        values: impl Iterator<Item = [u8; N]>,
    ) {
        let data = values.flatten().collect();
        self.tensors.push(Tensor { name: name.into(), dtype, width: N, shape: shape.to_vec(), data });
    }

    pub(crate) fn f64<'a>(&mut self, name: &str, shape: &[usize], values: impl IntoIterator<Item = &'a f64>) {
        self.push(name, "F64", shape, values.into_iter().map(|v| v.to_le_bytes()));
    }

    /// Half the size where every value is an f32 in disguise, so that loading gives the same bits.
    pub(crate) fn narrow(&mut self, name: &str, shape: &[usize], values: &[f64]) {
        if values.iter().all(|v| f64::from(*v as f32).to_bits() == v.to_bits()) {
            self.push(name, "F32", shape, values.iter().map(|v| (*v as f32).to_le_bytes()));
        } else {
            self.f64(name, shape, values);
        }
    }

    pub(crate) fn u64(&mut self, name: &str, shape: &[usize], values: &[usize]) {
        self.push(name, "U64", shape, values.iter().map(|v| (*v as u64).to_le_bytes()));
    }

    pub(crate) fn u32(&mut self, name: &str, shape: &[usize], values: &[u32]) {
        self.push(name, "U32", shape, values.iter().map(|v| v.to_le_bytes()));
    }

    /// The container: length of the header, header, data. The safetensors crate keeps metadata in a hash map and
    /// so writes it in an order that changes from run to run; here the header is sorted.
    pub(crate) fn into_bytes(mut self, metadata: &[(&str, &str)]) -> Vec<u8> {
        // Wide values first keeps every array aligned.
        self.tensors.sort_by(|a, b| b.width.cmp(&a.width).then(a.name.cmp(&b.name)));
        let mut header = serde_json::Map::new();
        let metadata: BTreeMap<&str, &str> = metadata.iter().copied().collect();
        header.insert("__metadata__".into(), serde_json::json!(metadata));
        let mut offset = 0;
        for t in &self.tensors {
            let end = offset + t.data.len();
            let info =
                serde_json::json!({ "dtype": t.dtype, "shape": t.shape, "data_offsets": [offset, end] });
            header.insert(t.name.clone(), info);
            offset = end;
        }
        let mut text = serde_json::Value::Object(header).to_string().into_bytes();
        text.resize(text.len().next_multiple_of(8), b' ');
        let mut out = Vec::with_capacity(8 + text.len() + offset);
        out.extend_from_slice(&(text.len() as u64).to_le_bytes());
        out.extend_from_slice(&text);
        for t in &self.tensors {
            out.extend_from_slice(&t.data);
        }
        out
    }
}

/// Where the checksum stands in a header. Text inside other entries has its quotes escaped, so this is found once.
const SUM: &[u8] = b"\"crc32\":\"";

/// Digits of a checksum.
const DIGITS: usize = 8;

/// What a sum is computed over in the place of itself.
pub(crate) const UNSEALED: &str = "00000000";

/// Puts the checksum of a file, which has a `crc32` among its metadata, into its place: CRC-32 of all its bytes with
/// zeros there.
pub(crate) fn seal(bytes: &mut [u8]) {
    let Some(at) = sum_place(bytes) else { return };
    let sum = sum_of(bytes, at);
    bytes[at..at + DIGITS].copy_from_slice(sum.as_bytes());
}

/// Refuses a file whose bytes are not those that were sealed.
pub(crate) fn check_seal(bytes: &[u8]) -> Result<(), String> {
    match sum_place(bytes) {
        None => Err("it has no checksum; the file is damaged".into()),
        Some(at) if sum_of(bytes, at).as_bytes() == &bytes[at..at + DIGITS] => Ok(()),
        Some(_) => Err("its checksum is not that of its bytes; the file is damaged".into()),
    }
}

fn sum_place(bytes: &[u8]) -> Option<usize> {
    let at = memchr::memmem::find(bytes, SUM)? + SUM.len();
    (bytes.len() >= at + DIGITS).then_some(at)
}

fn sum_of(bytes: &[u8], at: usize) -> String {
    let mut sum = crc32fast::Hasher::new();
    sum.update(&bytes[..at]);
    sum.update(UNSEALED.as_bytes());
    sum.update(&bytes[at + DIGITS..]);
    format!("{:08x}", sum.finalize())
}

/// Arrays as found in a file.
pub(crate) struct Loaded<'a> {
    tensors: SafeTensors<'a>,
    metadata: HashMap<String, String>,
    used: BTreeSet<String>,
    /// What the file is, for messages.
    what: &'static str,
}

type Found<T> = Result<T, String>;

impl<'a> Loaded<'a> {
    /// Arrays of a file that should be a `what`.
    pub(crate) fn parse(bytes: &'a [u8], what: &'static str) -> Found<Self> {
        let damaged = |e| match e {
            SafeTensorError::MetadataIncompleteBuffer => {
                "its length is not what its header says; the file is cut short or damaged".to_string()
            }
            e => format!("not an evermargin {what}, or a damaged one ({e})"),
        };
        let (_, header) = SafeTensors::read_metadata(bytes).map_err(damaged)?;
        let tensors = SafeTensors::deserialize(bytes).map_err(damaged)?;
        let metadata = header.metadata().clone().unwrap_or_default();
        Ok(Self { tensors, metadata, used: BTreeSet::new(), what })
    }

    /// The version of the file; refuses one that is not among those `known`.
    pub(crate) fn version(&self, known: std::ops::RangeInclusive<u32>) -> Result<u32, String> {
        let (what, version) = (self.what, self.metadata("format_version").unwrap_or(""));
        match version.parse::<u32>() {
            Ok(found) if known.contains(&found) => Ok(found),
            Ok(newer) if newer > *known.end() => Err(format!(
                "{what} format {newer} is newer than this evermargin reads ({}); update evermargin",
                known.end()
            )),
            _ => Err(format!("{what} format '{}' is not known", shown(version.as_bytes()))),
        }
    }

    pub(crate) fn metadata(&self, key: &str) -> Option<&str> {
        self.metadata.get(key).map(String::as_str)
    }

    fn get(&mut self, name: &str, rank: usize) -> Found<(Dtype, Vec<usize>, &'a [u8])> {
        let view = self.tensors.tensor(name).map_err(|_| format!("tensor {name} is missing"))?;
        if view.shape().len() != rank {
            return Err(format!("tensor {name} has {} dimensions instead of {rank}", view.shape().len()));
        }
        self.used.insert(name.to_string());
        Ok((view.dtype(), view.shape().to_vec(), view.data()))
    }

    /// Shape and values of an array of f64, or of f32 widened.
    pub(crate) fn f64(&mut self, name: &str, rank: usize) -> Found<(Vec<usize>, Vec<f64>)> {
        let (dtype, shape, data) = self.get(name, rank)?;
        let values = match dtype {
            Dtype::F64 => data.as_chunks().0.iter().map(|c| f64::from_le_bytes(*c)).collect(),
            Dtype::F32 => data.as_chunks().0.iter().map(|c| f64::from(f32::from_le_bytes(*c))).collect(),
            other => return Err(format!("tensor {name} has values of type {other} instead of F64")),
        };
        Ok((shape, values))
    }

    /// A vector of u64.
    pub(crate) fn u64(&mut self, name: &str) -> Found<Vec<usize>> {
        let (dtype, _, data) = self.get(name, 1)?;
        if dtype != Dtype::U64 {
            return Err(format!("tensor {name} has values of type {dtype} instead of U64"));
        }
        let number = |c: &[u8; 8]| usize::try_from(u64::from_le_bytes(*c));
        data.as_chunks()
            .0
            .iter()
            .map(number)
            .collect::<Result<_, _>>()
            .map_err(|e| format!("tensor {name}: {e}"))
    }

    /// A vector of u32.
    pub(crate) fn u32(&mut self, name: &str) -> Found<Vec<u32>> {
        let (dtype, _, data) = self.get(name, 1)?;
        if dtype != Dtype::U32 {
            return Err(format!("tensor {name} has values of type {dtype} instead of U32"));
        }
        Ok(data.as_chunks().0.iter().map(|c| u32::from_le_bytes(*c)).collect())
    }

    /// Refuses arrays this version knows nothing of: to leave them out would be to load another model.
    pub(crate) fn refuse_unused(&self) -> Found<()> {
        let mut names = self.tensors.names();
        names.sort_unstable();
        match names.into_iter().find(|n| !self.used.contains(*n)) {
            None => Ok(()),
            Some(name) => {
                Err(format!("tensor '{}' is not part of this {}", shown(name.as_bytes()), self.what))
            }
        }
    }
}
