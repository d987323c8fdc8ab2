//! A person at the terminal who answers queries: shows the sample and reads a key or a word.

use super::answers::Answers;
use super::replies::{Reply, agrees, comparison_prompt, name_prompt, parse};
use crate::failure::Failure;
use evermargin::engine::{Event, ImpliedLabel, LabelMemory, QueryReason, Question, Reference};
use evermargin_session::{Oracle, Session, SessionError};
use std::collections::VecDeque;
use std::fmt;
use std::io::Write;
use std::path::PathBuf;

/// Maximum number of answers that can be undone.
const MAX_UNDO: usize = 100;

/// End of a round of queries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answered {
    All,
    Quit,
}

/// An answer that can be undone.
struct GivenAnswer {
    sample: u64,
    what: Given,
}

/// Content of an answer.
#[derive(Clone)]
enum Given {
    Label(String),
    /// Whether the sample has the same class as another.
    Same(Reference, bool),
}

/// A person at the terminal.
pub struct TerminalOracle {
    answers: Option<Answers>,
    /// The last answers, the newest at the end.
    given: VecDeque<GivenAnswer>,
    /// Undone answers, which are queried again; the earliest at the end.
    undone: Vec<GivenAnswer>,
    /// The classes in the order of their first labels, so that a digit keeps its class when one is added and after a resume.
    classes: Vec<String>,
}

impl TerminalOracle {
    /// A person at the terminal. If standard input is the stream, answers come from the controlling terminal.
    pub fn new(oracle: Oracle, streams: &[PathBuf]) -> Result<Self, Failure> {
        let answers = (oracle == Oracle::Terminal).then(|| Answers::open(streams)).transpose()?;
        Ok(Self { answers, given: VecDeque::new(), undone: Vec::new(), classes: Vec::new() })
    }

    /// Asks all open queries, those that follow from the answers, and those whose answer was undone.
    pub fn answer(&mut self, session: &mut Session) -> Result<Answered, Failure> {
        loop {
            let ended = if let Some(answer) = self.undone.pop() {
                self.ask_again(session, answer)?
            } else if let Some(question) = session.queries().first().cloned() {
                self.ask(session, &question)?
            } else {
                return Ok(Answered::All);
            };
            if ended == Answered::Quit {
                return Ok(Answered::Quit);
            }
        }
    }

    /// Asks an open query.
    fn ask(&mut self, session: &mut Session, question: &Question) -> Result<Answered, Failure> {
        show(session, question);
        let Question { sample, reference, .. } = question;
        let sample = *sample;
        match (self.read_reply(session, sample, reference.as_ref())?, reference) {
            (Reply::Quit, _) => return Ok(Answered::Quit),
            (Reply::Undo, _) => self.undo(),
            (Reply::Skip, _) => {
                submit(session, Event::Skip { sample })?;
            }
            (Reply::Compare, _) => {
                submit(session, Event::Compare { sample })?;
            }
            (Reply::Label(label), _) => {
                if submit(session, Event::Answer { sample, label: label.clone() })? {
                    self.remember(sample, Given::Label(label));
                }
            }
            (Reply::Same(same), Some(r)) => {
                if submit(session, Event::Related { a: sample, b: r.sample, same })? {
                    self.remember(sample, Given::Same(r.clone(), same));
                }
            }
            (Reply::Same(_), None) => {}
        }
        Ok(Answered::All)
    }

    fn remember(&mut self, sample: u64, what: Given) {
        if self.given.len() == MAX_UNDO {
            self.given.pop_front();
        }
        self.given.push_back(GivenAnswer { sample, what });
    }

    /// Undoes the last answer that is not undone yet, so that it is queried again.
    fn undo(&mut self) {
        if let Some(answer) = self.given.pop_back() {
            self.undone.push(answer);
        } else {
            status!("  there is no answer to undo");
        }
    }

    /// Asks an undone query again. Until there is a new answer, the old one remains in effect.
    fn ask_again(&mut self, session: &mut Session, answer: GivenAnswer) -> Result<Answered, Failure> {
        let GivenAnswer { sample, what } = &answer;
        let (sample, number) = (*sample, sample + 1);
        status!("\n  again: sample {number}, answered {}:\n  {}", answer.what, text_of(session, sample));
        let reference = match what {
            Given::Label(_) => None,
            Given::Same(reference, _) => Some(reference),
        };
        if let Some(reference) = reference {
            show_reference(session, reference);
        }
        let (applied, now) = match (self.read_reply(session, sample, reference)?, reference) {
            (Reply::Quit, _) => {
                status!("  the answer about sample {number} remains: {}", answer.what);
                return Ok(Answered::Quit);
            }
            (Reply::Undo, _) => {
                self.undone.push(answer);
                self.undo();
                return Ok(Answered::All);
            }
            (Reply::Compare, _) | (Reply::Same(_), None) => {
                status!(
                    "  a sample with an answer cannot be compared; name the class, or skip to withdraw the answer"
                );
                self.undone.push(answer);
                return Ok(Answered::All);
            }
            (Reply::Skip, _) => {
                let applied = submit(session, Event::Withdraw { sample })?;
                if applied {
                    status!(
                        "  undone: sample {number}, {}; its label and its comparisons are withdrawn",
                        answer.what
                    );
                }
                (applied, None)
            }
            (Reply::Same(same), Some(r)) => {
                let applied = submit(session, Event::Related { a: sample, b: r.sample, same })?;
                (applied, Some(Given::Same(r.clone(), same)))
            }
            (Reply::Label(label), _) => (rename(session, sample, what, &label)?, Some(Given::Label(label))),
        };
        match now {
            // The old answer can still be undone.
            _ if !applied => self.remember(sample, answer.what),
            None => {}
            Some(now) => {
                status!("  undone: sample {number}, {}; now {now}", answer.what);
                self.remember(sample, now);
            }
        }
        Ok(Answered::All)
    }

