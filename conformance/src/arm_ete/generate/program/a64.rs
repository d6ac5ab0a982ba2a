//! Encodings of A64 instructions, written from the table of P0 instructions (sheet 6.4).

use traceproof_vectors::Address;
use traceproof_vectors::arm::InstructionSet;
use traceproof_vectors::arm_ete::Parameters;

use crate::arm_ete::generate::Kind;
use crate::arm_pft::generate::Reach;
use crate::generate::Entropy;

/// An instruction whose target, if it has one, is not yet chosen.
#[derive(Clone, Copy, Debug)]
pub(super) enum Form {
    Fixed(u32, Kind),
    Branch(Branch),
}

/// A direct branch: its opcode without offset, and which bits the offset has.
#[derive(Clone, Copy, Debug)]
pub(super) struct Branch {
    pub(super) opcode: u32,
    /// Bits of the offset in words, and the place of its lowest bit.
    bits: u32,
    shift: u32,
    pub(super) link: bool,
    pub(super) conditional: bool,
}

impl Branch {
    /// The opcode at `at` with target `to`; `None` if that is too far.
    pub(super) fn encode(&self, at: Address, to: Address) -> Option<u32> {
        let words = (to.0.wrapping_sub(at.0) as i64) >> 2;
        let most = 1_i64 << (self.bits - 1);
        let field = (words as u32) & ((1 << self.bits) - 1);
        (-most..most).contains(&words).then_some(self.opcode | field << self.shift)
    }
}

/// Instructions that no trace shows, some of them neighbours of P0 instructions in the table of opcodes.
pub(super) const PLAIN: [u32; 24] = [
    0xd503_201f, // NOP
    0x9100_0421, // ADD x1, x1, #1
    0xd280_0020, // MOV x0, #1
    0xf940_0062, // LDR x2, [x3]
    0xf900_0062, // STR x2, [x3]
    0xeb02_001f, // CMP x0, x2
    0xd538_4021, // MRS x1, ELR_EL1
    0xd518_d020, // MSR CONTEXTIDR_EL1, x0
    0xd503_3f9f, // DSB SY
    0xd503_3bbf, // DMB ISH
    0xd503_30ff, // SB
    0xd503_3f5f, // CLREX
    0xd503_203f, // YIELD
    0xd503_209f, // SEV
    0xd503_225f, // TSB CSYNC
    0xd503_233f, // PACIASP
    0xd503_245f, // BTI c
    0xf820_0420, // LDRAA x0, [x1]
    0xdac1_0020, // PACIA x0, x1
    0xa940_0440, // LDP x0, x1, [x2]
    0xb840_4420, // LDR w0, [x1], #4
    0x5800_0040, // LDR x0, literal
    0x1000_0000, // ADR x0, .
    0x9ac2_0820, // UDIV x0, x1, x2
];

const ANY: Reach = Reach::Any;
const BRANCHES: [u32; 6] = [
    0xd61f_0060, // BR x3
    0xd61f_0220, // BR x17
    0xd61f_087f, // BRAAZ x3
    0xd61f_0c7f, // BRABZ x3
    0xd71f_0862, // BRAA x3, x2
    0xd71f_0c62, // BRAB x3, x2
];
const LINKS: [u32; 5] = [
    0xd63f_0060, // BLR x3
    0xd63f_087f, // BLRAAZ x3
    0xd63f_0c7f, // BLRABZ x3
    0xd73f_0862, // BLRAA x3, x2
    0xd73f_0c62, // BLRAB x3, x2
];
pub(super) const RETURNS: [u32; 8] = [
    0xd65f_03c0, // RET
    0xd65f_0060, // RET x3
    0xd65f_0bff, // RETAA
    0xd65f_0fff, // RETAB
    0x5500_009f, // RETAASPPC
    0x5520_009f, // RETABSPPC
    0xd65f_0be3, // RETAASPPCR x3
    0xd65f_0fe3, // RETABSPPCR x3
];
const EXCEPTION_RETURNS: [u32; 3] = [0xd69f_03e0, 0xd69f_0bff, 0xd69f_0fff];
const ISBS: [u32; 2] = [0xd503_3fdf, 0xd503_30df];
const WAITS: [u32; 4] = [
    0xd503_205f, // WFE
    0xd503_207f, // WFI
    0xd503_1003, // WFET x3
    0xd503_1023, // WFIT x3
];
const CALLS: [u32; 3] = [0xd400_0021, 0xd400_0002, 0xd400_0003];

const START: Form = Form::Fixed(0xd523_3063, Kind::TransactionStart); // TSTART x3
pub(super) const COMMIT: Form = Form::Fixed(0xd503_307f, Kind::TransactionCommit);

/// An instruction of a transaction that does not make it fail.
pub(super) fn within_transaction(entropy: &mut Entropy<'_>) -> Form {
    match entropy.below(8) {
        0..=3 => Form::Fixed(entropy.pick(&PLAIN), Kind::Plain),
        4 | 5 => Form::Branch(conditional(entropy)),
        6 => Form::Fixed(entropy.pick(&ISBS), Kind::Isb),
        _ => START,
    }
}

