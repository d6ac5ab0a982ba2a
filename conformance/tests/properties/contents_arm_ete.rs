//! What the executions that are generated for ETE and ETMv4 contain: of everything enough.

use std::collections::BTreeMap;

use traceproof_conformance::arm_ete::generate::{Kind, Scenario, decode, encode};
use traceproof_vectors::arm::{InstructionSet, SecurityState};
use traceproof_vectors::arm_ete::{AddressField, ArmEte, Event, Outcome, Packet, Signal, TimestampOf};
use traceproof_vectors::{Log, Protocol as _};

/// How often things occur.
#[derive(Debug, Default)]
pub(super) struct Contents(BTreeMap<String, u64>);

/// P0 elements since Trace Info, for Cancels that go back over it.
struct Depth {
    since: u64,
    infos: u64,
}

impl Contents {
    fn add(&mut self, what: impl Into<String>) {
        self.add_if(true, what);
    }

    fn add_if(&mut self, occurs: bool, what: impl Into<String>) {
        *self.0.entry(what.into()).or_default() += u64::from(occurs);
    }

    /// Whether there are so many.
    pub(super) fn require(&self, what: &str, least: u64) {
        let number = self.0.get(what).copied().unwrap_or_default();
        assert!(number >= least, "{what}: {number} of {least} in {:#?}", self.0);
    }

    /// Counts the contents of a scenario and of its trace.
    pub(super) fn count(&mut self, scenario: &Scenario) {
        let sent = encode(scenario).unwrap_or_else(|error| panic!("{error}"));
        let received = decode(scenario, &sent.wire).unwrap_or_else(|error| panic!("{error}"));
        self.execution(scenario);
        let mut depth = Depth { since: 0, infos: 0 };
        for packet in sent.packets() {
            self.packet(packet, scenario, &mut depth);
        }
        let corrected = received.events().filter(|event| matches!(event, Event::Mispredict)).count();
        self.add_if(corrected > 0, "mispredict of a committed atom");
        for event in ArmEte::canonical(received.events().copied().collect()) {
            self.event(&event, scenario);
        }
        if scenario.parameters.return_stack {
            self.add_if(needs_return_stack(scenario, &received, &sent.wire), "return stack");
        }
        let parameters = &scenario.parameters;
        self.add(format!("address bytes {}", parameters.address_bytes));
        self.add(format!("context id bytes {}", parameters.context_id_bytes));
        self.add(format!("vmid bytes {}", parameters.vmid_bytes));
        self.add(format!("version {:?}", parameters.version));
    }

    /// Transactions within transactions, and things that must be traced nowhere.
    fn execution(&mut self, scenario: &Scenario) {
        let stimuli = &scenario.stimuli;
        for (index, stimulus) in stimuli.iter().enumerate() {
            let next = stimuli.get(index + 1).map(|next| next.signal);
            match stimulus.signal {
                Signal::P0(p0) => {
                    let place = scenario.program.place(p0.address);
                    let is_start = place.is_some_and(|place| {
                        scenario.program.at(place).kind == Kind::TransactionStart && p0.taken
                    });
                    let is_inner = is_start && next != Some(Signal::TransactionStart);
                    self.add_if(is_inner, "transaction in a transaction");
                }
                Signal::Redirect(_) => self.add("redirected branch"),
                Signal::ProhibitedEntry => self.add("prohibited region"),
                Signal::DebugExit(_) => self.add("debug state"),
                Signal::Flush => self.add("flush"),
                _ => {}
            }
        }
    }

