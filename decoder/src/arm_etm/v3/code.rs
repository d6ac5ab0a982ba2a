//! The code that the flow goes over.

use alloc::vec::Vec;

use traceproof_vectors::Program;
use traceproof_vectors::arm::InstructionClass;
use traceproof_vectors::arm_etm::Isa;

use super::address::InstructionAddress;
use crate::arm::{Destination, Instruction, InstructionSet, contiguous};

/// A program, decoded for each instruction set when the flow first needs an instruction of it.
#[derive(Clone, Debug)]
pub(super) struct Code {
    program: Program,
    thumb32_single: bool,
    /// In the order of [`Isa`]'s states with code: ARM, Thumb, ThumbEE.
    tracks: [Option<Track>; 3],
}

/// What an atom at an instruction does to the flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Goes on within the track: [`Step::taken`] bytes further if it is executed, else [`Step::length`].
    Near,
    /// As [`Near`](Self::Near), but it is two atoms, one per half-word, of which the second does what the instruction
    /// does.
    Halves(Leads),
    /// Executed it leads out of the track.
    Away(Leads),
    /// No instruction.
    Missing,
}

/// Where an executed instruction leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Leads {
    /// [`Step::taken`] bytes further, within the track.
    Near,
    /// [`Step::taken`] bytes further, in this state.
    Far(Isa),
    /// Only the trace determines it.
    Somewhere,
}

/// One place where an instruction can start.
#[derive(Clone, Copy, Debug)]
pub(super) struct Step {
    /// Bytes to the next instruction if this one is executed.
    pub(super) taken: i32,
    /// Bytes of this one.
    pub(super) length: u8,
    pub(super) kind: Kind,
}

impl Step {
    const MISSING: Self = Self { taken: 0, length: 0, kind: Kind::Missing };
}

/// The index of a [`Step`]; that of no instruction is [`NOWHERE`].
pub(super) type Slot = usize;

/// The slot of what has not been looked for, or is not there.
pub(super) const NOWHERE: Slot = 0;

/// The program in one instruction set.
#[derive(Clone, Debug)]
pub(super) struct Track {
    /// Contiguous code, in address order.
    regions: Vec<Region>,
    /// Slot 0 and the one after each region are `Missing`.
    steps: Vec<Step>,
    /// log2 of the bytes per slot.
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

impl Track {
    const EMPTY: Self = Self { regions: Vec::new(), steps: Vec::new(), shift: 0 };

    fn new(program: &Program, set: InstructionSet, thumb32_single: bool) -> Self {
        let mut track =
            Self { steps: [Step::MISSING].into(), shift: set.alignment().trailing_zeros(), ..Self::EMPTY };
        contiguous(program, set, |first, code| track.add(set, thumb32_single, first, code));
        track
    }

    fn add(&mut self, set: InstructionSet, thumb32_single: bool, first: u64, code: &[u8]) {
        let unit = set.alignment();
        let length = (code.len() as u64).min(END.saturating_sub(first)) / unit * unit;
        if length == 0 {
            return;
        }
        let region = Region { first, length, slot: self.steps.len() };
        self.regions.push(region);
        let mut previous = None;
        for offset in (0..length).step_by(unit as usize) {
            let here = code.get(offset as usize..length as usize).unwrap_or_default();
            let instruction = set.decode(here, previous);
            let halves = !thumb32_single && set != InstructionSet::A32 && instruction.length == 4;
            self.steps.push(step(&instruction, set, halves, region, first + offset));
            previous = here.first_chunk().map(|bytes| u16::from_le_bytes(*bytes));
        }
        self.steps.push(Step::MISSING);
    }

    /// What is at this slot.
    #[inline]
    pub(super) fn step(&self, slot: Slot) -> Step {
        self.steps.get(slot).copied().unwrap_or(Step::MISSING)
    }

