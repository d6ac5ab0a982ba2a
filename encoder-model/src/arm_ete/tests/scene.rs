//! Stimuli as short texts, for tests.
//!
//! | word | means |
//! |---|---|
//! | `on:1000`, `off` | enable, disable |
//! | `E1000>2000`, `N1000` | a P0 instruction, taken or not |
//! | `Ei1000>2000` | indirect; `r` exception return, `s` ISB, `m` load; also `l` with link, `b` broadcast |
//! | `x0e@2000>4000` | an exception that returns to 2000, with its handler |
//! | `commit:2`, `cancel:1>2000`, `mis>3000`, `redirect>3000` | speculation |
//! | `start`, `tcommit`, `fail>1000` | transactions |
//! | `view0`, `view1`, `forbid`, `go:1000`, `run:1000` | `ViewInst`; a prohibited region; the end of Debug state |
//! | `full`, `free` | overflow |
//! | `cx:1000u` | a context |
//! | `ev3`, `ite:5`, `stamp`, `sync`, `flush`, `idle`, `q0`, `q1` | requests |
//! | `+12`, `=1000` | cycles of the next step; the timestamp counter from here on |
//!
//! Letters after a target are its state: EL1 Non-secure A64 without any, `u` EL0, `w` A32, `t` T32, `h` EL2,
//! `S` Secure, `k` Context ID 5, `v` VMID 9. `word*5` is five times the word. Without target an instruction goes on
//! four bytes later. Each P0 instruction is the last one of five instructions.

use traceproof_vectors::arm::{Context, ExceptionLevel, InstructionSet, SecurityState};
use traceproof_vectors::arm_ete::{
    ArmEte, Exception, P0, P0Kind, Parameters, Policy, Signal, State, Stimulus,
};
use traceproof_vectors::{Address, Encoder as _, Log};

use super::hex;
use crate::arm_ete::{Encoder, write_packet};

/// A-sync.
pub(super) const AS: &str = "00 00 00 00 00 00 00 00 00 00 00 80";

/// How a stimulus is traced.
#[derive(Clone, Default)]
pub(super) struct Scene {
    pub(super) parameters: Parameters,
    pub(super) policy: Policy,
}

impl Scene {
    /// No synchronization but the first.
    pub(super) fn new() -> Self {
        let policy = Policy { sync_period: 0, ..Policy::default() };
        Self { parameters: Parameters::default(), policy }
    }

    /// Configuration C0 with that MAXSPEC.
    pub(super) fn speculative(maxspec: u32) -> Self {
        Self::new().with(|parameters| {
            parameters.commopt = false;
            parameters.maxspec = maxspec;
        })
    }

    pub(super) fn with(mut self, change: impl FnOnce(&mut Parameters)) -> Self {
        change(&mut self.parameters);
        self
    }

    pub(super) fn choosing(mut self, change: impl FnOnce(&mut Policy)) -> Self {
        change(&mut self.policy);
        self
    }

    /// Packets and bytes of a stimulus. All bytes are those of the packets.
    pub(super) fn log(&self, text: &str) -> Log<ArmEte> {
        let log = encode(&self.parameters, &self.policy, &stimuli(text));
        assert_eq!(log.wire, rewritten(&self.parameters, &log), "{text}");
        log
    }

    pub(super) fn wire(&self, text: &str) -> String {
        hex(&self.log(text).wire)
    }

    /// The bytes after the first A-sync and Trace Info without sections.
    pub(super) fn after_sync(&self, text: &str) -> String {
        let wire = self.wire(text);
        let rest = wire.strip_prefix(AS).and_then(|rest| rest.strip_prefix(" 01 00"));
        rest.unwrap_or_else(|| panic!("{wire}")).trim_start().to_owned()
    }

    /// The bytes after `04 82 00 08 00 00 31`: Trace On at 1000 in EL1.
    pub(super) fn after_start(&self, text: &str) -> String {
        let rest = self.after_sync(&format!("on:1000 {text}"));
        let rest = rest.strip_prefix("04 82 00 08 00 00 31").unwrap_or_else(|| panic!("{rest}"));
        rest.trim_start().to_owned()
    }
}

pub(super) fn encode(parameters: &Parameters, policy: &Policy, stimuli: &[Stimulus]) -> Log<ArmEte> {
    let mut encoder = Encoder::default();
    encoder.begin(parameters, policy).expect("a trace unit");
    let mut log = Log::default();
    for stimulus in stimuli {
        encoder.step(stimulus, &mut log);
    }
    encoder.finish(&mut log);
    log
}

/// The bytes of the packets of a log.
pub(super) fn rewritten(parameters: &Parameters, log: &Log<ArmEte>) -> Vec<u8> {
    log.packets().flat_map(|packet| write_packet(packet, parameters).expect("can be written")).collect()
}

