//! What decoders of ARM PFT report wrongly, or not at all.

use traceproof_vectors::arm_pft::{ArmPft, Event, Outcome, Packet, Parameters, Reason};
use traceproof_vectors::{Entry, Fault, FaultClass};

use crate::saboteurs::decoders::{Bytes, Results};

/// Changes what is reported, with the packet that carried it at hand; `None` = it is not reported.
fn results(
    mut change: impl FnMut(Entry<ArmPft>, Option<&Packet>) -> Option<Entry<ArmPft>> + 'static,
) -> Results<ArmPft> {
    let mut latest = None;
    Box::new(move |entry| {
        if let Entry::Packet(packet) = entry {
            latest = Some(packet);
        }
        change(entry, latest.as_ref())
    })
}

fn events(mut change: impl FnMut(Event, Option<&Packet>) -> Option<Event> + 'static) -> Results<ArmPft> {
    results(move |entry, packet| match entry {
        Entry::Event(event) => change(event, packet).map(Entry::Event),
        entry => Some(entry),
    })
}

fn faults(mut change: impl FnMut(Fault, Option<&Packet>) -> Option<Fault> + 'static) -> Results<ArmPft> {
    results(move |entry, packet| match entry {
        Entry::Fault(fault) => change(fault, packet).map(Entry::Fault),
        entry => Some(entry),
    })
}

/// As OpenCSD does.
pub(super) fn periodic_syncs_unreported(_: &Parameters) -> Results<ArmPft> {
    let mut seen = false;
    events(move |event, _| {
        let Event::TraceOn { reason, .. } = event else { return Some(event) };
        let dropped = seen && reason == Reason::Periodic;
        seen = true;
        (!dropped).then_some(event)
    })
}

pub(super) fn periodic_syncs_unchecked(_: &Parameters) -> Results<ArmPft> {
    faults(|fault, packet| {
        let of_sync = matches!(packet, Some(Packet::InstructionSync { .. }));
        (!(of_sync && fault.class == FaultClass::Contradiction)).then_some(fault)
    })
}

/// As OpenCSD does.
pub(super) fn direct_targets_unchecked(_: &Parameters) -> Results<ArmPft> {
    faults(|fault, packet| {
        let of_branch = matches!(packet, Some(Packet::BranchAddress { .. }));
        (!(of_branch && fault.class == FaultClass::Contradiction)).then_some(fault)
    })
}

pub(super) fn branches_out_of_nowhere_unreported(_: &Parameters) -> Results<ArmPft> {
    events(|event, _| (!matches!(event, Event::BranchTo { .. })).then_some(event))
}

pub(super) fn one_trigger_only(_: &Parameters) -> Results<ArmPft> {
    let mut triggered = false;
    events(move |event, _| {
        let is_trigger = event == Event::Trigger;
        let dropped = triggered && is_trigger;
        triggered |= is_trigger;
        (!dropped).then_some(event)
    })
}

pub(super) fn updated_instruction_executed(_: &Parameters) -> Results<ArmPft> {
    events(|mut event, packet| {
        if let Event::Instructions { last, .. } = &mut event
            && matches!(packet, Some(Packet::WaypointUpdate { .. }))
        {
            *last = Outcome::Executed;
        }
        Some(event)
    })
}

pub(super) fn totals_of_32_bits(_: &Parameters) -> Results<ArmPft> {
    events(|mut event, _| {
        if let Event::Cycles { total, .. } = &mut event {
            *total &= 0xffff_ffff;
        }
        Some(event)
    })
}

/// The bits of a value that travelled in the packet.
fn travelled(packet: Option<&Packet>, parameters: &Parameters) -> Option<(u64, u64)> {
    let Some(Packet::Timestamp { value, .. }) = packet else { return None };
    let whole = u64::MAX >> (64 - u32::from(parameters.timestamp_bits.clamp(1, 64)));
    let is_full = value.bytes >= parameters.full_timestamp_bytes();
    let mask = if is_full { whole } else { (1 << (7 * u32::from(value.bytes.min(8)))) - 1 };
    Some((value.bits & mask, mask))
}

fn from_gray(mut value: u64) -> u64 {
    for shift in [1, 2, 4, 8, 16, 32] {
        value ^= value >> shift;
    }
    value
}

