//! What the lines of an ARM ETM case mean, once the program is assembled.

use super::{EventEntry, StimulusEntry};
use crate::Address32;
use crate::arm_etm::{
    Architecture, ArmEtm, BranchTarget, Event, Instruction, Isa, Parameters, Phantom, Stimulus,
};
use crate::case::{Assembly, Expected, Labels, Location, Problem};

/// No case has more cycles: a typing error must not exhaust the memory.
const MOST_CYCLES: usize = 1 << 20;

/// What stays in force from line to line.
struct Levels {
    trace_enable: bool,
    view_data: bool,
    debug: bool,
    non_secure: bool,
    hyp: bool,
    timestamp: u64,
    isa: Isa,
}

pub(super) fn execution(entries: &[StimulusEntry], assembly: &Assembly) -> Result<Vec<Stimulus>, Problem> {
    let mut levels = Levels {
        trace_enable: false,
        view_data: true,
        debug: false,
        non_secure: false,
        hyp: false,
        timestamp: 0,
        isa: Isa::Arm,
    };
    let mut cycles = Vec::new();
    for (index, entry) in entries.iter().enumerate() {
        let under = |problem: Problem| problem.under(&format!("stimulus[{index}]"));
        let cycle = levels.cycle(entry, &assembly.labels).map_err(under)?;
        let count = usize::try_from(entry.repeat.unwrap_or(1)).unwrap_or(usize::MAX);
        if count > MOST_CYCLES - cycles.len() {
            return Err(under(Problem::new("repeat", format!("more than {MOST_CYCLES} cycles up to here"))));
        }
        cycles.extend(std::iter::repeat_n(cycle, count));
    }
    Ok(cycles)
}

impl Levels {
    fn cycle(&mut self, entry: &StimulusEntry, labels: &Labels) -> Result<Stimulus, Problem> {
        self.trace_enable = entry.trace_enable.unwrap_or(self.trace_enable);
        self.view_data = entry.view_data.unwrap_or(self.view_data);
        self.debug = entry.debug.unwrap_or(self.debug);
        self.non_secure = entry.non_secure.unwrap_or(self.non_secure);
        self.hyp = entry.hyp.unwrap_or(self.hyp);
        self.timestamp = entry.timestamp.unwrap_or(self.timestamp);
        self.isa = entry.isa.unwrap_or(self.isa);
        Ok(Stimulus {
            trace_enable: self.trace_enable,
            view_data: self.view_data,
            debug: self.debug,
            reset: entry.reset,
            trigger: entry.trigger,
            instruction: self.instruction(entry, labels)?,
            transfers: entry.transfers.clone(),
            returns: entry.returns.clone(),
            context_id: entry.context_id,
            non_secure: self.non_secure,
            hyp: self.hyp,
            timestamp: self.timestamp,
            timestamp_event: entry.timestamp_event,
            clock_change: entry.clock_change,
            vmid: entry.vmid,
            exception_entry: entry.exception_entry,
        })
    }

    fn instruction(
        &mut self,
        entry: &StimulusEntry,
        labels: &Labels,
    ) -> Result<Option<Instruction>, Problem> {
        let (location, executed, key) = match (&entry.execute, &entry.skip) {
            (Some(location), None) => (location, true, "execute"),
            (None, Some(location)) => (location, false, "skip"),
            (Some(_), Some(_)) => return Err(Problem::new("skip", "a cycle has one instruction")),
            (None, None) => {
                let dangling = [
                    ("phantom", entry.phantom.is_some()),
                    ("branch", entry.branch.is_some()),
                    ("exception_return", entry.exception_return),
                    ("thumb32", entry.thumb32),
                ];
                return match dangling.into_iter().find(|(_, there)| *there) {
                    Some((key, _)) => Err(Problem::new(key, "there is no instruction in this cycle")),
                    None => Ok(None),
                };
            }
        };
        let phantom = entry.phantom.as_ref().map(|phantom| {
            Ok(Phantom { address: address(&phantom.at, labels, "phantom.at")?, taken: phantom.taken })
        });
        let isa = self.isa;
        let branch = entry.branch.as_ref().map(|branch| {
            self.isa = branch.isa.unwrap_or(isa);
            let address = address(&branch.to, labels, "branch.to")?;
            Ok(BranchTarget {
                address: Address32(address.0),
                isa: self.isa,
                direct: branch.direct,
                exception: branch.exception,
            })
        });
        Ok(Some(Instruction {
            address: address(location, labels, key)?,
            isa,
            executed,
            phantom: phantom.transpose()?,
            branch: branch.transpose()?,
            exception_return: entry.exception_return,
            thumb32: entry.thumb32,
        }))
    }
}

