//! Which process is free, and what does it know already?

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use serde::{Deserialize, Serialize};
use traceproof_vectors::{DecoderLimits, Program, ProtocolId, Refusal};

use super::command::{known_readings, unknown_reading};
use super::connection::Connection;
use super::limits::Pace;
use super::{Command, Limits, SubjectError};
use crate::adaptor::frame::{self, Framing};
use crate::adaptor::message::{Answer, Image, Nothing, Parameters, Run, Status, Welcome};
use crate::family::FamilyRules;

/// `forget` is sent to a process after this number of images and parameters.
const MOST_KEYS: usize = 256;

/// How many cases of a run are judged again in a new process.
const MOST_STARTS: u32 = 100;

/// The processes of one subject. There are as many as decoders and encoders are in use at once.
#[derive(Debug)]
pub(crate) struct Pool {
    command: Command,
    limits: Limits,
    /// The answer of the first process, with the readings of the command.
    welcome: Welcome,
    idle: Mutex<Vec<Worker>>,
    pace: Pace,
    deaths: AtomicU32,
    /// How many more times the subject may be restarted for one case.
    spare: AtomicU32,
}

impl Pool {
    /// Starts the first process.
    pub(super) fn start(command: &Command, limits: &Limits) -> Result<Self, SubjectError> {
        let first = Worker::start(command, limits)?;
        let mut welcome = first.connection.welcome().clone();
        let known: Vec<&str> = crate::family::IMPLEMENTED.iter().map(|protocol| protocol.name()).collect();
        for claims in [&mut welcome.decoders, &mut welcome.encoders] {
            // An unknown name is a slip of the pen, which would leave a whole protocol out.
            let is_known = |name: &String| ProtocolId::ALL.iter().any(|protocol| protocol.name() == name);
            if let Some(name) = claims.keys().find(|name| !is_known(name)) {
                let known = known.join(", ");
                return Err(SubjectError::protocol(format!(
                    "no protocol is called `{name}`; known are {known}"
                )));
            }
            let readings = known_readings();
            let mut claimed = claims.values().flat_map(|claims| &claims.readings);
            if let Some(unknown) = claimed.find(|name| !readings.contains(&name.as_str())) {
                return Err(SubjectError::protocol(unknown_reading(unknown, &readings)));
            }
            claims.values_mut().for_each(|claims| claims.readings.extend(command.readings.iter().cloned()));
        }
        Ok(Self {
            command: command.clone(),
            limits: *limits,
            welcome,
            idle: Mutex::new(vec![first]),
            pace: Pace::default(),
            deaths: AtomicU32::new(0),
            spare: AtomicU32::new(MOST_STARTS),
        })
    }

    /// The same subject in processes that no case has used before.
    pub(crate) fn anew(&self) -> Self {
        Self {
            command: self.command.clone(),
            limits: self.limits,
            welcome: self.welcome.clone(),
            idle: Mutex::default(),
            pace: Pace::default(),
            deaths: AtomicU32::new(self.limits.deaths),
            spare: AtomicU32::new(0),
        }
    }

    /// Whether one more case may be judged [anew](Self::anew): a subject that fails everywhere is not started thousands
    /// of times.
    pub(crate) fn may_start(&self) -> bool {
        self.spare.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1)).is_ok()
    }

    /// The claims of the subject.
    pub(super) const fn claims(&self) -> &Welcome {
        &self.welcome
    }

    /// Its name in reports.
    pub(super) fn name(&self) -> &str {
        self.command.name.as_deref().unwrap_or(&self.welcome.name)
    }

    /// Its version in reports.
    pub(super) fn version(&self) -> &str {
        &self.welcome.version
    }

    /// A process in exclusive use until it is returned.
    pub(super) fn lease(self: &Arc<Self>) -> Result<Lease, SubjectError> {
        let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let worker = match idle {
            Some(worker) => worker,
            None => Worker::start(&self.command, &self.limits)?,
        };
        Ok(Lease { pool: Arc::clone(self), worker: Some(worker) })
    }
}

/// A process in use; given back when dropped, if it can be used again.
#[derive(Debug)]
pub(super) struct Lease {
    pool: Arc<Pool>,
    /// Here as long as the lease is.
    worker: Option<Worker>,
}

impl Drop for Lease {
    fn drop(&mut self) {
        let Some(worker) = self.worker.take() else { return };
        if !worker.connection.is_alive() {
            self.pool.deaths.fetch_add(1, Ordering::Relaxed);
        } else if worker.connection.inflight() == 0
            && self.pool.deaths.load(Ordering::Relaxed) < self.pool.limits.deaths
        {
            self.pool.idle.lock().unwrap_or_else(PoisonError::into_inner).push(worker);
        }
    }
}

/// A process, and the keys that were sent to it.
#[derive(Debug)]
struct Worker {
    connection: Connection,
    parameters: Vec<(Vec<u8>, Option<Refusal>)>,
    images: Vec<Program>,
}

impl Worker {
    fn start(command: &Command, limits: &Limits) -> Result<Self, SubjectError> {
        let connection = Connection::open(command, limits)?;
        Ok(Self { connection, parameters: Vec::new(), images: Vec::new() })
    }
}

/// A request to decode or encode that has been sent.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sent {
    since: Instant,
    bytes: usize,
}

