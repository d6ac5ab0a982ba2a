//! The state between packets, and how it walks.

use traceproof_vectors::riscv_etrace::{Modes, Parameters, RiscvEtrace};
use traceproof_vectors::{DecoderLimits, Place, Program, Refusal, Sink};

use super::hart::Hart;
use crate::riscv_etrace::fast_path::block_walk::BlockWalk;
use crate::riscv_etrace::goal::{Arrival, Goal, Until};
use crate::riscv_etrace::instruction::Class;
use crate::riscv_etrace::modes::{Announcements, check};
use crate::riscv_etrace::program_map::ProgramMap;
use crate::riscv_etrace::standard_support::Declared;
use crate::riscv_etrace::trap_chain::TrapChain;
use crate::riscv_etrace::trouble::Trouble;
use crate::riscv_etrace::walker::Walker;

/// Reconstructs the execution from packets, one after the other.
///
/// Its memory is bounded by the program and the parameters for any input.
#[derive(Clone, Debug)]
pub struct Flow {
    pub(in crate::riscv_etrace) map: ProgramMap,
    pub(in crate::riscv_etrace) announcements: Announcements,
    pub(in crate::riscv_etrace) hart: Hart,
    /// What standard support packets repeat.
    pub(in crate::riscv_etrace) declared: Declared,
    pub(in crate::riscv_etrace) walker: Walker,
    /// Absent: every walk is instruction by instruction.
    block_walk: Option<BlockWalk>,
    /// The latest reported address, to which differences refer (RVET-DEC-027).
    pub(in crate::riscv_etrace) base: u64,
    /// Privilege of the latest synchronisation packet.
    pub(in crate::riscv_etrace) privilege: u8,
    /// The pc may be the first of two arrivals at the reported address (RVET-DEC-017).
    pub(in crate::riscv_etrace) provisional: Option<Provisional>,
    /// The latest report had the updiscon flag: nothing retires between it and the synchronisation (ET 7.6.2).
    pub(in crate::riscv_etrace) last_before_synchronisation: bool,
    pub(in crate::riscv_etrace) chain: TrapChain,
    /// The latest standard support packet announced that there is no periodic resynchronisation.
    pub(in crate::riscv_etrace) resync_disabled: bool,
    /// Waiting for a synchronisation packet.
    pub(in crate::riscv_etrace) start_of_trace: bool,
    /// Waiting for a support packet that can be honoured.
    pub(in crate::riscv_etrace) refusing: bool,
}

/// What the reporting packet carried besides the address.
#[derive(Clone, Copy, Debug)]
pub(in crate::riscv_etrace) struct Provisional {
    pub(in crate::riscv_etrace) depth: Option<u32>,
}

impl Flow {
    /// A flow at the start of a stream, over the code of `program`.
    ///
    /// # Errors
    ///
    /// When no hardware can have these parameters, or lacks what a mode needs that is on from the start.
    pub fn new(parameters: &Parameters, program: &Program, limits: DecoderLimits) -> Result<Self, Refusal> {
        check(parameters)?;
        let hart = Hart::new(parameters);
        hart.honours(parameters.modes)
            .map_err(|parameter| Refusal::invalid(parameter, "a mode that is on needs it"))?;
        let map = ProgramMap::new(program, parameters);
        Ok(Self {
            block_walk: Some(BlockWalk::new(&map, parameters.modes)),
            map,
            announcements: Announcements::new(parameters),
            hart,
            declared: Declared::new(parameters),
            walker: Walker::new(parameters, limits),
            base: 0,
            privilege: 0,
            provisional: None,
            last_before_synchronisation: false,
            chain: TrapChain::Closed,
            resync_disabled: false,
            start_of_trace: true,
            refusing: false,
        })
    }

    /// Resets to the start of a stream.
    pub fn reset(&mut self) {
        self.lose_synchronisation();
        self.refusing = false;
        self.resync_disabled = false;
        self.walker.reset_work();
        self.enter(self.announcements.initial());
    }

    /// The same flow, but it walks instruction by instruction, which takes longer.
    #[must_use]
    pub fn without_fast_path(self) -> Self {
        Self { block_walk: None, ..self }
    }

    /// The program, pre-decoded.
    #[must_use]
    pub const fn map(&self) -> &ProgramMap {
        &self.map
    }

    /// A support packet announced what cannot be honoured. Only support packets are followed now.
    #[must_use]
    pub const fn is_refusing(&self) -> bool {
        self.refusing
    }

    /// Something is missing or unreadable: go on at the next synchronisation. Spec: RVET-DEC-047.
    pub fn lose_synchronisation(&mut self) {
        self.start_of_trace = true;
        self.provisional = None;
        self.chain = TrapChain::Closed;
    }

    /// These modes are in force from here on.
    pub(in crate::riscv_etrace) const fn enter(&mut self, modes: Modes) {
        self.walker.enter(modes);
        if let Some(block_walk) = &mut self.block_walk {
            block_walk.enter(modes);
        }
    }

    /// Walks to the goal and reports every instruction on the way.
    #[inline(always)]
    pub(in crate::riscv_etrace) fn walk<S>(
        &mut self,
        goal: &Goal,
        place: Place,
        sink: &mut S,
    ) -> Result<Arrival, Trouble>
    where
        S: Sink<RiscvEtrace> + ?Sized,
    {
        match &mut self.block_walk {
            Some(block_walk) => block_walk.walk(&mut self.walker, &self.map, goal, place, sink),
            None => self.walker.walk(&self.map, goal, place, sink),
        }
    }

    /// If the walk stopped at what may be the first of two arrivals: continues to the second.
    #[inline(always)]
    pub(in crate::riscv_etrace) fn second_arrival<S>(
        &mut self,
        place: Place,
        sink: &mut S,
    ) -> Result<(), Trouble>
    where
        S: Sink<RiscvEtrace> + ?Sized,
    {
        match self.provisional.take() {
            Some(provisional) => self.leave_provisional(provisional, place, sink),
            None => Ok(()),
        }
    }

    #[inline(never)]
    fn leave_provisional<S>(
        &mut self,
        Provisional { depth }: Provisional,
        place: Place,
        sink: &mut S,
    ) -> Result<(), Trouble>
    where
        S: Sink<RiscvEtrace> + ?Sized,
    {
        let goal =
            Goal { until: Until::Discontinuity, address: self.walker.pc, depth, synchronisation: false };
        self.walk(&goal, place, sink).map(|_| ())
    }

    /// Whether code at `address` is an instruction of this class.
    pub(in crate::riscv_etrace) fn is(&self, class: Class, address: u64) -> bool {
        self.map.locate(address).is_some_and(|here| self.map.slot(here).class == class)
    }

    /// The packet at `place` cannot be followed.
    #[cold]
    pub(in crate::riscv_etrace) fn fail<S>(&mut self, trouble: Trouble, place: Place, sink: &mut S)
    where
        S: Sink<RiscvEtrace> + ?Sized,
    {
        sink.fault(&trouble.fault(place));
        self.lose_synchronisation();
    }
}
