//! How decoders of ARM ETM are made wrong.

use std::collections::BTreeMap;

use traceproof_vectors::arm_etm::{
    Architecture, ArmEtm, DataAddress, Event, Isa, MissingReason, Packet, Parameters, Reason, Value, v1,
};
use traceproof_vectors::{Entry, Program, Section};

use super::layers::PacketHook;
use crate::saboteurs::decoders::{Bytes, Results};

/// Changes packets where they are read.
pub(super) fn packets(mut change: impl FnMut(&mut Packet) + 'static) -> PacketHook {
    Box::new(move |mut packet| {
        change(&mut packet);
        packet
    })
}

/// Changes what is reported, with the packet that carried it at hand; `None` = it is not reported.
pub(super) fn events(
    mut change: impl FnMut(Event, Option<&Packet>) -> Option<Event> + 'static,
) -> Results<ArmEtm> {
    let mut latest = None;
    Box::new(move |entry| match entry {
        Entry::Packet(packet) => {
            latest = Some(packet);
            Some(entry)
        }
        Entry::Event(event) => change(event, latest.as_ref()).map(Entry::Event),
        Entry::Fault(_) => Some(entry),
    })
}

/// Two bits of a tag, the other way round.
const fn swapped(tag: u8) -> u8 {
    (tag & 1) << 1 | tag >> 1 & 1
}

pub(super) fn tag_bits_of_data_swapped(_: &Parameters) -> PacketHook {
    packets(|packet| {
        if let Packet::LoadMissData { tag, .. } = packet {
            *tag = swapped(*tag);
        }
    })
}

pub(super) fn full_p_header_without_its_n(parameters: &Parameters) -> PacketHook {
    let is_bare = !parameters.cycle_accurate;
    packets(move |packet| match packet {
        Packet::PHeader(header @ 0xfc) if is_bare => *header = 0xbc,
        _ => {}
    })
}

pub(super) fn format_2_in_the_other_order(_: &Parameters) -> PacketHook {
    packets(|packet| {
        if let Packet::PHeader(header) = packet
            && *header & 0xf3 == 0x82
        {
            *header = *header & 0xf3 | (*header & 4) << 1 | (*header & 8) >> 1;
        }
    })
}

pub(super) fn cancel_ignored(_: &Parameters) -> PacketHook {
    packets(|packet| match packet {
        Packet::ExceptionBranch { information, .. } => information.cancel = false,
        Packet::InByteExceptionBranch { exception, .. } => exception.cancel = false,
        _ => {}
    })
}

pub(super) fn context_id_of_two_bytes(_: &Parameters) -> PacketHook {
    packets(|packet| match packet {
        Packet::ContextId { value, .. }
        | Packet::TraceFifoOffset { context_id: Some(value), .. }
        | Packet::InstructionSync { context_id: Some(value), .. } => *value &= 0xffff,
        _ => {}
    })
}

pub(super) fn exception_number_of_four_bits(_: &Parameters) -> PacketHook {
    packets(|packet| {
        if let Packet::ExceptionBranch { information, .. } = packet {
            information.number &= 0xf;
        }
    })
}

pub(super) fn vmid_of_four_bits(_: &Parameters) -> PacketHook {
    packets(|packet| {
        if let Packet::Vmid(value) = packet {
            *value &= 0xf;
        }
    })
}

pub(super) fn pair_is_two_misses(_: &Parameters) -> Results<ArmEtm> {
    events(|mut event, _| {
        if let Event::Transfer { value, .. } = &mut event
            && let Value::PendingHigh(tag) = *value
        {
            *value = Value::Pending(tag);
        }
        Some(event)
    })
}

pub(super) fn ignore_parts_a_pair(_: &Parameters) -> Results<ArmEtm> {
    let (mut before, mut latest) = (None, None);
    Box::new(move |mut entry| {
        match &mut entry {
            Entry::Packet(packet) => before = latest.replace(*packet),
            Entry::Event(Event::Transfer { value, .. }) if before == Some(Packet::Ignore) => {
                if let Value::PendingHigh(tag) = *value {
                    *value = Value::Pending(tag);
                }
            }
            _ => {}
        }
        Some(entry)
    })
}

