//! Sends a process messages that the runner would never send, and reads any answer.
//!
//! The runner's own connection ends at the first protocol error. Here invalid output is stored separately, so that
//! every probe has its own result.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fmt;
use std::io::{BufReader, Write};
use std::process::{ChildStdin, ChildStdout};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, SyncSender, channel, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Map, Value, json};

use crate::adaptor::frame::{self, Frame, FrameError, Framing};
use crate::adaptor::message::{HexBytes, Run, Start};
use crate::process::child::{Child, Parting, Pipes};
use crate::process::{Command, Limits, SubjectError};

/// How much of a message is shown.
const SHOWN: usize = 200;

/// How many things that are no answers, or not the right ones, are kept.
const MOST_NOISE: usize = 5;

/// A process, and all its output.
#[derive(Debug)]
pub(super) struct Conversation {
    child: Child,
    /// `None` after the last message.
    requests: Option<Sender<Vec<u8>>>,
    incoming: Receiver<Heard>,
    /// Sets the framing of the next message for the reader; `Some`: also of all following ones.
    framings: SyncSender<Option<Framing>>,
    framing: Option<Framing>,
    deadline: Duration,
    next: u32,
    answered: BTreeSet<u32>,
    alive: bool,
    /// Output that is not an answer.
    pub(super) noise: Vec<String>,
    /// Answers with an id that was not asked for: request and answer.
    pub(super) wrong_ids: Vec<(String, String)>,
}

/// Messages from the reader thread.
#[derive(Debug)]
enum Heard {
    /// A message; in frames, with the id outside of it.
    Message(Option<u32>, Vec<u8>),
    Ended,
    Broken(FrameError),
}

/// What came of a request.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Came {
    /// A JSON object.
    Answer(Value),
    /// Nothing, for so long.
    Nothing(Duration),
    /// It ended, or wrote something that is neither line nor frame.
    Ended(String),
}

impl Conversation {
    /// Starts a process.
    pub(super) fn start(command: &Command, limits: &Limits) -> Result<Self, SubjectError> {
        let (child, Pipes { input, output }) = Child::start(command, limits)?;
        let (requests, waiting) = channel();
        thread::spawn(move || write_requests(input, &waiting));
        // Bounded: a subject that writes without a request fills its own pipe, not this memory.
        let (sender, incoming) = sync_channel(4);
        let (framings, next) = sync_channel(4);
        let limit = limits.message;
        thread::spawn(move || read_messages(output, &next, limit, &sender));
        Ok(Self {
            child,
            requests: Some(requests),
            incoming,
            framings,
            framing: None,
            deadline: limits.answer_deadline(),
            next: 0,
            answered: BTreeSet::new(),
            alive: true,
            noise: Vec::new(),
            wrong_ids: Vec::new(),
        })
    }

    /// From now on an answer may take so long.
    pub(super) const fn wait_for(&mut self, deadline: Duration) {
        self.deadline = deadline;
    }

    /// Whether it can still be asked.
    pub(super) const fn is_alive(&self) -> bool {
        self.alive
    }

    /// Sets the framing of all further messages; to be called after the answer to `hello`, before the next message is
    /// read.
    pub(super) fn travel(&mut self, framing: Framing) {
        self.framing = Some(framing);
        // The reader is gone only if the process is.
        let _ = self.framings.try_send(Some(framing));
    }

    /// The id of the next request, from now on.
    pub(super) const fn count_from(&mut self, id: u32) {
        self.next = id;
    }

    /// The id of the next request.
    pub(super) const fn next_id(&self) -> u32 {
        self.next
    }

    /// Sends a request and waits for its answer: what was sent, and what came.
    pub(super) fn ask(&mut self, op: &str, body: Value) -> (String, Came) {
        let (id, sent) = self.say(op, body);
        let came = self.answer(id, &sent);
        (sent, came)
    }

    /// Sends a request: its id and its text.
    pub(super) fn say(&mut self, op: &str, body: Value) -> (u32, String) {
        let id = self.next;
        self.next = id.wrapping_add(1);
        let mut message = Map::new();
        message.insert(String::from("op"), Value::from(op));
        message.insert(String::from("id"), Value::from(id));
        if let Value::Object(body) = body {
            message.extend(body);
        }
        let text = Value::Object(message).to_string();
        self.send(frame::json(self.framing.unwrap_or_default(), id, text.clone().into_bytes()));
        (id, shown(&text))
    }

