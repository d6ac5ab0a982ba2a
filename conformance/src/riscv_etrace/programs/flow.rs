//! Where may an execution go next? Instruction lengths and control flow of the RISC-V ISA, read for this
//! check alone.
//!
//! Unprivileged ISA 2.5 (control transfer), 26 (compressed); privileged ISA 3.3.2 (trap return), 3.1.6.1
//! (privilege stack).

use std::fmt;

use traceproof_vectors::riscv_etrace::{Retire, Step, Trap, Xlen};
use traceproof_vectors::{MemorySpace, Program};

/// An instruction as control flow sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlowInstruction {
    /// Size in bytes: 2 or 4.
    pub size: u8,
    /// Where it goes.
    pub kind: FlowKind,
}

/// Where an instruction goes when it retires.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FlowKind {
    /// To the next instruction.
    Next,
    /// There, or to the next instruction.
    Branch(u64),
    /// There.
    Jump(u64),
    /// To an address from a register.
    Indirect,
    /// `mret`: to `mepc`, at the level in `mstatus.MPP`.
    MachineReturn,
    /// `sret`: to `sepc`, at the level in `mstatus.SPP`.
    SupervisorReturn,
    /// `ecall`, `ebreak`: traps and never retires.
    Trapping,
}

/// Every instruction of a program, decoded once.
#[derive(Clone, Debug)]
pub struct FlowMap {
    /// First address, and what stands at every half-word from there on; `None` where no instruction can
    /// start.
    sections: Vec<(u64, Vec<Option<FlowInstruction>>)>,
    mask: u64,
}

impl FlowMap {
    /// Decodes a program. Sections at odd addresses hold no instructions.
    #[must_use]
    pub fn new(program: &Program, xlen: Xlen) -> Self {
        Self::with_zcm(program, xlen, false)
    }

    /// Decodes a program of a hart that may have Zcmp and Zcmt (`zcm`), whose encodings take the place of `c.fsdsp`.
    #[must_use]
    pub fn with_zcm(program: &Program, xlen: Xlen, zcm: bool) -> Self {
        let mask = if xlen == Xlen::Rv32 { 0xffff_ffff } else { u64::MAX };
        let decode_section = |section: &traceproof_vectors::Section| {
            let halves: Vec<u16> =
                section.bytes.chunks_exact(2).map(|half| u16::from_le_bytes([half[0], half[1]])).collect();
            let instructions = (0..halves.len())
                .map(|index| {
                    let address = section.address.wrapping_add(2 * index as u64);
                    let low = *halves.get(index)?;
                    if zcm && leaves_by_register(low) {
                        return Some(FlowInstruction { size: 2, kind: FlowKind::Indirect });
                    }
                    decode(address.0, low, halves.get(index + 1).copied(), xlen, mask)
                })
                .collect();
            (section.address.0, instructions)
        };
        let sections = program
            .seen_in(MemorySpace::ANY)
            .sections()
            .iter()
            .filter(|section| section.address.0 & 1 == 0)
            .map(decode_section)
            .collect();
        Self { sections, mask }
    }

    /// The instruction at an address; `None` where no code is.
    #[must_use]
    pub fn at(&self, address: u64) -> Option<FlowInstruction> {
        let section = self.sections.partition_point(|(first, _)| *first <= address);
        let (first, instructions) = self.sections.get(section.checked_sub(1)?)?;
        let offset = address - first;
        if offset & 1 != 0 {
            return None;
        }
        instructions.get(usize::try_from(offset >> 1).ok()?).copied().flatten()
    }

    /// The address after an instruction.
    #[must_use]
    pub const fn next_address(&self, address: u64, instruction: FlowInstruction) -> u64 {
        address.wrapping_add(instruction.size as u64) & self.mask
    }

    /// Whether the instruction at an address may go on to `next`.
    fn leads(&self, address: u64, instruction: FlowInstruction, next: u64) -> bool {
        match instruction.kind {
            FlowKind::Next => next == self.next_address(address, instruction),
            FlowKind::Branch(target) => next == target || next == self.next_address(address, instruction),
            FlowKind::Jump(target) => next == target,
            FlowKind::Indirect | FlowKind::MachineReturn | FlowKind::SupervisorReturn => true,
            FlowKind::Trapping => false,
        }
    }
}

