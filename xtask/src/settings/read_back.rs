//! From register values to the options of `settings` that they stand for, and what is wrong with them.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use traceproof_conformance::family::JudgedProtocol;
use traceproof_encoder_model::arm_ete_unit::settings::{
    Levels, Output, SettingsRefusal, Stall, TraceRequest, Unread,
};
use traceproof_vectors::arm_ete_unit::{
    Access, AccessClass, Agent, ArmEteUnit, Event, Packet, Parameters, Register,
};
use traceproof_vectors::case::arm_ete_unit::read_log;
use traceproof_vectors::{Fault, Place, Program, Sink, bounded};

use crate::exit::{Exit, Failure, Outcome};
use crate::files::{check_no_pipe, print, read_listing};

/// TRCEVENTCTL1R.OE.
const OE: u64 = 1 << 13;

/// Prints the options that the values in a file stand for.
pub(super) fn run(path: &Path, parameters: &Parameters, thumb: bool, output: Option<Output>) -> Outcome {
    check_no_pipe(path)?;
    let text = read_listing(path, bounded::LISTING)?;
    let values = read_values(&text, parameters).map_err(|error| Failure::file(path, error))?;
    if values.is_empty() {
        return Err(Failure::file(path, "no values of registers; write `TRCCONFIGR = 0x1`, or a log"));
    }
    let oe = values.get(&Register::EVENTCTL1R).is_some_and(|value| value & OE != 0);
    let to_buffer =
        parameters.trace_buffer && (parameters.interfaces == 0 || parameters.output_enable && !oe);
    let guessed = if to_buffer { Output::TraceBuffer } else { Output::Interfaces };
    let unread = Unread { thumb, output: output.unwrap_or(guessed) };
    let mut problems: Vec<String> = absent(&values, parameters);
    let values: Vec<(Register, u64)> = values.into_iter().collect();
    let (request, unreadable) = TraceRequest::read_back(parameters, &values, unread);
    problems.extend(unreadable.iter().map(ToString::to_string));
    if let Err(refusal) = request.settings(parameters) {
        problems.push(format!("{refusal}{}", advice(refusal)));
    }
    let mut text = options(&request, parameters);
    for problem in &problems {
        let _ = writeln!(text, "error: {problem}");
    }
    print(&text)?;
    Ok(if problems.is_empty() { Exit::Ok } else { Exit::Failed })
}

/// What to do about a refusal.
pub(super) const fn advice(refusal: SettingsRefusal) -> &'static str {
    match refusal {
        SettingsRefusal::Parameters(_) => "; see --parameters",
        SettingsRefusal::EmptyRange(_) => "; the end of --code START..END is after its start",
        SettingsRefusal::UnalignedRange(_) => "; use multiples of 4, or of 2 with --thumb",
        SettingsRefusal::NoAddress(_) => "; bits 63 to 56 are all 0 or all 1",
        SettingsRefusal::TooManyRanges { .. } => {
            "; join ranges of --code, or see `address_pairs` of --parameters"
        }
        SettingsRefusal::Levels => "; --el takes 0 to 3",
        SettingsRefusal::Threshold(_) => "; --cycle-counts is from --least-threshold to 0xfff",
        SettingsRefusal::Stall => "; see `stall_control`, `system_stall`, `no_overflow` of --parameters",
        SettingsRefusal::Output(Output::TraceBuffer) => {
            "; see `trace_buffer` and `self_hosted` of --parameters"
        }
        SettingsRefusal::Output(Output::Interfaces) => "; use --output trace-buffer",
        _ => "",
    }
}

/// Registers that the trace unit has not.
fn absent(values: &BTreeMap<Register, u64>, parameters: &Parameters) -> Vec<String> {
    let is_absent = |register: &&Register| register.class(parameters) == AccessClass::Reserved;
    values
        .keys()
        .filter(is_absent)
        .map(|register| format!("{register}: this trace unit has no such register; see --parameters"))
        .collect()
}

