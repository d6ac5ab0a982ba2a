//! How an access travels: whole, or as a difference (ET 8.1.3, 8.1.4).

use traceproof_vectors::riscv_etrace::{
    Atomic, AtomicAccess, AtomicData, AtomicRequest, Csr, CsrAccess, DataCompression, DataLength, DataPacket,
    DataPolicy, LoadData, LoadRequest, OfferedCompression, ReportedAddress, ReportedData, Transfer,
};

use super::bases::Bases;
use super::fields::{DataFields, data_bits, extend};

/// How a packet's address and data travel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Coding {
    differential_address: bool,
    data: DataCoding,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum DataCoding {
    Full,
    Xor,
    Delta,
}

const FULL: Coding = Coding { differential_address: false, data: DataCoding::Full };

/// The codings that packets with address and data have, in the order of `diff`. Spec: RVET-DATA-009 (ET 8.1.3).
const BOTH: [Coding; 4] = [
    FULL,
    Coding { differential_address: true, data: DataCoding::Xor },
    Coding { differential_address: true, data: DataCoding::Full },
    Coding { differential_address: true, data: DataCoding::Delta },
];
const ADDRESS_ONLY: [Coding; 2] = [FULL, Coding { differential_address: true, data: DataCoding::Full }];
const DATA_ONLY: [Coding; 3] = [
    FULL,
    Coding { differential_address: false, data: DataCoding::Xor },
    Coding { differential_address: false, data: DataCoding::Delta },
];

/// A load or store whose address and data, as far as they travel, are known.
#[derive(Clone, Copy, Debug)]
pub(super) struct Whole {
    pub(super) store: bool,
    pub(super) size: u8,
    pub(super) multi: bool,
    pub(super) address: Option<u64>,
    pub(super) data: Option<u128>,
}

/// Makes packets of accesses and keeps the bases that both ends share.
#[derive(Clone, Copy, Debug)]
pub(super) struct Chooser {
    pub(super) fields: DataFields,
    policy: DataPolicy,
    compressed: bool,
    bases: Bases,
}

impl Chooser {
    /// `compressed`: payloads lose the bytes that their sign restores.
    pub(super) fn new(fields: DataFields, policy: DataPolicy, compressed: bool) -> Self {
        Self { fields, policy, compressed, bases: Bases::default() }
    }

    /// A decoder starts over here. Spec: RVET-DATA-007 (ET 8.1.3).
    pub(super) fn restart(&mut self) {
        self.bases = Bases::default();
    }

    pub(super) fn transfer(&mut self, whole: &Whole) -> DataPacket {
        let &Whole { store, size, multi, address, data } = whole;
        let address = address.map(|address| self.byte_address(address));
        let data = data.map(|data| truncate(data, size));
        let unaligned = address.is_some_and(|address| !is_aligned(address, size));
        let codings = match (address, data) {
            (Some(_), Some(_)) => &BOTH[..],
            (Some(_), None) => &ADDRESS_ONLY,
            _ => &DATA_ONLY,
        };
        let packet = self.choose(codings, size, self.differs(address, size, unaligned), |chooser, coding| {
            let reported = data.map(|data| chooser.report(coding, data, chooser.bases.data(size), size));
            let transfer = Transfer {
                size,
                unaligned,
                multi,
                data_len: address.and(reported).map_or(0, |data| chooser.length(data, size)),
                data: reported,
                address: address.map(|address| chooser.report_address(coding, address, size)),
            };
            if store { DataPacket::Store(transfer) } else { DataPacket::Load(transfer) }
        });
        self.bases.set_address(size, address);
        self.bases.set_data(size, data);
        packet
    }

    pub(super) fn load_request(&mut self, address: u64, size: u8, multi: bool, lrid: u16) -> DataPacket {
        let address = self.byte_address(address);
        let unaligned = !is_aligned(address, size);
        let differs = self.differs(Some(address), size, unaligned);
        let packet = self.choose(&ADDRESS_ONLY, size, differs, |chooser, coding| {
            let address = chooser.report_address(coding, address, size);
            DataPacket::LoadRequest(LoadRequest { size, unaligned, multi, lrid, address })
        });
        self.bases.set_address(size, Some(address));
        packet
    }

