//! What the lines of a RISC-V E-Trace case mean, once the program is assembled.

use super::{EventEntry, StimulusEntry};
use crate::Address;
use crate::case::{Assembly, Expected, Location, Path, Problem};
use crate::riscv_etrace::{
    DataLayout, Encapsulation, Epc, Event, Packet, Parameters, Retire, RiscvEtrace, Step, Stimulus,
    SupportLayout, Trap, Xlen,
};

/// Finds the instructions of paths, and counts them.
struct Code<'a> {
    assembly: &'a Assembly,
    instructions: usize,
}

impl<'a> Code<'a> {
    const fn new(assembly: &'a Assembly) -> Self {
        Self { assembly, instructions: 0 }
    }

    /// The instructions of a path: address, and the address after it.
    fn path(&mut self, path: &Path) -> Result<Vec<(u64, u64)>, Problem> {
        let addresses = path.resolve(&self.assembly.labels)?;
        self.instructions += addresses.len();
        if self.instructions > Path::LIMIT {
            return Err(Problem::new("", format!("more than {} instructions up to here", Path::LIMIT)));
        }
        addresses.into_iter().map(|address| Ok((address, self.end_of(address)?))).collect()
    }

    /// The address after the instruction at `address`, modulo the address space.
    fn end_of(&self, address: u64) -> Result<u64, Problem> {
        let labels = &self.assembly.labels;
        if let Some(whole) = labels.enclosing(address) {
            let message = format!("{address:#x} is in the middle of the instruction at {whole:#x}");
            return Err(Problem::new("", message));
        }
        let size = labels.size_at(address).or_else(|| self.size_of_data(address)).ok_or_else(|| {
            Problem::new("", format!("no instruction of the program starts at {address:#x}"))
        })?;
        Ok(labels.wrap(address.wrapping_add(size)))
    }

    /// Size of an instruction that was written as data: 4 bytes if its low two bits are 11, otherwise 2.
    fn size_of_data(&self, address: u64) -> Option<u64> {
        let bytes = self.assembly.program.bytes_at(address)?;
        let size = if bytes.first()? & 3 == 3 { 4 } else { 2 };
        (bytes.len() as u64 >= size).then_some(size)
    }

    fn location(&self, location: &Location) -> Result<u64, Problem> {
        location.resolve(&self.assembly.labels)
    }
}

/// Collects the steps of an execution; remembers what stays in force from line to line.
struct Recorder<'a> {
    code: Code<'a>,
    steps: Vec<Step>,
    privilege: u8,
    context: u64,
    time: u64,
}

pub(super) fn execution(entries: &[StimulusEntry], assembly: &Assembly) -> Result<Vec<Step>, Problem> {
    let mut recorder =
        Recorder { code: Code::new(assembly), steps: Vec::new(), privilege: 3, context: 0, time: 0 };
    for (index, entry) in entries.iter().enumerate() {
        recorder.entry(entry).map_err(|problem| problem.under(&format!("stimulus[{index}]")))?;
    }
    Ok(recorder.steps)
}

