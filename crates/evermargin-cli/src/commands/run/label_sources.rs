//! The label sources of a run: their weights along the stream, and the current choice in words.

use super::chart::{Chart, Curve};
use evermargin::engine::{Engine, LabelChoice, Source, SourceWeight};
use evermargin_session::Session;
use serde_json::{Value, json};
use std::fmt::Write as _;

/// Colors of the curves, in the order of [`Source::ALL`].
const COLORS: [&str; Source::ALL.len()] = ["#1f6fb4", "#e08214", "#4d9221", "#762a83"];

/// The weights along the stream, one object per point.
pub fn history(session: &Session) -> Vec<Value> {
    let points = session.statistics().source_weights.points();
    let object = |point: &evermargin_session::SourceWeightsPoint| {
        let mut out = serde_json::Map::from_iter([("batch".to_string(), json!(point.batch))]);
        let named = Source::ALL.iter().zip(point.weights);
        out.extend(named.map(|(source, weight)| (source.name().to_string(), json!(weight))));
        Value::Object(out)
    };
    points.iter().map(object).collect()
}

/// The weights along the stream as curves; sources that never had weight are left out.
pub fn chart<'a>(session: &Session) -> Chart<'a> {
    let history = session.statistics().source_weights.points();
    let curve = |(i, source): (usize, &Source)| {
        let points: Vec<(f64, f64)> = history.iter().map(|p| (p.batch as f64, p.weights[i])).collect();
        let has_weight = points.iter().any(|point| point.1 > 0.0);
        has_weight.then_some(Curve { name: source.name(), color: COLORS[i], points })
    };
    Chart {
        title: "weights of the label sources",
        across: "batch",
        up: "weight",
        curves: Source::ALL.iter().enumerate().filter_map(curve).collect(),
        marks: Vec::new(),
        range: Some((0.0, 1.05)),
    }
}

/// The sources that currently label the stream, and the reason.
pub fn explanation(engine: &Engine) -> String {
    let model = Source::Model.name();
    match engine.label_choice() {
        LabelChoice::Unknown => "no row is labeled: labels of two classes are needed".into(),
        LabelChoice::Named(source) => {
            format!("{} labels this stream, because --label-source names it", source.name())
        }
        LabelChoice::NotCompared => format!("{model} labels this stream: sources have not been compared yet"),
        LabelChoice::ManyLabels => {
            format!("{model} labels this stream: with this many labels, sources are not compared")
        }
        LabelChoice::Compared(chosen) => {
            let sources = engine.label_sources();
            let mut text = compared(&chosen, sources.weights(), sources.chosen_labels());
            let (then, now) =
                (sources.compared_labels(), engine.memory().map_or(0, evermargin::engine::LabelMemory::len));
            if now > then {
                let _ = write!(text, "; compared when {then} of the {now} labels were known");
            }
            text
        }
    }
}

/// Text about a comparison on held-out labels, some of which a query strategy chose.
fn compared(chosen: &[Source], weights: &[SourceWeight], by_strategy: usize) -> String {
    let names: Vec<String> = chosen.iter().map(|source| source.name().to_string()).collect();
    let verb = if chosen.len() == 1 { "labels" } else { "label" };
    let choice = format!("{} {verb} this stream", enumeration(&names));
    let held_out = weights.iter().map(|w| w.held_out).max().unwrap_or(0);
    if held_out == 0 {
        return choice + ": no label could be held out to compare sources";
    }
    let correct = |source: &Source| weights.iter().find(|w| w.source == *source).map(|w| w.correct);
    let own: Vec<String> = chosen.iter().filter_map(correct).map(|n| n.to_string()).collect();
    let mut parts = vec![format!("{choice}: {} of {held_out} held-out labels right", enumeration(&own))];
    let others = weights.iter().filter(|w| !chosen.contains(&w.source));
    let others: Vec<String> = others.map(|w| format!("{} {}", w.source.name(), w.correct)).collect();
    if !others.is_empty() {
        parts.push(others.join(", "));
    }
    if by_strategy > 0 {
        let model = Source::Model.name();
        let (labels, count) =
            if by_strategy == 1 { ("label was", "counts") } else { ("labels were", "count") };
        parts.push(format!("{by_strategy} {labels} chosen where {model} is uncertain, and {count} less"));
    }
    parts.join("; ")
}

/// Words as an enumeration: "a", "a and b", "a, b and c".
fn enumeration(words: &[String]) -> String {
    match words {
        [] => String::new(),
        [one] => one.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn weight(source: &str, correct: u64) -> SourceWeight {
        let mut value = json!({ "weight": 0.25, "accuracy": 0.5, "loss": 1.0, "slope": 1.0, "since": 0.0 });
        value["source"] = json!(source);
        value["held_out"] = json!(20);
        value["correct"] = json!(correct);
        serde_json::from_value(value).unwrap()
    }

    #[test]
    fn the_choice_names_sources_and_held_out_labels() {
        let weights = [weight("model", 14), weight("tsvm", 17), weight("graph", 18)];
        assert_eq!(
            compared(&[Source::Graph, Source::Tsvm], &weights, 0),
            "graph and tsvm label this stream: 18 and 17 of 20 held-out labels right; model 14"
        );
        assert_eq!(
            compared(&[Source::Model], &weights, 12),
            "model labels this stream: 14 of 20 held-out labels right; tsvm 17, graph 18; 12 labels were chosen where model is \
             uncertain, and count less"
        );
        let one = compared(&[Source::Model], &weights, 1);
        assert!(one.ends_with("; 1 label was chosen where model is uncertain, and counts less"), "{one}");
        let all = [Source::Graph, Source::Tsvm, Source::Model];
        assert_eq!(
            compared(&all, &weights, 0),
            "graph, tsvm and model label this stream: 18, 17 and 14 of 20 held-out labels right"
        );
    }
}
