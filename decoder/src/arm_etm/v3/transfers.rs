//! Data packets -> transfers and load misses.

use traceproof_vectors::arm_etm::{
    ArmEtm, CompressedAddress, Event, MissingReason, Packet, Parameters, Reason, Value,
};
use traceproof_vectors::{DecoderState, Fault, FaultClass, Place, Sink};

use super::address::DataAddresses;
use crate::arm_etm::misses::{MissTable, Outstanding};

/// The content of a data packet, as needed for Store Failed.
#[derive(Clone, Copy, Debug)]
enum Before {
    /// Normal Data or out-of-order data; `None` if those were ignored.
    Data(Option<u64>),
    Other,
}

/// Transfers, their addresses, and the misses among them.
#[derive(Clone, Debug)]
pub(super) struct Transfers {
    data_value: bool,
    data_address: bool,
    monitor_cprt: bool,
    forgets_when_suppressed: bool,
    /// Number of the next transfer.
    count: u64,
    addresses: DataAddresses,
    misses: MissTable,
    before: Before,
    /// The packet before was a data packet.
    adjacent: bool,
}

/// Where a packet is, and how many atoms were before it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Carrier {
    pub(super) place: Place,
    pub(super) when: u64,
}

impl Transfers {
    /// For people: what the next data packet refers to, if data are traced.
    pub(super) fn shown(&self, state: DecoderState) -> DecoderState {
        if !self.data_value && !self.data_address {
            return state;
        }
        state
            .with("data address base", self.addresses.base())
            .with("transfers", self.count)
            .with_list("outstanding misses", self.misses.shown())
    }

    pub(super) fn new(parameters: &Parameters) -> Self {
        Self {
            data_value: parameters.data_value,
            data_address: parameters.data_address,
            monitor_cprt: parameters.monitor_cprt,
            // ETM3-DAT-014 (7.4.6)
            forgets_when_suppressed: parameters.minor <= 2,
            count: 0,
            addresses: DataAddresses::UNKNOWN,
            misses: MissTable::EMPTY,
            before: Before::Other,
            adjacent: false,
        }
    }

    pub(super) fn reset(&mut self) {
        self.count = 0;
        self.addresses = DataAddresses::UNKNOWN;
        self.misses = MissTable::EMPTY;
        (self.before, self.adjacent) = (Before::Other, false);
    }

    /// An I-sync; `first` after an A-sync search. Spec: ETM3-SYN-012 (7.10.6).
    pub(super) fn synchronise(&mut self, reason: Reason, first: bool) {
        if first || reason != Reason::Periodic {
            self.addresses.forget();
        }
        if reason != Reason::Periodic {
            self.misses.excuse();
        }
    }

    /// Data of what is outstanding now may never come.
    pub(super) fn excuse(&mut self) {
        self.misses.excuse();
    }

    /// Everything outstanding is missing.
    pub(super) fn clear<S: Sink<ArmEtm> + ?Sized>(
        &mut self,
        place: Place,
        reason: MissingReason,
        sink: &mut S,
    ) {
        self.addresses.forget();
        (self.before, self.adjacent) = (Before::Other, false);
        missing(place, self.misses.clear(), reason, sink);
    }

    /// A packet that is not about data, nor Ignore: it separates the halves of an incomplete item. Its fault and the
    /// transfer that is missing then.
    ///
    /// Spec: ETM3-OOO-006 (7.4).
    #[inline]
    pub(super) fn part<S: Sink<ArmEtm> + ?Sized>(&mut self, place: Place, sink: &mut S) -> Option<u64> {
        if !self.adjacent {
            return None;
        }
        (self.before, self.adjacent) = (Before::Other, false);
        let half = self.misses.packet(None);
        if half.is_some() {
            suspicious(place, sink);
        }
        half
    }

