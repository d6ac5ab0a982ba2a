//! The formulas in closed form, as an independent check, and what cannot change their outcome.

use proptest::prelude::*;
use traceproof_vectors::itanium_pmu::{IbrLowBits, Tags};

use super::*;
use crate::itanium_pmu::qualification::{
    OpcodeMonitor, counters, data, data_range_match, data_tag as tag_of, opcode_match, range, range_tag,
    tags as tags_of,
};

/// {60:51} replaced by copies of {50}.
fn canonical(address: u64) -> u64 {
    let copies = 0x3ff << 51;
    if address >> 50 & 1 == 1 { address | copies } else { address & !copies }
}

fn closed_match(addr: u64, control: u64, address: u64, ignore: u64) -> bool {
    let compared = (control & ((1 << 56) - 1) | 0xff << 56) & !ignore;
    (addr ^ canonical(address)) & compared == 0
}

fn closed_range_tag(values: &[u64; 8], psr: u64, ta: bool, ip: u64, ignore: u64) -> bool {
    let [a0, c0, a1, c1, a2, c2, a3, c3] = *values;
    let level = 56 + (psr >> 32 & 3);
    let pairs = [(a0, c0), (a1, c1), (a2, c2), (a3, c3)];
    let matched = pairs.iter().any(|(a, c)| c >> level & 1 == 1 && closed_match(*a, *c, ip, ignore));
    let off = psr & DB != 0 || (c0 | c1 | c2 | c3) >> 63 == 1;
    ta || (psr & IS == 0 && matched && !off)
}

fn debug_registers(file: char, values: &[u64; 8], more: &[(&str, u64)]) -> Registers {
    let mut registers = registers(more);
    for (index, value) in values.iter().enumerate() {
        registers.write(register(&format!("{file}BR{index}")), *value);
    }
    registers
}

/// Addresses near each other, with bits that are decisive: regions, bit 50 and its copies.
fn address() -> impl Strategy<Value = u64> {
    let near = (0..8_u64, 0..4_u64, prop_oneof![Just(0_u64), Just(0x3ff), 0..0x400_u64], 0..0x40_u64);
    prop_oneof![
        8 => near.prop_map(|(region, middle, copies, low)| {
            region.min(1) << 61 | copies << 51 | (middle & 1) << 50 | (middle >> 1) << 20 | low
        }),
        1 => any::<u64>(),
    ]
}

/// Masks as software writes them, at any privilege level, seldom with x, and arbitrary ones.
fn control() -> impl Strategy<Value = u64> {
    let usual = (0..16_u64, 0..57_u32, prop_oneof![30 => Just(0_u64), 1 => Just(1_u64 << 63)]);
    prop_oneof![
        6 => usual.prop_map(|(plm, p, x)| plm << 56 | (u64::MAX >> 8) & (u64::MAX << p) | x),
        1 => any::<u64>().prop_map(|value| value & !(1 << 63)),
        1 => any::<u64>(),
    ]
}

fn pairs() -> impl Strategy<Value = [u64; 8]> {
    [(); 4].map(|()| (address(), control())).prop_map(|pairs| {
        let [[a, b], [c, d], [e, f], [g, h]] = pairs.map(|(address, control)| [address, control]);
        [a, b, c, d, e, f, g, h]
    })
}

fn status() -> impl Strategy<Value = u64> {
    (0..4_u64, any::<u32>(), 0..8_u8).prop_map(|(cpl, bits, is)| {
        let rare = if is == 0 { IS } else { 0 };
        cpl << 32 | u64::from(bits) & !DB | (DB * u64::from(is == 1)) | rare
    })
}

