//! Where the fields of a register lie: value to fields and back.

use traceproof_vectors::itanium_pmu::{
    Contents, DataTlbLevel, InstructionTlbResolution, Known, Register, RegisterClass,
};

use super::registers::kept;
use traceproof_vectors::Address;

/// The modes of the two event address registers, which determine whether some of their fields are defined.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Modes {
    /// PMC\[10\].tlb.
    pub instruction_tlb: bool,
    /// PMC\[11\].tlb.
    pub data_tlb: bool,
}

/// `value{high:low}`.
const fn slice(value: u64, high: u32, low: u32) -> u64 {
    value >> low & (u64::MAX >> (63 - (high - low)))
}

/// A field of at most 8 bits.
const fn small(value: u64, high: u32, low: u32) -> u8 {
    slice(value, high, low) as u8
}

/// A field of one bit.
const fn flag(value: u64, bit: u32) -> bool {
    slice(value, bit, bit) != 0
}

/// The fields of what `register` keeps of `value`, in these modes.
#[must_use]
pub fn contents_of(register: Register, value: u64, modes: Modes) -> Contents {
    if !register.is_implemented() {
        return Contents::Unimplemented(register);
    }
    let value = kept(register, value);
    match register.class {
        RegisterClass::Pmc => configuration(register, value),
        RegisterClass::Pmd => data(register, value, modes),
        RegisterClass::Ibr | RegisterClass::Dbr if register.index.is_multiple_of(2) => {
            Contents::BreakpointAddress { register, addr: Address(value) }
        }
        RegisterClass::Ibr => Contents::InstructionBreakpointMask {
            register,
            mask: slice(value, 55, 0),
            plm: small(value, 59, 56),
            x: flag(value, 63),
        },
        RegisterClass::Dbr => Contents::DataBreakpointMask {
            register,
            mask: slice(value, 55, 0),
            plm: small(value, 59, 56),
            w: flag(value, 62),
            r: flag(value, 63),
        },
        RegisterClass::Psr => Contents::ProcessorStatus {
            up: flag(value, 2),
            i: flag(value, 14),
            sp: flag(value, 20),
            pp: flag(value, 21),
            db: flag(value, 24),
            cpl: small(value, 33, 32),
            is: flag(value, 34),
        },
        RegisterClass::Pmv => Contents::InterruptVector { vector: small(value, 7, 0), m: flag(value, 16) },
    }
}

/// The fields of a PMC.
fn configuration(register: Register, value: u64) -> Contents {
    let (plm, pm, tlb) = (small(value, 3, 0), flag(value, 6), flag(value, 7));
    let (umask, ism) = (small(value, 19, 16), small(value, 25, 24));
    match register.index {
        0 => Contents::OverflowStatus { fr: flag(value, 0), overflow: value as u8 & 0xf0 },
        4..=7 => Contents::CounterConfiguration {
            register,
            plm,
            ev: flag(value, 4),
            oi: flag(value, 5),
            pm,
            es: small(value, 14, 8),
            umask,
            threshold: small(value, 22, 20),
            ism,
        },
        8 | 9 => Contents::OpcodeMatch {
            register,
            m: flag(value, 63),
            i: flag(value, 62),
            f: flag(value, 61),
            b: flag(value, 60),
            value: slice(value, 59, 33) as u32,
            mask: slice(value, 29, 3) as u32,
        },
        10 => Contents::InstructionEarConfiguration { plm, pm, tlb, umask, ism },
        11 => Contents::DataEarConfiguration { plm, pm, tlb, umask, ism, pt: flag(value, 28) },
        12 => Contents::TraceBufferConfiguration {
            plm,
            pm,
            tar: tlb,
            tm: small(value, 9, 8),
            ptm: small(value, 11, 10),
            ppm: small(value, 13, 12),
            bpt: flag(value, 14),
            bac: flag(value, 15),
        },
        13 => Contents::InstructionRangeCheck { ta: flag(value, 0) },
        _ => Contents::NoFields(register),
    }
}