    /// A data packet.
    pub(super) fn packet<S: Sink<ArmEtm> + ?Sized>(
        &mut self,
        carrier: Carrier,
        packet: &Packet,
        sink: &mut S,
    ) {
        let tag = match *packet {
            Packet::LoadMissData { tag, .. } => Some(tag),
            _ => None,
        };
        let before = core::mem::replace(&mut self.before, Before::Other);
        self.adjacent = true;
        let half = self.misses.packet(tag);
        if half.is_some() {
            suspicious(carrier.place, sink);
        }
        match *packet {
            Packet::LoadMissOccurred { first, tag, address, .. } => {
                self.placeholder(carrier, half, first, tag, address, sink);
            }
            Packet::LoadMissData { tag, value, .. } => {
                incomplete(carrier.place, half, sink);
                let transfer = self.misses.data(tag);
                self.before = Before::Data(transfer);
                let event = match transfer {
                    Some(transfer) => Event::MissData { transfer, when: carrier.when, value },
                    None => Event::IgnoredData { when: carrier.when, tag },
                };
                sink.event(carrier.place, &event);
            }
            Packet::NormalData { first, address, value, .. } => {
                incomplete(carrier.place, half, sink);
                self.before = Before::Data(Some(self.count));
                self.transfer(carrier, first, address, value.map_or(Value::Off, Value::Known), sink);
            }
            Packet::ValueNotTraced { first, address, .. } => {
                incomplete(carrier.place, half, sink);
                self.transfer(carrier, first, address, Value::NotTraced, sink);
            }
            Packet::StoreFailed => self.store_failed(carrier.place, half, before, sink),
            _ => {
                incomplete(carrier.place, half, sink);
                if self.forgets_when_suppressed {
                    self.addresses.forget();
                }
                sink.event(carrier.place, &Event::DataSuppressed { when: carrier.when });
            }
        }
    }

    /// Spec: ETM3-DAT-010, ETM3-DAT-011 (7.4.7).
    fn store_failed<S: Sink<ArmEtm> + ?Sized>(
        &mut self,
        place: Place,
        half: Option<u64>,
        before: Before,
        sink: &mut S,
    ) {
        if matches!(before, Before::Other) {
            sink.fault(&Fault::new(FaultClass::Contradiction, place));
        }
        incomplete(place, half, sink);
        if let Before::Data(Some(transfer)) = before {
            sink.event(place, &Event::StoreFailed { transfer });
        }
    }

    /// Spec: ETM3-OOO-002, ETM3-OOO-004, ETM3-OOO-005 (7.4.3).
    fn placeholder<S: Sink<ArmEtm> + ?Sized>(
        &mut self,
        carrier: Carrier,
        half: Option<u64>,
        first: bool,
        tag: u8,
        address: Option<CompressedAddress>,
        sink: &mut S,
    ) {
        let mut value = Value::Off;
        let mut superseded = None;
        if self.data_value {
            let placed = self.misses.placeholder(tag, self.count);
            value = if placed.second_half { Value::PendingHigh(tag) } else { Value::Pending(tag) };
            superseded = placed.superseded;
        }
        if superseded.is_some_and(|item| !item.excusable) {
            suspicious(carrier.place, sink);
        }
        incomplete(carrier.place, half, sink);
        if let Some(Outstanding { transfer, high, .. }) = superseded {
            let transfers = [Some(transfer), high].into_iter().flatten();
            missing(carrier.place, transfers, MissingReason::Superseded, sink);
        }
        self.transfer(carrier, first, address, value, sink);
    }

    /// Spec: ETM3-DAT-005 to 007 (7.4).
    fn transfer<S: Sink<ArmEtm> + ?Sized>(
        &mut self,
        carrier: Carrier,
        first: bool,
        address: Option<CompressedAddress>,
        value: Value,
        sink: &mut S,
    ) {
        let address = match address {
            Some(address) => self.addresses.received(address),
            None if first || !self.data_address || self.monitor_cprt => self.addresses.absent(),
            None => self.addresses.next(),
        };
        let big_endian = self.addresses.big_endian();
        let Carrier { place, when } = carrier;
        sink.event(place, &Event::Transfer { transfer: self.count, when, address, value, big_endian });
        self.count += 1;
    }
}

fn suspicious<S: Sink<ArmEtm> + ?Sized>(place: Place, sink: &mut S) {
    sink.fault(&Fault::new(FaultClass::Suspicious, place));
}

/// The second half of a 64-bit datum should have been here. Spec: ETM2-LM-047 (6.4.3).
#[inline]
pub(super) fn incomplete<S: Sink<ArmEtm> + ?Sized>(place: Place, half: Option<u64>, sink: &mut S) {
    missing(place, half, MissingReason::Incomplete, sink);
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
