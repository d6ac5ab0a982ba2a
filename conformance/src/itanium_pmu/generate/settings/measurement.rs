//! Events and what they are restricted to, all together.

use traceproof_decoder::itanium_pmu::Registers;
use traceproof_decoder::itanium_pmu::qualification::data::passes_tags;
use traceproof_decoder::itanium_pmu::qualification::range::tags_all;
use traceproof_decoder::itanium_pmu::qualification::{data_range_match, range_tag};
use traceproof_encoder_model::itanium_pmu::settings::{
    AddressRange, CodeRanges, DataRanges, EventRequest, Measurement, MeasurementRefusal, MeasurementSettings,
    OpcodeMatch, OpcodePattern, SyllableTypes, UnusedPairs,
};
use traceproof_vectors::itanium_pmu::events::Qualifier;
use traceproof_vectors::itanium_pmu::{Parameters, Register};

use super::events::{Meaning, can_count, fields, meaning};
use super::{check, events, opcodes, programmed, ranges};
use crate::generate::Entropy;

/// Up to five events, with any of the restrictions.
pub(super) fn judge(entropy: &mut Entropy<'_>) -> Result<(), String> {
    let (code, data) = (ranges::wish(entropy, 16), ranges::wish(entropy, 1));
    let unused = if entropy.chance(128) { UnusedPairs::Zero } else { UnusedPairs::Neutral };
    let (plm, pairs) = (entropy.pick(&[15, 8, 9]), entropy.pick(&[4, 3]));
    let code = CodeRanges { ranges: &code, plm, pairs };
    let data = DataRanges { ranges: &data, plm: 0, pairs, pmc11: entropy.word(), unused };
    let count = entropy.below(6);
    let alike = entropy.chance(90);
    let events: Vec<EventRequest> = (0..count)
        .map(|_| match events::wish(entropy) {
            // Most wishes at random are impossible, so that several would never meet.
            any if !alike => any,
            any => EventRequest { threshold: 0, ism: 0, ear_ism: 0, plm: 8, umask: None, ..any },
        })
        .collect();
    let measurement = Measurement {
        events,
        code: entropy.chance(90).then_some(code),
        data: entropy.chance(90).then_some(data),
        opcodes: (0..entropy.below(4).saturating_sub(1)).map(|_| opcodes::wish(entropy)).collect(),
        unqualified: entropy.chance(100),
    };
    one(&measurement)
}

/// An event that each tag qualifies, restricted in every way, at the levels of the code and at others; and two events
/// that need the same registers.
pub(super) fn each() -> Result<(), String> {
    let place = |start: u64| [AddressRange { start, end: start + 32 }];
    let (code, data) = (place(0x4000_0000_0000_0000), place(0x6000_0000_0000_0000));
    let data = DataRanges { ranges: &data, plm: 0, pairs: 4, pmc11: u64::MAX, unused: UnusedPairs::Neutral };
    let every = |pmc| OpcodeMatch { pmc, types: SyllableTypes::ALL, pattern: OpcodePattern::ANY };
    let names = [
        "CPU_CYCLES",
        "INST_DISPERSED",
        "NOPS_RETIRED",
        "IA64_TAGGED_INST_RETIRED_PMC9",
        "LOADS_RETIRED",
        "DATA_EAR_CACHE_LAT512",
    ];
    let levels = [(8, 8), (9, 8), (8, 15)];
    for (name, (plm, tagged)) in names.into_iter().flat_map(|name| levels.map(|levels| (name, levels))) {
        let code = CodeRanges { ranges: &code, plm: tagged, pairs: 4 };
        // What follows from the data is asked for differently.
        let two = [true, false].map(|pt| EventRequest { pt, ..EventRequest::new(name, plm) });
        for choice in 0..64_u8 {
            let is_on = |bit: u8| choice >> bit & 1 == 1;
            one(&Measurement {
                events: two[..1 + usize::from(is_on(0))].to_vec(),
                code: is_on(1).then_some(code),
                data: is_on(2).then_some(data),
                opcodes: [8_u8, 9].into_iter().filter(|pmc| is_on(pmc - 5)).map(every).collect(),
                unqualified: is_on(5),
            })?;
        }
    }
    Ok(())
}

/// Whether it is answered, or refused for a reason.
fn one(measurement: &Measurement<'_>) -> Result<(), String> {
    match measurement.settings() {
        Ok(answer) => {
            check(possible(measurement), || format!("{measurement:x?} is answered by {answer:x?}"))?;
            is_done(measurement, &answer)
        }
        Err(refusal) => {
            check(is_so(measurement, &refusal), || format!("{measurement:x?} is refused: {refusal}"))
        }
    }
}

