//! Does what a decoder reports agree with the execution, while both still run?
//!
//! Holds only what has been executed and not been reported yet, knows the execution and the code and nothing
//! of packets, and stops at the first difference.

use std::collections::VecDeque;
use std::fmt;

use traceproof_vectors::riscv_etrace::{
    Epc, Event, Packet, Parameters, RiscvEtrace, Step, Stimulus, StopReason, Trap,
};
use traceproof_vectors::{Address, Fault, Place, Sink};

use super::FlowMap;

/// A decoder that holds back more steps than this has stopped reporting. (No packet covers so many without a branch
/// predictor; with one, it is the longest run without a misprediction.)
const LONGEST_SILENCE: usize = 1 << 22;

/// One thing that can be observed in an execution.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Observation {
    /// An instruction retired.
    Retire {
        /// Its address.
        address: u64,
        /// Privilege level; of a report, `None` before any.
        privilege: Option<u8>,
        /// Context, where packets carry it.
        context: Option<u64>,
        /// Time, where packets carry it and one was reported.
        time: Option<u64>,
    },
    /// A trap was taken.
    Trap {
        /// Interrupt, not exception.
        interrupt: bool,
        /// Its cause.
        cause: u64,
        /// Its value, of exceptions.
        tval: Option<u64>,
        /// Where it was taken.
        epc: Epc,
    },
    /// Tracing stopped.
    Stop(StopReason),
    /// A packet.
    Packet(Packet),
    /// The decoder finds fault with the trace.
    Fault(Fault),
    /// Nothing more.
    End,
}

impl fmt::Display for Observation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Retire { address, privilege, context, time } => {
                write!(f, "instruction {address:#x}")?;
                if let Some(privilege) = privilege {
                    write!(f, " at level {privilege}")?;
                }
                if let Some(context) = context {
                    write!(f, " in context {context:#x}")?;
                }
                match time {
                    Some(time) => write!(f, " at time {time:#x}"),
                    None => Ok(()),
                }
            }
            Self::Trap { interrupt, cause, tval, epc } => {
                write!(f, "{} {cause}", if *interrupt { "interrupt" } else { "exception" })?;
                if let Some(tval) = tval {
                    write!(f, ", value {tval:#x}")?;
                }
                match epc {
                    Epc::At(epc) => write!(f, ", epc {epc:#x}"),
                    Epc::AtOrUnknown(epc) => write!(f, ", epc {epc:#x} or unknown"),
                    Epc::Unknown => f.write_str(", epc unknown"),
                    Epc::Unstated => Ok(()),
                }
            }
            Self::Stop(reason) => write!(f, "stop ({reason:?})"),
            Self::Packet(packet) => write!(f, "{packet:x?}"),
            Self::Fault(fault) => write!(f, "fault {fault}"),
            Self::End => f.write_str("the end"),
        }
    }
}

/// Where a decoder's report leaves the execution.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Divergence {
    /// How many instructions of the execution came before, filtered ones included.
    pub instruction: u64,
    /// What the execution has there.
    pub expected: Observation,
    /// What the decoder reported there.
    pub got: Observation,
    /// The packet that carried it.
    pub place: Place,
}

impl fmt::Display for Divergence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { instruction, expected, got, place } = self;
        write!(f, "instruction {instruction}, {place}: expected {expected}, got {got}")
    }
}

impl std::error::Error for Divergence {}

/// Whether a trap must be reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Duty {
    /// Not known before the first instruction of its handler.
    Undecided,
    Required,
    Optional,
    Never,
}

#[derive(Clone, Copy, Debug)]
enum Expected {
    Retire { index: u64, address: u64, privilege: u8, context: u64, time: u64 },
    Trap { index: u64, trap: Trap, traced: bool, reported: bool, duty: Duty },
    Stop { index: u64, required: bool },
}