fn address(location: &Location, labels: &Labels, key: &str) -> Result<Address32, Problem> {
    let address = location.resolve(labels).map_err(|problem| problem.under(key))?;
    u32::try_from(address)
        .map(Address32)
        .map_err(|_| Problem::new(key, format!("`{location}` is outside the address space")))
}

pub(super) fn expected(
    entries: &[EventEntry],
    assembly: &Assembly,
) -> Result<Vec<Expected<ArmEtm>>, Problem> {
    let mut expected = Vec::new();
    for (index, entry) in entries.iter().enumerate() {
        match entry {
            EventEntry::Instructions(cycles) => {
                expected.extend(cycles.events().iter().copied().map(Expected::Event));
            }
            EventEntry::InstructionsAt(instructions) => {
                expected.extend(instructions.events().iter().copied().map(Expected::Event));
            }
            EventEntry::Atoms(atoms) => {
                expected.extend(atoms.events().iter().copied().map(Expected::Event));
            }
            EventEntry::Fault(fault) => expected.push(Expected::Fault(*fault)),
            _ => {
                let event = event(entry, &assembly.labels)
                    .map_err(|problem| problem.under(&format!("events[{index}]")))?;
                expected.extend(event.map(Expected::Event));
            }
        }
    }
    Ok(expected)
}

/// The event of a line that stands for exactly one.
fn event(entry: &EventEntry, labels: &Labels) -> Result<Option<Event>, Problem> {
    Ok(Some(match entry {
        EventEntry::Instructions(_)
        | EventEntry::InstructionsAt(_)
        | EventEntry::Atoms(_)
        | EventEntry::Fault(_) => return Ok(None),
        EventEntry::Trigger(when) => Event::Trigger { when: *when },
        EventEntry::Synchronisation { cycle, reason, address: at, isa, context_id, lsm } => {
            Event::Synchronisation {
                cycle: *cycle,
                reason: *reason,
                address: address(at, labels, "synchronisation.address")?,
                isa: *isa,
                context_id: *context_id,
                lsm: lsm.as_ref().map(|lsm| address(lsm, labels, "synchronisation.lsm")).transpose()?,
            }
        }
        EventEntry::Branch { cycle, address: to, isa } => {
            Event::Branch { cycle: *cycle, address: address(to, labels, "branch.address")?, isa: *isa }
        }
        EventEntry::Exception { .. } => return exception(entry, labels),
        EventEntry::PossibleException { cycle, vector } => Event::PossibleException {
            cycle: *cycle,
            vector: address(vector, labels, "possible_exception.vector")?,
        },
        EventEntry::IgnoredTransfers { first, last } => {
            Event::IgnoredTransfers { first: *first, last: *last }
        }
        EventEntry::ContextId { when, value } => Event::ContextId { when: *when, value: *value },
        EventEntry::Transfer { transfer, when, address, value, big_endian } => Event::Transfer {
            transfer: *transfer,
            when: *when,
            address: *address,
            value: *value,
            big_endian: *big_endian,
        },
        EventEntry::MissData { transfer, when, value } => {
            Event::MissData { transfer: *transfer, when: *when, value: *value }
        }
        EventEntry::Missing { transfer, reason } => Event::Missing { transfer: *transfer, reason: *reason },
        EventEntry::IgnoredData { when, tag } => Event::IgnoredData { when: *when, tag: *tag },
        EventEntry::Incomplete(when) => Event::Incomplete { when: *when },
        EventEntry::InstructionSync { .. } => return instruction_sync(entry, labels),
        EventEntry::Gap { cycles } => Event::Gap { cycles: *cycles },
        EventEntry::BranchTo { address: to, isa, exception } => Event::BranchTo {
            address: address(to, labels, "branch_to.address")?,
            isa: *isa,
            exception: *exception,
        },
        EventEntry::ExceptionReturn(when) => Event::ExceptionReturn { when: *when },
        EventEntry::ExceptionEntry(when) => Event::ExceptionEntry { when: *when },
        EventEntry::Vmid { when, value } => Event::Vmid { when: *when, value: *value },
        EventEntry::Timestamp { value, clock_change } => {
            Event::Timestamp { value: *value, clock_change: *clock_change }
        }
        EventEntry::StoreFailed(transfer) => Event::StoreFailed { transfer: *transfer },
        EventEntry::DataSuppressed(when) => Event::DataSuppressed { when: *when },
    }))
}

