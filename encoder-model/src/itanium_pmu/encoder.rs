//! The performance monitor as a subject of the contract: it writes the log of what happens.

use traceproof_vectors::itanium_pmu::wire::Kind;
use traceproof_vectors::itanium_pmu::{
    FEATURES, ItaniumPmu, Packet, Parameters, Policy, READINGS, Register, Stimulus,
};
use traceproof_vectors::{self as vectors, Capabilities, EncoderSink, Feature, Layer, Refusal};

use super::contents::contents_of;
use super::monitor::Monitor;
use super::record::{Record, access, record_of};

/// A model of the performance monitor. Every record is complete when its step is, so nothing is left for `finish`.
///
/// It begins as after reset, without a record of it. What no processor can do is written down as far as a record can
/// hold it, and nothing else happens: slot 3 of an instruction, a syllable of more than 41 bits, an access without an
/// instruction or a data miss without an access, a data TLB miss that was resolved nowhere, an event without a name or
/// one that follows from other records, one that has nothing to belong to, or a miss beyond
/// [`MISSES_PER_CYCLE`](traceproof_vectors::itanium_pmu::MISSES_PER_CYCLE). What a record cannot hold (a slot above 3,
/// a syllable of more than 48 bits) is left out.
///
/// `Parameters::strict` is a decoder's and changes nothing here.
#[derive(Debug, Default)]
pub struct Encoder {
    running: Option<Running>,
}

#[derive(Debug)]
struct Running {
    monitor: Monitor,
    parameters: Parameters,
    tags: bool,
}

impl vectors::Encoder<ItaniumPmu> for Encoder {
    fn capabilities(&self) -> Capabilities {
        Capabilities::new([Layer::Packets])
            .with_features(Feature::names(&FEATURES))
            .with_readings(READINGS.iter().map(|reading| reading.name))
    }

    fn begin(&mut self, parameters: &Parameters, policy: &Policy) -> Result<(), Refusal> {
        self.running = Some(Running {
            monitor: Monitor::new(parameters),
            parameters: parameters.clone(),
            tags: policy.tags,
        });
        Ok(())
    }

    fn step(&mut self, stimulus: &Stimulus, sink: &mut dyn EncoderSink<ItaniumPmu>) {
        if let Some(running) = &mut self.running {
            running.step(stimulus, sink);
        }
    }

    fn finish(&mut self, _: &mut dyn EncoderSink<ItaniumPmu>) {
        self.running = None;
    }
}

impl Running {
    fn step(&mut self, stimulus: &Stimulus, sink: &mut dyn EncoderSink<ItaniumPmu>) {
        match *stimulus {
            Stimulus::Reset => {
                self.monitor = Monitor::new(&self.parameters);
                emit(&Packet::Reset, sink);
            }
            Stimulus::Write { register, value } => {
                self.monitor.write(register, value);
                let contents = contents_of(register, value, self.monitor.registers.modes());
                let record = access(Kind::Write, register, value);
                emit_record(&Packet::Write(contents), &record, sink);
            }
            Stimulus::Read(register) => self.read(register, sink),
            Stimulus::Instruction(instruction) => {
                if emit(&Packet::Instruction(instruction), sink)
                    && let Some(tags) = self.monitor.fetch(&instruction)
                    && self.tags
                {
                    emit(&Packet::Tags(tags), sink);
                }
            }
            Stimulus::Access(access) => {
                emit(&Packet::Access(access), sink);
                if let Some(tag) = self.monitor.access(&access)
                    && self.tags
                {
                    emit(&Packet::DataTag(tag), sink);
                }
            }
            Stimulus::Miss(miss) => {
                self.monitor.miss(&miss);
                emit(&Packet::Miss(miss), sink);
            }
            Stimulus::Occurrence(occurrence) => {
                self.monitor.occur(&occurrence);
                emit(&Packet::Occurrence(occurrence), sink);
            }
            Stimulus::Cycle => {
                let interrupts = self.monitor.end_cycle();
                emit(&Packet::Cycle, sink);
                if interrupts {
                    emit(&Packet::Interrupt, sink);
                }
            }
        }
    }

    fn read(&self, register: Register, sink: &mut dyn EncoderSink<ItaniumPmu>) {
        match self.monitor.read(register) {
            None => {
                emit(&Packet::ReadUndefined(register), sink);
            }
            Some(value) => {
                let contents = contents_of(register, value, self.monitor.registers.modes());
                // The record has what the fields leave out: undefined bits as they are held, PSR and PMV whole.
                let record = access(Kind::Read, register, value);
                emit_record(&Packet::Read(contents), &record, sink);
            }
        }
    }
}

/// Sends a packet and its record. Whether there is such a record.
fn emit(packet: &Packet, sink: &mut dyn EncoderSink<ItaniumPmu>) -> bool {
    match record_of(packet) {
        Ok(record) => {
            emit_record(packet, &record, sink);
            true
        }
        Err(_) => false,
    }
}

fn emit_record(packet: &Packet, record: &Record, sink: &mut dyn EncoderSink<ItaniumPmu>) {
    sink.packet(packet);
    sink.wire(record);
}
