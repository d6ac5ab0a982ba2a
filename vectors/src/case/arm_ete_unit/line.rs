//! Notation of what happens at a trace unit: items separated by `;`, one or more on a line.

use super::words::{BARRIERS, NotationError, OUTCOMES, RESOURCES, SPACES, STATUS_BITS, VISIBLE, Word, Words};
use crate::arm_ete_unit::{
    Access, Agent, Input, Operation, Outcome, Packet, Poll, Power, ProcessorEvent, ProgrammingState,
    Register, Reset, Signal, Sink, SinkState, Stimulus,
};
use crate::notation::parse_bytes;

/// An item of a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Item {
    /// A record; of an access in `stimulus`, the record without the answer.
    Packet(Packet),
    /// `gen 16`, `vi 0`, `go`, `drain`: only in `stimulus`.
    Step(Stimulus),
    /// `hex 04 00`: only in `wire`.
    Hex(Vec<u8>),
}

/// The items of a line with their columns, each as often as it is repeated; none of a blank line or a comment.
///
/// # Errors
///
/// What is wrong, and the column of the word.
pub(super) fn read(line: &str) -> Result<Vec<(usize, Item, u32)>, NotationError> {
    let mut items = Vec::new();
    let mut column = 1;
    for text in line.split('#').next().unwrap_or_default().split(';') {
        let mut words = Words::new(text, column);
        column += text.chars().count() + 1;
        if words.is_empty() {
            continue;
        }
        let times = words.times()?;
        let verb = words.word("an item")?;
        let item = item(verb, &mut words)?;
        words.finish()?;
        items.push((verb.column, item, times));
    }
    Ok(items)
}

fn item(verb: Word<'_>, words: &mut Words<'_>) -> Result<Item, NotationError> {
    if let Some(item) = access(verb, words)? {
        return Ok(Item::Packet(Packet::Access(item)));
    }
    if let Some((_, barrier)) = BARRIERS.into_iter().find(|(name, _)| *name == verb.text) {
        return Ok(Item::Packet(Packet::Input(Input::Barrier(barrier))));
    }
    Ok(match verb.text {
        "poll" => Item::Packet(Packet::Poll(poll(words)?)),
        "out" => Item::Packet(Packet::Output {
            sink: sink(words)?,
            bytes: words.word("the number of bytes")?.number(64)?,
        }),
        "st" => {
            let word = words.word("a state")?;
            let state = word.text.parse::<ProgrammingState>().map_err(|_| {
                let names = ProgrammingState::ALL.map(ProgrammingState::name).join(", ");
                word.wrong(format!("`{}` is none of {names}", word.text))
            })?;
            Item::Packet(Packet::State(state))
        }
        "sig" => Item::Packet(Packet::Signal(signal(words)?)),
        "gen" => {
            let bytes = words.word("the number of bytes")?.number(32)? as u32;
            Item::Step(Stimulus::Generate { bytes })
        }
        "vi" => Item::Step(Stimulus::ViewInst(words.word("0 or 1")?.flag()?)),
        "go" => Item::Step(Stimulus::Progress),
        "drain" => {
            let bytes = words.optional().map(|word| word.number(32)).transpose()?;
            Item::Step(Stimulus::Drain { bytes: bytes.map(|bytes| bytes as u32) })
        }
        "hex" => {
            let text: Vec<&str> = words.rest().iter().map(|word| word.text).collect();
            let bytes = parse_bytes(&text.join(" ")).filter(|bytes| !bytes.is_empty());
            let wrong = || verb.wrong("`hex` is followed by pairs of hexadecimal digits");
            Item::Hex(bytes.ok_or_else(wrong)?)
        }
        _ => Item::Packet(Packet::Input(input(verb, words)?)),
    })
}

