//! Executions as short texts, for tests.
//!
//! | word | means |
//! |---|---|
//! | `8004`, `8004!`, `8024>8010n` | an instruction, one that is skipped, one with a target |
//! | `x14@8008>18`, `debug` | an exception that returns to 8008, with its handler; Debug state |
//! | `on:8000` | enable |
//! | `run:8000`, `go:8000`, `dejazelle:8000` | Debug state, prohibited region, Jazelle state end |
//! | `off`, `forbid`, `te0`, `te1`, `full`, `free` | disable; a prohibited region; TraceEnable; overflow |
//! | `cid:42`, `vmid:7`, `ns`, `s`, `clock` | registers and states |
//! | `trigger`, `stamp`, `sync`, `flush`, `wait`, `idle` | requests |
//! | `+12`, `=1000` | cycles of the next step; the timestamp counter from here on |
//!
//! Letters after an address are its state: `t` T32, `x` T32EE, `j` Jazelle, `n` Non-secure, `h` Hyp. `word*5`
//! is five times the word.

use traceproof_vectors::arm::InstructionSet;
use traceproof_vectors::arm_pft::{
    Action, ArmPft, Execute, Parameters, Policy, Signal, State, Step, Stimulus, TakenException,
};
use traceproof_vectors::{Address32, Encoder as _, Log, Program, Section};

use super::hex;
use crate::arm_pft::{Core, Encoder, ExecutionError, write_packet};

/// A-sync.
pub(super) const AS: &str = "00 00 00 00 00 80";
/// A branch to itself, in A32.
pub(super) const LOOP: u32 = 0xeaff_fffe;
/// No operation, in A32.
pub(super) const NOP: u32 = 0xe1a0_0000;

/// A program, and how it is traced.
#[derive(Clone)]
pub(super) struct Scene {
    program: Program,
    pub(super) parameters: Parameters,
    pub(super) policy: Policy,
}

impl Scene {
    /// Without code; no synchronisation but the first.
    pub(super) fn new() -> Self {
        let policy = Policy { sync_period: 0, timestamp_waypoints: false, ..Policy::default() };
        Self { program: Program::new(), parameters: Parameters::default(), policy }
    }

    /// With A32 instructions from an address on.
    pub(super) fn arm(self, address: u32, words: &[u32]) -> Self {
        self.bytes(address, words.iter().flat_map(|word| word.to_le_bytes()).collect())
    }

    /// With half-words of T32 from an address on.
    pub(super) fn thumb(self, address: u32, halves: &[u16]) -> Self {
        self.bytes(address, halves.iter().flat_map(|half| half.to_le_bytes()).collect())
    }

    fn bytes(mut self, address: u32, bytes: Vec<u8>) -> Self {
        self.program
            .insert(Section::new(u64::from(address), bytes, "code"))
            .expect("sections do not overlap");
        self
    }

    pub(super) fn with(mut self, change: impl FnOnce(&mut Parameters)) -> Self {
        change(&mut self.parameters);
        self
    }

    pub(super) fn choosing(mut self, change: impl FnOnce(&mut Policy)) -> Self {
        change(&mut self.policy);
        self
    }

    /// What the PTM sees of an execution.
    pub(super) fn stimuli(&self, text: &str) -> Result<Vec<Stimulus>, ExecutionError> {
        let mut stimuli = Vec::new();
        Core::new(&self.program, &self.parameters)
            .run(steps(text), &mut |stimulus| stimuli.push(*stimulus))
            .map(|()| stimuli)
    }

    /// Packets and bytes of an execution. All bytes are those of the packets.
    pub(super) fn log(&self, text: &str) -> Log<ArmPft> {
        let stimuli = self.stimuli(text).unwrap_or_else(|error| panic!("{text}: {error}"));
        let log = encode(&self.parameters, &self.policy, &stimuli);
        if self.policy.capture_from == 0 {
            assert_eq!(log.wire, rewritten(&self.parameters, &log), "{text}");
        }
        log
    }

    /// The bytes of an execution.
    pub(super) fn wire(&self, text: &str) -> String {
        hex(&self.log(text).wire)
    }

    /// The bytes after the first A-sync.
    pub(super) fn after_sync(&self, text: &str) -> String {
        let wire = self.wire(text);
        wire.strip_prefix(AS).unwrap_or_else(|| panic!("{wire}")).trim_start().to_owned()
    }
}

