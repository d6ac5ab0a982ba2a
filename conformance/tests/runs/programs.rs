//! Compiled programs, executed by an emulator, through encoder model and decoder.
//!
//! The full sweep of programs and parameter sets belongs to `traceproof conformance`; here run the small
//! programs under every set and the large ones under a few.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufReader, Cursor};
use std::path::Path;

use lzma_rust2::XzReader;
use traceproof_conformance::riscv_etrace::programs::foreign::{address_steps, csv_steps};
use traceproof_conformance::riscv_etrace::programs::{
    Divergence, FlowCheck, FlowMap, Observation, ParameterSet, Setup, Shipped, ShippedProgram, Subjects,
    round_trip, run_all,
};
use traceproof_conformance::verdict::{Kind, Verdict};
use traceproof_conformance::{Options, Run, Selection, Subject, run};
use traceproof_decoder::riscv_etrace::Decoder;
use traceproof_encoder_model::riscv_etrace::Encoder;
use traceproof_vectors::riscv_etrace::{Epc, Event, Packet, Parameters, RiscvEtrace, Step};
use traceproof_vectors::{
    self as vectors, Address, Capabilities, Family, Fault, Layer, Place, Program, Refusal, Sink,
};

fn shipped() -> Shipped {
    Shipped::riscv_etrace().expect("the manifest is sound")
}

fn program<'a>(shipped: &'a Shipped, name: &str) -> &'a ShippedProgram {
    shipped.programs.iter().find(|program| program.name == name).expect("shipped")
}

fn steps(shipped: &Shipped, program: &ShippedProgram) -> Vec<Step> {
    let reader = shipped.execution(program).expect("opens");
    reader.map(|step| step.unwrap_or_else(|error| panic!("{}: {error}", program.name))).collect()
}

/// The steps that an independent simulator (Spike) took, from the first instruction of the program on.
fn witnessed(shipped: &Shipped, program: &ShippedProgram) -> Vec<Step> {
    let listing = shipped.files.read(format!("{}.spike.csv", program.name)).expect("opens");
    let image = shipped.image(program).expect("reads");
    csv_steps(Cursor::new(listing))
        .expect("header")
        .map(|step| step.expect("row"))
        .skip_while(
            |step| matches!(step, Step::Retire(retire) if image.program.bytes_at(retire.address).is_none()),
        )
        .collect()
}

#[test]
fn executions_are_executions_of_their_programs() {
    let shipped = shipped();
    for program in &shipped.programs {
        let image = shipped.image(program).expect("reads");
        let execution = shipped.execution(program).expect("opens");
        assert_eq!((image.xlen, execution.xlen()), (program.xlen, program.xlen), "{}", program.name);
        let map = FlowMap::new(&image.program, image.xlen);
        let mut check = FlowCheck::new(&map);
        let (mut instructions, mut traps) = (0, 0);
        for step in execution {
            let step = step.unwrap_or_else(|error| panic!("{}: {error}", program.name));
            check.step(&step).unwrap_or_else(|illegal| panic!("{}: {illegal}", program.name));
            match step {
                Step::Trap(_) => traps += 1,
                _ => instructions += 1,
            }
        }
        assert_eq!((instructions, traps), (program.instructions, program.traps), "{}", program.name);
    }
}

#[test]
fn programs_are_small_in_the_tree_and_large_in_what_they_run() {
    let shipped = shipped();
    let size = |name: String| shipped.files.read(name).expect("is there").len();
    let files = shipped.programs.iter().flat_map(|p| [p.elf_file(), p.execution_file()]);
    assert!(files.map(size).sum::<usize>() < 600_000);
    for name in ["mix.rv64gc", "mix.rv32imc"] {
        assert!(program(&shipped, name).instructions > 1_000_000);
    }
}

