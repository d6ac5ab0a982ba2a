//! The program as it is seen in each state of the processor.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;

use traceproof_vectors::arm::Context;
use traceproof_vectors::arm_ete::SubIsa;
use traceproof_vectors::{MemorySpace, Program};

use super::track::{NOWHERE, Rules, Slot, Track};
use crate::arm::InstructionSet;

/// A program, decoded once for each of its memory spaces and each instruction set that is needed.
///
/// Building a track takes time and memory linear in the program. How many there can be is bounded by the spaces that
/// the program's sections name, whatever the trace says (ETE-DEC-ERR-002).
#[derive(Clone, Debug)]
pub(super) struct Code {
    program: Program,
    rules: Rules,
    views: Vec<View>,
    /// Where the view of a space is.
    known: BTreeMap<MemorySpace, usize>,
    context_ids: Named,
    vmids: Named,
    /// A section names a space; otherwise there is one view.
    has_spaces: bool,
}

/// The values that sections name, and one that none of them names: they see all the others alike.
#[derive(Clone, Debug)]
struct Named {
    values: BTreeSet<u32>,
    other: u32,
}

impl Named {
    fn new(values: impl Iterator<Item = u32>) -> Self {
        let values: BTreeSet<u32> = values.collect();
        // Of more numbers than there are values, one is no value.
        let other = (0..=u32::MAX).find(|other| !values.contains(other)).unwrap_or_default();
        Self { values, other }
    }

    fn or_other(&self, value: u32) -> u32 {
        if self.values.contains(&value) { value } else { self.other }
    }
}

/// The program as it is seen in one space.
#[derive(Clone, Debug)]
struct View {
    space: MemorySpace,
    /// Those of each instruction set, as far as they are decoded.
    tracks: [Option<Track>; 3],
}

impl View {
    const fn new(space: MemorySpace) -> Self {
        Self { space, tracks: [const { None }; 3] }
    }
}

/// The instruction set of code at an address; `None` = IS1 in `AArch64` state.
///
/// Spec: ETE-DEC-ISA-001, ETE-HVVRK-001.
#[inline]
pub(super) const fn instruction_set(is_64_bit: bool, sub_isa: SubIsa) -> Option<InstructionSet> {
    match (is_64_bit, sub_isa) {
        (false, SubIsa::Is0) => Some(InstructionSet::A32),
        (false, SubIsa::Is1) => Some(InstructionSet::T32),
        (true, SubIsa::Is0) => Some(InstructionSet::A64),
        (true, SubIsa::Is1) => None,
    }
}

/// The place of a set among the tracks.
const fn index(set: InstructionSet) -> usize {
    match set {
        InstructionSet::A64 => 0,
        InstructionSet::A32 => 1,
        _ => 2,
    }
}

impl Code {
    pub(super) fn new(program: &Program, rules: Rules) -> Self {
        let spaces = || program.sections().iter().map(|section| section.space);
        Self {
            program: program.clone(),
            rules,
            views: [View::new(MemorySpace::ANY)].into(),
            known: BTreeMap::new(),
            context_ids: Named::new(spaces().filter_map(|space| space.context_id)),
            vmids: Named::new(spaces().filter_map(|space| space.vmid)),
            has_spaces: spaces().any(|space| !space.is_any()),
        }
    }

    /// The view of the program in this context.
    #[inline]
    pub(super) fn view(&mut self, context: Context) -> usize {
        if self.has_spaces { self.view_in(context) } else { 0 }
    }

    fn view_in(&mut self, context: Context) -> usize {
        let mut space = MemorySpace::from(context);
        space.context_id = space.context_id.map(|value| self.context_ids.or_other(value));
        space.vmid = space.vmid.map(|value| self.vmids.or_other(value));
        *self.known.entry(space).or_insert_with(|| {
            self.views.push(View::new(space));
            self.views.len() - 1
        })
    }

    /// The track of a view, if it is decoded.
    #[inline]
    pub(super) fn track(&self, view: usize, set: InstructionSet) -> Option<&Track> {
        self.views.get(view)?.tracks.get(index(set))?.as_ref()
    }

    /// The slot of the instruction there, [`NOWHERE`] if there is none. Decodes the code first.
    pub(super) fn find(&mut self, view: usize, set: InstructionSet, address: u64, hint: &mut usize) -> Slot {
        let Some(view) = self.views.get_mut(view) else { return NOWHERE };
        let Some(track) = view.tracks.get_mut(index(set)) else { return NOWHERE };
        if let Some(track) = track {
            return track.find(address, hint);
        }
        let seen = self.program.seen_in(view.space);
        track.insert(Track::new(&seen, set, self.rules)).find(address, hint)
    }
}
