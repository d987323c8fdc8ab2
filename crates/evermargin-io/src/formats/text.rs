//! Raw text as features: hashed words, weighted by tf-idf and normalized to unit length.
//!
//! Words are runs of letters and digits (Unicode) in lower case. The bucket of a word, one of 2^b, is the 64-bit FNV-1a hash
//! of its UTF-8 bytes, folded to b bits by exclusive or (Fowler, Noll & Vo). It is the same on every machine, so no
//! vocabulary is stored. If bucket j occurs t times in a document, feature j is
//!
//! ```text
//! (1 + ln t) · idf_j,   idf_j = 1 + ln((1 + n) / (1 + n_j)),
//! ```
//!
//! divided by the Euclidean norm of all features. n_j is the number of documents with bucket j among the n documents from
//! which the column was built (Salton & Buckley 1988, with the smoothing of scikit-learn, so that unseen buckets have a
//! weight, too). The document frequencies are fixed by the training data, so a model encodes new documents in the
//! same way. A document without words
//! is a row of zeros.

use evermargin::model::Column;

/// Default number of buckets.
pub(crate) const BUCKETS: usize = 1 << 18;

/// Returns an error if the number of buckets is not a power of two from 2^4 to 2^24.
pub(crate) fn check_buckets(buckets: usize) -> Result<(), String> {
    if buckets.is_power_of_two() && (1 << 4..=1 << 24).contains(&buckets) {
        return Ok(());
    }
    Err(format!("{buckets} buckets of words; the number must be a power of two from 16 to 16777216"))
}

const OFFSET: u64 = 0xcbf2_9ce4_8422_2325;
const PRIME: u64 = 0x0000_0100_0000_01b3;

#[inline]
fn hashed(hash: u64, byte: u8) -> u64 {
    (hash ^ u64::from(byte)).wrapping_mul(PRIME)
}

/// Calls `f` with the hash of each word.
fn words(text: &str, mut f: impl FnMut(u64)) {
    let bytes = text.as_bytes();
    let (mut at, mut hash, mut inside) = (0, OFFSET, false);
    while at < bytes.len() {
        let byte = bytes[at];
        if byte.is_ascii_alphanumeric() {
            hash = hashed(hash, byte.to_ascii_lowercase());
            inside = true;
            at += 1;
            continue;
        }
        // A non-ASCII character begins at `at`, because only whole characters were consumed before.
        let wide = if byte < 0x80 { None } else { text[at..].chars().next() };
        at += wide.map_or(1, char::len_utf8);
        if let Some(c) = wide.filter(|c| c.is_alphanumeric()) {
            let mut buffer = [0; 4];
            for lower in c.to_lowercase() {
                hash = lower.encode_utf8(&mut buffer).bytes().fold(hash, hashed);
            }
            inside = true;
        } else {
            if inside {
                f(hash);
            }
            (hash, inside) = (OFFSET, false);
        }
    }
    if inside {
        f(hash);
    }
}

/// Counter of the words of one document at a time, by bucket.
struct Counter {
    bits: u32,
    /// Number of occurrences of each bucket in the current document; all zero between documents.
    times: Vec<u32>,
    /// Buckets that occur in the current document.
    present: Vec<u32>,
}

impl Counter {
    fn new(buckets: usize) -> Self {
        Self { bits: buckets.trailing_zeros(), times: vec![0; buckets], present: Vec::new() }
    }

    /// Calls `f(bucket, times)` for the buckets of a document in ascending order.
    fn document(&mut self, text: &str, mut f: impl FnMut(u32, u32)) {
        let mask = (1u64 << self.bits) - 1;
        words(text, |hash| {
            let bucket = ((hash >> self.bits) ^ hash) & mask;
            let times = &mut self.times[bucket as usize];
            if *times == 0 {
                self.present.push(bucket as u32);
            }
            *times = times.saturating_add(1);
        });
        self.present.sort_unstable();
        for bucket in self.present.drain(..) {
            f(bucket, std::mem::take(&mut self.times[bucket as usize]));
        }
    }
}

/// Number of documents in which each bucket occurs.
pub(crate) struct Frequencies {
    counter: Counter,
    documents: u32,
    holding: Vec<u32>,
}

impl Frequencies {
    pub(crate) fn new(buckets: usize) -> Self {
        Self { counter: Counter::new(buckets), documents: 0, holding: vec![0; buckets] }
    }

    pub(crate) fn add(&mut self, text: &str) {
        // Counting ends after four billion documents, when weights hardly change.
        if self.documents < u32::MAX {
            self.documents += 1;
            self.counter.document(text, |bucket, _| self.holding[bucket as usize] += 1);
        }
    }