/// Everything that makes trap traffic hard is there: every level, delegation, and traps with nothing retired
/// before them.
#[test]
fn the_levels_program_has_heavy_trap_traffic() {
    let shipped = shipped();
    for name in ["levels.rv64", "levels.rv32"] {
        let steps = steps(&shipped, program(&shipped, name));
        let mut levels = [0; 4];
        let mut causes: BTreeMap<(bool, u64), u32> = BTreeMap::new();
        let mut chained = [0; 2];
        for pair in steps.windows(2) {
            match &pair[1] {
                Step::Retire(retire) => levels[usize::from(retire.privilege)] += 1,
                Step::Trap(trap) => {
                    *causes.entry((trap.interrupt, trap.cause)).or_default() += 1;
                    if matches!(&pair[0], Step::Trap(_)) {
                        chained[usize::from(trap.interrupt)] += 1;
                    }
                }
                Step::Stimulus(_) => {}
            }
        }
        assert!(levels[0] > 50_000 && levels[1] > 10_000 && levels[3] > 5_000, "{levels:?}");
        for (cause, least) in [
            ((true, 7), 100),  // machine timer
            ((true, 5), 100),  // supervisor timer, directly behind a trap return
            ((false, 8), 50),  // ecall from U
            ((false, 9), 100), // ecall from S
            ((false, 1), 4),   // fetch access fault: the EPC has no code
            ((false, 2), 20),
            ((false, 3), 20),
            ((false, 5), 10),
        ] {
            assert!(
                causes.get(&cause).is_some_and(|count| *count >= least),
                "{name}: {cause:?} in {causes:?}"
            );
        }
        assert!(chained[0] >= 8, "{name}: exceptions directly behind a trap: {chained:?}");
    }
}

/// Two simulators agree about the traps, and about every instruction up to the interrupt and from it on: only
/// where exactly the interrupt comes is theirs to choose.
#[test]
fn another_simulator_saw_the_same_traps() {
    let shipped = shipped();
    for name in ["trapsdev.rv64", "trapsdev.rv32"] {
        let program = program(&shipped, name);
        let (ours, mut theirs) = (steps(&shipped, program), witnessed(&shipped, program));
        // One simulator ends with the write that ends the program, the other one jump later.
        if theirs.last() != ours.last() {
            theirs.pop();
        }
        let traps = |steps: &[Step]| -> Vec<_> {
            let trap = |step: &Step| match step {
                Step::Trap(trap) => {
                    let epc = if trap.interrupt { Address(0) } else { trap.epc };
                    Some((trap.interrupt, trap.cause, trap.tval, epc, trap.privilege))
                }
                _ => None,
            };
            steps.iter().filter_map(trap).collect()
        };
        assert_eq!(traps(&ours), traps(&theirs), "{name}");
        assert_eq!(traps(&ours).len() as u64, program.traps, "{name}");
        let before = ours.iter().zip(&theirs).take_while(|(a, b)| a == b).count();
        let after = ours.iter().rev().zip(theirs.iter().rev()).take_while(|(a, b)| a == b).count();
        assert!(
            before + after + 48 >= ours.len().max(theirs.len()),
            "{name}: {before} + {after} of {}",
            ours.len()
        );

        let image = shipped.image(program).expect("reads");
        let map = FlowMap::new(&image.program, image.xlen);
        let mut check = FlowCheck::new(&map);
        theirs.iter().for_each(|step| check.step(step).unwrap_or_else(|illegal| panic!("{name}: {illegal}")));
        for set in ParameterSet::ALL {
            let Some(setup) = set.setup(program) else { continue };
            let divergence = travel(&mut Decoder::default(), &image.program, &setup, &theirs);
            assert_eq!(divergence, None, "{name}, {}", set.name);
        }
    }
}