    /// Sends a `run`, in the form that suits the framing. Only as JSON can it have an unknown field.
    pub(super) fn say_run(&mut self, run: &Run<'_>, remark: bool) -> (u32, String) {
        let mut body = serde_json::to_value(run).unwrap_or_default();
        if let (true, Value::Object(body)) = (remark, &mut body) {
            body.insert(String::from(REMARK), json!({ "of": ["no", "meaning"] }));
        }
        if self.framing != Some(Framing::Bin1) {
            return self.say("run", body);
        }
        let id = self.next;
        self.next = id.wrapping_add(1);
        self.send(frame::run(id, run));
        (id, shown(&format!("a frame of kind 1 for {body}")))
    }

    /// Sends the first half of a `run`, as a message that ends there.
    pub(super) fn say_half(&mut self, run: &Run<'_>) -> String {
        let id = self.next;
        self.next = id.wrapping_add(1);
        // Cut within the last chunk: the relevant part has been sent by then.
        let chunks: String = run.chunks.iter().map(|HexBytes(bytes)| hex(bytes)).collect();
        let half = chunks.get(..chunks.len() / 2).unwrap_or_default();
        let text = format!(
            "{{\"op\":\"run\",\"id\":{id},\"start\":\"begin\",\"parameters\":{},\"image\":{},\"finish\":true,\"chunks\":[\"{half}",
            run.parameters, run.image
        );
        self.send(frame::json(self.framing.unwrap_or_default(), id, text.clone().into_bytes()));
        shown(&text)
    }

    fn send(&mut self, message: Vec<u8>) {
        if let Some(requests) = &self.requests {
            // If writing fails, the end of the process will be noticed by the reader.
            let _ = requests.send(message);
        }
    }

    /// Waits for an answer to the request `id`. One to a request that has an answer already is passed over, one
    /// with any other id is taken; both are kept in mind.
    pub(super) fn answer(&mut self, id: u32, sent: &str) -> Came {
        let end = Instant::now() + self.deadline;
        loop {
            let answer = match self.hear(end) {
                Came::Answer(answer) => answer,
                other => return other,
            };
            let answer_id = id_of(&answer);
            if let Some(answer_id) = answer_id
                && answer_id != id
                && self.answered.contains(&answer_id)
            {
                let second = format!("a second answer to request {answer_id}, {answer}");
                self.misattributed(sent, &second);
                continue;
            }
            if answer_id != Some(id) {
                self.misattributed(sent, &answer.to_string());
            }
            self.answered.extend([id].into_iter().chain(answer_id));
            return Came::Answer(answer);
        }
    }

    /// The next JSON object, whatever its `id`.
    pub(super) fn next(&mut self) -> Came {
        self.hear(Instant::now() + self.deadline)
    }

    fn hear(&mut self, end: Instant) -> Came {
        if !self.alive {
            return Came::Ended(String::from("it had ended before"));
        }
        loop {
            let heard = match self.incoming.recv_timeout(end.saturating_duration_since(Instant::now())) {
                Ok(heard) => heard,
                Err(RecvTimeoutError::Disconnected) => Heard::Ended,
                Err(RecvTimeoutError::Timeout) => {
                    // A child of a process that has ended may hold its pipes open.
                    if self.child.has_ended() {
                        return self.ended("it closed its standard output");
                    }
                    self.give_up();
                    return Came::Nothing(self.deadline);
                }
            };
            match heard {
                Heard::Message(id, bytes) => {
                    if let Ok(Value::Object(mut answer)) = serde_json::from_slice(&bytes) {
                        if let Some(id) = id {
                            answer.insert(String::from("id"), Value::from(id));
                        }
                        return Came::Answer(Value::Object(answer));
                    }
                    self.overhear(String::from_utf8_lossy(&bytes).trim_end());
                    // No answer to `hello` yet: what follows is a line, too.
                    let _ = self.framings.try_send(None);
                }
                Heard::Ended => return self.ended("it closed its standard output"),
                Heard::Broken(FrameError::Truncated) => {
                    return self.ended("its output ends within a message");
                }
                Heard::Broken(error) => {
                    self.give_up();
                    return Came::Ended(error.to_string());
                }
            }
        }
    }