    fn packet(&mut self, packet: &Packet, scenario: &Scenario, depth: &mut Depth) {
        let (mut p0, mut cancelled) = (0, 0);
        match *packet {
            Packet::TraceInfo { speculation, .. } => {
                (depth.since, depth.infos) = (0, depth.infos + 1);
                let maxspec = u64::from(scenario.parameters.maxspec);
                let uncommitted = speculation.map_or(0, |field| field.bits);
                self.add_if(maxspec > 0 && uncommitted == maxspec, "trace info at MAXSPEC");
                self.add_if(uncommitted > 0 && uncommitted < maxspec, "trace info below MAXSPEC");
            }
            Packet::Atoms(atoms) => p0 = atoms.len() as u64,
            Packet::Exception { number, .. } => p0 = u64::from(number != 0x18),
            Packet::ExceptionV4 { .. } => p0 = 1,
            Packet::TransactionStart => p0 = u64::from(!scenario.parameters.commtrans),
            Packet::SourceAddress(field) => {
                p0 = 1;
                self.address("source address", field);
            }
            Packet::Q { address, count } => {
                p0 = 1;
                let count = if count.is_some() { "with" } else { "without" };
                let address = if address.is_some() { "with" } else { "without" };
                self.add(format!("Q {count} count {address} address"));
            }
            Packet::TargetAddress { address, .. } => self.address("target address", address),
            Packet::Mispredict { atoms } => {
                p0 = atoms.map_or(0, |atoms| atoms.len() as u64);
                self.add("mispredict");
            }
            Packet::Cancel1 { count, .. } => cancelled = count.bits,
            Packet::Cancel2 { atoms } => (p0, cancelled) = (atoms.map_or(0, |atoms| atoms.len() as u64), 1),
            Packet::Cancel3 { atom, count } => (p0, cancelled) = (atom.into(), count.into()),
            Packet::CycleCount1 { .. } => self.add("cycle count of format 1"),
            Packet::CycleCount2 { large, .. } => self.add(format!("cycle count of format 2, large {large}")),
            Packet::CycleCount3 { .. } => self.add("cycle count of format 3"),
            Packet::Commit(_) => self.add("commit"),
            Packet::ContextSame => self.add("context same"),
            Packet::Ignore => self.add("ignore"),
            _ => {}
        }
        depth.since += p0;
        if cancelled > 0 {
            self.add("cancel");
            self.add_if(depth.infos > 1 && cancelled > depth.since, "cancel over a Trace Info");
            depth.since = depth.since.saturating_sub(cancelled);
        }
    }

    fn address(&mut self, what: &str, field: AddressField) {
        let form = match field {
            AddressField::ExactMatch(index) => format!("exact match {index}"),
            AddressField::Short { sub_isa, bytes, .. } => format!("short {bytes} {sub_isa:?}"),
            AddressField::Bits32 { sub_isa, .. } => format!("32 bits {sub_isa:?}"),
            AddressField::Bits64 { sub_isa, .. } => format!("64 bits {sub_isa:?}"),
        };
        self.add(format!("{what}, {form}"));
    }

    fn event(&mut self, event: &Event, scenario: &Scenario) {
        match *event {
            Event::Instructions { isa, last, .. } => {
                let isa = match isa {
                    InstructionSet::A64 => "A64",
                    InstructionSet::A32 => "A32",
                    _ => "T32",
                };
                self.add(format!("run of {isa}"));
                self.add(format!("run that ends {last:?}"));
                self.add_if(last == Outcome::NotTaken, "not taken");
            }
            Event::Exception { number, fault_pending, .. } => {
                self.add(format!("exception {number:#x}"));
                self.add_if(fault_pending, "pending fault");
            }
            Event::Context(context) => {
                let security = match context.security {
                    SecurityState::NonSecure => "non-secure",
                    SecurityState::Secure => "secure",
                    SecurityState::Root => "root",
                    SecurityState::Realm => "realm",
                };
                let level = context.exception_level.map_or(0, |level| level.number());
                self.add(format!("context {security}"));
                self.add(format!("context EL{level}"));
            }
            Event::Cycles { count, .. } => {
                let threshold = u32::from(scenario.policy.cycle_threshold);
                let most = (1 << scenario.parameters.cycle_count_bits) - 1;
                self.add_if(count.is_none(), "unknown cycle count");
                self.add_if(count == Some(threshold), "cycle count at the threshold");
                self.add_if(count.is_some_and(|count| count + 16 > most), "cycle count near the limit");
                self.add("cycle count");
            }
            Event::Timestamp { cycles, of, .. } => {
                self.add_if(cycles.is_some(), "timestamp with cycles");
                self.add_if(of == TimestampOf::Marker, "timestamp of a marker");
                self.add("timestamp");
            }
            Event::TransactionStart => self.add("transaction"),
            Event::TransactionCommit => self.add("committed transaction"),
            Event::TransactionFailure => self.add("failed transaction"),
            Event::ExceptionReturn => self.add("exception return"),
            Event::UnknownPath { .. } => self.add("unknown path"),
            Event::Instrumentation { .. } => self.add("instrumentation"),
            Event::Event { number } => self.add(format!("event {number}")),
            Event::TraceInfo { .. } => self.add("trace info"),
            Event::TraceOn => self.add("trace on"),
            Event::Overflow => self.add("overflow"),
            Event::Discard => self.add("discard"),
            _ => {}
        }
    }
}

/// Whether a decoder that keeps no return stack reports something else.
fn needs_return_stack(scenario: &Scenario, received: &Log<ArmEte>, wire: &[u8]) -> bool {
    let mut without = scenario.clone();
    without.parameters.return_stack = false;
    let lost = decode(&without, wire).unwrap_or_else(|error| panic!("{error}"));
    lost.events().ne(received.events())
}
