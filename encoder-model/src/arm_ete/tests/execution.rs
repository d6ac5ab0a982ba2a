//! What a processor shows of a program.

use traceproof_vectors::arm::{Context, ExceptionLevel, InstructionSet, SecurityState};
use traceproof_vectors::arm_ete::{
    Action, Execute, P0Kind, Parameters, Policy, Signal, State, Step, Stimulus, TakenException, Version,
};
use traceproof_vectors::{Address, ExceptionLevels, MemorySpace, Program, Section};

use super::scene::{encode, state};
use crate::arm_ete::{Core, ExecutionError, ExecutionProblem};

const NOP: u32 = 0xd503_201f;
const RET: u32 = 0xd65f_03c0;
const ERET: u32 = 0xd69f_03e0;
const ISB: u32 = 0xd503_3fdf;
const SVC: u32 = 0xd400_0001;
/// B.EQ to 0x20 bytes later.
const BRANCH_EQUAL: u32 = 0x5400_0100;

fn words(address: u64, words: &[u32]) -> Section {
    let bytes = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    Section::new(address, bytes, "code")
}

fn program(sections: impl IntoIterator<Item = Section>) -> Program {
    let mut program = Program::new();
    for section in sections {
        program.insert(section).expect("sections do not overlap");
    }
    program
}

fn step(action: Action) -> Step {
    Step { cycles: 1, timestamp: 0, action }
}

fn on(text: &str) -> Step {
    step(Action::Signal(Signal::Enable(state(text))))
}

fn at(address: u64) -> Step {
    step(Action::Execute(Execute { address: Address(address), ..Execute::default() }))
}

fn skip(address: u64) -> Step {
    step(Action::Execute(Execute { address: Address(address), not_taken: true, ..Execute::default() }))
}

fn to(address: u64, target: &str) -> Step {
    let to = Some(state(target));
    step(Action::Execute(Execute { address: Address(address), to, ..Execute::default() }))
}

fn exception(number: u16, returns_to: u64, handler: &str) -> Step {
    let (returns_to, handler) = (Address(returns_to), state(handler));
    step(Action::Exception(TakenException { number, returns_to, handler, fault_pending: false }))
}

fn squash(steps: u32, next: &str) -> Step {
    step(Action::Squash { steps, next: state(next) })
}

fn correct(taken: bool, next: &str) -> Step {
    step(Action::Correct { taken, next: state(next) })
}

fn off() -> Step {
    step(Action::Signal(Signal::Disable))
}

/// A processor with code and a trace unit.
struct Machine {
    program: Program,
    parameters: Parameters,
    policy: Policy,
}

impl Machine {
    fn new(sections: impl IntoIterator<Item = Section>) -> Self {
        let policy = Policy { sync_period: 0, ..Policy::default() };
        Self { program: program(sections), parameters: Parameters::default(), policy }
    }

    fn with(mut self, change: impl FnOnce(&mut Parameters)) -> Self {
        change(&mut self.parameters);
        self
    }

    fn stimuli(&self, steps: &[Step]) -> Result<Vec<Stimulus>, ExecutionError> {
        let mut stimuli = Vec::new();
        Core::new(&self.program, &self.parameters, &self.policy)
            .run(steps.iter().copied(), &mut |stimulus| stimuli.push(*stimulus))
            .map(|()| stimuli)
    }

    fn signals(&self, steps: &[Step]) -> Vec<Signal> {
        let stimuli = self.stimuli(steps).unwrap_or_else(|error| panic!("{error}"));
        stimuli.iter().map(|stimulus| stimulus.signal).collect()
    }

    /// The bytes after A-sync and Trace Info.
    fn wire(&self, steps: &[Step]) -> String {
        let stimuli = self.stimuli(steps).unwrap_or_else(|error| panic!("{error}"));
        super::hex(encode(&self.parameters, &self.policy, &stimuli).wire.get(14..).expect("a start"))
    }

    fn problem(&self, steps: &[Step]) -> ExecutionProblem {
        self.stimuli(steps).expect_err("impossible").problem
    }
}

