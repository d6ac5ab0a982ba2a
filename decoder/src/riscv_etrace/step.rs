//! The successor of one instruction in the flow (ET 11).

use super::instruction::Class;
use super::program_map::ProgramMap;
use super::slot::Slot;
use super::walker::Walker;

/// Where the flow goes from an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// To this address, by the instruction alone.
    To(u64),
    /// To this address, which the instruction before it loaded.
    Sequential(u64),
    /// To this address, where the latest call came from.
    ImplicitReturn(u64),
    /// To the first address if the branch is taken, else to the second.
    Branch(u64, u64),
    /// To an address that only a packet can supply.
    Discontinuity,
}

impl Walker {
    /// Where the flow goes from the pc, whose instruction is `slot`. `depth` is the `irdepth` or `irets` that the
    /// packet reports: the return that it refers to is not implicit. Tests in the order of ET 11.
    #[inline]
    pub(super) fn step(&self, map: &ProgramMap, slot: &Slot, depth: Option<u32>) -> Step {
        let next = self.offset(self.pc, u64::from(slot.length));
        match slot.class {
            class if class.is_inferable_jump() => Step::To(slot.target(self.pc) & self.mask),
            Class::Branch => Step::Branch(slot.target(self.pc) & self.mask, next),
            Class::TrapReturn => Step::Discontinuity,
            class if class.is_uninferable_jump() => self.uninferable(map, slot, depth),
            _ => Step::To(next),
        }
    }

    /// Spec: RVET-DEC-032, RVET-DEC-036 (ET 11).
    #[inline]
    fn uninferable(&self, map: &ProgramMap, slot: &Slot, depth: Option<u32>) -> Step {
        let is_return = slot.class == Class::Return;
        if self.modes().sijump
            && (self.infers_returns || !is_return)
            && let Some(target) = self.sequential_target(map, slot)
        {
            return Step::Sequential(target);
        }
        if self.modes().implicit_return
            && is_return
            && !self.is_reported_return(depth)
            && let Some(link) = self.returns.top()
        {
            return Step::ImplicitReturn(link);
        }
        Step::Discontinuity
    }

    /// The target of a jump through the register that the instruction before it loaded. Spec: RVET-DEC-034 (ET 11).
    fn sequential_target(&self, map: &ProgramMap, jump: &Slot) -> Option<u64> {
        if self.last_pc == self.pc || jump.register == 0 {
            return None;
        }
        let last = map.slot(map.locate(self.last_pc)?);
        let base = match last.class {
            Class::LoadUpper => 0,
            Class::LoadUpperPc => self.last_pc,
            _ => return None,
        };
        let target = |slot: &Slot, base: u64| base.wrapping_add_signed(i64::from(slot.immediate));
        (last.register == jump.register).then(|| target(jump, target(last, base)) & !1 & self.mask)
    }
}
