//! What does a decoder ask its process?

use std::borrow::Cow;
use std::collections::VecDeque;
use std::fmt;
use std::sync::Arc;

use traceproof_vectors::{Capabilities, Decoder, DecoderLimits, Entry, Place, Program, Refusal, Sink};

use super::SubjectError;
use super::pool::{Lease, Pool, Sent};
use crate::adaptor::backref::{Element, MOST_ITEMS, Reader};
use crate::adaptor::message::{HexBytes, Item, Run, Start};
use crate::family::FamilyRules;

/// Bytes that are sent at once. Their results must fit one message.
const MOST_BYTES: usize = 8 << 10;

/// A decoder in another process.
pub(super) struct Proxy<P: FamilyRules> {
    pool: Arc<Pool>,
    capabilities: Capabilities,
    /// If they are not the default ones.
    limits: Option<DecoderLimits>,
    session: Option<Session<P>>,
}

/// A decoder that has begun.
struct Session<P: FamilyRules> {
    lease: Lease,
    parameters: u32,
    image: u32,
    /// What happens before the next bytes.
    start: Start,
    /// Bytes that wait to be sent.
    bytes: Vec<u8>,
    /// Where the pieces among them end.
    ends: Vec<usize>,
    /// Requests whose results have not come yet.
    sent: VecDeque<Sent>,
    /// The place of the latest result.
    latest: Place,
    /// Results for back-references.
    results: Reader<Entry<P>>,
    incremental: bool,
}

impl<P: FamilyRules> fmt::Debug for Proxy<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Proxy").field("pool", &self.pool).finish_non_exhaustive()
    }
}

impl<P: FamilyRules> Proxy<P> {
    pub(super) const fn new(pool: Arc<Pool>, capabilities: Capabilities) -> Self {
        Self { pool, capabilities, limits: None, session: None }
    }

    fn open(
        &mut self,
        parameters: &P::Parameters,
        program: &Program,
    ) -> Result<Result<(), Refusal>, SubjectError> {
        let mut lease = match self.session.take() {
            Some(mut session) => {
                session.abandon()?;
                session.lease
            }
            None => self.pool.lease()?,
        };
        let parameters = match lease.parameters::<P>(parameters, self.limits)? {
            Ok(key) => key,
            Err(refusal) => return Ok(Err(refusal)),
        };
        let image = match lease.image(program)? {
            Ok(key) => key,
            Err(refusal) => return Ok(Err(refusal)),
        };
        let mut session = Session {
            lease,
            parameters,
            image,
            start: Start::Begin,
            bytes: Vec::new(),
            ends: Vec::new(),
            sent: VecDeque::new(),
            latest: Place::default(),
            results: Reader::default(),
            incremental: self.capabilities.incremental,
        };
        let begun = if session.incremental { session.begin()? } else { Ok(()) };
        self.session = Some(session);
        Ok(begun)
    }

    /// Does something with the process, and unwinds if it fails.
    fn ask(&mut self, what: impl FnOnce(&mut Session<P>) -> Result<(), SubjectError>) {
        let done = match &mut self.session {
            Some(session) => what(session),
            // As a decoder that is asked before it has begun.
            None => Ok(()),
        };
        if let Err(error) = done {
            self.session = None;
            error.unwind();
        }
    }
}

impl<P: FamilyRules> Decoder<P> for Proxy<P> {
    fn capabilities(&self) -> Capabilities {
        self.capabilities.clone()
    }

    fn set_limits(&mut self, limits: &DecoderLimits) {
        self.limits = Some(*limits).filter(|limits| *limits != DecoderLimits::COLLECTED);
    }

    fn begin(&mut self, parameters: &P::Parameters, program: &Program) -> Result<(), Refusal> {
        self.open(parameters, program).unwrap_or_else(|error| {
            self.session = None;
            error.unwind()
        })
    }

    fn push(&mut self, chunk: &[u8], sink: &mut dyn Sink<P>) {
        self.ask(|session| session.push(chunk, sink));
    }

    fn finish(&mut self, sink: &mut dyn Sink<P>) {
        self.ask(|session| {
            session.send(true)?;
            session.receive_all(sink)
        });
    }

    fn reset(&mut self) {
        self.ask(Session::reset);
    }
}

impl<P: FamilyRules> Session<P> {
    /// Begins, without bytes: whether the parameters are taken with this image.
    fn begin(&mut self) -> Result<Result<(), Refusal>, SubjectError> {
        self.send(false)?;
        match self.receive_all(&mut ()) {
            Err(SubjectError::Refused(refusal)) => Ok(Err(refusal)),
            other => other.map(Ok),
        }
    }

