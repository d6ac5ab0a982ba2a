//! Reference decoders with hooks for bugs.
//!
//! Each function gives a decoder that is the reference but for one hook. A hook with state is created again at every
//! `begin` and `reset`, so that the bug of the hook is the only one.

use traceproof_vectors::{Capabilities, Decoder, Entry, Fault, Place, Program, Protocol, Refusal, Sink};

use crate::family::FamilyRules;

/// What is delivered in place of a result; `None` = nothing.
pub type Results<P> = Box<dyn FnMut(Entry<P>) -> Option<Entry<P>>>;
/// Makes such a hook for a stream with these parameters.
type MakeResults<P> = fn(&<P as Protocol>::Parameters) -> Results<P>;
/// What is read in place of a byte of the stream.
pub type Bytes = Box<dyn FnMut(u8) -> u8>;

/// Uses other parameters, which must be valid for hardware.
#[must_use]
pub fn parameters<P: FamilyRules>(bug: fn(&mut P::Parameters)) -> Box<dyn Decoder<P>> {
    Box::new(Twisted { parameters: Some(bug), ..Twisted::default() })
}

/// Uses another program.
#[must_use]
pub fn program<P: FamilyRules>(bug: fn(&P::Parameters, &Program) -> Program) -> Box<dyn Decoder<P>> {
    Box::new(Twisted { program: Some(bug), ..Twisted::default() })
}

/// Reads other bytes.
#[must_use]
pub fn bytes<P: FamilyRules>(bug: fn(&P::Parameters) -> Bytes) -> Box<dyn Decoder<P>> {
    Box::new(Twisted { bytes: Some(bug), ..Twisted::default() })
}

/// Delivers other results.
#[must_use]
pub fn results<P: FamilyRules>(bug: fn(&P::Parameters) -> Results<P>) -> Box<dyn Decoder<P>> {
    Box::new(Twisted { results: Some(bug), ..Twisted::default() })
}

/// The reference, and what is wrong with it.
struct Twisted<P: FamilyRules> {
    reference: Box<dyn Decoder<P>>,
    parameters: Option<fn(&mut P::Parameters)>,
    program: Option<fn(&P::Parameters, &Program) -> Program>,
    bytes: Option<fn(&P::Parameters) -> Bytes>,
    results: Option<MakeResults<P>>,
    /// Those of the latest `begin`.
    begun: P::Parameters,
    byte_hook: Bytes,
    result_hook: Results<P>,
}

impl<P: FamilyRules> Default for Twisted<P> {
    fn default() -> Self {
        Self {
            reference: P::reference_decoder(),
            parameters: None,
            program: None,
            bytes: None,
            results: None,
            begun: P::Parameters::default(),
            byte_hook: Box::new(|byte| byte),
            result_hook: Box::new(Some),
        }
    }
}

impl<P: FamilyRules> Twisted<P> {
    fn make_hooks(&mut self) {
        if let Some(bug) = self.bytes {
            self.byte_hook = bug(&self.begun);
        }
        if let Some(bug) = self.results {
            self.result_hook = bug(&self.begun);
        }
    }
}

impl<P: FamilyRules> Decoder<P> for Twisted<P> {
    fn capabilities(&self) -> Capabilities {
        self.reference.capabilities()
    }

    fn begin(&mut self, parameters: &P::Parameters, program: &Program) -> Result<(), Refusal> {
        self.begun = parameters.clone();
        if let Some(bug) = self.parameters {
            bug(&mut self.begun);
        }
        self.make_hooks();
        match self.program {
            Some(bug) => self.reference.begin(&self.begun, &bug(&self.begun, program)),
            None => self.reference.begin(&self.begun, program),
        }
    }

    fn push(&mut self, chunk: &[u8], sink: &mut dyn Sink<P>) {
        let mut sink = Hooked { hook: &mut self.result_hook, sink };
        if self.bytes.is_some() {
            let chunk: Vec<u8> = chunk.iter().map(|&byte| (self.byte_hook)(byte)).collect();
            self.reference.push(&chunk, &mut sink);
        } else {
            self.reference.push(chunk, &mut sink);
        }
    }

    fn finish(&mut self, sink: &mut dyn Sink<P>) {
        self.reference.finish(&mut Hooked { hook: &mut self.result_hook, sink });
    }

    fn reset(&mut self) {
        self.make_hooks();
        self.reference.reset();
    }
}

/// Passes on the results that the hook returns.
struct Hooked<'a, P: FamilyRules> {
    hook: &'a mut Results<P>,
    sink: &'a mut dyn Sink<P>,
}

impl<P: FamilyRules> Hooked<'_, P> {
    fn entry(&mut self, place: Place, entry: Entry<P>) {
        match (self.hook)(entry) {
            Some(Entry::Packet(packet)) => self.sink.packet(place, &packet),
            Some(Entry::Event(event)) => self.sink.event(place, &event),
            Some(Entry::Fault(fault)) => self.sink.fault(&fault),
            None => {}
        }
    }
}

impl<P: FamilyRules> Sink<P> for Hooked<'_, P> {
    fn packet(&mut self, place: Place, packet: &P::Packet) {
        self.entry(place, Entry::Packet(packet.clone()));
    }

    fn event(&mut self, place: Place, event: &P::Event) {
        self.entry(place, Entry::Event(event.clone()));
    }

    fn fault(&mut self, fault: &Fault) {
        self.entry(fault.place, Entry::Fault(*fault));
    }
}
