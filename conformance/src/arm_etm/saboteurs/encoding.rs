//! How macrocells of ARM ETM are made wrong.

use traceproof_vectors::arm_etm::{ArmEtm, Parameters, Policy, Stimulus};

use crate::saboteurs::encoders::Steps;

/// Changes what a cycle shows.
pub(super) fn cycles(mut change: impl FnMut(&mut Stimulus) + 'static) -> Steps<ArmEtm> {
    Box::new(move |mut stimulus| {
        change(&mut stimulus);
        Some(stimulus)
    })
}

pub(super) fn data_dropped_while_trace_is_off(_: &Parameters) -> Steps<ArmEtm> {
    cycles(|cycle| {
        if !cycle.trace_enable {
            cycle.returns.clear();
        }
    })
}

pub(super) fn words_swapped(_: &Parameters) -> Steps<ArmEtm> {
    cycles(|cycle| {
        for transfer in cycle.transfers.iter_mut().filter(|transfer| transfer.wide) {
            transfer.value = transfer.value.rotate_left(32);
        }
    })
}

pub(super) fn cancel_not_sent(_: &Parameters) -> Steps<ArmEtm> {
    cycles(|cycle| {
        if let Some(exception) = cycle
            .instruction
            .as_mut()
            .and_then(|instruction| instruction.branch.as_mut())
            .and_then(|branch| branch.exception.as_mut())
        {
            exception.cancel = false;
        }
    })
}

pub(super) fn phantoms_are_taken(_: &Parameters) -> Steps<ArmEtm> {
    cycles(|cycle| {
        if let Some(phantom) = cycle.instruction.as_mut().and_then(|instruction| instruction.phantom.as_mut())
        {
            phantom.taken = true;
        }
    })
}

pub(super) fn byte_order_not_sent(_: &Parameters) -> Steps<ArmEtm> {
    cycles(|cycle| cycle.transfers.iter_mut().for_each(|transfer| transfer.big_endian = false))
}

pub(super) fn store_failed_not_sent(_: &Parameters) -> Steps<ArmEtm> {
    cycles(|cycle| cycle.transfers.iter_mut().for_each(|transfer| transfer.failed = false))
}

pub(super) fn misses_survive_a_reset(_: &Parameters) -> Steps<ArmEtm> {
    cycles(|cycle| cycle.reset = false)
}

pub(super) fn period_one_cycle_long(_: &mut Parameters, policy: &mut Policy) {
    if policy.sync_period > 0 {
        policy.sync_period += 1;
    }
}

pub(super) fn fifo_one_byte_short(parameters: &mut Parameters, policy: &mut Policy) {
    let less = Policy { fifo_size: policy.fifo_size.saturating_sub(1), ..*policy };
    if less.check(parameters.architecture).is_ok() {
        *policy = less;
    }
}
