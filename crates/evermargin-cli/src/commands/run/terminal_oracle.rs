//! A person at the terminal who answers: shows the sample, takes a key or a word.

use super::answers::Answers;
use crate::failure::Failure;
use evermargin::engine::{Event, QueryReason, Question};
use evermargin_session::{Oracle, Session, SessionError};
use std::io::Write;
use std::path::PathBuf;

/// How a round of questions ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answered {
    All,
    Quit,
}

/// An answer of the annotator.
enum Reply {
    Label(String),
    Skip,
    Undo,
    Quit,
}

/// A person.
pub struct TerminalOracle {
    answers: Option<Answers>,
    /// The last sample answered, and what it was shown as.
    last: Option<(u64, String)>,
}

impl TerminalOracle {
    /// A person at the terminal; where standard input is the stream, at the terminal behind it.
    pub fn new(oracle: Oracle, streams: &[PathBuf]) -> Result<Self, Failure> {
        let answers = (oracle == Oracle::Terminal).then(|| Answers::open(streams)).transpose()?;
        Ok(Self { answers, last: None })
    }

    /// Asks all questions that are open, and those that follow from the answers.
    pub fn answer(&mut self, session: &mut Session) -> Result<Answered, Failure> {
        while let Some(question) = session.queries().first().cloned() {
            let shown = session.text_of(question.sample).unwrap_or("").to_string();
            show(session, &question, &shown);
            match self.listen(session)? {
                Reply::Quit => return Ok(Answered::Quit),
                Reply::Skip => {
                    session.submit(Event::Skip { sample: question.sample })?;
                }
                Reply::Label(label) => {
                    if slip(session.submit(Event::Answer { sample: question.sample, label }))? {
                        self.last = Some((question.sample, shown));
                    }
                }
                Reply::Undo => {
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
            status!("  there is nothing to undo");
            return Ok(Answered::All);
        };
        status!("\n  once more, sample {}:\n  {shown}", sample + 1);
        match self.listen(session)? {
            Reply::Quit => return Ok(Answered::Quit),
            Reply::Undo => {}
            Reply::Label(label) => {
                if slip(session.submit(Event::Correct { sample, label }))? {
                    self.last = Some((sample, shown));
                }
            }
            Reply::Skip => {
                slip(session.submit(Event::Withdraw { sample }))?;
            }
        }
        Ok(Answered::All)
    }

    fn listen(&mut self, session: &Session) -> Result<Reply, Failure> {
        let names = session.engine().classes().names();
        loop {
            status_part!("  {} s=skip u=undo q=quit, or a new name> ", choices(names));
            let _ = std::io::stderr().flush();
            let word = match &mut self.answers {
                Some(answers) => answers.next(names)?,
                None => None,
            };
            let Some(word) = word else { return Ok(Reply::Quit) };
            match word.as_str() {
                "" => {}
                "s" => return Ok(Reply::Skip),
                "u" => return Ok(Reply::Undo),
                "q" => return Ok(Reply::Quit),
                word => return Ok(Reply::Label(label(word, names))),
            }
        }
    }
}

/// Whether an event was applied. One that the engine rejects is a typing slip and prints the reason; a failing store ends the
/// run.
fn slip<T>(done: Result<T, SessionError>) -> Result<bool, Failure> {
    match done {
        Ok(_) => Ok(true),
        Err(SessionError::Rejected(reason)) => {
            status!("  {reason}");
            Ok(false)
        }
        Err(error) => Err(error.into()),
    }
}

/// Whether classes can be named by their place: not where a name is a number itself.
pub(super) fn has_places(names: &[String]) -> bool {
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

fn show(session: &Session, question: &Question, shown: &str) {
    let why = match question.why {
        QueryReason::Representative => "it stands for many",
        QueryReason::Informative => "it lies near the boundary",
        QueryReason::Novel => "it is unlike all rows before",
        QueryReason::RandomCheck => "drawn at random",
    };
    let guess = question.guess.as_deref().map_or(String::new(), |g| format!("; taken for {g}"));
    let number = session.engine().budget_usage().total;
    status!("\nquestion {number}, sample {} ({why}{guess}):\n  {shown}", question.sample + 1);
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