    /// Reads the reply to a query for the class of a sample, or to its comparison with another.
    fn read_reply(
        &mut self,
        session: &Session,
        sample: u64,
        reference: Option<&Reference>,
    ) -> Result<Reply, Failure> {
        self.add_new_classes(session);
        let names = &self.classes;
        let compares = reference.is_some();
        loop {
            if compares {
                status_part!("{}", comparison_prompt(names));
            } else {
                status_part!("{}", name_prompt(names, session.engine().can_compare(sample)));
            }
            let _ = std::io::stderr().flush();
            let line = match &mut self.answers {
                Some(answers) => answers.next(names, compares)?,
                None => None,
            };
            let Some(line) = line else { return Ok(Reply::Quit) };
            let Some(reply) = parse(&line, names, compares) else { continue };
            let new = matches!(&reply, Reply::Label(name) if names.len() >= 2 && !names.contains(name));
            match &mut self.answers {
                Some(answers) if new && answers.is_typed() => {
                    status_part!("  {line} is a new class: create it? y=yes, anything else asks again> ");
                    let _ = std::io::stderr().flush();
                    let Some(line) = answers.next(names, true)? else { return Ok(Reply::Quit) };
                    if agrees(&line) {
                        return Ok(reply);
                    }
                }
                _ => return Ok(reply),
            }
        }
    }

    fn add_new_classes(&mut self, session: &Session) {
        let names = session.engine().classes().names();
        let labeled = session.engine().memory().map_or(&[][..], LabelMemory::labeled);
        let by_first_label = labeled.iter().filter_map(|label| names.get(label.class as usize));
        for name in by_first_label.chain(names) {
            if !self.classes.contains(name) {
                self.classes.push(name.clone());
            }
        }
    }
}

impl fmt::Display for Given {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Label(label) => f.write_str(label),
            Self::Same(reference, same) => {
                let word = if *same { "same" } else { "different" };
                write!(f, "{word} (sample {}, {})", reference.sample + 1, reference.class)
            }
        }
    }
}

/// Replaces an answer by the name of the class, and a pair that contradicts the name by its opposite. Returns whether the
/// change was applied.
fn rename(session: &mut Session, sample: u64, given: &Given, label: &str) -> Result<bool, Failure> {
    let related = |r: &Reference, same| Event::Related { a: sample, b: r.sample, same };
    if let Given::Same(r, same) = given
        && r.class == label
    {
        return if *same { Ok(true) } else { submit(session, related(r, true)) };
    }
    // After "different", the query about the sample may be open again.
    let label = label.to_string();
    let event = if session.engine().pending_queries().contains(&sample) {
        Event::Answer { sample, label }
    } else {
        Event::Correct { sample, label }
    };
    let applied = submit(session, event)?;
    match given {
        Given::Same(r, true) if applied => submit(session, related(r, false)),
        _ => Ok(applied),
    }
}

/// Submits an event and prints the labels that follow from pairs. An event that the engine rejects is a typing error, whose
/// reason is printed; a failing store ends the run. Returns whether the event was applied.
fn submit(session: &mut Session, event: Event) -> Result<bool, Failure> {
    match session.submit(event) {
        Ok(effects) => {
            for ImpliedLabel { sample, label } in effects.implied {
                if let Some(label) = label {
                    status!("  sample {} is {label}", sample + 1);
                } else {
                    status!("  sample {} has no label any more", sample + 1);
                }
            }
            Ok(true)
        }
        Err(SessionError::Rejected(reason)) => {
            status!("  {reason}");
            Ok(false)
        }
        Err(error) => Err(error.into()),
    }
}

fn text_of(session: &Session, sample: u64) -> &str {
    session.text_of(sample).unwrap_or("")
}

fn show(session: &Session, question: &Question) {
    let why = match question.why {
        QueryReason::Representative => "represents many rows",
        QueryReason::Informative => "near the boundary",
        QueryReason::Novel => "unlike all earlier rows",
        QueryReason::RandomCheck => "random check",
    };
    let guess = question.guess.as_deref().map_or(String::new(), |g| format!("; predicted {g}"));
    let (number, sample) = (session.engine().budget_usage().total, question.sample);
    status!("\nquery {number}, sample {} ({why}{guess}):\n  {}", sample + 1, text_of(session, sample));
    if let Some(reference) = &question.reference {
        show_reference(session, reference);
    }
}

fn show_reference(session: &Session, reference: &Reference) {
    let Reference { sample, class } = reference;
    status!(
        "  does it have the same class as sample {} ({class})?\n  {}",
        sample + 1,
        text_of(session, *sample)
    );
}