/// Deepens the check of the large executions where the recordings of another tool (a QEMU plug-in) are at
/// hand.
#[test]
fn another_recorder_saw_the_same_instructions() {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/data/etrace/pcs");
    let shipped = shipped();
    for name in ["mix.rv64gc", "mix.rv32imc"] {
        let Ok(file) = File::open(directory.join(format!("{name}.pc.xz"))) else {
            eprintln!("SKIPPED: {name} is not compared, because {} is not there", directory.display());
            continue;
        };
        let theirs =
            address_steps(BufReader::new(XzReader::new(file, false)), 3).map(|step| step.expect("word"));
        let ours =
            shipped.execution(program(&shipped, name)).expect("opens").map(|step| step.expect("record"));
        assert!(ours.eq(theirs), "{name}");
    }
}

/// Sends steps through the encoder model and a decoder.
fn travel(
    decoder: &mut dyn vectors::Decoder<RiscvEtrace>,
    program: &Program,
    setup: &Setup,
    steps: &[Step],
) -> Option<Divergence> {
    let steps = steps.iter().cloned().map(Ok::<_, std::convert::Infallible>);
    round_trip(&mut Encoder::default(), decoder, program, setup, steps)
        .expect("the setup is accepted")
        .divergence
}

fn all_come_back(wanted: impl Fn(&str, &str) -> bool + Sync, least: usize) {
    let results = run_all(Subjects::reference(), None, &wanted, &|_| {}).expect("shipped");
    assert!(results.len() >= least, "only {} round trips", results.len());
    let shipped = shipped();
    for result in results {
        let at = format!("{}, {}", result.program, result.set);
        let trip = result.outcome.unwrap_or_else(|error| panic!("{at}: {error}"));
        if let Some(divergence) = trip.divergence {
            panic!("{at}: {divergence}");
        }
        let (program, set) =
            (program(&shipped, &result.program), ParameterSet::named(result.set).expect("known"));
        let whole = set.setup(program).is_some_and(|setup| setup.environment.triggers.is_none());
        if whole {
            assert_eq!((trip.instructions, trip.traps), (program.instructions, program.traps), "{at}");
        } else {
            assert!(trip.instructions * 3 > program.instructions, "{at}: {} instructions", trip.instructions);
        }
    }
}

#[test]
fn small_programs_come_back_under_every_parameter_set() {
    all_come_back(|program, _| !program.starts_with("mix"), 80);
}

#[test]
fn large_programs_come_back() {
    all_come_back(
        |program, set| program.starts_with("mix") && ["blocks", "everything", "return_stack"].contains(&set),
        6,
    );
}

/// Reports something else than the decoder inside it.
struct Saboteur {
    inner: Decoder,
    /// Changes the event, or drops it; called with the number of events of this kind before.
    lie: fn(&mut Event, &mut u32) -> bool,
    count: u32,
}

impl vectors::Decoder<RiscvEtrace> for Saboteur {
    fn capabilities(&self) -> Capabilities {
        self.inner.capabilities()
    }

    fn begin(&mut self, parameters: &Parameters, program: &Program) -> Result<(), Refusal> {
        self.inner.begin(parameters, program)
    }

    fn push(&mut self, chunk: &[u8], sink: &mut dyn Sink<RiscvEtrace>) {
        self.inner.push(chunk, &mut Liar { sink, lie: self.lie, count: &mut self.count });
    }

    fn finish(&mut self, sink: &mut dyn Sink<RiscvEtrace>) {
        self.inner.finish(&mut Liar { sink, lie: self.lie, count: &mut self.count });
    }

    fn reset(&mut self) {
        self.inner.reset();
    }
}

struct Liar<'a> {
    sink: &'a mut dyn Sink<RiscvEtrace>,
    lie: fn(&mut Event, &mut u32) -> bool,
    count: &'a mut u32,
}

impl Sink<RiscvEtrace> for Liar<'_> {
    fn packet(&mut self, place: Place, packet: &Packet) {
        self.sink.packet(place, packet);
    }

    fn event(&mut self, place: Place, event: &Event) {
        let mut event = *event;
        if (self.lie)(&mut event, self.count) {
            self.sink.event(place, &event);
        }
    }

    fn fault(&mut self, fault: &Fault) {
        self.sink.fault(fault);
    }
}

