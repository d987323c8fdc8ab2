//! NumPy arrays: `.npy` (format versions 1 to 3). The header is a short Python literal, of which only the three keys that
//! NumPy writes are read. Nothing is allocated before the shape was checked against the number of bytes.

use crate::error::{Error, Result, excerpt};
use crate::formats::number;
use crate::limits::Limits;
use crate::remedy::{Limit, Message};
use evermargin::data::Matrix;

const MAGIC: &[u8] = b"\x93NUMPY";
const MAX_HEADER: usize = 1 << 16;

/// Whether bytes begin like a `.npy` file.
pub(crate) fn is_npy(bytes: &[u8]) -> bool {
    bytes.starts_with(MAGIC)
}

/// Reads the matrix of a two-dimensional `.npy` file.
pub(crate) fn read_matrix(file: &str, bytes: &[u8], limits: &Limits) -> Result<Matrix> {
    Array::parse(bytes).and_then(|a| a.matrix(limits)).map_err(|what| Error::content(file, what))
}

/// Reads the labels of a one-dimensional `.npy` file as tokens.
pub(crate) fn read_labels(file: &str, bytes: &[u8], limits: &Limits) -> Result<Vec<String>> {
    Array::parse(bytes).and_then(|a| a.tokens(limits)).map_err(|what| Error::content(file, what))
}

/// Array in the bytes of a file; the shape was checked against the length of `data`.
pub(crate) struct Array<'a> {
    kind: u8,
    size: usize,
    big_endian: bool,
    fortran: bool,
    pub(crate) shape: Vec<usize>,
    data: &'a [u8],
}

type Parsed<T> = std::result::Result<T, Message>;

impl<'a> Array<'a> {
    /// Parses the header and checks the shape against the bytes after it.
    pub(crate) fn parse(bytes: &'a [u8]) -> Parsed<Self> {
        let body = bytes.strip_prefix(MAGIC).ok_or("not a .npy array")?;
        let (header, data) = match body {
            [1, _, a, b, rest @ ..] => (usize::from(u16::from_le_bytes([*a, *b])), rest),
            [2 | 3, _, a, b, c, d, rest @ ..] => (u32::from_le_bytes([*a, *b, *c, *d]) as usize, rest),
            [version, _, ..] => {
                return Err(
                    format!(".npy version {version} is not known; save it again with numpy.save").into()
                );
            }
            _ => return Err("the .npy header ends too early".into()),
        };
        if header > data.len() || header > MAX_HEADER {
            return Err("the .npy header ends too early".into());
        }
        let (header, data) = data.split_at(header);
        let text = std::str::from_utf8(header).map_err(|_| "the .npy header is not text")?;
        let descr = value_of(text, "descr")?;
        let (kind, size, big_endian) = dtype(descr)?;
        let fortran = match value_of(text, "fortran_order")? {
            t if t.starts_with("True") => true,
            t if t.starts_with("False") => false,
            _ => return Err("fortran_order in the .npy header is neither True nor False".into()),
        };
        let shape = tuple(value_of(text, "shape")?)?;
        let needed = shape.iter().try_fold(size, |n, d| n.checked_mul(*d));
        if needed.is_none_or(|n| n > data.len()) {
            return Err(format!(
                "the header declares an array of shape {} but only {} bytes follow; the file is cut short or damaged",
                shape_text(&shape),
                data.len()
            ).into());
        }
        Ok(Self { kind, size, big_endian, fortran, shape, data })
    }

    /// Converts the array to a matrix with one row per sample.
    pub(crate) fn matrix(&self, limits: &Limits) -> Parsed<Matrix> {
        let [rows, cols] = self.shape[..] else {
            return Err(format!(
                "the array has shape {}; two dimensions are needed, one row per sample (reshape it with numpy)",
                shape_text(&self.shape)
            )
            .into());
        };
        self.numeric()?;
        let cells = limits.check_array(rows, cols)?;
        let mut values = limits.vector(cells)?;
        if self.fortran {
            for i in 0..rows {
                values.extend((0..cols).map(|j| self.number(j * rows + i)));
            }
        } else {
            values.extend((0..cells).map(|i| self.number(i)));
        }
        Matrix::dense(values, rows, cols).map_err(|e| e.to_string().into())
    }

