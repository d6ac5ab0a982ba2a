//! From machine code to the classes of ET 4.1.1.

use traceproof_vectors::riscv_etrace::{Itype, Parameters, Xlen};

/// What the ingress port needs to know about an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Instruction {
    /// Length in half-words: 1 or 2.
    pub halfwords: u8,
    /// What it does to the flow.
    pub class: Class,
}

/// What an instruction does to the flow (ET 4.1.1, RVET-ING-010).
///
/// `base` is the register that holds the target of an uninferable jump, 0 where there is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// Nothing special.
    Other,
    /// `lui`, `c.lui` or `auipc` to the register `destination` (not 0): a jump after it may be sequentially inferable.
    UpperImmediate {
        /// The register that it writes.
        destination: u8,
    },
    /// Conditional branch.
    Branch,
    /// Call with its target in the opcode.
    InferableCall,
    /// Jump without linkage, target in the opcode.
    InferableJump,
    /// Any other jump with its target in the opcode.
    OtherInferableJump,
    /// Call through a register or table.
    UninferableCall {
        /// The target's register.
        base: u8,
    },
    /// Jump without linkage through a register or table.
    UninferableJump {
        /// The target's register.
        base: u8,
    },
    /// Links one of `x1`, `x5` and jumps through the other.
    CoroutineSwap {
        /// The target's register.
        base: u8,
    },
    /// Jumps through `x1` or `x5` and links neither.
    Return {
        /// The target's register.
        base: u8,
    },
    /// Any other jump with linkage through a register.
    OtherUninferableJump {
        /// The target's register.
        base: u8,
    },
    /// Return from a trap.
    TrapReturn,
}

/// What of the instruction set cannot be seen in the encoding itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Isa {
    /// Register width: `c.jal` exists on RV32 only.
    pub xlen: Xlen,
    /// Zcmp and Zcmt share their encodings with the compressed double-precision store `c.fsdsp` of other harts.
    pub zcm: bool,
}

impl Isa {
    /// The instruction set of a hart with these parameters.
    #[must_use]
    pub const fn new(parameters: &Parameters) -> Self {
        Self { xlen: parameters.xlen, zcm: parameters.zcmp_zcmt }
    }
}

impl Instruction {
    /// Reads the instruction at the start of `code`. `None` if it is cut off, or longer than 32 bits.
    #[must_use]
    pub fn read(code: &[u8], isa: Isa) -> Option<Self> {
        let (low, rest) = code.split_first_chunk::<2>()?;
        let low = u16::from_le_bytes(*low);
        if low & 0b11 != 0b11 {
            return Some(Self { halfwords: 1, class: compressed(low, isa) });
        }
        if low & 0b1_1100 == 0b1_1100 {
            return None;
        }
        let high = u16::from_le_bytes(*rest.first_chunk::<2>()?);
        Some(Self { halfwords: 2, class: word(u32::from(high) << 16 | u32::from(low)) })
    }
}

impl Class {
    /// The itype of a block that ends with this instruction; `taken` counts for branches only.
    ///
    /// Spec: RVET-ING-001, RVET-ING-011 (ET 4.2).
    #[must_use]
    pub const fn itype(self, taken: bool, itype_width: u8) -> Itype {
        let narrow = itype_width < 4;
        match self {
            Self::Other | Self::UpperImmediate { .. } => Itype::Nothing,
            Self::Branch if taken => Itype::BranchTaken,
            Self::Branch => Itype::BranchNotTaken,
            Self::TrapReturn => Itype::TrapReturn,
            Self::InferableCall | Self::InferableJump | Self::OtherInferableJump if narrow => Itype::Nothing,
            Self::InferableCall => Itype::InferableCall,
            Self::InferableJump => Itype::InferableJump,
            Self::OtherInferableJump => Itype::OtherInferableJump,
            _ if narrow => Itype::UninferableJumpAny,
            Self::UninferableCall { .. } => Itype::UninferableCall,
            Self::UninferableJump { .. } => Itype::UninferableJump,
            Self::CoroutineSwap { .. } => Itype::CoroutineSwap,
            Self::Return { .. } => Itype::Return,
            Self::OtherUninferableJump { .. } => Itype::OtherUninferableJump,
        }
    }

    /// Whether a block must end here. Spec: RVET-ING-009 (ET 4.2).
    #[must_use]
    pub const fn ends_block(self) -> bool {
        !matches!(self, Self::Other | Self::UpperImmediate { .. })
    }

    /// The register that it writes as upper immediate; 0 where there is none.
    pub(super) const fn upper(self) -> u8 {
        match self {
            Self::UpperImmediate { destination } => destination,
            _ => 0,
        }
    }

    /// The register that holds the target of an uninferable jump; 0 where there is none.
    #[must_use]
    pub const fn base(self) -> u8 {
        match self {
            Self::UninferableCall { base }
            | Self::UninferableJump { base }
            | Self::CoroutineSwap { base }
            | Self::Return { base }
            | Self::OtherUninferableJump { base } => base,
            _ => 0,
        }
    }
}