/// Transfers that wait for data, oldest first, and their tags.
#[derive(Default)]
struct Outstanding(Vec<(u64, u8)>);

impl Outstanding {
    fn note(&mut self, event: &Event) {
        match *event {
            Event::Transfer { transfer, value: Value::Pending(tag) | Value::PendingHigh(tag), .. } => {
                self.0.push((transfer, tag));
            }
            Event::MissData { transfer, .. } | Event::Missing { transfer, .. } => {
                self.0.retain(|(waiting, _)| *waiting != transfer);
            }
            _ => {}
        }
    }
}

pub(super) fn data_for_the_oldest_miss(_: &Parameters) -> Results<ArmEtm> {
    let mut outstanding = Outstanding::default();
    events(move |mut event, _| {
        if let Event::MissData { transfer, .. } = &mut event
            && let Some((oldest, _)) = outstanding.0.first()
        {
            *transfer = *oldest;
        }
        outstanding.note(&event);
        Some(event)
    })
}

pub(super) fn superseded_miss_revived(_: &Parameters) -> Results<ArmEtm> {
    let mut outstanding = Outstanding::default();
    // By tag, the miss that was superseded, and by the miss that took its tag.
    let (mut superseded, mut revived) = (BTreeMap::new(), BTreeMap::new());
    events(move |mut event, _| {
        let tag_of =
            |wanted: u64| outstanding.0.iter().find(|(waiting, _)| *waiting == wanted).map(|(_, tag)| *tag);
        match &mut event {
            Event::Missing { transfer, reason: MissingReason::Superseded } => {
                superseded.extend(tag_of(*transfer).map(|tag| (tag, *transfer)));
            }
            Event::Transfer { transfer, value: Value::Pending(tag), .. } => {
                revived.extend(superseded.remove(tag).map(|old| (*transfer, old)));
            }
            Event::MissData { transfer, .. } => *transfer = revived.remove(transfer).unwrap_or(*transfer),
            _ => {}
        }
        outstanding.note(&event);
        Some(event)
    })
}

pub(super) fn misses_forgotten_at_periodic_synchronisation(_: &Parameters) -> Results<ArmEtm> {
    let (mut outstanding, mut forgotten) = (Outstanding::default(), Outstanding::default());
    events(move |event, _| {
        if let Event::Synchronisation { reason: Reason::Periodic, .. }
        | Event::InstructionSync { reason: Reason::Periodic, .. } = event
        {
            forgotten.0.clone_from(&outstanding.0);
        }
        let ignored = match event {
            Event::MissData { transfer, when, .. } => forgotten
                .0
                .iter()
                .find(|(waiting, _)| *waiting == transfer)
                .map(|&(_, tag)| Event::IgnoredData { when, tag }),
            _ => None,
        };
        outstanding.note(&event);
        forgotten.0.retain(|waiting| outstanding.0.contains(waiting));
        Some(ignored.unwrap_or(event))
    })
}

pub(super) fn missing_at_the_end_unreported(_: &Parameters) -> Results<ArmEtm> {
    events(|event, _| {
        let silent = matches!(event, Event::Missing { reason: MissingReason::End, .. });
        (!silent).then_some(event)
    })
}

pub(super) fn data_address_base_never_forgotten(_: &Parameters) -> Results<ArmEtm> {
    let mut latest: Option<u32> = None;
    events(move |mut event, _| {
        if let Event::Transfer { address: Some(address), .. } = &mut event {
            if let Some(latest) = latest.filter(|_| !address.is_full()) {
                *address = DataAddress::full(latest & !address.known() | address.value());
            }
            latest = address.is_full().then_some(address.value()).or(latest);
        }
        Some(event)
    })
}

