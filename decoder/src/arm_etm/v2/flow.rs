//! Statuses and packets -> events: addresses, transfers, load misses.

use alloc::format;

use traceproof_vectors::arm_etm::{
    ArmEtm, CompressedAddress, Event, ExceptionKind, MissingReason, Packet, Parameters, Reason, Value,
    VectorBase,
};
use traceproof_vectors::{Address32, DecoderState, Fault, FaultClass, Place, Sink};

use super::address::{DataAddresses, FOUR_BYTES, InstructionAddress};
use super::conventions::is_exception;
use super::exceptions::{Latest, Meaning, meaning};
use super::listener::Carrier;
use crate::arm_etm::misses::{MissTable, Outstanding};

/// Turns packets into events, packet by packet.
#[derive(Clone, Debug)]
pub struct Flow {
    data_value: bool,
    data_address: bool,
    monitor_cprt: bool,
    hivecs: VectorBase,
    /// Number of the next transfer.
    transfers: u64,
    /// Base of the next branch address.
    instruction: InstructionAddress,
    addresses: DataAddresses,
    misses: MissTable,
    latest: Latest,
}

impl Flow {
    /// For people: what the next packet refers to.
    pub(super) fn shown(&self, state: DecoderState) -> DecoderState {
        let InstructionAddress { address, isa } = self.instruction;
        let state = state.with("branch address base", format!("{address:#x} {isa:?}"));
        if !self.data_value && !self.data_address {
            return state;
        }
        state
            .with("data address base", self.addresses.base())
            .with("transfers", self.transfers)
            .with_list("outstanding misses", self.misses.shown())
    }

    /// At the start of a stream.
    #[must_use]
    pub fn new(parameters: &Parameters) -> Self {
        Self {
            data_value: parameters.data_value,
            data_address: parameters.data_address,
            monitor_cprt: parameters.monitor_cprt,
            hivecs: parameters.hivecs,
            transfers: 0,
            instruction: InstructionAddress::default(),
            addresses: DataAddresses::UNKNOWN,
            misses: MissTable::EMPTY,
            latest: Latest::NONE,
        }
    }

    /// Resets to the start of a stream.
    pub fn reset(&mut self) {
        self.transfers = 0;
        self.instruction = InstructionAddress::default();
        self.addresses = DataAddresses::UNKNOWN;
        self.misses = MissTable::EMPTY;
        self.latest = Latest::NONE;
    }

    /// Takes a packet. `Suspicious` is the only class of its faults.
    pub fn packet<S>(&mut self, carrier: Carrier, packet: &Packet, sink: &mut S)
    where
        S: Sink<ArmEtm> + ?Sized,
    {
        let place = carrier.place;
        let tag = match *packet {
            Packet::LoadMissData { tag, .. } => Some(tag),
            _ => None,
        };
        let half = self.misses.packet(tag);
        if half.is_some() {
            suspicious(place, sink);
        }
        match *packet {
            Packet::LoadMissOccurred { first, tag, address, .. } => {
                self.placeholder(carrier, half, first, tag, address, sink);
            }
            Packet::LoadMissData { tag, value, .. } => self.miss_data(carrier, half, tag, value, sink),
            Packet::BranchAddress(address) => self.branch(carrier, half, address, sink),
            _ => {
                missing(place, half, MissingReason::Incomplete, sink);
                self.other(carrier, packet, sink);
            }
        }
    }

    /// Synchronisation is lost at `place`. Spec: ETM2-LM-056 (6.4.3), ETM2-DA-003 (6.8).
    pub fn lose_synchronisation<S>(&mut self, place: Place, sink: &mut S)
    where
        S: Sink<ArmEtm> + ?Sized,
    {
        self.addresses = DataAddresses::UNKNOWN;
        missing(place, self.misses.clear(), MissingReason::SynchronisationLost, sink);
    }

    /// The stream ends at `place`. Spec: ETM2-LM-057 (6.4.3).
    pub fn end<S>(&mut self, place: Place, sink: &mut S)
    where
        S: Sink<ArmEtm> + ?Sized,
    {
        missing(place, self.misses.clear(), MissingReason::End, sink);
    }

    /// Spec: ETM2-LM-017 to 025, ETM2-LM-036 to 045 (6.4.3).
    fn placeholder<S>(
        &mut self,
        carrier: Carrier,
        half: Option<u64>,
        first: bool,
        tag: u8,
        address: Option<CompressedAddress>,
        sink: &mut S,
    ) where
        S: Sink<ArmEtm> + ?Sized,
    {
        let mut value = Value::Off;
        let mut superseded = None;
        if self.data_value {
            let placed = self.misses.placeholder(tag, self.transfers);
            value = if placed.second_half { Value::PendingHigh(tag) } else { Value::Pending(tag) };
            superseded = placed.superseded;
        }
        if superseded.is_some_and(|item| !item.excusable) {
            suspicious(carrier.place, sink);
        }
        missing(carrier.place, half, MissingReason::Incomplete, sink);
        if let Some(Outstanding { transfer, high, .. }) = superseded {
            let transfers = [Some(transfer), high].into_iter().flatten();
            missing(carrier.place, transfers, MissingReason::Superseded, sink);
        }
        self.transfer(carrier, first, address, value, sink);
    }

