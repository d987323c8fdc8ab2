//! Help of the command line: commands grouped by task, a short `--help` and a complete `--help-all`.
//!
//! Clap prints a short and a long help. Here `-h` and `--help` print the short one, without the arguments marked with
//! `hide_short_help`, and `--help-all` prints the long one. Commands without such arguments have no `--help-all`.

use clap::{Arg, ArgAction, Command};
use std::fmt::Write;

/// Headings of the main help, each with its commands.
const TASKS: [(&str, &[&str]); 5] = [
    ("Train and predict", &["fit", "predict", "tune", "learners"]),
    ("Few labels", &["label", "ask"]),
    ("Streams", &["run", "demo"]),
    ("Overviews of data", &["summarize", "merge", "embed"]),
    ("Files", &["generate", "convert", "inspect"]),
];

/// Heading of the options that every command has.
pub const GLOBAL: &str = "Global options";

/// Display order of the help flags, behind all other options.
const LAST: usize = 1000;

/// The template of the main help, with the commands grouped by task.
pub fn template(command: &Command) -> String {
    let mut out = String::from("{about}\n\n{usage-heading} {usage}\n");
    for (task, verbs) in TASKS {
        let _ = write!(out, "\n{task}:\n");
        for verb in verbs {
            let about = command.find_subcommand(verb).and_then(Command::get_about);
            let _ = writeln!(out, "  {verb:<10} {}", about.map(ToString::to_string).unwrap_or_default());
        }
    }
    out + "\n" + GLOBAL + ":\n{options}{after-help}"
}

/// Replaces the help flag of a command by `--help` and, where the short help hides arguments, `--help-all`.
pub fn with_help_flags(verb: Command) -> Command {
    let hides = verb.get_arguments().any(Arg::is_hide_short_help_set);
    let short = Arg::new("help")
        .short('h')
        .long("help")
        .action(ArgAction::HelpShort)
        .display_order(LAST)
        .help_heading(GLOBAL)
        .help(if hides { "Print the most common options" } else { "Print help" });
    let verb = verb.disable_help_flag(true).arg(short);
    if !hides {
        return verb;
    }
    let all = Arg::new("help-all")
        .long("help-all")
        .action(ArgAction::HelpLong)
        .display_order(LAST + 1)
        .help_heading(GLOBAL)
        .help("Print all options, with details");
    verb.arg(all)
}

/// The end of a help text: notes, the commands that make the data, and two examples, each with a description.
pub fn examples(notes: &str, data: &[&str], examples: [(&str, &str); 2]) -> String {
    let mut out = String::new();
    if !notes.is_empty() {
        out = format!("{notes}\n\n");
    }
    out.push_str("Examples:");
    for command in data {
        let _ = write!(out, "\n  {command}");
    }
    for (k, (description, command)) in examples.into_iter().enumerate() {
        let gap = if k == 0 && data.is_empty() { "" } else { "\n" };
        let _ = write!(out, "{gap}\n  # {description}\n  {command}");
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_verb_belongs_to_one_task() {
        let command = crate::args::command();
        let mut verbs: Vec<&str> = command.get_subcommands().map(Command::get_name).collect();
        let mut grouped: Vec<&str> = TASKS.iter().flat_map(|(_, verbs)| verbs.iter().copied()).collect();
        verbs.sort_unstable();
        grouped.sort_unstable();
        assert_eq!(grouped, verbs);
    }
}