/// The execution on one side, a decoder's report on the other.
pub(super) struct Comparison<'a> {
    map: &'a FlowMap,
    address_mask: u64,
    cause_mask: u64,
    context_mask: Option<u64>,
    time_mask: Option<u64>,
    expected: VecDeque<Expected>,
    /// Packets that the encoder made and the decoder has not read yet; `None` where packets are not compared.
    made: Option<VecDeque<Packet>>,
    next_index: u64,
    /// Between a trace-on and a trace-off pulse.
    traced: bool,
    /// The latest step was a qualified retirement.
    after_retire: bool,
    /// Since tracing started or stopped: whether something qualified, and whether a qualified instruction,
    /// was there.
    open: bool,
    open_retire: bool,
    in_force: Option<(u8, Option<u64>)>,
    reported_time: Option<u64>,
    /// A synchronisation names the time of the instruction that follows, or of the trap before it.
    synchronised: bool,
    trap_time: Option<u64>,
    pub(super) instructions: u64,
    pub(super) traps: u64,
    pub(super) packets: u64,
    pub(super) divergence: Option<Divergence>,
}

const fn low_bits(width: u32) -> u64 {
    if width >= 64 { u64::MAX } else { (1 << width) - 1 }
}

impl<'a> Comparison<'a> {
    pub(super) fn new(map: &'a FlowMap, parameters: &Parameters, packets: bool) -> Self {
        Self {
            map,
            address_mask: parameters.address_mask(),
            cause_mask: low_bits(parameters.ecause_width_p.into()),
            context_mask: (!parameters.nocontext_p).then(|| low_bits(parameters.context_width())),
            time_mask: (!parameters.notime_p).then(|| low_bits(parameters.time_width())),
            expected: VecDeque::new(),
            made: packets.then(VecDeque::new),
            next_index: 0,
            traced: true,
            after_retire: false,
            open: false,
            open_retire: false,
            in_force: None,
            reported_time: None,
            synchronised: false,
            trap_time: None,
            instructions: 0,
            traps: 0,
            packets: 0,
            divergence: None,
        }
    }

    /// The execution takes this step. Must be called before the encoder sees it.
    pub(super) fn executes(&mut self, step: &Step) {
        if self.expected.len() >= LONGEST_SILENCE {
            self.diverge_from_front(Place::default(), Observation::End);
        }
        match step {
            Step::Retire(retire) => {
                self.decide_traps(self.traced);
                let index = self.next_index;
                if self.traced {
                    self.expected.push_back(Expected::Retire {
                        index,
                        address: retire.address.0 & self.address_mask,
                        privilege: retire.privilege,
                        context: retire.context,
                        time: retire.time,
                    });
                    (self.open, self.open_retire) = (true, true);
                } else {
                    self.shuts();
                }
                self.after_retire = self.traced;
                self.next_index += 1;
            }
            Step::Trap(trap) => {
                if !self.traced {
                    self.decide_traps(false);
                    self.shuts();
                }
                self.open |= self.traced;
                // The first event of a trace has no position: its address is not reported.
                let (index, reported) = (self.next_index, self.after_retire && self.traced);
                let (traced, duty) = (self.traced, Duty::Undecided);
                self.expected.push_back(Expected::Trap { index, trap: *trap, traced, reported, duty });
                self.after_retire = false;
            }
            Step::Stimulus(Stimulus::Cycle(cycle)) => {
                self.traced = (self.traced || cycle.trace_on) && !cycle.trace_off;
            }
            Step::Stimulus(_) => {}
        }
    }

    /// The execution, or its tracing, ends here.
    pub(super) fn ends(&mut self) {
        self.decide_traps(false);
        self.shuts();
    }

    /// Tracing stops if it was on.
    fn shuts(&mut self) {
        if self.open {
            self.expected.push_back(Expected::Stop { index: self.next_index, required: self.open_retire });
        }
        (self.open, self.open_retire) = (false, false);
    }

