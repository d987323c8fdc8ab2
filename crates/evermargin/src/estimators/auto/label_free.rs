//! Label-free evidence about a candidate, computed from the rows alone.
//!
//! - **Cut**: the weight of the graph's edges between rows of different classes, relative to that of a random labeling
//!   with the same class shares (the numerator of the normalized cut of Shi & Malik 2000). A low cut means that the
//!   boundary runs through sparse regions.
//! - **Agreement**: the share of unlabeled rows on which a candidate agrees with the mean of the other families.
//!   Learners that make different errors agree where they are correct.
//! - **Stability** is measured together with the held-out labels (`evidence.rs`).

use super::{GivenLabels, Judged, Scores, evidence, largest, softmax};
use crate::graph::Graph;

/// Lower bound of the expected cut of a random labeling, as a share of the edges; the cut is 0 if there is a single
/// class.
const LEAST_RANDOM_CUT: f64 = 1e-3;

/// Label-free evidence about one candidate.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct LabelFree {
    /// Cut relative to that of a random labeling; 0 without a graph.
    pub(super) cut: f64,
    /// Share of unlabeled rows for which the candidate agrees with the other families.
    pub(super) agreement: f64,
}

/// Computes the label-free evidence of all candidates.
pub(super) fn measure(judged: &mut [Judged], graph: Option<&Graph>, given: &GivenLabels) {
    let probabilities: Vec<Scores> = judged.iter().map(Judged::probabilities).collect();
    let families = family_means(judged, &probabilities);
    let found: Vec<LabelFree> = judged
        .iter()
        .zip(&probabilities)
        .map(|(j, p)| LabelFree {
            cut: graph.map_or(0.0, |graph| relative_cut(graph, p)),
            agreement: agreement(p, j.candidate.family, &families, given),
        })
        .collect();
    judged.iter_mut().zip(found).for_each(|(j, free)| j.label_free = free);
}

/// Mean probabilities of each family, in the order in which families appear.
fn family_means(judged: &[Judged], probabilities: &[Scores]) -> Vec<(&'static str, Scores)> {
    let mut means: Vec<(&'static str, f64, Scores)> = Vec::new();
    for (j, p) in judged.iter().zip(probabilities) {
        match means.iter_mut().find(|(family, ..)| *family == j.candidate.family) {
            Some((_, members, sum)) => {
                *members += 1.0;
                sum.values.iter_mut().zip(&p.values).for_each(|(s, p)| *s += p);
            }
            None => means.push((j.candidate.family, 1.0, p.clone())),
        }
    }
    let mean = |(family, members, mut sum): (&'static str, f64, Scores)| {
        sum.values.iter_mut().for_each(|s| *s /= members);
        (family, sum)
    };
    means.into_iter().map(mean).collect()
}

fn agreement(p: &Scores, family: &str, families: &[(&'static str, Scores)], given: &GivenLabels) -> f64 {
    if families.len() < 2 || given.unlabeled.is_empty() {
        return 1.0;
    }
    let mut mean = vec![0.0; p.classes];
    let same = given.unlabeled.iter().filter(|&&i| {
        mean.fill(0.0);
        for (_, other) in families.iter().filter(|(name, _)| *name != family) {
            mean.iter_mut().zip(other.row(i)).for_each(|(m, p)| *m += p);
        }
        largest(&mean) == p.class(i)
    });
    same.count() as f64 / given.unlabeled.len() as f64
}

/// Weight of edges between classes, relative to its expectation for a random labeling with the same shares of the
/// degrees.
fn relative_cut(graph: &Graph, scores: &Scores) -> f64 {
    let class: Vec<usize> = (0..graph.len()).map(|i| scores.class(i)).collect();
    let mut degree = vec![0.0; scores.classes];
    let mut between = 0.0;
    for (i, &c) in class.iter().enumerate() {
        degree[c] += graph.degrees()[i];
        between += graph.row(i).filter(|(j, _)| class[*j] != c).map(|(_, w)| w).sum::<f64>();
    }
    let total: f64 = degree.iter().sum();
    if total <= 0.0 {
        return 0.0;
    }
    let random = 1.0 - degree.iter().map(|d| (d / total) * (d / total)).sum::<f64>();
    between / total / random.max(LEAST_RANDOM_CUT)
}

impl Judged {
    /// Slope from the evidence, or the default.
    pub(super) fn slope(&self) -> f64 {
        self.evidence.as_ref().map_or(evidence::DEFAULT_SLOPE, |e| e.slope)
    }

    /// Softmax of the scores.
    fn probabilities(&self) -> Scores {
        let slope = self.slope();
        let values = self.scores.rows().flat_map(|s| softmax(s, slope)).collect();
        Scores { values, classes: self.scores.classes }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labeling(classes: &[usize]) -> Scores {
        let values = classes.iter().flat_map(|&c| [f64::from(u8::from(c == 0)), f64::from(u8::from(c == 1))]);
        Scores { values: values.collect(), classes: 2 }
    }

    #[test]
    fn a_boundary_through_the_sparse_region_has_the_lower_cut() {
        // two triangles joined by one edge
        let edges = [(0, 1), (1, 2), (0, 2), (3, 4), (4, 5), (3, 5), (2, 3)];
        let graph = Graph::from_edges(6, &edges.map(|(i, j)| (i, j, 1.0))).unwrap();
        let groups = relative_cut(&graph, &labeling(&[0, 0, 0, 1, 1, 1]));
        let mixed = relative_cut(&graph, &labeling(&[0, 1, 0, 1, 0, 1]));
        // 1 of 7 edges is cut; a random labeling with equal degrees cuts half
        assert!((groups - 2.0 / 7.0).abs() < 1e-12, "{groups}");
        assert!(mixed > 1.0, "{mixed}");
        assert_eq!(relative_cut(&graph, &labeling(&[0; 6])), 0.0);
        assert_eq!(relative_cut(&Graph::without_edges(6), &labeling(&[0; 6])), 0.0);
    }

    #[test]
    fn agreement_counts_the_rows_where_the_other_families_predict_the_same_class() {
        let given = GivenLabels { rows: vec![], class: vec![], classes: 2, unlabeled: vec![0, 1, 2, 3] };
        let families = vec![
            ("a", labeling(&[0, 0, 0, 0])),
            ("b", labeling(&[0, 0, 1, 1])),
            ("c", labeling(&[0, 0, 1, 0])),
        ];
        // the other families of a are b and c; ties go to the first class
        assert_eq!(agreement(&families[0].1, "a", &families, &given), 0.75);
        assert_eq!(agreement(&families[1].1, "b", &families[..1], &given), 1.0);
    }
}
