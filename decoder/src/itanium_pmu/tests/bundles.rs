//! Bundles of code: the template table, and bundles whose assembly is known.

use alloc::string::ToString;

use super::*;
use crate::itanium_pmu::bundle::{Bundle, ReservedTemplate, Template};

#[test]
fn the_template_table() {
    let expected = [
        "MII", "MII|", "MI|I", "MI|I|", "MLX", "MLX|", "", "", "MMI", "MMI|", "M|MI", "M|MI|", "MFI", "MFI|",
        "MMF", "MMF|", "MIB", "MIB|", "MBB", "MBB|", "", "", "BBB", "BBB|", "MMB", "MMB|", "", "", "MFB",
        "MFB|", "", "",
    ];
    for (code, name) in (0..).zip(expected) {
        match Template::new(code) {
            Ok(template) => {
                assert_eq!((template.to_string().as_str(), template.code), (name, code));
                let types =
                    template.types.map(|itype| itype.map_or("L".into(), |itype| format!("{itype:?}")));
                assert_eq!(types.concat(), template.name);
            }
            Err(reserved) => assert_eq!((reserved, name), (ReservedTemplate(code), "")),
        }
    }
    assert_eq!(Template::new(32), Err(ReservedTemplate(32)));
    assert_eq!(Bundle::decode(&[0xff; 16]), Err(ReservedTemplate(0x1f)));
}

/// `[MII] nop.m 0; pmpyshr2 r4=r5,r6,0; pmpyshr2.u r4=r5,r6,16`, as an assembler's test suite lists it.
///
/// By the formats: nop.m has x4 = 1 in {30:27}; pmpyshr2 opcode 7 in {40:37}, r3 {26:20}, r2 {19:13}, r1 {12:6}.
#[test]
fn syllables_are_cut_out() {
    let bytes = [0, 0, 0, 0, 1, 0, 0x40, 0x28, 0x18, 0x8c, 0x38, 0x80, 0x50, 0x30, 0x68, 0x71];
    let bundle = Bundle::decode(&bytes).expect("MII");
    assert_eq!(bundle.template.to_string(), "MII");
    let [nop, signed, unsigned] = bundle.slots;
    assert_eq!(nop, 1 << 27);
    for multiply in [signed, unsigned] {
        assert_eq!(
            (multiply >> 37, multiply >> 20 & 0x7f, multiply >> 13 & 0x7f, multiply >> 6 & 0x7f),
            (7, 6, 5, 4)
        );
        assert_eq!(multiply & 0x3f, 0);
    }
    let found: Vec<_> =
        bundle.instructions(0x4000).map(|one| (one.ip.0, one.slot, one.itype, one.enco)).collect();
    assert_eq!(found, [(0x4000, 0, M, nop), (0x4000, 1, I, signed), (0x4000, 2, I, unsigned)]);
}

/// `{ .mlx; nop.m 0; movl r14=0x123456789abcdef0 }` by the format X2: opcode 6, i {36}, imm9d {35:27}, imm5c {26:22},
/// ic {21}, vc {20}, imm7b {19:13}, r1 {12:6}; imm41 in the L slot.
#[test]
fn long_syllables_are_one_instruction() {
    let value = 0x1234_5678_9abc_def0_u64;
    let l = value >> 22 & ((1 << 41) - 1);
    let x = 6 << 37
        | (value >> 63) << 36
        | (value >> 7 & 0x1ff) << 27
        | (value >> 16 & 0x1f) << 22
        | (value >> 21 & 1) << 21
        | (value & 0x7f) << 13
        | 14 << 6;
    let bits = 5 | 1_u128 << 32 | u128::from(l) << 46 | u128::from(x) << 87;
    let bundle = Bundle::decode(&bits.to_le_bytes()).expect("MLX|");
    assert_eq!(bundle.slots, [1 << 27, l, x]);
    let found: Vec<_> = bundle.instructions(0).map(|one| (one.slot, one.itype, one.enco)).collect();
    assert_eq!(found, [(0, M, 1 << 27), (2, SyllableType::X, x)]);
}