/// The fields of a PMD.
fn data(register: Register, value: u64, modes: Modes) -> Contents {
    let latency = slice(value, 11, 0) as u16;
    match register.index {
        0 => Contents::InstructionEarLine {
            v: flag(value, 0),
            tlb: defined(modes.instruction_tlb, resolution(flag(value, 1))),
            line: Address(value & !0x1f),
        },
        1 => Contents::InstructionEarLatency { latency: defined(!modes.instruction_tlb, latency) },
        2 => Contents::DataEarAddress { address: Address(value) },
        3 => Contents::DataEarLatency {
            latency: defined(!modes.data_tlb, latency),
            level: defined(modes.data_tlb, level(small(value, 63, 62))),
        },
        4..=7 => Contents::Counter { register, count: value as u32 },
        16 => Contents::BranchTraceIndex { bbi: small(value, 2, 0), full: flag(value, 3) },
        17 => Contents::DataEarInstruction {
            v: flag(value, 0),
            slot: small(value, 3, 2),
            bundle: Address(value & !0xf),
        },
        _ => Contents::BranchTraceEntry {
            register,
            b: flag(value, 0),
            mp: flag(value, 1),
            slot: small(value, 3, 2),
            address: Address(value & !0xf),
        },
    }
}

fn defined<T>(is_defined: bool, value: T) -> Known<T> {
    if is_defined { Known::Value(value) } else { Known::Undefined }
}

const fn resolution(tlb: bool) -> InstructionTlbResolution {
    if tlb { InstructionTlbResolution::Software } else { InstructionTlbResolution::Vhpt }
}

const fn level(bits: u8) -> DataTlbLevel {
    match bits {
        0 => DataTlbLevel::None,
        1 => DataTlbLevel::L2,
        2 => DataTlbLevel::Vhpt,
        _ => DataTlbLevel::Software,
    }
}

/// The value of a register with these fields, as it reads. Undefined fields and contents are 0 (MD-10); bits beyond the
/// width of a field are dropped, as the register would.
#[must_use]
pub fn value_of(contents: &Contents) -> u64 {
    let value = match *contents {
        Contents::OverflowStatus { fr, overflow } => bit(fr, 0) | u64::from(overflow & 0xf0),
        Contents::CounterConfiguration { plm, ev, oi, pm, es, umask, threshold, ism, .. } => {
            monitor(plm, pm, false, umask, ism)
                | bit(ev, 4)
                | bit(oi, 5)
                | field(es, 14, 8)
                | field(threshold, 22, 20)
        }
        Contents::OpcodeMatch { m, i, f, b, value, mask, .. } => {
            bit(m, 63)
                | bit(i, 62)
                | bit(f, 61)
                | bit(b, 60)
                | place(u64::from(value), 59, 33)
                | place(u64::from(mask), 29, 3)
        }
        Contents::InstructionEarConfiguration { plm, pm, tlb, umask, ism } => {
            monitor(plm, pm, tlb, umask, ism)
        }
        Contents::DataEarConfiguration { plm, pm, tlb, umask, ism, pt } => {
            monitor(plm, pm, tlb, umask, ism) | bit(pt, 28)
        }
        Contents::TraceBufferConfiguration { plm, pm, tar, tm, ptm, ppm, bpt, bac } => {
            monitor(plm, pm, tar, 0, 0)
                | field(tm, 9, 8)
                | field(ptm, 11, 10)
                | field(ppm, 13, 12)
                | bit(bpt, 14)
                | bit(bac, 15)
        }
        Contents::InstructionRangeCheck { ta } => bit(ta, 0),
        Contents::Counter { count, .. } => u64::from(count),
        Contents::InstructionEarLine { v, tlb, line } => {
            (line.0 & !0x1f) | bit(v, 0) | bit(tlb == Known::Value(InstructionTlbResolution::Software), 1)
        }
        Contents::InstructionEarLatency { latency } => u64::from(latency.value().unwrap_or(0)),
        Contents::DataEarAddress { address } => address.0,
        Contents::DataEarLatency { latency, level } => {
            place(u64::from(latency.value().unwrap_or(0)), 11, 0)
                | field(level.value().map_or(0, |level| level as u8), 63, 62)
        }
        Contents::DataEarInstruction { v, slot, bundle } => (bundle.0 & !0xf) | bit(v, 0) | field(slot, 3, 2),
        Contents::BranchTraceEntry { b, mp, slot, address, .. } => {
            (address.0 & !0xf) | bit(b, 0) | bit(mp, 1) | field(slot, 3, 2)
        }
        Contents::BranchTraceIndex { bbi, full } => field(bbi, 2, 0) | bit(full, 3),
        Contents::BreakpointAddress { addr, .. } => addr.0,
        Contents::InstructionBreakpointMask { mask, plm, x, .. } => {
            place(mask, 55, 0) | field(plm, 59, 56) | bit(x, 63)
        }
        Contents::DataBreakpointMask { mask, plm, w, r, .. } => {
            place(mask, 55, 0) | field(plm, 59, 56) | bit(w, 62) | bit(r, 63)
        }
        Contents::ProcessorStatus { up, i, sp, pp, db, cpl, is } => {
            bit(up, 2)
                | bit(i, 14)
                | bit(sp, 20)
                | bit(pp, 21)
                | bit(db, 24)
                | field(cpl, 33, 32)
                | bit(is, 34)
        }
        Contents::InterruptVector { vector, m } => u64::from(vector) | bit(m, 16),
        Contents::NoFields(_) | Contents::Undefined(_) | Contents::Unimplemented(_) => 0,
    };
    kept(contents.register(), value)
}

