//! A checker with a wrong assumption that reads records correctly, so that only the consequences show the bug.
//!
//! A record contains in full what happened. A wrong packet would be detected by every case with such a record, whether
//! or not the case tests the broken rule.

use traceproof_encoder_model::arm_ete_unit::record_of;
use traceproof_vectors::arm_ete_unit::wire::RECORD;
use traceproof_vectors::arm_ete_unit::{ArmEteUnit, Packet, Parameters};
use traceproof_vectors::{Capabilities, Decoder, Entry, Log, Place, Program, Refusal, Sink};

use crate::family::JudgedProtocol;

/// What is taken to have happened instead of a record; `None` = nothing.
pub(super) type Belief = fn(Packet) -> Option<Packet>;

/// A checker that takes records for others.
pub(super) fn believing(belief: Belief) -> Box<dyn Decoder<ArmEteUnit>> {
    Box::new(Believer {
        belief,
        truth: ArmEteUnit::reference_decoder(),
        believer: ArmEteUnit::reference_decoder(),
        record: Vec::with_capacity(RECORD),
    })
}

struct Believer {
    belief: Belief,
    /// It reads the true records: packets, and faults of records that cannot be read.
    truth: Box<dyn Decoder<ArmEteUnit>>,
    /// It reads what is believed: events and findings.
    believer: Box<dyn Decoder<ArmEteUnit>>,
    /// The bytes of the current record, as far as they came.
    record: Vec<u8>,
}

impl Believer {
    fn record_ends(&mut self, sink: &mut dyn Sink<ArmEteUnit>) {
        let mut truth = Log::<ArmEteUnit>::default();
        self.truth.push(&self.record, &mut truth);
        self.record.clear();
        let read = truth.entries.iter().find_map(|(place, entry)| match entry {
            Entry::Packet(packet) => Some((*place, *packet)),
            _ => None,
        });
        let Some((place, packet)) = read else { return truth.faults().for_each(|fault| sink.fault(fault)) };
        sink.packet(place, &packet);
        let Some(record) = (self.belief)(packet).and_then(|packet| record_of(&packet).ok()) else { return };
        let mut believed = Log::<ArmEteUnit>::default();
        self.believer.push(&record, &mut believed);
        for (_, entry) in &believed.entries {
            match entry {
                Entry::Packet(_) => {}
                Entry::Event(event) => sink.event(place, event),
                Entry::Fault(fault) => {
                    let mut fault = *fault;
                    fault.place = Place { bit: fault.place.bit, ..place };
                    sink.fault(&fault);
                }
            }
        }
    }
}

impl Decoder<ArmEteUnit> for Believer {
    fn capabilities(&self) -> Capabilities {
        self.truth.capabilities()
    }

    fn begin(&mut self, parameters: &Parameters, program: &Program) -> Result<(), Refusal> {
        self.record.clear();
        self.truth.begin(parameters, program)?;
        self.believer.begin(parameters, program)
    }

    fn push(&mut self, chunk: &[u8], sink: &mut dyn Sink<ArmEteUnit>) {
        for &byte in chunk {
            self.record.push(byte);
            if self.record.len() == RECORD {
                self.record_ends(sink);
            }
        }
    }

    fn finish(&mut self, sink: &mut dyn Sink<ArmEteUnit>) {
        // What is left is no record.
        let mut truth = Log::<ArmEteUnit>::default();
        self.truth.push(&self.record, &mut truth);
        self.truth.finish(&mut truth);
        self.record.clear();
        truth.faults().for_each(|fault| sink.fault(fault));
    }

    fn reset(&mut self) {
        self.record.clear();
        self.truth.reset();
        self.believer.reset();
    }
}