fn decode(address: u64, low: u16, high: Option<u16>, xlen: Xlen, mask: u64) -> Option<FlowInstruction> {
    let to = |offset: i32| address.wrapping_add_signed(offset.into()) & mask;
    match low & 0b11 {
        0b11 if low & 0b1_1100 == 0b1_1100 => None,
        0b11 => {
            let kind = full(u32::from(high?) << 16 | u32::from(low), to);
            Some(FlowInstruction { size: 4, kind })
        }
        _ => Some(FlowInstruction { size: 2, kind: compressed(low, xlen, to) }),
    }
}

/// `cm.jt`, `cm.jalt`, `cm.popretz`, `cm.popret` (Zc 1.0: 101000, 10111100 and 10111110 from bit 15 down, quadrant 2).
const fn leaves_by_register(half: u16) -> bool {
    half & 0b11 == 0b10 && matches!(half >> 8, 0xa0..=0xa3 | 0xbc | 0xbe)
}

/// Bit `from` of `word`, moved to position `to`; several bits with `width`.
const fn bits(word: u32, from: u32, width: u32, to: u32) -> u32 {
    (word >> from & ((1 << width) - 1)) << to
}

/// Sign-extends the low `width` bits.
const fn signed(value: u32, width: u32) -> i32 {
    (value << (32 - width)).cast_signed() >> (32 - width)
}

fn full(word: u32, to: impl Fn(i32) -> u64) -> FlowKind {
    match word & 0x7f {
        0x63 => {
            let offset =
                bits(word, 31, 1, 12) | bits(word, 7, 1, 11) | bits(word, 25, 6, 5) | bits(word, 8, 4, 1);
            FlowKind::Branch(to(signed(offset, 13)))
        }
        0x6f => {
            let offset =
                bits(word, 31, 1, 20) | bits(word, 12, 8, 12) | bits(word, 20, 1, 11) | bits(word, 21, 10, 1);
            FlowKind::Jump(to(signed(offset, 21)))
        }
        0x67 => FlowKind::Indirect,
        0x73 => match word {
            0x0000_0073 | 0x0010_0073 => FlowKind::Trapping,
            0x1020_0073 => FlowKind::SupervisorReturn,
            // mret, and uret, dret, mnret, which go where a register says as well.
            0x3020_0073 | 0x0020_0073 | 0x7b20_0073 | 0x7020_0073 => FlowKind::MachineReturn,
            _ => FlowKind::Next,
        },
        _ => FlowKind::Next,
    }
}

fn compressed(half: u16, xlen: Xlen, to: impl Fn(i32) -> u64) -> FlowKind {
    let word = u32::from(half);
    match (half & 0b11, half >> 13) {
        // c.jal exists on RV32 only; its encoding is c.addiw on RV64.
        (0b01, 0b001) if xlen == Xlen::Rv64 => FlowKind::Next,
        (0b01, 0b101 | 0b001) => {
            let offset = bits(word, 12, 1, 11)
                | bits(word, 11, 1, 4)
                | bits(word, 9, 2, 8)
                | bits(word, 8, 1, 10)
                | bits(word, 7, 1, 6)
                | bits(word, 6, 1, 7)
                | bits(word, 3, 3, 1)
                | bits(word, 2, 1, 5);
            FlowKind::Jump(to(signed(offset, 12)))
        }
        (0b01, 0b110 | 0b111) => {
            let offset = bits(word, 12, 1, 8)
                | bits(word, 10, 2, 3)
                | bits(word, 5, 2, 6)
                | bits(word, 3, 2, 1)
                | bits(word, 2, 1, 5);
            FlowKind::Branch(to(signed(offset, 9)))
        }
        (0b10, 0b100) if half & 0x7c == 0 => match (half >> 12 & 1, half >> 7 & 0x1f) {
            (1, 0) => FlowKind::Trapping,
            (_, 1..) => FlowKind::Indirect,
            _ => FlowKind::Next,
        },
        _ => FlowKind::Next,
    }
}

/// A step that no hart can take.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IllegalFlow {
    /// Index of the step, retirements and traps counted from 0.
    pub step: u64,
    /// Its address or EPC.
    pub address: u64,
    /// What is wrong with it.
    pub reason: &'static str,
}

impl fmt::Display for IllegalFlow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "step {} at {:#x}: {}", self.step, self.address, self.reason)
    }
}

impl std::error::Error for IllegalFlow {}