fn ranges(values: &[u64; 8], psr: u64, ta: bool) -> Registers {
    debug_registers('I', values, &[("PSR", psr), ("PMC13", ta.into())])
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4096))]

    /// ITA-IBR-007, ITA-IBR-016, ITA-IBR-017.
    #[test]
    fn the_closed_form_of_ranges(values in pairs(), psr in status(), ta in 0..8_u8, ip in address()) {
        let ta = ta == 0;
        for (ibr_low_bits, ignore) in IbrLowBits::ALL.into_iter().zip([0, 0xf]) {
            let parameters = Parameters { ibr_low_bits, ..Parameters::default() };
            let mut registers = ranges(&values, psr, ta);
            let expected = closed_range_tag(&values, psr, ta, ip, ignore);
            prop_assert_eq!(range_tag(&registers, &parameters, ip), expected);
            // ITA-IBR-006.
            for copies in [0, 0x3ff, 0x155_u64] {
                let other = ip & !(0x3ff << 51) | copies << 51;
                prop_assert_eq!(range_tag(&registers, &parameters, other), expected);
            }
            registers.write(register("PMC13"), u64::MAX << 1 | u64::from(ta));
            prop_assert_eq!(range_tag(&registers, &parameters, ip), expected);
        }
    }

    /// ITA-DBR-001 to ITA-DBR-004, ITA-DBR-012, ITA-DBR-013.
    #[test]
    fn the_closed_form_of_data_ranges(
        values in pairs(), psr in status(), ibr in pairs(), at in address(), pmc8: bool, pmc11: u64,
    ) {
        let [a0, c0, a1, c1, a2, c2, a3, c3] = values;
        let matched = psr & DB == 0
            && [(a0, c0), (a1, c1), (a2, c2), (a3, c3)].iter().any(|(a, c)| closed_match(*a, *c, at, 0));
        let mut registers = debug_registers('D', &values, &[("PSR", psr), ("PMC11", pmc11)]);
        prop_assert_eq!(data_range_match(&registers, at), matched);
        for (index, value) in (0..).zip(ibr) {
            registers.write(Register::ibr(index), value);
        }
        let levels = |value: u64| value ^ 0xff << 56;
        let other = [a0, levels(c0), a1, levels(c1), a2, levels(c2), a3, levels(c3)];
        let other = debug_registers('D', &other, &[("PSR", psr)]);
        prop_assert_eq!(data_range_match(&other, at), matched);
        let pt = pmc11 >> 28 & 1 == 1;
        for kind in AccessKind::ALL {
            let expected = match (matches!(kind, AccessKind::Rse | AccessKind::Vhpt), pt) {
                (_, true) => pmc8,
                (true, false) => matched,
                (false, false) => pmc8 && matched,
            };
            prop_assert_eq!(tag_of(&registers, kind, at, pmc8), expected);
        }
    }

    /// ITA-OPC-001 to ITA-OPC-009, ITA-OPC-014.
    #[test]
    fn the_closed_form_of_opcodes(
        pmc: u64, other: u64, mask: u64, noise in 0..1_u64 << 14, enco in 0..1_u64 << 41, itype in 0..4_usize, near: bool,
    ) {
        let key = (enco >> 27) << 13 | enco & 0x1fff;
        // Half of the time the match field is the key but for some masked bits.
        let pmc = if near { pmc & !(0x7ff_ffff << 33) | key << 33 | mask } else { pmc };
        let value = pmc >> 33 & 0x7ff_ffff;
        let ignored = pmc >> 3 & 0x7ff_ffff;
        let expected = pmc >> (63 - itype) & 1 == 1 && (key ^ value) & !ignored & 0x7ff_ffff == 0;
        let mut registers = registers(&[("PMC8", pmc), ("PMC9", other)]);
        let instruction = syllable([M, I, F, B][itype], enco);
        let found = |registers: &Registers, instruction: &Instruction| {
            opcode_match(registers, &Parameters::default(), OpcodeMonitor::Pmc8, instruction)
        };
        prop_assert_eq!(found(&registers, &instruction), expected);
        let noisy = syllable(instruction.itype, enco ^ noise << 13);
        prop_assert_eq!(found(&registers, &noisy), expected);
        registers.write(register("PMC8"), pmc ^ 7 << 30 ^ 7);
        prop_assert_eq!(found(&registers, &instruction), expected);
        registers.write(register("PMC9"), pmc);
        prop_assert_eq!(
            opcode_match(&registers, &Parameters::default(), OpcodeMonitor::Pmc9, &instruction),
            expected
        );
    }

    /// ITA-IBR-014, ITA-DBR-011: pairs that never match.
    #[test]
    fn non_uniform_addresses_never_match(at: u64, mask: u64, bits in 1..31_u64, low in 0..1_u64 << 56, region in 0..8_u64) {
        let addr = region << 61 | bits << 56 | low;
        let registers = registers(&[
            ("IBR0", addr), ("IBR1", mask | 0xf << 56), ("DBR0", addr), ("DBR1", mask), ("PSR", 0),
        ]);
        prop_assert!(!range::ibr_match(&registers, &Parameters::default(), 0, at));
        prop_assert!(!data::dbr_match(&registers, 0, at));
    }

    /// ITA-DBR-010.
    #[test]
    fn a_zeroed_pair_matches_half_of_region_0(at in address()) {
        let expected = at >> 61 == 0 && at >> 50 & 1 == 0;
        prop_assert_eq!(data::dbr_match(&Registers::default(), 0, at), expected);
        // ITA-IBR-013: for instructions its plm selects nothing.
        prop_assert!(!range::ibr_match(&Registers::default(), &Parameters::default(), 0, at));
    }
}