/// `sw TRCPRGCTLR=1`, `xr TRCSTATR->3`, `xr TRCSTATR ERR`, `mw64 TRCACVR0=1000 @secure`; nothing if the verb is
/// another.
fn access(verb: Word<'_>, words: &mut Words<'_>) -> Result<Option<Access>, NotationError> {
    let (agent, operation, double) = match verb.text {
        "sw" => (Agent::System, Operation::Write, false),
        "sr" => (Agent::System, Operation::Read, false),
        "xw" => (Agent::External, Operation::Write, false),
        "xr" => (Agent::External, Operation::Read, false),
        "mw" => (Agent::Memory, Operation::Write, false),
        "mr" => (Agent::Memory, Operation::Read, false),
        "xw64" => (Agent::External, Operation::Write, true),
        "xr64" => (Agent::External, Operation::Read, true),
        "mw64" => (Agent::Memory, Operation::Write, true),
        "mr64" => (Agent::Memory, Operation::Read, true),
        _ => return Ok(None),
    };
    let target = words.word("a register")?;
    let (sign, other) = if operation == Operation::Write { ("=", "->") } else { ("->", "=") };
    if target.split(other).is_some() {
        return Err(target.wrong(format!("`{}` is followed by a register and `{sign}`", verb.text)));
    }
    let (name, value) = match target.split(sign) {
        Some((name, value)) => (name, (value.text != "?").then(|| value.value().map(|v| (value, v)))),
        None => (target, None),
    };
    let register =
        name.text.parse::<Register>().map_err(|error| name.wrong(format!("`{}` is {error}", name.text)))?;
    let value = value.transpose()?;
    let (mut space, mut outcome) = (None, None);
    while let Some(word) = words.optional() {
        if word.text.starts_with('@') && space.is_none() {
            if agent.is_direct() {
                return Err(word.wrong("a System instruction has no address space"));
            }
            let name = Word { column: word.column + 1, text: word.text.trim_start_matches('@') };
            space = Some(name.named(&SPACES)?);
        } else if outcome.is_none() {
            outcome = Some(word.named(&OUTCOMES)?);
        } else {
            return Err(word.wrong(format!("`{}` is too much", word.text)));
        }
    }
    let outcome = outcome.unwrap_or(Outcome::Ok);
    let found =
        Access { agent, space, operation, register, double, value: value.map(|(_, value)| value), outcome };
    if let Some((word, value)) = value
        && found.value_bits() == 32
        && value >> 32 != 0
    {
        return Err(word.wrong(format!("`{}` has more than 32 bits", word.text)));
    }
    Ok(Some(found))
}

/// `s IDLE=1`, `x PMSTABLE=1 timeout`.
fn poll(words: &mut Words<'_>) -> Result<Poll, NotationError> {
    let agents = [("s", Agent::System), ("x", Agent::External), ("m", Agent::Memory)];
    let agent = words.word("s, x or m")?.named(&agents)?;
    let word = words.word("a bit and its value")?;
    let wrong = || word.wrong(format!("`{}` is no condition; write IDLE=1 or PMSTABLE=1", word.text));
    let (bit, value) = word.split("=").ok_or_else(wrong)?;
    let (bit, value) = (bit.named(&STATUS_BITS)?, value.flag()?);
    let timed_out = match words.optional() {
        None => false,
        Some(word) => word.named(&[("timeout", true)])?,
    };
    Ok(Poll { agent, bit, value, timed_out })
}

/// `enabled 1`, `ack`, `resources paused`.
fn signal(words: &mut Words<'_>) -> Result<Signal, NotationError> {
    let word = words.word("a signal")?;
    let mut flag = || words.word("0 or 1")?.flag();
    Ok(match word.text {
        "enabled" => Signal::Enabled(flag()?),
        "operative" => Signal::Operative(flag()?),
        "viewinst" => Signal::ViewInst(flag()?),
        "overflow" => Signal::Overflow(flag()?),
        "stall" => Signal::Stall(flag()?),
        "ack" => Signal::FlushAcknowledge,
        "resources" => Signal::Resources(words.word("running, pausing or paused")?.named(&RESOURCES)?),
        other => {
            let names = "enabled, operative, viewinst, overflow, stall, ack, resources";
            return Err(word.wrong(format!("`{other}` is none of {names}")));
        }
    })
}

