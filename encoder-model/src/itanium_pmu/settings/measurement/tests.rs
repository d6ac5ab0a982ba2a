//! Measurements as a user asks for them.

use alloc::vec;
use alloc::vec::Vec;

use super::super::{AddressRange, OpcodePattern, SyllableTypes, UnusedPairs};
use super::*;

const CODE: [AddressRange; 1] = [AddressRange { start: 0x4000_0000_0000_3000, end: 0x4000_0000_0000_3100 }];
const DATA: [AddressRange; 1] = [AddressRange { start: 0x6000_0000_0001_c000, end: 0x6000_0000_0002_0000 }];

fn events(names: &[&str]) -> Vec<EventRequest> {
    names.iter().map(|name| EventRequest::new(name, 8)).collect()
}

fn code() -> Option<CodeRanges<'static>> {
    Some(CodeRanges { ranges: &CODE, plm: 8, pairs: 4 })
}

fn data() -> Option<DataRanges<'static>> {
    Some(DataRanges { ranges: &DATA, plm: 0, pairs: 4, pmc11: 0, unused: UnusedPairs::Neutral })
}

fn value(answer: &MeasurementSettings, register: Register) -> u64 {
    let values: Vec<u64> = answer
        .settings
        .iter()
        .filter(|setting| setting.register == register)
        .map(|setting| setting.value)
        .collect();
    assert_eq!(values.len(), 1, "{register} is written once");
    values[0]
}

#[test]
fn events_get_counters_that_can_count_them() {
    let four = ["CPU_CYCLES", "LOADS_RETIRED", "NOPS_RETIRED", "IA64_INST_RETIRED"];
    let measurement = Measurement { events: events(&four), ..Measurement::default() };
    assert_eq!(measurement.settings().unwrap().counters, [6, 7, 4, 5]);
    let mut pinned = measurement.clone();
    pinned.events[0].counter = Some(5);
    assert_eq!(pinned.settings(), Err(MeasurementRefusal::NoCounterLeft(3)));
    pinned.events[1].counter = Some(5);
    assert_eq!(pinned.settings(), Err(MeasurementRefusal::Conflict(Register::pmc(5))));
    let mut wrong = measurement.clone();
    wrong.events[2].counter = Some(7);
    assert!(matches!(
        wrong.settings(),
        Err(MeasurementRefusal::Event(2, EventRefusal::WrongCounter { counter: 7, .. }))
    ));
    let fifth = Measurement { events: events(&["CPU_CYCLES"; 5]), ..Measurement::default() };
    assert_eq!(fifth.settings(), Err(MeasurementRefusal::NoCounterLeft(4)));
}

#[test]
fn everything_unrestricted_is_switched_off() {
    let answer =
        Measurement { events: events(&["CPU_CYCLES"]), ..Measurement::default() }.settings().unwrap();
    let values: Vec<_> = answer.settings.iter().map(|setting| (setting.register, setting.value)).collect();
    assert_eq!(
        values,
        [
            (Register::pmc(8), 0xf000_0000_3fff_fff8),
            (Register::pmc(9), 0xf000_0000_3fff_fff8),
            (Register::pmc(13), 1),
            (Register::pmc(11), 0x1000_0000),
            (Register::pmc(4), 0x1228),
        ]
    );
}

#[test]
fn restrictions_and_captures_share_pmc_11() {
    let mut measurement = Measurement {
        events: events(&["DATA_EAR_CACHE_LAT64", "LOADS_RETIRED", "INSTRUCTION_EAR_TLB_VHPT"]),
        unqualified: true,
        ..Measurement::default()
    };
    let answer = measurement.settings().unwrap();
    assert_eq!(value(&answer, Register::pmc(11)), 0x1004_0008);
    assert_eq!(value(&answer, Register::pmc(10)), 0x0004_0088);
    measurement.data = data();
    measurement.code = code();
    let answer = measurement.settings().unwrap();
    assert_eq!(value(&answer, Register::pmc(11)), 0x0004_0008);
    assert_eq!(value(&answer, Register::pmc(13)), 0);
    assert_eq!(value(&answer, Register::dbr(1)), 0x00ff_ffff_ffff_c000);
    assert_eq!(answer.settings.len(), 2 + 9 + 9 + 4);
    measurement.events[1] = EventRequest::new("DATA_EAR_CACHE_LAT8", 8);
    assert_eq!(measurement.settings(), Err(MeasurementRefusal::Conflict(Register::pmc(11))));
}

#[test]
fn restrictions_that_do_not_reach_an_event_are_refused() {
    let pattern = OpcodePattern::ANY.with_major(4).unwrap();
    let opcode = |pmc| vec![OpcodeMatch { pmc, types: SyllableTypes::ALL, pattern }];
    let names =
        ["CPU_CYCLES", "L1I_DEMAND_READS", "NOPS_RETIRED", "IA64_TAGGED_INST_RETIRED_PMC9", "LOADS_RETIRED"];
    for (code, opcodes, data, reached) in [
        (None, vec![], None, [true; 5]),
        (code(), vec![], None, [false, true, true, true, true]),
        (None, opcode(8), None, [false, false, true, true, true]),
        (None, opcode(9), None, [true; 5]),
        (None, vec![], data(), [false, false, false, false, true]),
    ] {
        for (name, is_reached) in names.into_iter().zip(reached) {
            let mut measurement = Measurement {
                events: events(&[name]),
                code,
                data,
                opcodes: opcodes.clone(),
                unqualified: false,
            };
            assert_eq!(measurement.settings().is_ok(), is_reached, "{name}");
            measurement.unqualified = true;
            assert!(measurement.settings().is_ok());
        }
    }
}

#[test]
fn levels_at_which_no_code_is_tagged_are_refused() {
    let mut measurement =
        Measurement { events: events(&["NOPS_RETIRED"]), code: code(), ..Measurement::default() };
    assert!(measurement.settings().is_ok());
    measurement.events[0].plm = 9;
    assert_eq!(measurement.settings(), Err(MeasurementRefusal::NeverTagged(0)));
    measurement.unqualified = true;
    assert!(measurement.settings().is_ok());
}