impl Recorder<'_> {
    fn entry(&mut self, entry: &StimulusEntry) -> Result<(), Problem> {
        match entry {
            StimulusEntry::Retire(path) => self.retire("retire", path, |_| {})?,
            StimulusEntry::RetireNotify(path) => self.retire("retire_notify", path, |instructions| {
                instructions.last_mut().into_iter().for_each(|last| last.notify = true);
            })?,
            StimulusEntry::RetireTaken(path) => self.retire("retire_taken", path, |instructions| {
                instructions.last_mut().into_iter().for_each(|last| last.taken = Some(true));
            })?,
            StimulusEntry::RetirePartial(path) => self.retire("retire_partial", path, |instructions| {
                instructions.last_mut().into_iter().for_each(|last| last.partial = true);
            })?,
            StimulusEntry::RetireContext { path, context, ctype } => {
                self.context = *context;
                self.retire("retire_context.path", path, |instructions| {
                    instructions.first_mut().into_iter().for_each(|first| first.ctype = *ctype);
                })?;
            }
            StimulusEntry::Exception { cause, tval, epc } => {
                let epc = self.code.location(epc).map_err(|problem| problem.under("exception.epc"))?;
                self.trap(Trap { cause: *cause, tval: *tval, epc: Address(epc), ..Trap::default() });
            }
            StimulusEntry::Interrupt { cause } => {
                self.trap(Trap { interrupt: true, cause: *cause, ..Trap::default() });
            }
            StimulusEntry::Privilege(privilege) => self.privilege = *privilege,
            StimulusEntry::Time(time) => self.time = *time,
            StimulusEntry::Context(context) => self.context = *context,
            StimulusEntry::Enable(on) => self.steps.push(Step::Stimulus(Stimulus::Enable(*on))),
            StimulusEntry::Modes(modes) => self.steps.push(Step::Stimulus(Stimulus::Modes(*modes))),
            StimulusEntry::Transport(up) => self.steps.push(Step::Stimulus(Stimulus::Transport(*up))),
            StimulusEntry::Cycle(cycle) => {
                self.steps.push(Step::Stimulus(Stimulus::Cycle(cycle.clone())));
            }
            StimulusEntry::Data(access) => self.steps.push(Step::Stimulus(Stimulus::Data(Box::new(*access)))),
            StimulusEntry::Response(response) => {
                self.steps.push(Step::Stimulus(Stimulus::Response(*response)));
            }
            StimulusEntry::DataEnable(on) => self.steps.push(Step::Stimulus(Stimulus::DataEnable(*on))),
            StimulusEntry::DataOptions(options) => {
                self.steps.push(Step::Stimulus(Stimulus::DataOptions(*options)));
            }
            StimulusEntry::DataTransport(up) => {
                self.steps.push(Step::Stimulus(Stimulus::DataTransport(*up)));
            }
        }
        Ok(())
    }

    fn retire(&mut self, key: &str, path: &Path, mark: impl FnOnce(&mut [Retire])) -> Result<(), Problem> {
        let path = self.code.path(path).map_err(|problem| problem.under(key))?;
        let mut instructions: Vec<Retire> = path
            .into_iter()
            .map(|(address, _)| Retire {
                address: Address(address),
                taken: None,
                privilege: self.privilege,
                context: self.context,
                time: self.time,
                ctype: 0,
                notify: false,
                partial: false,
            })
            .collect();
        mark(&mut instructions);
        self.steps.extend(instructions.into_iter().map(Step::Retire));
        Ok(())
    }

    fn trap(&mut self, trap: Trap) {
        self.steps.push(Step::Trap(Trap {
            privilege: self.privilege,
            context: self.context,
            time: self.time,
            ..trap
        }));
    }
}

pub(super) fn expected(
    entries: &[EventEntry],
    assembly: &Assembly,
) -> Result<Vec<Expected<RiscvEtrace>>, Problem> {
    let mut code = Code::new(assembly);
    let mut expected = Vec::new();
    for (index, entry) in entries.iter().enumerate() {
        event(entry, &mut code, &mut expected)
            .map_err(|problem| problem.under(&format!("events[{index}]")))?;
    }
    Ok(expected)
}

fn event(
    entry: &EventEntry,
    code: &mut Code<'_>,
    expected: &mut Vec<Expected<RiscvEtrace>>,
) -> Result<(), Problem> {
    let event = match entry {
        EventEntry::Retire(path) => {
            let path = code.path(path).map_err(|problem| problem.under("retire"))?;
            let one = |(first, end): (u64, u64)| {
                Expected::Event(Event::Retire { first: Address(first), end: Address(end), count: 1 })
            };
            expected.extend(path.into_iter().map(one));
            return Ok(());
        }
        EventEntry::Exception { cause, tval, epc, epc_may_be_unknown } => {
            let epc = match epc.as_ref().filter(|location| !location.is_unknown()) {
                Some(location) => {
                    let address =
                        code.location(location).map_err(|problem| problem.under("exception.epc"))?;
                    if *epc_may_be_unknown {
                        Epc::AtOrUnknown(Address(address))
                    } else {
                        Epc::At(Address(address))
                    }
                }
                None if *epc_may_be_unknown => {
                    return Err(Problem::new("exception.epc_may_be_unknown", "`epc` is no location"));
                }
                None => epc.as_ref().map_or(Epc::Unstated, |_| Epc::Unknown),
            };
            Event::Trap { interrupt: false, cause: *cause, tval: Some(*tval), epc }
        }
        EventEntry::Interrupt { cause } => {
            Event::Trap { interrupt: true, cause: *cause, tval: None, epc: Epc::Unstated }
        }
        EventEntry::Context { privilege, context } => {
            Event::Context { privilege: *privilege, context: *context, precise: true }
        }
        EventEntry::ImpreciseContext { privilege, context } => {
            Event::Context { privilege: *privilege, context: *context, precise: false }
        }
        EventEntry::Time(time) => Event::Time { time: *time },
        EventEntry::Stop(reason) => Event::Stop { reason: *reason },
        EventEntry::Data(event) => Event::Data(*event),
        EventEntry::Fault(fault) => {
            expected.push(Expected::Fault(*fault));
            return Ok(());
        }
    };
    expected.push(Expected::Event(event));
    Ok(())
}

