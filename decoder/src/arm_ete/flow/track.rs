//! The program in one instruction set, P0 instruction by P0 instruction.

use alloc::vec::Vec;

use traceproof_vectors::Program;
use traceproof_vectors::arm;
use traceproof_vectors::arm::{Barrier, InstructionClass};
use traceproof_vectors::arm_ete::Parameters;

use crate::arm::{Access, Instruction, InstructionSet, contiguous};

/// What a P0 instruction is to the flow, or that there is none (sheet 6.4 to 6.6).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// No instruction.
    Missing,
    /// Its target is known and lies in the same contiguous code, in the same instruction set.
    Near,
    /// Its target is known, in the same instruction set.
    Far,
    /// Its target is known, in the other one of A32 and T32.
    Exchange,
    /// Only the trace knows its target.
    Indirect,
}

/// The place of an instruction, and how far it is from there to the next P0 instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Step {
    /// Units from here to the next instruction that is a P0 instruction or missing; 0 if it is here.
    run: u32,
    /// Instructions in them.
    pub(super) count: u32,
    /// From that instruction to its target.
    offset: i32,
    /// Of that instruction.
    pub(super) kind: Kind,
    /// Of that instruction, but [`IF_THEN`].
    flags: u8,
    /// Bytes of that instruction.
    length: u8,
    /// Bytes of the instruction here, 0 if it is missing.
    own_length: u8,
}

/// A branch with link.
const LINK: u8 = 1;
/// It has a condition of its own.
const CONDITIONAL: u8 = 2;
/// A direct branch.
const BRANCH: u8 = 4;
/// Where the instruction here makes those after it conditional, how many: 1 to 4.
const IF_THEN: u8 = 7 << IF_THEN_SHIFT;
const IF_THEN_SHIFT: u32 = 4;

/// The index of a [`Step`].
pub(super) type Slot = usize;

/// The slot of what has not been looked for, or is not there.
pub(super) const NOWHERE: Slot = 0;

/// What decides which instructions are P0.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rules {
    /// WFI, WFE and their like (ETE-QBGXJ-001).
    waits: bool,
    loads: bool,
    stores: bool,
    /// Branches of low-overhead loops.
    loops: bool,
}

impl Rules {
    pub(super) const fn new(parameters: &Parameters) -> Self {
        Self {
            waits: parameters.wfx_is_p0,
            loads: parameters.load_is_p0,
            stores: parameters.store_is_p0,
            loops: matches!(parameters.profile, arm::Profile::Microcontroller),
        }
    }
}

/// Why a walk ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stop {
    /// A P0 instruction is next.
    P0,
    /// The address that was looked for is next, or lies inside the next instruction.
    Arrived,
    /// No instruction is next.
    NoCode,
    /// There are more instructions.
    Limit,
}

/// Some instructions.
#[derive(Clone, Copy, Debug)]
pub(super) struct Walk {
    /// Address after the last one.
    pub(super) end: u64,
    /// How many.
    pub(super) count: u64,
    /// The slot at `end`.
    pub(super) slot: Slot,
    pub(super) stop: Stop,
}

/// The program in one instruction set.
#[derive(Clone, Debug)]
pub(super) struct Track {
    /// Contiguous code, in address order.
    regions: Vec<Region>,
    /// Slot 0 and the one after each region are missing.
    steps: Vec<Step>,
    /// log2 of the bytes of a unit.
    pub(super) shift: u32,
    /// The bits that an address has.
    pub(super) mask: u64,
}

/// Contiguous code.
#[derive(Clone, Copy, Debug)]
struct Region {
    first: u64,
    /// Bytes of whole units.
    length: u64,
    slot: Slot,
    /// Bytes from its first one up to the next region, or to the end of the address space.
    reach: u64,
}

impl Region {
    const fn holds(&self, address: u64) -> bool {
        address.wrapping_sub(self.first) < self.length
    }

    /// Whether it is the latest region that does not begin after this address.
    const fn reaches(&self, address: u64) -> bool {
        address >= self.first && address - self.first <= self.reach.wrapping_sub(1)
    }
}

impl Step {
    const MISSING: Self =
        Self { run: 0, count: 0, offset: 0, kind: Kind::Missing, flags: 0, length: 0, own_length: 0 };