    /// `data` is absent on error, which leaves the bases alone. Spec: RVET-DATA-016 (ET 8.1).
    pub(super) fn load_data(&mut self, size: u8, lrid: u16, data: Option<u128>) -> DataPacket {
        let Some(data) = data.map(|data| truncate(data, size)) else {
            return DataPacket::LoadData(LoadData { size, lrid, data: None });
        };
        let packet = self.choose(&DATA_ONLY, size, false, |chooser, coding| {
            let data = Some(chooser.report(coding, data, chooser.bases.data(size), size));
            DataPacket::LoadData(LoadData { size, lrid, data })
        });
        self.bases.set_data(size, Some(data));
        packet
    }

    /// `address` and `values` (operand, and data unless a compare-and-swap failed) are those that travel.
    pub(super) fn atomic(
        &mut self,
        access: &AtomicAccess,
        address: Option<u64>,
        values: Option<(u128, Option<u128>)>,
    ) -> DataPacket {
        let &AtomicAccess { op, size, .. } = access;
        let address = address.map(|address| self.shifted_address(address, size));
        let values =
            values.map(|(operand, data)| (truncate(operand, size), data.map(|data| truncate(data, size))));
        let codings = match (address, values) {
            (Some(_), Some(_)) => &BOTH[..],
            (Some(_), None) => &ADDRESS_ONLY,
            _ => &DATA_ONLY,
        };
        let packet = self.choose(codings, size, self.differs(address, size, false), |chooser, coding| {
            let operand = values.map(|(operand, _)| chooser.report_operand(coding, operand, size));
            let before = chooser.after_operand(values.map(|(operand, _)| operand), size);
            let data =
                values.and_then(|(_, data)| data).map(|data| chooser.report(coding, data, before, size));
            // What comes last in a packet without address has no length.
            let lengths = |reported: Option<ReportedData>, last: bool| {
                if last { 0 } else { reported.map_or(0, |data| chooser.length(data, size)) }
            };
            DataPacket::Atomic(Atomic {
                op,
                size,
                op_len: lengths(operand, address.is_none() && data.is_none()),
                operand,
                data_len: lengths(data, address.is_none()),
                data,
                address: address.map(|address| chooser.report_address(coding, address, size)),
            })
        });
        self.bases.set_address(size, address);
        // The data of a failed compare-and-swap do not travel, so they leave no base; a compressed operand is one.
        let compressed = self.fields.parameters.compressed_operands;
        let latest = values.and_then(|(operand, data)| data.or_else(|| compressed.then_some(operand)));
        self.bases.set_data(size, latest);
        packet
    }

    /// The request of a split atomic; `address` is the one that travels.
    pub(super) fn atomic_request(
        &mut self,
        access: &AtomicAccess,
        address: Option<u64>,
        lrid: u16,
    ) -> DataPacket {
        let &AtomicAccess { op, size, operand, .. } = access;
        let address = address.map(|address| self.shifted_address(address, size));
        let operand = truncate(operand, size);
        let codings = if address.is_some() { &BOTH[..] } else { &DATA_ONLY };
        let packet = self.choose(codings, size, self.differs(address, size, false), |chooser, coding| {
            let reported = chooser.report_operand(coding, operand, size);
            DataPacket::AtomicRequest(AtomicRequest {
                op,
                size,
                lrid,
                op_len: if address.is_some() { chooser.length(reported, size) } else { 0 },
                operand: reported,
                address: address.map(|address| chooser.report_address(coding, address, size)),
            })
        });
        self.bases.set_address(size, address);
        let latest = self.after_operand(Some(operand), size);
        self.bases.set_data(size, latest);
        packet
    }