    /// The slot so many bytes away, in the same region.
    #[inline]
    pub(super) const fn walk(&self, slot: Slot, bytes: i32) -> Slot {
        slot.wrapping_add_signed((bytes >> self.shift) as isize)
    }

    /// The slot of the instruction at `address`.
    #[inline]
    fn find(&self, address: u32) -> Slot {
        let address = u64::from(address);
        let region = match self.regions.as_slice() {
            [only] => only,
            regions => {
                let count = regions.partition_point(|region| region.first <= address);
                let Some(region) = count.checked_sub(1).and_then(|at| regions.get(at)) else {
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
}

/// The step of an instruction at `address`. Cores with low-overhead loops have ETMv4; before, their encodings are
/// undefined.
///
/// Spec: ETM-BR-001 (4.10.3).
fn step(instruction: &Instruction, set: InstructionSet, halves: bool, region: Region, address: u64) -> Step {
    let length = instruction.length;
    let is_loop = matches!(instruction.class, InstructionClass::LowOverheadLoop);
    let (taken, leads) = match instruction.destination() {
        Destination::Missing => return Step::MISSING,
        Destination::Target if !is_loop => {
            let target = instruction.target(address);
            let taken = (target as u32).wrapping_sub(address as u32).cast_signed();
            // A branch around the end of the address space is far, too.
            let is_near = instruction.target_set == set
                && region.holds(target)
                && address.wrapping_add_signed(taken.into()) == target
                && taken.cast_unsigned().is_multiple_of(set.alignment() as u32);
            let leads = if is_near { Leads::Near } else { Leads::Far(state(instruction.target_set)) };
            (taken, leads)
        }
        Destination::Elsewhere => (0, Leads::Somewhere),
        Destination::Target | Destination::Next => (length.into(), Leads::Near),
    };
    let kind = match leads {
        leads if halves => Kind::Halves(leads),
        Leads::Near => Kind::Near,
        leads => Kind::Away(leads),
    };
    Step { taken, length, kind }
}

const fn state(set: InstructionSet) -> Isa {
    match set {
        // No processor of these architectures has A64.
        InstructionSet::A32 | InstructionSet::A64 => Isa::Arm,
        InstructionSet::T32 | InstructionSet::T16 => Isa::Thumb,
        InstructionSet::ThumbEe => Isa::ThumbEe,
    }
}

impl Code {
    pub(super) fn new(program: &Program, thumb32_single: bool) -> Self {
        Self { program: program.clone(), thumb32_single, tracks: [const { None }; 3] }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.program.sections().is_empty()
    }

    /// The code in this state, as far as it is decoded.
    #[inline]
    pub(super) fn track(&self, isa: Isa) -> &Track {
        const NONE: &Track = &Track::EMPTY;
        let [arm, thumb, thumb_ee] = &self.tracks;
        let track = match isa {
            Isa::Arm => arm,
            Isa::Thumb => thumb,
            Isa::ThumbEe => thumb_ee,
            Isa::Jazelle => &None,
        };
        track.as_ref().unwrap_or(NONE)
    }

    /// The slot of the instruction there, if the code in its state is decoded.
    #[inline]
    pub(super) fn find(&self, place: InstructionAddress) -> Slot {
        self.track(place.isa).find(place.address)
    }

    /// The same; decodes the code first. There is no instruction in Java state.
    #[cold]
    pub(super) fn search(&mut self, place: InstructionAddress) -> Slot {
        let [arm, thumb, thumb_ee] = &mut self.tracks;
        let (track, set) = match place.isa {
            Isa::Arm => (arm, InstructionSet::A32),
            Isa::Thumb => (thumb, InstructionSet::T32),
            Isa::ThumbEe => (thumb_ee, InstructionSet::ThumbEe),
            Isa::Jazelle => return NOWHERE,
        };
        track.get_or_insert_with(|| Track::new(&self.program, set, self.thumb32_single)).find(place.address)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_has_8_bytes() {
        assert_eq!(size_of::<Step>(), 8);
    }
}
