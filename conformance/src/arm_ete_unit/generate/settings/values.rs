//! The registers of a trace unit and the values that carry a wish out, by the fields of each register.

use traceproof_encoder_model::arm_ete_unit::settings::{Levels, Output, Setting, Stall, TraceRequest};
use traceproof_vectors::arm_ete_unit::{Parameters, Register};

use super::check;

/// Every register that the trace unit has and that programs it, once, with its value, in the order in which drivers
/// write them.
pub(super) fn registers(request: &TraceRequest, unit: &Parameters) -> Vec<(Register, u64)> {
    let mut all = controls(request, unit);
    let mut put = |there: bool, offset: u16, value: u64| {
        if there {
            all.push((Register(offset), value));
        }
    };
    let comparators = unit.address_pairs > 0;
    put(true, 0x080, view_inst(request, unit));
    // INCLUDE is bits 7:0.
    put(comparators, 0x084, (0..request.ranges.len()).map(|pair| 1 << pair).sum());
    put(comparators, 0x088, 0);
    put(unit.pe_comparators > 0, 0x08C, 0);
    for offset in [0x100, 0x104, 0x108, 0x118, 0x11C] {
        put(unit.sequencer, offset, 0);
    }
    (0..4).for_each(|n: u16| put(n < unit.external_inputs.into(), 0x120 + 4 * n, 0));
    for n in 0..4_u16 {
        for first in [0x140, 0x150, 0x160] {
            put(n < unit.counters.into(), first + 4 * n, 0);
        }
    }
    // The first pair of selectors is fixed: FALSE and TRUE.
    (2..32).for_each(|n: u16| put(n / 2 < unit.resource_pairs.into(), 0x200 + 4 * n, 0));
    for n in 0..8_u16 {
        let there = n < unit.single_shot.into();
        put(there, 0x280 + 4 * n, 0);
        put(there, 0x2A0 + 4 * n, 0);
        put(there && unit.pe_comparators > 0, 0x2C0 + 4 * n, 0);
    }
    for n in 0..u16::from(unit.address_pairs) * 2 {
        let range = request.ranges.get(usize::from(n / 2));
        let size = if request.thumb { 2 } else { 4 };
        let address = range.map_or(0, |range| if n % 2 == 0 { range.start } else { range.end - size });
        put(true, 0x400 + 8 * n, address);
        put(true, 0x480 + 8 * n, 0);
    }
    for (first, masks, count) in [(0x600, 0x680, unit.context_ids), (0x640, 0x688, unit.vmids)] {
        (0..8).for_each(|n: u16| put(n < count.into(), first + 8 * n, 0));
        put(count >= 1, masks, 0);
        put(count >= 5, masks + 4, 0);
    }
    // TA.
    put(true, 0x028, 1 << 12);
    all
}

/// Bits where they are wanted.
fn bits<const N: usize>(all: [(bool, u32); N]) -> u64 {
    all.into_iter().filter(|(wanted, _)| *wanted).map(|(_, place)| 1 << place).sum()
}

fn controls(request: &TraceRequest, unit: &Parameters) -> Vec<(Register, u64)> {
    // Bit 0 is RES1. VMIDOPT selects CONTEXTIDR_EL2, which ETE has no choice about.
    let config = bits([
        (true, 0),
        (request.branch_broadcast, 3),
        (request.cycle_counts.is_some(), 4),
        (request.context_id, 6),
        (request.virtual_context_id, 7),
        (request.timestamps, 11),
        (request.return_stack, 12),
        (request.virtual_context_id && unit.version.is_ete(), 15),
    ]);
    let enabled = bits([(request.output == Output::Interfaces && unit.output_enable, 13)]);
    let stall = |Stall { level, no_overflow }| u64::from(level) + bits([(true, 8), (no_overflow, 13)]);
    let comparators = unit.address_pairs > 0;
    [
        (true, 0x010, config),
        (true, 0x018, 0),
        (true, 0x020, 0),
        (true, 0x024, enabled),
        (unit.stall_control, 0x02C, request.stall.map_or(0, stall)),
        (true, 0x030, 0),
        (!unit.fixed_sync_period, 0x034, request.sync_period.into()),
        (true, 0x038, request.cycle_counts.unwrap_or(0).into()),
        (comparators, 0x03C, 0),
        (unit.trace_id, 0x040, request.trace_id.into()),
        (unit.q_filter, 0x044, 0),
        (unit.instrumentation, 0x048, 0),
    ]
    .into_iter()
    .filter_map(|(there, offset, value)| there.then_some((Register(offset), value)))
    .collect()
}

