//! Answers of a person, read on a separate thread, so that a signal ends the wait for a key.

use super::replies::{SINGLE_KEYS, has_places, has_single_keys};
use crate::failure::Failure;
use crate::output::progress::Watcher;
use std::fs::File;
use std::io::{BufRead, BufReader, IsTerminal, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::Duration;

/// Interval for polling the stop flag.
const POLL: Duration = Duration::from_millis(50);

/// Keys and words, read one at a time on request.
pub struct Answers {
    /// Requests for answers; the class names in them determine whether a single key is enough.
    requests: Sender<Request>,
    words: Receiver<Result<Option<String>, Failure>>,
    stop: Arc<AtomicBool>,
    terminal: TerminalMode,
    /// Whether a person types at a terminal.
    is_typed: bool,
}

/// The class names, and whether two samples are compared, which is not answered with a single key.
type Request = (Vec<String>, bool);

/// Reads one answer; none at the end of the input.
type ReadAnswer = Box<dyn FnMut(&Request) -> Result<Option<String>, Failure> + Send>;

impl Answers {
    /// Reads keys of the terminal or lines of standard input. If standard input is the stream, reads lines of the controlling
    /// terminal.
    pub fn open(streams: &[PathBuf]) -> Result<Self, Failure> {
        let taken = streams.iter().any(|s| s == Path::new("-"));
        let is_typed = taken || std::io::stdin().is_terminal();
        let mut read: ReadAnswer = if !taken && is_typed {
            let terminal = ::console::Term::stderr();
            Box::new(move |request: &Request| key_or_line(&terminal, request))
        } else if taken {
            let missing = "standard input is the stream, and there is no terminal for answers";
            lines(File::open("/dev/tty").map_err(|_| Failure::Failed(missing.into()))?)
        } else {
            lines(std::io::stdin())
        };
        let terminal = TerminalMode::now();
        let (requests, asked) = channel::<Request>();
        let (sender, words) = channel();
        std::thread::spawn(move || {
            for request in asked {
                if sender.send(read(&request)).is_err() {
                    return;
                }
            }
        });
        Ok(Self { requests, words, stop: Watcher::stop_flag(), terminal, is_typed })
    }

    /// Whether a person types at a terminal, where typing errors happen; other answers come from a pipe.
    pub fn is_typed(&self) -> bool {
        self.is_typed
    }

    /// The next answer; none at the end of the input or after a signal.
    pub fn next(&mut self, names: &[String], compares: bool) -> Result<Option<String>, Failure> {
        if self.requests.send((names.to_vec(), compares)).is_err() {
            return Ok(None);
        }
        loop {
            match self.words.recv_timeout(POLL) {
                Ok(word) => return word,
                Err(RecvTimeoutError::Disconnected) => return Ok(None),
                Err(RecvTimeoutError::Timeout) if self.stop.load(Ordering::SeqCst) => {
                    self.terminal.restore(); // the thread is still waiting for a key
                    return Ok(None);
                }
                Err(RecvTimeoutError::Timeout) => {}
            }
        }
    }
}

fn lines(input: impl Read + Send + 'static) -> ReadAnswer {
    let mut input = BufReader::new(input);
    Box::new(move |_: &Request| line(&mut input))
}

fn line(input: &mut impl BufRead) -> Result<Option<String>, Failure> {
    let mut line = String::new();
    let read = input.read_line(&mut line).map_err(|e| Failure::io("standard input", &e))?;
    Ok((read > 0).then(|| line.trim().to_string()))
}

/// The mode of the terminal, restored when a wait for a key is interrupted.
struct TerminalMode {
    #[cfg(unix)]
    mode: Option<rustix::termios::Termios>,
}

impl TerminalMode {
    #[cfg(unix)]
    fn now() -> Self {
        Self { mode: rustix::termios::tcgetattr(std::io::stdin()).ok() }
    }

    #[cfg(unix)]
    fn restore(&self) {
        use rustix::termios::{OptionalActions, tcsetattr};
        if let Some(mode) = &self.mode {
            let _ = tcsetattr(std::io::stdin(), OptionalActions::Now, mode); // the terminal may be gone
        }
    }

    #[cfg(not(unix))]
    fn now() -> Self {
        Self {}
    }

    #[cfg(not(unix))]
    fn restore(&self) {}
}

/// A single key if that is enough, otherwise a line; none at the end of the input.
fn key_or_line(term: &::console::Term, (names, compares): &Request) -> Result<Option<String>, Failure> {
    if *compares || !has_single_keys(names) {
        return line(&mut std::io::stdin().lock());
    }
    let wrong = |e: std::io::Error| Failure::io("terminal", &e);
    let few = names.len() < 10 && has_places(names);
    let word = match term.read_char().map_err(wrong)? {
        c if SINGLE_KEYS.contains(&c) => {
            status!("{c}");
            c.to_string()
        }
        c @ '1'..='9' if few && (c as usize - '0' as usize) <= names.len() => {
            let name = &names[c as usize - '1' as usize];
            status!("{name}");
            name.clone()
        }
        '\n' | '\r' => String::new(),
        c => {
            status_part!("{c}");
            let rest = term.read_line().map_err(wrong)?;
            format!("{c}{rest}").trim().to_string()
        }
    };
    Ok(Some(word))
}