    /// Converts the array to label tokens; NaN means no label.
    pub(crate) fn tokens(&self, limits: &Limits) -> Parsed<Vec<String>> {
        let count = self.vector("labels", limits)?;
        limits.check_memory(count.saturating_mul(size_of::<String>() + self.size))?;
        if self.size > 0 && matches!(self.kind, b'U' | b'S') {
            return Ok(self.data.chunks_exact(self.size).take(count).map(|c| self.text(c)).collect());
        }
        self.numeric()?;
        Ok((0..count).map(|i| token(self.number(i))).collect())
    }

    /// Converts the array to a vector of whole numbers.
    pub(crate) fn whole_numbers(&self, what: &str, limits: &Limits) -> Parsed<Vec<usize>> {
        let count = self.vector(what, limits)?;
        self.numeric()?;
        limits.check_memory(count.saturating_mul(8))?;
        let number = |i| {
            let value = self.number(i);
            if value >= 0.0 && value <= (1u64 << 53) as f64 && value.fract() == 0.0 {
                Ok(value as usize)
            } else {
                Err(format!("{what} holds {value}; whole numbers from 0 are needed").into())
            }
        };
        (0..count).map(number).collect()
    }

    /// Converts the array to a vector of numbers.
    pub(crate) fn numbers(&self, what: &str, limits: &Limits) -> Parsed<Vec<f64>> {
        let count = self.vector(what, limits)?;
        self.numeric()?;
        let mut numbers = limits.vector(count)?;
        numbers.extend((0..count).map(|i| self.number(i)));
        Ok(numbers)
    }

    /// Text of an array of one string (`format` of a SciPy archive).
    pub(crate) fn single_text(&self) -> String {
        self.text(self.data.get(..self.size).unwrap_or_default())
    }

    fn vector(&self, what: &str, limits: &Limits) -> Parsed<usize> {
        match self.shape[..] {
            [count] | [count, 1] if count <= limits.max_cells => Ok(count),
            [count] | [count, 1] => Err(crate::limits::over(count, "values", limits.max_cells, Limit::Cells)),
            _ => Err(format!(
                "{what}: the array has shape {}; one dimension is needed",
                shape_text(&self.shape)
            )
            .into()),
        }
    }

    fn numeric(&self) -> Parsed<()> {
        match (self.kind, self.size) {
            (b'f', 2 | 4 | 8) | (b'i' | b'u', 1 | 2 | 4 | 8) | (b'b', 1) => Ok(()),
            (b'U' | b'S', _) => Err("the array holds text; numbers are needed".into()),
            (kind, size) => Err(format!(
                "values of type {}{size} are not supported; convert them with numpy's astype('float64')",
                kind as char
            )
            .into()),
        }
    }

    fn number(&self, i: usize) -> f64 {
        let mut raw = [0u8; 8];
        let cell = &self.data[i * self.size..(i + 1) * self.size];
        raw[..self.size].copy_from_slice(cell);
        if self.big_endian {
            raw[..self.size].reverse();
        }
        let bits = u64::from_le_bytes(raw);
        match (self.kind, self.size) {
            (b'f', 2) => half(bits as u16),
            (b'f', 4) => f64::from(f32::from_bits(bits as u32)),
            (b'f', _) => f64::from_bits(bits),
            (b'i', 1) => f64::from(bits as u8 as i8),
            (b'i', 2) => f64::from(bits as u16 as i16),
            (b'i', 4) => f64::from(bits as u32 as i32),
            (b'i', _) => bits as i64 as f64,
            _ => bits as f64,
        }
    }

    fn text(&self, cell: &[u8]) -> String {
        let text = if self.kind == b'U' {
            let code = |c: &[u8]| match *c {
                [a, b, c, d] if self.big_endian => u32::from_be_bytes([a, b, c, d]),
                [a, b, c, d] => u32::from_le_bytes([a, b, c, d]),
                _ => 0,
            };
            cell.chunks_exact(4).filter_map(|c| char::from_u32(code(c))).collect()
        } else {
            String::from_utf8_lossy(cell).into_owned()
        };
        text.trim_end_matches('\0').to_string()
    }
}

