//! Explanations of cells that are worse than published: those written in `tables/explanations/`, and differences within the
//! variation of the repetitions.

use crate::judge::{Judged, Verdict};
use serde::Deserialize;
use std::sync::OnceLock;

/// An explanation; an empty list matches all names.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Explanation {
    /// Name of the table.
    pub table: String,
    /// Names of its rows.
    #[serde(default)]
    pub data_sets: Vec<String>,
    /// Names of its methods.
    #[serde(default)]
    pub methods: Vec<String>,
    /// Names of its measures.
    #[serde(default)]
    pub metrics: Vec<String>,
    /// The explanation, with a way to check it.
    pub text: String,
}

const FILES: [&str; 3] = [
    include_str!("../tables/explanations/batch.json"),
    include_str!("../tables/explanations/sindhwani.json"),
    include_str!("../tables/explanations/streams.json"),
];

/// All written explanations.
pub fn all() -> &'static [Explanation] {
    static ALL: OnceLock<Vec<Explanation>> = OnceLock::new();
    ALL.get_or_init(|| {
        FILES
            .iter()
            .flat_map(|text| serde_json::from_str::<Vec<Explanation>>(text).unwrap_or_default())
            .collect()
    })
}

/// Adds explanations to a cell that is worse or different.
pub(crate) fn explain(table: &str, cell: &mut Judged) {
    if !matches!(cell.verdict, Verdict::Worse | Verdict::Different) {
        return;
    }
    let has = |names: &[String], name: &str| names.is_empty() || names.iter().any(|n| n == name);
    let written = all().iter().filter(|e| {
        e.table == table
            && has(&e.data_sets, &cell.data_set)
            && has(&e.methods, &cell.column.method)
            && has(&e.metrics, &cell.column.metric)
    });
    let texts: Vec<String> = by_chance(cell).into_iter().chain(written.map(|e| e.text.clone())).collect();
    cell.explanation = texts.join(" ");
}

/// Explanation of a rate whose published value is within two standard errors of the mean of the repetitions.
fn by_chance(cell: &Judged) -> Option<String> {
    let (_, deviation) = cell.summary()?;
    let runs = cell.ours.len();
    let errors = 2.0 * deviation / (runs as f64).sqrt();
    let behind = cell.behind()?;
    (cell.is_accuracy() && runs >= 3 && behind <= errors).then(|| {
        format!(
            "Within chance: {behind:.2} behind, two standard errors of the mean of our {runs} runs are {errors:.2}."
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tables::find;

    #[test]
    fn explanations_match_existing_cells_and_have_a_text() {
        let parsed = FILES.map(|text| serde_json::from_str::<Vec<Explanation>>(text).unwrap());
        assert_eq!(parsed.concat(), all());
        for e in all() {
            let table = find(&e.table).unwrap();
            let named = |name: &String| table.rows.iter().any(|r| r.name == *name);
            assert!(e.data_sets.iter().all(named), "{e:?}");
            assert!(e.methods.iter().all(|m| table.columns.iter().any(|c| c.method == *m)), "{e:?}");
            assert!(e.metrics.iter().all(|m| table.columns.iter().any(|c| c.metric == *m)), "{e:?}");
            assert!(e.text.len() > 30, "{e:?}");
        }
    }

    #[test]
    fn differences_within_two_standard_errors_are_explained_by_chance() {
        let table = find("ertekin-6.3").unwrap();
        let cell = table.rows[0].cells[0].clone();
        let column = table.columns[cell.column].clone();
        let at = |ours: Vec<f64>| Judged {
            data_set: "nowhere".into(),
            column: column.clone(),
            cell: cell.clone(),
            ours,
            verdict: Verdict::Worse,
            remark: String::new(),
            explanation: String::new(),
        };
        let value = cell.value;
        let mut wide = at(vec![value - 4.0, value - 1.0, value + 2.0]);
        explain("none", &mut wide);
        assert!(wide.explanation.starts_with("Within chance: 1.00 behind"), "{}", wide.explanation);
        let mut narrow = at(vec![value - 4.0, value - 4.1, value - 4.2]);
        explain("none", &mut narrow);
        assert!(narrow.explanation.is_empty());
    }
}
