//! Named arrays in a safetensors container. They are written in a fixed order; every access is checked on reading.

use crate::error::excerpt;
use safetensors::tensor::{Dtype, SafeTensorError, SafeTensors};
use serde::de::DeserializeOwned;
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

    /// Adds an array as f32, which halves its size, if every value is exactly representable, else as f64.
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

    pub(crate) fn u8(&mut self, name: &str, data: Vec<u8>) {
        self.tensors.push(Tensor { name: name.into(), dtype: "U8", width: 1, shape: vec![data.len()], data });
    }

    /// Encodes the container: length of the header, header, data. The safetensors crate stores metadata in a hash map and
    /// therefore writes it in an order that changes from run to run; here the header is sorted.
    pub(crate) fn into_bytes(mut self, metadata: &[(&str, &str)]) -> Vec<u8> {
        // With wide values first, every array is aligned.
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

/// Arrays read from a file.
pub(crate) struct Loaded<'a> {
    tensors: SafeTensors<'a>,
    metadata: HashMap<String, String>,
    used: BTreeSet<String>,
    /// Kind of the file, for messages.
    what: &'static str,
}

type TensorResult<T> = Result<T, String>;

impl<'a> Loaded<'a> {
    /// Parses the arrays of a file of kind `what`.
    pub(crate) fn parse(bytes: &'a [u8], what: &'static str) -> TensorResult<Self> {
        let damaged = |e| match e {
            SafeTensorError::MetadataIncompleteBuffer => {
                "the length of the file differs from the one in its header".to_string()
            }
            e => e.to_string(),
        };
        let (_, header) = SafeTensors::read_metadata(bytes).map_err(damaged)?;
        let tensors = SafeTensors::deserialize(bytes).map_err(damaged)?;
        let metadata = header.metadata().clone().unwrap_or_default();
        Ok(Self { tensors, metadata, used: BTreeSet::new(), what })
    }

    pub(crate) fn metadata(&self, key: &str) -> Option<&str> {
        self.metadata.get(key).map(String::as_str)
    }

    /// Decodes the description in the metadata.
    pub(crate) fn description<T: DeserializeOwned>(&self) -> TensorResult<T> {
        let text = self.metadata("description").ok_or("its description is missing")?;
        serde_json::from_str(text)
            .map_err(|e| format!("the description of the {} is damaged: {e}", self.what))
    }

    fn get(&mut self, name: &str, rank: usize) -> TensorResult<(Dtype, Vec<usize>, &'a [u8])> {
        let view = self.tensors.tensor(name).map_err(|_| format!("tensor {name} is missing"))?;
        if view.shape().len() != rank {
            return Err(format!("tensor {name} has {} dimensions instead of {rank}", view.shape().len()));
        }
        self.used.insert(name.to_string());
        Ok((view.dtype(), view.shape().to_vec(), view.data()))
    }

    /// Shape and values of an array of f64, or of f32 converted to f64.
    pub(crate) fn f64(&mut self, name: &str, rank: usize) -> TensorResult<(Vec<usize>, Vec<f64>)> {
        let (dtype, shape, data) = self.get(name, rank)?;
        let values = match dtype {
            Dtype::F64 => data.as_chunks().0.iter().map(|c| f64::from_le_bytes(*c)).collect(),
            Dtype::F32 => data.as_chunks().0.iter().map(|c| f64::from(f32::from_le_bytes(*c))).collect(),
            other => return Err(format!("tensor {name} has values of type {other} instead of F64")),
        };
        Ok((shape, values))
    }

    /// Values of a vector of u64.
    pub(crate) fn u64(&mut self, name: &str) -> TensorResult<Vec<usize>> {
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

    /// Values of a vector of u32.
    pub(crate) fn u32(&mut self, name: &str) -> TensorResult<Vec<u32>> {
        let (dtype, _, data) = self.get(name, 1)?;
        if dtype != Dtype::U32 {
            return Err(format!("tensor {name} has values of type {dtype} instead of U32"));
        }
        Ok(data.as_chunks().0.iter().map(|c| u32::from_le_bytes(*c)).collect())
    }

    /// Values of a vector of bytes.
    pub(crate) fn u8(&mut self, name: &str) -> TensorResult<&'a [u8]> {
        let (dtype, _, data) = self.get(name, 1)?;
        if dtype != Dtype::U8 {
            return Err(format!("tensor {name} has values of type {dtype} instead of U8"));
        }
        Ok(data)
    }

    /// Returns an error for unknown arrays, because ignoring them would load a different model.
    pub(crate) fn refuse_unused(&self) -> TensorResult<()> {
        let mut names = self.tensors.names();
        names.sort_unstable();
        match names.into_iter().find(|n| !self.used.contains(*n)) {
            None => Ok(()),
            Some(name) => {
                Err(format!("tensor '{}' is not part of this {}", excerpt(name.as_bytes()), self.what))
            }
        }
    }
}