/// `trbu`, `if0` to `if14`.
fn sink(words: &mut Words<'_>) -> Result<Sink, NotationError> {
    let word = words.word("a sink")?;
    if word.text == "trbu" {
        return Ok(Sink::TraceBuffer);
    }
    let digits =
        word.text.strip_prefix("if").filter(|digits| !digits.starts_with(['0', '+']) || *digits == "0");
    let number = digits.and_then(|digits| digits.parse().ok()).filter(|n| *n < Sink::INTERFACES);
    let wrong = || word.wrong(format!("`{}` is no sink; write trbu or if0 to if14", word.text));
    Ok(Sink::Interface(number.ok_or_else(wrong)?))
}

fn input(verb: Word<'_>, words: &mut Words<'_>) -> Result<Input, NotationError> {
    let lock =
        |agent, words: &mut Words<'_>| Ok(Input::OsLock { agent, locked: words.word("0 or 1")?.flag()? });
    Ok(match verb.text {
        "oslk" => return lock(Agent::System, words),
        "xoslk" => return lock(Agent::External, words),
        "moslk" => return lock(Agent::Memory, words),
        "trf" => {
            Input::TraceFilter { prohibited: words.word("P or A")?.named(&[("P", true), ("A", false)])? }
        }
        "tb" => Input::TraceBuffer { enabled: words.word("0 or 1")?.flag()? },
        "pe" => Input::Processor(processor(words)?),
        "rst" => Input::Reset(Reset::TraceUnit),
        "cold" => Input::Reset(Reset::Cold),
        "warm" => Input::Reset(Reset::Warm),
        "pw" => {
            let names = [("0", Power::Off), ("1", Power::On), ("ret", Power::Retention)];
            Input::Power(words.word("0, 1 or ret")?.named(&names)?)
        }
        "sink" => {
            let sink = sink(words)?;
            let names =
                [("0", SinkState::Blocked), ("1", SinkState::Accepting), ("stop", SinkState::Stopped)];
            let word = words.word("0, 1 or stop")?;
            let state = word.named(&names)?;
            if state == SinkState::Stopped && sink != Sink::TraceBuffer {
                return Err(word.wrong("only trbu can be stopped"));
            }
            Input::Sink { sink, state }
        }
        "ifc" => Input::Interfaces { enabled: words.word("0 or 1")?.flag()? },
        "etad" => Input::ExternalAccess { etad: words.word("0 to 3")?.number(2)? as u8 },
        "ev" => Input::Event(words.word("0 to 3")?.number(2)? as u8),
        "flush" => Input::FlushRequest,
        "wait" => Input::Wait(words.word("a time")?.number(64)?),
        "see" => {
            let what = words.word("barriers, system, external, states or events")?.named(&VISIBLE)?;
            Input::Visibility { what, shown: words.word("0 or 1")?.flag()? }
        }
        "gap" => Input::Gap,
        "end" => Input::End,
        other => {
            return Err(
                verb.wrong(format!("`{other}` begins no item; write e.g. `sw TRCPRGCTLR=1` or `isb`"))
            );
        }
    })
}

/// `debug`, `run`, `el1 secure`, `prohibited`, `allowed`, `low-power`, `awake`.
fn processor(words: &mut Words<'_>) -> Result<ProcessorEvent, NotationError> {
    let word = words.word("an event of the processor")?;
    Ok(match word.text {
        "debug" => ProcessorEvent::DebugEntry,
        "run" => ProcessorEvent::DebugExit,
        "prohibited" => ProcessorEvent::ProhibitedEntry,
        "allowed" => ProcessorEvent::ProhibitedExit,
        "low-power" => ProcessorEvent::LowPowerEntry,
        "awake" => ProcessorEvent::LowPowerExit,
        "el0" | "el1" | "el2" | "el3" => {
            let level = word.text.bytes().last().unwrap_or(b'0') - b'0';
            let space = words.word("non-secure, secure, root or realm")?.named(&SPACES)?;
            ProcessorEvent::Level { level, space }
        }
        other => {
            let names = "debug, run, el0 to el3, prohibited, allowed, low-power, awake";
            return Err(word.wrong(format!("`{other}` is none of {names}")));
        }
    })
}
