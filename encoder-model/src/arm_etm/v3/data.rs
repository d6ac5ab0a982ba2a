//! Which packets a data transfer gets.

use alloc::vec::Vec;

use traceproof_vectors::arm_etm::{
    Access, CompressedAddress, Isa, Packet, Parameters, Policy, Position, Transfer,
};

use crate::arm_etm::misses::{MissTable, Outstanding};
use crate::arm_etm::ss::minimal_ss;

/// Bytes of an uncompressed data address.
const LONGEST: u8 = 5;

/// Base of data addresses: the one that was output last. Spec: ETM3-DAT-005 (7.4).
#[derive(Clone, Copy, Debug, Default)]
struct DataBase {
    address: Option<u32>,
    big_endian: bool,
    /// The next address is a D-sync although there is a base.
    full_due: bool,
}

impl DataBase {
    /// The address as it travels; it becomes the base.
    ///
    /// Spec: ETM3-DAT-003, 004, ETM3-SYN-011 (7.4.2, 7.10.6): only a full address carries the byte order.
    /// `synchronises`: it is in Normal Data or a placeholder, where a full one is a D-sync.
    fn compress(
        &mut self,
        address: u32,
        big_endian: bool,
        minimal: bool,
        synchronises: bool,
    ) -> CompressedAddress {
        let full = self.full_due && synchronises;
        let bytes = match self.address {
            Some(base) if minimal && !full && big_endian == self.big_endian => {
                let width = u32::BITS - (base ^ address).leading_zeros();
                width.div_ceil(7).clamp(1, LONGEST.into()) as u8
            }
            _ => LONGEST,
        };
        *self = Self { address: Some(address), big_endian, full_due: self.full_due && !synchronises };
        let bits = if bytes < LONGEST {
            u64::from(address) & ((1 << (7 * bytes)) - 1)
        } else {
            u64::from(address) | u64::from(big_endian) << u32::BITS
        };
        CompressedAddress { bits, bytes }
    }
}

/// An instruction with several transfers that has not had the last of them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lsm {
    /// Where it is, and its state; `None` for the automatic stacking of an exception.
    pub(super) place: Option<(u32, Isa)>,
    /// It was traced itself, or announced by an I-sync packet.
    pub(super) traced: bool,
    /// One of its transfers has packets.
    output: bool,
    /// Where its next transfer is, if it goes on from the latest one.
    expected: u32,
}

/// What one transfer is to the filters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Treatment {
    /// It leaves no packet.
    Untraced,
    /// It gets packets, with the A bit or without.
    Traced { first: bool },
    /// Earlier transfers of its LSM have packets, ViewData is off for it. Spec: ETM3-DAT-008 (7.4.5).
    NotTraced { first: bool },
}

impl Lsm {
    pub(super) const fn new(place: Option<(u32, Isa)>, traced: bool) -> Self {
        Self { place, traced, output: false, expected: 0 }
    }

    /// It is traced from here on; nothing of it was output before.
    pub(super) const fn announce(&mut self) {
        (self.traced, self.output) = (true, false);
    }

    /// The decision of the filters for its next transfer. Spec: ETM3-DAT-006 to 009 (7.4.5).
    const fn treat(&mut self, transfer: &Transfer, view_data: bool) -> Treatment {
        let first = !self.output || transfer.address.0 != self.expected;
        let length = if transfer.wide { 8 } else { 4 };
        self.expected = transfer.address.wrapping_add(length).0;
        match (self.traced, self.output, view_data) {
            (false, ..) | (true, false, false) => Treatment::Untraced,
            (true, _, true) => {
                self.output = true;
                Treatment::Traced { first }
            }
            (true, true, false) => Treatment::NotTraced { first },
        }
    }
}

/// The filters in one cycle.
#[derive(Clone, Copy, Debug)]
pub(super) struct Filters {
    /// Instructions are traced.
    pub(super) on: bool,
    /// Level of ViewData.
    pub(super) view_data: bool,
    /// The FIFO is so full that data are suppressed.
    pub(super) pressed: bool,
}