fn stimuli(text: &str) -> Vec<Stimulus> {
    let (mut cycles, mut timestamp) = (0, 0);
    let mut stimuli = Vec::new();
    for word in text.split_whitespace() {
        if let Some(count) = word.strip_prefix('+') {
            cycles = count.parse().expect("cycles");
        } else if let Some(value) = word.strip_prefix('=') {
            timestamp = u64::from_str_radix(value, 16).expect("a timestamp");
        } else {
            let (word, count) = word.split_once('*').unwrap_or((word, "1"));
            let stimulus = Stimulus { cycles, timestamp, signal: signal(word) };
            stimuli.extend(std::iter::repeat_n(stimulus, count.parse().expect("a count")));
            cycles = 0;
        }
    }
    stimuli
}

fn signal(word: &str) -> Signal {
    match word {
        "off" => return Signal::Disable,
        "start" => return Signal::TransactionStart,
        "tcommit" => return Signal::TransactionCommit,
        "view0" => return Signal::ViewInst(false),
        "view1" => return Signal::ViewInst(true),
        "forbid" => return Signal::ProhibitedEntry,
        "full" => return Signal::Overflow(true),
        "free" => return Signal::Overflow(false),
        "stamp" => return Signal::TimestampRequest,
        "sync" => return Signal::SyncRequest,
        "flush" => return Signal::Flush,
        "idle" => return Signal::Idle,
        "q0" => return Signal::QRegion(false),
        "q1" => return Signal::QRegion(true),
        _ => {}
    }
    if let Some((name, value)) = word.split_once(':') {
        return with_value(name, value);
    }
    if let Some(number) = word.strip_prefix("ev") {
        return Signal::Event(number.parse().expect("an event"));
    }
    if let Some(exception) = word.strip_prefix('x') {
        return Signal::Exception(parse_exception(exception));
    }
    match word.split_once('>') {
        Some(("mis", to)) => Signal::Mispredict(state(to)),
        Some(("redirect", to)) => Signal::Redirect(state(to)),
        Some(("fail", to)) => Signal::TransactionFailure(state(to)),
        _ => Signal::P0(parse_p0(word)),
    }
}

fn with_value(name: &str, value: &str) -> Signal {
    match name {
        "on" => Signal::Enable(state(value)),
        "go" => Signal::ProhibitedExit(state(value)),
        "run" => Signal::DebugExit(state(value)),
        "cx" => Signal::Context(state(value).context),
        "commit" => Signal::Commit(value.parse().expect("a count")),
        "ite" => Signal::Instrumentation {
            exception_level: ExceptionLevel::El1,
            value: u64::from_str_radix(value, 16).expect("a value"),
        },
        "cancel" => {
            let (count, next) = value.split_once('>').expect("count>state");
            Signal::Cancel { count: count.parse().expect("a count"), next: state(next) }
        }
        _ => panic!("{name}:{value}"),
    }
}

/// An address, and letters of its state.
pub(super) fn state(text: &str) -> State {
    let (address, letters) =
        text.split_at(text.find(|letter: char| !letter.is_ascii_hexdigit()).unwrap_or(text.len()));
    let address = Address(u64::from_str_radix(address, 16).expect("an address"));
    let has = |letter: char| letters.contains(letter);
    let isa = match () {
        () if has('t') => InstructionSet::T32,
        () if has('w') => InstructionSet::A32,
        () => InstructionSet::A64,
    };
    let level = match () {
        () if has('u') => ExceptionLevel::El0,
        () if has('h') => ExceptionLevel::El2,
        () => ExceptionLevel::El1,
    };
    let security = if has('S') { SecurityState::Secure } else { SecurityState::NonSecure };
    let context = Context::default()
        .with_security(security)
        .with_exception_level(Some(level))
        .with_64_bit(isa == InstructionSet::A64)
        .with_context_id(has('k').then_some(5))
        .with_vmid(has('v').then_some(9));
    State { address, isa, context }
}

fn parse_exception(text: &str) -> Exception {
    let (number, rest) = text.split_once('@').expect("number@return>handler");
    let (returns_to, handler) = rest.split_once('>').expect("return>handler");
    Exception {
        number: u16::from_str_radix(number, 16).expect("a number"),
        returns_to: state(returns_to),
        handler: state(handler),
        instructions: 0,
        fault_pending: false,
    }
}

fn parse_p0(text: &str) -> P0 {
    let (source, target) = text.split_once('>').unwrap_or((text, ""));
    let taken = source.starts_with('E');
    let source = source.strip_prefix(['E', 'N']).unwrap_or_else(|| panic!("{text}"));
    let flags = source.find(|letter: char| letter.is_ascii_digit()).expect("an address");
    let (flags, address) = source.split_at(flags);
    let has = |letter: char| flags.contains(letter);
    let at = state(address);
    let after = State { address: Address(at.address.0 + 4), ..at };
    P0 {
        address: at.address,
        isa: at.isa,
        size: 4,
        kind: match () {
            () if has('i') => P0Kind::Indirect,
            () if has('r') => P0Kind::ExceptionReturn,
            () if has('s') => P0Kind::Isb,
            () if has('m') => P0Kind::LoadStore,
            () => P0Kind::Direct,
        },
        link: has('l'),
        taken,
        next: if target.is_empty() { after } else { state(target) },
        instructions: 5,
        broadcast: has('b'),
    }
}
