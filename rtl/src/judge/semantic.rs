//! Whether a decoder reports the execution that was driven.

use traceproof_decoder::riscv_etrace::Decoder;
use traceproof_vectors::riscv_etrace::{Epc, Event, RiscvEtrace};
use traceproof_vectors::{Decoder as _, Entry, Log, Program};

use super::Outcome;
use crate::{Device, Item, ItemKind};

/// Something that a trace shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shown {
    Retire { address: u64, privilege: u8 },
    Trap { interrupt: bool, cause: u64, tval: Option<u64>, epc: Option<u64>, required: bool },
    Stop,
}

/// The verdict, and for each packet the instructions that are reported after it.
pub(crate) fn judge(
    device: &Device,
    program: &Program,
    items: &[Item],
    payloads: &[Vec<u8>],
) -> (Outcome, Vec<u64>) {
    let mut decoder = Decoder::default();
    if let Err(refusal) = decoder.begin(&device.payload_parameters(), program) {
        return (Outcome::NotJudged(refusal.to_string()), Vec::new());
    }
    let mut log: Log<RiscvEtrace> = Log::default();
    for payload in payloads {
        match u8::try_from(payload.len()) {
            Ok(length @ 1..=31) => decoder.push(&[&[length], payload.as_slice()].concat(), &mut log),
            _ => return (fail(String::from("a payload must have 1 to 31 bytes"), false), Vec::new()),
        }
    }
    decoder.finish(&mut log);
    let reported = counts(&log, payloads.len());
    if let Some(fault) = log.faults().next() {
        return (fail(format!("the trace cannot be decoded: {fault}"), false), reported);
    }
    let (expected, got) = (expected(items), shown(&log, program));
    match compare(&expected, &got) {
        Ok(()) => (Outcome::Pass, reported),
        Err(at) => {
            let rest = expected.get(at.expected..).unwrap_or_default();
            let show = |shown: Option<&Shown>| {
                shown.map_or_else(|| String::from("the end"), |shown| format!("{shown:x?}"))
            };
            let message = format!(
                "after {} steps: expected {}, got {}",
                at.expected,
                show(rest.first()),
                show(got.get(at.got))
            );
            (fail(message, rest.len() <= 1), reported)
        }
    }
}

const fn fail(message: String, tail_only: bool) -> Outcome {
    Outcome::Fail { message, tail_only }
}

fn counts(log: &Log<RiscvEtrace>, packets: usize) -> Vec<u64> {
    let mut reported = vec![0; packets];
    for (place, entry) in &log.entries {
        if let Entry::Event(Event::Retire { count, .. }) = entry
            && let Some(slot) = usize::try_from(place.packet).ok().and_then(|packet| reported.get_mut(packet))
        {
            *slot += count;
        }
    }
    let mut sum = 0;
    for slot in &mut reported {
        sum += *slot;
        *slot = sum;
    }
    reported
}

fn expected(items: &[Item]) -> Vec<Shown> {
    let mut expected = Vec::new();
    for (index, item) in items.iter().enumerate() {
        let previous = index.checked_sub(1).and_then(|previous| items.get(previous));
        match item.kind {
            ItemKind::Retire { address, .. } if item.qualified => {
                expected.push(Shown::Retire { address, privilege: item.privilege });
            }
            ItemKind::Trap { interrupt, cause, tval, epc } => {
                let after_instruction =
                    previous.is_some_and(|item| item.qualified && item.address().is_some());
                expected.push(Shown::Trap {
                    interrupt,
                    cause,
                    tval: (!interrupt).then_some(tval),
                    epc: epc.filter(|_| item.qualified && after_instruction),
                    required: item.qualified && is_handled(items.get(index + 1..).unwrap_or_default()),
                });
            }
            _ => {}
        }
    }
    expected
}

/// Whether the next instruction and all traps before it are traced.
fn is_handled(items: &[Item]) -> bool {
    let next = items.iter().find(|item| !item.is_trap() || !item.qualified);
    next.is_some_and(|item| item.qualified && item.address().is_some())
}

fn shown(log: &Log<RiscvEtrace>, program: &Program) -> Vec<Shown> {
    let mut shown = Vec::new();
    let mut level = u8::MAX;
    for event in log.events() {
        match *event {
            Event::Context { privilege, precise: true, .. } => level = privilege,
            Event::Stop { .. } => shown.push(Shown::Stop),
            Event::Trap { interrupt, cause, tval, epc } => {
                let epc = match epc {
                    Epc::At(address) => Some(address.0),
                    _ => None,
                };
                shown.push(Shown::Trap { interrupt, cause, tval, epc, required: false });
            }
            Event::Retire { first, count, .. } => {
                let mut address = first.0;
                for _ in 0..count {
                    shown.push(Shown::Retire { address, privilege: level });
                    let byte = program.bytes_at(address).and_then(|bytes| bytes.first());
                    address =
                        address.wrapping_add(if byte.is_some_and(|byte| byte & 3 != 3) { 2 } else { 4 });
                }
            }
            _ => {}
        }
    }
    shown
}

/// Where two lists part.
struct Parting {
    expected: usize,
    got: usize,
}

/// Instructions must be the same; of traps between two instructions the required ones must come, in order.
fn compare(expected: &[Shown], got: &[Shown]) -> Result<(), Parting> {
    let (mut wanted, mut came) = (0, 0);
    loop {
        let due = expected.get(wanted);
        let next = got.get(came);
        match (due, next) {
            (_, Some(Shown::Stop)) => came += 1,
            (None, None) => return Ok(()),
            (Some(due), Some(next)) if agrees(due, next) => (wanted, came) = (wanted + 1, came + 1),
            (Some(Shown::Trap { required: false, .. }), _) => wanted += 1,
            _ => return Err(Parting { expected: wanted, got: came }),
        }
    }
}

fn agrees(expected: &Shown, got: &Shown) -> bool {
    match (expected, got) {
        (
            Shown::Trap { interrupt, cause, tval, epc, .. },
            Shown::Trap { interrupt: i, cause: c, tval: t, epc: e, .. },
        ) => (interrupt, cause, tval) == (i, c, t) && (epc.is_none() || epc == e),
        _ => expected == got,
    }
}
