//! How decoders of ARM PFT read packets wrongly.

use traceproof_vectors::Program;
use traceproof_vectors::arm_pft::{Atoms, CycleCount, ExceptionInformation, Packet, Parameters, Reason};

use super::layers::{Bug, Reading};

/// Changes packets, but not where they end.
fn packets(mut change: impl FnMut(&mut Packet) + 'static) -> Box<dyn Bug> {
    Box::new(Reading(move |packet: &mut Packet| {
        change(packet);
        0
    }))
}

/// Reads so many bytes more, or less.
fn lengths(change: impl FnMut(&mut Packet) -> isize + 'static) -> Box<dyn Bug> {
    Box::new(Reading(change))
}

/// The atoms, oldest first, changed.
fn atoms(change: impl Fn(&mut Vec<bool>) + 'static) -> Box<dyn Bug> {
    packets(move |packet| {
        if let Packet::Atoms { atoms, cycle_count: None } = packet {
            let mut executed: Vec<bool> = atoms.executed().collect();
            change(&mut executed);
            *atoms = Atoms::new(&executed).unwrap_or(*atoms);
        }
    })
}

pub(super) fn atoms_newest_first(_: &Parameters, _: &Program) -> Box<dyn Bug> {
    atoms(|executed| executed.reverse())
}

pub(super) fn fifth_atom_executed(_: &Parameters, _: &Program) -> Box<dyn Bug> {
    atoms(|executed| {
        if let [oldest, _, _, _, _] = executed.as_mut_slice() {
            *oldest = true;
        }
    })
}

/// The field of `bytes` bytes gets only bits below `kept`, those above it are 0.
fn address_bits(bytes: u8, kept: u64) -> Box<dyn Bug> {
    packets(move |packet| {
        if let Packet::BranchAddress { address, .. } = packet
            && address.bytes == bytes
        {
            address.bits &= kept;
        }
    })
}

pub(super) fn second_byte_of_five_bits(_: &Parameters, _: &Program) -> Box<dyn Bug> {
    address_bits(2, (1 << 11) - 1)
}

pub(super) fn fourth_byte_of_five_bits(_: &Parameters, _: &Program) -> Box<dyn Bug> {
    address_bits(4, (1 << 25) - 1)
}

pub(super) fn thumb_without_bit_31(_: &Parameters, _: &Program) -> Box<dyn Bug> {
    packets(|packet| {
        if let Packet::BranchAddress { address, .. } | Packet::WaypointUpdate { address, .. } = packet
            && address.bytes == 5
            && address.bits >> 31 & 3 == 1
        {
            address.bits &= !(1 << 30);
        }
    })
}

pub(super) fn jazelle_is_thumb(_: &Parameters, _: &Program) -> Box<dyn Bug> {
    packets(|packet| {
        if let Packet::BranchAddress { address, .. } = packet
            && address.bytes == 5
            && address.bits >> 32 & 1 == 1
        {
            address.bits = address.bits & !(1 << 32) | 1 << 31;
        }
    })
}

/// As ptm2human reads them: bit 6 of a last byte is an address bit, and what follows is a header.
pub(super) fn information_after_five_bytes_only(parameters: &Parameters, _: &Program) -> Box<dyn Bug> {
    let counts = parameters.cycle_accurate;
    lengths(move |packet| match packet {
        Packet::BranchAddress { address, exception, .. } if (2..5).contains(&address.bytes) && !counts => {
            let Some(ExceptionInformation { hyp, .. }) = exception.take() else { return 0 };
            -1 - isize::from(hyp.is_some())
        }
        _ => 0,
    })
}

fn information(mut change: impl FnMut(&mut ExceptionInformation) + 'static) -> Box<dyn Bug> {
    packets(move |packet| {
        if let Packet::BranchAddress { exception: Some(exception), .. } = packet {
            change(exception);
        }
    })
}

pub(super) fn exception_number_of_four_bits(_: &Parameters, _: &Program) -> Box<dyn Bug> {
    information(|exception| exception.number &= 0xf)
}

pub(super) fn exception_number_of_eight_bits(_: &Parameters, _: &Program) -> Box<dyn Bug> {
    information(|exception| exception.number &= 0xff)
}

pub(super) fn exception_without_byte_1_keeps_the_number(_: &Parameters, _: &Program) -> Box<dyn Bug> {
    let mut high = 0;
    information(move |exception| match exception.hyp {
        Some(_) => high = exception.number & 0x1f0,
        None if exception.number != 0 => exception.number |= high,
        None => {}
    })
}

