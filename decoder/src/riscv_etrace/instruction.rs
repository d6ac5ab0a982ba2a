//! Machine code -> length and control-flow class (ET 4.1.1).

use traceproof_vectors::riscv_etrace::{Parameters, Xlen};

/// What an instruction does to the flow. The jump classes are those of ET 4.1.1 (RVET-ING-010).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Class {
    /// Always continues with the next instruction.
    Straight,
    /// `lui`, `c.lui`: straight; may make the jump after it sequentially inferable.
    LoadUpper,
    /// `auipc`: straight; may make the jump after it sequentially inferable.
    LoadUpperPc,
    /// `ecall`, `ebreak`, `c.ebreak`: straight. Harts that let them retire trap directly after them.
    EnvironmentCall,
    /// Conditional branch.
    Branch,
    /// Call whose target is a constant.
    InferableCall,
    /// Jump without linkage whose target is a constant.
    InferableJump,
    /// Jump whose target is a constant and which links neither `x1` nor `x5`.
    OtherInferableJump,
    /// Call through a register or a table.
    UninferableCall,
    /// Jump without linkage through a register or a table.
    UninferableJump,
    /// Jump through `x1` or `x5` that links neither.
    Return,
    /// Jump through `x1` that links `x5`, or the other way round.
    CoroutineSwap,
    /// Jump through another register which links neither `x1` nor `x5`.
    OtherUninferableJump,
    /// `mret`, `sret` and their like.
    TrapReturn,
    /// No instruction: no bytes, or bytes with no legal length.
    Missing,
}

impl Class {
    /// The target is a constant of the opcode.
    #[inline]
    #[must_use]
    pub const fn is_inferable_jump(self) -> bool {
        matches!(self, Self::InferableCall | Self::InferableJump | Self::OtherInferableJump)
    }

    /// A jump whose target is not a constant of the opcode; trap returns are not jumps.
    #[inline]
    #[must_use]
    pub const fn is_uninferable_jump(self) -> bool {
        matches!(
            self,
            Self::UninferableCall
                | Self::UninferableJump
                | Self::Return
                | Self::CoroutineSwap
                | Self::OtherUninferableJump
        )
    }

    /// Leaves a return address for a later return. Co-routine swaps do not count.
    #[inline]
    #[must_use]
    pub const fn is_call(self) -> bool {
        matches!(self, Self::InferableCall | Self::UninferableCall)
    }

    /// Always continues with the next instruction.
    #[inline]
    #[must_use]
    pub const fn is_straight(self) -> bool {
        matches!(self, Self::Straight | Self::LoadUpper | Self::LoadUpperPc | Self::EnvironmentCall)
    }
}

/// One instruction, as far as the flow cares.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Instruction {
    /// What it does to the flow.
    pub class: Class,
    /// Bytes: 2 or 4; 0 if [`Class::Missing`].
    pub length: u8,
    /// `rs1` of a jump through a register, `rd` of an upper immediate; 0 where neither.
    pub register: u8,
    /// `immediate` of an inferable jump is its target, not the distance to it (`jalr rd, x0`).
    pub absolute: bool,
    /// Distance or offset in bytes of a jump or branch; the upper immediate of `lui` and `auipc`.
    pub immediate: i32,
}

impl Instruction {
    /// Where no instruction is.
    pub const MISSING: Self =
        Self { class: Class::Missing, length: 0, register: 0, absolute: false, immediate: 0 };

    const fn straight(length: u8) -> Self {
        Self { class: Class::Straight, length, register: 0, absolute: false, immediate: 0 }
    }
}

/// Which encodings the hart executes, as far as the flow cares.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct InstructionSet {
    /// `c.jal` exists in place of `c.addiw`.
    pub rv32: bool,
    /// Zcmp and Zcmt encodings exist in place of `c.fsdsp`.
    pub zcmp_zcmt: bool,
}

impl InstructionSet {
    /// The instruction set of the hart with these parameters.
    #[must_use]
    pub const fn new(parameters: &Parameters) -> Self {
        Self { rv32: matches!(parameters.xlen, Xlen::Rv32), zcmp_zcmt: parameters.zcmp_zcmt }
    }

