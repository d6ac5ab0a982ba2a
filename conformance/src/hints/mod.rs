//! Which single change of a parameter makes a trace readable that has faults.
//!
//! Most faults in a trace of working hardware are parameters that are not those of its encoder. [`hints`] tries each
//! change of one parameter on the beginning of the trace with the reference decoder, and keeps those that remove the
//! first fault or move it far. A trace that was damaged, or an encoder that is wrong in two parameters, has no hints.

mod changes;

use std::fmt;

use traceproof_vectors::{Decoder, DecoderLimits, Fault, FaultClass, Place, Program, Sink};

pub use changes::Change;

use crate::family::FamilyRules;

/// Bytes of a trace that are tried.
pub const PREFIX: usize = 64 << 10;

/// Hints for one trace.
pub const MOST: usize = 3;

/// Work for one trace: bytes that decoders take, results and instructions that they deliver, and a quarter of the bytes
/// of the code for each try. What is not tried by then is counted in [`Hints::untried`].
pub const WORK: u64 = 48 << 20;

/// How far the decoder goes on instructions without news from the trace; a trace whose first fault is that it needs
/// more has no hints.
const LIMITS: DecoderLimits =
    DecoderLimits::COLLECTED.with_steps(1 << 16).with_repeats(1 << 12).with_work(1 << 6);

/// Bytes between two looks at the work.
const CHUNK: usize = 64;

/// What was found.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Hints {
    /// The best ones first.
    pub hints: Vec<Hint>,
    /// Changes that were not tried, because [`WORK`] was used up.
    pub untried: usize,
}

/// A change of a parameter that helps.
#[derive(Clone, Debug, PartialEq)]
pub struct Hint {
    /// The change.
    pub change: Change,
    /// Where the first fault is then; `None` if the bytes have none.
    pub fault: Option<Place>,
    /// The bytes that were tried.
    pub bytes: usize,
    /// Whether they are the whole trace.
    pub whole: bool,
}

impl fmt::Display for Hint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { change, fault, bytes, whole } = self;
        match fault {
            Some(Place { packet, byte, bit }) => {
                write!(f, "with --set {change} the first fault is at packet {packet}, byte {byte}.{bit}")
            }
            None if *whole => write!(f, "with --set {change} the trace has no fault"),
            None => write!(f, "with --set {change} the first {bytes} bytes have no fault"),
        }
    }
}

/// Hints for a trace; empty if the first [`PREFIX`] bytes of it have no fault, or only that the trace is cut off.
///
/// Work is bounded by [`WORK`]; only the bytes that a decoder has taken last, at most 64, are worked off when it is used
/// up. At most one hint is about the same parameter: the nearest value that is as good as any.
/// Changes that make the decoder read fewer packets, for instance because it drops them, are no hints.
#[must_use]
pub fn hints<P: FamilyRules>(parameters: &P::Parameters, program: &Program, trace: &[u8]) -> Hints {
    within::<P>(WORK, P::reference_decoder(), parameters, program, trace)
}

/// The same with other bounds, and by any decoder.
fn within<P: FamilyRules>(
    most_work: u64,
    decoder: Box<dyn Decoder<P>>,
    parameters: &P::Parameters,
    program: &Program,
    trace: &[u8],
) -> Hints {
    let tried = trace.get(..PREFIX).unwrap_or(trace);
    let whole = tried.len() == trace.len();
    let code: usize = program.sections().iter().map(|section| section.bytes.len()).sum();
    let mut tries =
        Tries::<P> { program, trace: tried, whole, setup: code as u64 / 4, work: 0, most_work, decoder };
    tries.decoder.set_limits(&LIMITS);
    let Some(Reached { fault: Some(first), packets, at_end: false }) = tries.reached(parameters) else {
        return Hints::default();
    };
    if first.class == FaultClass::Limit {
        return Hints::default();
    }
    let changes = changes::changes::<P>(parameters);
    let (mut hints, mut done): (Vec<Hint>, usize) = (Vec::new(), 0);
    for change in &changes {
        if tries.work >= most_work {
            break;
        }
        done += 1;
        let Ok(changed) = change.of::<P>(parameters) else { continue };
        let Some(reached) = tries.reached(&changed) else { continue };
        let further = |fault: Fault| {
            fault.class != FaultClass::Limit && fault.place.byte >= first.place.byte.saturating_mul(2)
        };
        if reached.packets > packets && reached.fault.is_none_or(further) {
            let fault = reached.fault.map(|fault| fault.place);
            hints.push(Hint { change: change.clone(), fault, bytes: tried.len(), whole });
        }
    }
    Hints { hints: best(hints), untried: changes.len() - done }
}