    /// The traps since the latest retirement come before an instruction that is traced, or not.
    ///
    /// A trap is reported when it and the first instruction of its handler pass. A trap that passes alone may have been
    /// reported before (RVET-ENC-083, ET 7.3); one that is blocked, directly before an instruction that passes, may
    /// head the trace (ET 7.2).
    fn decide_traps(&mut self, passes: bool) {
        let mut last = true;
        for expected in self.expected.iter_mut().rev() {
            let Expected::Trap { traced, duty: duty @ Duty::Undecided, .. } = expected else {
                if matches!(expected, Expected::Stop { .. }) {
                    continue;
                }
                break;
            };
            *duty = match (*traced, passes) {
                (true, true) => Duty::Required,
                (true, false) => Duty::Optional,
                (false, true) if last => Duty::Optional,
                (false, _) => Duty::Never,
            };
            last = false;
        }
    }

    /// The encoder made this packet.
    pub(super) fn makes(&mut self, packet: &Packet) {
        if let Some(made) = &mut self.made {
            made.push_back(*packet);
        }
    }

    /// Both sides have ended: nothing may be left.
    pub(super) fn settle(&mut self, place: Place) {
        while self.divergence.is_none() && self.skip_optional() {}
        if !self.expected.is_empty() {
            self.diverge_from_front(place, Observation::End);
        }
        if let Some(packet) = self.made.as_mut().and_then(VecDeque::pop_front) {
            self.diverge(place, Observation::Packet(packet), Observation::End);
        }
    }

    fn diverge(&mut self, place: Place, expected: Observation, got: Observation) {
        if self.divergence.is_none() {
            let instruction = match self.expected.front() {
                Some(
                    Expected::Retire { index, .. }
                    | Expected::Trap { index, .. }
                    | Expected::Stop { index, .. },
                ) => *index,
                None => self.next_index,
            };
            self.divergence = Some(Divergence { instruction, expected, got, place });
        }
    }

    fn diverge_from_front(&mut self, place: Place, got: Observation) {
        let expected = match self.expected.front() {
            Some(Expected::Retire { address, privilege, context, time, .. }) => Observation::Retire {
                address: *address,
                privilege: Some(*privilege),
                context: self.context_mask.map(|mask| context & mask),
                time: self.time_mask.map(|mask| time & mask),
            },
            Some(Expected::Trap { trap, reported, .. }) => Observation::Trap {
                interrupt: trap.interrupt,
                cause: trap.cause & self.cause_mask,
                tval: (!trap.interrupt).then_some(trap.tval & self.address_mask),
                epc: match (trap.interrupt, reported) {
                    (true, _) => Epc::Unstated,
                    (false, true) => Epc::At(trap.epc),
                    (false, false) => Epc::Unknown,
                },
            },
            Some(Expected::Stop { .. }) => Observation::Stop(StopReason::Ended),
            None => Observation::End,
        };
        self.diverge(place, expected, got);
    }

    /// Passes over a front that need not be reported.
    fn skip_optional(&mut self) -> bool {
        let skips = matches!(
            self.expected.front(),
            Some(
                Expected::Trap { duty: Duty::Optional | Duty::Never, .. }
                    | Expected::Stop { required: false, .. }
            )
        );
        if skips {
            self.expected.pop_front();
        }
        skips
    }

    fn retires(&mut self, place: Place, first: u64, end: u64, count: u64) {
        let mut at = first;
        for _ in 0..count {
            if self.divergence.is_some() {
                return;
            }
            self.retires_one(place, at);
            match self.map.at(at) {
                Some(instruction) => at = self.map.next_address(at, instruction) & self.address_mask,
                None => return,
            }
        }
        if at != end && self.divergence.is_none() {
            let got = Observation::Retire { address: end, privilege: None, context: None, time: None };
            let expected = Observation::Retire { address: at, privilege: None, context: None, time: None };
            self.diverge(place, expected, got);
        }
    }