/// EVENT {7:0} is selector 1, which is always TRUE; SSSTATUS {9}, TRCRESET {10}, TRCERR {11}, EXLEVEL_S {19:16},
/// EXLEVEL_NS {22:20}, EXLEVEL_RL {26:24}. A level whose bit is set is not traced; one of Realm state is traced if its
/// bit is that of Non-secure state.
fn view_inst(request: &TraceRequest, unit: &Parameters) -> u64 {
    let Levels { secure, non_secure, realm } = request.levels;
    let has = |levels: u8, level: u32| levels >> level & 1 == 1;
    let mut value = bits([(true, 0), (true, 9), (request.resets, 10), (request.system_errors, 11)]);
    for level in 0..4 {
        value += bits([(!has(secure, level), 16 + level)]);
    }
    for level in 0..3 {
        let differs = unit.realms && has(realm, level) != has(non_secure, level);
        value += bits([(!has(non_secure, level), 20 + level), (differs, 24 + level)]);
    }
    value
}

/// Registers, order, values, and words.
pub(super) fn judge(request: &TraceRequest, unit: &Parameters, settings: &[Setting]) -> Result<(), String> {
    let expected = registers(request, unit);
    let written = settings.iter().map(|setting| (setting.register, setting.value));
    let first = expected.iter().copied().zip(written).find(|(expected, written)| expected != written);
    check(first.is_none() && settings.len() == expected.len(), || {
        let lengths = (expected.len(), settings.len());
        format!("{request:x?} of {unit:?}: expected and written are {first:x?}, of {lengths:?}")
    })?;
    settings.iter().try_for_each(|setting| {
        let Setting { register, value, meaning } = setting;
        let words = if meaning.is_empty() { String::new() } else { format!(": {meaning}") };
        check(setting.to_string() == format!("{register} = {value:#x}{words}"), || setting.to_string())?;
        let is_right = match wanted_words(request, unit, *register) {
            Words::None => meaning.is_empty(),
            Words::Listed(count) => meaning.split(", ").filter(|part| !part.is_empty()).count() == count,
            Words::With(part, is_part) => !meaning.is_empty() && meaning.contains(&part) == is_part,
        };
        check(is_right, || format!("{setting} for {request:x?} of {unit:?}"))
    })
}

/// What the words about a register must be.
enum Words {
    /// It is not used.
    None,
    /// So many things, one after the other.
    Listed(usize),
    /// Some, and whether this is in them.
    With(String, bool),
}

fn wanted_words(request: &TraceRequest, unit: &Parameters, register: Register) -> Words {
    let some = || Words::With(String::new(), true);
    let some_if = |used: bool| if used { some() } else { Words::None };
    match register.offset() {
        0x010 => Words::Listed(
            usize::from(request.branch_broadcast)
                + usize::from(request.cycle_counts.is_some())
                + usize::from(request.context_id)
                + usize::from(request.virtual_context_id)
                + usize::from(request.timestamps)
                + usize::from(request.return_stack),
        ),
        0x020 | 0x028 | 0x040 => some(),
        0x024 => some_if(request.output == Output::Interfaces && unit.output_enable),
        0x02C => match request.stall {
            None => Words::None,
            Some(Stall { level, no_overflow: false }) => Words::With(format!("level {level}"), true),
            Some(Stall { no_overflow: true, .. }) => Words::With(String::from("without overflow"), true),
        },
        0x030 => some_if(request.timestamps),
        0x034 if request.sync_period == 0 => Words::With(String::from("bytes"), false),
        0x034 => Words::With(format!("{} bytes", 1_u32 << request.sync_period), true),
        0x038 => some_if(request.cycle_counts.is_some()),
        0x03C => some_if(request.branch_broadcast),
        0x080 => Words::With(String::from("RL"), unit.realms),
        0x084 => Words::With(String::from("ranges"), !request.ranges.is_empty()),
        offset @ 0x400..0x480 => {
            let (pair, which) = ((offset - 0x400) / 16, if offset % 16 == 0 { "first" } else { "last" });
            if usize::from(pair) < request.ranges.len() {
                Words::With(format!("{which} instruction of range {pair}"), true)
            } else {
                Words::None
            }
        }
        _ => Words::None,
    }
}