/// The fields that PMC\[4\] to PMC\[7\] and PMC\[10\] to PMC\[12\] have in common; bit 7 is ignored in PMC\[4\] to
/// PMC\[7\].
fn monitor(plm: u8, pm: bool, bit_7: bool, umask: u8, ism: u8) -> u64 {
    field(plm, 3, 0) | bit(pm, 6) | bit(bit_7, 7) | field(umask, 19, 16) | field(ism, 25, 24)
}

/// `value` at {high:low}, cut to the width.
const fn place(value: u64, high: u32, low: u32) -> u64 {
    slice(value, high - low, 0) << low
}

fn field(value: u8, high: u32, low: u32) -> u64 {
    place(u64::from(value), high, low)
}

fn bit(value: bool, at: u32) -> u64 {
    u64::from(value) << at
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const ALL_MODES: [Modes; 4] = [
        Modes { instruction_tlb: false, data_tlb: false },
        Modes { instruction_tlb: false, data_tlb: true },
        Modes { instruction_tlb: true, data_tlb: false },
        Modes { instruction_tlb: true, data_tlb: true },
    ];

    /// Bits of a register that fields hold, where a mode leaves others undefined.
    fn defined_bits(register: Register, modes: Modes) -> u64 {
        match (register.class, register.index) {
            (RegisterClass::Pmd, 0) if !modes.instruction_tlb => !2,
            (RegisterClass::Pmd, 1) if modes.instruction_tlb => 0,
            (RegisterClass::Pmd, 3) if modes.data_tlb => 0xc000_0000_0000_0000,
            (RegisterClass::Pmd, 3) => 0xfff,
            (RegisterClass::Psr, _) => 0x7_0130_4004,
            (RegisterClass::Pmv, _) => 0x1_00ff,
            _ => u64::MAX,
        }
    }

    fn any_register() -> impl Strategy<Value = Register> {
        let all: Vec<_> = Register::implemented().collect();
        proptest::sample::select(all)
    }

    proptest! {
        /// ITA-DEC-001, ITA-DEC-002 of this reading: fields hold every bit that is kept and defined, and nothing else.
        #[test]
        fn fields_and_values_are_two_views(register in any_register(), value in any::<u64>(), mode in 0..4usize) {
            let modes = ALL_MODES[mode];
            let contents = contents_of(register, value, modes);
            prop_assert_eq!(contents.register(), register);
            prop_assert_eq!(value_of(&contents), kept(register, value) & defined_bits(register, modes));
            prop_assert_eq!(contents_of(register, value_of(&contents), modes), contents);
        }
    }

    /// ITA-REG-018: every bit lies in the field that the layouts name.
    #[test]
    fn walking_ones_reach_their_fields() {
        let of = |register, bit: u32| contents_of(register, 1 << bit, Modes::default());
        for index in 4..8 {
            let register = Register::pmc(index);
            let with = |change: &dyn Fn(&mut [u8; 8])| {
                let mut fields = [0; 8];
                change(&mut fields);
                let [plm, ev, oi, pm, es, umask, threshold, ism] = fields;
                Contents::CounterConfiguration {
                    register,
                    plm,
                    ev: ev != 0,
                    oi: oi != 0,
                    pm: pm != 0,
                    es,
                    umask,
                    threshold,
                    ism,
                }
            };
            for (field, low, width) in
                [(0, 0, 4), (1, 4, 1), (2, 5, 1), (3, 6, 1), (4, 8, 7), (5, 16, 4), (6, 20, 2), (7, 24, 2)]
            {
                for bit in 0..width {
                    assert_eq!(of(register, low + bit), with(&|fields| fields[field] = 1 << bit));
                }
            }
            let top_of_threshold = if index < 6 { 4 } else { 0 };
            assert_eq!(of(register, 22), with(&|fields| fields[6] = top_of_threshold));
        }
        assert_eq!(
            of(Register::pmc(8), 59),
            Contents::OpcodeMatch {
                register: Register::pmc(8),
                m: false,
                i: false,
                f: false,
                b: false,
                value: 1 << 26,
                mask: 0
            }
        );
        assert!(matches!(of(Register::pmc(9), 29), Contents::OpcodeMatch { value: 0, mask: 0x400_0000, .. }));
        assert!(matches!(of(Register::pmc(9), 63), Contents::OpcodeMatch { m: true, i: false, .. }));
        assert!(matches!(of(Register::pmc(9), 60), Contents::OpcodeMatch { b: true, f: false, .. }));
        assert!(matches!(of(Register::pmc(11), 28), Contents::DataEarConfiguration { pt: true, .. }));
        assert!(matches!(of(Register::pmc(11), 7), Contents::DataEarConfiguration { tlb: true, .. }));
        assert!(matches!(of(Register::pmc(10), 19), Contents::InstructionEarConfiguration { umask: 8, .. }));
        assert!(matches!(of(Register::pmc(12), 13), Contents::TraceBufferConfiguration { ppm: 2, .. }));
        assert!(matches!(of(Register::pmc(12), 15), Contents::TraceBufferConfiguration { bac: true, .. }));
        assert!(matches!(of(Register::pmc(0), 6), Contents::OverflowStatus { fr: false, overflow: 0x40 }));
        assert!(matches!(of(Register::PSR, 33), Contents::ProcessorStatus { cpl: 2, is: false, .. }));
        assert!(matches!(of(Register::PSR, 34), Contents::ProcessorStatus { cpl: 0, is: true, .. }));
        assert!(matches!(of(Register::PMV, 16), Contents::InterruptVector { vector: 0, m: true }));
        assert!(matches!(of(Register::dbr(3), 62), Contents::DataBreakpointMask { w: true, r: false, .. }));
        assert!(matches!(of(Register::ibr(3), 59), Contents::InstructionBreakpointMask { plm: 8, .. }));
    }

    /// Registers read on real hardware.
    #[test]
    fn hardware_values_have_their_published_fields() {
        let bundle = contents_of(Register::pmd(17), 0x2000_0000_0001_72c5, Modes::default());
        assert_eq!(
            bundle,
            Contents::DataEarInstruction { v: true, slot: 1, bundle: Address(0x2000_0000_0001_72c0) }
        );
        let tlb = Modes { instruction_tlb: true, data_tlb: true };
        assert_eq!(
            contents_of(Register::pmd(0), 0x2000_0000_0017_b781, tlb),
            Contents::InstructionEarLine {
                v: true,
                tlb: Known::Value(InstructionTlbResolution::Vhpt),
                line: Address(0x2000_0000_0017_b780)
            }
        );
        assert_eq!(
            contents_of(Register::pmd(3), 0x8000_0000_0000_0001, tlb),
            Contents::DataEarLatency { latency: Known::Undefined, level: Known::Value(DataTlbLevel::Vhpt) }
        );
    }
}
