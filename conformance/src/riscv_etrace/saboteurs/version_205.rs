//! How decoders and encoders of version 2.0.5 are made wrong.

use traceproof_vectors::Entry;
use traceproof_vectors::riscv_etrace::{
    AtomicOperation, DataAccess, DataEvent, DataLayout, DataPacket, DataParameters, Event, Packet,
    Parameters, Policy, ReportedData, RiscvEtrace, StandardSupport, Stimulus, SyncMode,
};

use super::layers::{Following, PacketHook};
use crate::saboteurs::decoders::Results;
use crate::saboteurs::encoders::Steps;

/// Changes standard support packets where they are read.
fn standard_support(change: fn(&mut StandardSupport)) -> PacketHook {
    Box::new(move |mut packet| {
        if let Packet::StandardSupport(support) = &mut packet {
            change(support);
        }
        packet
    })
}

/// `irreport` and `irets` of the packets that have them.
const fn report(packet: &mut Packet) -> Option<(&mut bool, &mut u8)> {
    match packet {
        Packet::Address { irreport, irets, .. }
        | Packet::Branch { irreport, irets, .. }
        | Packet::BranchCount { irreport, irets, .. }
        | Packet::JumpTargetIndex { irreport, irets, .. } => Some((irreport, irets)),
        _ => None,
    }
}

/// Changes `irreport` and `irets` where packets are followed that have `irets` and the flag.
fn irets(parameters: &Parameters, change: fn(&mut bool, &mut u8)) -> Following {
    let has_irets = parameters.iret_ext;
    Box::new(move |mut packet, _| {
        if let Some((irreport, irets)) = report(&mut packet)
            && has_irets
            && *irreport
        {
            change(irreport, irets);
        }
        Some(packet)
    })
}

pub(super) fn modes_in_the_old_order(_: &Parameters) -> PacketHook {
    standard_support(|support| {
        let travelled = [
            support.sijump,
            support.implicit_return,
            support.branch_predictor,
            support.jump_target_cache,
            support.implicit_except,
            support.full_iaddress,
        ];
        [
            support.implicit_return,
            support.implicit_except,
            support.full_iaddress,
            support.jump_target_cache,
            support.branch_predictor,
            support.sijump,
        ] = travelled;
    })
}

pub(super) fn time_width_of_two_bits(_: &Parameters) -> PacketHook {
    standard_support(|support| support.time_width &= 3)
}

pub(super) fn call_counter_size_of_three_bits(_: &Parameters) -> PacketHook {
    standard_support(|support| support.call_counter_size &= 7)
}

pub(super) fn vendor_bits_of_one_byte(_: &Parameters) -> PacketHook {
    standard_support(|support| support.other &= 0xff)
}

pub(super) fn irets_as_wide_as_irdepth(parameters: &Parameters) -> PacketHook {
    let mask = 1_u8.checked_shl(parameters.irdepth_width()).map_or(u8::MAX, |end| end - 1);
    Box::new(move |mut packet| {
        if let Some((_, irets)) = report(&mut packet) {
            *irets &= mask;
        }
        packet
    })
}

pub(super) fn irets_is_signed(parameters: &Parameters) -> Following {
    irets(parameters, |_, irets| *irets = if *irets < 0x80 { *irets } else { 0 })
}

pub(super) fn count_of_none_is_no_report(parameters: &Parameters) -> Following {
    irets(parameters, |irreport, irets| *irreport = *irets > 0)
}

pub(super) fn failed_return_is_counted(parameters: &Parameters) -> Following {
    irets(parameters, |_, irets| *irets = irets.saturating_sub(1))
}

pub(super) const fn everything_kept_without_resynchronisation(parameters: &mut Parameters) {
    parameters.resync_disabled_keeps_state = parameters.has_standard_support();
}

pub(super) const fn counter_beside_a_stack_ignored(parameters: &mut Parameters) {
    if parameters.iret_ext && parameters.return_stack_size_p > 0 {
        parameters.call_counter_size_p = 0;
    }
}

pub(super) const fn irets_needs_a_stack(parameters: &mut Parameters) {
    parameters.iret_ext &= parameters.return_stack_size_p > 0 || parameters.call_counter_size_p > 0;
}

