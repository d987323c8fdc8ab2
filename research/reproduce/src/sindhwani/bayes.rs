//! Naive Bayes on word counts, alone and in co-training (Blum & Mitchell 1998); the source quotes its results.

use super::many::Draw;
use evermargin::MatrixView;
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_pcg::Pcg64;

/// Number of rounds of co-training, of candidate pages per round, and of pages per class that a view labels in a round.
const ROUNDS: usize = 30;
const SEEN: usize = 75;
const LABELED: [usize; 2] = [3, 1];

/// Log odds of class 1 for all rows, from the words of labeled rows with Laplace smoothing (one more count per word).
fn odds(counts: MatrixView<'_>, known: &[(usize, u32)]) -> Vec<f64> {
    let mut words = [vec![1.0; counts.cols()], vec![1.0; counts.cols()]];
    let mut rows = [1.0_f64, 1.0];
    for &(i, class) in known {
        rows[class as usize] += 1.0;
        counts.row(i).for_each(|c, v| words[class as usize][c] += v);
    }
    let total: [f64; 2] = [0, 1].map(|c: usize| words[c].iter().sum());
    let prior = (rows[1] / rows[0]).ln();
    let weight: Vec<f64> = words[0]
        .iter()
        .zip(&words[1])
        .map(|(no, yes)| (yes / total[1]).ln() - (no / total[0]).ln())
        .collect();
    let one = |i: usize| {
        let mut sum = prior;
        counts.row(i).for_each(|c, v| sum += v * weight[c]);
        sum
    };
    (0..counts.rows()).map(one).collect()
}

fn labels(draw: &Draw, class: &[u32]) -> Vec<(usize, u32)> {
    draw.known.iter().map(|&i| (i, class[i])).collect()
}

/// Scores from the words of one view and the labels.
pub(super) fn alone(counts: MatrixView<'_>, class: &[u32], draw: &Draw) -> Vec<f64> {
    odds(counts, &labels(draw, class))
}

/// Scores of the first view after co-training of both views.
pub(super) fn together(views: [MatrixView<'_>; 2], class: &[u32], draw: &Draw, seed: u64) -> Vec<f64> {
    let mut known = labels(draw, class);
    let mut open: Vec<usize> = (0..class.len()).filter(|i| !draw.known.contains(i)).collect();
    open.shuffle(&mut Pcg64::seed_from_u64(seed));
    let mut seen: Vec<usize> = open.split_off(open.len().saturating_sub(SEEN));
    for _ in 0..ROUNDS {
        let found = views.map(|v| odds(v, &known));
        for scores in &found {
            for (label, count) in LABELED.into_iter().enumerate() {
                let sign = if label == 1 { 1.0 } else { -1.0 };
                seen.sort_by(|&a, &b| (sign * scores[a]).total_cmp(&(sign * scores[b])).then(a.cmp(&b)));
                let surest = seen.split_off(seen.len().saturating_sub(count));
                known.extend(surest.into_iter().map(|i| (i, label as u32)));
            }
        }
        let more = SEEN.saturating_sub(seen.len()).min(open.len());
        seen.extend(open.split_off(open.len() - more));
    }
    odds(views[0], &known)
}

#[cfg(test)]
mod tests {
    use super::*;
    use evermargin::Matrix;

    #[test]
    fn odds_have_laplace_smoothing() {
        let x = Matrix::dense(vec![2.0, 0.0, 0.0, 1.0, 1.0, 1.0], 3, 2).unwrap();
        let found = odds(x.view(), &[(0, 1), (1, 0)]);
        // smoothed counts of the two words: 3 and 1 of 4 in class 1, 1 and 2 of 3 in class 0
        let (first, second) = ((0.75_f64 / (1.0 / 3.0)).ln(), (0.25_f64 / (2.0 / 3.0)).ln());
        assert!((found[2] - (first + second)).abs() < 1e-12);
    }

    #[test]
    fn co_training_uses_labels_of_the_other_view() {
        // words 0 and 1 of the first view determine the class, but labeled rows have other words; the second view also determines it
        let (mut page, mut link, mut class) = (Vec::new(), Vec::new(), Vec::new());
        for i in 0..400u32 {
            let c = i % 2;
            let word = if i < 2 { 2 + c } else { c };
            page.extend((0..4).map(|w| f64::from(u8::from(w == word))));
            link.extend((0..2).map(|w| f64::from(u8::from(w == c))));
            class.push(c);
        }
        let (page, link) = (Matrix::dense(page, 400, 4).unwrap(), Matrix::dense(link, 400, 2).unwrap());
        let draw = Draw::of(vec![0, 1]);
        let right = |s: &[f64]| s.iter().zip(&class).filter(|(s, c)| (**s > 0.0) == (**c == 1)).count();
        assert!(right(&alone(page.view(), &class, &draw)) < 250);
        assert_eq!(right(&together([page.view(), link.view()], &class, &draw, 1)), 400);
    }
}