pub(super) fn alt_isa_of_branches_ignored(_: &Parameters, _: &Program) -> Box<dyn Bug> {
    information(|exception| exception.alt_isa = false)
}

pub(super) fn alt_isa_of_syncs_ignored(_: &Parameters, _: &Program) -> Box<dyn Bug> {
    packets(|packet| {
        if let Packet::InstructionSync { alt_isa, .. } = packet {
            *alt_isa = false;
        }
    })
}

pub(super) fn hyp_of_syncs_ignored(_: &Parameters, _: &Program) -> Box<dyn Bug> {
    packets(|packet| {
        if let Packet::InstructionSync { hyp, .. } = packet {
            *hyp = false;
        }
    })
}

pub(super) fn hyp_of_branches_ignored(_: &Parameters, _: &Program) -> Box<dyn Bug> {
    information(|exception| exception.hyp = exception.hyp.map(|_| false))
}

pub(super) fn security_without_exception_ignored(_: &Parameters, _: &Program) -> Box<dyn Bug> {
    let mut latest = false;
    packets(move |packet| match packet {
        Packet::InstructionSync { non_secure, .. } => latest = *non_secure,
        Packet::BranchAddress { exception: Some(exception), .. } => {
            if exception.number == 0 {
                exception.non_secure = latest;
            }
            latest = exception.non_secure;
        }
        _ => {}
    })
}

/// As ptm2human does: the next packet begins at byte 1.
pub(super) fn second_information_byte_read_twice(parameters: &Parameters, _: &Program) -> Box<dyn Bug> {
    let counts = parameters.cycle_accurate;
    lengths(move |packet| match packet {
        Packet::BranchAddress { exception: Some(ExceptionInformation { hyp: Some(_), .. }), .. } => {
            if counts { 0 } else { -1 }
        }
        _ => 0,
    })
}

pub(super) fn thumb_syncs_at_words(_: &Parameters, _: &Program) -> Box<dyn Bug> {
    packets(|packet| {
        if let Packet::InstructionSync { address, .. } = packet
            && address.0 & 1 == 1
        {
            address.0 &= !2;
        }
    })
}

pub(super) fn debug_exit_is_overflow(_: &Parameters, _: &Program) -> Box<dyn Bug> {
    packets(|packet| {
        if let Packet::InstructionSync { reason: reason @ Reason::DebugExit, .. } = packet {
            *reason = Reason::Overflow;
        }
    })
}

fn count_of(packet: &mut Packet) -> Option<&mut CycleCount> {
    match packet {
        Packet::Atoms { cycle_count, .. }
        | Packet::BranchAddress { cycle_count, .. }
        | Packet::InstructionSync { cycle_count, .. }
        | Packet::Timestamp { cycle_count, .. } => cycle_count.as_mut(),
        _ => None,
    }
}

pub(super) fn counts_of_four_bytes(_: &Parameters, _: &Program) -> Box<dyn Bug> {
    lengths(|packet| {
        let after = match packet {
            // A Context ID follows the count: its bytes would move.
            Packet::InstructionSync { context_id: Some(_), .. } => return 0,
            packet => count_of(packet),
        };
        match after {
            Some(count) if count.bytes == 5 => {
                count.value &= 0x01ff_ffff;
                (count.bytes, count.reserved) = (4, count.reserved & !4);
                -1
            }
            _ => 0,
        }
    })
}

/// The first byte has its continuation bit lower than all others.
pub(super) fn counts_continue_by_bit_7(_: &Parameters, _: &Program) -> Box<dyn Bug> {
    lengths(|packet| match packet {
        Packet::BranchAddress { cycle_count: Some(count), .. }
        | Packet::Timestamp { cycle_count: Some(count), .. }
            if count.bytes > 1 =>
        {
            let less = isize::from(count.bytes) - 1;
            *count = CycleCount { value: count.value & 0xf, bytes: 1, reserved: count.reserved & !4 };
            -less
        }
        _ => 0,
    })
}

pub(super) fn later_count_bytes_one_bit_low(_: &Parameters, _: &Program) -> Box<dyn Bug> {
    packets(|packet| {
        if let Some(count) = count_of(packet)
            && count.bytes > 2
        {
            let (low, high) = (count.value & 0x7ff, count.value >> 11);
            count.value = low & 0x3ff | high << 10;
        }
    })
}

