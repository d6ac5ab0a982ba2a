//! What the program map knows of one half-word.

use super::instruction::{Class, Instruction};

/// What an instruction that starts at this half-word would be, and where straight code from here leads.
#[derive(Clone, Copy, Debug)]
pub(super) struct Slot {
    pub(super) immediate: i32,
    /// Half-words from here to the first instruction that is not straight, or to where code ends; 0 if this is it.
    pub(super) run: u32,
    /// Straight: instructions in that run. Inferable jump: see [`Slot::laps`].
    pub(super) count: u32,
    pub(super) class: Class,
    pub(super) length: u8,
    pub(super) register: u8,
    pub(super) absolute: bool,
}

impl Slot {
    pub(super) const MISSING: Self = Self::new(Instruction::MISSING);

    pub(super) const fn new(instruction: Instruction) -> Self {
        Self {
            immediate: instruction.immediate,
            run: 0,
            count: 0,
            class: instruction.class,
            length: instruction.length,
            register: instruction.register,
            absolute: instruction.absolute,
        }
    }

    /// Straight instructions from here to the end of the run.
    #[inline]
    pub(super) const fn count(&self) -> u32 {
        if self.run > 0 { self.count } else { 0 }
    }

    /// Of an inferable jump that leads into an infinite loop of inferable jumps: how many different ones are followed,
    /// this one included, before one is followed again. 0 where a branch, an uninferable discontinuity or missing code
    /// ends the way.
    #[inline]
    pub(super) const fn laps(&self) -> u32 {
        if self.run > 0 { 0 } else { self.count }
    }

    /// Where an inferable jump or taken branch at `address` goes, before it is cut to the address width.
    #[inline]
    pub(super) const fn target(&self, address: u64) -> u64 {
        let base = if self.absolute { 0 } else { address };
        base.wrapping_add_signed(self.immediate as i64)
    }
}
