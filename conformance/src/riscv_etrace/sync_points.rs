//! RISC-V E-Trace: a decoder may begin with any packet of format 3 subformat 0 or 1 (RVET-DEC-050, ET 9.2).
//!
//! A decoder that starts late does not know what an earlier support packet changed: the relation is for packets before
//! which the modes do not change, and for streams without data trace, whose differences restart elsewhere. And it is
//! for traces that are sound up to the packet: the position of a decoder after an error, before a packet that
//! synchronises a running trace, is undefined (RVET-DEC-047 is a recommendation). Nothing is garbage here:
//! encapsulation gives every byte a meaning.

use std::ops::Range;

use traceproof_vectors::riscv_etrace::{
    Encapsulation, Epc, Event, Mode, Modes, Packet, Parameters, RiscvEtrace, StandardSupport,
};
use traceproof_vectors::{Entry, Log, Place, Program, Protocol, Recovery};

use crate::family::{JudgedProtocol, SyncPoints, Tail};
use crate::relations::push_all;

/// Where decoding of RISC-V E-Trace may start late.
pub(super) const SYNC_POINTS: SyncPoints<RiscvEtrace> =
    SyncPoints { points, tail, first_wrong: SyncPoints::<RiscvEtrace>::first_difference, garbage: None };

/// Where the modes are those that the encoder starts in: a late decoder does not know others. And where the reference
/// finds no error from the beginning of the trace up to that packet.
fn points(wire: &[u8], parameters: &Parameters, program: &Program) -> Vec<usize> {
    // State that a synchronisation packet keeps is another thing that a late decoder does not know.
    let keeps_state = parameters.resync_disabled_keeps_state;
    if keeps_state || parameters.data.is_some() || !begins_anywhere(parameters.encapsulation) {
        return Vec::new();
    }
    let initial = ioptions(parameters);
    let unsound = unsound(wire, parameters, program);
    let mut known = true;
    let mut points = Vec::new();
    for unit in RiscvEtrace::dissect(wire, parameters, program) {
        match unit.packet {
            Some(Ok(Packet::Support { ioptions, .. })) => known = ioptions == initial,
            Some(Ok(Packet::StandardSupport(packet))) => known = modes(&packet) == parameters.modes,
            Some(Ok(Packet::Start { .. } | Packet::Trap { .. }))
                if known && !unsound.iter().any(|range| meet(range, &unit.bytes)) =>
            {
                points.extend(usize::try_from(unit.bytes.start).ok());
            }
            _ => {}
        }
    }
    points
}

/// Without the walk that leads to the point, and without the EPC of traps before the first instruction.
fn tail(log: &Log<RiscvEtrace>, from: usize, _: &Parameters) -> Tail<RiscvEtrace> {
    let here = |(place, _): &(Place, Entry<RiscvEtrace>)| place.byte >= from as u64;
    let mut tail = Tail::default();
    let mut synchronised = false;
    for (_, entry) in log.entries.iter().filter(|&entry| here(entry)) {
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
                tail.errors += usize::from(RiscvEtrace::recovery(fault.class) != Recovery::GoesOn);
            }
        }
    }
    tail
}

/// Whether a stream can begin with any of its packets: one that is entered at an unknown place begins with a
/// synchronisation sequence, and one in blocks of memory has its borders elsewhere.
const fn begins_anywhere(encapsulation: Encapsulation) -> bool {
    !matches!(encapsulation, Encapsulation::Normal(normal) if !normal.synchronised || normal.block_bytes > 0)
}

const fn meet(one: &Range<u64>, other: &Range<u64>) -> bool {
    one.start < other.end && other.start < one.end
}

/// Where a trace is not sound: from each error on to the end of that trace, after which every decoder waits for a
/// synchronisation (ET 7.5). Empty when the parameters are refused.
fn unsound(wire: &[u8], parameters: &Parameters, program: &Program) -> Vec<Range<u64>> {
    let mut decoder = RiscvEtrace::reference_decoder();
    if decoder.begin(parameters, program).is_err() {
        return Vec::new();
    }
    let mut ranges: Vec<Range<u64>> = Vec::new();
    for (place, entry) in push_all(decoder.as_mut(), [wire]).entries {
        let open = ranges.last_mut().filter(|range| range.end == u64::MAX);
        match (entry, open) {
            (Entry::Event(Event::Stop { .. }), Some(range)) => range.end = place.byte,
            (Entry::Fault(fault), None) if RiscvEtrace::recovery(fault.class) != Recovery::GoesOn => {
                ranges.push(fault.place.byte..u64::MAX);
            }
            _ => {}
        }
    }
    ranges
}

/// The modes that a standard support packet announces.
const fn modes(packet: &StandardSupport) -> Modes {
    Modes {
        implicit_return: packet.implicit_return,
        implicit_exception: packet.implicit_except,
        full_address: packet.full_iaddress,
        jump_target_cache: packet.jump_target_cache,
        branch_prediction: packet.branch_predictor,
        sijump: packet.sijump,
    }
}

/// The option bits of a support packet with the modes that the encoder starts in.
fn ioptions(parameters: &Parameters) -> u32 {
    let modes = &parameters.modes;
    let on = |mode: &Mode| match mode {
        Mode::ImplicitReturn => modes.implicit_return,
        Mode::ImplicitException => modes.implicit_exception,
        Mode::FullAddress => modes.full_address,
        Mode::JumpTargetCache => modes.jump_target_cache,
        Mode::BranchPrediction => modes.branch_prediction,
        Mode::SequentiallyInferredJumps => modes.sijump,
        Mode::DeltaAddress => !modes.full_address,
    };
    let bits = parameters.support.ioptions.iter().enumerate();
    bits.filter(|(_, mode)| on(mode)).fold(0, |bits, (index, _)| bits | 1 << index)
}