/// Checks step by step that an execution is one of the program.
#[derive(Clone, Debug)]
pub struct FlowCheck<'a> {
    map: &'a FlowMap,
    previous: Previous,
    steps: u64,
}

#[derive(Clone, Copy, Debug)]
enum Previous {
    Nothing,
    Retire { address: u64, instruction: FlowInstruction, privilege: u8 },
    Trap { privilege: u8 },
}

impl<'a> FlowCheck<'a> {
    /// A check that has seen nothing.
    #[must_use]
    pub const fn new(map: &'a FlowMap) -> Self {
        Self { map, previous: Previous::Nothing, steps: 0 }
    }

    /// Checks the next step.
    ///
    /// # Errors
    ///
    /// When there is no code at a retirement, when it cannot follow the step before it, or when the privilege
    /// level changes by itself.
    pub fn step(&mut self, step: &Step) -> Result<(), IllegalFlow> {
        let (address, previous) = match step {
            Step::Retire(retire) => (retire.address, self.retire(retire)),
            Step::Trap(trap) => (trap.epc, self.trap(trap)),
            Step::Stimulus(_) => return Ok(()),
        };
        self.previous =
            previous.map_err(|reason| IllegalFlow { step: self.steps, address: address.0, reason })?;
        self.steps += 1;
        Ok(())
    }

    /// Goes on after a retirement that can follow the latest step and was not checked.
    pub(in crate::riscv_etrace) fn resume(&mut self, address: u64, privilege: u8) {
        if let Some(instruction) = self.map.at(address) {
            self.previous = Previous::Retire { address, instruction, privilege };
        }
    }