    fn push(&mut self, chunk: &[u8], sink: &mut dyn Sink<P>) -> Result<(), SubjectError> {
        // Of a long piece the process gets as much at once as the answer can be about.
        let mut rest = chunk;
        loop {
            let room = MOST_BYTES.saturating_sub(self.bytes.len()).max(1);
            let piece = if self.incremental { room.min(rest.len()) } else { rest.len() };
            let (piece, tail) = rest.split_at_checked(piece).unwrap_or((rest, &[]));
            self.bytes.extend_from_slice(piece);
            self.ends.push(self.bytes.len());
            rest = tail;
            if self.incremental && self.bytes.len().max(self.ends.len()) >= MOST_BYTES {
                if self.lease.is_full() {
                    self.receive(sink)?;
                }
                self.send(false)?;
            }
            if rest.is_empty() {
                return Ok(());
            }
        }
    }

    /// Sends what waits.
    fn send(&mut self, finish: bool) -> Result<(), SubjectError> {
        let mut chunks = Vec::with_capacity(self.ends.len());
        let mut from = 0;
        if self.incremental {
            for &end in &self.ends {
                chunks.push(HexBytes(Cow::Borrowed(self.bytes.get(from..end).unwrap_or_default())));
                from = end;
            }
        } else {
            chunks.push(HexBytes(Cow::Borrowed(self.bytes.as_slice())));
        }
        let run = Run { start: self.start, parameters: self.parameters, image: self.image, chunks, finish };
        let sent = self.lease.run(&run, self.bytes.len())?;
        self.sent.push_back(sent);
        self.bytes.clear();
        self.ends.clear();
        self.start = if self.incremental { Start::Continue } else { Start::Begin };
        Ok(())
    }

    fn receive_all(&mut self, sink: &mut dyn Sink<P>) -> Result<(), SubjectError> {
        while !self.sent.is_empty() {
            self.receive(sink)?;
        }
        Ok(())
    }

    /// Waits for the oldest answer that has not come yet.
    fn receive(&mut self, sink: &mut dyn Sink<P>) -> Result<(), SubjectError> {
        let Some(sent) = self.sent.pop_front() else { return Ok(()) };
        if !self.incremental {
            self.results.clear();
        }
        let answer = self.lease.receive::<Element<Item<P>>>(sent)?;
        if let Some(refusal) = answer.refusal() {
            return Err(SubjectError::Refused(refusal));
        }
        let mut total = 0;
        for element in answer.results {
            match self.deliver(element, sink) {
                Ok(count) => total += count,
                Err(wrong) => return Err(self.lease.breach(wrong)),
            }
            if total > MOST_ITEMS {
                return Err(self
                    .lease
                    .breach(format!("an answer stands for more than {MOST_ITEMS} results")));
            }
        }
        Ok(())
    }

    /// Delivers the results of an element, and returns their number, or an error.
    fn deliver(&mut self, element: Element<Item<P>>, sink: &mut dyn Sink<P>) -> Result<usize, &'static str> {
        let entries = match element {
            Element::New(item) => {
                let entry = item.entry(self.latest);
                let (place, entry) =
                    entry.ok_or("a result is none of packet, event and fault, or more than one")?;
                self.latest = place;
                self.results.learn(entry)
            }
            Element::Again { first, count } => {
                self.results.again(first, count).ok_or("a back-reference to an unknown result")?
            }
            Element::At(place) => {
                self.latest = place;
                &[]
            }
            Element::Changed(..) => return Err("a result with another context or time"),
        };
        let place = self.latest;
        for entry in entries {
            match entry {
                Entry::Packet(packet) => sink.packet(place, packet),
                Entry::Event(event) => sink.event(place, event),
                Entry::Fault(fault) => sink.fault(&fault.at(place)),
            }
        }
        Ok(entries.len())
    }

    /// The process gets what was pushed; its results are discarded.
    fn abandon(&mut self) -> Result<(), SubjectError> {
        if self.incremental && !self.ends.is_empty() {
            self.send(false)?;
        }
        self.bytes.clear();
        self.ends.clear();
        self.receive_all(&mut ())
    }

    fn reset(&mut self) -> Result<(), SubjectError> {
        self.abandon()?;
        self.latest = Place::default();
        self.results.clear();
        self.start = if self.incremental { Start::Reset } else { Start::Begin };
        Ok(())
    }
}