/// The last value of each register, words of 64-bit ones joined; the error has a line and a column.
fn read_values(text: &str, parameters: &Parameters) -> Result<BTreeMap<Register, u64>, String> {
    let mut values = Values::default();
    for (index, line) in text.lines().enumerate() {
        let number = index + 1;
        let code = line.split('#').next().unwrap_or_default();
        let assigned = code.split_once('=').filter(|(name, _)| name.split_whitespace().count() == 1);
        if let Some((name, value)) = assigned {
            let column = |text: &str| 1 + text.chars().take_while(|c| c.is_whitespace()).count();
            let register: Register = name
                .trim()
                .parse()
                .map_err(|error| format!("{number}:{}: `{}` is {error}", column(name), name.trim()))?;
            let digits = value.trim();
            let digits = digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X")).unwrap_or(digits);
            let is_hex = digits.bytes().all(|digit| digit.is_ascii_hexdigit());
            let parsed = u64::from_str_radix(digits, 16).ok().filter(|_| is_hex).ok_or_else(|| {
                let column = name.chars().count() + 1 + column(value);
                format!("{number}:{column}: `{}` is no hexadecimal value", value.trim())
            })?;
            values.put(register, parsed, register.is_wide());
        } else {
            let wire =
                read_log(line).map_err(|error| format!("{number}:{}: {}", error.column, error.message))?;
            if wire.is_empty() {
                continue;
            }
            let mut decoder = ArmEteUnit::reference_decoder();
            decoder.begin(parameters, &Program::new()).map_err(|refusal| refusal.to_string())?;
            decoder.push(&wire, &mut values);
        }
    }
    Ok(values.0)
}

#[derive(Default)]
struct Values(BTreeMap<Register, u64>);

impl Values {
    /// A value of a whole register, or of one word.
    fn put(&mut self, register: Register, value: u64, whole: bool) {
        let lower = Register(register.offset().saturating_sub(4));
        if !register.is_wide() && lower.is_wide() {
            let entry = self.0.entry(lower).or_default();
            *entry = *entry & 0xFFFF_FFFF | value << 32;
        } else if register.is_wide() && !whole {
            let entry = self.0.entry(register).or_default();
            *entry = *entry & !0xFFFF_FFFF | value;
        } else {
            self.0.insert(register, value);
        }
    }
}

impl Sink<ArmEteUnit> for Values {
    fn packet(&mut self, _: Place, packet: &Packet) {
        if let Packet::Access(access @ Access { register, value: Some(value), agent, .. }) = packet
            && access.outcome.reaches()
        {
            self.put(*register, *value, access.double || *agent == Agent::System);
        }
    }

    fn event(&mut self, _: Place, _: &Event) {}

    fn fault(&mut self, _: &Fault) {}
}

/// The options that ask for a request, one on a line.
fn options(request: &TraceRequest, parameters: &Parameters) -> String {
    let mut text = String::new();
    let mut flag = |wanted: bool, option: &str| {
        if wanted {
            text.push_str(option);
            text.push('\n');
        }
    };
    flag(true, "--family arm-ete-unit");
    for range in &request.ranges {
        flag(true, &format!("--code {:#x}..{:#x}", range.start, range.end));
    }
    let Levels { secure, non_secure, realm } = request.levels;
    let realm = if parameters.realms { realm } else { non_secure };
    for level in 0..4_u8 {
        let has = |mask: u8| mask >> level & 1 == 1;
        // EL3 is in one state only.
        if has(secure) && (level == 3 || has(non_secure) && has(realm)) {
            flag(true, &format!("--el {level}"));
        } else {
            flag(has(secure), &format!("--el secure:{level}"));
            flag(has(non_secure), &format!("--el non-secure:{level}"));
            flag(has(realm) && parameters.realms, &format!("--el realm:{level}"));
        }
    }
    flag(request.thumb, "--thumb");
    if let Some(threshold) = request.cycle_counts {
        flag(true, &format!("--cycle-counts {threshold:#x}"));
    }
    flag(request.context_id, "--context-id");
    flag(request.virtual_context_id, "--virtual-context-id");
    flag(request.timestamps, "--timestamps");
    flag(!request.return_stack, "--no-return-stack");
    flag(request.branch_broadcast, "--branch-broadcast");
    flag(request.system_errors, "--system-errors");
    flag(request.resets, "--resets");
    flag(!parameters.fixed_sync_period, &format!("--sync-period {}", request.sync_period));
    flag(parameters.trace_id, &format!("--trace-id {:#04x}", request.trace_id));
    if let Some(Stall { level, no_overflow }) = request.stall {
        flag(true, &format!("--stall {level}"));
        flag(no_overflow, "--no-overflow");
    }
    match request.output {
        Output::TraceBuffer => flag(true, "--output trace-buffer"),
        Output::Interfaces => flag(true, "--output interfaces"),
    }
    text
}