/// The event of an exception line.
fn exception(entry: &EventEntry, labels: &Labels) -> Result<Option<Event>, Problem> {
    let EventEntry::Exception { cycle, kind, vector, at, cancelled } = entry else { return Ok(None) };
    Ok(Some(Event::Exception {
        cycle: *cycle,
        kind: *kind,
        vector: address(vector, labels, "exception.vector")?,
        at: at.as_ref().map(|at| address(at, labels, "exception.at")).transpose()?,
        cancelled: *cancelled,
    }))
}

/// The event of an I-sync line.
fn instruction_sync(entry: &EventEntry, labels: &Labels) -> Result<Option<Event>, Problem> {
    let EventEntry::InstructionSync { reason, address: at, isa, non_secure, hyp, context_id, in_progress } =
        entry
    else {
        return Ok(None);
    };
    let resolve = |location: &Option<Location>, key| {
        location.as_ref().map(|location| address(location, labels, key)).transpose()
    };
    Ok(Some(Event::InstructionSync {
        reason: *reason,
        address: resolve(at, "instruction_sync.address")?,
        isa: *isa,
        non_secure: *non_secure,
        hyp: *hyp,
        context_id: *context_id,
        in_progress: resolve(in_progress, "instruction_sync.in_progress")?,
    }))
}