impl Lease {
    fn worker(&mut self) -> Result<&mut Worker, SubjectError> {
        self.worker.as_mut().ok_or_else(|| SubjectError::protocol("no process"))
    }

    /// Whether another request must wait for an answer.
    pub(super) fn is_full(&self) -> bool {
        self.worker.as_ref().is_some_and(|worker| worker.connection.is_full())
    }

    /// Whether it accepts stimulus with back-references.
    pub(super) fn takes_repeats(&self) -> bool {
        self.worker.as_ref().is_some_and(|worker| worker.connection.welcome().again)
    }

    /// The key of parameters; sends them if the process does not know them. An inner error is the subject's refusal.
    pub(super) fn parameters<P: FamilyRules>(
        &mut self,
        parameters: &P::Parameters,
        limits: Option<DecoderLimits>,
    ) -> Result<Result<u32, Refusal>, SubjectError> {
        let unwritable = |error| SubjectError::protocol(format!("parameters cannot be written: {error}"));
        let protocol = P::ID.name();
        let text = serde_json::to_vec(&(protocol, parameters, limits)).map_err(unwritable)?;
        self.make_room()?;
        let worker = self.worker()?;
        let known = worker.parameters.iter().position(|(known, _)| *known == text);
        let index = match known {
            Some(index) => index,
            None => {
                let index = worker.parameters.len();
                let message = Parameters { key: key(index), family: protocol.to_owned(), parameters, limits };
                let refusal = self.ask("parameters", &message, text.len())?;
                self.worker()?.parameters.push((text, refusal));
                index
            }
        };
        let refusal = self.worker()?.parameters.get(index).and_then(|(_, refusal)| refusal.clone());
        Ok(refusal.map_or(Ok(key(index)), Err))
    }

    /// The key of an image; sends it if the process does not know it. An inner error is the subject's refusal.
    pub(super) fn image(&mut self, program: &Program) -> Result<Result<u32, Refusal>, SubjectError> {
        let worker = self.worker()?;
        if !worker.connection.welcome().spaces && program.has_spaces() {
            return Ok(Err(Refusal::unsupported("spaces")));
        }
        let known = worker.images.iter().position(|known| known == program);
        if let Some(index) = known {
            return Ok(Ok(key(index)));
        }
        let index = worker.images.len();
        let bytes = program.sections().iter().map(|section| section.bytes.len()).sum();
        if let Some(refusal) = self.ask("image", &Image::of(key(index), program), bytes)? {
            return Ok(Err(refusal));
        }
        self.worker()?.images.push(program.clone());
        Ok(Ok(key(index)))
    }

    /// What was sent under keys is not kept for ever.
    fn make_room(&mut self) -> Result<(), SubjectError> {
        let worker = self.worker()?;
        if worker.images.len().max(worker.parameters.len()) >= MOST_KEYS {
            worker.images.clear();
            worker.parameters.clear();
            // A process without `forget` may keep everything: keys are sent again.
            self.ask("forget", &Nothing {}, 0)?;
        }
        Ok(())
    }

    /// Sends a request and waits for its answer.
    fn ask(
        &mut self,
        op: &'static str,
        body: &impl Serialize,
        bytes: usize,
    ) -> Result<Option<Refusal>, SubjectError> {
        let sent = self.send(op, body, bytes)?;
        let answer: Answer<Nothing> = self.receive(sent)?;
        Ok(answer.refusal())
    }

    /// Sends a request that is about so many bytes.
    pub(super) fn send(
        &mut self,
        op: &'static str,
        body: &impl Serialize,
        bytes: usize,
    ) -> Result<Sent, SubjectError> {
        self.worker()?.connection.send(op, body)?;
        Ok(Sent { since: Instant::now(), bytes })
    }

    /// Sends a `run`, in the form that suits the framing.
    pub(super) fn run(&mut self, run: &Run<'_>, bytes: usize) -> Result<Sent, SubjectError> {
        let connection = &mut self.worker()?.connection;
        match connection.welcome().framing {
            Framing::JsonLines => connection.send("run", run)?,
            Framing::Bin1 => connection.send_message(|_, id| frame::run(id, run))?,
        };
        Ok(Sent { since: Instant::now(), bytes })
    }

    /// Waits for the answer to the oldest request.
    pub(super) fn receive<R: for<'de> Deserialize<'de>>(
        &mut self,
        sent: Sent,
    ) -> Result<Answer<R>, SubjectError> {
        let deadline = self.pool.limits.deadline(&self.pool.pace, sent.bytes);
        let connection = &mut self.worker()?.connection;
        let (_, answer) = connection.receive(deadline)?;
        let answer: Answer<R> = connection.understood(&answer)?;
        self.pool.pace.took(sent.since.elapsed());
        match answer.status {
            Status::Error => {
                let message = answer.message.unwrap_or_else(|| String::from("something"));
                Err(SubjectError::Broke { message })
            }
            _ => Ok(answer),
        }
    }

    /// The process broke the protocol.
    pub(super) fn breach(&mut self, message: impl Into<String>) -> SubjectError {
        match self.worker() {
            Ok(worker) => worker.connection.breach(message),
            Err(error) => error,
        }
    }
}

fn key(index: usize) -> u32 {
    u32::try_from(index).unwrap_or(u32::MAX)
}