/// The best of them, each for another parameter. What only moves the fault is left out where something removes it.
fn best(mut hints: Vec<Hint>) -> Vec<Hint> {
    hints.sort_by_key(|hint| std::cmp::Reverse(hint.fault.map_or(u64::MAX, |place| place.byte)));
    let removed = hints.first().is_some_and(|hint| hint.fault.is_none());
    let mut kept: Vec<Hint> = Vec::new();
    for hint in hints {
        let known = kept.iter().any(|other| other.change.key == hint.change.key);
        if kept.len() < MOST && !known && (hint.fault.is_none() || !removed) {
            kept.push(hint);
        }
    }
    kept
}

struct Tries<'a, P: FamilyRules> {
    program: &'a Program,
    trace: &'a [u8],
    whole: bool,
    /// Work of each try.
    setup: u64,
    /// Work so far.
    work: u64,
    most_work: u64,
    decoder: Box<dyn Decoder<P>>,
}

/// How far a decoder came.
#[derive(Clone, Copy, Debug, Default)]
struct Reached {
    fault: Option<Fault>,
    /// Packets that it read before.
    packets: u64,
    /// The fault is that the trace ends there.
    at_end: bool,
}

impl<P: FamilyRules> Tries<'_, P> {
    /// Decodes up to the first fault. `None` if the parameters are refused, or the work is used up.
    fn reached(&mut self, parameters: &P::Parameters) -> Option<Reached> {
        self.work += self.setup;
        self.decoder.begin(parameters, self.program).ok()?;
        let packets_only = P::EVENTS_NEED_CODE && self.program.sections().is_empty();
        let mut first = FirstFault { packets_only, ..FirstFault::default() };
        for chunk in self.trace.chunks(CHUNK) {
            self.decoder.push(chunk, &mut first);
            self.work += chunk.len() as u64 + std::mem::take(&mut first.work);
            if first.reached.fault.is_some() {
                return Some(first.reached);
            }
            if self.work >= self.most_work {
                return None;
            }
        }
        if self.whole {
            self.decoder.finish(&mut first);
            self.work += first.work;
            first.reached.at_end = first.reached.fault.is_some();
        }
        Some(first.reached)
    }
}

/// Keeps the first fault, and what came before it.
#[derive(Default)]
struct FirstFault {
    reached: Reached,
    /// Without code, faults of the flow do not count.
    packets_only: bool,
    /// Index of the latest packet that could be read.
    latest: Option<u64>,
    work: u64,
}

impl<P: FamilyRules> Sink<P> for FirstFault {
    fn packet(&mut self, place: Place, _: &P::Packet) {
        self.work += 1;
        self.latest = Some(place.packet);
        self.reached.packets += u64::from(self.reached.fault.is_none());
    }

    fn event(&mut self, _: Place, event: &P::Event) {
        let run = P::INSTRUCTIONS.and_then(|instructions| (instructions.run)(event));
        self.work += 1 + run.map_or(0, |run| run.count);
    }