    /// The instruction that starts with these 16-bit parcels; `second` is `None` where memory ends.
    #[must_use]
    pub const fn decode(self, first: u16, second: Option<u16>) -> Instruction {
        match (first & 3, second) {
            (0, _) => Instruction::straight(2),
            (1, _) => self.quadrant_1(first),
            (2, _) => self.quadrant_2(first),
            // Five low ones announce more than 32 bits, for which no ratified instruction exists.
            (_, Some(second)) if first & 0x1c != 0x1c => decode_32(first as u32 | (second as u32) << 16),
            _ => Instruction::MISSING,
        }
    }

    const fn quadrant_1(self, code: u16) -> Instruction {
        let straight = Instruction::straight(2);
        match code >> 13 {
            1 if self.rv32 => {
                Instruction { class: Class::InferableCall, immediate: c_jump_offset(code), ..straight }
            }
            5 => Instruction { class: Class::InferableJump, immediate: c_jump_offset(code), ..straight },
            6 | 7 => Instruction { class: Class::Branch, immediate: c_branch_offset(code), ..straight },
            3 => {
                let rd = (code >> 7 & 31) as u8;
                let immediate = sign(field(code, 12, 1) << 17 | field(code, 2, 5) << 12, 18);
                // rd = x2 is c.addi16sp; an immediate of 0 is reserved or a c.mop.
                if rd == 2 || immediate == 0 {
                    straight
                } else {
                    Instruction { class: Class::LoadUpper, register: rd, immediate, ..straight }
                }
            }
            _ => straight,
        }
    }

    const fn quadrant_2(self, code: u16) -> Instruction {
        let straight = Instruction::straight(2);
        let register = (code >> 7 & 31) as u8;
        let second = code >> 2 & 31;
        match code >> 12 {
            // c.jr; without a register it is reserved, with a second one it is c.mv.
            0b1000 if second == 0 && register != 0 => {
                Instruction { class: jump_class(0, register), register, ..straight }
            }
            0b1001 if second == 0 && register == 0 => {
                Instruction { class: Class::EnvironmentCall, ..straight }
            }
            0b1001 if second == 0 => Instruction { class: jump_class(1, register), register, ..straight },
            0b1010 | 0b1011 if self.zcmp_zcmt => match code >> 8 & 31 {
                // cm.popretz, cm.popret: the return address comes from the stack, not from a register.
                0b1_1100 | 0b1_1110 => Instruction { class: Class::Return, ..straight },
                // cm.jt below index 32, cm.jalt from there on: the target comes from a table in memory.
                0b0_0000..=0b0_0011 if code >> 2 & 0xff < 32 => {
                    Instruction { class: Class::UninferableJump, ..straight }
                }
                0b0_0000..=0b0_0011 => Instruction { class: Class::UninferableCall, ..straight },
                _ => straight,
            },
            _ => straight,
        }
    }
}

const fn decode_32(code: u32) -> Instruction {
    let straight = Instruction::straight(4);
    let rd = (code >> 7 & 31) as u8;
    let rs1 = (code >> 15 & 31) as u8;
    match (code & 0x7f, code >> 12 & 7) {
        (0x63, 0 | 1 | 4..=7) => {
            Instruction { class: Class::Branch, immediate: branch_offset(code), ..straight }
        }
        (0x6f, _) => Instruction { class: linked(rd), immediate: jal_offset(code), ..straight },
        // The target is a constant near address 0, hence inferable (ET 4.1.1; the example code of ET 11 forgets it).
        (0x67, 0) if rs1 == 0 => {
            let immediate = (code as i32 >> 20) & !1;
            Instruction { class: linked(rd), immediate, absolute: true, ..straight }
        }
        (0x67, 0) => {
            let immediate = code as i32 >> 20;
            Instruction { class: jump_class(rd, rs1), register: rs1, immediate, ..straight }
        }
        (0x37, _) => upper(Class::LoadUpper, rd, code),
        (0x17, _) => upper(Class::LoadUpperPc, rd, code),
        (0x73, 0) => Instruction { class: system_class(code), ..straight },
        _ => straight,
    }
}

/// The class of a jump with constant target by its link register.
const fn linked(rd: u8) -> Class {
    match rd {
        0 => Class::InferableJump,
        1 | 5 => Class::InferableCall,
        _ => Class::OtherInferableJump,
    }
}