    fn retires_one(&mut self, place: Place, at: u64) {
        while self.skip_optional() {}
        let (level, reported_context) =
            self.in_force.map_or((None, None), |(level, context)| (Some(level), context));
        // Only the instruction that a synchronisation reports has a time of its own.
        let reported_time = self.reported_time.take_if(|_| self.synchronised);
        let synchronised = std::mem::take(&mut self.synchronised);
        let trap_time = self.trap_time.take();
        if let Some(Expected::Retire { address, privilege, context, time, .. }) = self.expected.front() {
            let context_agrees =
                self.context_mask.is_none_or(|mask| reported_context == Some(context & mask));
            let time_agrees = match (self.time_mask, reported_time) {
                (Some(mask), Some(got)) => got == time & mask || Some(got) == trap_time,
                (Some(_), None) => !synchronised,
                (None, got) => got.is_none(),
            };
            if *address == at && level == Some(*privilege) && context_agrees && time_agrees {
                self.expected.pop_front();
                self.instructions += 1;
                return;
            }
        }
        let context = reported_context;
        let got = Observation::Retire { address: at, privilege: level, context, time: reported_time };
        self.diverge_from_front(place, got);
    }

    fn traps(&mut self, place: Place, interrupt: bool, cause: u64, tval: Option<u64>, epc: Epc) {
        loop {
            if let Some(Expected::Trap { trap, reported, duty, .. }) = self.expected.front()
                && *duty != Duty::Never
                && trap.interrupt == interrupt
                && trap.cause & self.cause_mask == cause
                && tval == (!interrupt).then_some(trap.tval & self.address_mask)
                && epc_agrees(trap, *reported, epc, self.address_mask)
            {
                self.trap_time = self.time_mask.map(|mask| trap.time & mask);
                self.expected.pop_front();
                self.traps += 1;
                return;
            }
            if !self.skip_optional() {
                return self.diverge_from_front(place, Observation::Trap { interrupt, cause, tval, epc });
            }
        }
    }

    fn stops(&mut self, place: Place, reason: StopReason) {
        while !matches!(self.expected.front(), Some(Expected::Stop { .. })) && self.skip_optional() {}
        match self.expected.front() {
            Some(Expected::Stop { .. }) if reason == StopReason::Ended => {
                self.expected.pop_front();
                (self.in_force, self.reported_time) = (None, None);
            }
            _ => self.diverge_from_front(place, Observation::Stop(reason)),
        }
    }
}

/// An EPC that the trace carries must be right; where it does not (after another trap, or at the start), a decoder
/// may report that it is unknown. A decoder that reports no EPC at all is not judged on it.
/// Spec: RVET-DEC-050.
fn epc_agrees(trap: &Trap, carried: bool, got: Epc, mask: u64) -> bool {
    match got {
        Epc::At(address) => trap.interrupt || address == Address(trap.epc.0 & mask),
        Epc::Unknown | Epc::AtOrUnknown(_) => trap.interrupt || !carried,
        Epc::Unstated => true,
    }
}

impl Sink<RiscvEtrace> for Comparison<'_> {
    fn packet(&mut self, place: Place, packet: &Packet) {
        self.packets += 1;
        if self.divergence.is_some() {
            return;
        }
        if let Some(made) = &mut self.made {
            let expected = made.pop_front();
            if expected != Some(*packet) {
                let expected = expected.map_or(Observation::End, Observation::Packet);
                self.diverge(place, expected, Observation::Packet(*packet));
            }
        }
    }

    fn event(&mut self, place: Place, event: &Event) {
        if self.divergence.is_some() {
            return;
        }
        match *event {
            Event::Retire { first, end, count } => self.retires(place, first.0, end.0, count),
            Event::Trap { interrupt, cause, tval, epc } => self.traps(place, interrupt, cause, tval, epc),
            Event::Context { privilege, context, precise: true } => {
                // A context that only repeats the one in force is no synchronisation.
                let next = Some((privilege, context));
                self.synchronised |= self.reported_time.is_some() || self.in_force != next;
                self.in_force = next;
            }
            Event::Time { time } => self.reported_time = Some(time),
            Event::Stop { reason } => self.stops(place, reason),
            // Imprecise contexts and data do not affect the instructions.
            _ => {}
        }
    }

    fn fault(&mut self, fault: &Fault) {
        self.diverge_from_front(fault.place, Observation::Fault(*fault));
    }
}