/// Parameters and policy, as far as data packets are concerned.
#[derive(Clone, Copy, Debug)]
struct DataRules {
    address: bool,
    value: bool,
    coprocessor: bool,
    coprocessor_filtered: bool,
    minimal_values: bool,
    minimal_addresses: bool,
    /// Spec: ETM3-DAT-014 (7.4.6): up to v3.2 addresses start afresh after suppressed data.
    suppression_breaks_base: bool,
}

/// Everything that data packets depend on and change.
#[derive(Clone, Copy, Debug)]
pub(super) struct Data {
    rules: DataRules,
    base: DataBase,
    pub(super) misses: MissTable,
    pub(super) lsm: Option<Lsm>,
    /// A data suppressed packet went out and nothing has ended it.
    pub(super) suppressing: bool,
    /// Tag of the placeholder that is the latest packet.
    open_tag: Option<u8>,
}

impl Data {
    pub(super) fn new(parameters: &Parameters, policy: &Policy) -> Self {
        Self {
            rules: DataRules {
                address: parameters.data_address,
                value: parameters.data_value,
                coprocessor: parameters.monitor_cprt && parameters.data_value,
                coprocessor_filtered: parameters.filter_cprt,
                minimal_values: policy.minimal_values,
                minimal_addresses: policy.minimal_addresses,
                suppression_breaks_base: parameters.minor <= 2,
            },
            base: DataBase::default(),
            // ETM3-OOO-001: there is no tag 0.
            misses: MissTable::new(&Policy { tag_zero: false, ..*policy }),
            lsm: None,
            suppressing: false,
            open_tag: None,
        }
    }

    /// Tracing was interrupted. Spec: ETM3-SYN-012 (7.10.6).
    pub(super) const fn forget_base(&mut self) {
        (self.base.address, self.base.full_due) = (None, true);
    }

    /// A synchronisation period ended. Spec: ETM3-SYN-009 (7.10.3).
    pub(super) const fn require_full(&mut self) {
        self.base.full_due = true;
    }

    /// Whether transfers leave packets at all.
    pub(super) const fn is_traced(&self) -> bool {
        self.rules.address || self.rules.value
    }

    /// A transfer happens: its packets. `place` is where the latest instruction is.
    pub(super) fn transfer(
        &mut self,
        transfer: &Transfer,
        filters: Filters,
        place: Option<(u32, Isa)>,
        packets: &mut Vec<Packet>,
    ) {
        let treatment = self.treat(transfer, filters, place);
        let begins = matches!(transfer.position, Position::Only | Position::First);
        let (first, traced) = match treatment {
            _ if !self.is_traced() => return,
            Treatment::Untraced => return,
            Treatment::Traced { first } => (first, true),
            Treatment::NotTraced { first } => (first, false),
        };
        if self.suppressed(begins, filters.pressed, packets) {
            return;
        }
        // A coprocessor transfer has no address, whatever the A bit of others (ETM2-ND-007).
        let addressed = first && transfer.access != Access::Coprocessor;
        let address = (addressed && self.rules.address).then(|| {
            self.base.compress(transfer.address.0, transfer.big_endian, self.rules.minimal_addresses, traced)
        });
        match transfer.access {
            _ if !traced => {
                packets.push(Packet::ValueNotTraced { more: false, first, address });
                if transfer.wide {
                    packets.push(Packet::ValueNotTraced { more: false, first: false, address: None });
                }
            }
            Access::Miss(miss) => {
                let tag = self.misses.allocate(miss, transfer.wide, self.open_tag);
                packets.push(Packet::LoadMissOccurred { more: false, first, tag, address });
                if transfer.wide {
                    packets.push(Packet::LoadMissOccurred { more: false, first: false, tag, address: None });
                }
            }
            Access::Store | Access::Hit | Access::Coprocessor => {
                // ETM3-DAT-010: the value of a store that failed is 0.
                let failed = transfer.failed && transfer.access == Access::Store;
                let value = if failed { 0 } else { transfer.value };
                packets.push(self.normal_data(addressed, address, value as u32));
                if transfer.wide {
                    packets.push(self.normal_data(false, None, (value >> 32) as u32));
                }
                if failed && self.rules.value {
                    packets.push(Packet::StoreFailed);
                }
            }
        }
    }