pub(super) fn encode(parameters: &Parameters, policy: &Policy, stimuli: &[Stimulus]) -> Log<ArmPft> {
    let mut encoder = Encoder::default();
    encoder.begin(parameters, policy).expect("a PTM");
    let mut log = Log::default();
    for stimulus in stimuli {
        encoder.step(stimulus, &mut log);
    }
    encoder.finish(&mut log);
    log
}

/// The bytes of the packets of a log.
pub(super) fn rewritten(parameters: &Parameters, log: &Log<ArmPft>) -> Vec<u8> {
    log.packets().flat_map(|packet| write_packet(packet, parameters).expect("can be written")).collect()
}

fn steps(text: &str) -> Vec<Step> {
    let (mut cycles, mut timestamp) = (0, 0);
    let mut steps = Vec::new();
    for word in text.split_whitespace() {
        if let Some(count) = word.strip_prefix('+') {
            cycles = count.parse().expect("cycles");
        } else if let Some(value) = word.strip_prefix('=') {
            timestamp = value.parse().expect("a timestamp");
        } else {
            let (word, count) = word.split_once('*').unwrap_or((word, "1"));
            let step = Step { cycles, timestamp, action: action(word) };
            steps.extend(std::iter::repeat_n(step, count.parse().expect("a count")));
            cycles = 0;
        }
    }
    steps
}

fn action(word: &str) -> Action {
    let fixed = match word {
        "off" => Some(Signal::Disable),
        "forbid" => Some(Signal::ProhibitedEntry),
        "te0" => Some(Signal::TraceEnable(false)),
        "te1" => Some(Signal::TraceEnable(true)),
        "full" => Some(Signal::Overflow(true)),
        "free" => Some(Signal::Overflow(false)),
        "ns" => Some(Signal::NonSecure(true)),
        "s" => Some(Signal::NonSecure(false)),
        "clock" => Some(Signal::ClockChange),
        "trigger" => Some(Signal::Trigger),
        "stamp" => Some(Signal::TimestampEvent),
        "sync" => Some(Signal::SyncRequest),
        "flush" => Some(Signal::Flush),
        "wait" => Some(Signal::Wait),
        "idle" => Some(Signal::Idle),
        _ => None,
    };
    match (fixed, word.split_once(':')) {
        (Some(signal), _) => Action::Signal(signal),
        (None, Some((key, value))) => Action::Signal(with_value(key, value)),
        (None, None) if word == "debug" => Action::DebugEntry,
        (None, None) => happening(word),
    }
}

fn with_value(key: &str, value: &str) -> Signal {
    match key {
        "on" => Signal::Enable(state(value)),
        "run" => Signal::DebugExit(state(value)),
        "go" => Signal::ProhibitedExit(state(value)),
        "dejazelle" => Signal::JazelleExit(state(value)),
        "cid" => Signal::ContextId(u32::from_str_radix(value, 16).expect("a Context ID")),
        "vmid" => Signal::Vmid(u8::from_str_radix(value, 16).expect("a VMID")),
        _ => panic!("`{key}:{value}`"),
    }
}

fn happening(word: &str) -> Action {
    if let Some((number, rest)) = word.strip_prefix('x').and_then(|rest| rest.split_once('@')) {
        let (from, handler) = rest.split_once('>').expect("a handler");
        return Action::Exception(TakenException {
            number: number.parse().expect("a number"),
            returns_to: state(from).address,
            handler: state(handler),
        });
    }
    let (place, to) = word.split_once('>').map_or((word, None), |(place, to)| (place, Some(state(to))));
    let (place, skipped) = place.strip_suffix('!').map_or((place, false), |place| (place, true));
    Action::Execute(Execute { address: state(place).address, skipped, to, exception_return: false })
}

pub(super) fn state(text: &str) -> State {
    let digits = text.trim_end_matches(['t', 'x', 'j', 'n', 'h']);
    let flags = &text[digits.len()..];
    let isa = match flags {
        _ if flags.contains('t') => InstructionSet::T32,
        _ if flags.contains('x') => InstructionSet::T32Ee,
        _ if flags.contains('j') => InstructionSet::Jazelle,
        _ => InstructionSet::A32,
    };
    let address = u32::from_str_radix(digits, 16).unwrap_or_else(|_| panic!("`{text}` is no address"));
    State { address: Address32(address), isa, non_secure: flags.contains('n'), hyp: flags.contains('h') }
}
