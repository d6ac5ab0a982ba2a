//! The program in one instruction set, waypoint by waypoint.

use alloc::vec::Vec;

use traceproof_vectors::Program;
use traceproof_vectors::arm;
use traceproof_vectors::arm::{Barrier, InstructionClass};

use crate::arm::{Instruction, InstructionSet, contiguous};

/// What an instruction is to the flow (2.1, 2.2; section 4.1 of the sheet).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// No instruction.
    Missing,
    /// No waypoint.
    Other,
    /// A waypoint whose target is known and lies in the same contiguous code, in the same instruction set.
    Near,
    /// A waypoint whose target is known, in this instruction set.
    Far(arm::InstructionSet),
    /// A waypoint whose target only the trace knows.
    Indirect,
}

/// The instruction at one place where one can start, and how far it is to the next waypoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Step {
    /// Units from here to the next instruction that is a waypoint or missing; 0 if it is here. It may be
    /// less.
    run: u32,
    /// Instructions in them.
    count: u32,
    /// Where the flow goes on if a waypoint with a known target is executed.
    pub(super) target: u32,
    pub(super) kind: Kind,
    /// A branch with link (4.13).
    pub(super) link: bool,
    /// Bytes.
    pub(super) length: u8,
}

/// The index of a [`Step`].
pub(super) type Slot = usize;

/// The slot of what has not been looked for, or is not there.
pub(super) const NOWHERE: Slot = 0;

/// What decides which instructions are waypoints and how they are walked.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rules {
    /// DMB and DSB are waypoints (PFT-CFG-008).
    pub(super) barrier_waypoints: bool,
    /// Runs go on to the next waypoint, which only saves time; otherwise each is one instruction.
    pub(super) fast_path: bool,
}

/// Why a walk ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stop {
    /// A waypoint is next.
    Waypoint,
    /// The address that was looked for is that of the last instruction.
    Arrived,
    /// No instruction is next.
    NoCode,
    /// There are more instructions.
    Limit,
}

/// Some instructions without waypoint.
#[derive(Clone, Copy, Debug)]
pub(super) struct Walk {
    /// Address after the last one.
    pub(super) end: u32,
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
    /// Slot 0 and the one after each region are `Missing`.
    steps: Vec<Step>,
    /// log2 of the bytes of a unit.
    shift: u32,
}

/// Contiguous code.
#[derive(Clone, Copy, Debug)]
struct Region {
    first: u64,
    /// Bytes of whole units.
    length: u64,
    slot: Slot,
}

impl Region {
    const fn holds(&self, address: u64) -> bool {
        address.wrapping_sub(self.first) < self.length
    }
}

/// Addresses have 32 bits; code above is out of reach.
const END: u64 = 1 << 32;

impl Step {
    const MISSING: Self = Self { run: 0, count: 0, target: 0, kind: Kind::Missing, link: false, length: 0 };

    /// An instruction at `address` of `region`.
    ///
    /// Spec: PFT-WPT-001 to PFT-WPT-028 (2.1, 2.2); readings `pft-thumbee-handlers`,
    /// `pft-barrier-waypoint-bit`.
    fn new(
        instruction: &Instruction,
        set: InstructionSet,
        rules: Rules,
        region: Region,
        address: u64,
    ) -> Self {
        let length = instruction.length;
        let other = Self { kind: Kind::Other, length, ..Self::MISSING };
        let (target, target_set) = match instruction.class {
            _ if instruction.is_missing() => return Self::MISSING,
            InstructionClass::DirectBranch { .. } | InstructionClass::StateChange => {
                (instruction.target(address), instruction.target_set)
            }
            InstructionClass::IndirectBranch { .. } | InstructionClass::ExceptionReturn(_) => {
                return Self { kind: Kind::Indirect, link: instruction.class.has_link(), ..other };
            }
            InstructionClass::Barrier(barrier) if barrier == Barrier::Isb || rules.barrier_waypoints => {
                (address + u64::from(length), set)
            }
            // Low-overhead loops are undefined in ARMv7 (PFT-WPT-027).
            _ => return other,
        };
        let near = target_set == set && region.holds(target) && target % set.alignment() == 0;
        let kind = if near { Kind::Near } else { Kind::Far(target_set.state()) };
        Self { target: target as u32, kind, link: instruction.class.has_link(), ..other }
    }

    /// Slots from here to the next waypoint, or fewer.
    #[inline]
    pub(super) const fn units(&self) -> Slot {
        self.run as Slot
    }

    /// Instructions in them.
    #[inline]
    pub(super) const fn count(&self) -> u64 {
        self.count as u64
    }

    #[inline]
    pub(super) const fn is_waypoint(&self) -> bool {
        !matches!(self.kind, Kind::Missing | Kind::Other)
    }
}