    /// The data of a load miss arrive: the packets, if its placeholder was traced and nothing else forbids it.
    ///
    /// Spec: ETM3-OOO-003, 004 (6.4.3, 7.4); PC-12.
    pub(super) fn miss_data(&self, miss: Outstanding, value: u64, packets: &mut Vec<Packet>) {
        if !self.rules.value {
            return;
        }
        let mut word = |value: u32| {
            packets.push(Packet::LoadMissData { more: false, tag: miss.tag, ss: self.ss(value), value });
        };
        word(value as u32);
        if miss.wide {
            word((value >> 32) as u32);
        }
    }

    /// Takes note of the latest packet.
    ///
    /// Two placeholders that belong to different loads must not follow each other with the same tag, for they would be
    /// one 64-bit item (ETM3-OOO-005).
    pub(super) fn note_latest(&mut self, packets: &[Packet]) {
        match packets.last() {
            Some(Packet::LoadMissOccurred { tag, .. }) => self.open_tag = Some(*tag),
            Some(_) => self.open_tag = None,
            None => {}
        }
    }

    /// Another packet will come before the next data packet.
    pub(super) const fn part(&mut self) {
        self.open_tag = None;
    }

    /// Records the transfer's place in its instruction, and returns the decision of the filters.
    fn treat(&mut self, transfer: &Transfer, filters: Filters, place: Option<(u32, Isa)>) -> Treatment {
        let seen = filters.on && filters.view_data;
        if transfer.access == Access::Coprocessor {
            let visible = filters.on && (filters.view_data || !self.rules.coprocessor_filtered);
            return if visible && self.rules.coprocessor {
                Treatment::Traced { first: false }
            } else {
                Treatment::Untraced
            };
        }
        let treatment = match transfer.position {
            // An LSM may still be transferring around it.
            Position::Only if seen => return Treatment::Traced { first: true },
            Position::Only => return Treatment::Untraced,
            Position::First => self.lsm.insert(Lsm::new(place, filters.on)).treat(transfer, seen),
            Position::Middle | Position::Last => {
                self.lsm.as_mut().map_or(Treatment::Untraced, |lsm| lsm.treat(transfer, seen))
            }
        };
        if transfer.position == Position::Last {
            self.lsm = None;
        }
        treatment
    }

    /// Whether the packets of a transfer are suppressed. It lasts to the end of the data instruction at least.
    ///
    /// Spec: ETM3-DAT-012, 014, 015 (7.4.6).
    fn suppressed(&mut self, begins: bool, pressed: bool, packets: &mut Vec<Packet>) -> bool {
        if self.suppressing {
            self.suppressing = pressed || !begins;
        } else if pressed {
            self.suppressing = true;
            if self.rules.suppression_breaks_base {
                self.forget_base();
            }
            packets.push(Packet::DataSuppressed);
        }
        self.suppressing
    }

    fn normal_data(&self, first: bool, address: Option<CompressedAddress>, value: u32) -> Packet {
        // Where no values travel the size says nothing, and is 0.
        let ss = if self.rules.value { self.ss(value) } else { 0 };
        Packet::NormalData { more: false, first, address, ss, value: self.rules.value.then_some(value) }
    }

    const fn ss(&self, value: u32) -> u8 {
        if self.rules.minimal_values { minimal_ss(value) } else { 3 }
    }
}
