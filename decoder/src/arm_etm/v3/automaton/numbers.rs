//! The bytes of a number: a Context ID, address or value, a cycle count, a timestamp.

use traceproof_vectors::FaultClass;
use traceproof_vectors::arm_etm::Packet;

use super::state::{Automaton, Broken, State};
use crate::arm_etm::v3::fields::{self, Fields};
use crate::arm_etm::v3::listener::Listener;
use crate::arm_etm::v3::value_bytes::{LittleEndian, SevenBits};

impl Automaton {
    /// A byte of a number that lies in whole bytes; the number, if it was the last one. `state` waits for the others.
    pub(super) fn number<L: Listener + ?Sized>(
        &mut self,
        name: &'static str,
        number: LittleEndian,
        state: fn(LittleEndian) -> State,
        byte: u8,
        listener: &mut L,
    ) -> Option<u32> {
        self.whole_byte(name, byte, listener);
        match number.take(byte) {
            Ok(value) => Some(value),
            Err(more) => {
                self.state = state(more);
                None
            }
        }
    }

    /// A byte of a cycle count; the whole, if it was the last one. Spec: ETM3-CC-001, ETM3-CC-006 (7.2).
    pub(super) fn cycles<L: Listener + ?Sized>(
        &mut self,
        mut count: SevenBits,
        byte: u8,
        listener: &mut L,
    ) -> Result<Option<SevenBits>, Broken> {
        if L::TAKES_FIELDS {
            fields::seven_bits(Fields { listener, offset: self.offset }, "cycles", count, byte, 5, 4);
        }
        if count.bytes() == 4 && byte & 0xf0 != 0 {
            return Err(self.broken(FaultClass::Overlong));
        }
        if count.take(byte) {
            return Ok(Some(count));
        }
        let with_sync = matches!(self.state, State::SyncCycles(_));
        self.state = if with_sync { State::SyncCycles(count) } else { State::CycleCount(count) };
        Ok(None)
    }

    /// A byte of a timestamp. Spec: ETM3-TS-001, ETM3-TS-002, ETM3-TS-008 (7.7.4).
    pub(super) fn timestamp<L: Listener + ?Sized>(
        &mut self,
        mut value: SevenBits,
        byte: u8,
        listener: &mut L,
    ) -> Option<Packet> {
        let (longest, last_bits) = if self.layout.timestamp_bits == 48 { (7, 6) } else { (9, 8) };
        if L::TAKES_FIELDS {
            fields::seven_bits(
                Fields { listener, offset: self.offset },
                "timestamp",
                value,
                byte,
                longest,
                last_bits,
            );
        }
        let is_whole = if value.bytes() + 1 == longest {
            value.take_last(byte, last_bits.into());
            true
        } else {
            value.take(byte)
        };
        if is_whole {
            let clock_change = self.open.header & 4 != 0;
            return Some(Packet::Timestamp { clock_change, value: value.field() });
        }
        self.state = State::Timestamp(value);
        None
    }
}