/// Stream A of 10.2 as its program executes.
#[test]
fn the_program_of_stream_a() {
    let user = [0xd280_0040, 0x9400_0007, 0xd100_0400, 0xb5ff_ffc0, SVC, NOP, 0x1400_0000, NOP, NOP, RET];
    let machine =
        Machine::new([words(0x40_1000, &user), words(0xffff_0000_0808_0400, &[0xd538_4021, ISB, ERET])])
            .with(|parameters| parameters.return_stack = true);
    let call = [at(0x40_1004), at(0x40_1020), to(0x40_1024, "401008u"), at(0x40_1008)];
    let handler = 0xffff_0000_0808_0400;
    let mut steps = vec![on("401000u"), at(0x40_1000)];
    steps.extend(call);
    steps.push(at(0x40_100c));
    steps.extend(call);
    steps.extend([skip(0x40_100c), at(0x40_1010), exception(2, 0x40_1014, "ffff000008080400")]);
    steps.extend([
        at(handler),
        at(handler + 4),
        to(handler + 8, "401014u"),
        at(0x40_1014),
        at(0x40_1018),
        off(),
    ]);
    assert_eq!(
        machine.wire(&steps),
        "04 82 00 08 40 00 30 e2 06 05 95 05 85 00 02 08 08 00 00 ff ff 31 db \
         85 05 08 40 00 00 00 00 00 30 f7"
    );
}

/// Sheet 6.4: value of each P0 instruction, its kind and link.
#[test]
fn p0_instructions_of_a64() {
    use P0Kind::{Direct, ExceptionReturn, Indirect, Isb};
    let rows: [(u32, P0Kind, bool); 42] = [
        (0x1400_0002, Direct, false),
        (0x9400_0002, Direct, true),
        (0x5400_0040, Direct, false),
        (0x5400_0050, Direct, false),
        (0x3400_0040, Direct, false),
        (0xb500_0040, Direct, false),
        (0x3600_0040, Direct, false),
        (0xb700_0040, Direct, false),
        (0x7400_0040, Direct, false),
        (0xf4e0_0040, Direct, false),
        (0x7400_8040, Direct, false),
        (0x7400_c040, Direct, false),
        (0x7500_0040, Direct, false),
        (0xf500_0040, Direct, false),
        (0xd503_30df, Isb, false),
        (0xd503_3fdf, Isb, false),
        (0xd523_3060, Direct, false),
        (0xd523_3065, Direct, false),
        (0xd503_205f, Direct, false),
        (0xd503_207f, Direct, false),
        (0xd503_1003, Direct, false),
        (0xd503_1023, Direct, false),
        (0xd61f_0020, Indirect, false),
        (0xd63f_0020, Indirect, true),
        (0xd65f_0020, Indirect, false),
        (0xd61f_083f, Indirect, false),
        (0xd61f_0c3f, Indirect, false),
        (0xd63f_083f, Indirect, true),
        (0xd63f_0c3f, Indirect, true),
        (0xd71f_0821, Indirect, false),
        (0xd71f_0c21, Indirect, false),
        (0xd73f_0821, Indirect, true),
        (0xd73f_0c21, Indirect, true),
        (0xd65f_0bff, Indirect, false),
        (0xd65f_0fff, Indirect, false),
        (0x5500_001f, Indirect, false),
        (0x5520_003f, Indirect, false),
        (0xd65f_0be1, Indirect, false),
        (0xd69f_03e0, ExceptionReturn, false),
        (0xd69f_0bff, ExceptionReturn, false),
        (0xd69f_0fff, ExceptionReturn, false),
        (0xd6ff_03e0, ExceptionReturn, false),
    ];
    for (word, kind, link) in rows {
        let machine = Machine::new([words(0x1000, &[word])]).with(|parameters| parameters.wfx_is_p0 = true);
        let step = if matches!(kind, Indirect | ExceptionReturn) { to(0x1000, "2000") } else { at(0x1000) };
        let signals = machine.signals(&[on("1000"), step]);
        let Some(Signal::P0(p0)) = signals.get(1) else { panic!("{word:#x}: {signals:?}") };
        assert_eq!((p0.kind, p0.link, p0.taken, p0.size), (kind, link, true, 4), "{word:#x}");
    }
}