    fn retire(&self, retire: &Retire) -> Result<Previous, &'static str> {
        let Retire { address, privilege, .. } = *retire;
        let instruction = self.map.at(address.0).ok_or("no code")?;
        if instruction.kind == FlowKind::Trapping {
            return Err("ecall and ebreak do not retire");
        }
        match self.previous {
            Previous::Nothing => {}
            Previous::Retire { .. } => self.follows(address.0, privilege)?,
            Previous::Trap { privilege: before } if privilege < before || privilege == 0 => {
                return Err("the handler is less privileged than what it interrupted, or U");
            }
            Previous::Trap { .. } => {}
        }
        Ok(Previous::Retire { address: address.0, instruction, privilege })
    }

    fn trap(&self, trap: &Trap) -> Result<Previous, &'static str> {
        match self.previous {
            Previous::Retire { .. } => self.follows(trap.epc.0, trap.privilege)?,
            Previous::Trap { privilege } if trap.privilege < privilege => {
                return Err("a trap lowered the privilege level");
            }
            Previous::Nothing | Previous::Trap { .. } => {}
        }
        let calls = !trap.interrupt && matches!(trap.cause, 3 | 8..=11);
        if calls && self.map.at(trap.epc.0).is_none_or(|instruction| instruction.kind != FlowKind::Trapping) {
            return Err("no ecall or ebreak where one trapped");
        }
        if !trap.interrupt && (8..=11).contains(&trap.cause) && trap.cause != 8 + u64::from(trap.privilege) {
            return Err("ecall from another level than its cause says");
        }
        Ok(Previous::Trap { privilege: trap.privilege })
    }

    /// Whether control can be at `next`, at this level, after the latest retirement.
    fn follows(&self, next: u64, privilege: u8) -> Result<(), &'static str> {
        let Previous::Retire { address, instruction, privilege: before } = self.previous else {
            return Ok(());
        };
        if !self.map.leads(address, instruction, next) {
            return Err("the instruction before it does not lead here");
        }
        match instruction.kind {
            FlowKind::MachineReturn | FlowKind::SupervisorReturn if privilege > before => {
                Err("a trap return raised the privilege level")
            }
            FlowKind::MachineReturn | FlowKind::SupervisorReturn => Ok(()),
            _ if privilege != before => Err("the privilege level changed by itself"),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use traceproof_vectors::Address;

    use super::*;
    use traceproof_vectors::Section;

    /// Instruction words as GNU `as` makes them, with targets read off `objdump`.
    #[test]
    fn instructions_are_classified() {
        let at = |bytes: &[u8], xlen| {
            let mut program = Program::new();
            let section = Section::new(0x1000, bytes.to_vec(), "");
            program.insert(section).expect("free");
            FlowMap::new(&program, xlen).at(0x1000).map(|instruction| (instruction.size, instruction.kind))
        };
        let rv64 = |word: u32| at(&word.to_le_bytes(), Xlen::Rv64);
        let short = |half: u16| at(&half.to_le_bytes(), Xlen::Rv64);
        assert_eq!(rv64(0x0000_0013), Some((4, FlowKind::Next)));
        assert_eq!(rv64(0xfe00_0ee3), Some((4, FlowKind::Branch(0xffc))), "beq zero, zero, .-4");
        assert_eq!(rv64(0xffdf_f0ef), Some((4, FlowKind::Jump(0xffc))), "jal .-4");
        assert_eq!(rv64(0x0000_8067), Some((4, FlowKind::Indirect)), "ret");
        assert_eq!(rv64(0x3020_0073), Some((4, FlowKind::MachineReturn)));
        assert_eq!(rv64(0x1020_0073), Some((4, FlowKind::SupervisorReturn)));
        assert_eq!(rv64(0x0010_0073), Some((4, FlowKind::Trapping)), "ebreak");
        assert_eq!(rv64(0x3000_2573), Some((4, FlowKind::Next)), "csrr a0, mstatus");
        assert_eq!(short(0xbff5), Some((2, FlowKind::Jump(0xffc))), "c.j .-4");
        assert_eq!(short(0xdd75), Some((2, FlowKind::Branch(0xffc))), "c.beqz a0, .-4");
        assert_eq!(short(0x8082), Some((2, FlowKind::Indirect)), "c.jr ra");
        assert_eq!(short(0x9302), Some((2, FlowKind::Indirect)), "c.jalr t1");
        assert_eq!(short(0x9002), Some((2, FlowKind::Trapping)), "c.ebreak");
        assert_eq!(short(0x852e), Some((2, FlowKind::Next)), "c.mv a0, a1");
        assert_eq!(short(0x2001), Some((2, FlowKind::Next)), "c.addiw zero, 0 is reserved, but no jump");
        assert_eq!(at(&[0x01, 0x20], Xlen::Rv32), Some((2, FlowKind::Jump(0x1000))), "c.jal .");
        assert_eq!(short(0x0073), None, "the second half is missing");
        assert_eq!(short(0x001f), None, "longer than 4 bytes");
    }

    #[test]
    fn illegal_steps_are_reported() {
        let mut program = Program::new();
        // 0x1000 nop; 0x1004 ecall; 0x1008 mret
        let bytes =
            [0x0000_0013_u32, 0x0000_0073, 0x3020_0073].into_iter().flat_map(u32::to_le_bytes).collect();
        program.insert(Section::new(0x1000, bytes, "")).expect("free");
        let map = FlowMap::new(&program, Xlen::Rv32);
        let retire = |address, privilege| Step::Retire(Retire { address, privilege, ..Retire::default() });
        let trap = |cause, epc, privilege| Step::Trap(Trap { cause, epc, privilege, ..Trap::default() });
        let check = |steps: &[Step]| {
            let mut check = FlowCheck::new(&map);
            steps.iter().try_for_each(|step| check.step(step)).map_err(|error| (error.step, error.reason))
        };
        assert_eq!(
            check(&[
                retire(Address(0x1000), 0),
                trap(8, Address(0x1004), 0),
                retire(Address(0x1008), 3),
                retire(Address(0x1000), 0)
            ]),
            Ok(())
        );
        assert_eq!(check(&[retire(Address(0x100c), 3)]), Err((0, "no code")));
        assert_eq!(check(&[retire(Address(0x1004), 3)]), Err((0, "ecall and ebreak do not retire")));
        let skips = [retire(Address(0x1000), 3), retire(Address(0x1008), 3)];
        assert_eq!(check(&skips), Err((1, "the instruction before it does not lead here")));
        let raises = [retire(Address(0x1008), 0), retire(Address(0x1000), 3)];
        assert_eq!(check(&raises), Err((1, "a trap return raised the privilege level")));
        let wrong = [retire(Address(0x1000), 0), trap(9, Address(0x1004), 0)];
        assert_eq!(check(&wrong), Err((1, "ecall from another level than its cause says")));
        let late = [retire(Address(0x1000), 0), trap(2, Address(0x1000), 0)];
        assert_eq!(check(&late), Err((1, "the instruction before it does not lead here")));
    }
}
