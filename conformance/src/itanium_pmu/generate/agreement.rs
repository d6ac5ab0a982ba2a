//! Model against oracle: the model writes a log, and the decoder computes the same log independently.

use std::fmt;

use traceproof_decoder::itanium_pmu::Decoder;
use traceproof_encoder_model::itanium_pmu::Encoder;
use traceproof_vectors::itanium_pmu::{Event, ItaniumPmu, Packet};
use traceproof_vectors::notation::show_bytes;
use traceproof_vectors::{
    Decoder as _, Encoder as _, EncoderSink, Fault, FaultClass, Place, Program, Refusal, Sink,
};

use super::Scenario;

/// What both sides agreed on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Agreement {
    /// Inputs of qualification: instructions, accesses and misses.
    pub inputs: u64,
    /// Instructions with IBRRangeTag.
    pub in_range: u64,
    /// Instructions with Tag(PMC\[8\]) or Tag(PMC\[9\]).
    pub matched: u64,
    /// Accesses with DBRRangeTag.
    pub tagged: u64,
    /// Changes of a counter.
    pub counts: u64,
    /// Overflows.
    pub overflows: u64,
    /// Freezes by hardware.
    pub freezes: u64,
    /// Misses captured.
    pub captures: u64,
    /// Records read back.
    pub records: u64,
}

impl std::ops::AddAssign for Agreement {
    fn add_assign(&mut self, other: Self) {
        self.inputs += other.inputs;
        self.in_range += other.in_range;
        self.matched += other.matched;
        self.tagged += other.tagged;
        self.counts += other.counts;
        self.overflows += other.overflows;
        self.freezes += other.freezes;
        self.captures += other.captures;
        self.records += other.records;
    }
}

/// How both sides disagree.
#[derive(Clone, Debug)]
pub struct Disagreement {
    /// About what.
    pub cause: Cause,
    /// The log up to and with the record at fault.
    pub wire: Vec<u8>,
}

/// What both sides disagree about.
#[derive(Clone, Debug)]
pub enum Cause {
    /// One refused the parameters.
    Refused(Refusal),
    /// The decoder finds what the model wrote wrong.
    Fault(Fault),
    /// The decoder read another packet than the model wrote.
    Packet {
        /// Index of the packet.
        index: usize,
        /// What the model wrote.
        made: String,
        /// What the decoder read.
        read: String,
    },
}

impl fmt::Display for Disagreement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.cause {
            Cause::Refused(refusal) => write!(f, "refused: {refusal}")?,
            Cause::Fault(fault) => write!(f, "the decoder reports {fault}")?,
            Cause::Packet { index, made, read } => write!(f, "packet {index}: made {made}, read {read}")?,
        }
        let last = self.wire.rchunks(16).next().unwrap_or_default();
        write!(f, "; the record: {}", show_bytes(last))
    }
}

impl std::error::Error for Disagreement {}

/// Lets the model write the scenario's log and the decoder judge it.
///
/// Whatever the model writes must be what the decoder works out: tags, interrupts, every value read. Oddities of what
/// software writes (ignored bits, an event on a counter that cannot count it) are no disagreement.
///
/// # Errors
///
/// The first disagreement.
pub fn agree(scenario: &Scenario) -> Result<Agreement, Disagreement> {
    let refused = |refusal| Disagreement { cause: Cause::Refused(refusal), wire: Vec::new() };
    let made = log(scenario).map_err(refused)?;
    let mut judged = Judged { made: &made.packets, ..Judged::default() };
    let mut decoder = Decoder::default();
    decoder.begin(&scenario.parameters, &Program::new()).map_err(refused)?;
    decoder.push(&made.wire, &mut judged);
    decoder.finish(&mut judged);
    if judged.cause.is_none() && judged.read != made.packets.len() {
        let made = made.packets.get(judged.read).map(|packet| format!("{packet:x?}")).unwrap_or_default();
        judged.cause = Some((
            Cause::Packet { index: judged.read, made, read: String::from("nothing") },
            Place::default(),
        ));
    }
    match judged.cause {
        None => Ok(judged.agreement),
        Some((cause, place)) => {
            let end = usize::try_from(place.byte).unwrap_or(0) / 16 * 16 + 16;
            let wire = made.wire.get(..end).unwrap_or(&made.wire).to_vec();
            Err(Disagreement { cause, wire })
        }
    }
}

/// The log of the model for the scenario.
///
/// # Errors
///
/// When the model refuses the parameters.
pub fn log(scenario: &Scenario) -> Result<Written, Refusal> {
    let mut written = Written::default();
    let mut encoder = Encoder::default();
    encoder.begin(&scenario.parameters, &scenario.policy)?;
    for step in &scenario.stimulus {
        encoder.step(step, &mut written);
    }
    encoder.finish(&mut written);
    Ok(written)
}

/// What the model wrote.
#[derive(Clone, Debug, Default)]
pub struct Written {
    /// Records.
    pub packets: Vec<Packet>,
    /// Their bytes.
    pub wire: Vec<u8>,
}

impl EncoderSink<ItaniumPmu> for Written {
    fn packet(&mut self, packet: &Packet) {
        self.packets.push(*packet);
    }

    fn wire(&mut self, bytes: &[u8]) {
        self.wire.extend_from_slice(bytes);
    }
}

/// Looks at what the decoder reports while it does.
#[derive(Default)]
struct Judged<'a> {
    made: &'a [Packet],
    read: usize,
    agreement: Agreement,
    cause: Option<(Cause, Place)>,
}

impl Sink<ItaniumPmu> for Judged<'_> {
    fn packet(&mut self, place: Place, packet: &Packet) {
        match packet {
            Packet::Instruction(_) | Packet::Access(_) | Packet::Miss(_) => self.agreement.inputs += 1,
            _ => {}
        }
        let made = self.made.get(self.read);
        if made != Some(packet) && self.cause.is_none() {
            let cause =
                Cause::Packet { index: self.read, made: format!("{made:x?}"), read: format!("{packet:x?}") };
            self.cause = Some((cause, place));
        }
        self.read += 1;
    }

    fn event(&mut self, _: Place, event: &Event) {
        let agreement = &mut self.agreement;
        match event {
            Event::Tags(tags) => {
                agreement.in_range += u64::from(tags.range);
                agreement.matched += u64::from(tags.pmc8 || tags.pmc9);
            }
            Event::DataTag { tag, .. } => agreement.tagged += u64::from(*tag),
            Event::Count { .. } => agreement.counts += 1,
            Event::Overflow { .. } => agreement.overflows += 1,
            Event::Freeze => agreement.freezes += 1,
            Event::InstructionMiss(_) | Event::DataMiss(_) => agreement.captures += 1,
            Event::InstructionEar(Some(_)) | Event::DataEar(Some(_)) => agreement.records += 1,
            _ => {}
        }
    }

    fn fault(&mut self, fault: &Fault) {
        let oddity = matches!(fault.class, FaultClass::Suspicious | FaultClass::IllegalInState);
        if !oddity && self.cause.is_none() {
            self.cause = Some((Cause::Fault(*fault), fault.place));
        }
    }
}
