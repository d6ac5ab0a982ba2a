//! What differences are relative to (ET 8.1.3).

/// Sizes of accesses: 1 to 16 bytes.
const SIZES: usize = 5;

/// The previous access of each size, as far as a decoder knows it.
///
/// Spec: RVET-DATA-007, RVET-DATA-008 (ET 8.1.3); readings data-bases-are-per-size,
/// data-differences-are-of-byte-addresses.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Bases {
    addresses: [Option<u64>; SIZES],
    data: [Option<u128>; SIZES],
    /// Number of the latest CSR, where packets carry nothing else.
    register: Option<u64>,
}

impl Bases {
    pub(super) fn address(&self, size: u8) -> Option<u64> {
        self.addresses.get(usize::from(size)).copied().flatten()
    }

    pub(super) fn data(&self, size: u8) -> Option<u128> {
        self.data.get(usize::from(size)).copied().flatten()
    }

    pub(super) const fn register(&self) -> Option<u64> {
        self.register
    }

    /// `None`: this access travels without its address.
    pub(super) fn set_address(&mut self, size: u8, address: Option<u64>) {
        if let Some(base) = self.addresses.get_mut(usize::from(size)) {
            *base = address;
        }
    }

    /// `None`: this access travels without its data.
    pub(super) fn set_data(&mut self, size: u8, data: Option<u128>) {
        if let Some(base) = self.data.get_mut(usize::from(size)) {
            *base = data;
        }
    }

    pub(super) const fn set_register(&mut self, number: u64) {
        self.register = Some(number);
    }
}