/// The data parameters of the MMA/CAS extension.
fn mma_cas(parameters: &mut Parameters) -> Option<&mut DataParameters> {
    parameters.data.as_mut().filter(|data| data.layout == DataLayout::MmaCas)
}

pub(super) fn format_always_two_bits(parameters: &mut Parameters) {
    if let Some(data) = mma_cas(parameters) {
        data.dtype_width_p = data.dtype_width_p.max(3);
    }
}

/// Changes what is read and reported of data trace.
fn data(packet: fn(&mut DataPacket), event: fn(&mut DataEvent)) -> Results<RiscvEtrace> {
    Box::new(move |mut entry| {
        match &mut entry {
            Entry::Packet(Packet::Data(read)) => packet(read),
            Entry::Event(Event::Data(reported)) => event(reported),
            _ => {}
        }
        Some(entry)
    })
}

pub(super) fn multi_access_is_plain(_: &Parameters) -> Results<RiscvEtrace> {
    data(
        |packet| match packet {
            DataPacket::Load(transfer) | DataPacket::Store(transfer) => transfer.multi = false,
            DataPacket::LoadRequest(request) => request.multi = false,
            _ => {}
        },
        |event| match event {
            DataEvent::Load { multi, .. }
            | DataEvent::Store { multi, .. }
            | DataEvent::LoadRequest { multi, .. } => *multi = false,
            _ => {}
        },
    )
}

fn taken_for_a_swap(op: &mut AtomicOperation) {
    if *op == AtomicOperation::CompareAndSwapFailure {
        *op = AtomicOperation::Swap;
    }
}

pub(super) fn failed_comparison_is_a_swap(_: &Parameters) -> Results<RiscvEtrace> {
    data(
        |packet| {
            if let DataPacket::Atomic(atomic) = packet {
                taken_for_a_swap(&mut atomic.op);
            }
        },
        |event| {
            if let DataEvent::Atomic { op, .. } = event {
                taken_for_a_swap(op);
            }
        },
    )
}

pub(super) fn every_data_phase_is_of_a_load(parameters: &Parameters) -> Results<RiscvEtrace> {
    if mma_cas(&mut parameters.clone()).is_none() {
        return Box::new(Some);
    }
    data(
        |_| {},
        |event| {
            if let DataEvent::AtomicResponse { lrid, address, size, data, .. } = *event {
                *event = DataEvent::LoadResponse { lrid, address, size, data };
            }
        },
    )
}

pub(super) fn operand_of_a_request_is_whole(_: &Parameters) -> Results<RiscvEtrace> {
    data(
        |packet| {
            if let DataPacket::AtomicRequest(request) = packet {
                request.operand = match request.operand {
                    ReportedData::Full(value) | ReportedData::Xor(value) => ReportedData::Full(value),
                    ReportedData::Delta(delta) => ReportedData::Full(delta.cast_unsigned()),
                };
            }
        },
        |_| {},
    )
}

pub(super) fn resynchronisation_never_disabled(parameters: &mut Parameters, policy: &mut Policy) {
    if parameters.has_standard_support() && policy.sync_mode == SyncMode::Off {
        // No test has as many packets.
        (policy.sync_mode, policy.sync_max) = (SyncMode::Packets, 20);
    }
}

/// Changes the data interface.
fn accesses(change: fn(&mut DataAccess)) -> Steps<RiscvEtrace> {
    Box::new(move |mut stimulus| {
        if let Stimulus::Data(access) = &mut stimulus {
            change(access);
        }
        Some(stimulus)
    })
}

pub(super) fn multi_access_sent_as_plain(_: &Parameters) -> Steps<RiscvEtrace> {
    accesses(|access| {
        if let DataAccess::Load(memory) | DataAccess::Store(memory) = access {
            memory.multi = false;
        }
    })
}

pub(super) fn failed_comparison_sent_as_a_swap(_: &Parameters) -> Steps<RiscvEtrace> {
    accesses(|access| {
        if let DataAccess::Atomic(atomic) = access {
            taken_for_a_swap(&mut atomic.op);
        }
    })
}