    /// An instruction at `address` of `region`; what is not P0 is followed by nothing.
    ///
    /// Spec: ETE-DEC-ISA-002 to ETE-DEC-ISA-006, ETE-QBGXJ-001, ETE-LLCQG-001; reading
    /// `ete-texit-is-an-exception-return`.
    fn new(
        instruction: &Instruction,
        track: &Track,
        set: InstructionSet,
        rules: Rules,
        region: Region,
        (address, code): (u64, &[u8]),
    ) -> Self {
        let length = instruction.length;
        let flag = |bit, is_set: bool| if is_set { bit } else { 0 };
        let has_link = instruction.class.has_link();
        let flags = flag(LINK, has_link) | flag(CONDITIONAL, instruction.conditional);
        let p0 = Self { flags, length, own_length: length, ..Self::MISSING };
        let access = instruction.transfers.access;
        let (target, is_exchange, branch) = match instruction.class {
            _ if instruction.is_missing() => return Self::MISSING,
            InstructionClass::DirectBranch { .. } => {
                (instruction.target(address), instruction.target_set != set, BRANCH)
            }
            InstructionClass::LowOverheadLoop if rules.loops => (instruction.target(address), false, BRANCH),
            InstructionClass::IndirectBranch { .. } | InstructionClass::ExceptionReturn(_) => {
                return Self { kind: Kind::Indirect, ..p0 };
            }
            InstructionClass::Barrier(Barrier::Isb) | InstructionClass::TransactionStart => {
                (address.wrapping_add(length.into()), false, 0)
            }
            InstructionClass::Wait(_) if rules.waits => (address.wrapping_add(length.into()), false, 0),
            _ if rules.loads && matches!(access, Access::Load | Access::Swap)
                || rules.stores && matches!(access, Access::Store | Access::Swap) =>
            {
                (address.wrapping_add(length.into()), false, 0)
            }
            class => {
                let block = if class == InstructionClass::IfThen { if_then_block(code) } else { 0 };
                return Self { flags: block << IF_THEN_SHIFT, own_length: length, ..Self::MISSING };
            }
        };
        let distance = target.wrapping_sub(address) as i64;
        let is_near = !is_exchange
            && region.holds(target & track.mask)
            && (target & track.mask).wrapping_sub(address) as i64 == distance
            && distance % (1 << track.shift) == 0;
        let kind = match (is_exchange, is_near) {
            (true, _) => Kind::Exchange,
            (false, true) => Kind::Near,
            (false, false) => Kind::Far,
        };
        Self { offset: distance as i32, kind, flags: flags | branch, ..p0 }
    }

    /// Whether the instruction here is a P0 instruction.
    #[inline]
    pub(super) fn is_p0_here(&self) -> bool {
        self.run == 0 && self.kind != Kind::Missing
    }

    #[inline]
    pub(super) const fn has_link(&self) -> bool {
        self.flags & LINK != 0
    }

    #[inline]
    pub(super) const fn is_conditional(&self) -> bool {
        self.flags & CONDITIONAL != 0
    }

    pub(super) const fn is_branch(&self) -> bool {
        self.flags & BRANCH != 0
    }

    /// How many instructions the one here makes conditional.
    const fn if_then(&self) -> u8 {
        (self.flags & IF_THEN) >> IF_THEN_SHIFT
    }

    /// Bytes of the P0 instruction.
    #[inline]
    pub(super) const fn length(&self) -> u64 {
        self.length as u64
    }

    /// Bytes of the instruction here, 0 if there is none.
    pub(super) const fn own_length(&self) -> u64 {
        self.own_length as u64
    }

    /// Slots from here to the P0 instruction.
    #[inline]
    pub(super) const fn run(&self) -> Slot {
        self.run as Slot
    }

    /// From the P0 instruction to its target.
    #[inline]
    pub(super) const fn offset(&self) -> i64 {
        self.offset as i64
    }
}

impl Track {
    pub(super) fn new(program: &Program, set: InstructionSet, rules: Rules) -> Self {
        let shift = set.alignment().trailing_zeros();
        let mask = if set == InstructionSet::A64 { u64::MAX } else { u32::MAX.into() };
        let mut track = Self { regions: Vec::new(), steps: [Step::MISSING].into(), shift, mask };
        contiguous(program, set, |first, code| track.add(set, rules, first, code));
        track
    }

    fn add(&mut self, set: InstructionSet, rules: Rules, first: u64, code: &[u8]) {
        let unit = set.alignment();
        let length = match self.mask.checked_sub(first) {
            // Code above the last address is out of reach.
            Some(room) if (code.len() as u64) > room => room.wrapping_add(1),
            Some(_) => code.len() as u64,
            None => 0,
        };
        let length = length / unit * unit;
        if length == 0 {
            return;
        }
        // Up to the last address there may be 2^64 bytes.
        let region = Region { first, length, slot: self.steps.len(), reach: 0_u64.wrapping_sub(first) };
        if let Some(before) = self.regions.last_mut() {
            before.reach = first.wrapping_sub(before.first);
        }
        self.regions.push(region);
        for offset in (0..length).step_by(unit as usize) {
            let here = code.get(offset as usize..length as usize).unwrap_or_default();
            let instruction = set.decode(here, None);
            let place = (first.wrapping_add(offset), here);
            let step = Step::new(&instruction, self, set, rules, region, place);
            self.steps.push(step);
        }
        self.steps.push(Step::MISSING);
        self.measure_runs(region.slot);
    }

    /// Runs of the steps from a slot on.
    fn measure_runs(&mut self, from: Slot) {
        for at in (from..self.steps.len()).rev() {
            let step = self.step(at);
            if step.is_p0_here() || step.own_length == 0 {
                continue;
            }
            let units = u32::from(step.own_length) >> self.shift;
            let next = self.step(at + units as usize);
            if let Some(place) = self.steps.get_mut(at) {
                let flags = step.flags & IF_THEN | next.flags & !IF_THEN;
                let (run, count) = (next.run.saturating_add(units), next.count.saturating_add(1));
                *place = Step { run, count, flags, own_length: step.own_length, ..next };
            }
        }
    }

