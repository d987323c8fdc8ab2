//! A person at the terminal who answers: shows the sample, takes a key or a word.

use super::record::Oracle;
use super::session::Session;
use crate::failure::Failure;
use evermargin::engine::{Event, QueryReason, Question};
use std::fs::File;
use std::io::{BufRead, BufReader, IsTerminal, Read, Write};
use std::path::{Path, PathBuf};

/// How a round of questions ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answered {
    All,
    Quit,
}

/// What a person said.
enum Said {
    Label(String),
    Skip,
    Undo,
    Quit,
}

/// A person.
pub struct TerminalOracle {
    words: Option<Box<dyn BufRead>>,
    keys: Option<::console::Term>,
    /// The last sample answered, and what it was shown as.
    last: Option<(u64, String)>,
}

impl TerminalOracle {
    /// A person at the terminal; where standard input is the stream, at the terminal behind it.
    pub fn new(oracle: Oracle, streams: &[PathBuf]) -> Result<Self, Failure> {
        let mut person = Self { words: None, keys: None, last: None };
        if oracle == Oracle::Terminal {
            let taken = streams.iter().any(|s| s == Path::new("-"));
            if !taken && std::io::stdin().is_terminal() {
                person.keys = Some(::console::Term::stderr());
            } else {
                let input: Box<dyn Read> = if taken {
                    let missing = "standard input is the stream, and there is no terminal to answer at";
                    Box::new(File::open("/dev/tty").map_err(|_| Failure::Failed(missing.into()))?)
                } else {
                    Box::new(std::io::stdin())
                };
                person.words = Some(Box::new(BufReader::new(input)));
            }
        }
        Ok(person)
    }

    /// Asks all questions that are open, and those that follow from the answers.
    pub fn answer(&mut self, session: &mut Session) -> Result<Answered, Failure> {
        while let Some(question) = session.questions.first().cloned() {
            let shown = session.shown(question.sample).unwrap_or("").to_string();
            show(session, &question, &shown);
            match self.listen(session)? {
                Said::Quit => return Ok(Answered::Quit),
                Said::Skip => {
                    session.say(Event::Skip { sample: question.sample })?;
                }
                Said::Label(label) => {
                    if slip(session.say(Event::Answer { sample: question.sample, label }))? {
                        self.last = Some((question.sample, shown));
                    }
                }
                Said::Undo => {
                    if self.undo(session)? == Answered::Quit {
                        return Ok(Answered::Quit);
                    }
                }
            }
        }
        Ok(Answered::All)
    }

    /// Takes the last answer back: another label for its sample, or none.
    fn undo(&mut self, session: &mut Session) -> Result<Answered, Failure> {
        let Some((sample, shown)) = self.last.take() else {
            tell!("  there is nothing to undo");
            return Ok(Answered::All);
        };
        tell!("\n  once more, sample {}:\n  {shown}", sample + 1);
        match self.listen(session)? {
            Said::Quit => return Ok(Answered::Quit),
            Said::Undo => {}
            Said::Label(label) => {
                if slip(session.say(Event::Correct { sample, label }))? {
                    self.last = Some((sample, shown));
                }
            }
            Said::Skip => {
                slip(session.say(Event::Withdraw { sample }))?;
            }
        }
        Ok(Answered::All)
    }

    fn listen(&mut self, session: &Session) -> Result<Said, Failure> {
        let names = session.engine.classes().names();
        loop {
            tell_on!("  {} s=skip u=undo q=quit, or a new name> ", choices(names));
            let _ = std::io::stderr().flush();
            let word = match (&self.keys, &mut self.words) {
                (Some(term), _) => key(term, names)?,
                (None, Some(words)) => {
                    let mut line = String::new();
                    let read = words.read_line(&mut line).map_err(|e| Failure::io("standard input", &e))?;
                    if read == 0 {
                        return Ok(Said::Quit);
                    }
                    line.trim().to_string()
                }
                (None, None) => return Ok(Said::Quit),
            };
            match word.as_str() {
                "" => {}
                "s" => return Ok(Said::Skip),
                "u" => return Ok(Said::Undo),
                "q" => return Ok(Said::Quit),
                word => return Ok(Said::Label(label(word, names))),
            }
        }
    }
}

/// Whether something that was said could be done; what a person can say better is told, what is broken ends the run.
fn slip(done: Result<(), Failure>) -> Result<bool, Failure> {
    match done {
        Ok(()) => Ok(true),
        Err(Failure::Usage(what) | Failure::Failed(what)) if !what.contains("events.db") => {
            tell!("  {what}");
            Ok(false)
        }
        Err(e) => Err(e),
    }
}

/// Whether classes can be named by their place: not where a name is a number itself.
fn has_places(names: &[String]) -> bool {
    names.iter().all(|n| n.parse::<f64>().is_err())
}

/// The class a word stands for: its place in the list, or its name.
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

/// A single key where that is enough, else a word.
fn key(term: &::console::Term, names: &[String]) -> Result<String, Failure> {
    let wrong = |e: std::io::Error| Failure::io("terminal", &e);
    let few = names.len() < 10 && has_places(names);
    match term.read_char().map_err(wrong)? {
        c @ ('s' | 'u' | 'q') => {
            tell!("{c}");
            Ok(c.to_string())
        }
        c @ '1'..='9' if few && (c as usize - '0' as usize) <= names.len() => {
            let name = &names[c as usize - '1' as usize];
            tell!("{name}");
            Ok(name.clone())
        }
        '\n' | '\r' => Ok(String::new()),
        c => {
            tell_on!("{c}");
            let rest = term.read_line().map_err(wrong)?;
            Ok(format!("{c}{rest}").trim().to_string())
        }
    }
}

fn show(session: &Session, question: &Question, shown: &str) {
    let why = match question.why {
        QueryReason::Representative => "it stands for many",
        QueryReason::Informative => "it lies near the boundary",
        QueryReason::RandomCheck => "drawn at random",
    };
    let guess = question.guess.as_deref().map_or(String::new(), |g| format!("; taken for {g}"));
    let number = session.engine.spent().total;
    tell!("\nquestion {number}, sample {} ({why}{guess}):\n  {shown}", question.sample + 1);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_names_or_places() {
        let names = ["ham".to_string(), "spam".into()];
        assert_eq!(label("2", &names), "spam");
        assert_eq!(label("ham", &names), "ham");
        assert_eq!(label("3", &names), "3", "a new class");
        let digits = ["0".to_string(), "1".into()];
        assert_eq!(label("1", &digits), "1", "a name before a place");
        assert_eq!(label("1", &digits[..1]), "1", "also before it is known");
        assert_eq!(choices(&digits), "0 1");
    }
}