/// Whether this is the event number `which` (from 1) of those that are counted.
fn nth(count: &mut u32, which: u32) -> bool {
    *count += 1;
    *count == which
}

/// A comparison that lets everything pass would pass every test above.
#[test]
fn every_wrong_report_is_noticed() {
    type Lie = fn(&mut Event, &mut u32) -> bool;
    let lies: [(&str, Lie); 12] = [
        ("wrong level", |event, count| {
            if let Event::Context { privilege, .. } = event
                && nth(count, 3)
            {
                *privilege ^= 1;
            }
            true
        }),
        ("wrong context", |event, count| {
            if let Event::Context { context: Some(context), .. } = event
                && nth(count, 3)
            {
                *context += 1;
            }
            true
        }),
        ("wrong time", |event, count| {
            if let Event::Time { time } = event
                && nth(count, 3)
            {
                *time += 1;
            }
            true
        }),
        ("missing trap", |event, count| !(matches!(event, Event::Trap { .. }) && nth(count, 2))),
        ("interrupt for exception", |event, count| {
            if let Event::Trap { interrupt, .. } = event
                && nth(count, 2)
            {
                *interrupt = !*interrupt;
            }
            true
        }),
        ("wrong cause", |event, count| {
            if let Event::Trap { cause, .. } = event
                && nth(count, 6)
            {
                *cause += 1;
            }
            true
        }),
        ("wrong value", |event, count| {
            if let Event::Trap { tval: Some(tval), .. } = event
                && nth(count, 2)
            {
                *tval ^= 1;
            }
            true
        }),
        ("wrong EPC", |event, count| {
            if let Event::Trap { epc: Epc::At(epc), .. } = event
                && nth(count, 2)
            {
                epc.0 += 2;
            }
            true
        }),
        ("EPC not told", |event, count| {
            if let Event::Trap { epc: epc @ Epc::At(_), .. } = event
                && nth(count, 2)
            {
                *epc = Epc::Unknown;
            }
            true
        }),
        ("missing instructions", |event, count| !(matches!(event, Event::Retire { .. }) && nth(count, 5))),
        ("an instruction too many", |event, count| {
            if let Event::Retire { count: instructions, .. } = event
                && nth(count, 5)
            {
                *instructions += 1;
            }
            true
        }),
        ("missing stop", |event, _| !matches!(event, Event::Stop { .. })),
    ];
    let shipped = shipped();
    let program = program(&shipped, "trapsdev.rv64");
    let code = shipped.image(program).expect("reads").program;
    let steps = steps(&shipped, program);
    let mut setup = ParameterSet::named("context_time").and_then(|set| set.setup(program)).expect("a set");
    setup.environment.context_period = 50;
    for (name, lie) in lies {
        let mut saboteur = Saboteur { inner: Decoder::default(), lie, count: 0 };
        assert!(travel(&mut saboteur, &code, &setup, &steps).is_some(), "{name} passes");
    }
    assert_eq!(travel(&mut Decoder::default(), &code, &setup, &steps), None);
}

/// The first wrong instruction is named: its number, both addresses, and the packet.
#[test]
fn a_divergence_says_where() {
    let shipped = shipped();
    let program = program(&shipped, "trapsdev.rv32");
    let code = shipped.image(program).expect("reads").program;
    let mut steps = steps(&shipped, program);
    let lie: fn(&mut Event, &mut u32) -> bool = |event, count| {
        if let Event::Retire { first, .. } = event
            && nth(count, 2)
        {
            first.0 += 4;
        }
        true
    };
    steps.truncate(40);
    let mut saboteur = Saboteur { inner: Decoder::default(), lie, count: 0 };
    let setup = ParameterSet::named("delta").and_then(|set| set.setup(program)).expect("a set");
    let divergence = travel(&mut saboteur, &code, &setup, &steps).expect("is noticed");
    // Packet 0 is the support packet (2 bytes), packet 1 the start: instruction 0. The error is in the next packet.
    assert_eq!(divergence.instruction, 1);
    assert_eq!(divergence.place.packet, 2);
    assert!(matches!(divergence.expected, Observation::Retire { address: 0x8000_0004, .. }), "{divergence}");
    assert!(matches!(divergence.got, Observation::Retire { address: 0x8000_0008, .. }), "{divergence}");
}

