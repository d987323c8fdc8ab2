//! Soft-TFIDF (Cohen, Ravikumar & Fienberg 2003): the cosine of two bags of words in which similar words match.
//!
//!     sim(S, T) = Σ_{w ∈ CLOSE(θ,S,T)} V(w,S)·V(w′,T)·jw(w,w′)
//!
//! CLOSE has the words of S for which some word of T has a Jaro–Winkler similarity jw above θ = 0.9, w′ is the most
//! similar one, and V(w,S) = log(tf+1)·log(idf), normalized to length 1 over S. Rare words have larger weights: of
//! "David Johnson" the last name, which all records of a block share, has little weight.
//!
//! Departures: the mean of both directions, because the sum is not symmetric, and at most 1, which the sum exceeds if
//! two words of S are similar to the same word of T.

use std::collections::BTreeMap;

/// Words with a larger similarity match.
pub const CLOSE: f64 = 0.9;

/// Words of a text: runs of letters and digits, in lower case.
pub fn words(text: &str) -> Vec<String> {
    let words = text.split(|c: char| !c.is_alphanumeric()).filter(|w| !w.is_empty());
    words.map(str::to_lowercase).collect()
}

/// Number of texts in which each word occurs.
#[derive(Debug, Clone, Default)]
pub struct Corpus {
    texts: usize,
    containing: BTreeMap<String, usize>,
}

/// The words of a text with weights whose squares sum to 1 (or are all 0).
pub type Bag = Vec<(String, f64)>;

impl Corpus {
    /// Counts the words of texts.
    pub fn new<'t>(texts: impl IntoIterator<Item = &'t str>) -> Self {
        let mut corpus = Self::default();
        for text in texts {
            let mut words = words(text);
            words.sort_unstable();
            words.dedup();
            corpus.texts += 1;
            words.into_iter().for_each(|w| *corpus.containing.entry(w).or_default() += 1);
        }
        corpus
    }

    /// log(texts / texts with the word); an unknown word counts as if it occurred in one text.
    fn log_idf(&self, word: &str) -> f64 {
        let containing = self.containing.get(word).copied().unwrap_or(1);
        (self.texts.max(1) as f64 / containing as f64).ln()
    }

    /// The weighted bag of words of a text.
    pub fn bag(&self, text: &str) -> Bag {
        let mut count: BTreeMap<String, f64> = BTreeMap::new();
        words(text).into_iter().for_each(|w| *count.entry(w).or_default() += 1.0);
        let weigh = |(word, tf): (String, f64)| {
            let weight = (tf + 1.0).ln() * self.log_idf(&word);
            (word, weight)
        };
        let mut bag: Bag = count.into_iter().map(weigh).collect();
        let length = bag.iter().map(|(_, v)| v * v).sum::<f64>().sqrt();
        if length > 0.0 {
            bag.iter_mut().for_each(|(_, v)| *v /= length);
        }
        bag
    }
}

/// Similarity of two bags, symmetric and in [0, 1].
pub fn similarity(a: &Bag, b: &Bag) -> f64 {
    // the mean of both directions; the sum does not depend on the order of the arguments
    (0.5 * (directed(a, b) + directed(b, a))).min(1.0)
}

/// The sum over the words of `a`.
fn directed(a: &Bag, b: &Bag) -> f64 {
    a.iter().map(|(word, v)| closest(word, b).map_or(0.0, |(jw, u)| v * u * jw)).sum()
}

/// Similarity and weight of the most similar word, if it matches; ties go to the largest weight.
fn closest(word: &str, bag: &Bag) -> Option<(f64, f64)> {
    let near = bag.iter().map(|(other, v)| (jaro_winkler(word, other), *v)).filter(|(jw, _)| *jw > CLOSE);
    near.max_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)))
}

/// Same as in `strsim`, with a shortcut for words that are equal or cannot match: s matches in words of m and n letters
/// give at most (s/m + s/n + 1)/3 before the prefix bonus, and s ≤ min(m, n).
fn jaro_winkler(a: &str, b: &str) -> f64 {
    if a == b {
        return 1.0;
    }
    let (short, long) = (a.len().min(b.len()) as f64, a.len().max(b.len()) as f64);
    let bound = (2.0 + short / long) / 3.0;
    let cannot_match = a.is_ascii() && b.is_ascii() && bound + 0.4 * (1.0 - bound) <= CLOSE;
    if cannot_match { 0.0 } else { strsim::jaro_winkler(a, b) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Four texts: "smith" in all, "john" in two, "jane" and "mary" in one each.
    fn corpus() -> Corpus {
        Corpus::new(["John Smith", "John Smith", "Jane Smith", "Mary Smith"])
    }

    #[test]
    fn weights_are_normalized_logarithms() {
        // smith: ln(4/4) = 0, john: ln 2 · ln 2, mary: ln 2 · ln 4 = 2 (ln 2)²: 1/√5 and 2/√5 of the length
        let bag = corpus().bag("Mary John Smith");
        let expected = [("john", 1.0 / 5.0_f64.sqrt()), ("mary", 2.0 / 5.0_f64.sqrt()), ("smith", 0.0)];
        for ((word, v), (expected, e)) in bag.iter().zip(expected) {
            assert_eq!(word, expected);
            assert!((v - e).abs() < 1e-12);
        }
    }

    #[test]
    fn similarity_of_a_typo_is_its_jaro_winkler_similarity() {
        let corpus = corpus();
        // jon ~ john: 3 matches, jaro = (3/3 + 3/4 + 1)/3 = 11/12, prefix "jo": + 2·0.1·(1/12) = 14/15
        let jw = 14.0 / 15.0;
        let s = similarity(&corpus.bag("Jon Smith"), &corpus.bag("John Smith"));
        assert!((s - jw).abs() < 1e-12, "{s}");
        // mary alone agrees: (2/√5)·1·1 against a bag of one word
        let s = similarity(&corpus.bag("Mary John"), &corpus.bag("Mary Smith"));
        assert!((s - 2.0 / 5.0_f64.sqrt()).abs() < 1e-12, "{s}");
        assert_eq!(similarity(&corpus.bag("Mary"), &corpus.bag("John")), 0.0);
        assert_eq!(similarity(&corpus.bag(""), &corpus.bag("John")), 0.0);
    }

    #[test]
    fn similarity_is_symmetric_within_bounds_and_1_for_equal_texts() {
        let texts = [
            "Jon John Smith",
            "John Smith",
            "Johnn Joh John",
            "M. Smith",
            "Mary Marry Mari",
            "Jane",
            "smith",
            "",
        ];
        let corpus = Corpus::new(texts);
        for a in texts {
            let s = corpus.bag(a);
            assert!(a.is_empty() || (similarity(&s, &s) - 1.0).abs() < 1e-12, "{a}");
            for b in texts {
                let t = corpus.bag(b);
                assert_eq!(similarity(&s, &t), similarity(&t, &s), "{a}, {b}");
                assert!((0.0..=1.0).contains(&similarity(&s, &t)), "{a}, {b}");
            }
        }
    }

    #[test]
    fn jaro_winkler_shortcut_agrees_with_strsim() {
        let all = [
            "a",
            "ab",
            "chun",
            "ching",
            "chen",
            "cheng",
            "jonathan",
            "john",
            "jo",
            "university",
            "univ",
            "mary",
        ];
        for a in all {
            for b in all {
                let (short, long) = (jaro_winkler(a, b), strsim::jaro_winkler(a, b));
                assert!(short == long || (short == 0.0 && long <= CLOSE), "{a}, {b}: {short}, {long}");
            }
        }
    }
}