pub(super) fn required_features(parameters: &Parameters) -> Vec<&'static str> {
    let v3 = parameters.architecture == Architecture::V3;
    [
        (parameters.architecture.feature(), true),
        ("port_4", !v3 && parameters.port_width == 4),
        ("port_16", !v3 && parameters.port_width == 16),
        ("cycle_accurate", parameters.cycle_accurate),
        ("jazelle", !v3 && parameters.has_jazelle()),
        ("data", v3 && parameters.traces_data()),
        ("data_only", parameters.data_only),
        ("alternative_branches", parameters.alternative_branches),
        ("timestamps", parameters.timestamps),
        ("vmid", parameters.vmid),
        ("m_profile", parameters.m_profile),
        ("bare_port", parameters.bare_port),
        ("virtualization", parameters.virtualization),
    ]
    .into_iter()
    .filter_map(|(feature, needed)| needed.then_some(feature))
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Protocol;
    use crate::arm_etm::{Access, FEATURES, MissReturn, Position, Reason, Transfer, Value};
    use crate::case::CaseProtocol;

    fn assembly() -> Assembly {
        ArmEtm::assemble(".org 0x8000\nA: .word 0xe5910000\nB: .word 0xe12fff12\n", &Parameters::default())
            .expect("assembles")
    }

    /// Reads entries as they stand in a file.
    fn entries<T: serde::de::DeserializeOwned>(toml: &str) -> Vec<T> {
        #[derive(serde::Deserialize)]
        struct File<T> {
            entries: Vec<T>,
        }
        toml::from_str::<File<T>>(&format!("entries = [{toml}]")).expect(toml).entries
    }

    #[test]
    fn levels_stay_and_instructions_do_not() {
        let lines = r#"{ repeat = 2 },
            { trace_enable = true, execute = "A", transfers = [{ address = "0x1000", access = { miss = 1 } }] },
            { view_data = false, skip = "B", branch = { to = "0x9000", isa = "thumb" }, phantom = { at = "A", taken = true } },
            { execute = "0x9000", returns = [{ miss = 1, value = 5 }], trigger = true }"#;
        let cycles = execution(&entries(lines), &assembly()).expect("resolves");
        let transfer = Transfer {
            address: Address32(0x1000),
            access: Access::Miss(1),
            value: 0,
            wide: false,
            size: 4,
            position: Position::Only,
            big_endian: false,
            failed: false,
        };
        let idle = Stimulus { view_data: true, ..Stimulus::default() };
        let expected = [
            idle.clone(),
            idle.clone(),
            Stimulus {
                trace_enable: true,
                instruction: Some(Instruction {
                    address: Address32(0x8000),
                    executed: true,
                    ..Instruction::default()
                }),
                transfers: vec![transfer],
                ..idle
            },
            Stimulus {
                trace_enable: true,
                instruction: Some(Instruction {
                    address: Address32(0x8004),
                    phantom: Some(Phantom { address: Address32(0x8000), taken: true }),
                    branch: Some(BranchTarget {
                        address: Address32(0x9000),
                        isa: Isa::Thumb,
                        ..BranchTarget::default()
                    }),
                    ..Instruction::default()
                }),
                ..Stimulus::default()
            },
            Stimulus {
                trace_enable: true,
                trigger: true,
                instruction: Some(Instruction {
                    address: Address32(0x9000),
                    isa: Isa::Thumb,
                    executed: true,
                    ..Instruction::default()
                }),
                returns: vec![MissReturn { miss: 1, value: 5 }],
                ..Stimulus::default()
            },
        ];
        assert_eq!(cycles, expected);
    }

    #[test]
    fn contradictions_are_named() {
        for (line, message) in [
            (r#"{ execute = "A", skip = "B" }"#, "stimulus[0].skip: a cycle has one instruction"),
            (r#"{ branch = { to = "A" } }"#, "stimulus[0].branch: there is no instruction in this cycle"),
            (r#"{ execute = "Z" }"#, "stimulus[0].execute: unknown label `Z`"),
            ("{ repeat = 2000000 }", "stimulus[0].repeat: more than 1048576 cycles up to here"),
        ] {
            let problem = execution(&entries(line), &assembly()).expect_err(line);
            assert_eq!(problem.to_string(), message);
        }
    }

    #[test]
    fn lines_are_events() {
        let lines = r#"{ instructions = "1E 2E" },
            { synchronisation = { cycle = 0, reason = "trace_enabled", address = "A" } },
            { transfer = { transfer = 0, when = 2, address = "0x1000", value = { pending = 1 } } },
            { transfer = { transfer = 1, when = 3, value = "not_traced" } },
            { incomplete = 7 }"#;
        let expected = [
            Event::Instruction { cycle: 1, executed: true, phantom: false },
            Event::Instruction { cycle: 2, executed: true, phantom: false },
            Event::Synchronisation {
                cycle: 0,
                reason: Reason::TraceEnabled,
                address: Address32(0x8000),
                isa: Isa::Arm,
                context_id: None,
                lsm: None,
            },
            Event::Transfer {
                transfer: 0,
                when: 2,
                address: Some(crate::arm_etm::DataAddress::full(0x1000)),
                value: Value::Pending(1),
                big_endian: false,
            },
            Event::Transfer {
                transfer: 1,
                when: 3,
                address: None,
                value: Value::NotTraced,
                big_endian: false,
            },
            Event::Incomplete { when: 7 },
        ]
        .map(Expected::Event);
        assert_eq!(super::expected(&entries(lines), &assembly()).expect("resolves"), expected);
    }

    #[test]
    fn features_are_those_of_the_family() {
        let everything =
            Parameters { minor: 1, port_width: 4, cycle_accurate: true, ..Parameters::default() };
        let features = ArmEtm::required_features(&everything, &[]);
        assert_eq!(features, ["etmv2", "port_4", "cycle_accurate", "jazelle"]);
        assert!(features.iter().all(|feature| crate::Feature::names(&FEATURES).any(|name| name == *feature)));
        assert_eq!(ArmEtm::ID, crate::ProtocolId::ArmEtm);
    }
}