    pub(crate) fn column(self, name: String) -> Column {
        let counted = self.holding.iter().enumerate().filter(|(_, n)| **n > 0);
        Column::Text {
            name,
            buckets: self.holding.len() as u32,
            documents: self.documents,
            frequency: counted.map(|(bucket, n)| (bucket as u32, *n)).collect(),
        }
    }
}

/// Encoder of documents with constant counts.
pub(crate) struct Weights {
    counter: Counter,
    idf: Vec<f64>,
}

impl Weights {
    pub(crate) fn new(buckets: u32, documents: u32, frequency: &[(u32, u32)]) -> Self {
        let rarity = |n: u32| 1.0 + ((1.0 + f64::from(documents)) / (1.0 + f64::from(n))).ln();
        let mut idf = vec![rarity(0); buckets as usize];
        for &(bucket, n) in frequency {
            if let Some(weight) = idf.get_mut(bucket as usize) {
                *weight = rarity(n);
            }
        }
        Self { counter: Counter::new(buckets as usize), idf }
    }

    /// Appends the features of a document, columns counted from `first`.
    pub(crate) fn code(&mut self, text: &str, first: usize, indices: &mut Vec<u32>, values: &mut Vec<f64>) {
        let start = values.len();
        let mut squared = 0.0;
        self.counter.document(text, |bucket, times| {
            let tf = if times == 1 { 1.0 } else { 1.0 + f64::from(times).ln() };
            let value = tf * self.idf[bucket as usize];
            squared += value * value;
            indices.push((first + bucket as usize) as u32);
            values.push(value);
        });
        let length = f64::sqrt(squared);
        values[start..].iter_mut().for_each(|v| *v /= length);
    }
}

#[cfg(test)]
mod tests {
    use super::{Frequencies, OFFSET, Weights, check_buckets, hashed, words};
    use evermargin::model::Column;
    use proptest::prelude::*;

    fn hashes(text: &str) -> Vec<u64> {
        let mut out = Vec::new();
        words(text, |h| out.push(h));
        out
    }

    #[test]
    fn computes_published_hashes() {
        // From the tables of draft-eastlake-fnv.
        assert_eq!(hashes("a"), [0xaf63_dc4c_8601_ec8c]);
        assert_eq!(hashes("foobar"), [0x8594_4171_f739_67e8]);
        assert_eq!(hashes("Foobar, A!"), [0x8594_4171_f739_67e8, 0xaf63_dc4c_8601_ec8c]);
    }

    #[test]
    fn splits_words_of_all_scripts() {
        let of = |word: &str| word.bytes().fold(OFFSET, hashed);
        assert_eq!(
            hashes("Émile's ÅNGSTRÖM—42x\u{a0}Ωμέγα"),
            [of("émile"), of("s"), of("ångström"), of("42x"), of("ωμέγα")]
        );
        assert_eq!(hashes("東京 is 東京"), [of("東京"), of("is"), of("東京")]);
        assert!(hashes(" -- \u{1f600}!").is_empty());
    }

    #[test]
    fn refuses_invalid_numbers_of_buckets() {
        assert!(check_buckets(1 << 18).is_ok() && check_buckets(16).is_ok());
        for wrong in [0, 8, 1000, 1 << 25] {
            assert!(check_buckets(wrong).is_err(), "{wrong}");
        }
    }

    proptest! {
        /// Compares with a direct implementation that splits the text by characters and hashes each word in lower case.
        #[test]
        fn splits_words_like_character_split(text in "[a-zA-Z0-9 .,éÉßİ東\u{300}\n-]{0,40}") {
            let mut expected = Vec::new();
            for word in text.split(|c: char| !c.is_alphanumeric()).filter(|w| !w.is_empty()) {
                let lower: String = word.chars().flat_map(char::to_lowercase).collect();
                expected.push(lower.bytes().fold(OFFSET, hashed));
            }
            prop_assert_eq!(hashes(&text), expected);
        }

        #[test]
        fn encodes_rows_with_unit_length(texts in prop::collection::vec("[a-f ]{0,30}", 1..8)) {
            let mut seen = Frequencies::new(64);
            texts.iter().for_each(|t| seen.add(t));
            let Column::Text { buckets, documents, frequency, .. } = seen.column("t".into()) else {
                unreachable!()
            };
            let mut weights = Weights::new(buckets, documents, &frequency);
            for text in &texts {
                let (mut indices, mut values) = (Vec::new(), Vec::new());
                weights.code(text, 5, &mut indices, &mut values);
                prop_assert!(indices.windows(2).all(|w| w[0] < w[1]) && indices.iter().all(|i| *i >= 5));
                let squared: f64 = values.iter().map(|v| v * v).sum();
                prop_assert!(values.is_empty() || (squared - 1.0).abs() < 1e-12);
            }
        }
    }
}
