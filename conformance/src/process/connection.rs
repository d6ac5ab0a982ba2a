//! Sends requests to a process and receives its answers.
//!
//! Separate threads write and read, so two full pipes cannot block each other. All output of the process is checked
//! before use: length, JSON, and the request that it answers.

use std::collections::{VecDeque, hash_map::RandomState};
use std::hash::{BuildHasher, Hasher};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::process::{ChildStdin, ChildStdout};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, SyncSender, channel, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

use serde::Deserialize;

use super::child::{Child, Pipes};
use super::{Command, Limits, SubjectError};
use crate::adaptor::VERSION;
use crate::adaptor::frame::{self, Frame, FrameError, Framing};
use crate::adaptor::message::{Hello, Nothing, Request, Welcome};

/// The most requests that wait for their answers at once, whatever a subject allows.
const MOST_INFLIGHT: u32 = 16;

/// The most bytes of what a subject calls itself, which reports repeat.
const MOST_OF_A_NAME: usize = 1024;

/// A process that has answered `hello`.
#[derive(Debug)]
pub(super) struct Connection {
    child: Child,
    /// `None` once the process is to be gone.
    requests: Option<Sender<Vec<u8>>>,
    incoming: Receiver<Incoming>,
    /// Bytes that have come.
    received: Arc<AtomicU64>,
    /// The most bytes of a message.
    limit: u64,
    welcome: Welcome,
    next: u32,
    /// Requests without answers, the oldest first.
    inflight: VecDeque<u32>,
    /// What became of it.
    error: Option<SubjectError>,
}

/// Messages from the threads.
#[derive(Debug)]
enum Incoming {
    Answer(u32, Vec<u8>),
    /// The output ended.
    Ended,
    Broken(FrameError),
    NoJson(String),
    /// The input cannot be written to.
    InputClosed,
}

/// The head of an answer.
#[derive(Deserialize)]
struct AnswerId {
    id: Option<u32>,
}

impl Connection {
    /// Starts a process and sends `hello`.
    pub(super) fn open(command: &Command, limits: &Limits) -> Result<Self, SubjectError> {
        let (child, Pipes { input, output }) = Child::start(command, limits)?;
        // Bounded: a subject that writes without a request fills its own pipe, not this memory.
        let (sender, incoming) = sync_channel(4);
        let (requests, waiting) = channel();
        let writer = sender.clone();
        thread::spawn(move || write_requests(input, &waiting, &writer));
        // The framing of what comes after the answer to `hello` is in that answer.
        let (chosen, framing) = sync_channel(1);
        let limit = limits.message;
        let received = Arc::new(AtomicU64::new(0));
        let output = Counted { output, received: Arc::clone(&received) };
        thread::spawn(move || read_answers(output, &framing, limit, &sender));

        let nonce = nonce();
        let mut connection = Self {
            child,
            requests: Some(requests),
            incoming,
            received,
            limit,
            welcome: not_welcomed(),
            next: 0,
            inflight: VecDeque::new(),
            error: None,
        };
        let hello = Hello {
            tdut: VERSION,
            nonce: nonce.clone(),
            framings: command.framings.clone(),
            max_message: limits.message,
            again: command.again,
        };
        connection.send("hello", &hello)?;
        let (_, answer) = connection.receive(limits.hello_deadline())?;
        let welcome = connection.understood(&answer)?;
        connection.greet(welcome, &nonce, command, &chosen)?;
        Ok(connection)
    }

    fn greet(
        &mut self,
        welcome: Welcome,
        nonce: &str,
        Command { framings, again, .. }: &Command,
        chosen: &SyncSender<Framing>,
    ) -> Result<(), SubjectError> {
        let wrong = if welcome.tdut != VERSION {
            Some(format!("it speaks tdut/{}, not tdut/{VERSION}", welcome.tdut))
        } else if welcome.nonce != nonce {
            Some(String::from("its nonce is not that of the request"))
        } else if !framings.contains(&welcome.framing) {
            Some(format!("it chose the framing {}, which was not offered", welcome.framing.name()))
        } else if let Some(text) =
            [&welcome.name, &welcome.version, &welcome.issues].iter().find(|text| text.len() > MOST_OF_A_NAME)
        {
            let bytes = text.len();
            Some(format!("its name, version or issues have {bytes} bytes, more than {MOST_OF_A_NAME}"))
        } else if welcome.again && !again {
            Some(String::from("it wants `again`, which was not offered"))
        } else {
            None
        };
        if let Some(wrong) = wrong {
            return Err(self.breach(wrong));
        }
        // The reader is gone only if the process is.
        let _ = chosen.send(welcome.framing);
        self.welcome = welcome;
        Ok(())
    }

    /// Its answer to `hello`.
    pub(super) const fn welcome(&self) -> &Welcome {
        &self.welcome
    }

