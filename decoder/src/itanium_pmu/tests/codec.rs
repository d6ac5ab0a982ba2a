//! Registers: which bits they keep, which fields they have, and the laws between decoding and encoding (ITA-REG,
//! ITA-DEC-001 to ITA-DEC-007).

use proptest::prelude::*;
use traceproof_vectors::itanium_pmu::{
    Contents, DataTlbLevel, InstructionTlbResolution, Known, RegisterClass,
};
use traceproof_vectors::{Address, FaultClass};

use super::*;
use crate::itanium_pmu::registers::{
    Condition, Context, RegisterField, decode_register, decode_write, defined, encode_register, fields,
    ignored, stored,
};

/// The bits that read back, by the tables of the specification; data registers that copy bits are in [`canonical`].
const KEPT: [(&str, u64); 21] = [
    ("PMC0", 0x0000_0000_0000_00f1),
    ("PMC1", 0),
    ("PMC2", 0),
    ("PMC3", 0),
    ("PMC4", 0x0000_0000_037f_7f7f),
    ("PMC5", 0x0000_0000_037f_7f7f),
    ("PMC6", 0x0000_0000_033f_7f7f),
    ("PMC7", 0x0000_0000_033f_7f7f),
    ("PMC8", 0xffff_fffe_3fff_fff8),
    ("PMC9", 0xffff_fffe_3fff_fff8),
    ("PMC10", 0x0000_0000_030f_00cf),
    ("PMC11", 0x0000_0000_130f_00cf),
    ("PMC12", 0x0000_0000_0000_ffcf),
    ("PMC13", 1),
    ("PMD1", 0xfff),
    ("PMD3", 0xc000_0000_0000_0fff),
    ("PMD16", 0xf),
    ("IBR1", 0x8fff_ffff_ffff_ffff),
    ("IBR7", 0x8fff_ffff_ffff_ffff),
    ("DBR1", 0xcfff_ffff_ffff_ffff),
    ("DBR7", 0xcfff_ffff_ffff_ffff),
];

/// What a register reads back as after `value` was written.
fn canonical(register: Register, value: u64) -> u64 {
    let address = |value: u64| {
        let low = ((value << 13) as i64 >> 13) as u64;
        low & !(7 << 61) | value & (7 << 61)
    };
    match (register.class, register.index) {
        (RegisterClass::Pmd, 0) => address(value) & !0x1c,
        (RegisterClass::Pmd, 2) => address(value),
        (RegisterClass::Pmd, 17) => address(value) & !2,
        (RegisterClass::Pmd, 4..=7) => i64::from(value as i32) as u64,
        (RegisterClass::Ibr, 1 | 3 | 5 | 7) => value & KEPT[17].1,
        (RegisterClass::Dbr, 1 | 3 | 5 | 7) => value & KEPT[19].1,
        _ => {
            let row = KEPT.iter().find(|(name, _)| super::register(name) == register);
            value & row.map_or(u64::MAX, |(_, kept)| *kept)
        }
    }
}

fn context(strict: bool, tlb: bool) -> Context {
    Context { strict, frozen: true, instruction_tlb: Some(tlb), data_tlb: Some(tlb), masked: false }
}

#[test]
fn registers_read_back_what_they_keep() {
    for register in Register::implemented() {
        for value in (0..64).map(|bit| 1 << bit).chain([0, u64::MAX, 1 << 50 | 1 << 31]) {
            let expected = canonical(register, value);
            assert_eq!(stored(register, value), expected, "{register} {value:x}");
            let mut file = Registers::default();
            file.write(register, value);
            assert_eq!(file.get(register), expected, "{register} {value:x}");
        }
    }
    for absent in ["PMC14", "PMD18", "IBR8", "DBR255", "PMC255"].map(register) {
        let mut file = Registers::default();
        file.write(absent, u64::MAX);
        assert_eq!((file.get(absent), file), (0, Registers::default()));
    }
}

/// ITA-REG-011.
#[test]
fn reset_values() {
    let file = Registers::reset();
    for register in Register::implemented() {
        let expected = match (register.class, register.index) {
            (RegisterClass::Pmc, 8 | 9) => 0xf000_0000_3fff_fff8,
            (RegisterClass::Pmc, 11) => 0x1000_0000,
            (RegisterClass::Pmc, 13) => 1,
            _ => 0,
        };
        assert_eq!(file.get(register), expected, "{register}");
    }
}

/// ITA-REG-018: every bit of every register belongs to one field, and changing a field changes the contents.
#[test]
fn fields_cover_registers_and_are_read() {
    for register in Register::implemented() {
        let mut next = 0;
        let mut unnamed = 0;
        for RegisterField { name, low, width } in fields(register) {
            assert_eq!(*low, next, "{register}");
            next += width;
            for bit in *low..next {
                let value = 1_u64 << bit;
                let changes = [false, true].into_iter().any(|tlb| {
                    let [with, without] =
                        [value, 0].map(|value| decode_write(register, value, &context(true, tlb)).contents);
                    with != without
                });
                let copies = matches!(register, Register { class: RegisterClass::Pmd, index: 0 | 2 | 17 })
                    && (51..=60).contains(&bit);
                let read = !matches!(*name, "ig" | "sxt" | "-") && !copies;
                assert_eq!(changes, read, "{register} {name} {bit}");
                unnamed |= if *name == "ig" { value } else { 0 };
            }
        }
        assert_eq!((next, unnamed), (64, ignored(register)), "{register}");
    }
}