/// The class of a jump through a register.
const fn jump_class(rd: u8, rs1: u8) -> Class {
    match (rd, rs1) {
        (1, 5) | (5, 1) => Class::CoroutineSwap,
        (1 | 5, _) => Class::UninferableCall,
        (_, 1 | 5) => Class::Return,
        (0, _) => Class::UninferableJump,
        _ => Class::OtherUninferableJump,
    }
}

const fn upper(class: Class, rd: u8, code: u32) -> Instruction {
    let immediate = (code & 0xffff_f000) as i32;
    Instruction { class, register: rd, immediate, ..Instruction::straight(4) }
}

const fn system_class(code: u32) -> Class {
    match code {
        0x0000_0073 | 0x0010_0073 => Class::EnvironmentCall,
        // uret, sret, mret, mnret, dret. `hret`, between sret and mret, is reserved since version 1.10 of the
        // privileged architecture.
        0x0020_0073 | 0x1020_0073 | 0x3020_0073 | 0x7020_0073 | 0x7b20_0073 => Class::TrapReturn,
        _ => Class::Straight,
    }
}

/// The `width` bits of `code` from `first` on.
const fn field(code: u16, first: u32, width: u32) -> u32 {
    code as u32 >> first & ((1 << width) - 1)
}

/// Sign-extends a value of `width` bits.
const fn sign(value: u32, width: u32) -> i32 {
    ((value << (32 - width)) as i32) >> (32 - width)
}

const fn branch_offset(code: u32) -> i32 {
    let value =
        (code >> 31 & 1) << 12 | (code >> 7 & 1) << 11 | (code >> 25 & 0x3f) << 5 | (code >> 8 & 15) << 1;
    sign(value, 13)
}

const fn jal_offset(code: u32) -> i32 {
    let value = (code >> 31 & 1) << 20 | code & 0xf_f000 | (code >> 20 & 1) << 11 | (code >> 21 & 0x3ff) << 1;
    sign(value, 21)
}

/// `c.j`, `c.jal`: offset[11|4|9:8|10|6|7|3:1|5] in bits 12 to 2.
const fn c_jump_offset(code: u16) -> i32 {
    let value = field(code, 12, 1) << 11
        | field(code, 11, 1) << 4
        | field(code, 9, 2) << 8
        | field(code, 8, 1) << 10
        | field(code, 7, 1) << 6
        | field(code, 6, 1) << 7
        | field(code, 3, 3) << 1
        | field(code, 2, 1) << 5;
    sign(value, 12)
}

/// `c.beqz`, `c.bnez`: offset[8|4:3] in bits 12 to 10, offset[7:6|2:1|5] in bits 6 to 2.
const fn c_branch_offset(code: u16) -> i32 {
    let value = field(code, 12, 1) << 8
        | field(code, 10, 2) << 3
        | field(code, 5, 2) << 6
        | field(code, 3, 2) << 1
        | field(code, 2, 1) << 5;
    sign(value, 9)
}

#[cfg(test)]
mod tests {
    use super::*;
    use Class::*;

    const RV64: InstructionSet = InstructionSet { rv32: false, zcmp_zcmt: false };
    const RV32: InstructionSet = InstructionSet { rv32: true, zcmp_zcmt: false };
    const ZCM: InstructionSet = InstructionSet { rv32: true, zcmp_zcmt: true };

    fn decode(set: InstructionSet, code: u32) -> Instruction {
        set.decode(code as u16, Some((code >> 16) as u16))
    }