    /// Whether requests may still be sent.
    pub(super) const fn is_alive(&self) -> bool {
        self.error.is_none()
    }

    /// How many requests have no answer yet.
    pub(super) fn inflight(&self) -> usize {
        self.inflight.len()
    }

    /// Whether another request must wait for an answer.
    pub(super) fn is_full(&self) -> bool {
        self.inflight.len() >= self.welcome.max_inflight.clamp(1, MOST_INFLIGHT) as usize
    }

    /// Sends a request, and gives its id.
    pub(super) fn send(
        &mut self,
        op: &'static str,
        body: &impl serde::Serialize,
    ) -> Result<u32, SubjectError> {
        let id = self.next;
        let bytes = serde_json::to_vec(&Request { op, id, body });
        let bytes =
            bytes.map_err(|error| SubjectError::protocol(format!("{op} cannot be written: {error}")))?;
        self.send_message(|framing, id| frame::json(framing, id, bytes))
    }

    /// Sends what `message` makes for a framing and an id.
    pub(super) fn send_message(
        &mut self,
        message: impl FnOnce(Framing, u32) -> Vec<u8>,
    ) -> Result<u32, SubjectError> {
        if let Some(error) = &self.error {
            return Err(error.clone());
        }
        let id = self.next;
        self.next = self.next.wrapping_add(1);
        self.inflight.push_back(id);
        if let Some(requests) = &self.requests {
            // A writer that ended has reported the reason.
            let _ = requests.send(message(self.welcome.framing, id));
        }
        Ok(id)
    }

    /// The next answer and the id of its request.
    ///
    /// The time begins now: the caller already has the answer before this one, and a subject works on one request at a
    /// time.
    pub(super) fn receive(&mut self, deadline: Duration) -> Result<(u32, Vec<u8>), SubjectError> {
        if let Some(error) = &self.error {
            return Err(error.clone());
        }
        let mut end = Instant::now().checked_add(deadline);
        let mut closed = false;
        let mut before = self.received.load(Ordering::Relaxed);
        loop {
            let left = end.map_or(LOOK, |end| end.saturating_duration_since(Instant::now()));
            let error = match self.incoming.recv_timeout(left.min(LOOK)) {
                Ok(Incoming::Answer(id, answer)) if self.inflight.front() == Some(&id) => {
                    self.inflight.pop_front();
                    return Ok((id, answer));
                }
                Ok(Incoming::InputClosed) => {
                    // Earlier output may still arrive.
                    closed = true;
                    let closing = Instant::now() + CLOSING;
                    end = Some(end.map_or(closing, |end| end.min(closing)));
                    continue;
                }
                Ok(failure) => self.explained(failure),
                // If it has ended, the pipe ends as well, after its last output.
                Err(RecvTimeoutError::Timeout) if left > LOOK || end.is_none() => {
                    self.child.has_ended();
                    continue;
                }
                Err(RecvTimeoutError::Timeout) if closed => self.breach("it closed its standard input"),
                Err(RecvTimeoutError::Timeout) if self.is_prolific(&mut before) => {
                    end = Instant::now().checked_add(deadline);
                    continue;
                }
                Err(RecvTimeoutError::Timeout) => self.die(SubjectError::Late { deadline }),
                Err(RecvTimeoutError::Disconnected) => self.explained(Incoming::Ended),
            };
            return Err(error);
        }
    }

    /// Whether so much has come since `before` that at this rate the limit of a message is reached soon.
    ///
    /// An endless answer is stopped by that limit and by no deadline, so that the verdict does not depend on the load
    /// of the machine.
    fn is_prolific(&self, before: &mut u64) -> bool {
        let received = self.received.load(Ordering::Relaxed);
        let came = received - std::mem::replace(before, received);
        came >= (self.limit / MOST_EXTENSIONS).max(1)
    }

    fn explained(&mut self, failure: Incoming) -> SubjectError {
        match failure {
            Incoming::Answer(id, _) => match self.inflight.front() {
                Some(asked) => self.breach(format!("it answered request {id} instead of {asked}")),
                None => self.breach(format!("it answered request {id} without being asked")),
            },
            Incoming::Ended | Incoming::InputClosed => self.ended("it closed its standard output"),
            Incoming::Broken(FrameError::TooLong { limit }) => self.die(SubjectError::TooMuch { limit }),
            // A process that dies while writing leaves an incomplete message.
            Incoming::Broken(FrameError::Truncated) => self.ended("its output ends within a message"),
            Incoming::Broken(error) => self.breach(error.to_string()),
            Incoming::NoJson(error) => self.breach(error),
        }
    }