/// A mode needs its feature as soon as the hardware has it: a support packet may switch it on at any time.
pub(super) fn required_features(parameters: &Parameters) -> Vec<&'static str> {
    let transport = transport_features(parameters.encapsulation);
    let modes = parameters.modes;
    let returns = parameters.return_stack_size_p > 0 || parameters.call_counter_size_p > 0;
    [
        ("rv32", parameters.xlen == Xlen::Rv32),
        ("rv64", parameters.xlen == Xlen::Rv64),
        ("compressed", parameters.iaddress_lsb_p < 2),
        ("context", parameters.context_width() > 0),
        ("time", parameters.time_width() > 0),
        ("full_address", modes.full_address),
        ("implicit_exception", modes.implicit_exception || parameters.trap_vectors.is_some()),
        ("implicit_return", modes.implicit_return || returns),
        ("sijump", modes.sijump || parameters.sijump_p),
        ("branch_prediction", modes.branch_prediction || parameters.bpred_size_p > 0),
        ("jump_target_cache", modes.jump_target_cache || parameters.cache_size_p > 0),
        ("data_trace", parameters.data.is_some()),
        ("mma_cas", parameters.data.is_some_and(|data| data.layout == DataLayout::MmaCas)),
        ("standard_support", parameters.has_standard_support()),
        ("irets", parameters.iret_ext),
        ("support_layout", parameters.support != SupportLayout::default()),
    ]
    .into_iter()
    .chain(transport)
    .filter_map(|(feature, needed)| needed.then_some(feature))
    .collect()
}

/// Predictor, jump target cache, handler addresses and inferable jumps matter only to a stream that uses them: in a
/// format 0 packet, or because a mode is on, or switched on by a support packet. The return stack and the call counter
/// always matter: `irdepth` has their width.
pub(super) fn without_unused(parameters: &Parameters, packets: &[Packet]) -> Parameters {
    let uses = |packet: &Packet| match packet {
        Packet::BranchCount { .. } | Packet::JumpTargetIndex { .. } | Packet::StandardSupport(_) => true,
        Packet::Support { ioptions, .. } => *ioptions != 0,
        _ => false,
    };
    let mut parameters = parameters.clone();
    if packets.iter().any(uses) {
        return parameters;
    }
    let modes = parameters.modes;
    if !modes.branch_prediction {
        parameters.bpred_size_p = 0;
    }
    if !modes.jump_target_cache {
        parameters.cache_size_p = 0;
    }
    if !modes.implicit_exception {
        parameters.trap_vectors = None;
    }
    if !modes.sijump {
        parameters.sijump_p = false;
    }
    parameters
}