    /// Encodings as GNU as writes them; those it does not know are put together by hand from the ISA manuals.
    #[test]
    fn encodings_of_32_bits() {
        #[rustfmt::skip]
        let table: &[(u32, Class, u8, i32)] = &[
            (0x0020_8463, Branch, 0, 8),                          // beq x1, x2, .+8
            (0xfe20_9ce3, Branch, 0, -8),                         // bne x1, x2, .-8
            (0x7e20_cfe3, Branch, 0, 4094),                       // blt x1, x2, .+4094
            (0x8020_d063, Branch, 0, -4096),                      // bge x1, x2, .-4096
            (0x0020_e863, Branch, 0, 16),                         // bltu
            (0x0020_f863, Branch, 0, 16),                         // bgeu
            (0x0020_a463, Straight, 0, 0),                        // funct3 2: reserved
            (0x1000_006f, InferableJump, 0, 0x100),               // jal x0, .+0x100
            (0xf01f_f0ef, InferableCall, 0, -0x100),              // jal x1, .-0x100
            (0x7fff_f2ef, InferableCall, 0, 0xf_fffe),            // jal x5, .+0xffffe
            (0x8000_036f, OtherInferableJump, 0, -0x10_0000),     // jal x6, .-0x100000
            (0x0005_0067, UninferableJump, 10, 0),                // jalr x0, 0(x10)
            (0x0000_8067, Return, 1, 0),                          // jalr x0, 0(x1)
            (0x0042_8067, Return, 5, 4),                          // jalr x0, 4(x5)
            (0x0000_8367, Return, 1, 0),                          // jalr x6, 0(x1)
            (0x0002_80e7, CoroutineSwap, 5, 0),                   // jalr x1, 0(x5)
            (0x0000_82e7, CoroutineSwap, 1, 0),                   // jalr x5, 0(x1)
            (0x0000_80e7, UninferableCall, 1, 0),                 // jalr x1, 0(x1)
            (0x0002_82e7, UninferableCall, 5, 0),                 // jalr x5, 0(x5)
            (0x0085_00e7, UninferableCall, 10, 8),                // jalr x1, 8(x10)
            (0x0005_02e7, UninferableCall, 10, 0),                // jalr x5, 0(x10)
            (0x0005_0367, OtherUninferableJump, 10, 0),           // jalr x6, 0(x10)
            (0x0005_1067, Straight, 0, 0),                        // funct3 1: reserved
            (0x1234_52b7, LoadUpper, 5, 0x1234_5000),             // lui x5, 0x12345
            (0xffff_f097, LoadUpperPc, 1, -0x1000),               // auipc x1, 0xfffff
            (0x3020_0073, TrapReturn, 0, 0),                      // mret
            (0x1020_0073, TrapReturn, 0, 0),                      // sret
            (0x0020_0073, TrapReturn, 0, 0),                      // uret
            (0x7b20_0073, TrapReturn, 0, 0),                      // dret
            (0x7020_0073, TrapReturn, 0, 0),                      // mnret
            (0x0000_0073, EnvironmentCall, 0, 0),                 // ecall
            (0x0010_0073, EnvironmentCall, 0, 0),                 // ebreak
            (0x1050_0073, Straight, 0, 0),                        // wfi
            (0x0000_0013, Straight, 0, 0),                        // nop
            (0x0000_100f, Straight, 0, 0),                        // fence.i
            (0x1200_0073, Straight, 0, 0),                        // sfence.vma
            (0x0021_a0af, Straight, 0, 0),                        // amoadd.w
            (0x0231_00b3, Straight, 0, 0),                        // mul
            (0x0231_70d3, Straight, 0, 0),                        // fadd.d
            (0x3001_10f3, Straight, 0, 0),                        // csrrw x1, mstatus, x2
        ];
        for &(code, class, register, immediate) in table {
            let expected = Instruction { class, length: 4, register, absolute: false, immediate };
            assert_eq!(decode(RV64, code), expected, "{code:#010x}");
            assert_eq!(decode(RV32, code), expected, "{code:#010x}");
        }
    }

    #[test]
    fn jumps_relative_to_x0_have_a_constant_target() {
        for (code, class, immediate) in [
            (0x0100_0067, InferableJump, 16),     // jalr x0, 16(x0)
            (0xff00_00e7, InferableCall, -16),    // jalr x1, -16(x0)
            (0x0030_0367, OtherInferableJump, 2), // jalr x6, 3(x0): bit 0 of the target is cleared
        ] {
            let expected = Instruction { class, length: 4, register: 0, absolute: true, immediate };
            assert_eq!(decode(RV32, code), expected, "{code:#010x}");
        }
    }

