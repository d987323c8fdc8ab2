//! Replies of a person to a query: their parsing, and the prompt.
//!
//! Invariant: the name of a class always means the class. If the letter of a command is the name of a class, the prompt shows
//! a longer form of the command.

/// A reply of the annotator.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reply {
    Label(String),
    /// Whether two samples are of the same class.
    Same(bool),
    /// The class cannot be named; compare the sample with a labeled one instead.
    Compare,
    Skip,
    Undo,
    Quit,
}

/// Forms of a command; the prompt shows the first that is not the name of a class.
type Forms = &'static [&'static str];

const SAME: Forms = &["y", "same", "yes", ":same"];
const DIFFERENT: Forms = &["n", "different", "no", "d", ":different"];
const COMPARE: Forms = &["?", ":compare"];
const SKIP: Forms = &["s", "skip", ":skip"];
const UNDO: Forms = &["u", "undo", ":undo"];
const QUIT: Forms = &["q", "quit", ":quit"];

/// Keys that are commands without Enter.
pub const SINGLE_KEYS: [char; 4] = ['s', 'u', 'q', '?'];

/// The reply that a line means; none for an empty line, and for a request to compare during a comparison.
pub fn parse(line: &str, names: &[String], compares: bool) -> Option<Reply> {
    let is = |forms: Forms| forms.iter().any(|form| form.eq_ignore_ascii_case(line));
    match line {
        "" => None,
        _ if names.iter().any(|n| n == line) => Some(Reply::Label(line.into())),
        _ if is(SKIP) => Some(Reply::Skip),
        _ if is(UNDO) => Some(Reply::Undo),
        _ if is(QUIT) => Some(Reply::Quit),
        _ if is(COMPARE) => (!compares).then_some(Reply::Compare),
        _ if compares && is(SAME) => Some(Reply::Same(true)),
        _ if compares && is(DIFFERENT) => Some(Reply::Same(false)),
        _ => Some(Reply::Label(label(line, names))),
    }
}

/// The prompt for the class of a sample, with the command for a comparison if there can be one.
pub fn name_prompt(names: &[String], can_compare: bool) -> String {
    let compare = if can_compare { format!(" {}=compare", form(COMPARE, names)) } else { String::new() };
    format!("  {}{compare} {}, or a new name> ", choices(names), commands(names))
}

/// The prompt of a comparison.
pub fn comparison_prompt(names: &[String]) -> String {
    let (same, different) = (form(SAME, names), form(DIFFERENT, names));
    let pair = [(same, "same"), (different, "different")].map(|(form, word)| shown(form, word)).join(" ");
    format!("  {pair} {}, or the name of its class ({})> ", commands(names), choices(names))
}

/// Whether a line confirms a new class.
pub fn agrees(line: &str) -> bool {
    ["y", "yes"].iter().any(|yes| yes.eq_ignore_ascii_case(line))
}

fn commands(names: &[String]) -> String {
    [(SKIP, "skip"), (UNDO, "undo"), (QUIT, "quit")]
        .map(|(forms, word)| shown(form(forms, names), word))
        .join(" ")
}

fn shown(form: &str, word: &str) -> String {
    if form == word { word.to_string() } else { format!("{form}={word}") }
}

/// The first form of a command that is not the name of a class.
fn form(forms: Forms, names: &[String]) -> &'static str {
    forms.iter().find(|form| !names.iter().any(|n| n == *form)).unwrap_or(&forms[0])
}

/// Whether single keys name a class: not while a new name must be typed, and not if a name begins with the key of a
/// command.
pub fn has_single_keys(names: &[String]) -> bool {
    names.len() >= 2 && !names.iter().any(|n| n.starts_with(SINGLE_KEYS))
}

/// Whether classes can be named by their position: not if a name is a number.
pub fn has_places(names: &[String]) -> bool {
    names.iter().all(|n| n.parse::<f64>().is_err())
}

/// The class that a word means, by its position in the list or by its name.
fn label(word: &str, names: &[String]) -> String {
    let place = word.parse::<usize>().ok().filter(|_| has_places(names));
    let named = place.and_then(|n| n.checked_sub(1)).and_then(|n| names.get(n));
    named.cloned().unwrap_or_else(|| word.to_string())
}

fn choices(names: &[String]) -> String {
    let choice =
        |(i, n): (usize, &String)| if has_places(names) { format!("{}={n}", i + 1) } else { n.clone() };
    names.iter().enumerate().map(choice).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(of: &[&str]) -> Vec<String> {
        of.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn words_are_names_or_positions() {
        let mail = names(&["ham", "spam"]);
        assert_eq!(label("2", &mail), "spam");
        assert_eq!(label("ham", &mail), "ham");
        assert_eq!(label("3", &mail), "3", "a new class");
        let digits = names(&["0", "1"]);
        assert_eq!(label("1", &digits), "1", "a name takes precedence over a position");
        assert_eq!(label("1", &digits[..1]), "1", "also a name that is not known yet");
        assert_eq!(choices(&digits), "0 1");
    }

    #[test]
    fn replies_to_a_comparison_are_whole_words() {
        let mail = names(&["ham", "spam"]);
        let reply = |line| parse(line, &mail, true);
        for line in ["n", "N", "no", "different", "d"] {
            assert_eq!(reply(line), Some(Reply::Same(false)), "{line}");
        }
        for line in ["y", "Y", "yes", "same"] {
            assert_eq!(reply(line), Some(Reply::Same(true)), "{line}");
        }
        assert_eq!(reply("news"), Some(Reply::Label("news".into())));
        assert_eq!(reply("1"), Some(Reply::Label("ham".into())));
        assert_eq!((reply("?"), reply("")), (None, None));
        assert_eq!(
            parse("no", &mail, false),
            Some(Reply::Label("no".into())),
            "a new class, because no samples are compared"
        );
        assert_eq!(
            comparison_prompt(&mail),
            "  y=same n=different s=skip u=undo q=quit, or the name of its class (1=ham 2=spam)> "
        );
    }

    #[test]
    fn the_name_of_a_class_takes_precedence_over_a_command() {
        let letters = names(&["n", "q", "quit", "s", "u", "y"]);
        for name in &letters {
            assert_eq!(parse(name, &letters, true), Some(Reply::Label(name.clone())));
        }
        let prompt = comparison_prompt(&letters);
        assert!(prompt.starts_with("  same different skip undo :quit=quit, or"), "{prompt}");
        for (word, reply) in [
            ("same", Reply::Same(true)),
            ("different", Reply::Same(false)),
            ("skip", Reply::Skip),
            ("undo", Reply::Undo),
            (":quit", Reply::Quit),
        ] {
            assert_eq!(parse(word, &letters, true), Some(reply), "{word}");
        }
    }

    #[test]
    fn single_keys_require_names_that_begin_with_other_letters() {
        assert!(has_single_keys(&names(&["ham", "news"])));
        assert!(!has_single_keys(&names(&["ham", "spam"])));
        assert!(!has_single_keys(&names(&["?", "ham"])));
        assert!(!has_single_keys(&names(&["ham"])), "a new name is likely");
    }
}