/// The wish of an event as it is in a measurement: whether accesses are tagged everywhere follows from the data.
fn request(measurement: &Measurement<'_>, index: usize) -> EventRequest {
    EventRequest { pt: measurement.data.is_none(), ..measurement.events[index].clone() }
}

/// Whether the refusal says something that is so.
fn is_so(measurement: &Measurement<'_>, refusal: &MeasurementRefusal) -> bool {
    let of_event = |index: usize| meaning(&measurement.events[index]);
    match *refusal {
        MeasurementRefusal::Range(refusal) => {
            let code = measurement.code.map(|code| code.settings().err());
            let data = measurement.data.map(|data| data.settings().err());
            code == Some(Some(refusal)) || data == Some(Some(refusal))
        }
        MeasurementRefusal::Opcode(refusal) => {
            measurement.opcodes.iter().any(|matched| matched.settings() == Err(refusal))
        }
        MeasurementRefusal::Event(index, ref refusal) => {
            measurement.events[index].settings().as_ref() == Err(refusal)
        }
        MeasurementRefusal::Conflict(register) => conflicts(measurement).contains(&register),
        MeasurementRefusal::NoCounterLeft(_) => !assignable(measurement),
        MeasurementRefusal::NotQualified(index) => {
            of_event(index).is_some_and(|meaning| !is_qualified(measurement, meaning.event.qualifier))
        }
        MeasurementRefusal::NeverTagged(index) => never_tagged(measurement, index),
    }
}

/// Whether nothing stands against it.
fn possible(measurement: &Measurement<'_>) -> bool {
    let all = 0..measurement.events.len();
    let counted = all.clone().all(|index| measurement.events[index].settings().is_ok());
    counted
        && assignable(measurement)
        && conflicts(measurement).is_empty()
        && measurement.code.is_none_or(|code| code.settings().is_ok())
        && measurement.data.is_none_or(|data| data.settings().is_ok())
        && measurement.opcodes.iter().all(|matched| matched.settings().is_ok())
        && (measurement.unqualified
            || all.into_iter().all(|index| {
                let qualifier = meaning(&measurement.events[index]).map(|meaning| meaning.event.qualifier);
                qualifier.is_some_and(|qualifier| is_qualified(measurement, qualifier))
                    && !never_tagged(measurement, index)
            }))
}

/// Whether all that is restricted restricts an event (ITA-OPC-009, ITA-DBR-010).
fn is_qualified(measurement: &Measurement<'_>, qualifier: Qualifier) -> bool {
    let by_opcode = measurement.opcodes.iter().any(|matched| matched.pmc == 8);
    (measurement.code.is_none() || qualifier != Qualifier::None)
        && (!by_opcode || !matches!(qualifier, Qualifier::None | Qualifier::Range))
        && (measurement.data.is_none() || qualifier == Qualifier::Data)
}

fn never_tagged(measurement: &Measurement<'_>, index: usize) -> bool {
    measurement.code.is_some_and(|code| measurement.events[index].plm & !code.plm != 0)
}

/// Whether each event can have a counter of its own.
fn assignable(measurement: &Measurement<'_>) -> bool {
    let choices: Vec<Vec<u8>> = measurement
        .events
        .iter()
        .map(|request| {
            let Some(Meaning { event, .. }) = meaning(request) else { return Vec::new() };
            let can = |counter: &u8| can_count(request, event, *counter);
            (4..8)
                .filter(can)
                .filter(|counter| request.counter.is_none_or(|asked| asked == *counter))
                .collect()
        })
        .collect();
    fn assign(choices: &[Vec<u8>], used: u8) -> bool {
        let Some((first, rest)) = choices.split_first() else { return true };
        first.iter().any(|counter| used >> counter & 1 == 0 && assign(rest, used | 1 << counter))
    }
    assign(&choices, 0)
}

/// Registers that two wishes need with different contents.
fn conflicts(measurement: &Measurement<'_>) -> Vec<Register> {
    let mut wanted: Vec<(Register, u64)> = Vec::new();
    for matched in &measurement.opcodes {
        wanted.extend(matched.settings().ok().map(|answer| (answer.setting.register, answer.setting.value)));
    }
    let mut conflicts = Vec::new();
    for index in 0..measurement.events.len() {
        let counter = measurement.events[index].counter;
        let asked = |other: &EventRequest| counter.is_some() && other.counter == counter;
        if measurement.events[..index].iter().any(asked) {
            conflicts.extend(counter.map(Register::pmc));
        }
        let Ok(answer) = request(measurement, index).settings() else { continue };
        let captures = answer.settings.iter().filter(|setting| matches!(setting.register.index, 10 | 11));
        wanted.extend(captures.map(|setting| (setting.register, setting.value)));
    }
    for (at, (register, value)) in wanted.iter().enumerate() {
        if wanted[..at].iter().any(|(other, held)| other == register && held != value) {
            conflicts.push(*register);
        }
    }
    conflicts
}