/// Sheet 6.4: what is none.
#[test]
fn other_instructions_of_a64() {
    for word in [
        SVC,
        0xd400_0002,
        0xd400_0003,
        0xd420_0000,
        0xd440_0000,
        0,
        0xd503_3f9f,
        0xd503_3fbf,
        0xd503_30ff,
        0xd503_307f,
        0xd460_0000,
        0xd523_3160,
        0xd6bf_03e0,
        0xd503_225f,
        0xd50b_72e0,
        NOP,
        0xd503_205f,
        0xd503_207f,
        0xd503_1000,
        0xd503_1020,
        0x7400_4040,
        0xf400_8040,
        0x7500_4040,
        0x5540_001f,
    ] {
        let machine = Machine::new([words(0x1000, &[word])]);
        let signals = machine.signals(&[on("1000"), at(0x1000)]);
        assert_eq!(signals.get(1), Some(&Signal::Idle), "{word:#x}");
    }
}

/// Targets of direct branches (sheet 6.4 to 6.6), each from 0x1000.
#[test]
fn targets_of_direct_branches() {
    for (word, target) in [
        (0x17ff_fc00_u32, 0x0_u64),
        (0x1400_0400, 0x2000),
        (0x54ff_8000, 0x0),
        (0x3400_8000, 0x2000),
        (0x3600_8000, 0x2000),
        (0x7400_1fe0, 0x13fc),
        (0x7500_3fe0, 0xffc),
        (0x7400_e000, 0xc00),
    ] {
        let machine = Machine::new([words(0x1000, &[word])]);
        let signals = machine.signals(&[on("1000"), at(0x1000)]);
        let Some(Signal::P0(p0)) = signals.get(1) else { panic!("{word:#x}: {signals:?}") };
        assert_eq!(p0.next, State { address: Address(target), ..state("1000") }, "{word:#x}");
    }
    // BLX from A32 to T32, and back.
    let machine = Machine::new([words(0x1000, &[0xfa00_0000])]);
    let signals = machine.signals(&[on("1000w"), at(0x1000)]);
    let Some(Signal::P0(p0)) = signals.get(1) else { panic!("{signals:?}") };
    assert_eq!((p0.next.address, p0.next.isa, p0.link), (Address(0x1008), InstructionSet::T32, true));
    let halves = Section::new(0x1000_u64, vec![0x00, 0xf0, 0x02, 0xe8], "code");
    let machine = Machine::new([halves]);
    let signals = machine.signals(&[on("1000t"), at(0x1000)]);
    let Some(Signal::P0(p0)) = signals.get(1) else { panic!("{signals:?}") };
    assert_eq!((p0.next.address, p0.next.isa, p0.size), (Address(0x1008), InstructionSet::A32, 4));
}

/// P0 signals count the instructions since the one before; code depends on the exception level.
#[test]
fn instructions_are_counted_in_their_memory() {
    let only = |level| MemorySpace::ANY.with_exception_levels(ExceptionLevels::only(level));
    let machine = Machine::new([
        words(0x1000, &[NOP, NOP, 0x1400_0000]).in_space(only(ExceptionLevel::El0)),
        words(0x1000, &[0x1400_0000]).in_space(only(ExceptionLevel::El1)),
    ]);
    let signals = machine.signals(&[on("1000u"), at(0x1000), at(0x1004), at(0x1008), at(0x1008)]);
    let counts: Vec<_> = signals
        .iter()
        .filter_map(|signal| if let Signal::P0(p0) = signal { Some(p0.instructions) } else { None })
        .collect();
    assert_eq!(counts, [3, 1]);
    assert_eq!(machine.signals(&[on("1000"), at(0x1000)]).len(), 2);
}