fn transport_features(encapsulation: Encapsulation) -> [(&'static str, bool); 7] {
    let (source_id, timestamp) = match encapsulation {
        Encapsulation::Normal(normal) => (normal.src_id_bits > 0, normal.timestamp_bytes > 0),
        Encapsulation::Siemens(siemens) => (siemens.source_bits > 0, siemens.timestamp),
        Encapsulation::Atb => (false, false),
    };
    [
        ("source_id", source_id),
        ("timestamp", timestamp),
        ("packet_type", matches!(encapsulation, Encapsulation::Normal(normal) if normal.type_bits > 0)),
        ("stream_entry", matches!(encapsulation, Encapsulation::Normal(normal) if !normal.synchronised)),
        ("memory_blocks", matches!(encapsulation, Encapsulation::Normal(normal) if normal.block_bytes > 0)),
        ("siemens", matches!(encapsulation, Encapsulation::Siemens(_))),
        ("atb", encapsulation == Encapsulation::Atb),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::case::{CaseProtocol, ExpectedFault};
    use crate::riscv_etrace::{
        AtomicAccess, AtomicOperation, DataAccess, DataEvent, DataOptions, DataParameters, DataResponse,
        FEATURES, MemoryAccess, Modes, NormalEncapsulation, StopReason, TrapVectors, Version,
    };
    use crate::{FaultClass, Feature, Protocol};

    const PROGRAM: &str =
        ".org 0x1000\nA: nop\nB: c.nop\nC: beq x0, x0, A\n.org 0x2000\nraw: .half 1\n.word 0x13\n";

    fn assembly() -> Assembly {
        RiscvEtrace::assemble(PROGRAM, &Parameters::default()).expect("assembles")
    }

    /// Reads entries as they stand in a file.
    fn entries<T: serde::de::DeserializeOwned>(toml: &str) -> Vec<T> {
        #[derive(serde::Deserialize)]
        struct File<T> {
            entries: Vec<T>,
        }
        toml::from_str::<File<T>>(&format!("entries = [{toml}]")).expect(toml).entries
    }

    fn steps(toml: &str) -> Result<Vec<Step>, String> {
        execution(&entries(toml), &assembly()).map_err(|problem| problem.to_string())
    }

    fn events(toml: &str) -> Result<Vec<Expected<RiscvEtrace>>, String> {
        expected(&entries(toml), &assembly()).map_err(|problem| problem.to_string())
    }

    const fn plain(address: u64) -> Retire {
        Retire {
            address: Address(address),
            taken: None,
            privilege: 3,
            context: 0,
            time: 0,
            ctype: 0,
            notify: false,
            partial: false,
        }
    }

    #[test]
    fn privilege_context_and_time_stay_in_force() {
        let steps = steps(
            "{ enable = true }, { retire = 'A' }, { privilege = 0 }, { time = '0x10' }, { context = 5 }, \
             { retire = 'B' }, { retire = 'C' }, { interrupt = { cause = 7 } }",
        );
        let b = Retire { privilege: 0, time: 0x10, context: 5, ..plain(0x1004) };
        let c = Retire { address: Address(0x1006), ..b };
        let trap = Trap {
            interrupt: true,
            cause: 7,
            tval: 0,
            epc: Address(0),
            privilege: 0,
            context: 5,
            time: 0x10,
        };
        assert_eq!(
            steps,
            Ok(vec![
                Step::Stimulus(Stimulus::Enable(true)),
                Step::Retire(plain(0x1000)),
                Step::Retire(b),
                Step::Retire(c),
                Step::Trap(trap)
            ])
        );
    }

    #[test]
    fn marks_of_a_line_concern_one_instruction_of_it() {
        let steps = steps(
            "{ retire_notify = 'A B' }, { retire_taken = 'B C' }, \
             { retire_context = { path = 'A B', context = '0x9', ctype = 2 } }, { retire = 'C' }",
        );
        let later = |address| Retire { context: 9, ..plain(address) };
        let expected = [
            plain(0x1000),
            Retire { notify: true, ..plain(0x1004) },
            plain(0x1004),
            Retire { taken: Some(true), ..plain(0x1006) },
            Retire { ctype: 2, ..later(0x1000) },
            later(0x1004),
            later(0x1006),
        ];
        assert_eq!(steps, Ok(expected.map(Step::Retire).to_vec()));
    }

    #[test]
    fn exceptions_and_control_of_the_encoder_pass_through() {
        let steps = steps(
            "{ exception = { cause = 2, epc = 'C' } }, { exception = { cause = 12, tval = '0x99', epc = 'A+4' } }, \
             { modes = { full_address = true } }, { transport = false }, { enable = false }, { cycle = { halted = true } }",
        )
        .expect("resolves");
        let trap = |cause, tval, epc| {
            let interrupt = false;
            Step::Trap(Trap { interrupt, cause, tval, epc, privilege: 3, context: 0, time: 0 })
        };
        let cycle = crate::riscv_etrace::Cycle { halted: true, ..Default::default() };
        let modes = Modes { full_address: true, ..Modes::default() };
        assert_eq!(
            steps,
            [
                trap(2, 0, Address(0x1006)),
                trap(12, 0x99, Address(0x1004)),
                Step::Stimulus(Stimulus::Modes(modes)),
                Step::Stimulus(Stimulus::Transport(false)),
                Step::Stimulus(Stimulus::Enable(false)),
                Step::Stimulus(Stimulus::Cycle(cycle)),
            ]
        );
    }

    #[test]
    fn data_accesses_stand_after_their_instruction() {
        let steps = steps(
            "{ data_enable = true }, { retire_partial = 'A' }, \
             { data = { store = { address = '0x20', size = 2, data = '0x5', multi = true } } }, \
             { data = { load = { address = 0x21, size = 1, lrid = 3, filtered = true } } }, \
             { data = { atomic = { op = 'min', address = '0x24', size = 2, operand = 7, data = '0xffffffff' } } }, \
             { response = { lrid = 3, data = '0x1234' } }, { response = { lrid = 4 } }, \
             { data_options = { no_address = true } }, { data_transport = false }",
        )
        .expect("resolves");
        let (multi, filtered) = (true, true);
        let store =
            MemoryAccess { address: Address(0x20), size: 2, data: 5, lrid: None, multi, filtered: false };
        let load =
            MemoryAccess { address: Address(0x21), size: 1, data: 0, lrid: Some(3), multi: false, filtered };
        let atomic = AtomicAccess {
            op: AtomicOperation::Min,
            address: Address(0x24),
            size: 2,
            operand: 7,
            data: 0xffff_ffff,
            lrid: None,
            filtered: false,
        };
        let expected = [
            Stimulus::Data(Box::new(DataAccess::Store(store))),
            Stimulus::Data(Box::new(DataAccess::Load(load))),
            Stimulus::Data(Box::new(DataAccess::Atomic(atomic))),
            Stimulus::Response(DataResponse { lrid: 3, data: Some(0x1234) }),
            Stimulus::Response(DataResponse { lrid: 4, data: None }),
            Stimulus::DataOptions(DataOptions { no_address: true, ..DataOptions::default() }),
            Stimulus::DataTransport(false),
        ];
        let mut wanted = vec![
            Step::Stimulus(Stimulus::DataEnable(true)),
            Step::Retire(Retire { partial: true, ..plain(0x1000) }),
        ];
        wanted.extend(expected.map(Step::Stimulus));
        assert_eq!(steps, wanted);
    }

    #[test]
    fn every_instruction_of_a_path_is_an_event() {
        let retire = |first: u64, end: u64| {
            Expected::Event(Event::Retire { first: Address(first), end: Address(end), count: 1 })
        };
        let all = events("{ retire = 'A..C A' }, { retire = 'raw raw+2' }").expect("resolves");
        assert_eq!(
            all,
            [
                retire(0x1000, 0x1004),
                retire(0x1004, 0x1006),
                retire(0x1006, 0x100a),
                retire(0x1000, 0x1004),
                retire(0x2000, 0x2002),
                retire(0x2002, 0x2006),
            ]
        );
        let events = all.into_iter().filter_map(|entry| match entry {
            Expected::Event(event) => Some(event),
            Expected::Fault(_) => None,
        });
        assert_eq!(RiscvEtrace::canonical(events.collect()).len(), 3);
    }

    #[test]
    fn addresses_wrap_at_their_width() {
        let parameters = Parameters::default();
        let assembly = RiscvEtrace::assemble(".org 0xfffffffc\nA: nop", &parameters).expect("assembles");
        let events = expected(&entries("{ retire = 'A' }"), &assembly);
        let wrapped = Event::Retire { first: Address(0xffff_fffc), end: Address(0), count: 1 };
        assert_eq!(events, Ok(vec![Expected::Event(wrapped)]));
    }

    #[test]
    fn events_other_than_retirements_stand_for_themselves() {
        let all = events(
            "{ exception = { cause = 2 } }, { exception = { cause = 2, tval = 7, epc = 'unknown' } }, \
             { exception = { cause = 2, epc = '0x5000' } }, { interrupt = { cause = 3 } }, \
             { exception = { cause = 2, epc = '0x5000', epc_may_be_unknown = true } }, \
             { context = { privilege = 1 } }, { imprecise_context = { privilege = 0, context = '0x12' } }, \
             { time = '0x20' }, { stop = 'lost' }, \
             { data = { load = { address = '0x20', size = 0, data = '0x80' } } }, { data = 'lost' }, \
             { fault = { class = 'no-code', packet = 2, byte = 9 } }",
        )
        .expect("resolves");
        let exception = |tval, epc| Event::Trap { interrupt: false, cause: 2, tval: Some(tval), epc };
        let fault = ExpectedFault { class: FaultClass::NoCode, packet: 2, byte: 9, bit: 0 };
        assert_eq!(
            all,
            [
                Expected::Event(exception(0, Epc::Unstated)),
                Expected::Event(exception(7, Epc::Unknown)),
                Expected::Event(exception(0, Epc::At(Address(0x5000)))),
                Expected::Event(Event::Trap { interrupt: true, cause: 3, tval: None, epc: Epc::Unstated }),
                Expected::Event(exception(0, Epc::AtOrUnknown(Address(0x5000)))),
                Expected::Event(Event::Context { privilege: 1, context: None, precise: true }),
                Expected::Event(Event::Context { privilege: 0, context: Some(0x12), precise: false }),
                Expected::Event(Event::Time { time: 0x20 }),
                Expected::Event(Event::Stop { reason: StopReason::Lost }),
                Expected::Event(Event::Data(DataEvent::Load {
                    address: Some(Address(0x20)),
                    size: 0,
                    data: Some(0x80),
                    multi: false,
                })),
                Expected::Event(Event::Data(DataEvent::Lost)),
                Expected::Fault(fault),
            ]
        );
    }

    #[test]
    fn problems_name_the_entry() {
        for (toml, message) in [
            ("{ enable = true }, { retire = 'A Z' }", "stimulus[1].retire: unknown label `Z`"),
            ("{ retire_notify = 'A..Z' }", "stimulus[0].retire_notify: unknown label `Z`"),
            (
                "{ retire_taken = 'A+2' }",
                "stimulus[0].retire_taken: 0x1002 is in the middle of the instruction at 0x1000",
            ),
            (
                "{ retire_context = { path = '0x4000', context = 0, ctype = 1 } }",
                "stimulus[0].retire_context.path: no instruction of the program starts at 0x4000",
            ),
            (
                "{ exception = { cause = 1, epc = 'unknown' } }",
                "stimulus[0].exception.epc: unknown label `unknown`",
            ),
            (
                "{ retire = 'A*1000000' }, { retire = 'A' }",
                "stimulus[1].retire: more than 1000000 instructions up to here",
            ),
        ] {
            assert_eq!(steps(toml), Err(message.to_owned()));
        }
        for (toml, message) in [
            ("{ retire = 'raw+6' }", "events[0].retire: no instruction of the program starts at 0x2006"),
            ("{ exception = { cause = 1, epc = 'Z' } }", "events[0].exception.epc: unknown label `Z`"),
        ] {
            assert_eq!(events(toml), Err(message.to_owned()));
        }
    }

    #[test]
    fn impossible_parameters_are_a_problem_of_the_case() {
        let parameters = Parameters { privilege_width_p: 0, ..Parameters::default() };
        let problem = RiscvEtrace::assemble("", &parameters).expect_err("no such hardware");
        assert_eq!(problem.to_string(), "parameters.privilege_width_p: must be 1 to 4");
    }

    #[test]
    fn features_follow_from_parameters() {
        assert_eq!(required_features(&Parameters::default()), ["rv32", "compressed"]);
        let everything = Parameters {
            xlen: Xlen::Rv64,
            iaddress_lsb_p: 2,
            nocontext_p: false,
            notime_p: false,
            bpred_size_p: 4,
            cache_size_p: 4,
            call_counter_size_p: 3,
            sijump_p: true,
            modes: Modes { full_address: true, ..Modes::default() },
            trap_vectors: Some(TrapVectors { base: Address(0), vectored: false }),
            encapsulation: Encapsulation::Normal(NormalEncapsulation {
                src_id_bits: 8,
                timestamp_bytes: 2,
                type_bits: 1,
                synchronised: false,
                block_bytes: 64,
                ..NormalEncapsulation::default()
            }),
            support: SupportLayout { encoder_mode_width: 2, ..SupportLayout::default() },
            data: Some(DataParameters { layout: DataLayout::MmaCas, ..DataParameters::default() }),
            ..Parameters::default()
        };
        let features = required_features(&everything);
        let expected: Vec<_> = Feature::names(&FEATURES)
            .filter(|name| {
                !["rv32", "compressed", "standard_support", "irets", "siemens", "atb"].contains(name)
            })
            .collect();
        assert_eq!(features, expected);
        let later = Parameters { version: Version::V2_0_5, iret_ext: true, ..Parameters::default() };
        assert_eq!(required_features(&later), ["rv32", "compressed", "standard_support", "irets"]);
    }
}
