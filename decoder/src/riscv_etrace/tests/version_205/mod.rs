//! What version 2.0.5 adds: standard support packets, `irets`, data packets of the MMA/CAS extension.
//!
//! Y-examples exist apart from this code; the other bytes are packed by hand, field by field.

use alloc::string::String;

use traceproof_vectors::riscv_etrace::{Modes, Parameters, QualStatus, StandardSupport, Version};
use traceproof_vectors::{Decoder as _, Log, Program};

use super::{decode, frame, pack, summary_of};
use crate::riscv_etrace::{Decoder, ProgramMap};

mod executions;
mod kept_state;
mod packets;
mod returns;
mod support;

/// Set A of the worked examples in version 2.0.5.
fn later() -> Parameters {
    Parameters { version: Version::V2_0_5, ..Parameters::default() }
}

/// With `irets` and a stack of eight.
fn stack() -> Parameters {
    Parameters { iret_ext: true, return_stack_size_p: 3, ..later() }
}

/// The same, and the mode is on.
fn implicit() -> Parameters {
    Parameters { modes: Modes { implicit_return: true, ..Modes::default() }, ..stack() }
}

/// What an encoder with these parameters sends while nothing is on but the trace.
fn announcement(parameters: &Parameters) -> StandardSupport {
    StandardSupport {
        ienable: true,
        qual_status: QualStatus::NoChange,
        implicit_return: parameters.modes.implicit_return,
        iret_ext: parameters.iret_ext,
        return_stack_size: parameters.return_stack_size_p,
        call_counter_size: parameters.call_counter_size_p,
        ..StandardSupport::default()
    }
}

/// Its 42 bits.
fn payload(packet: &StandardSupport) -> String {
    let flag = |value: bool| (u64::from(value), 1);
    pack(&[
        (3, 2),
        (3, 2),
        flag(packet.ienable),
        (packet.encoder_mode.into(), 2),
        (packet.qual_status as u64, 2),
        flag(packet.sijump),
        flag(packet.implicit_return),
        flag(packet.branch_predictor),
        flag(packet.jump_target_cache),
        flag(packet.implicit_except),
        flag(packet.full_iaddress),
        flag(packet.resync_disabled),
        flag(packet.iret_ext),
        (packet.time_width.into(), 3),
        (packet.f0s_width.into(), 2),
        (packet.return_stack_size.into(), 3),
        (packet.call_counter_size.into(), 4),
        (packet.bpred_size.into(), 3),
        (packet.cache_size.into(), 3),
        flag(packet.denable),
        flag(packet.dloss),
        flag(packet.mmacas_ext),
        flag(packet.noaddr),
        flag(packet.nodata),
        flag(packet.full_daddress),
        flag(packet.full_data),
    ])
}

/// [`summary`](super::summary), which is the same with and without fast path.
fn summary(parameters: &Parameters, program: &Program, payloads: &[&str]) -> String {
    let map = ProgramMap::new(program, parameters);
    let wire = frame(payloads);
    let fast = summary_of(&map, &decode(parameters, program, &wire));
    let mut decoder = Decoder::default().without_fast_path();
    decoder.begin(parameters, program).expect("parameters are supported");
    let mut log = Log::default();
    decoder.push(&wire, &mut log);
    decoder.finish(&mut log);
    assert_eq!(fast, summary_of(&map, &log), "without fast path");
    fast
}
