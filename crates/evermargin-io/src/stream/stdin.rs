//! Interruptible standard input: a thread reads from it, and the reader waits for the thread or for a stop flag.

use std::io::{self, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::time::Duration;

/// Bytes read at a time.
const PIECE: usize = 1 << 16;

/// Maximum number of pieces in the queue.
const QUEUE: usize = 4;

/// Time between two checks of the stop flag.
const POLL: Duration = Duration::from_millis(50);

/// Reader whose `read` returns `WouldBlock` if the stop flag is set and no bytes have arrived.
pub(crate) struct InterruptibleReader {
    pieces: Receiver<io::Result<Vec<u8>>>,
    current: Vec<u8>,
    taken: usize,
    ended: bool,
    stop: Arc<AtomicBool>,
}

impl InterruptibleReader {
    pub(crate) fn stdin(stop: Arc<AtomicBool>) -> Self {
        Self::over(io::stdin(), stop)
    }

    fn over(mut source: impl Read + Send + 'static, stop: Arc<AtomicBool>) -> Self {
        let (sender, pieces) = sync_channel(QUEUE);
        std::thread::spawn(move || {
            loop {
                let mut piece = vec![0; PIECE];
                let read = match source.read(&mut piece) {
                    Err(e) if e.kind() == io::ErrorKind::Interrupted => continue,
                    other => other,
                };
                let last = !matches!(read, Ok(n) if n > 0);
                let sent = sender.send(read.map(|n| {
                    piece.truncate(n);
                    piece
                }));
                if last || sent.is_err() {
                    return;
                }
            }
        });
        Self { pieces, current: Vec::new(), taken: 0, ended: false, stop }
    }
}

impl Read for InterruptibleReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.taken == self.current.len() && !self.ended {
            match self.pieces.recv_timeout(POLL) {
                Ok(piece) => {
                    (self.current, self.taken) = (piece?, 0);
                    self.ended = self.current.is_empty();
                }
                Err(RecvTimeoutError::Disconnected) => self.ended = true,
                Err(RecvTimeoutError::Timeout) if self.stop.load(Ordering::SeqCst) => {
                    return Err(io::ErrorKind::WouldBlock.into());
                }
                Err(RecvTimeoutError::Timeout) => {}
            }
        }
        let count = buffer.len().min(self.current.len() - self.taken);
        buffer[..count].copy_from_slice(&self.current[self.taken..self.taken + count]);
        self.taken += count;
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use super::{Arc, AtomicBool, InterruptibleReader, Ordering, Read};
    use std::io::{ErrorKind, Write};

    #[test]
    fn stop_flag_ends_waiting_for_input() {
        let (source, mut sink) = std::io::pipe().unwrap();
        let stop = Arc::new(AtomicBool::new(false));
        let mut reader = InterruptibleReader::over(source, Arc::clone(&stop));
        sink.write_all(b"abc").unwrap();
        let mut buffer = [0; 2];
        assert_eq!(reader.read(&mut buffer).unwrap(), 2);
        stop.store(true, Ordering::SeqCst);
        assert_eq!(reader.read(&mut buffer).unwrap(), 1, "bytes that have arrived are returned first");
        assert_eq!(reader.read(&mut buffer).unwrap_err().kind(), ErrorKind::WouldBlock);
        sink.write_all(b"d").unwrap();
        drop(sink);
        let mut rest = Vec::new();
        reader.read_to_end(&mut rest).unwrap();
        assert_eq!(rest, b"d");
    }
}