pub(super) fn later_words_at_the_first_address(_: &Parameters) -> Results<ArmEtm> {
    let mut first_address = None;
    events(move |mut event, packet| {
        if let Event::Transfer { address, .. } = &mut event {
            match packet {
                Some(
                    Packet::NormalData { first: false, .. }
                    | Packet::LoadMissOccurred { first: false, .. }
                    | Packet::ValueNotTraced { first: false, .. },
                ) => *address = address.and(first_address),
                _ => first_address = *address,
            }
        }
        Some(event)
    })
}

pub(super) fn bytes_of_values_extended(_: &Parameters) -> Results<ArmEtm> {
    events(|mut event, packet| {
        if let Event::Transfer { value: Value::Known(value), .. } = &mut event
            && let Some(Packet::NormalData { ss: 1, .. }) = packet
            && *value & 0x80 != 0
        {
            *value |= 0xffff_ff00;
        }
        Some(event)
    })
}

pub(super) fn big_endian_for_one_transfer(_: &Parameters) -> Results<ArmEtm> {
    events(|mut event, packet| {
        if let Event::Transfer { big_endian, .. } = &mut event {
            *big_endian &= matches!(
                packet,
                Some(
                    Packet::NormalData { address: Some(address), .. }
                    | Packet::LoadMissOccurred { address: Some(address), .. }
                    | Packet::ValueNotTraced { address: Some(address), .. }
                ) if address.bytes == 5
            );
        }
        Some(event)
    })
}

pub(super) fn unknown_gap_is_no_gap(_: &Parameters) -> Results<ArmEtm> {
    events(|mut event, _| {
        if let Event::Gap { cycles } = &mut event {
            *cycles = cycles.or(Some(0));
        }
        Some(event)
    })
}

pub(super) fn load_in_progress_not_executed(_: &Parameters) -> Results<ArmEtm> {
    let mut implied = false;
    events(move |event, _| {
        let dropped = implied && matches!(event, Event::Atom { .. } | Event::Instruction { .. });
        implied = matches!(
            event,
            Event::InstructionSync { in_progress: Some(_), .. } | Event::Synchronisation { lsm: Some(_), .. }
        );
        (!dropped).then_some(event)
    })
}

pub(super) fn periodic_tfo_implies_nothing(_: &Parameters) -> Results<ArmEtm> {
    let mut implied = false;
    events(move |event, _| {
        let dropped = implied && matches!(event, Event::Instruction { .. });
        implied = matches!(event, Event::Synchronisation { reason: Reason::Periodic, lsm: None, .. });
        (!dropped).then_some(event)
    })
}

pub(super) fn store_failed_ignored(_: &Parameters) -> Results<ArmEtm> {
    events(|event, _| (!matches!(event, Event::StoreFailed { .. })).then_some(event))
}

pub(super) fn one_trigger_only(_: &Parameters) -> Results<ArmEtm> {
    let mut triggered = false;
    events(move |event, _| {
        let is_trigger = matches!(event, Event::Trigger { .. });
        let dropped = triggered && is_trigger;
        triggered |= is_trigger;
        (!dropped).then_some(event)
    })
}

pub(super) fn overflow_is_trace_enabled(_: &Parameters) -> Results<ArmEtm> {
    events(|mut event, _| {
        if let Event::Synchronisation { reason: reason @ Reason::Overflow, .. }
        | Event::InstructionSync { reason: reason @ Reason::Overflow, .. } = &mut event
        {
            *reason = Reason::TraceEnabled;
        }
        Some(event)
    })
}

pub(super) fn phantoms_are_taken(_: &Parameters) -> Results<ArmEtm> {
    events(|mut event, _| {
        if let Event::Instruction { executed, phantom: true, .. } = &mut event {
            *executed = true;
        }
        Some(event)
    })
}