    /// `data` is absent on error. Spec: RVET-DATA-017 (ET 8.2).
    pub(super) fn atomic_data(&mut self, size: u8, lrid: u16, data: Option<u128>) -> DataPacket {
        let Some(data) = data.map(|data| truncate(data, size)) else {
            return DataPacket::AtomicData(AtomicData { size, lrid, data_len: 0, data: None });
        };
        let packet = self.choose(&DATA_ONLY, size, false, |chooser, coding| {
            let data = chooser.report(coding, data, chooser.bases.data(size), size);
            let data_len = chooser.length(data, size);
            DataPacket::AtomicData(AtomicData { size, lrid, data_len, data: Some(data) })
        });
        self.bases.set_data(size, Some(data));
        packet
    }

    /// Spec: RVET-DATA-020, RVET-DATA-021 (ET 8.3).
    pub(super) fn csr(&mut self, access: &CsrAccess) -> DataPacket {
        let size = self.fields.register;
        let number = access.address & CSR_NUMBER;
        let op = access.op;
        let packet = if self.fields.options.no_data {
            let differs = self.bases.register().is_some();
            self.choose(&ADDRESS_ONLY, size, differs, |chooser, coding| {
                let address = match chooser.bases.register() {
                    Some(base) if coding.differential_address => {
                        ReportedAddress::Delta(csr_delta(number, base))
                    }
                    _ => ReportedAddress::Full(number),
                };
                DataPacket::Csr(Csr { op, data_len: 0, data: None, op_len: 0, operand: None, address })
            })
        } else {
            let data = truncate(access.data, size);
            let operand = (!is_read_only(number)).then(|| truncate(access.operand, size));
            let packet = self.choose(&DATA_ONLY, size, false, |chooser, coding| {
                let reported = chooser.report(coding, data, chooser.bases.data(size), size);
                // Here the data come first. Spec: reading operands-are-not-compressed.
                let operand = operand.map(|operand| {
                    if chooser.fields.parameters.compressed_operands {
                        chooser.report(coding, operand, Some(data), size)
                    } else {
                        ReportedData::Full(operand)
                    }
                });
                DataPacket::Csr(Csr {
                    op,
                    data_len: chooser.length(reported, size),
                    data: Some(reported),
                    op_len: operand.map_or(0, |operand| chooser.length(operand, size)),
                    operand,
                    address: ReportedAddress::Full(number),
                })
            });
            let latest = operand.filter(|_| self.fields.parameters.compressed_operands).unwrap_or(data);
            self.bases.set_data(size, Some(latest));
            packet
        };
        if self.fields.options.no_data {
            self.bases.set_data(size, None);
        }
        self.bases.set_register(number);
        packet
    }

    /// Picks one of `codings` by policy. `differs`: the address may be a difference.
    fn choose(
        &self,
        codings: &[Coding],
        size: u8,
        differs: bool,
        packet: impl Fn(&Self, Coding) -> DataPacket,
    ) -> DataPacket {
        let possible = |coding: &Coding| {
            (!coding.differential_address || differs && !self.fields.options.full_address)
                && self.data_coding_possible(coding.data, size)
        };
        let wanted = match self.policy.compression {
            DataCompression::Shortest => {
                let length =
                    |packet: &DataPacket| self.fields.pack(packet).payload(self.compressed).bytes().len();
                let packets =
                    codings.iter().filter(|coding| possible(coding)).map(|&coding| packet(self, coding));
                // The first one of the shortest, which are in the order of preference.
                return packets.min_by_key(length).unwrap_or_else(|| packet(self, FULL));
            }
            DataCompression::Xor => DataCoding::Xor,
            DataCompression::Differential => DataCoding::Delta,
            DataCompression::FullData => DataCoding::Full,
            DataCompression::Full => return packet(self, FULL),
        };
        let data = if self.data_coding_possible(wanted, size) { wanted } else { DataCoding::Full };
        let preferences = [
            Coding { differential_address: true, data },
            Coding { differential_address: false, data },
            Coding { differential_address: true, data: DataCoding::Full },
        ];
        let found = preferences.into_iter().find(|coding| codings.contains(coding) && possible(coding));
        packet(self, found.unwrap_or(FULL))
    }

