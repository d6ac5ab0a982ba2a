//! The cases of the suite as stimulus for a device, as far as it can have them.

use traceproof_vectors::case::{CaseFile, load};
use traceproof_vectors::riscv_etrace::{Filter, Mode, Parameters, RiscvEtrace, Step, Stimulus, Triggers};
use traceproof_vectors::{Program, shipped};

use super::{Generated, GeneratedCase, drive};
use crate::device::{MODES, mode_of};
use crate::filters::registers;
use crate::referee::Ruling;
use crate::{Device, Signal};

/// Adds every case that encodes an execution and fits the device; the others are left out with the reason.
///
/// # Errors
///
/// When the suite cannot be read.
pub(super) fn add(device: &Device, generated: &mut Generated) -> Result<(), String> {
    let cases = load::<RiscvEtrace>(&shipped::suites())
        .map_err(|errors| errors.first().map_or_else(String::new, ToString::to_string))?;
    for file in &cases {
        let Some(execution) = &file.resolved.execution else { continue };
        if let Err(reason) = add_case(device, file, execution, generated) {
            generated.left_out.push((file.case.id.clone(), reason));
        }
    }
    Ok(())
}

fn add_case(
    device: &Device,
    file: &CaseFile<RiscvEtrace>,
    execution: &[Step],
    generated: &mut Generated,
) -> Result<(), String> {
    let filters = fits_settings(device, file)?;
    fits_program(&device.parameters, &file.resolved.program)?;
    let mut on = false;
    for step in execution {
        fits_step(device, step)?;
        if let Step::Stimulus(Stimulus::Enable(enable)) = step {
            on = *enable;
        } else if !on && matches!(step, Step::Trap(_)) {
            return Err(String::from("a trap is taken before tracing is switched on"));
        }
    }
    let end = on.then_some(Step::Stimulus(Stimulus::Enable(false)));
    let steps: Vec<Step> = execution.iter().cloned().chain(end).collect();
    let shape = super::base_shape(device);
    let (rows, packets) = drive(device, &file.resolved.program, &steps, filters, shape)
        .ok_or("its code does not hold its execution")?;
    if packets.is_empty() {
        return Err(String::from("nothing is traced"));
    }
    let mut case = GeneratedCase {
        id: file.case.id.clone(),
        directed: true,
        variant: None,
        filters: filters.to_vec(),
        program: file.resolved.program.clone(),
        rows,
        packets,
        ruling: Ruling::default(),
    };
    generated
        .observe(device, &mut case)
        .map_err(|message| format!("decoder, referee and encoder model do not agree: {message}"))?;
    generated.cases.push(case);
    Ok(())
}

/// Modes, filters and triggers of the case itself.
fn fits_settings<'a>(device: &'a Device, file: &'a CaseFile<RiscvEtrace>) -> Result<&'a [Filter], String> {
    let (parameters, policy) = (&file.case.parameters, &file.case.policy);
    let (mut needed, mut there) = (parameters.modes, device.parameters.modes);
    for (_, mode, name) in MODES {
        let needs = mode != Mode::FullAddress && *mode_of(&mut needed, mode);
        if needs && !*mode_of(&mut there, mode) {
            return Err(format!("it needs the mode `{name}`"));
        }
    }
    let rules = [
        (parameters.data.is_none(), "it is about data trace"),
        (policy.triggers == Triggers::default(), "it needs other settings of triggers"),
    ];
    if let Some((_, why)) = rules.into_iter().find(|(fits, _)| !fits) {
        return Err(why.to_owned());
    }
    if policy.filters.is_empty() || !device.policy.filters.is_empty() {
        return Ok(&device.policy.filters);
    }
    registers(&policy.filters, device.room()).map_err(|why| format!("it needs filters: {why}"))?;
    Ok(&policy.filters)
}

fn fits_program(parameters: &Parameters, program: &Program) -> Result<(), String> {
    for section in program.sections() {
        let last = section.address.0.saturating_add(section.bytes.len() as u64);
        if last > parameters.address_mask() {
            return Err(String::from("its addresses do not fit `iaddress_width_p`"));
        }
        let mut at = 0;
        while let Some(byte) = section.bytes.get(at).filter(|_| parameters.iaddress_lsb_p == 2) {
            if byte & 3 != 3 {
                return Err(String::from("it has 16-bit instructions, `iaddress_lsb_p` is 2"));
            }
            at += 4;
        }
    }
    Ok(())
}

fn fits_step(device: &Device, step: &Step) -> Result<(), String> {
    let lacks = |signal: Signal, name: &str| {
        if device.has(signal) { Ok(()) } else { Err(format!("the device has no signal `{name}`")) }
    };
    let parameters = &device.parameters;
    let fits = |value: u64, width: u32| width >= 64 || value >> width == 0;
    match step {
        Step::Retire(retire) => {
            if retire.notify {
                lacks(Signal::Notify, "notify")?;
            }
            if retire.ctype > 0 {
                lacks(Signal::Ctype, "ctype")?;
            }
            let context = parameters.nocontext_p || fits(retire.context, parameters.context_width());
            let time = parameters.notime_p || fits(retire.time, parameters.time_width());
            let privilege = fits(retire.privilege.into(), parameters.privilege_width_p.into());
            if retire.partial || !context || !time || !privilege {
                return Err(String::from("its context, time, level or accesses do not fit the port"));
            }
        }
        Step::Trap(trap) => {
            let cause = fits(trap.cause, parameters.ecause_width_p.into());
            if !cause || trap.tval > parameters.address_mask() {
                return Err(String::from("a cause or trap value does not fit the port"));
            }
        }
        Step::Stimulus(Stimulus::Cycle(cycle)) => {
            if !cycle.blocks.is_empty() {
                return Err(String::from("its ingress cycles are made by hand"));
            }
            if cycle.halted {
                lacks(Signal::Halted, "halted")?;
            }
            if cycle.reset {
                lacks(Signal::Reset, "reset")?;
            }
            if cycle.trace_on || cycle.trace_off {
                lacks(Signal::Trigger, "trigger")?;
            }
        }
        Step::Stimulus(Stimulus::Enable(_)) => {}
        Step::Stimulus(Stimulus::Transport(_)) => {
            return Err(String::from("the transport loses packets, which packs do not cover"));
        }
        Step::Stimulus(_) => return Err(String::from("it changes modes or is about data trace")),
    }
    Ok(())
}