/// An instruction other than the last one of a section.
pub(super) fn some(entropy: &mut Entropy<'_>, parameters: &Parameters) -> Form {
    let indirect = |link| Kind::Indirect { link, reach: ANY };
    match entropy.below(32) {
        0..=8 => Form::Fixed(entropy.pick(&PLAIN), Kind::Plain),
        9..=15 => Form::Branch(conditional(entropy)),
        16 => Form::Branch(unconditional(false)),
        17..=19 => Form::Branch(unconditional(true)),
        20 => Form::Fixed(entropy.pick(&BRANCHES), indirect(false)),
        21 => Form::Fixed(entropy.pick(&LINKS), indirect(true)),
        22..=24 => Form::Fixed(entropy.pick(&RETURNS), indirect(false)),
        25 => Form::Fixed(entropy.pick(&EXCEPTION_RETURNS), Kind::ExceptionReturn),
        26 => Form::Fixed(entropy.pick(&ISBS), Kind::Isb),
        27 => Form::Fixed(entropy.pick(&WAITS), Kind::Wait),
        28 => Form::Fixed(entropy.pick(&CALLS), Kind::Call),
        29 => {
            let traps = [(0xd420_0000, 6), (0x0000_1234, 3)];
            let (opcode, number) = entropy.pick(&traps);
            Form::Fixed(opcode, Kind::Trap(number))
        }
        30 if parameters.instrumentation => Form::Fixed(0xd50b_72e3, Kind::Instrumentation),
        number if parameters.transactions => {
            if number == 30 {
                START
            } else {
                entropy.pick(&[START, START, COMMIT])
            }
        }
        _ => Form::Fixed(PLAIN[0], Kind::Plain),
    }
}

/// The last instruction of a section: nothing runs over its end.
pub(super) fn last(entropy: &mut Entropy<'_>) -> Form {
    Form::Fixed(entropy.pick(&RETURNS), Kind::Indirect { link: false, reach: ANY })
}

const fn unconditional(link: bool) -> Branch {
    let opcode = if link { 0x9400_0000 } else { 0x1400_0000 };
    Branch { opcode, bits: 26, shift: 0, link, conditional: false }
}

fn conditional(entropy: &mut Entropy<'_>) -> Branch {
    let register = entropy.below(31) as u32;
    let wide = (u32::from(entropy.byte()) & 1) << 31;
    let nonzero = (u32::from(entropy.byte()) & 1) << 24;
    let compared = (entropy.below(32) as u32) << 16 | register;
    let comparison = |entropy: &mut Entropy<'_>| entropy.pick(&[6_u32, 7, 0, 1, 2, 3]) << 21;
    let (opcode, bits) = match entropy.below(10) {
        0..=2 => (0x5400_0000 | entropy.below(14) as u32, 19),
        3 => (0x5400_0010 | entropy.below(14) as u32, 19),
        4 | 5 => (0x3400_0000 | wide | nonzero | register, 19),
        6 => (0x3600_0000 | wide | nonzero | (entropy.below(32) as u32) << 19 | register, 14),
        7 => (0x7400_0000 | wide | comparison(entropy) | compared, 9),
        8 => (entropy.pick(&[0x7400_8000, 0x7400_c000]) | comparison(entropy) | compared, 9),
        _ => (0x7500_0000 | wide | comparison(entropy) | (entropy.below(64) as u32) << 15 | register, 9),
    };
    Branch { opcode, bits, shift: 5, link: false, conditional: true }
}

/// The kind of a direct branch with this target.
pub(super) const fn direct(to: Address, link: bool) -> Kind {
    Kind::Direct { to, isa: InstructionSet::A64, link }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The direct branches of the worked streams (sheet 10.2, 10.3).
    #[test]
    fn direct_branches_are_those_of_the_sheet() {
        let b = unconditional(false);
        let bl = unconditional(true);
        let with = |opcode| Branch { opcode, bits: 19, shift: 5, link: false, conditional: true };
        for (branch, at, to, opcode) in [
            (b, 0x1000, 0x2000, 0x1400_0400),
            (b, 0x40_1018, 0x40_1018, 0x1400_0000),
            (bl, 0x40_1004, 0x40_1020, 0x9400_0007),
            (with(0xb500_0000), 0x40_100c, 0x40_1004, 0xb5ff_ffc0),
            (with(0x5400_0000), 0x200c, 0x3000, 0x5400_7fa0),
            (with(0x5400_0001), 0x3004, 0x3000, 0x54ff_ffe1),
        ] {
            assert_eq!(branch.encode(Address(at), Address(to)), Some(opcode));
        }
        let short = Branch { bits: 9, ..with(0x7400_0000) };
        assert_eq!(short.encode(Address(0x1000), Address(0x1400)), None);
        assert_eq!(short.encode(Address(0x1000), Address(0x13fc)), Some(0x7400_1fe0));
        assert_eq!(short.encode(Address(0x1000), Address(0xc00)), Some(0x7400_2000));
    }
}