impl Track {
    pub(super) fn new(program: &Program, set: InstructionSet, rules: Rules) -> Self {
        let shift = set.alignment().trailing_zeros();
        let mut track = Self { regions: Vec::new(), steps: [Step::MISSING].into(), shift };
        contiguous(program, set, |first, code| track.add(set, rules, first, code));
        track
    }

    fn add(&mut self, set: InstructionSet, rules: Rules, first: u64, code: &[u8]) {
        let unit = set.alignment();
        let length = (code.len() as u64).min(END.saturating_sub(first)) / unit * unit;
        if length == 0 {
            return;
        }
        let region = Region { first, length, slot: self.steps.len() };
        self.regions.push(region);
        for offset in (0..length).step_by(unit as usize) {
            let here = code.get(offset as usize..length as usize).unwrap_or_default();
            let instruction = set.decode(here, None);
            self.steps.push(Step::new(&instruction, set, rules, region, first + offset));
        }
        self.steps.push(Step::MISSING);
        self.measure_runs(region.slot, rules);
    }

    /// Runs of the steps from a slot on.
    fn measure_runs(&mut self, from: Slot, rules: Rules) {
        for at in (from..self.steps.len()).rev() {
            let step = self.step(at);
            if step.kind != Kind::Other {
                continue;
            }
            let units = u32::from(step.length) >> self.shift;
            let next = self.step(at + units as usize);
            if let Some(place) = self.steps.get_mut(at) {
                (place.run, place.count) = (units, 1);
                if rules.fast_path {
                    place.run += next.run;
                    place.count += next.count;
                }
            }
        }
    }

    /// What is at this slot.
    #[inline]
    pub(super) fn step(&self, slot: Slot) -> Step {
        self.steps.get(slot).copied().unwrap_or(Step::MISSING)
    }

    /// The slot of `to`, in the same region as that of `from`.
    #[inline]
    pub(super) const fn near(slot: Slot, from: u32, to: u32, isa: arm::InstructionSet) -> Slot {
        slot.wrapping_add_signed(((to as i64 - from as i64) >> isa.alignment_bits()) as isize)
    }

    /// How many slots an instruction of so many bytes takes.
    #[inline]
    pub(super) const fn units(length: u8, isa: arm::InstructionSet) -> Slot {
        (length >> isa.alignment_bits()) as Slot
    }

    /// The slot of the instruction at `address`.
    #[inline]
    pub(super) fn find(&self, address: u32) -> Slot {
        let address = u64::from(address);
        let region = match self.regions.as_slice() {
            [only] => only,
            regions => {
                let after = regions.partition_point(|region| region.first <= address);
                let Some(region) = after.checked_sub(1).and_then(|at| regions.get(at)) else {
                    return NOWHERE;
                };
                region
            }
        };
        let offset = address.wrapping_sub(region.first);
        if offset >= region.length || offset & ((1 << self.shift) - 1) != 0 {
            return NOWHERE;
        }
        region.slot + (offset >> self.shift) as usize
    }

    /// From the instruction at `address` up to the next waypoint, over at most so many others.
    #[inline]
    pub(super) fn to_waypoint(&self, address: u32, slot: Slot, most: u64) -> Walk {
        let start = self.step(slot);
        let (at, count) = (slot + start.units(), start.count());
        if count <= most && self.step(at).is_waypoint() {
            let end = address.wrapping_add(start.run << self.shift);
            return Walk { end, count, slot: at, stop: Stop::Waypoint };
        }
        self.walk(address, slot, most, None)
    }

    /// From the instruction at `address` up to that at `last`, or to the next waypoint, over at most so many.
    #[cold]
    pub(super) fn walk(&self, address: u32, slot: Slot, most: u64, last: Option<u32>) -> Walk {
        let mut walk = Walk { end: address, count: 0, slot, stop: Stop::NoCode };
        loop {
            let step = self.step(walk.slot);
            match step.kind {
                Kind::Missing => {
                    // Code that ends at the last address goes on at the first one (PFT-WPT-025).
                    let found = self.find(walk.end);
                    if found == NOWHERE || found == walk.slot {
                        return walk;
                    }
                    walk.slot = found;
                }
                Kind::Other if walk.count == most => return Walk { stop: Stop::Limit, ..walk },
                Kind::Other => {
                    let here = walk.end;
                    walk.count += 1;
                    walk.end = here.wrapping_add(step.length.into());
                    walk.slot += usize::from(step.length >> self.shift);
                    if last == Some(here) {
                        return Walk { stop: Stop::Arrived, ..walk };
                    }
                }
                Kind::Near | Kind::Far(_) | Kind::Indirect => return Walk { stop: Stop::Waypoint, ..walk },
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_has_16_bytes() {
        assert_eq!(size_of::<Step>(), 16);
    }
}
