//! RISC-V E-Trace: a decoder may begin with any packet of format 3 subformat 0 or 1 (RVET-DEC-050, ET 9.2).
//!
//! What a support packet in front of that one changed, a late decoder does not know: the relation is for streams whose modes do
//! not change. Nothing is garbage here: encapsulation gives every byte a meaning.

use traceproof_vectors::riscv_etrace::{Epc, Event, Packet, Parameters, RiscvEtrace};
use traceproof_vectors::{Entry, Log, Place, Program, Severity};

use super::{Joints, Tail};
use crate::family::FamilyRules;

impl Joints for RiscvEtrace {
    fn points(wire: &[u8], parameters: &Parameters, program: &Program) -> Vec<usize> {
        let units = Self::dissect(wire, parameters, program).into_iter();
        let joints =
            units.filter(|unit| matches!(unit.packet, Some(Ok(Packet::Start { .. } | Packet::Trap { .. }))));
        joints.filter_map(|unit| usize::try_from(unit.bytes.start).ok()).collect()
    }

    /// Without the walk that leads to the point, and without the EPC of traps before the first instruction.
    fn tail(log: &Log<Self>, from: usize, _: &Parameters) -> Tail<Self> {
        let here = |(place, entry): &(Place, Entry<Self>)| {
            place.byte >= from as u64 && matches!(entry, Entry::Packet(_))
        };
        let start = log.entries.iter().position(here).unwrap_or(log.entries.len());
        let mut tail = Tail { packets: Vec::new(), events: Vec::new(), errors: 0 };
        let mut synchronised = false;
        for (_, entry) in log.entries.get(start..).unwrap_or_default() {
            match entry {
                Entry::Packet(packet) => tail.packets.push(*packet),
                Entry::Event(event) => {
                    let mut event = *event;
                    match &mut event {
                        Event::Retire { .. } if !synchronised => continue,
                        Event::Trap { epc, .. } if !synchronised => *epc = Epc::Unstated,
                        Event::Context { precise: true, .. } => synchronised = true,
                        _ => {}
                    }
                    tail.events.push(event);
                }
                Entry::Fault(fault) => {
                    tail.errors += usize::from(fault.class.severity() == Severity::Error);
                }
            }
        }
        tail
    }
}