const fn links(register: u8) -> bool {
    matches!(register, 1 | 5)
}

/// `jal` and its kind. Spec: RVET-ING-010 (ET 4.1.1).
const fn direct(rd: u8) -> Class {
    match rd {
        0 => Class::InferableJump,
        1 | 5 => Class::InferableCall,
        _ => Class::OtherInferableJump,
    }
}

/// `jalr` and its kind. Spec: RVET-ING-010 (ET 4.1.1).
const fn indirect(rd: u8, base: u8) -> Class {
    // `jalr rd, imm(x0)`: the target is a constant in the opcode.
    if base == 0 {
        return direct(rd);
    }
    match (links(rd), links(base)) {
        (true, true) if rd != base => Class::CoroutineSwap { base },
        (true, _) => Class::UninferableCall { base },
        (false, true) => Class::Return { base },
        (false, false) if rd == 0 => Class::UninferableJump { base },
        (false, false) => Class::OtherUninferableJump { base },
    }
}

const fn upper_immediate(rd: u8) -> Class {
    if rd == 0 { Class::Other } else { Class::UpperImmediate { destination: rd } }
}

fn word(code: u32) -> Class {
    let rd = (code >> 7 & 31) as u8;
    let rs1 = (code >> 15 & 31) as u8;
    let funct3 = code >> 12 & 7;
    match code & 0x7f {
        0x37 | 0x17 => upper_immediate(rd),
        0x63 if !matches!(funct3, 2 | 3) => Class::Branch,
        0x6f => direct(rd),
        0x67 if funct3 == 0 => indirect(rd, rs1),
        // uret, sret, mret, mnret, dret
        0x73 if matches!(code, 0x0020_0073 | 0x1020_0073 | 0x3020_0073 | 0x7020_0073 | 0x7b20_0073) => {
            Class::TrapReturn
        }
        _ => Class::Other,
    }
}

fn compressed(code: u16, isa: Isa) -> Class {
    let rd = (code >> 7 & 31) as u8;
    let rs2 = code >> 2 & 31;
    match (code & 0b11, code >> 13) {
        // c.jal; c.addiw on RV64
        (0b01, 0b001) if isa.xlen == Xlen::Rv32 => Class::InferableCall,
        // c.lui; c.addi16sp where rd is 2; reserved where the immediate is 0
        (0b01, 0b011) if rd != 2 && code & 0x107c != 0 => upper_immediate(rd),
        // c.j
        (0b01, 0b101) => Class::InferableJump,
        // c.beqz, c.bnez
        (0b01, 0b110 | 0b111) => Class::Branch,
        (0b10, 0b100) if rs2 == 0 && rd != 0 => {
            // c.jr, c.jalr
            indirect((code >> 12 & 1) as u8, rd)
        }
        (0b10, 0b101) if isa.zcm => table_jump_or_return(code),
        _ => Class::Other,
    }
}

