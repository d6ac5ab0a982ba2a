//! How exceptions of ARM ETM are taken wrongly, by decoders and by macrocells.

use traceproof_vectors::Entry;
use traceproof_vectors::arm_etm::v2::conventions::BRANCH_EXCEPTION;
use traceproof_vectors::arm_etm::{
    Architecture, ArmEtm, Event, Exception, ExceptionKind, Packet, Parameters, VectorBase,
};

use super::decoding::{events, packets};
use super::encoding::cycles;
use super::layers::PacketHook;
use crate::saboteurs::decoders::Results;
use crate::saboteurs::encoders::Steps;

pub(super) fn vectors_are_branches(_: &Parameters) -> Results<ArmEtm> {
    events(|event, _| (!matches!(event, Event::Exception { .. })).then_some(event))
}

pub(super) fn possible_exceptions_unreported(_: &Parameters) -> Results<ArmEtm> {
    events(|event, _| (!matches!(event, Event::PossibleException { .. })).then_some(event))
}

pub(super) fn low_vectors_only(parameters: &mut Parameters) {
    parameters.hivecs = VectorBase::Low;
}

pub(super) fn ignored_transfers_unreported(_: &Parameters) -> Results<ArmEtm> {
    events(|event, _| (!matches!(event, Event::IgnoredTransfers { .. })).then_some(event))
}

pub(super) fn ignored_transfers_not_counted(parameters: &Parameters) -> Results<ArmEtm> {
    let counts = parameters.architecture == Architecture::V1;
    let mut ignored = 0;
    events(move |mut event, _| {
        match &mut event {
            Event::IgnoredTransfers { first, last } if counts => ignored += *last - *first + 1,
            Event::Transfer { transfer, .. } => *transfer -= ignored,
            _ => {}
        }
        Some(event)
    })
}

pub(super) fn interrupted_instruction_executed(_: &Parameters) -> Results<ArmEtm> {
    // The address of BE or BD was read, and its instruction is not reported yet.
    let mut addressed = false;
    Box::new(move |mut entry| {
        match &mut entry {
            Entry::Packet(packet) => {
                addressed = matches!(packet, Packet::BranchAddress(_) | Packet::FullBranchAddress { .. });
            }
            Entry::Event(Event::InstructionAt { executed, .. }) => {
                *executed |= core::mem::take(&mut addressed);
            }
            Entry::Event(Event::Branch { .. } | Event::Synchronisation { .. }) => addressed = false,
            _ => {}
        }
        Some(entry)
    })
}

pub(super) fn aborts_exchanged(_: &Parameters) -> Results<ArmEtm> {
    use ExceptionKind::{DataAbort, PrefetchAbort};
    events(|mut event, _| {
        if let Event::Exception { kind, .. } = &mut event {
            *kind = match *kind {
                DataAbort => PrefetchAbort,
                PrefetchAbort => DataAbort,
                other => other,
            };
        }
        Some(event)
    })
}

pub(super) fn exception_bit_ignored(parameters: &Parameters) -> PacketHook {
    // Bit 6 of the fifth byte, each of the others having seven bits.
    let bit = if parameters.architecture == Architecture::V2 { u64::from(BRANCH_EXCEPTION) << 27 } else { 0 };
    packets(move |packet| {
        if let Packet::BranchAddress(address) = packet
            && address.bytes == 5
        {
            address.bits &= !bit;
        }
    })
}

pub(super) fn only_the_bit_takes_back(parameters: &Parameters) -> Results<ArmEtm> {
    let is_v2 = parameters.architecture == Architecture::V2;
    events(move |mut event, packet| {
        if let Event::Exception { cancelled, .. } = &mut event
            && let Some(Packet::BranchAddress(address)) = packet
            && is_v2
            && address.bytes < 5
        {
            *cancelled = None;
        }
        Some(event)
    })
}

pub(super) fn every_abort_takes_back(parameters: &Parameters) -> Results<ArmEtm> {
    let is_v2 = parameters.architecture == Architecture::V2;
    events(move |mut event, _| {
        if let Event::Exception { cycle, kind: ExceptionKind::DataAbort, cancelled, .. } = &mut event
            && is_v2
        {
            *cancelled = cancelled.or(Some(*cycle));
        }
        Some(event)
    })
}

pub(super) fn taken_back_in_the_cycle_of_the_branch(_: &Parameters) -> Results<ArmEtm> {
    events(|mut event, _| {
        if let Event::Exception { cycle, cancelled: Some(cancelled), .. } = &mut event {
            *cancelled = *cycle;
        }
        Some(event)
    })
}

pub(super) fn other_exception_is_reset(_: &Parameters) -> Results<ArmEtm> {
    events(|mut event, packet| {
        if let Event::BranchTo { exception: Some(information), .. } = &mut event
            && let Some(Packet::InByteExceptionBranch { exception, .. }) = packet
            && exception.code == 0
        {
            information.number = 8;
        }
        Some(event)
    })
}

/// Changes the number of exceptions of ETMv1 and ETMv2.
fn numbers(parameters: &Parameters, change: fn(u16) -> u16) -> Steps<ArmEtm> {
    let has_numbers = parameters.architecture == Architecture::V3;
    cycles(move |cycle| {
        if let Some(exception) = cycle
            .instruction
            .as_mut()
            .and_then(|instruction| instruction.branch.as_mut())
            .and_then(|branch| branch.exception.as_mut())
            && !has_numbers
        {
            exception.number = change(exception.number);
        }
    })
}

pub(super) fn imprecise_aborts_look_precise(parameters: &Parameters) -> Steps<ArmEtm> {
    numbers(parameters, |number| if number == 4 { 12 } else { number })
}

pub(super) fn precise_aborts_take_back(parameters: &Parameters) -> Steps<ArmEtm> {
    numbers(parameters, |number| if number == 12 { 4 } else { number })
}

pub(super) fn svc_takes_itself_back(parameters: &Parameters) -> Steps<ArmEtm> {
    numbers(parameters, |number| if number == 10 { 14 } else { number })
}

pub(super) fn interrupts_are_not_shown(parameters: &Parameters) -> Steps<ArmEtm> {
    let has_numbers = parameters.architecture == Architecture::V3;
    cycles(move |cycle| {
        if let Some(instruction) = &mut cycle.instruction
            && let Some(Exception { number: 14 | 15, .. }) =
                instruction.branch.and_then(|branch| branch.exception)
            && !has_numbers
        {
            instruction.branch = None;
        }
    })
}