pub(super) fn failed_condition_executed(_: &Parameters) -> Results<ArmEtm> {
    events(|mut event, _| {
        if let Event::InstructionAt { executed, .. } = &mut event {
            *executed = true;
        }
        Some(event)
    })
}

pub(super) fn thumb_ee_is_thumb(_: &Parameters) -> Results<ArmEtm> {
    events(|mut event, _| {
        if let Event::Atom { isa: isa @ Isa::ThumbEe, .. }
        | Event::InstructionSync { isa: isa @ Isa::ThumbEe, .. }
        | Event::BranchTo { isa: isa @ Isa::ThumbEe, .. } = &mut event
        {
            *isa = Isa::Thumb;
        }
        Some(event)
    })
}

pub(super) fn no_fifo_latency(parameters: &mut Parameters) {
    parameters.fifo_latency = 0;
}

pub(super) fn timestamps_in_binary(parameters: &mut Parameters) {
    parameters.timestamp_gray = false;
}

pub(super) fn timestamps_of_48_bits(parameters: &mut Parameters) {
    parameters.timestamp_bits = 48;
}

pub(super) fn original_branches(parameters: &mut Parameters) {
    parameters.alternative_branches = false;
}

pub(super) fn thumb32_is_one_atom(parameters: &mut Parameters) {
    parameters.thumb32_single = true;
}

/// The words of a program, changed where they are at a multiple of 4.
fn words(program: &Program, change: impl Fn(u32) -> u32) -> Program {
    let mut result = Program::new();
    for section in program.sections() {
        let mut bytes = section.bytes.clone();
        let skipped = section.address.0.wrapping_neg() as usize & 3;
        for word in bytes.get_mut(skipped..).unwrap_or_default().as_chunks_mut::<4>().0 {
            *word = change(u32::from_le_bytes(*word)).to_le_bytes();
        }
        // The sections are those of a program, so none is in the way of another.
        let _ =
            result.insert(Section::new(section.address, bytes, section.name.clone()).in_space(section.space));
    }
    result
}

/// LDRH and STRH become LDR and STR: cond 000PUxWL Rn Rt xxxx1011xxxx, cond 010PU0WL Rn Rt offset.
pub(super) fn half_words_are_words(_: &Parameters, program: &Program) -> Program {
    words(program, |word| {
        if word & 0x0e00_00f0 == 0x0000_00b0 && word >> 28 != 0xf {
            word & 0xf1bf_f000 | 0x0400_0000
        } else {
            word
        }
    })
}

/// BLX of a label becomes BL.
pub(super) fn blx_stays_in_arm_state(_: &Parameters, program: &Program) -> Program {
    words(program, |word| if word >> 25 == 0b111_1101 { word & 0x00ff_ffff | 0xeb00_0000 } else { word })
}

pub(super) fn six_zeros_are_no_alignment(parameters: &Parameters) -> Bytes {
    if parameters.architecture != Architecture::V3 || parameters.bare_port {
        return Box::new(|byte| byte);
    }
    let mut zeros = 0_u32;
    Box::new(move |byte| {
        zeros = if byte == 0 { zeros + 1 } else { 0 };
        if zeros > 5 { 1 } else { byte }
    })
}

pub(super) fn offset_of_two_bits(parameters: &Parameters) -> Bytes {
    if parameters.architecture != Architecture::V1 {
        return Box::new(|byte| byte);
    }
    let size = v1::Cycle::size(parameters);
    let (mut position, mut since_branch) = (0, None);
    Box::new(move |byte| {
        let is_pipestat = position == 0;
        position = (position + 1) % size;
        if !is_pipestat {
            return byte;
        }
        // Records after the one with the latest branch; a branch in its offset abandons it.
        let branches = matches!(v1::Pipestat::from_code(byte & 7), Some(v1::Pipestat::Be | v1::Pipestat::Bd));
        since_branch = if branches { Some(0_u32) } else { since_branch.map(|records| records + 1) };
        if since_branch == Some(2) && byte & 7 < 4 { byte & !3 } else { byte }
    })
}