#[test]
fn fields_stand_where_the_layouts_say() {
    let read = |name, value, tlb| {
        decode_register(register(name), value, &context(true, tlb)).map(|decoded| decoded.contents)
    };
    let pmc4 = register("PMC4");
    let counter = Contents::CounterConfiguration {
        register: pmc4,
        plm: 8,
        ev: false,
        oi: true,
        pm: false,
        es: 0x30,
        umask: 0,
        threshold: 5,
        ism: 2,
    };
    assert_eq!(read("PMC4", 0x0250_3028, false), Ok(counter));
    let opcode = Contents::OpcodeMatch {
        register: register("PMC9"),
        m: false,
        i: false,
        f: false,
        b: true,
        value: 0x200_0140,
        mask: 0x7f_fe3f,
    };
    assert_eq!(read("PMC9", 0x1400_0280_03ff_f1f8, false), Ok(opcode));
    assert_eq!(read("PMC0", 0xa1, false), Ok(Contents::OverflowStatus { fr: true, overflow: 0xa0 }));
    let trace = Contents::TraceBufferConfiguration {
        plm: 0xc,
        pm: true,
        tar: false,
        tm: 3,
        ptm: 1,
        ppm: 2,
        bpt: false,
        bac: true,
    };
    assert_eq!(read("PMC12", 0xa74c, false), Ok(trace));
    let mask = Contents::InstructionBreakpointMask {
        register: register("IBR3"),
        mask: 0x00ff_ffff_ffff_fff0,
        plm: 9,
        x: true,
    };
    assert_eq!(read("IBR3", 0x89ff_ffff_ffff_fff0, false), Ok(mask));
    let mask =
        Contents::DataBreakpointMask { register: register("DBR5"), mask: 1, plm: 2, w: true, r: false };
    assert_eq!(read("DBR5", 0x4200_0000_0000_0001, false), Ok(mask));
    // HW-13: what the mode leaves undefined is not decoded.
    let level = |latency, level| Ok(Contents::DataEarLatency { latency, level });
    let walked = 0x8000_0000_0000_0001;
    assert_eq!(read("PMD3", walked, true), level(Known::Undefined, Known::Value(DataTlbLevel::Vhpt)));
    assert_eq!(read("PMD3", walked, false), level(Known::Value(1), Known::Undefined));
    let line = 0x2000_0000_0017_b783;
    let tlb = |tlb| Ok(Contents::InstructionEarLine { v: true, tlb, line: Address(0x2000_0000_0017_b780) });
    assert_eq!(read("PMD0", line, true), tlb(Known::Value(InstructionTlbResolution::Software)));
    assert_eq!(read("PMD0", line, false), tlb(Known::Undefined));
    // HW-14.
    let entry = |name, b, mp, slot, address| {
        Ok(Contents::BranchTraceEntry { register: register(name), b, mp, slot, address })
    };
    assert_eq!(
        read("PMD9", 0x2000_0000_0001_7199, false),
        entry("PMD9", true, false, 2, Address(0x2000_0000_0001_7190))
    );
    assert_eq!(
        read("PMD10", 0x2000_0000_0001_7172, false),
        entry("PMD10", false, true, 0, Address(0x2000_0000_0001_7170))
    );
    assert_eq!(read("PMD16", 0xd, false), Ok(Contents::BranchTraceIndex { bbi: 5, full: true }));
}

/// ITA-DEC-003: the lowest of the bits that are wrong.
#[test]
fn strict_decoding_names_the_ignored_bit() {
    for register in Register::implemented() {
        for bit in (0..64).filter(|bit| ignored(register) >> bit & 1 == 1) {
            let refused = decode_register(register, 1 << bit, &context(true, false))
                .map_err(|oddity| (oddity.class, oddity.condition, oddity.bit));
            assert_eq!(refused, Err((FaultClass::Overlong, Condition::IgnoredBit, Some(bit))), "{register}");
        }
    }
}

fn any_register() -> impl Strategy<Value = Register> {
    proptest::sample::select(Register::implemented().collect::<Vec<_>>())
}

proptest! {
    /// ITA-DEC-002, ITA-DEC-007.
    #[test]
    fn encoding_undoes_lenient_decoding(register in any_register(), value: u64, tlb: bool) {
        let context = context(false, tlb);
        let decoded = decode_register(register, value, &context).expect("lenient");
        let expected = canonical(register, value);
        prop_assert_eq!(decoded.value, expected);
        let fields = match register.class {
            RegisterClass::Psr => 0x0007_0130_4004,
            RegisterClass::Pmv => 0x100ff,
            _ => u64::MAX,
        };
        prop_assert_eq!(encode_register(&decoded.contents), expected & defined(register, &context) & fields);
    }

    /// ITA-DEC-001: what encodes a canonical value decodes to the same fields, strictly.
    #[test]
    fn decoding_undoes_encoding(register in any_register(), value: u64, tlb: bool) {
        let contents = decode_write(register, value, &context(true, tlb)).contents;
        prop_assume!(!matches!(contents, Contents::DataEarInstruction { v: true, slot: 3, .. }));
        let again = decode_register(register, encode_register(&contents), &context(true, tlb));
        prop_assert_eq!(again.map(|decoded| decoded.contents), Ok(contents));
    }

    #[test]
    fn any_value_of_any_register_is_survived(class in 0..6_usize, index: u8, value: u64, strict: bool, tlb: bool) {
        let register = Register { class: RegisterClass::ALL[class], index };
        let _ = decode_register(register, value, &context(strict, tlb));
        let contents = decode_write(register, value, &context(strict, tlb)).contents;
        prop_assert_eq!(contents.register(), register);
    }
}
