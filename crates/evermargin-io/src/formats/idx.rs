//! IDX arrays, the format of MNIST: two zero bytes, the type, the rank, big-endian sizes, then the values.

use crate::error::{Error, Result};
use crate::formats::npy::token;
use crate::limits::Limits;
use crate::remedy::Message;
use evermargin::data::Matrix;
use std::path::{Path, PathBuf};

/// Whether bytes begin like an IDX array.
pub(crate) fn is_idx(bytes: &[u8]) -> bool {
    matches!(bytes, [0, 0, kind, rank, ..] if width(*kind).is_some() && (1..=8).contains(rank))
}

/// Reads an array of rank 2 or more as a matrix with one row per sample; the other dimensions are flattened.
pub(crate) fn read_matrix(file: &str, bytes: &[u8], limits: &Limits) -> Result<Matrix> {
    let wrong = |what: Message| Error::content(file, what);
    let array = Array::parse(bytes).map_err(|what| wrong(what.into()))?;
    let (rows, cols) = match array.shape[..] {
        [rows, ref rest @ ..] if !rest.is_empty() => {
            (rows, rest.iter().fold(1, |n: usize, d| n.saturating_mul(*d)))
        }
        _ => return Err(wrong("the IDX array has one dimension: these are labels, name the images".into())),
    };
    let cells = limits.check_array(rows, cols).map_err(wrong)?;
    let mut values = limits.vector(cells).map_err(wrong)?;
    values.extend((0..cells).map(|i| array.number(i)));
    Matrix::dense(values, rows, cols).map_err(|e| wrong(e.to_string().into()))
}

/// Reads the label tokens of an array of rank 1.
pub(crate) fn read_labels(file: &str, bytes: &[u8], limits: &Limits) -> Result<Vec<String>> {
    let array = Array::parse(bytes).map_err(|what| Error::content(file, what))?;
    let [count] = array.shape[..] else {
        return Err(Error::content(file, "the IDX array has more than one dimension; labels have one"));
    };
    limits.check_shape(count, 1).map_err(|what| Error::content(file, what))?;
    Ok((0..count).map(|i| token(array.number(i))).collect())
}

/// Path of the file of labels next to a file of images, if it exists: `…images-idx3…` → `…labels-idx1…`.
pub(crate) fn sibling_labels(path: &Path) -> Option<PathBuf> {
    let name = path.file_name()?.to_str()?;
    let labels = name.replace("images-idx3", "labels-idx1").replace("images.idx3", "labels.idx1");
    if labels == name {
        return None;
    }
    let bare = [".gz", ".xz", ".zst"].iter().find_map(|s| labels.strip_suffix(s)).unwrap_or(&labels);
    [labels.clone(), bare.to_string(), format!("{bare}.gz"), format!("{bare}.xz"), format!("{bare}.zst")]
        .into_iter()
        .map(|n| path.with_file_name(n))
        .find(|p| p.is_file())
}

fn width(kind: u8) -> Option<usize> {
    match kind {
        0x08 | 0x09 => Some(1),
        0x0b => Some(2),
        0x0c | 0x0d => Some(4),
        0x0e => Some(8),
        _ => None,
    }
}

/// Array whose shape was checked against the number of bytes.
struct Array<'a> {
    kind: u8,
    size: usize,
    shape: Vec<usize>,
    data: &'a [u8],
}

impl<'a> Array<'a> {
    fn parse(bytes: &'a [u8]) -> std::result::Result<Self, String> {
        let [0, 0, kind, rank, rest @ ..] = bytes else { return Err("not an IDX array".into()) };
        let size = width(*kind).ok_or_else(|| format!("values of IDX type {kind:#04x} are not known"))?;
        let sizes = rest.get(..4 * usize::from(*rank)).ok_or("the IDX header ends too early")?;
        let data = &rest[sizes.len()..];
        let shape: Vec<usize> =
            sizes.chunks_exact(4).map(|c| c.iter().fold(0, |n, b| n << 8 | usize::from(*b))).collect();
        let needed = shape.iter().try_fold(size, |n, d| n.checked_mul(*d));
        if needed != Some(data.len()) {
            let spelled: Vec<String> = shape.iter().map(ToString::to_string).collect();
            return Err(format!(
                "the header declares {} values but {} bytes follow; the file is cut short or damaged",
                spelled.join(" x "),
                data.len()
            ));
        }
        Ok(Self { kind: *kind, size, shape, data })
    }

    fn number(&self, i: usize) -> f64 {
        let bits =
            self.data[i * self.size..(i + 1) * self.size].iter().fold(0u64, |n, b| n << 8 | u64::from(*b));
        match self.kind {
            0x09 => f64::from(bits as u8 as i8),
            0x0b => f64::from(bits as u16 as i16),
            0x0c => f64::from(bits as u32 as i32),
            0x0d => f64::from(f32::from_bits(bits as u32)),
            0x0e => f64::from_bits(bits),
            _ => bits as f64,
        }
    }
}