    fn ended(&mut self, otherwise: &str) -> Came {
        let ending = self.child.end().map_or_else(|| otherwise.to_owned(), |ending| ending.to_string());
        self.give_up();
        let stderr = self.child.last_words();
        let last = stderr.lines().last().unwrap_or_default();
        Came::Ended(if last.is_empty() {
            ending
        } else {
            format!("{ending}; its standard error ends with: {last}")
        })
    }

    fn overhear(&mut self, text: &str) {
        if self.noise.len() < MOST_NOISE {
            self.noise.push(shown(text));
        }
    }

    fn misattributed(&mut self, sent: &str, answer: &str) {
        if self.wrong_ids.len() < MOST_NOISE {
            self.wrong_ids.push((sent.to_owned(), shown(answer)));
        }
    }

    fn give_up(&mut self) {
        self.alive = false;
        self.requests = None;
        self.child.kill();
    }

    /// Sends `bye` and waits for the end; `None` if the process does not end.
    pub(super) fn part(&mut self) -> (String, Option<Parting>) {
        let bye = String::from("{\"op\":\"bye\"}");
        self.send(frame::json(self.framing.unwrap_or_default(), self.next, bye.clone().into_bytes()));
        self.requests = None;
        let parting = self.child.part(self.deadline);
        self.alive = false;
        // Its last output is still in the pipe, which ends soon: all processes that hold it are dead.
        while let Ok(Heard::Message(_, bytes)) = self.incoming.recv_timeout(self.deadline) {
            let _ = self.framings.try_send(None);
            self.overhear(&format!("after bye: {}", String::from_utf8_lossy(&bytes).trim_end()));
        }
        (bye, parting)
    }
}

/// A field that no request has.
pub(super) const REMARK: &str = "remark";

/// The id that an answer has.
pub(super) fn id_of(answer: &Value) -> Option<u32> {
    answer.get("id").and_then(Value::as_u64).and_then(|id| u32::try_from(id).ok())
}

/// As much of a message as a line shows.
fn shown(text: &str) -> String {
    let mut characters = text.chars();
    let begin: String = characters.by_ref().take(SHOWN).collect();
    let rest = characters.count();
    if rest == 0 { begin } else { format!("{begin}… ({rest} more)") }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

impl fmt::Display for Came {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Answer(answer) => f.write_str(&shown(&answer.to_string())),
            Self::Nothing(deadline) => write!(f, "nothing for {deadline:?}"),
            Self::Ended(how) => f.write_str(how),
        }
    }
}

/// A stream from its beginning to its end under these keys.
pub(super) fn whole(key: u32, wire: &[u8]) -> Run<'_> {
    let chunks = vec![HexBytes(Cow::Borrowed(wire))];
    Run { start: Start::Begin, parameters: key, image: key, chunks, finish: true }
}

fn write_requests(mut input: ChildStdin, requests: &Receiver<Vec<u8>>) {
    while let Ok(request) = requests.recv() {
        if input.write_all(&request).and_then(|()| input.flush()).is_err() {
            return;
        }
    }
}

fn read_messages(
    mut output: BufReader<ChildStdout>,
    framings: &Receiver<Option<Framing>>,
    limit: u64,
    sender: &SyncSender<Heard>,
) {
    let mut settled = None;
    loop {
        let heard = match frame::read(&mut output, settled.unwrap_or_default(), limit) {
            Ok(Some(Frame::Json(id, message))) => Heard::Message(id, message),
            Ok(Some(Frame::Run(..))) => Heard::Broken(FrameError::Kind(frame::RUN)),
            Ok(None) => Heard::Ended,
            Err(error) => Heard::Broken(error),
        };
        let goes_on = matches!(heard, Heard::Message(..));
        if sender.send(heard).is_err() || !goes_on {
            return;
        }
        // The framing of the next message is unknown until the answer to `hello` is known.
        if settled.is_none() {
            match framings.recv() {
                Ok(framing) => settled = framing,
                Err(_) => return,
            }
        }
    }
}
