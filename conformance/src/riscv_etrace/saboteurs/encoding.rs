//! How encoders of RISC-V E-Trace are made wrong.

use traceproof_vectors::riscv_etrace::{Cycle, DataAccess, Parameters, RiscvEtrace, Stimulus};

use crate::saboteurs::encoders::Steps;

/// Changes the ingress port.
fn cycles(mut change: impl FnMut(&mut Cycle) + 'static) -> Steps<RiscvEtrace> {
    Box::new(move |mut stimulus| {
        if let Stimulus::Cycle(cycle) = &mut stimulus {
            change(cycle);
        }
        Some(stimulus)
    })
}

pub(super) fn notify_not_sent(_: &Parameters) -> Steps<RiscvEtrace> {
    cycles(|cycle| cycle.blocks.iter_mut().for_each(|block| block.notify = false))
}

pub(super) fn sijump_ignored(_: &Parameters) -> Steps<RiscvEtrace> {
    cycles(|cycle| cycle.blocks.iter_mut().for_each(|block| block.sijump = false))
}

pub(super) fn privilege_one_cycle_late(_: &Parameters) -> Steps<RiscvEtrace> {
    let mut before = None;
    cycles(move |cycle| {
        let now = cycle.privilege;
        cycle.privilege = before.replace(now).unwrap_or(now);
    })
}

pub(super) fn trace_off_ignored(_: &Parameters) -> Steps<RiscvEtrace> {
    cycles(|cycle| cycle.trace_off = false)
}

pub(super) fn halt_not_seen(_: &Parameters) -> Steps<RiscvEtrace> {
    cycles(|cycle| cycle.halted = false)
}

pub(super) fn late_response_dropped(_: &Parameters) -> Steps<RiscvEtrace> {
    let mut outstanding: Vec<u16> = Vec::new();
    Box::new(move |stimulus| {
        match &stimulus {
            Stimulus::Data(access) => {
                if let DataAccess::Load(load) = access.as_ref() {
                    outstanding.extend(load.lrid);
                }
            }
            Stimulus::Response(response) if outstanding.contains(&response.lrid) => outstanding.clear(),
            Stimulus::Response(_) => return None,
            _ => {}
        }
        Some(stimulus)
    })
}