/// Text of a numeric label; `?` for NaN, by which some libraries mark a missing label.
pub(crate) fn token(value: f64) -> String {
    if value.is_nan() {
        return "?".into();
    }
    let mut out = Vec::new();
    number::write(&mut out, value);
    String::from_utf8(out).unwrap_or_default()
}

fn value_of<'t>(header: &'t str, key: &str) -> Parsed<&'t str> {
    let at = header
        .find(&format!("'{key}':"))
        .map(|at| at + key.len() + 3)
        .ok_or_else(|| format!("the .npy header has no {key}"))?;
    Ok(header[at..].trim_start())
}

/// Kind, size in bytes and byte order of a type such as `'<f8'`.
fn dtype(descr: &str) -> Parsed<(u8, usize, bool)> {
    let unknown = || {
        let name = descr.strip_prefix('\'').and_then(|t| t.split_once('\'')).map_or("a record", |t| t.0);
        let kind = if name.trim_start_matches(['|', '<', '>', '=']).starts_with('O') {
            "pickled objects"
        } else {
            name
        };
        format!(
            "values of type {} are not supported; convert them with numpy's astype('float64')",
            excerpt(kind.as_bytes())
        )
    };
    let name = descr.strip_prefix('\'').and_then(|t| t.split_once('\'')).ok_or_else(unknown)?.0;
    let (order, rest) = match name.as_bytes() {
        [order @ (b'<' | b'>' | b'|' | b'='), rest @ ..] => (*order, rest),
        rest => (b'=', rest),
    };
    let [kind, digits @ ..] = rest else { return Err(unknown().into()) };
    let size: usize = std::str::from_utf8(digits).ok().and_then(|t| t.parse().ok()).ok_or_else(unknown)?;
    match kind {
        b'f' | b'i' | b'u' | b'b' if size <= 8 => Ok((*kind, size, order == b'>')),
        b'S' if size <= MAX_HEADER => Ok((*kind, size, false)),
        b'U' if size <= MAX_HEADER => Ok((*kind, size * 4, order == b'>')),
        _ => Err(unknown().into()),
    }
}

fn tuple(text: &str) -> Parsed<Vec<usize>> {
    let bad = || "the .npy header does not give a shape".to_string();
    let inner = text.strip_prefix('(').and_then(|t| t.split_once(')')).ok_or_else(bad)?.0;
    let parts: Vec<&str> = inner.split(',').map(str::trim).filter(|p| !p.is_empty()).collect();
    if parts.len() > 32 {
        return Err(bad().into());
    }
    parts.iter().map(|p| p.trim_end_matches('L').parse().map_err(|_| bad().into())).collect()
}

fn shape_text(shape: &[usize]) -> String {
    let parts: Vec<String> = shape.iter().map(ToString::to_string).collect();
    format!("({})", parts.join(", "))
}

/// Value of an IEEE 754 half-precision number.
fn half(bits: u16) -> f64 {
    let sign = if bits >> 15 == 1 { -1.0 } else { 1.0 };
    let (exponent, fraction) = (i32::from(bits >> 10 & 31), f64::from(bits & 1023));
    sign * match exponent {
        0 => fraction * 2f64.powi(-24),
        31 if fraction == 0.0 => f64::INFINITY,
        31 => f64::NAN,
        e => (1.0 + fraction / 1024.0) * 2f64.powi(e - 15),
    }
}

#[cfg(test)]
mod tests {
    use super::half;

    #[test]
    fn decodes_half_precision() {
        assert_eq!(half(0x3c00), 1.0);
        assert_eq!(half(0xc000), -2.0);
        assert_eq!(half(0x0001), 2f64.powi(-24));
        assert_eq!(half(0x7bff), 65504.0);
        assert!(half(0x7e00).is_nan());
    }
}
