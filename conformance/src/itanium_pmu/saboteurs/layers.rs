//! References with a wrong assumption that report their input correctly, so that only the consequences show the bug.
//!
//! A record contains in full what is written or fetched. A wrong value in the record itself would be detected by every
//! case with such a record, whether or not the case tests the broken rule.

use traceproof_vectors::itanium_pmu::wire::{Kind, RECORD};
use traceproof_vectors::itanium_pmu::{ItaniumPmu, Parameters, Policy, Register, RegisterClass, Stimulus};
use traceproof_vectors::{
    Capabilities, Decoder, Encoder, EncoderSink, Entry, Log, Place, Program, Refusal, Sink,
};

use crate::family::{FamilyRules, JudgedProtocol};
use crate::saboteurs::encoders::Steps;

/// Bytes 8 to 15 of a record are the value of a register.
const VALUE: usize = 8;

/// The wrong assumption about registers.
pub(super) struct Belief {
    /// About which: class and index.
    pub(super) of: fn(RegisterClass, u8) -> bool,
    /// Which bits may be taken for others.
    pub(super) mask: u64,
    /// What a byte of the value is taken for. The second byte is that of the mask, and never 0.
    pub(super) change: fn(u8, u8) -> u8,
}

/// A decoder with this assumption about what is written and read. Packets and faults of those records are correct.
pub(super) fn believing(belief: Belief) -> Box<dyn Decoder<ItaniumPmu>> {
    Box::new(Believer {
        belief,
        truth: ItaniumPmu::reference_decoder(),
        believer: ItaniumPmu::reference_decoder(),
        record: Vec::with_capacity(RECORD),
        index: 0,
        believed: Vec::new(),
    })
}

struct Believer {
    belief: Belief,
    truth: Box<dyn Decoder<ItaniumPmu>>,
    believer: Box<dyn Decoder<ItaniumPmu>>,
    /// The true bytes of the current record, as far as they came.
    record: Vec<u8>,
    /// Its index.
    index: u64,
    /// Indices of the records of this chunk that the belief is about.
    believed: Vec<u64>,
}

impl Believer {
    fn forget(&mut self) {
        self.record.clear();
        self.index = 0;
        self.believed.clear();
    }

    fn believe(&mut self, byte: u8) -> u8 {
        if self.record.len() == RECORD {
            self.record.clear();
            self.index += 1;
        }
        self.record.push(byte);
        let [kind, class, index, ..] = *self.record.as_slice() else { return byte };
        let tells = kind == Kind::Write as u8 || kind == Kind::Read as u8;
        let Some(&class) = RegisterClass::ALL.get(usize::from(class)) else { return byte };
        if !tells || !(self.belief.of)(class, index) {
            return byte;
        }
        if self.believed.last() != Some(&self.index) {
            self.believed.push(self.index);
        }
        let position = self.record.len() - 1;
        let mask = position.checked_sub(VALUE).and_then(|at| self.belief.mask.to_le_bytes().get(at).copied());
        match mask {
            None | Some(0) => byte,
            Some(mask) => (self.belief.change)(byte, mask),
        }
    }

    /// Merges both results in the order of records.
    fn deliver(&mut self, truth: Log<ItaniumPmu>, belief: Log<ItaniumPmu>, sink: &mut dyn Sink<ItaniumPmu>) {
        let is_believed = |place: &Place| self.believed.contains(&place.packet);
        let truth = truth.entries.into_iter().filter(|(place, _)| is_believed(place));
        let belief = belief.entries.into_iter().filter(|(place, _)| !is_believed(place));
        let mut entries: Vec<(Place, Entry<ItaniumPmu>)> = truth.chain(belief).collect();
        entries.sort_by_key(|(place, _)| place.packet);
        for (place, entry) in entries {
            match entry {
                Entry::Packet(packet) => sink.packet(place, &packet),
                Entry::Event(event) => sink.event(place, &event),
                Entry::Fault(fault) => sink.fault(&fault),
            }
        }
        let current = self.index;
        self.believed.retain(|&index| index == current);
    }
}

impl Decoder<ItaniumPmu> for Believer {
    fn capabilities(&self) -> Capabilities {
        self.truth.capabilities()
    }

    fn begin(&mut self, parameters: &Parameters, program: &Program) -> Result<(), Refusal> {
        self.forget();
        self.truth.begin(parameters, program)?;
        self.believer.begin(parameters, program)
    }

