//! The few instructions that generated programs consist of, with their machine code.

/// What a generated instruction does. Targets are byte offsets from the instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Goes on at the next instruction.
    Plain,
    /// `auipc t1, 0`: goes on at the next instruction, with its own address in `t1`.
    UpperImmediate,
    /// Conditional branch.
    Branch(i32),
    /// Jump without linkage, target in the opcode.
    Jump(i32),
    /// Call, target in the opcode.
    Call(i32),
    /// `jalr x0, offset(t1)`: any target, but directly after an [`UpperImmediate`](Self::UpperImmediate) the one at
    /// that offset from it.
    IndirectJump(i32),
    /// `jalr ra, offset(t1)`: likewise.
    IndirectCall(i32),
    /// `jalr x0, 0(ra)`: any target.
    Return,
    /// `jalr ra, 0(t0)`: any target.
    CoroutineSwap,
    /// `mret`: any target, any privilege.
    TrapReturn,
    /// `ecall`: never retires, always traps.
    EnvironmentCall,
}

/// An instruction and its size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Instruction {
    /// What it does.
    pub kind: Kind,
    /// 2-byte encoding instead of the 4-byte one.
    pub compressed: bool,
}

impl Instruction {
    /// Size in bytes.
    #[must_use]
    pub const fn size(self) -> u64 {
        if self.compressed { 2 } else { 4 }
    }

    /// Whether a 2-byte encoding of this kind exists on RV32 and RV64 alike.
    #[must_use]
    pub const fn can_compress(kind: Kind) -> bool {
        !matches!(
            kind,
            Kind::Call(_)
                | Kind::UpperImmediate
                | Kind::CoroutineSwap
                | Kind::TrapReturn
                | Kind::EnvironmentCall
        )
    }

    /// The offset from a directly preceding [`Kind::UpperImmediate`] to which an indirect jump goes.
    #[must_use]
    pub const fn sequential_offset(self) -> Option<i32> {
        match self.kind {
            // The 2-byte forms have no offset field.
            Kind::IndirectJump(_) | Kind::IndirectCall(_) if self.compressed => Some(0),
            Kind::IndirectJump(offset) | Kind::IndirectCall(offset) => Some(offset),
            _ => None,
        }
    }

    /// Machine code, little-endian.
    #[must_use]
    pub fn bytes(self) -> Vec<u8> {
        if self.compressed {
            self.half_word().to_le_bytes().to_vec()
        } else {
            self.word().to_le_bytes().to_vec()
        }
    }

    fn word(self) -> u32 {
        const fn jal(rd: u32, offset: i32) -> u32 {
            let o = offset.cast_unsigned();
            (o >> 20 & 1) << 31
                | (o >> 1 & 0x3ff) << 21
                | (o >> 11 & 1) << 20
                | (o >> 12 & 0xff) << 12
                | rd << 7
                | 0x6f
        }
        const fn jalr(rd: u32, rs1: u32, offset: i32) -> u32 {
            (offset.cast_unsigned() & 0xfff) << 20 | rs1 << 15 | rd << 7 | 0x67
        }
        match self.kind {
            Kind::Plain => 0x0000_0013,
            Kind::Branch(offset) => {
                let o = offset.cast_unsigned();
                // beq a0, a1, offset
                (o >> 12 & 1) << 31
                    | (o >> 5 & 0x3f) << 25
                    | 11 << 20
                    | 10 << 15
                    | (o >> 1 & 0xf) << 8
                    | (o >> 11 & 1) << 7
                    | 0x63
            }
            Kind::Jump(offset) => jal(0, offset),
            Kind::Call(offset) => jal(1, offset),
            Kind::UpperImmediate => 0x0000_0317,
            Kind::IndirectJump(offset) => jalr(0, 6, offset),
            Kind::IndirectCall(offset) => jalr(1, 6, offset),
            Kind::Return => jalr(0, 1, 0),
            Kind::CoroutineSwap => jalr(1, 5, 0),
            Kind::TrapReturn => 0x3020_0073,
            Kind::EnvironmentCall => 0x0000_0073,
        }
    }

    fn half_word(self) -> u16 {
        match self.kind {
            Kind::Branch(offset) => {
                let o = offset.cast_unsigned();
                // c.beqz a0, offset
                (0b110 << 13
                    | (o >> 8 & 1) << 12
                    | (o >> 3 & 3) << 10
                    | 2 << 7
                    | (o >> 6 & 3) << 5
                    | (o >> 1 & 3) << 3
                    | (o >> 5 & 1) << 2
                    | 1) as u16
            }
            Kind::Jump(offset) => {
                let o = offset.cast_unsigned();
                // c.j offset
                (0b101 << 13
                    | (o >> 11 & 1) << 12
                    | (o >> 4 & 1) << 11
                    | (o >> 8 & 3) << 9
                    | (o >> 10 & 1) << 8
                    | (o >> 6 & 1) << 7
                    | (o >> 7 & 1) << 6
                    | (o >> 1 & 7) << 3
                    | (o >> 5 & 1) << 2
                    | 1) as u16
            }
            // c.jr t1, c.jalr t1, c.jr ra
            Kind::IndirectJump(_) => 0x8302,
            Kind::IndirectCall(_) => 0x9302,
            Kind::Return => 0x8082,
            // c.nop
            Kind::Plain
            | Kind::UpperImmediate
            | Kind::Call(_)
            | Kind::CoroutineSwap
            | Kind::TrapReturn
            | Kind::EnvironmentCall => 0x0001,
        }
    }
}
