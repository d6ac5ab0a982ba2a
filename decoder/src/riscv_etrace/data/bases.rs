//! With what addresses and data are compared: the previous access of the same size (ET 8.1.3).

use traceproof_vectors::riscv_etrace::{DataParameters, ReportedAddress, ReportedData};

/// Sizes of accesses: 1 to 16 bytes.
const SIZES: usize = 5;

/// A CSR number has 12 bits.
const CSR_MASK: u64 = 0xfff;

/// What the next difference is compared with. Spec: RVET-DATA-007, RVET-DATA-008 (ET 8.1.3).
#[derive(Clone, Copy, Debug, Default)]
enum Base<T> {
    Known(T),
    /// There has been none since the synchronisation, or the previous one did not travel.
    #[default]
    Missing,
    /// A fault has already reported that there is none.
    Lost,
}

/// What became of a value that may be a difference.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Restored<T> {
    Value(T),
    /// There is no base, and no fault has reported it yet.
    Missing,
    /// There is no base, and that has been reported.
    Lost,
}

impl<T: Copy> Base<T> {
    /// Takes the base for a value that is compared with it.
    fn restore(&mut self, value: impl FnOnce(T) -> T) -> Restored<T> {
        match *self {
            Self::Known(base) => {
                let value = value(base);
                *self = Self::Known(value);
                Restored::Value(value)
            }
            Self::Missing => {
                *self = Self::Lost;
                Restored::Missing
            }
            Self::Lost => Restored::Lost,
        }
    }

    fn replace(&mut self, value: T) -> Restored<T> {
        *self = Self::Known(value);
        Restored::Value(value)
    }
}

/// The bases of one stream.
#[derive(Clone, Debug)]
pub(super) struct Bases {
    address_mask: u64,
    addresses: [Base<u64>; SIZES],
    data: [Base<u128>; SIZES],
    csr: Base<u64>,
}

impl Bases {
    pub(super) fn new(parameters: &DataParameters) -> Self {
        Self {
            address_mask: parameters.address_mask(),
            addresses: Default::default(),
            data: Default::default(),
            csr: Base::default(),
        }
    }

    /// Everything starts over.
    pub(super) fn forget(&mut self) {
        (self.addresses, self.data, self.csr) = Default::default();
    }

    /// Nothing is known, and a fault has reported why.
    pub(super) fn lose(&mut self) {
        self.addresses = [Base::Lost; SIZES];
        self.data = [Base::Lost; SIZES];
        self.csr = Base::Lost;
    }

    /// The address of an access of 2^`size` bytes. Spec: RVET-DATA-008 (ET 8.1.3).
    pub(super) fn address(&mut self, size: u8, address: ReportedAddress) -> Restored<u64> {
        let mask = self.address_mask;
        let Some(base) = self.addresses.get_mut(usize::from(size)) else { return Restored::Lost };
        difference(base, mask, address)
    }

    /// The number of a CSR. It is compared with that of the latest CSR access.
    pub(super) fn csr(&mut self, number: ReportedAddress) -> Restored<u64> {
        difference(&mut self.csr, CSR_MASK, number)
    }

    /// The data, or a compressed operand, of an access of 2^`size` bytes. Spec: RVET-DATA-010 (ET 8.1.3).
    pub(super) fn data(&mut self, size: u8, data: ReportedData) -> Restored<u128> {
        let beyond = 128 - (8_u32 << size.min(4));
        let fit = |value: u128| value << beyond >> beyond;
        let Some(base) = self.data.get_mut(usize::from(size)) else { return Restored::Lost };
        match data {
            ReportedData::Full(value) => base.replace(fit(value)),
            ReportedData::Xor(value) => base.restore(|base| fit(base ^ value)),
            ReportedData::Delta(delta) => base.restore(|base| fit(base.wrapping_add_signed(delta))),
        }
    }

    /// The address of an access cannot be trusted, as a fault has reported.
    pub(super) fn lose_address(&mut self, size: u8) {
        if let Some(base) = self.addresses.get_mut(usize::from(size)) {
            *base = Base::Lost;
        }
    }

    /// The address of an access did not travel.
    pub(super) fn forget_address(&mut self, size: u8) {
        if let Some(base) = self.addresses.get_mut(usize::from(size)) {
            *base = Base::Missing;
        }
    }

    /// The data of an access did not travel.
    pub(super) fn forget_data(&mut self, size: u8) {
        if let Some(base) = self.data.get_mut(usize::from(size)) {
            *base = Base::Missing;
        }
    }
}

fn difference(base: &mut Base<u64>, mask: u64, value: ReportedAddress) -> Restored<u64> {
    match value {
        ReportedAddress::Full(value) => base.replace(value & mask),
        ReportedAddress::Delta(delta) => base.restore(|base| base.wrapping_add_signed(delta) & mask),
    }
}
