//! What a decoder can know, and so must report.

use traceproof_vectors::arm_etm::v1::AddressReason;
use traceproof_vectors::arm_etm::{
    BranchTarget, DataAddress, Event, Instruction, Isa, Packet, Parameters, Value, VectorBase,
};

use super::{Expected, Returned};
use crate::arm_etm::generate::exceptions::{self, Taken};

/// Whether an address can be located.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Located {
    /// Yes.
    Yes,
    /// Another branch abandons this one (ETM1-APO-005).
    Abandoned,
    /// Its offset is 15 (ETM1-APO-004).
    Far,
}

/// A word of data: where, if an address travelled, and what.
#[derive(Clone, Copy, Debug)]
pub(super) struct Word {
    pub(super) address: Option<u32>,
    pub(super) value: Value,
}

/// What a decoder knows.
#[derive(Clone, Debug)]
pub(super) struct Knowledge {
    values: bool,
    hivecs: VectorBase,
    /// There may be empty lanes where bytes are expected.
    doubtful: bool,
    /// Where the next instruction is.
    placed: bool,
    /// All bits of the branch address before.
    based: bool,
    /// Data are passed over up to the next TRACESYNC mark.
    given_up: bool,
    /// Bits of the data address before.
    data: u32,
    transfers: u64,
    /// Events before the latest instruction.
    before: usize,
    pub(super) expected: Expected,
    pub(super) returned: Returned,
}

impl Knowledge {
    pub(super) fn new(parameters: &Parameters) -> Self {
        Self {
            values: parameters.data_value,
            hivecs: parameters.hivecs,
            doubtful: parameters.port_width == 16 || parameters.fifo_latency > 0,
            placed: false,
            based: false,
            given_up: false,
            data: 0,
            transfers: 0,
            before: 0,
            expected: Expected::default(),
            returned: Returned::default(),
        }
    }

    pub(super) fn trigger(&mut self, record: u64) {
        self.returned.triggers += 1;
        self.expected.triggers.push(Event::Trigger { when: record });
    }

    pub(super) fn instruction(&mut self, record: u64, at: &Instruction) {
        self.returned.instructions += 1;
        self.returned.bytecodes += usize::from(at.isa == Isa::Jazelle);
        self.before = self.expected.events.len();
        self.expected.events.push(Event::InstructionAt {
            cycle: record,
            address: (self.placed && at.isa != Isa::Jazelle).then_some(at.address),
            isa: if self.placed { at.isa } else { Isa::Arm },
            executed: at.executed,
        });
    }

    /// Data of the latest instruction; `words` and `packets` are what is whole of them.
    pub(super) fn data(
        &mut self,
        record: u64,
        at: &Instruction,
        words: &[Word],
        packets: &[Packet],
        whole: bool,
    ) {
        // ETM1-DAT-006
        self.given_up |= self.values && (!self.placed || at.isa == Isa::Jazelle);
        if !self.given_up {
            for packet in packets {
                if let Packet::DataAddress(address) = packet {
                    self.data |= if address.bytes == 5 { u32::MAX } else { (1 << (7 * address.bytes)) - 1 };
                }
            }
            self.expected.packets.extend(packets);
            for word in words {
                self.expected.events.push(Event::Transfer {
                    transfer: self.transfers,
                    when: record,
                    address: word.address.map(|address| DataAddress::partial(address, self.data)),
                    value: word.value,
                    big_endian: false,
                });
                self.transfers += 1;
            }
            self.returned.transfers += words.len();
            self.given_up = !whole;
            if !whole && self.doubtful {
                self.expected.doubtful_packets.push(self.expected.packets.len());
                self.expected.doubtful_events.push(self.expected.events.len());
            }
        }
        if self.given_up {
            self.data = 0;
            self.returned.incomplete += 1;
            self.expected.events.push(Event::Incomplete { when: record });
        }
    }

    /// The address of a branch or a restart.
    pub(super) fn address(&mut self, record: u64, packet: &Packet, target: &BranchTarget, located: Located) {
        let BranchTarget { address, isa, .. } = *target;
        self.expected.packets.push(*packet);
        self.given_up = false;
        let (full, reason, context_id) = match *packet {
            Packet::FullBranchAddress { reason, context_id, .. } => (true, reason, context_id),
            _ => (false, AddressReason::Branch, None),
        };
        if reason.is_restart() {
            self.returned.starts += 1;
            self.returned.overflows += usize::from(reason == AddressReason::Overflow);
            self.data = 0;
        }
        self.based = (self.based || full) && located != Located::Far;
        self.placed = self.based && located == Located::Yes;
        match located {
            Located::Yes => {}
            Located::Abandoned => self.returned.abandoned += 1,
            Located::Far => self.returned.far += 1,
        }
        if self.based && !reason.is_restart() {
            self.exception(record, target);
        }
        let event = if located != Located::Yes {
            context_id.map(|value| Event::ContextId { when: record, value })
        } else if let Some(reason) = reason.synchronisation() {
            Some(Event::Synchronisation { cycle: record, reason, address, isa, context_id, lsm: None })
        } else {
            self.based.then_some(Event::Branch { cycle: record, address, isa })
        };
        self.expected.events.extend(event);
    }

    /// What a known target shows of the instruction: an exception was taken, perhaps one, or none.
    ///
    /// Spec: ETM1-EXC-001 to 005, ETM1-EXC-007, ETM1-EXC-012, ETM1-EXC-013 (4.5.3).
    fn exception(&mut self, cycle: u64, target: &BranchTarget) {
        let vector = target.address;
        if self.hivecs == VectorBase::Unknown {
            if target.isa == Isa::Arm && exceptions::is_vector(vector.0) {
                self.returned.possible_exceptions += 1;
                self.expected.events.push(Event::PossibleException { cycle, vector });
            }
            return;
        }
        let Some(Taken { kind, .. }) = target.exception.as_ref().map(exceptions::taken) else { return };
        self.returned.exceptions += 1;
        let own = self.expected.events.split_off(self.before);
        let (mut at, mut ignored) = (None, None);
        for mut event in own {
            match &mut event {
                Event::InstructionAt { address, executed, .. } => {
                    at = *address;
                    *executed = exceptions::is_executed(kind);
                }
                // In place of all of them.
                Event::Transfer { transfer, .. } => {
                    let (first, _) = *ignored.get_or_insert((*transfer, *transfer));
                    ignored = Some((first, *transfer));
                    continue;
                }
                _ => {}
            }
            self.expected.events.push(event);
        }
        if let Some((first, last)) = ignored {
            self.returned.ignored += 1;
            self.expected.events.push(Event::IgnoredTransfers { first, last });
        }
        self.expected.events.push(Event::Exception { cycle, kind, vector, at, cancelled: None });
    }
}
