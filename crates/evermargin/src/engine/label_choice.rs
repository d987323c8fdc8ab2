//! The label sources in use, and the reason for their choice.

use super::{Engine, Source};

/// Label sources in use, and the reason for their choice.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LabelChoice {
    /// No source, because fewer than two classes have labels.
    Unknown,
    /// The source that the parameters name.
    Named(Source),
    /// The classifier alone, because the sources have not been compared yet.
    NotCompared,
    /// The classifier alone, because with this many labels the other sources add little.
    ManyLabels,
    /// These sources, because of their results on held-out labels; the largest weight comes first.
    Compared(Vec<Source>),
}

impl Engine {
    /// Label sources in use, and the reason for their choice.
    pub fn label_choice(&self) -> LabelChoice {
        let Some(state) = self.state.as_ref().filter(|state| state.classifier.is_some()) else {
            return LabelChoice::Unknown;
        };
        if let Some(source) = self.params.label_source.only() {
            return LabelChoice::Named(source);
        }
        if self.label_sources.weights().is_empty() {
            let has_many = self.has_many_labels(state.memory.len());
            return if has_many { LabelChoice::ManyLabels } else { LabelChoice::NotCompared };
        }
        let mut active = self.label_sources.active();
        active.sort_by(|a, b| b.1.total_cmp(&a.1));
        let sources: Vec<Source> = active.into_iter().map(|(source, ..)| source).collect();
        LabelChoice::Compared(if sources.is_empty() { vec![Source::Model] } else { sources })
    }

    /// Weight of each source, in the order of [`Source::ALL`]; `None` while nothing is labeled.
    pub fn source_weights(&self) -> Option<[f64; 4]> {
        let mut weights = [0.0; 4];
        match self.label_choice() {
            LabelChoice::Unknown => return None,
            LabelChoice::Named(source) => weights[source.index()] = 1.0,
            LabelChoice::NotCompared | LabelChoice::ManyLabels => weights[Source::Model.index()] = 1.0,
            LabelChoice::Compared(_) => {
                self.label_sources.weights().iter().for_each(|w| weights[w.source.index()] = w.weight);
            }
        }
        Some(weights)
    }
}