pub(super) fn periodic_syncs_have_counts(parameters: &Parameters, _: &Program) -> Box<dyn Bug> {
    let counts = parameters.cycle_accurate;
    lengths(move |packet| match packet {
        Packet::InstructionSync { reason: Reason::Periodic, .. } if counts => 1,
        _ => 0,
    })
}

pub(super) fn updates_have_counts(parameters: &Parameters, _: &Program) -> Box<dyn Bug> {
    let counts = parameters.cycle_accurate;
    lengths(move |packet| match packet {
        Packet::WaypointUpdate { .. } if counts => 1,
        _ => 0,
    })
}

pub(super) fn exception_returns_have_counts(parameters: &Parameters, _: &Program) -> Box<dyn Bug> {
    let counts = parameters.cycle_accurate;
    lengths(move |packet| match packet {
        Packet::ExceptionReturn if counts => 1,
        _ => 0,
    })
}

/// The Context ID comes first, then the count of one byte.
pub(super) fn context_id_before_the_count(parameters: &Parameters, _: &Program) -> Box<dyn Bug> {
    let bytes = u32::from(parameters.context_id_bytes);
    packets(move |packet| {
        if let Packet::InstructionSync {
            cycle_count: Some(count @ CycleCount { bytes: 1, .. }),
            context_id: Some(context_id),
            ..
        } = packet
        {
            let wire = u64::from(*context_id) << 8 | u64::from(count.value) << 2 | 0x80;
            *context_id = (wire & ((1 << (8 * bytes)) - 1)) as u32;
            *count = CycleCount::new((wire >> (8 * bytes + 2)) as u32 & 0xf);
        }
    })
}

fn context_ids(change: impl Fn(&mut u32) + 'static) -> Box<dyn Bug> {
    packets(move |packet| {
        if let Packet::ContextId { value: Some(value) }
        | Packet::InstructionSync { context_id: Some(value), .. } = packet
        {
            change(value);
        }
    })
}

pub(super) fn context_id_in_big_endian(parameters: &Parameters, _: &Program) -> Box<dyn Bug> {
    let unused = 8 * (4 - u32::from(parameters.context_id_bytes.min(4)));
    context_ids(move |value| *value = value.swap_bytes().checked_shr(unused).unwrap_or(0))
}

pub(super) fn context_id_packet_of_two_bytes(parameters: &Parameters, _: &Program) -> Box<dyn Bug> {
    let whole = parameters.context_id_bytes;
    lengths(move |packet| match packet {
        Packet::ContextId { value: Some(value) } if whole == 4 => {
            *value &= 0xffff;
            -2
        }
        _ => 0,
    })
}

pub(super) fn vmid_of_seven_bits(_: &Parameters, _: &Program) -> Box<dyn Bug> {
    packets(|packet| {
        if let Packet::Vmid(value) = packet {
            *value &= 0x7f;
        }
    })
}

pub(super) fn clock_change_ignored(_: &Parameters, _: &Program) -> Box<dyn Bug> {
    packets(|packet| {
        if let Packet::Timestamp { clock_change, .. } = packet {
            *clock_change = false;
        }
    })
}

/// The ninth byte ends a timestamp whatever its bit 7 is.
pub(super) fn ninth_timestamp_byte_continues(parameters: &Parameters, _: &Program) -> Box<dyn Bug> {
    let counts = parameters.cycle_accurate;
    lengths(move |packet| match packet {
        Packet::Timestamp { value, .. } if value.bytes == 9 && value.bits >> 63 == 1 => {
            value.bits &= !(1 << 63);
            isize::from(!counts)
        }
        _ => 0,
    })
}

/// As ptm2human does: the byte after the eighth is the ninth whatever the eighth's bit 7 is.
pub(super) fn eighth_timestamp_byte_continues(parameters: &Parameters, _: &Program) -> Box<dyn Bug> {
    let counts = parameters.cycle_accurate;
    lengths(move |packet| match packet {
        Packet::Timestamp { value, .. } if value.bytes == 8 && !counts => 1,
        _ => 0,
    })
}

/// The first byte of a capture is taken for a header.
pub(super) struct AlignedAtOnce;

impl Bug for AlignedAtOnce {
    fn is_aligned_at_once(&self) -> bool {
        true
    }
}