    fn push(&mut self, chunk: &[u8], sink: &mut dyn Sink<ItaniumPmu>) {
        let (mut truth, mut belief) = (Log::default(), Log::default());
        let believed: Vec<u8> = chunk.iter().map(|&byte| self.believe(byte)).collect();
        self.truth.push(chunk, &mut truth);
        self.believer.push(&believed, &mut belief);
        self.deliver(truth, belief, sink);
    }

    fn finish(&mut self, sink: &mut dyn Sink<ItaniumPmu>) {
        let (mut truth, mut belief) = (Log::default(), Log::default());
        self.truth.finish(&mut truth);
        self.believer.finish(&mut belief);
        self.deliver(truth, belief, sink);
    }

    fn reset(&mut self) {
        self.forget();
        self.truth.reset();
        self.believer.reset();
    }
}

/// A model that sees something else happen and logs what happened: tags, reads of data and status, and interrupts alone
/// are those of what it saw.
pub(super) fn seeing(bug: fn(&Parameters) -> Steps<ItaniumPmu>) -> Box<dyn Encoder<ItaniumPmu>> {
    Box::new(Seer {
        bug,
        hook: Box::new(Some),
        truth: ItaniumPmu::reference_encoder(),
        seer: ItaniumPmu::reference_encoder(),
    })
}

struct Seer {
    bug: fn(&Parameters) -> Steps<ItaniumPmu>,
    hook: Steps<ItaniumPmu>,
    truth: Box<dyn Encoder<ItaniumPmu>>,
    seer: Box<dyn Encoder<ItaniumPmu>>,
}

/// Whether only software changes the register.
fn is_configuration(register: Register) -> bool {
    register.class != RegisterClass::Pmd && register != Register::pmc(0)
}

impl Encoder<ItaniumPmu> for Seer {
    fn capabilities(&self) -> Capabilities {
        self.truth.capabilities()
    }

    fn begin(&mut self, parameters: &Parameters, policy: &Policy) -> Result<(), Refusal> {
        self.hook = (self.bug)(parameters);
        self.truth.begin(parameters, policy)?;
        self.seer.begin(parameters, policy)
    }

    fn step(&mut self, stimulus: &Stimulus, sink: &mut dyn EncoderSink<ItaniumPmu>) {
        let (mut truth, mut seen) = (Log::default(), Log::default());
        self.truth.step(stimulus, &mut truth);
        if let Some(other) = (self.hook)(*stimulus) {
            self.seer.step(&other, &mut seen);
        }
        // The first record of a step is what happened, unless it is the answer to a read. What software configured is
        // read as it was written, so that only the consequences show the bug.
        let first = match stimulus {
            Stimulus::Read(register) if !is_configuration(*register) => &seen,
            _ => &truth,
        };
        deliver(first, 0..1, sink);
        deliver(&seen, 1..usize::MAX, sink);
    }

    fn finish(&mut self, sink: &mut dyn EncoderSink<ItaniumPmu>) {
        self.truth.finish(&mut Log::default());
        self.seer.finish(sink);
    }
}

/// A model that writes records wrongly.
pub(super) fn logging(change: fn(&mut [u8])) -> Box<dyn Encoder<ItaniumPmu>> {
    Box::new(Logger { change, reference: ItaniumPmu::reference_encoder() })
}

struct Logger {
    change: fn(&mut [u8]),
    reference: Box<dyn Encoder<ItaniumPmu>>,
}

impl Encoder<ItaniumPmu> for Logger {
    fn capabilities(&self) -> Capabilities {
        self.reference.capabilities()
    }

    fn begin(&mut self, parameters: &Parameters, policy: &Policy) -> Result<(), Refusal> {
        self.reference.begin(parameters, policy)
    }

    fn step(&mut self, stimulus: &Stimulus, sink: &mut dyn EncoderSink<ItaniumPmu>) {
        let mut log = Log::default();
        self.reference.step(stimulus, &mut log);
        log.wire.chunks_mut(RECORD).for_each(self.change);
        deliver(&log, 0..usize::MAX, sink);
    }

    fn finish(&mut self, sink: &mut dyn EncoderSink<ItaniumPmu>) {
        self.reference.finish(sink);
    }
}

/// Delivers some of the records of a step: each packet and its bytes.
fn deliver(log: &Log<ItaniumPmu>, records: std::ops::Range<usize>, sink: &mut dyn EncoderSink<ItaniumPmu>) {
    let all = log.packets().zip(log.wire.chunks(RECORD));
    for (packet, record) in all.skip(records.start).take(records.len()) {
        sink.packet(packet);
        sink.wire(record);
    }
}