    /// Encodings as GNU as writes them; those it does not know are put together by hand from the ISA manuals.
    #[test]
    fn encodings_of_16_bits() {
        #[rustfmt::skip]
        let table: &[(u16, Class, u8, i32)] = &[
            (0xa201, InferableJump, 0, 0x100),          // c.j .+0x100
            (0xb001, InferableJump, 0, -2048),          // c.j .-2048
            (0xaffd, InferableJump, 0, 2046),           // c.j .+2046
            (0xc005, Branch, 0, 0x20),                  // c.beqz x8, .+0x20
            (0xf081, Branch, 0, -256),                  // c.bnez x9, .-256
            (0xeffd, Branch, 0, 254),                   // c.bnez x15, .+254
            (0x8082, Return, 1, 0),                     // c.jr x1
            (0x8282, Return, 5, 0),                     // c.jr x5
            (0x8502, UninferableJump, 10, 0),           // c.jr x10
            (0x8002, Straight, 0, 0),                   // c.jr x0: reserved
            (0x9282, CoroutineSwap, 5, 0),              // c.jalr x5
            (0x9082, UninferableCall, 1, 0),            // c.jalr x1
            (0x9502, UninferableCall, 10, 0),           // c.jalr x10
            (0x9002, EnvironmentCall, 0, 0),            // c.ebreak
            (0x808a, Straight, 0, 0),                   // c.mv x1, x2
            (0x908a, Straight, 0, 0),                   // c.add x1, x2
            (0x62fd, LoadUpper, 5, 0x1_f000),           // c.lui x5, 0x1f
            (0x7301, LoadUpper, 6, -0x2_0000),          // c.lui x6, 0xfffe0
            (0x6081, Straight, 0, 0),                   // c.mop.1
            (0x6105, Straight, 0, 0),                   // c.addi16sp
            (0x0085, Straight, 0, 0),                   // c.addi x1, 1
            (0x0001, Straight, 0, 0),                   // c.nop
            (0x4082, Straight, 0, 0),                   // c.lwsp x1, 0(sp)
            (0xe006, Straight, 0, 0),                   // c.sdsp x1, 0(sp)
            (0x2082, Straight, 0, 0),                   // c.fldsp f1, 0(sp)
            (0x0000, Straight, 0, 0),                   // illegal, but of known length
        ];
        for &(code, class, register, immediate) in table {
            let expected = Instruction { class, length: 2, register, absolute: false, immediate };
            for set in [RV32, RV64, ZCM] {
                assert_eq!(set.decode(code, None), expected, "{code:#06x}");
            }
        }
    }

    #[test]
    fn the_same_bits_mean_different_things_to_different_harts() {
        // c.jal .+0x100 and .-2, c.addiw x1, 1
        let call = |immediate| Instruction { class: InferableCall, immediate, ..Instruction::straight(2) };
        assert_eq!(RV32.decode(0x2201, None), call(0x100));
        assert_eq!(RV32.decode(0x3ffd, None), call(-2));
        assert_eq!(RV64.decode(0x2085, None).class, Straight);
        // c.fsdsp, or what Zcmp and Zcmt put in its place.
        for (code, class) in [
            (0xb852, Straight),        // cm.push {ra, s0}, -16
            (0xba42, Straight),        // cm.pop {ra}, 16
            (0xbc42, Return),          // cm.popretz {ra}, 16
            (0xbe62, Return),          // cm.popret {ra, s0-s1}, 16
            (0xac22, Straight),        // cm.mvsa01 s0, s0
            (0xa002, UninferableJump), // cm.jt 0
            (0xa07e, UninferableJump), // cm.jt 31
            (0xa082, UninferableCall), // cm.jalt 32
            (0xa3fe, UninferableCall), // cm.jalt 255
        ] {
            assert_eq!(RV32.decode(code, None).class, Straight, "{code:#06x}");
            assert_eq!(ZCM.decode(code, None).class, class, "{code:#06x}");
        }
    }

    #[test]
    fn an_instruction_needs_all_its_bytes_and_a_legal_length() {
        assert_eq!(RV32.decode(0x0013, None), Instruction::MISSING);
        assert_eq!(RV32.decode(0x001f, Some(0)), Instruction::MISSING);
        assert_eq!(RV32.decode(0xffff, Some(0xffff)), Instruction::MISSING);
    }
}