    fn fault(&mut self, fault: &Fault) {
        self.work += 1;
        let of_flow = self.latest >= Some(fault.place.packet);
        if self.reached.fault.is_none() && !fault.class.is_warning() && !(self.packets_only && of_flow) {
            self.reached.fault = Some(*fault);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;
    use std::rc::Rc;

    use traceproof_differential::JudgedProtocol as _;
    use traceproof_vectors::riscv_etrace::{Event, Packet, Parameters, Policy, RiscvEtrace};
    use traceproof_vectors::{Address, Capabilities, Refusal, Section};

    use super::*;

    /// What a decoder did, counted on its own.
    #[derive(Clone, Copy, Debug, Default)]
    struct Done {
        tries: u64,
        bytes: u64,
        results: u64,
        instructions: u64,
        /// The most results and instructions of one call.
        most: u64,
    }

    impl Done {
        const fn results(&self) -> u64 {
            self.results + self.instructions
        }
    }

    /// The reference decoder, counted.
    struct Counted {
        decoder: Box<dyn Decoder<RiscvEtrace>>,
        done: Rc<RefCell<Done>>,
    }

    impl Counted {
        fn count(&mut self, sink: &mut dyn Sink<RiscvEtrace>, act: impl FnOnce(&mut Self, &mut Through<'_>)) {
            let before = self.done.borrow().results();
            let done = Rc::clone(&self.done);
            act(self, &mut Through { done: &done, sink });
            let mut done = done.borrow_mut();
            done.most = done.most.max(done.results() - before);
        }
    }

    struct Through<'a> {
        done: &'a RefCell<Done>,
        sink: &'a mut dyn Sink<RiscvEtrace>,
    }

    impl Sink<RiscvEtrace> for Through<'_> {
        fn packet(&mut self, place: Place, packet: &Packet) {
            self.done.borrow_mut().results += 1;
            self.sink.packet(place, packet);
        }

        fn event(&mut self, place: Place, event: &Event) {
            let mut done = self.done.borrow_mut();
            done.results += 1;
            if let Event::Retire { count, .. } = event {
                done.instructions += count;
            }
            drop(done);
            self.sink.event(place, event);
        }

        fn fault(&mut self, fault: &Fault) {
            self.done.borrow_mut().results += 1;
            self.sink.fault(fault);
        }
    }

    impl Decoder<RiscvEtrace> for Counted {
        fn capabilities(&self) -> Capabilities {
            self.decoder.capabilities()
        }

        fn set_limits(&mut self, limits: &DecoderLimits) {
            self.decoder.set_limits(limits);
        }

        fn begin(&mut self, parameters: &Parameters, program: &Program) -> Result<(), Refusal> {
            self.done.borrow_mut().tries += 1;
            self.decoder.begin(parameters, program)
        }

        fn push(&mut self, chunk: &[u8], sink: &mut dyn Sink<RiscvEtrace>) {
            self.done.borrow_mut().bytes += chunk.len() as u64;
            self.count(sink, |counted, sink| counted.decoder.push(chunk, sink));
        }

        fn finish(&mut self, sink: &mut dyn Sink<RiscvEtrace>) {
            self.count(sink, |counted, sink| counted.decoder.finish(sink));
        }

        fn reset(&mut self) {
            self.decoder.reset();
        }
    }

    /// Of the whole bound, for a test.
    const SOME: u64 = WORK / 16;

    fn done(program: &Program, trace: &[u8]) -> (Done, Hints) {
        let done = Rc::new(RefCell::new(Done::default()));
        let decoder = Box::new(Counted { decoder: RiscvEtrace::reference_decoder(), done: Rc::clone(&done) });
        let hints = within::<RiscvEtrace>(SOME, decoder, &Parameters::default(), program, trace);
        let done = *done.borrow();
        (done, hints)
    }

    /// Format 0, which these parameters do not have.
    const FAULT: [u8; 2] = [0x01, 0x00];

    fn code(halfwords: usize, last: u32) -> Program {
        let mut bytes = [1, 0].repeat(halfwords);
        bytes.extend(last.to_le_bytes());
        let mut program = Program::new();
        program.insert(Section::new(0x1000, bytes, "")).expect("alone");
        program
    }

    /// The work of all tries together: of long traces, of much code, and of bytes that stand for many instructions.
    #[test]
    fn work_is_bounded() {
        let support = [[0x01, 0x1f].repeat(PREFIX / 2 - 1).as_slice(), &FAULT].concat();
        // 2,000 times c.nop, then beq x0, x0, -4000; four packets of 31 taken branches.
        let start =
            Packet::Start { branch: true, privilege: 3, time: None, context: None, address: Address(0x1000) };
        let branches = Packet::Branch {
            branches: 0,
            branch_map: 0,
            address: None,
            notify: false,
            updiscon: false,
            irreport: false,
            irdepth: 0,
            irets: 0,
        };
        let mut packets = vec![branches; 5];
        packets[0] = start;
        let write = RiscvEtrace::PACKET_WRITER.expect("it has one");
        let loops = write(&packets, &Parameters::default(), &Policy::default()).expect("they are right");
        let loops = [loops.as_slice(), &FAULT].concat();
        for (name, program, trace, least_tries) in [
            ("long trace", Program::new(), support.as_slice(), 20),
            ("much code", code(1 << 20, 0x13), &FAULT, 5),
            ("many instructions", code(2_000, 0x8600_0063), &loops, 8),
        ] {
            let length = program.sections().iter().map(|section| section.bytes.len() as u64).sum::<u64>();
            let (done, hints) = done(&program, trace);
            let work = done.bytes + done.results() + done.tries * (length / 4);
            // The latest chunk, or the latest look at the code.
            let begun = CHUNK as u64 + done.most + length / 4;
            assert!(work <= SOME + begun, "{name}: {work} {done:?}");
            assert!(done.most < SOME / 3, "{name}: {done:?}");
            assert!(done.tries >= least_tries && work > SOME / 2, "{name}: {work} {done:?}");
            assert!(hints.untried > 100, "{name}: {hints:?}");
        }
    }
}
