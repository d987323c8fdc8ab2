//! Remedies as options of the command line: the libraries name a setting, the user writes an option.

/// What a library says, and the option that does it.
const OPTIONS: [(&str, &str); 14] = [
    ("raise max_bytes", "raise --max-bytes"),
    ("raise max_line", "raise --max-line"),
    ("raise max_columns", "raise --max-columns"),
    ("raise max_rows", "raise --max-rows"),
    ("raise max_cells", "raise --max-cells"),
    ("raise max_memory", "raise --max-memory"),
    ("name it as the positive class (such as ", "name it (--positive "),
    ("or leave the labels out", "or leave the labels out (--label none)"),
    ("set header = ", "say --header "),
    ("set index_base = ", "say --index-base "),
    ("name the label column", "say --label"),
    ("train with multi = ", "train with --multi "),
    ("train with scale = ", "train with --scale "),
    ("against the rest (one-vs-rest)", "against the rest (--multi one-vs-rest)"),
];

/// The text with options in the place of settings.
pub fn with_options(text: &str) -> String {
    OPTIONS.iter().fold(text.to_string(), |text, (setting, option)| text.replace(setting, option))
}