fn speculative(words_of_code: &[u32]) -> Machine {
    Machine::new([words(0x1000, words_of_code), words(0x2000, &[NOP, 0x17ff_fbff])]).with(|parameters| {
        parameters.commopt = false;
        parameters.maxspec = 4;
    })
}

/// A mispredicted branch: what executed wrongly is cancelled as far as it has elements.
#[test]
fn squash_and_correct() {
    let machine = speculative(&[BRANCH_EQUAL, NOP, BRANCH_EQUAL, NOP]);
    let wrong = [on("1000"), skip(0x1000), at(0x1004), skip(0x1008), at(0x100c)];
    let mut steps = wrong.to_vec();
    steps.extend([squash(3, "1004"), correct(true, "1020"), step(Action::Resolve(1)), off()]);
    let signals = machine.signals(&steps);
    assert!(matches!(
        signals[2..],
        [
            Signal::P0(_),
            Signal::Cancel { count: 1, .. },
            Signal::Mispredict(_),
            Signal::Commit(1),
            Signal::Disable
        ]
    ));
    assert_eq!(machine.wire(&steps), "04 82 00 08 00 00 31 f6 37 2d 01");
    // Nothing of it had an element.
    let steps = [on("1000"), skip(0x1000), at(0x1004), squash(1, "1004"), correct(true, "1020")];
    assert!(matches!(machine.signals(&steps)[..], [Signal::Enable(_), Signal::P0(_), Signal::Mispredict(_)]));
}

/// Instructions before the youngest P0 element count again after a Squash.
#[test]
fn squash_restores_the_count() {
    let machine = speculative(&[NOP, NOP, BRANCH_EQUAL, NOP, BRANCH_EQUAL]);
    let steps = [
        on("1000"),
        at(0x1000),
        at(0x1004),
        skip(0x1008),
        at(0x100c),
        squash(3, "1004"),
        at(0x1004),
        skip(0x1008),
    ];
    let signals = machine.signals(&steps);
    let Some(Signal::P0(p0)) = signals.last() else { panic!("{signals:?}") };
    assert_eq!(p0.instructions, 3);
}

/// Untraced P0 instructions, and those that are left out, have no elements.
#[test]
fn only_elements_are_counted() {
    let mut machine = speculative(&[BRANCH_EQUAL, BRANCH_EQUAL]);
    machine.policy.source_addresses = true;
    let hidden = step(Action::Signal(Signal::ViewInst(false)));
    let steps = [
        on("1000"),
        skip(0x1000),
        skip(0x1004),
        squash(1, "1004"),
        step(Action::Resolve(1)),
        hidden,
        at(0x1004),
        step(Action::Resolve(1)),
    ];
    let counted = |signal: &&Signal| matches!(signal, Signal::Commit(_) | Signal::Cancel { .. });
    assert_eq!(machine.signals(&steps).iter().filter(counted).count(), 0);
}

/// One element more than MAXSPEC resolves the oldest step.
#[test]
fn too_much_speculation_resolves() {
    let machine = speculative(&[0x1400_0000]);
    let mut steps = vec![on("1000")];
    steps.extend([at(0x1000); 6]);
    let resolve = |count| step(Action::Resolve(count));
    steps.push(resolve(4));
    assert_eq!(machine.signals(&steps).last(), Some(&Signal::Commit(4)));
    steps.push(resolve(1));
    assert_eq!(machine.problem(&steps), ExecutionProblem::TooFew { unresolved: 0 });
}