/// Every register is written once, and each wish is fulfilled.
fn is_done(measurement: &Measurement<'_>, answer: &MeasurementSettings) -> Result<(), String> {
    let wrong = |what: &str| format!("{what}: {measurement:x?} is answered by {answer:x?}");
    let written = |register| answer.settings.iter().filter(|setting| setting.register == register).count();
    check(answer.settings.iter().all(|setting| written(setting.register) == 1), || wrong("written twice"))?;
    check(answer.counters.len() == measurement.events.len(), || wrong("counters"))?;
    // The words of PMC11 say both what is captured and where data is tagged.
    let captures = captures_data(measurement);
    let are_stated = answer.settings.iter().all(|setting| {
        let is_pmc11 = setting.register == Register::pmc(11);
        setting.meaning.contains("captures DATA_EAR") == (is_pmc11 && captures)
            && setting.meaning.contains("pt = ") == is_pmc11
    });
    check(are_stated, || wrong("words"))?;
    for (index, &counter) in answer.counters.iter().enumerate() {
        check(!answer.counters[..index].contains(&counter), || wrong("one counter for two"))?;
        let request = request(measurement, index);
        let Some(meaning) = meaning(&request) else { return Err(wrong("no such event")) };
        fields(&answer.settings, &request, &meaning, counter)?;
    }
    let level = measurement.code.map_or(0, |code| code.plm.trailing_zeros() as u8);
    let registers = programmed(&answer.settings, level);
    everywhere(measurement, &registers).map_err(|what| wrong(&what))?;
    matches(measurement, answer, &registers)
}

/// What is restricted is tagged there; what is not is tagged everywhere.
fn everywhere(measurement: &Measurement<'_>, registers: &Registers) -> Result<(), String> {
    let unused = 0x2000_0000_0000_0000;
    let starts = |ranges: &[AddressRange]| ranges.iter().map(|range| range.start).collect::<Vec<_>>();
    let parameters = Parameters::default();
    let code = measurement.code.map(|code| starts(code.ranges));
    let inside = code.iter().flatten().all(|place| range_tag(registers, &parameters, *place));
    let outside = range_tag(registers, &parameters, unused);
    check(tags_all(registers) == code.is_none() && inside && outside == code.is_none(), || {
        "code".to_owned()
    })?;
    let data = measurement.data.map(|data| starts(data.ranges));
    let inside = data.iter().flatten().all(|place| data_range_match(registers, *place));
    let outside = data.is_some() && (data_range_match(registers, unused) || tags_low(measurement, registers));
    check(passes_tags(registers) == data.is_none() && inside && !outside, || "data".to_owned())?;
    let captures = captures_data(measurement);
    let pmc11 = registers.get(Register::pmc(11)) & !(1 << 28);
    let kept = measurement.data.map_or(0, |data| data.pmc11 & 0x030f_00cf);
    check(captures || pmc11 == kept, || format!("PMC11 {pmc11:#x}"))
}

/// Whether an event sets up the data event address registers.
fn captures_data(measurement: &Measurement<'_>) -> bool {
    measurement.events.iter().any(|request| {
        request.name.to_ascii_uppercase().starts_with("DATA_EAR_") && request.name != "DATA_EAR_EVENTS"
    })
}

/// Whether an address of the lower half of region 0 is tagged although nothing asks for one, neither a range nor a pair
/// of zeros.
fn tags_low(measurement: &Measurement<'_>, registers: &Registers) -> bool {
    let asked = measurement.data.is_some_and(|data| {
        data.unused == UnusedPairs::Zero || data.ranges.iter().any(|range| range.start >> 50 == 0)
    });
    !asked && data_range_match(registers, 0x1_2345)
}

fn matches(
    measurement: &Measurement<'_>,
    answer: &MeasurementSettings,
    registers: &Registers,
) -> Result<(), String> {
    check(answer.not_compared.len() == measurement.opcodes.len(), || format!("{answer:x?}"))?;
    for pmc in [8, 9] {
        let asked = measurement.opcodes.iter().filter(|matched| matched.pmc == pmc).collect::<Vec<_>>();
        let all = OpcodeMatch { pmc, types: SyllableTypes::ALL, pattern: OpcodePattern::ANY };
        for matched in if asked.is_empty() { vec![&all] } else { asked } {
            opcodes::tags(registers, matched)?;
        }
    }
    Ok(())
}
