//! Decoders and encoders that keep something over `reset` or `begin`, such that the same stream again does not show it.

use traceproof_vectors::{
    Capabilities, Decoder, Encoder, EncoderSink, Entry, Log, Place, Program, Refusal, Sink,
};

use crate::family::FamilyRules;

/// Reports what a log has.
fn deliver<P: FamilyRules>(entries: &[(Place, Entry<P>)], sink: &mut dyn Sink<P>) {
    for (place, entry) in entries {
        match entry {
            Entry::Packet(packet) => sink.packet(*place, packet),
            Entry::Event(event) => sink.event(*place, event),
            Entry::Fault(fault) => sink.fault(fault),
        }
    }
}

/// Replaces the first event of every stream by that of the first stream.
pub(super) struct KeepsFirstEvent<P: FamilyRules> {
    reference: Box<dyn Decoder<P>>,
    first: Option<Entry<P>>,
    is_first: bool,
}

impl<P: FamilyRules> Default for KeepsFirstEvent<P> {
    fn default() -> Self {
        Self { reference: P::reference_decoder(), first: None, is_first: true }
    }
}

impl<P: FamilyRules> KeepsFirstEvent<P> {
    fn report(&mut self, mut log: Log<P>, sink: &mut dyn Sink<P>) {
        let first = log.entries.iter_mut().find(|(_, entry)| matches!(entry, Entry::Event(_)));
        if let Some((_, entry)) = first
            && self.is_first
        {
            *entry = self.first.get_or_insert_with(|| entry.clone()).clone();
            self.is_first = false;
        }
        deliver(&log.entries, sink);
    }
}

impl<P: FamilyRules> Decoder<P> for KeepsFirstEvent<P> {
    fn capabilities(&self) -> Capabilities {
        self.reference.capabilities()
    }

    fn begin(&mut self, parameters: &P::Parameters, program: &Program) -> Result<(), Refusal> {
        (self.first, self.is_first) = (None, true);
        self.reference.begin(parameters, program)
    }

    fn push(&mut self, chunk: &[u8], sink: &mut dyn Sink<P>) {
        let mut log = Log::default();
        self.reference.push(chunk, &mut log);
        self.report(log, sink);
    }

    fn finish(&mut self, sink: &mut dyn Sink<P>) {
        let mut log = Log::default();
        self.reference.finish(&mut log);
        self.report(log, sink);
    }

    fn reset(&mut self) {
        self.is_first = true;
        self.reference.reset();
    }
}

/// Does not report events of earlier streams again, unless the first byte is that of the first stream.
pub(super) struct KeepsSeen<P: FamilyRules> {
    reference: Box<dyn Decoder<P>>,
    /// The first byte of the first stream.
    head: Option<u8>,
    seen: Vec<P::Event>,
    /// Whether no byte of this stream has come.
    at_start: bool,
    /// Whether events are compared with those that were seen.
    suppresses: bool,
}

impl<P: FamilyRules> Default for KeepsSeen<P> {
    fn default() -> Self {
        Self {
            reference: P::reference_decoder(),
            head: None,
            seen: Vec::new(),
            at_start: true,
            suppresses: false,
        }
    }
}

/// How many events are kept, so that long streams do not take long.
const MOST_SEEN: usize = 64;

impl<P: FamilyRules> KeepsSeen<P> {
    fn report(&mut self, mut log: Log<P>, sink: &mut dyn Sink<P>) {
        if self.suppresses {
            let seen = &self.seen;
            log.entries.retain(|(_, entry)| !matches!(entry, Entry::Event(event) if seen.contains(event)));
        } else {
            let room = MOST_SEEN.saturating_sub(self.seen.len());
            self.seen.extend(log.events().take(room).cloned());
        }
        deliver(&log.entries, sink);
    }
}

impl<P: FamilyRules> Decoder<P> for KeepsSeen<P> {
    fn capabilities(&self) -> Capabilities {
        self.reference.capabilities()
    }

    fn begin(&mut self, parameters: &P::Parameters, program: &Program) -> Result<(), Refusal> {
        (self.head, self.at_start, self.suppresses) = (None, true, false);
        self.seen.clear();
        self.reference.begin(parameters, program)
    }

    fn push(&mut self, chunk: &[u8], sink: &mut dyn Sink<P>) {
        if let Some(&byte) = chunk.first()
            && self.at_start
        {
            self.suppresses = byte != *self.head.get_or_insert(byte);
            self.at_start = false;
        }
        let mut log = Log::default();
        self.reference.push(chunk, &mut log);
        self.report(log, sink);
    }

    fn finish(&mut self, sink: &mut dyn Sink<P>) {
        let mut log = Log::default();
        self.reference.finish(&mut log);
        self.report(log, sink);
    }

    fn reset(&mut self) {
        self.at_start = true;
        self.reference.reset();
    }
}

/// Begins with the parameters of the first `begin`, whatever the later ones are.
pub(super) struct KeepsParameters<P: FamilyRules> {
    reference: Box<dyn Decoder<P>>,
    parameters: Option<P::Parameters>,
}

impl<P: FamilyRules> Default for KeepsParameters<P> {
    fn default() -> Self {
        Self { reference: P::reference_decoder(), parameters: None }
    }
}

impl<P: FamilyRules> Decoder<P> for KeepsParameters<P> {
    fn capabilities(&self) -> Capabilities {
        self.reference.capabilities()
    }

    fn begin(&mut self, parameters: &P::Parameters, program: &Program) -> Result<(), Refusal> {
        self.reference.begin(self.parameters.get_or_insert_with(|| parameters.clone()), program)
    }

    fn push(&mut self, chunk: &[u8], sink: &mut dyn Sink<P>) {
        self.reference.push(chunk, sink);
    }

    fn finish(&mut self, sink: &mut dyn Sink<P>) {
        self.reference.finish(sink);
    }

    fn reset(&mut self) {
        self.reference.reset();
    }
}

/// Begins with the parameters and the policy of the first `begin`, whatever the later ones are.
pub(super) struct KeepsConfiguration<P: FamilyRules> {
    reference: Box<dyn Encoder<P>>,
    configuration: Option<(P::Parameters, P::Policy)>,
}

impl<P: FamilyRules> Default for KeepsConfiguration<P> {
    fn default() -> Self {
        Self { reference: P::reference_encoder(), configuration: None }
    }
}

impl<P: FamilyRules> Encoder<P> for KeepsConfiguration<P> {
    fn capabilities(&self) -> Capabilities {
        self.reference.capabilities()
    }

    fn begin(&mut self, parameters: &P::Parameters, policy: &P::Policy) -> Result<(), Refusal> {
        let (parameters, policy) =
            self.configuration.get_or_insert_with(|| (parameters.clone(), policy.clone()));
        self.reference.begin(parameters, policy)
    }

    fn step(&mut self, stimulus: &P::Stimulus, sink: &mut dyn EncoderSink<P>) {
        self.reference.step(stimulus, sink);
    }

    fn finish(&mut self, sink: &mut dyn EncoderSink<P>) {
        self.reference.finish(sink);
    }
}