/// Zcmp and Zcmt. The targets of table jumps come from memory.
const fn table_jump_or_return(code: u16) -> Class {
    match code >> 8 & 0x1f {
        // cm.jt, cm.jalt
        0b0_0000..=0b0_0011 => {
            if code >> 2 & 0xff < 32 {
                Class::UninferableJump { base: 0 }
            } else {
                Class::UninferableCall { base: 0 }
            }
        }
        // cm.popretz, cm.popret
        0b1_1100 | 0b1_1110 => Class::Return { base: 0 },
        _ => Class::Other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn class(code: u32, isa: Isa) -> Class {
        Instruction::read(&code.to_le_bytes(), isa).expect("an instruction").class
    }

    /// Encodings put together by hand from the instruction formats of the ISA manual.
    #[test]
    fn classes_follow_the_table() {
        let rv32 = Isa { xlen: Xlen::Rv32, zcm: false };
        let rv64 = Isa { xlen: Xlen::Rv64, zcm: false };
        let zcm = Isa { xlen: Xlen::Rv32, zcm: true };
        let cases = [
            ("nop", 0x0000_0013, rv32, Class::Other),
            ("lui x5", 0x0000_12b7, rv32, Class::UpperImmediate { destination: 5 }),
            ("auipc x1", 0x0000_0097, rv32, Class::UpperImmediate { destination: 1 }),
            ("lui x0", 0x0000_1037, rv32, Class::Other),
            ("beq x0, x0", 0x0000_0063, rv32, Class::Branch),
            ("bgeu x0, x0", 0x0000_7063, rv32, Class::Branch),
            ("branch opcode with funct3 2", 0x0000_2063, rv32, Class::Other),
            ("jal x0", 0x0000_006f, rv32, Class::InferableJump),
            ("jal x1", 0x0000_00ef, rv32, Class::InferableCall),
            ("jal x5", 0x0000_02ef, rv32, Class::InferableCall),
            ("jal x6", 0x0000_036f, rv32, Class::OtherInferableJump),
            ("jalr x0, 0(x6)", 0x0003_0067, rv32, Class::UninferableJump { base: 6 }),
            ("jalr x1, 0(x6)", 0x0003_00e7, rv32, Class::UninferableCall { base: 6 }),
            ("jalr x1, 0(x1)", 0x0000_80e7, rv32, Class::UninferableCall { base: 1 }),
            ("jalr x5, 0(x5)", 0x0002_82e7, rv32, Class::UninferableCall { base: 5 }),
            ("jalr x1, 0(x5)", 0x0002_80e7, rv32, Class::CoroutineSwap { base: 5 }),
            ("jalr x5, 0(x1)", 0x0000_82e7, rv32, Class::CoroutineSwap { base: 1 }),
            ("jalr x0, 0(x1)", 0x0000_8067, rv32, Class::Return { base: 1 }),
            ("jalr x0, 0(x5)", 0x0002_8067, rv32, Class::Return { base: 5 }),
            ("jalr x6, 0(x5)", 0x0002_8367, rv32, Class::Return { base: 5 }),
            ("jalr x6, 0(x7)", 0x0003_8367, rv32, Class::OtherUninferableJump { base: 7 }),
            ("jalr x0, 0(x0)", 0x0000_0067, rv32, Class::InferableJump),
            ("mret", 0x3020_0073, rv32, Class::TrapReturn),
            ("sret", 0x1020_0073, rv32, Class::TrapReturn),
            ("ecall", 0x0000_0073, rv32, Class::Other),
            ("c.nop", 0x0001, rv32, Class::Other),
            ("c.jal or c.addiw", 0x2001, rv32, Class::InferableCall),
            ("c.jal or c.addiw", 0x2001, rv64, Class::Other),
            ("c.lui x5, 1", 0x6285, rv32, Class::UpperImmediate { destination: 5 }),
            ("c.lui x5, 0 (reserved)", 0x6281, rv32, Class::Other),
            ("c.addi16sp 16", 0x6141, rv32, Class::Other),
            ("c.j", 0xa001, rv32, Class::InferableJump),
            ("c.beqz x8", 0xc001, rv32, Class::Branch),
            ("c.bnez x8", 0xe001, rv32, Class::Branch),
            ("c.jr x1", 0x8082, rv32, Class::Return { base: 1 }),
            ("c.jr x6", 0x8302, rv32, Class::UninferableJump { base: 6 }),
            ("c.jalr x6", 0x9302, rv32, Class::UninferableCall { base: 6 }),
            ("c.jalr x5", 0x9282, rv32, Class::CoroutineSwap { base: 5 }),
            ("c.jalr x1", 0x9082, rv32, Class::UninferableCall { base: 1 }),
            ("c.ebreak", 0x9002, rv32, Class::Other),
            ("c.mv x1, x2", 0x808a, rv32, Class::Other),
            ("cm.popret {ra}, 16", 0xbe42, zcm, Class::Return { base: 0 }),
            ("cm.popretz {ra}, 16", 0xbc42, zcm, Class::Return { base: 0 }),
            ("cm.pop {ra}, 16", 0xba42, zcm, Class::Other),
            ("cm.jt 31", 0xa07e, zcm, Class::UninferableJump { base: 0 }),
            ("cm.jalt 32", 0xa082, zcm, Class::UninferableCall { base: 0 }),
            ("c.fsdsp f0, 0(sp)", 0xa002, rv64, Class::Other),
        ];
        for (name, code, isa, expected) in cases {
            assert_eq!(class(code, isa), expected, "{name}");
        }
    }

    #[test]
    fn lengths_come_from_the_lowest_bits() {
        let isa = Isa::default();
        assert_eq!(Instruction::read(&[0x01, 0x00], isa).map(|i| i.halfwords), Some(1));
        assert_eq!(Instruction::read(&[0x13, 0, 0, 0], isa).map(|i| i.halfwords), Some(2));
        assert_eq!(Instruction::read(&[0x13, 0], isa), None);
        assert_eq!(Instruction::read(&[0x01], isa), None);
        assert_eq!(Instruction::read(&[0x1f, 0, 0, 0, 0, 0], isa), None);
    }

    #[test]
    fn narrow_itypes_merge_classes() {
        let call = Class::UninferableCall { base: 6 };
        assert_eq!(call.itype(false, 4), Itype::UninferableCall);
        assert_eq!(call.itype(false, 3), Itype::UninferableJumpAny);
        assert_eq!(Class::Return { base: 1 }.itype(false, 3), Itype::UninferableJumpAny);
        assert_eq!(Class::InferableCall.itype(false, 4), Itype::InferableCall);
        assert_eq!(Class::InferableCall.itype(false, 3), Itype::Nothing);
        assert_eq!(Class::Branch.itype(true, 3), Itype::BranchTaken);
    }
}