pub(super) fn unsent_timestamp_bits_are_zero(parameters: &Parameters) -> Results<ArmPft> {
    let parameters = parameters.clone();
    events(move |mut event, packet| {
        if let Event::Timestamp { value: Some(value), .. } = &mut event
            && let Some((_, mask)) = travelled(packet, &parameters)
        {
            *value &= mask;
        }
        Some(event)
    })
}

pub(super) fn gray_code_is_binary(parameters: &Parameters) -> Results<ArmPft> {
    let is_gray = !parameters.timestamp_binary;
    events(move |mut event, _| {
        if let Event::Timestamp { value: Some(value), .. } = &mut event
            && is_gray
        {
            *value ^= *value >> 1;
        }
        Some(event)
    })
}

/// The bits that travelled are converted, then merged.
pub(super) fn gray_code_before_merging(parameters: &Parameters) -> Results<ArmPft> {
    let (parameters, mut latest) = (parameters.clone(), 0);
    events(move |mut event, packet| {
        if let Event::Timestamp { value: Some(value), .. } = &mut event
            && !parameters.timestamp_binary
            && let Some((bits, mask)) = travelled(packet, &parameters)
        {
            latest = latest & !mask | from_gray(bits);
            *value = latest;
        }
        Some(event)
    })
}

/// The value from before synchronisation was lost completes what comes after it.
pub(super) fn timestamps_survive(parameters: &Parameters) -> Results<ArmPft> {
    let (parameters, mut coded, mut complete) = (parameters.clone(), 0, false);
    events(move |mut event, packet| {
        if let Event::Timestamp { value, .. } = &mut event
            && let Some((bits, mask)) = travelled(packet, &parameters)
        {
            coded = coded & !mask | bits;
            complete |= value.is_some();
            let time = if parameters.timestamp_binary { coded } else { from_gray(coded) };
            *value = value.or(complete.then_some(time));
        }
        Some(event)
    })
}

pub(super) fn empty_stack_is_no_stack(_: &Parameters) -> Results<ArmPft> {
    faults(|mut fault, _| {
        if fault.class == FaultClass::InvalidReference {
            fault.class = FaultClass::UnexpectedDiscontinuity;
        }
        Some(fault)
    })
}

pub(super) fn unreachable_updates_unreported(_: &Parameters) -> Results<ArmPft> {
    faults(|fault, _| (fault.class != FaultClass::MissingOutcome).then_some(fault))
}

pub(super) fn unsupported_mode_is_no_code(_: &Parameters) -> Results<ArmPft> {
    faults(|mut fault, _| {
        if fault.class == FaultClass::UnsupportedMode {
            fault.class = FaultClass::NoCode;
        }
        Some(fault)
    })
}

pub(super) fn vmid_without_virtualization_believed(_: &Parameters) -> Results<ArmPft> {
    results(|entry, packet| match (entry, packet) {
        (Entry::Fault(Fault { class: FaultClass::IllegalInState, .. }), Some(Packet::Vmid(value))) => {
            Some(Entry::Event(Event::Vmid(*value)))
        }
        (entry, _) => Some(entry),
    })
}

pub(super) fn exception_return_of_v1_0_believed(_: &Parameters) -> Results<ArmPft> {
    results(|entry, packet| match (entry, packet) {
        (Entry::Fault(Fault { class: FaultClass::IllegalInState, .. }), Some(Packet::ExceptionReturn)) => {
            Some(Entry::Event(Event::ExceptionReturn))
        }
        (entry, _) => Some(entry),
    })
}

pub(super) fn six_zeros_are_no_alignment(_: &Parameters) -> Bytes {
    zeros(6)
}

/// As OpenCSD does in a stream that is synchronised.
pub(super) fn sixteen_zeros_are_no_alignment(_: &Parameters) -> Bytes {
    zeros(16)
}

/// So many zeros in a row end a run of them.
fn zeros(most: u32) -> Bytes {
    let mut zeros = 0_u32;
    Box::new(move |byte| {
        zeros = if byte == 0 { zeros + 1 } else { 0 };
        if zeros >= most { 1 } else { byte }
    })
}

pub(super) fn timestamps_end_early(parameters: &mut Parameters) {
    parameters.timestamp_bits = 48;
}

pub(super) fn barriers_are_no_waypoints(parameters: &mut Parameters) {
    parameters.barrier_waypoints = false;
}

pub(super) fn half_the_return_stack(parameters: &mut Parameters) {
    parameters.return_stack_depth = parameters.return_stack_depth.div_ceil(2);
}
