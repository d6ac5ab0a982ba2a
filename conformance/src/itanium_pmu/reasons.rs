//! Why the instructions and accesses of a log are tagged or not.

use traceproof_decoder::itanium_pmu::qualification::opcode::OpcodeMonitor;
use traceproof_decoder::itanium_pmu::{Decoder, Registers, encode_register, explain};
use traceproof_vectors::itanium_pmu::{Event, Instruction, ItaniumPmu, Packet, Parameters, Tags};
use traceproof_vectors::{Decoder as _, Fault, Place, Program, Sink};

/// A sentence for every tag of the log, each with the index of its packet.
pub(super) fn reasons(wire: &[u8], parameters: &Parameters) -> Vec<(u64, String)> {
    let mut decoder = Decoder::default();
    if decoder.begin(parameters, &Program::new()).is_err() {
        return Vec::new();
    }
    let mut reasons = Reasons {
        parameters,
        registers: Registers::reset(),
        instruction: None,
        access: None,
        tags: Tags::default(),
        sentences: Vec::new(),
    };
    decoder.push(wire, &mut reasons);
    reasons.sentences
}

/// Follows the registers as the decoder does, and asks for reasons where it reports a tag.
struct Reasons<'a> {
    parameters: &'a Parameters,
    registers: Registers,
    instruction: Option<Instruction>,
    access: Option<traceproof_vectors::itanium_pmu::Access>,
    tags: Tags,
    sentences: Vec<(u64, String)>,
}

impl Reasons<'_> {
    fn say(&mut self, place: Place, what: &str, tag: bool, reason: &dyn std::fmt::Display) {
        self.sentences.push((place.packet, format!("{what} = {}: {reason}", u8::from(tag))));
    }
}

impl Sink<ItaniumPmu> for Reasons<'_> {
    fn packet(&mut self, _: Place, packet: &Packet) {
        match packet {
            Packet::Reset => self.registers = Registers::reset(),
            // What was read is what the registers hold from there on, even where it contradicts the log.
            Packet::Write(contents) | Packet::Read(contents) if contents.register().is_implemented() => {
                self.registers.write(contents.register(), encode_register(contents));
            }
            Packet::Instruction(instruction) => self.instruction = Some(*instruction),
            Packet::Access(access) => self.access = Some(*access),
            _ => {}
        }
    }

    fn event(&mut self, place: Place, event: &Event) {
        match (*event, self.instruction, self.access) {
            (Event::Tags(tags), Some(instruction), _) => {
                self.tags = tags;
                let range = explain::range(&self.registers, self.parameters, instruction.ip.0);
                self.say(place, "IBRRangeTag", range.tag(), &range);
                if !range.tag() {
                    // The other tags follow.
                    return;
                }
                for (name, monitor) in
                    [("Tag(PMC8)", OpcodeMonitor::Pmc8), ("Tag(PMC9)", OpcodeMonitor::Pmc9)]
                {
                    let reason = explain::opcode_tag(&self.registers, self.parameters, monitor, &instruction);
                    self.say(place, name, reason.tag(), &reason);
                }
            }
            (Event::DataTag { .. }, _, Some(access)) => {
                let reason =
                    explain::data_tag(&self.registers, access.kind, access.address.0, self.tags.pmc8);
                self.say(place, "DBRRangeTag", reason.tag(), &reason);
            }
            _ => {}
        }
    }

    fn fault(&mut self, _: &Fault) {}
}
