//! The expected report of a run.
//!
//! The oracle walks through run, records and the encoder's packets at once. The content of records, the packets and
//! their content follow from the run; only what the FIFO decides is taken from the wire: where the FIFO overflowed
//! (ETM1-SYN-004), whether a full address that is due fitted (ETM1-SYN-001), and how many addresses wait
//! (ETM1-APO-002), which is counted in TRACESYNC marks.

mod addresses;
mod knowledge;
mod records;
mod walk;

use traceproof_vectors::Log;
use traceproof_vectors::arm_etm::{ArmEtm, Event, Packet};

use self::walk::Walk;
use super::Scenario;
use crate::arm_etm::generate::oracle::Mismatch;

/// The amount of reported events.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Returned {
    /// Instructions.
    pub instructions: usize,
    /// Data transfers.
    pub transfers: usize,
    /// Statuses whose data cannot be separated, or are cut off.
    pub incomplete: usize,
    /// Restarts.
    pub starts: usize,
    /// Overflows.
    pub overflows: usize,
    /// Branches that another one abandons.
    pub abandoned: usize,
    /// Branches whose address cannot be located.
    pub far: usize,
    /// Full addresses that were due.
    pub periodic: usize,
    /// Triggers.
    pub triggers: usize,
    /// Instructions in Java state.
    pub bytecodes: usize,
    /// Exceptions.
    pub exceptions: usize,
    /// Those whose instruction has transfers.
    pub ignored: usize,
    /// Branches that may be exceptions.
    pub possible_exceptions: usize,
}

/// What a decoder must report.
#[derive(Clone, Debug, Default)]
pub struct Expected {
    packets: Vec<Packet>,
    /// All but triggers, which come as soon as they are seen.
    events: Vec<Event>,
    triggers: Vec<Event>,
    /// Indices of packets before which, and of `Incomplete`s instead of which, more data may be read: after data that
    /// an overflow cuts off an empty lane cannot be recognised, be it the upper one of a 16-bit port (ETM1-PKT-002) or
    /// all of them in the record of BE from whose next one on its address leaves (`fifo_latency`).
    doubtful_packets: Vec<usize>,
    doubtful_events: Vec<usize>,
}

/// The expected report of a scenario, if the encoder's log is that of the run.
///
/// # Errors
///
/// The first difference between wire or packets and run.
pub fn expect(scenario: &Scenario, sent: &Log<ArmEtm>) -> Result<(Expected, Returned), Mismatch> {
    Walk::new(scenario, sent)?.run()
}

impl Expected {
    /// Whether a decoder's log is this.
    ///
    /// # Errors
    ///
    /// The first difference.
    pub fn compare(&self, received: &Log<ArmEtm>) -> Result<(), Mismatch> {
        if let Some(fault) = received.faults().next() {
            return Err(differs(0, "no fault", format!("{fault:?}")));
        }
        let is_trigger = |event: &&Event| matches!(event, Event::Trigger { .. });
        let is_data = |packet: &Packet| matches!(packet, Packet::DataAddress(_) | Packet::DataValue { .. });
        let triggers: Vec<Event> = received.events().filter(is_trigger).copied().collect();
        same(&self.triggers, &triggers)?;

        let mut packets: Vec<Packet> = received.packets().copied().collect();
        for &index in &self.doubtful_packets {
            while packets.get(index).is_some_and(is_data) && self.packets.get(index) != packets.get(index) {
                packets.remove(index);
            }
        }
        same(&self.packets, &packets)?;

        let mut events: Vec<Event> = received.events().filter(|event| !is_trigger(event)).copied().collect();
        for &index in &self.doubtful_events {
            forget_doubtful(&self.events[index], index, &mut events);
        }
        same(&self.events, &events)
    }
}

/// Takes away transfers that empty lanes completed, and puts the [`Event::Incomplete`] where it should be.
fn forget_doubtful(incomplete: &Event, index: usize, events: &mut Vec<Event>) {
    let rest = events.get(index..).unwrap_or_default();
    let extra = rest.iter().take_while(|event| matches!(event, Event::Transfer { .. })).count();
    if extra == 0 {
        return;
    }
    events.drain(index..index + extra);
    if events.get(index) != Some(incomplete) {
        events.insert(index, *incomplete);
    }
    for event in &mut events[index..] {
        match event {
            Event::Transfer { transfer, .. } => *transfer -= extra as u64,
            Event::IgnoredTransfers { first, last } => {
                *first -= extra as u64;
                *last -= extra as u64;
            }
            _ => {}
        }
    }
}

/// `cycle` of the difference is the index in the list.
fn same<T: std::fmt::Debug + PartialEq>(expected: &[T], got: &[T]) -> Result<(), Mismatch> {
    let mut expected = expected.iter();
    let mut got = got.iter();
    for index in 0.. {
        match (expected.next(), got.next()) {
            (None, None) => break,
            (expected, got) if expected == got => {}
            (expected, got) => return Err(differs(index, format!("{expected:x?}"), format!("{got:x?}"))),
        }
    }
    Ok(())
}

fn differs(cycle: usize, expected: impl Into<String>, got: impl Into<String>) -> Mismatch {
    Mismatch { cycle, expected: expected.into(), got: got.into() }
}
