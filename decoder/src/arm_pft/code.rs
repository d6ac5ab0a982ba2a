//! The program as it is seen in each state of the processor.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;

use traceproof_vectors::arm::{ExceptionLevel, SecurityState};
use traceproof_vectors::{ExceptionLevels, MemorySpace, Program, arm};

use super::state::State;
use super::track::{NOWHERE, Rules, Slot, Track};
use crate::arm::InstructionSet;

/// A program, decoded once for each of its memory spaces and each instruction set that is needed.
///
/// Building a track takes time and memory linear in the program. How many there can be is bounded by the
/// spaces that the program's sections name, whatever the trace says (PFT-DEC-068).
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
    /// Those of A32, T32 and T32EE, as far as they are decoded.
    tracks: [Option<Track>; 3],
}

impl View {
    const fn new(space: MemorySpace) -> Self {
        Self { space, tracks: [const { None }; 3] }
    }
}

/// Of a state with code: its place among the tracks, its encodings.
const fn track_of(isa: arm::InstructionSet) -> Option<(usize, InstructionSet)> {
    match isa {
        arm::InstructionSet::A32 => Some((0, InstructionSet::A32)),
        arm::InstructionSet::T32 => Some((1, InstructionSet::T32)),
        arm::InstructionSet::T32Ee => Some((2, InstructionSet::ThumbEe)),
        // A PTM traces no byte codes (4.17), and its processors have no A64.
        arm::InstructionSet::Jazelle | arm::InstructionSet::A64 => None,
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

    /// The same, nothing decoded, for walks from instruction to instruction.
    pub(super) fn without_fast_path(self) -> Self {
        Self::new(&self.program, Rules { fast_path: false, ..self.rules })
    }

    /// The view of the program in this state.
    #[inline]
    pub(super) fn view(&mut self, state: &State, context_id: Option<u32>, vmid: Option<u8>) -> usize {
        if self.has_spaces { self.view_in(state, context_id, vmid) } else { 0 }
    }

    /// Spec: PFT-DEC-061 (6.3 of the sheet).
    fn view_in(&mut self, state: &State, context_id: Option<u32>, vmid: Option<u8>) -> usize {
        let security = if state.non_secure { SecurityState::NonSecure } else { SecurityState::Secure };
        let mut space = MemorySpace::ANY.with_security(security);
        if state.hyp {
            space = space.with_exception_levels(ExceptionLevels::only(ExceptionLevel::El2));
        }
        space.context_id = context_id.map(|value| self.context_ids.or_other(value));
        space.vmid = vmid.map(|value| self.vmids.or_other(value.into()));
        *self.known.entry(space).or_insert_with(|| {
            self.views.push(View::new(space));
            self.views.len() - 1
        })
    }

    /// The track of a view, if it is decoded.
    #[inline]
    pub(super) fn track(&self, view: usize, isa: arm::InstructionSet) -> Option<&Track> {
        let (at, _) = track_of(isa)?;
        self.views.get(view)?.tracks.get(at)?.as_ref()
    }

    /// The slot of the instruction there, [`NOWHERE`] if there is none; `None` in a state without code.
    /// Decodes the code first.
    pub(super) fn find(&mut self, view: usize, isa: arm::InstructionSet, address: u32) -> Option<Slot> {
        let (at, set) = track_of(isa)?;
        let Some(view) = self.views.get_mut(view) else { return Some(NOWHERE) };
        let track = view.tracks.get_mut(at)?;
        if let Some(track) = track {
            return Some(track.find(address));
        }
        let seen = self.program.seen_in(view.space);
        Some(track.insert(Track::new(&seen, set, self.rules)).find(address))
    }
}
