//! What does an encoder ask its process?

use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

use serde_json::value::RawValue;
use traceproof_vectors::{Capabilities, Encoder, EncoderSink, Refusal};

use super::Demise;
use super::pool::{Lease, Pool};
use crate::adaptor::message::{Encode, EncodedItem, Start};
use crate::family::FamilyRules;

/// Steps of stimulus that are sent at once.
const MOST_STEPS: usize = 256;

/// An encoder in another process.
pub(super) struct Proxy<P: FamilyRules> {
    pool: Arc<Pool>,
    capabilities: Capabilities,
    session: Option<Session>,
    family: PhantomData<P>,
}

/// An encoder that has begun.
struct Session {
    lease: Lease,
    parameters: u32,
    /// Steps that wait to be sent, as JSON.
    stimulus: Vec<Box<RawValue>>,
}

impl<P: FamilyRules> fmt::Debug for Proxy<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Proxy").field("pool", &self.pool).finish_non_exhaustive()
    }
}

impl<P: FamilyRules> Proxy<P> {
    pub(super) const fn new(pool: Arc<Pool>, capabilities: Capabilities) -> Self {
        Self { pool, capabilities, session: None, family: PhantomData }
    }

    fn open(
        &mut self,
        parameters: &P::Parameters,
        policy: &P::Policy,
    ) -> Result<Result<(), Refusal>, Demise> {
        let mut lease = match self.session.take() {
            Some(session) => session.lease,
            None => self.pool.lease()?,
        };
        let parameters = match lease.parameters::<P>(parameters)? {
            Ok(key) => key,
            Err(refusal) => return Ok(Err(refusal)),
        };
        let mut session = Session { lease, parameters, stimulus: Vec::new() };
        let begun = match session.encode::<P>(Some(policy), false, &mut ()) {
            Err(Demise::Refused(refusal)) => Err(refusal),
            other => other.map(Ok)?,
        };
        self.session = Some(session);
        Ok(begun)
    }

    /// Does something with the process, and unwinds if it fails.
    fn ask(&mut self, what: impl FnOnce(&mut Session) -> Result<(), Demise>) {
        // Without a session: as an encoder that is asked before it has begun.
        let done = self.session.as_mut().map_or(Ok(()), what);
        if let Err(demise) = done {
            self.session = None;
            demise.unwind();
        }
    }
}

impl<P: FamilyRules> Encoder<P> for Proxy<P> {
    fn capabilities(&self) -> Capabilities {
        self.capabilities.clone()
    }

    fn begin(&mut self, parameters: &P::Parameters, policy: &P::Policy) -> Result<(), Refusal> {
        self.open(parameters, policy).unwrap_or_else(|demise| {
            self.session = None;
            demise.unwind()
        })
    }

    fn step(&mut self, stimulus: &P::Stimulus, sink: &mut dyn EncoderSink<P>) {
        self.ask(|session| {
            let text = serde_json::value::to_raw_value(stimulus);
            session.stimulus.push(text.map_err(|error| Demise::protocol(error.to_string()))?);
            if session.stimulus.len() < MOST_STEPS { Ok(()) } else { session.encode(None, false, sink) }
        });
    }

    fn finish(&mut self, sink: &mut dyn EncoderSink<P>) {
        self.ask(|session| session.encode(None, true, sink));
    }
}

impl Session {
    /// Sends what waits and waits for what comes of it. With a policy the encoder begins.
    fn encode<P: FamilyRules>(
        &mut self,
        policy: Option<&P::Policy>,
        finish: bool,
        sink: &mut dyn EncoderSink<P>,
    ) -> Result<(), Demise> {
        let stimulus = std::mem::take(&mut self.stimulus);
        let bytes = stimulus.iter().map(|step| step.get().len()).sum();
        let start = if policy.is_some() { Start::Begin } else { Start::Continue };
        let request = Encode { start, parameters: self.parameters, policy, stimulus, finish };
        let sent = self.lease.send("encode", &request, bytes)?;
        let answer = self.lease.receive::<EncodedItem<P>>(sent)?;
        if let Some(refusal) = answer.refusal() {
            return Err(Demise::Refused(refusal));
        }
        for item in answer.results {
            match item {
                EncodedItem::Packet(packet) => sink.packet(&packet),
                EncodedItem::Wire(bytes) => sink.wire(&bytes.0),
            }
        }
        Ok(())
    }
}
