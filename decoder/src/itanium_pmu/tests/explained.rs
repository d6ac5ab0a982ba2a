//! Explanations: the sentence names the deciding bit, and the outcome is that of the qualification.

use alloc::string::ToString;

use proptest::prelude::*;

use super::*;
use crate::itanium_pmu::explain;
use crate::itanium_pmu::qualification::{
    OpcodeMonitor, data_range_match, data_tag as tag_of, opcode_match, opcode_tag, range_tag,
};
use traceproof_vectors::Address;

#[test]
fn ranges() {
    let reported = |values: &[(&str, u64)], ip| {
        explain::range(&registers(values), &Parameters::default(), ip).to_string()
    };
    let values = [
        ("IBR0", 0x2000_0020_0000_1000),
        ("IBR1", 0x08ff_ffff_ffff_f000),
        ("IBR2", 0x2100_0000_0000_1000),
        ("IBR3", 0x0800_0000_0000_0000),
        ("IBR4", 0x2008_0000_0000_0000),
        ("IBR5", 0x0808_0000_0000_0000),
        ("IBR7", 0x01ff_ffff_ffff_fff0),
        ("PSR", psr(3, 0)),
    ];
    assert_eq!(
        reported(&values, 0x2000_0000_0000_1000),
        "no pair matches; \
         IBR0/1: address bit 37 is 1, IP bit 37 is 0, mask bit 37 is 1; \
         IBR2/3: address bit 56 is 1, IP bit 50 is 0, {60:56} are not maskable; \
         IBR4/5: address bit 51 is 1, IP bit 50 is 0, mask bit 51 is 1; \
         IBR6/7: plm 0b0001 does not enable cpl 3"
    );
    assert_eq!(
        reported(&values[..2], 0x2000_0020_0000_1010),
        "no pair matches; \
         IBR0/1: plm 0b1000 does not enable cpl 0; IBR2/3: plm 0b0000 does not enable cpl 0; \
         IBR4/5: plm 0b0000 does not enable cpl 0; IBR6/7: plm 0b0000 does not enable cpl 0"
    );
    let at_level_3 = [values[0], values[1], ("PSR", psr(3, 0))];
    assert_eq!(reported(&at_level_3, 0x2000_0020_0000_1010), "IBR0/1 match");
    assert_eq!(
        reported(&[("IBR1", 0x0100_0000_0000_0000)], 1 << 61).split("; ").nth(1),
        Some("IBR0/1: address bit 61 is 0, IP bit 61 is 1, {63:61} are not maskable")
    );
    assert_eq!(reported(&[("IBR3", 1 << 63)], 0), "the x bit of IBR3 is 1, all IBRs are breakpoints");
    assert_eq!(reported(&[("PSR", DB)], 0), "PSR.db is 1, the IBRs are breakpoints");
    assert_eq!(reported(&[("PSR", IS)], 0), "PSR.is is 1, IA-32 instructions are in no range");
    assert_eq!(reported(&[("PMC13", 1), ("PSR", IS)], 0), "PMC13.ta is 1, everything is tagged");
}

#[test]
fn opcodes_and_data() {
    let registers = registers(&[
        ("PMC13", 1),
        ("PMC8", 0x1400_0280_03ff_f1f8),
        ("DBR0", 0x6000_0000_0002_0000),
        ("DBR1", 0x00ff_ffff_ffff_0000),
    ]);
    let reported = |itype, enco| {
        let monitor = OpcodeMonitor::Pmc8;
        explain::opcode_tag(&registers, &Parameters::default(), monitor, &syllable(itype, enco)).to_string()
    };
    assert_eq!(reported(B, 0x091_ffff_e140), "the opcode matches");
    assert_eq!(reported(B, 0x091_ffff_e000), "syllable bit 8 is 0, match bit 8 is 1, mask bit 8 is 0");
    assert_eq!(reported(B, 0x080_0000_0180), "syllable bit 7 is 1, match bit 7 is 0, mask bit 7 is 0");
    assert_eq!(reported(B, 0x191_ffff_e140), "syllable bit 40 is 1, match bit 26 is 0, mask bit 26 is 0");
    assert_eq!(reported(M, 0x091_ffff_e140), "syllables of type M are not selected");
    assert_eq!(reported(SyllableType::X, 0), "long syllables are not selected");
    let reported = |address, pmc8| explain::data_tag(&registers, AccessKind::Load, address, pmc8).to_string();
    assert_eq!(reported(0x6000_0000_0002_1234, true), "DBR0/1 match");
    assert_eq!(reported(0x6000_0000_0002_1234, false), "Tag(PMC8) of the instruction is 0");
    assert_eq!(
        reported(0x6000_0000_0003_1234, true),
        "no pair matches; DBR0/1: address bit 16 is 0, data address bit 16 is 1, mask bit 16 is 1; \
         DBR2/3: address bit 62 is 0, data address bit 62 is 1, {63:61} are not maskable; \
         DBR4/5: address bit 62 is 0, data address bit 62 is 1, {63:61} are not maskable; \
         DBR6/7: address bit 62 is 0, data address bit 62 is 1, {63:61} are not maskable"
    );
}

proptest! {
    #[test]
    fn explanations_agree_with_the_qualification(
        values: [u64; 16], plain in 0..16_u8, psr: u64, pmc8: u64, pmc: (u8, u32), enco in 0..1_u64 << 41,
        at: u64, near in 0..4_usize, tagged: bool,
    ) {
        let mut registers = Registers::default();
        for (index, value) in (0..).zip(values) {
            // Without x, and with few bits compared.
            let value = if index % 2 == 1 && plain != 0 { value & !(1 << 63) & value >> 4 & 0xff << 56 } else { value };
            registers.write(Register::ibr(index & 7), value);
            registers.write(Register::dbr(index & 7), value);
        }
        registers.write(Register::PSR, if plain == 0 { psr } else { psr & !(DB | IS) });
        registers.write(Register::pmc(8), pmc8 | u64::from(pmc.1) << 3);
        registers.write(Register::pmc(13), (pmc.0 & 3 == 0).into());
        registers.write(Register::pmc(11), u64::from(pmc.0 & 4 == 0) << 28);
        let at = if near < 3 { values[8 + near * 2] } else { at };
        let parameters = Parameters::default();
        let range = range_tag(&registers, &parameters, at);
        prop_assert_eq!(explain::range(&registers, &parameters, at).tag(), range);
        prop_assert_eq!(explain::data_range(&registers, at).matched(), data_range_match(&registers, at));
        for kind in AccessKind::ALL {
            let reason = explain::data_tag(&registers, kind, at, tagged);
            prop_assert_eq!(reason.tag(), tag_of(&registers, kind, at, tagged));
        }
        for itype in SyllableType::ALL {
            for monitor in OpcodeMonitor::ALL {
                let instruction = Instruction { ip: Address(at), ..syllable(itype, enco) };
                let reason = explain::opcode(&registers, &parameters, monitor, &instruction);
                let matched = opcode_match(&registers, &parameters, monitor, &instruction);
                prop_assert_eq!(reason == explain::OpcodeReason::Match, matched);
                let reason = explain::opcode_tag(&registers, &parameters, monitor, &instruction);
                prop_assert_eq!(reason.tag(), opcode_tag(&registers, &parameters, monitor, &instruction, range));
            }
        }
    }
}