#[test]
fn impossible_executions_are_refused() {
    let machine = Machine::new([words(0x1000, &[NOP, 0x1400_0000, RET, BRANCH_EQUAL])]);
    let el0_in_32_bits = State { isa: InstructionSet::A32, ..state("1000") };
    let bad_context = Context::default().with_security(SecurityState::Secure);
    let enable = |state| step(Action::Signal(Signal::Enable(state)));
    for (steps, problem) in [
        (vec![at(0x1000)], ExecutionProblem::NotRunning),
        (vec![on("1000"), at(0x1004)], ExecutionProblem::NotNext { next: Address(0x1000) }),
        (vec![on("3000"), at(0x3000)], ExecutionProblem::NoCode),
        (vec![on("1002"), at(0x1002)], ExecutionProblem::Misaligned),
        (vec![enable(el0_in_32_bits), at(0x1000)], ExecutionProblem::InstructionSet),
        (
            vec![enable(State { context: bad_context, ..state("1000") }), at(0x1000)],
            ExecutionProblem::InstructionSet,
        ),
        (vec![on("1000"), skip(0x1000)], ExecutionProblem::NotP0),
        (vec![on("1000"), to(0x1000, "2000")], ExecutionProblem::WrongTarget { target: Address(0x1004) }),
        (vec![on("1004"), to(0x1004, "2000")], ExecutionProblem::WrongTarget { target: Address(0x1004) }),
        (vec![on("1004"), skip(0x1004)], ExecutionProblem::Unconditional),
        (vec![on("1008"), at(0x1008)], ExecutionProblem::NoTarget),
        (vec![on("1008"), to(0x1008, "2001")], ExecutionProblem::Misaligned),
        (vec![on("1000"), exception(5, 0x1000, "2000")], ExecutionProblem::Number),
        (vec![on("1000"), exception(0x18, 0x1000, "2000")], ExecutionProblem::Number),
        (vec![on("1000"), exception(2, 0x1004, "2000")], ExecutionProblem::NotNext { next: Address(0x1000) }),
        (vec![on("1000"), exception(1, 0x1000, "2000"), at(0x2000)], ExecutionProblem::NotRunning),
        (vec![on("1000"), step(Action::Resolve(1))], ExecutionProblem::NotSpeculative),
        (vec![on("1000"), squash(1, "1000")], ExecutionProblem::NotSpeculative),
        (vec![on("1000"), correct(true, "1000")], ExecutionProblem::NotSpeculative),
    ] {
        assert_eq!(machine.problem(&steps), problem, "{steps:?}");
    }
    let machine = speculative(&[BRANCH_EQUAL, NOP, 0x1400_0000]);
    let start = [on("1000"), skip(0x1000)];
    for (rest, problem) in [
        (vec![step(Action::Resolve(2))], ExecutionProblem::TooFew { unresolved: 1 }),
        (vec![step(Action::Resolve(0))], ExecutionProblem::TooFew { unresolved: 1 }),
        (vec![squash(2, "1000")], ExecutionProblem::TooFew { unresolved: 1 }),
        (vec![squash(1, "1004")], ExecutionProblem::NotNext { next: Address(0x1000) }),
        (vec![correct(false, "1004")], ExecutionProblem::NothingToCorrect),
        (vec![correct(true, "1024")], ExecutionProblem::WrongTarget { target: Address(0x1020) }),
        (vec![at(0x1004), correct(true, "1020")], ExecutionProblem::NotP0),
        (vec![at(0x1004), skip(0x1008), step(Action::Resolve(3))], ExecutionProblem::Unconditional),
    ] {
        let mut steps = start.to_vec();
        steps.extend(rest);
        assert_eq!(machine.problem(&steps), problem, "{steps:?}");
    }
}

/// PE Reset comes from anywhere; a tail-chained exception of the M profile has no return address.
#[test]
fn exceptions_from_anywhere() {
    let machine = Machine::new([]);
    assert_eq!(machine.signals(&[on("1000"), exception(0, 0x5000, "2000")]).len(), 2);
    let mut machine = Machine::new([]);
    machine.parameters = Parameters {
        profile: traceproof_vectors::arm::Profile::Microcontroller,
        ..Parameters::etmv4(Version::Etmv4_2)
    };
    assert_eq!(machine.signals(&[on("1000t"), exception(0xf, 0xffff_fffe, "2000t")]).len(), 2);
    assert_eq!(machine.problem(&[on("1000t"), exception(0x1b, 0x1000, "2000t")]), ExecutionProblem::Number);
}
