//! What does an encoder ask its process?

use std::collections::VecDeque;
use std::fmt;
use std::sync::Arc;

use serde_json::value::RawValue;
use traceproof_vectors::{Capabilities, Encoder, EncoderSink, Refusal};

use super::SubjectError;
use super::pool::{Lease, Pool, Sent};
use crate::adaptor::backref::{Element, MOST_ITEMS, Reader};
use crate::adaptor::message::{Encode, EncodedItem, Start};
use crate::adaptor::repeats::Writer;
use crate::family::{FamilyRules, Timing};

/// Steps of stimulus that are sent at once.
const MOST_STEPS: usize = 2048;

/// What a step may cost the process besides reading it, as bytes asked about.
const STEP_BYTES: usize = 16;

/// An encoder in another process.
pub(super) struct Proxy<P: FamilyRules> {
    pool: Arc<Pool>,
    capabilities: Capabilities,
    session: Option<Session<P>>,
}

/// An encoder that has begun.
struct Session<P: FamilyRules> {
    lease: Lease,
    parameters: u32,
    /// Steps that wait to be sent.
    stimulus: Writer<P::Stimulus>,
    /// How many.
    steps: usize,
    /// Requests whose results have not come yet.
    sent: VecDeque<Sent>,
    /// Results for back-references.
    results: Reader<EncodedItem<P>>,
}

impl<P: FamilyRules> fmt::Debug for Proxy<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Proxy").field("pool", &self.pool).finish_non_exhaustive()
    }
}

impl<P: FamilyRules> Proxy<P> {
    pub(super) const fn new(pool: Arc<Pool>, capabilities: Capabilities) -> Self {
        Self { pool, capabilities, session: None }
    }

    fn open(
        &mut self,
        parameters: &P::Parameters,
        policy: &P::Policy,
    ) -> Result<Result<(), Refusal>, SubjectError> {
        let mut lease = match self.session.take() {
            Some(mut session) => {
                session.receive_all(&mut ())?;
                session.lease
            }
            None => self.pool.lease()?,
        };
        let parameters = match lease.parameters::<P>(parameters, None)? {
            Ok(key) => key,
            Err(refusal) => return Ok(Err(refusal)),
        };
        let stimulus = Writer::new(lease.takes_repeats());
        let mut session = Session {
            lease,
            parameters,
            stimulus,
            steps: 0,
            sent: VecDeque::new(),
            results: Reader::default(),
        };
        session.send(Some(policy), false)?;
        let begun = match session.receive_all(&mut ()) {
            Err(SubjectError::Refused(refusal)) => Err(refusal),
            other => other.map(Ok)?,
        };
        self.session = Some(session);
        Ok(begun)
    }

    /// Does something with the process, and unwinds if it fails.
    fn ask(&mut self, what: impl FnOnce(&mut Session<P>) -> Result<(), SubjectError>) {
        // Without a session: as an encoder that is asked before it has begun.
        let done = self.session.as_mut().map_or(Ok(()), what);
        if let Err(error) = done {
            self.session = None;
            error.unwind();
        }
    }
}

impl<P: FamilyRules> Encoder<P> for Proxy<P> {
    fn capabilities(&self) -> Capabilities {
        self.capabilities.clone()
    }

    fn begin(&mut self, parameters: &P::Parameters, policy: &P::Policy) -> Result<(), Refusal> {
        self.open(parameters, policy).unwrap_or_else(|error| {
            self.session = None;
            error.unwind()
        })
    }

    fn step(&mut self, stimulus: &P::Stimulus, sink: &mut dyn EncoderSink<P>) {
        self.ask(|session| session.step(stimulus, sink));
    }

    fn finish(&mut self, sink: &mut dyn EncoderSink<P>) {
        self.ask(|session| {
            session.send(None, true)?;
            session.receive_all(sink)
        });
    }
}

impl<P: FamilyRules> Session<P> {
    fn step(&mut self, stimulus: &P::Stimulus, sink: &mut dyn EncoderSink<P>) -> Result<(), SubjectError> {
        let timed = P::TIMING.and_then(|rules| Some(((rules.get)(stimulus)?, rules)));
        match timed.filter(|(timing, _)| *timing != Timing::default()) {
            Some((timing, rules)) => {
                let mut timeless = stimulus.clone();
                (rules.set)(&mut timeless, Timing::default());
                self.stimulus.item_at(&timeless, timing, stimulus);
            }
            None => self.stimulus.item(stimulus),
        }
        self.steps += 1;
        if self.steps >= MOST_STEPS {
            if self.lease.is_full() {
                self.receive(sink)?;
            }
            self.send(None, false)?;
        }
        Ok(())
    }

    /// Sends what waits. With a policy the encoder begins.
    fn send(&mut self, policy: Option<&P::Policy>, finish: bool) -> Result<(), SubjectError> {
        let unwritable = |error| SubjectError::protocol(format!("stimulus cannot be written: {error}"));
        let text = self.stimulus.take().map_err(unwritable)?;
        let bytes = text.len() + STEP_BYTES * self.steps;
        let list = format!("[{}]", String::from_utf8_lossy(&text));
        let stimulus = RawValue::from_string(list).map_err(unwritable)?;
        let start = if policy.is_some() { Start::Begin } else { Start::Continue };
        let request = Encode { start, parameters: self.parameters, policy, stimulus, finish };
        let sent = self.lease.send("encode", &request, bytes)?;
        self.sent.push_back(sent);
        self.steps = 0;
        Ok(())
    }

    fn receive_all(&mut self, sink: &mut dyn EncoderSink<P>) -> Result<(), SubjectError> {
        while !self.sent.is_empty() {
            self.receive(sink)?;
        }
        Ok(())
    }

    /// Waits for the oldest answer that has not come yet.
    fn receive(&mut self, sink: &mut dyn EncoderSink<P>) -> Result<(), SubjectError> {
        let Some(sent) = self.sent.pop_front() else { return Ok(()) };
        let answer = self.lease.receive::<Element<EncodedItem<P>>>(sent)?;
        if let Some(refusal) = answer.refusal() {
            return Err(SubjectError::Refused(refusal));
        }
        let mut total = 0;
        for element in answer.results {
            let items = match element {
                Element::New(item) => self.results.learn(item),
                Element::Again { first, count } => match self.results.again(first, count) {
                    Some(items) => items,
                    None => return Err(self.lease.breach("a back-reference to an unknown result")),
                },
                Element::At(_) | Element::Changed(..) => {
                    return Err(self.lease.breach("a result of an encoder has no place and no time"));
                }
            };
            total += items.len();
            for item in items {
                match item {
                    EncodedItem::Packet(packet) => sink.packet(packet),
                    EncodedItem::Wire(bytes) => sink.wire(&bytes.0),
                }
            }
            if total > MOST_ITEMS {
                return Err(self
                    .lease
                    .breach(format!("an answer stands for more than {MOST_ITEMS} results")));
            }
        }
        Ok(())
    }
}