/// The smallest programs, under every set of parameters, through a decoder.
fn small_programs<D: vectors::Decoder<RiscvEtrace> + 'static>(decoder: fn() -> D) -> Run {
    let subject = Subject::new("acme", "1").with_decoder::<RiscvEtrace>(move || Box::new(decoder()));
    let selection = Selection {
        families: vec![Family::RiscvEtrace],
        filters: vec![String::from("trapsdev.rv??/*")],
        ..Selection::default()
    };
    let options = Options { selection, programs: true, ..Options::default() };
    let run = run(&subject, &options, &|_| {}).expect("sound");
    assert!(run.cases.is_empty() && run.programs.len() >= 40, "{} round trips", run.programs.len());
    run
}

/// Reads packets and does not follow the program.
#[derive(Default)]
struct PacketReader(Decoder);

impl vectors::Decoder<RiscvEtrace> for PacketReader {
    fn capabilities(&self) -> Capabilities {
        let Capabilities { features, faults, .. } = self.0.capabilities();
        Capabilities::new([Layer::Packets])
            .with_features(features.iter().map(String::as_str))
            .with_faults(faults)
    }

    fn begin(&mut self, parameters: &Parameters, program: &Program) -> Result<(), Refusal> {
        self.0.begin(parameters, program)
    }

    fn push(&mut self, _: &[u8], _: &mut dyn Sink<RiscvEtrace>) {
        panic!("asked for what it does not claim");
    }

    fn finish(&mut self, _: &mut dyn Sink<RiscvEtrace>) {
        panic!("asked for what it does not claim");
    }

    fn reset(&mut self) {}
}

#[test]
fn who_reports_no_events_is_not_judged_by_programs() {
    for program in small_programs(PacketReader::default).programs {
        assert_eq!(
            program.verdict,
            Verdict::Unsupported { needs: vec![String::from("events")] },
            "{}",
            program.name()
        );
    }
}

/// Panics where addresses are absolute and wide.
#[derive(Default)]
struct Fragile {
    inner: Decoder,
    breaks: bool,
}

impl vectors::Decoder<RiscvEtrace> for Fragile {
    fn capabilities(&self) -> Capabilities {
        self.inner.capabilities()
    }

    fn begin(&mut self, parameters: &Parameters, program: &Program) -> Result<(), Refusal> {
        self.breaks = parameters.modes.full_address && parameters.iaddress_width_p == 64;
        self.inner.begin(parameters, program)
    }

    fn push(&mut self, chunk: &[u8], sink: &mut dyn Sink<RiscvEtrace>) {
        assert!(!self.breaks, "index 4 of 4");
        self.inner.push(chunk, sink);
    }

    fn finish(&mut self, sink: &mut dyn Sink<RiscvEtrace>) {
        self.inner.finish(sink);
    }

    fn reset(&mut self) {
        self.inner.reset();
    }
}

#[test]
fn a_panic_in_one_program_leaves_the_others_alone() {
    let run = small_programs(Fragile::default);
    let total = run.programs.len();
    let (crashed, passed): (Vec<_>, Vec<_>) =
        run.programs.into_iter().partition(|program| program.verdict.kind() != Kind::Pass);
    let crashed: Vec<_> =
        crashed.iter().map(|program| (program.name(), program.verdict.to_string())).collect();
    assert_eq!(
        crashed,
        [(String::from("trapsdev.rv64/full_address"), String::from("the subject crashed: index 4 of 4"))]
    );
    assert_eq!(passed.len() + 1, total);
}