    /// Its output has ended: how did it, or, if it lives, what did it do?
    fn ended(&mut self, otherwise: &str) -> SubjectError {
        match self.child.end() {
            Some(ending) => self.die(SubjectError::Ended { ending, stderr: self.child.last_words() }),
            None => self.breach(otherwise),
        }
    }

    /// Reads an answer.
    pub(super) fn understood<T: for<'de> Deserialize<'de>>(
        &mut self,
        answer: &[u8],
    ) -> Result<T, SubjectError> {
        serde_json::from_slice(answer).map_err(|error| {
            let start = String::from_utf8_lossy(answer.get(..200.min(answer.len())).unwrap_or_default());
            self.breach(format!("{error}, in `{}`", start.trim_end()))
        })
    }

    /// It broke the protocol.
    pub(super) fn breach(&mut self, message: impl Into<String>) -> SubjectError {
        self.child.kill();
        let stderr = self.child.last_words();
        self.die(SubjectError::Protocol { message: message.into(), stderr })
    }

    fn die(&mut self, error: SubjectError) -> SubjectError {
        self.child.kill();
        self.requests = None;
        self.error = Some(error.clone());
        error
    }
}

/// Interval of the check whether a silent process is still running: its children may hold its pipes open.
const LOOK: Duration = Duration::from_millis(100);

/// How often a deadline is extended at most, for an answer that keeps coming.
const MOST_EXTENSIONS: u64 = 100;

/// How long an answer may stay in the pipe after its input was closed.
const CLOSING: Duration = Duration::from_millis(500);

/// An orderly end: `bye`, and time to go.
impl Drop for Connection {
    fn drop(&mut self) {
        if self.is_alive() && self.inflight.is_empty() && self.send("bye", &Nothing {}).is_ok() {
            self.requests = None;
            self.child.end();
        }
    }
}

/// The value until the first answer.
fn not_welcomed() -> Welcome {
    Welcome {
        tdut: VERSION,
        nonce: String::new(),
        framing: Framing::JsonLines,
        max_inflight: 1,
        again: false,
        spaces: false,
        name: String::new(),
        version: String::new(),
        issues: String::new(),
        decoders: std::collections::BTreeMap::new(),
        encoders: std::collections::BTreeMap::new(),
    }
}

/// A value that was never sent before.
pub(crate) fn nonce() -> String {
    // Every state has keys of its own, from the system's randomness.
    let random = || RandomState::new().build_hasher().finish();
    format!("{:016x}{:016x}", random(), random())
}

fn write_requests(mut input: ChildStdin, requests: &Receiver<Vec<u8>>, sender: &SyncSender<Incoming>) {
    while let Ok(request) = requests.recv() {
        if input.write_all(&request).and_then(|()| input.flush()).is_err() {
            // The receiver is gone if the process was abandoned.
            let _ = sender.send(Incoming::InputClosed);
            return;
        }
    }
}

/// Counts what is read.
struct Counted {
    output: BufReader<ChildStdout>,
    received: Arc<AtomicU64>,
}

impl Read for Counted {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.output.read(buffer)?;
        self.received.fetch_add(count as u64, Ordering::Relaxed);
        Ok(count)
    }
}

impl BufRead for Counted {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.output.fill_buf()
    }

    fn consume(&mut self, count: usize) {
        self.output.consume(count);
        self.received.fetch_add(count as u64, Ordering::Relaxed);
    }
}

fn read_answers(
    mut output: impl BufRead,
    framing: &Receiver<Framing>,
    limit: u64,
    sender: &SyncSender<Incoming>,
) {
    let mut chosen = None;
    loop {
        let read = frame::read(&mut output, chosen.unwrap_or_default(), limit);
        let incoming = match read {
            Ok(Some(Frame::Json(id, answer))) => answered(id, answer),
            Ok(Some(Frame::Run(..))) => Incoming::Broken(FrameError::Kind(frame::RUN)),
            Ok(None) => Incoming::Ended,
            Err(error) => Incoming::Broken(error),
        };
        let goes_on = matches!(incoming, Incoming::Answer(..));
        if sender.send(incoming).is_err() || !goes_on {
            return;
        }
        if chosen.is_none() {
            let Ok(framing) = framing.recv() else { return };
            chosen = Some(framing);
        }
    }
}

fn answered(id: Option<u32>, answer: Vec<u8>) -> Incoming {
    if let Some(id) = id {
        return Incoming::Answer(id, answer);
    }
    match serde_json::from_slice(&answer) {
        Ok(AnswerId { id: Some(id) }) => Incoming::Answer(id, answer),
        Ok(AnswerId { id: None }) => Incoming::NoJson(String::from("an answer has no `id`")),
        Err(error) => {
            let start = String::from_utf8_lossy(answer.get(..200.min(answer.len())).unwrap_or_default());
            Incoming::NoJson(format!("an answer is no JSON ({error}): `{}`", start.trim_end()))
        }
    }
}
