//! Converts texts to tf·idf vectors of length 1, with stop words and optional stemming.

use super::porter::stem;
use crate::failure::Result;
use evermargin::Matrix;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

/// Stop words.
const STOP_WORDS: &str = include_str!("stop_words.txt");

/// Selection of the words that become terms.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Recipe {
    /// Minimum number of letters.
    pub min_letters: usize,
    /// Minimum number of training documents with the word.
    pub min_documents: usize,
    /// Whether words with the same stem are one term.
    pub stems: bool,
}

impl Recipe {
    /// Words of a text: runs of letters in lower case without stop words.
    fn words(self, text: &str) -> impl Iterator<Item = String> {
        let runs = text
            .split(|c: char| !c.is_ascii_alphabetic())
            .filter(move |w| w.len() >= self.min_letters.max(1));
        let kept = runs.map(str::to_ascii_lowercase).filter(|w| !is_stop_word(w));
        kept.map(move |w| if self.stems { stem(&w) } else { w })
    }
}

fn is_stop_word(word: &str) -> bool {
    static WORDS: LazyLock<BTreeSet<&str>> = LazyLock::new(|| STOP_WORDS.split_whitespace().collect());
    WORDS.contains(word)
}

/// Terms of a collection with their weights.
#[derive(Debug, Clone)]
pub(crate) struct Vocabulary {
    recipe: Recipe,
    column: BTreeMap<String, (u32, f64)>,
}

impl Vocabulary {
    /// Terms of the training texts in alphabetical order; the weight of a term is ln(texts / texts with the term).
    pub(crate) fn of<'t>(texts: impl Iterator<Item = &'t str>, recipe: Recipe) -> Self {
        let mut frequency: BTreeMap<String, usize> = BTreeMap::new();
        let mut count = 0usize;
        for text in texts {
            count += 1;
            let distinct: BTreeSet<String> = recipe.words(text).collect();
            distinct.into_iter().for_each(|w| *frequency.entry(w).or_default() += 1);
        }
        let kept = frequency.into_iter().filter(|(_, n)| *n >= recipe.min_documents);
        let weight = |n: usize| (count as f64 / n as f64).ln();
        let column = kept.enumerate().map(|(c, (w, n))| (w, (c as u32, weight(n)))).collect();
        Self { recipe, column }
    }

    /// Number of terms.
    pub(crate) fn len(&self) -> usize {
        self.column.len()
    }

    /// One row per text: (1 + ln count) · weight, scaled to length 1 (a text without terms is a row of zeros).
    pub(crate) fn rows<'t>(&self, texts: impl Iterator<Item = &'t str>) -> Result<Matrix> {
        let (mut indptr, mut indices, mut values) = (vec![0], Vec::new(), Vec::new());
        for text in texts {
            let mut row: BTreeMap<u32, (f64, f64)> = BTreeMap::new();
            for word in self.recipe.words(text) {
                if let Some((column, weight)) = self.column.get(&word) {
                    row.entry(*column).or_insert((0.0, *weight)).0 += 1.0;
                }
            }
            let row = row.into_iter().map(|(column, (count, weight))| (column, (1.0 + count.ln()) * weight));
            let row: Vec<(u32, f64)> = row.filter(|(_, v)| *v > 0.0).collect();
            let length = row.iter().map(|(_, v)| v * v).sum::<f64>().sqrt();
            for (column, value) in row {
                indices.push(column);
                values.push(value / length);
            }
            indptr.push(indices.len());
        }
        Ok(Matrix::csr(indptr, indices, values, self.len())?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RECIPE: Recipe = Recipe { min_letters: 2, min_documents: 2, stems: false };

    #[test]
    fn texts_become_unit_rows() {
        let texts = ["The wheat, wheat and CORN!", "corn 12 oil", "oil of wheat; a tanker", "ship"];
        let terms = Vocabulary::of(texts.into_iter(), RECIPE);
        assert_eq!(terms.column.keys().collect::<Vec<_>>(), ["corn", "oil", "wheat"]);
        let rows = terms.rows(texts.into_iter()).unwrap();
        assert_eq!((rows.rows(), rows.cols()), (4, 3));
        for i in 0..3 {
            assert!((rows.view().row(i).norm2() - 1.0).abs() < 1e-12);
        }
        assert_eq!(rows.view().row(3).norm2(), 0.0);
        let mut first = Vec::new();
        rows.view().row(0).for_each(|c, v| first.push((c, v)));
        assert_eq!(first.iter().map(|f| f.0).collect::<Vec<_>>(), [0, 2]);
        assert!((first[1].1 / first[0].1 - (1.0 + 2f64.ln())).abs() < 1e-12);
    }

    #[test]
    fn words_with_the_same_stem_are_one_term() {
        let texts = ["Grown rates rated at 12", "the rate in 12 ships, grown", "ships shipping"];
        let recipe = Recipe { stems: true, ..RECIPE };
        let terms = Vocabulary::of(texts.into_iter(), recipe);
        assert_eq!(terms.column.keys().collect::<Vec<_>>(), ["grown", "rate", "ship"]);
        let rows = terms.rows(texts.into_iter()).unwrap();
        let mut first = Vec::new();
        rows.view().row(0).for_each(|c, v| first.push((c, v)));
        assert_eq!(first.iter().map(|f| f.0).collect::<Vec<_>>(), [0, 1]);
        assert!((first[1].1 / first[0].1 - (1.0 + 2f64.ln())).abs() < 1e-12);
    }
}