    /// What is at this slot.
    #[inline]
    pub(super) fn step(&self, slot: Slot) -> Step {
        self.steps.get(slot).copied().unwrap_or(Step::MISSING)
    }

    /// How far so many bytes are in slots.
    #[inline]
    pub(super) const fn slots(&self, bytes: i64) -> isize {
        (bytes >> self.shift) as isize
    }

    /// The slot of the instruction at `address`. `hint` is the region at or before the latest address that was looked
    /// for, which only saves time.
    #[inline]
    pub(super) fn find(&self, address: u64, hint: &mut usize) -> Slot {
        let region = match self.regions.get(*hint) {
            Some(region) if region.reaches(address) => region,
            _ => {
                let after = self.regions.partition_point(|region| region.first <= address);
                *hint = after.saturating_sub(1);
                let Some(region) = self.regions.get(*hint) else { return NOWHERE };
                region
            }
        };
        let offset = address.wrapping_sub(region.first);
        if offset >= region.length || offset & ((1 << self.shift) - 1) != 0 {
            return NOWHERE;
        }
        region.slot + (offset >> self.shift) as usize
    }

    /// From the instruction at `address` over others that are not P0 up to a P0 instruction; no more instructions than
    /// `most`, that one included.
    ///
    /// Where `fast` this only saves time.
    #[inline]
    pub(super) fn to_p0(&self, address: u64, slot: Slot, most: u64, fast: bool) -> Walk {
        let step = self.step(slot);
        if fast && u64::from(step.count) < most && step.kind != Kind::Missing {
            let end = address.wrapping_add(u64::from(step.run) << self.shift) & self.mask;
            return Walk { end, count: step.count.into(), slot: slot + step.run(), stop: Stop::P0 };
        }
        self.walk(address, slot, most, true, None)
    }

    /// From the instruction at `address` over all others up to that at `to`, which is not before it.
    pub(super) fn to_address(&self, address: u64, slot: Slot, most: u64, to: u64) -> Walk {
        self.walk(address, slot, most, false, Some(to))
    }

    #[cold]
    fn walk(&self, address: u64, slot: Slot, most: u64, to_p0: bool, to: Option<u64>) -> Walk {
        let mut walk = Walk { end: address, count: 0, slot, stop: Stop::NoCode };
        loop {
            let step = self.step(walk.slot);
            if to == Some(walk.end) {
                if step.own_length == 0 {
                    walk.slot = self.find(walk.end, &mut 0);
                }
                return Walk { stop: Stop::Arrived, ..walk };
            }
            if step.own_length == 0 {
                // Code that ends at the last address goes on at the first one.
                let found = self.find(walk.end, &mut 0);
                if found == NOWHERE || found == walk.slot {
                    return walk;
                }
                walk.slot = found;
                continue;
            }
            if to.is_some_and(|to| to.wrapping_sub(walk.end) < step.own_length.into()) {
                return Walk { stop: Stop::Arrived, ..walk };
            }
            if walk.count == most {
                return Walk { stop: Stop::Limit, ..walk };
            }
            if to_p0 && step.is_p0_here() {
                return Walk { stop: Stop::P0, ..walk };
            }
            walk.count += 1;
            walk.end = walk.end.wrapping_add(step.own_length.into()) & self.mask;
            walk.slot += usize::from(step.own_length >> self.shift);
        }
    }

    /// Whether the instruction after these is in an IT block, which one of them or one before them begins.
    pub(super) fn ends_in_if_then(&self, slot: Slot, count: u64) -> bool {
        let (mut slot, mut conditional) = (slot, self.if_then_before(slot));
        for _ in 0..count {
            let step = self.step(slot);
            conditional = match step.if_then() {
                0 => conditional.saturating_sub(1),
                block => block,
            };
            slot += usize::from(step.own_length >> self.shift);
        }
        conditional > 0
    }

    /// How many instructions from here on are in an IT block that begins before: an exception may return into one. What
    /// looks like IT and is the end of another instruction counts as IT.
    fn if_then_before(&self, slot: Slot) -> u8 {
        // IT, and three instructions of two units.
        let left = |back: Slot| {
            let begin = slot.checked_sub(back)?;
            let mut left = self.step(begin).if_then();
            let mut at = begin + 1;
            while left > 0 && at < slot {
                let length = self.step(at).own_length >> self.shift;
                at += usize::from(length);
                left = if length == 0 { 0 } else { left - 1 };
            }
            (at == slot).then_some(left)
        };
        (1..=7).filter_map(left).max().unwrap_or_default()
    }
}

/// The instructions of the IT block that this IT instruction begins: the lowest bit of its mask ends it.
fn if_then_block(code: &[u8]) -> u8 {
    let mask = code.first().copied().unwrap_or_default() & 0xf;
    4_u8.saturating_sub(mask.trailing_zeros() as u8)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_has_16_bytes() {
        assert_eq!(size_of::<Step>(), 16);
    }
}