    /// Spec: ETM2-LM-019, ETM2-LM-046 (6.4.3), ETM2-LM-050 (PC-12).
    fn miss_data<S>(&mut self, carrier: Carrier, half: Option<u64>, tag: u8, value: u32, sink: &mut S)
    where
        S: Sink<ArmEtm> + ?Sized,
    {
        let Carrier { place, cycle, .. } = carrier;
        if !self.data_value {
            suspicious(place, sink);
        }
        missing(place, half, MissingReason::Incomplete, sink);
        let event = match self.misses.data(tag) {
            Some(transfer) => Event::MissData { transfer, when: cycle, value },
            None => Event::IgnoredData { when: cycle, tag },
        };
        sink.event(place, &event);
    }

    /// Spec: ETM2-BR-003 (6.7), ETM2-EXC-001 to 006, ETM2-EXC-008 to 010 (4.5.3, 6.8.1).
    fn branch<S>(&mut self, carrier: Carrier, half: Option<u64>, packet: CompressedAddress, sink: &mut S)
    where
        S: Sink<ArmEtm> + ?Sized,
    {
        let Carrier { place, last, cycle, instruction } = carrier;
        self.instruction = self.instruction.branch(packet);
        let InstructionAddress { address, isa } = self.instruction;
        let address = Address32(address);
        let bit = is_exception((packet.bits >> FOUR_BYTES) as u8);
        let meaning = meaning(self.hivecs, self.instruction, bit);
        if let Meaning::Exception { suspicious: true, .. } = meaning {
            suspicious(Place { byte: last, bit: 0, ..place }, sink);
        }
        missing(place, half, MissingReason::Incomplete, sink);
        match meaning {
            Meaning::Branch => {}
            Meaning::Possible => sink.event(place, &Event::PossibleException { cycle, vector: address }),
            Meaning::Exception { kind, taken_back, ignored, .. } => {
                let instruction = self.latest.instruction(instruction);
                let transfers = self.latest.transfers(instruction, self.transfers).filter(|_| ignored);
                if let Some((first, last)) = transfers {
                    sink.event(place, &Event::IgnoredTransfers { first, last });
                }
                let cancelled = instruction.filter(|_| taken_back);
                sink.event(place, &Event::Exception { cycle, kind, vector: address, at: None, cancelled });
                if kind == ExceptionKind::Reset {
                    self.misses.excuse();
                }
            }
        }
        sink.event(place, &Event::Branch { cycle, address, isa });
    }

    /// Packets that have nothing to do with load misses.
    fn other<S>(&mut self, carrier: Carrier, packet: &Packet, sink: &mut S)
    where
        S: Sink<ArmEtm> + ?Sized,
    {
        let Carrier { place, cycle, .. } = carrier;
        match *packet {
            Packet::NormalData { first, address, value, .. } => {
                self.transfer(carrier, first, address, value.map_or(Value::Off, Value::Known), sink);
            }
            Packet::ValueNotTraced { .. } => self.transfer(carrier, false, None, Value::NotTraced, sink),
            Packet::ContextId { value, .. } => sink.event(place, &Event::ContextId { when: cycle, value }),
            Packet::TraceFifoOffset { reason, jazelle, context_id, address, under_lsm } => {
                let full = InstructionAddress::full(address.0, jazelle);
                self.instruction = under_lsm.map_or(full, |current| full.branch(current));
                let InstructionAddress { address, isa } = self.instruction;
                let lsm = under_lsm.map(|_| full.address);
                self.synchronise(reason);
                sink.event(
                    place,
                    &Event::Synchronisation {
                        cycle,
                        reason,
                        address: Address32(address),
                        isa,
                        context_id,
                        lsm: lsm.map(Address32),
                    },
                );
                // Spec: ETM2-PS-013, ETM2-TFO-012, ETM2-TFO-021 (6.5.1, 7.14.2).
                let executes = reason == Reason::Periodic || lsm.is_some();
                self.latest.synchronise(cycle, reason == Reason::Periodic, executes);
                if executes {
                    sink.event(place, &Event::Instruction { cycle, executed: true, phantom: false });
                }
            }
            // Misses and branches are `packet`'s own; a port of this architecture has no other packets.
            _ => {}
        }
    }

    /// Tracing was interrupted, unless synchronisation is periodic. Spec: ETM2-DA-003, ETM2-TFO-023 (6.8), ETM2-LM-055.
    fn synchronise(&mut self, reason: Reason) {
        if reason != Reason::Periodic {
            self.addresses = DataAddresses::UNKNOWN;
            self.misses.excuse();
        }
    }

    /// Spec: ETM2-ND-003, ETM2-ND-011 (6.4.2), ETM2-LM-053 (6.4.4).
    fn transfer<S>(
        &mut self,
        carrier: Carrier,
        first: bool,
        address: Option<CompressedAddress>,
        value: Value,
        sink: &mut S,
    ) where
        S: Sink<ArmEtm> + ?Sized,
    {
        let address = match address {
            Some(address) => self.addresses.received(address),
            None if first || !self.data_address || self.monitor_cprt => self.addresses.absent(),
            None => self.addresses.next(),
        };
        let Carrier { place, cycle, .. } = carrier;
        if first {
            self.latest.first_transfer(self.transfers, cycle);
        }
        sink.event(
            place,
            &Event::Transfer { transfer: self.transfers, when: cycle, address, value, big_endian: false },
        );
        self.transfers += 1;
    }
}

fn suspicious<S: Sink<ArmEtm> + ?Sized>(place: Place, sink: &mut S) {
    sink.fault(&Fault::new(FaultClass::Suspicious, place));
}

fn missing<S: Sink<ArmEtm> + ?Sized>(
    place: Place,
    transfers: impl IntoIterator<Item = u64>,
    reason: MissingReason,
    sink: &mut S,
) {
    for transfer in transfers {
        sink.event(place, &Event::Missing { transfer, reason });
    }
}