    /// Spec: RVET-DATA-010, RVET-DATA-028 (ET 8.1.3).
    fn data_coding_possible(&self, coding: DataCoding, size: u8) -> bool {
        let offered = self.fields.parameters.offered;
        let offered = match coding {
            DataCoding::Full => return true,
            DataCoding::Xor => offered != OfferedCompression::Differential,
            DataCoding::Delta => offered != OfferedCompression::Xor,
        };
        offered && !self.fields.options.full_data && self.bases.data(size).is_some()
    }

    /// Whether an address can travel as difference: an aligned format divides it by the size.
    fn differs(&self, address: Option<u64>, size: u8, unaligned: bool) -> bool {
        address.is_some() && self.bases.address(size).is_some_and(|base| unaligned || is_aligned(base, size))
    }

    fn byte_address(&self, address: u64) -> u64 {
        address & self.fields.parameters.address_mask()
    }

    /// Formats of aligned addresses only.
    fn shifted_address(&self, address: u64, size: u8) -> u64 {
        self.byte_address(address) >> size << size
    }

    /// Spec: RVET-DATA-008 (ET 8.1.3).
    fn report_address(&self, coding: Coding, address: u64, size: u8) -> ReportedAddress {
        match self.bases.address(size) {
            Some(base) if coding.differential_address => {
                let unused = 64 - u32::from(self.fields.parameters.daddress_width_p);
                ReportedAddress::Delta((address.wrapping_sub(base) << unused) as i64 >> unused)
            }
            _ => ReportedAddress::Full(address),
        }
    }

    fn report(&self, coding: Coding, value: u128, base: Option<u128>, size: u8) -> ReportedData {
        match (coding.data, base) {
            (DataCoding::Xor, Some(base)) => ReportedData::Xor(value ^ base),
            (DataCoding::Delta, Some(base)) => {
                ReportedData::Delta(extend(truncate(value.wrapping_sub(base), size), size) as i128)
            }
            _ => ReportedData::Full(value),
        }
    }

    /// An operand before the data. Spec: reading operands-are-not-compressed (ET 8.2).
    fn report_operand(&self, coding: Coding, operand: u128, size: u8) -> ReportedData {
        if self.fields.parameters.compressed_operands {
            self.report(coding, operand, self.bases.data(size), size)
        } else {
            ReportedData::Full(operand)
        }
    }

    /// The base of data after an operand.
    fn after_operand(&self, operand: Option<u128>, size: u8) -> Option<u128> {
        operand.filter(|_| self.fields.parameters.compressed_operands).or_else(|| self.bases.data(size))
    }

    /// Spec: RVET-DATA-011, RVET-DATA-012 (ET 8.1.4).
    fn length(&self, data: ReportedData, size: u8) -> u8 {
        let whole = (1 << size) - 1;
        match self.policy.length {
            DataLength::Whole => whole,
            DataLength::Minimal => {
                let value = extend(data_bits(data), size);
                (0..whole).find(|&length| sign_extended(value, length) == value).unwrap_or(whole)
            }
        }
    }
}

/// `daddr` of a CSR access.
const CSR_NUMBER: u64 = 0xfff;

/// Spec: RVET-DATA-021 (ET 8.3).
const fn is_read_only(number: u64) -> bool {
    number >> 10 & 0b11 == 0b11
}

/// Modulo 2^12, sign-extended. Spec: reading csr-address-only-fields (ET 8.3).
const fn csr_delta(number: u64, base: u64) -> i64 {
    (number.wrapping_sub(base) << 52) as i64 >> 52
}

const fn is_aligned(address: u64, size: u8) -> bool {
    address & ((1 << size) - 1) == 0
}

const fn truncate(value: u128, size: u8) -> u128 {
    if size >= 4 { value } else { value & ((1 << (8 << size)) - 1) }
}

/// The low `length` + 1 bytes with their top bit repeated above.
const fn sign_extended(value: u128, length: u8) -> u128 {
    let unused = 128 - 8 * (length as u32 + 1);
    ((value << unused) as i128 >> unused) as u128
}