/// ITA-CNT-003 to ITA-CNT-006, ITA-CNT-009: every combination, for counters and event address registers.
#[test]
fn monitors_run_by_level_start_bit_and_instruction_set() {
    let noise = 0xffff_ffff_fc80_8080;
    for bits in 0..1_u32 << 13 {
        let take = |low: u32, width: u32| u64::from(bits >> low & ((1 << width) - 1));
        let (plm, cpl, pm, ism) = (take(0, 4), take(4, 2), take(6, 1), take(7, 2));
        let (up, pp, is, fr) = (take(9, 1), take(10, 1), take(11, 1), take(12, 1));
        let started = if pm == 1 { pp } else { up } == 1;
        let blocked = [0b0000_u8, 0b0011, 0b1100, 0b1111][ism as usize] >> (is * 2) & 1 == 1;
        let expected = fr == 0 && plm & 1 << cpl != 0 && started && !blocked;
        let psr = psr(cpl, (up * UP) | (pp * PP) | (is * IS));
        let mut registers = registers(&[("PSR", psr), ("PMC0", fr | 0xf0)]);
        for index in [4, 5, 6, 7, 10, 11] {
            for noise in [0, noise & if index < 8 { u64::MAX } else { !0x80 }] {
                registers.write(Register::pmc(index), plm | pm << 6 | ism << 24 | noise);
                assert_eq!(counters::is_enabled(&registers, index), expected, "{index} {bits:b}");
            }
        }
    }
}

/// ITA-CNT-007, ITA-CNT-008, ITA-OVF-006.
#[test]
fn thresholds_and_sums() {
    for index in counters::COUNTERS {
        for field in 0..8_u64 {
            let threshold = if index < 6 { field } else { field & 3 };
            let registers = registers(&[(&format!("PMC{index}"), field << 20)]);
            for n in 0..10_u16 {
                let expected = if threshold == 0 { n } else { u16::from(u64::from(n) > threshold) };
                assert_eq!(counters::increment(&registers, index, n), expected);
            }
        }
    }
    assert_eq!(counters::advance(u32::MAX - 5, 5), (u32::MAX, false));
    assert_eq!(counters::advance(u32::MAX - 5, 6), (0, true));
    assert_eq!(counters::advance(u32::MAX, 65535), (65534, true));
}

/// ITA-IBR-008 to ITA-IBR-011, ITA-OPC-008, ITA-OPC-012: the whole table of combinations.
#[test]
fn switches_of_the_range_check() {
    for bits in 0..1_u64 << 8 {
        let take = |low: u32| bits >> low & 1 == 1;
        let (ta, is, db, matching) = (take(0), take(1), take(2), take(3));
        let x = |pair: u32| u64::from(take(4 + pair)) << 63;
        let level = 0xf << 56;
        let registers = registers(&[
            ("PMC13", ta.into()),
            ("PSR", if is { IS } else { 0 } | if db { DB } else { 0 }),
            ("PMC8", 0xf000_0000_3fff_fff8),
            ("IBR1", x(0)),
            ("IBR3", x(1)),
            ("IBR4", if matching { 0 } else { 1 << 61 }),
            ("IBR5", x(2) | level),
            ("IBR7", x(3)),
        ]);
        let off = db || bits >> 4 != 0;
        let range = ta || (!is && !off && matching);
        let expected = Tags { range, pmc8: range && !is, pmc9: false };
        assert_eq!(tags_of(&registers, &Parameters::default(), &syllable(M, 0)), expected, "{bits:b}");
    }
}
