//! The names of the bits of a packet, for people.

/// Takes the fields of a packet as it is read.
pub(crate) trait Notes {
    /// Whether [`field`](Self::field) is of interest. Reading is faster without.
    const TAKES_FIELDS: bool;

    /// `width` bits from bit `first` of byte `byte` of the packet on.
    fn field(&mut self, name: &'static str, byte: usize, first: u8, width: u8, value: u8);

    /// The fields of one byte, bit 0 first; the widths make 8.
    #[inline]
    fn byte(&mut self, at: usize, byte: u8, fields: &[(&'static str, u8)]) {
        if Self::TAKES_FIELDS {
            let mut first = 0;
            for &(name, width) in fields {
                let value = (u16::from(byte) >> first & ((1 << width) - 1)) as u8;
                self.field(name, at, first, width, value);
                first += width;
            }
        }
    }
}

/// No fields.
impl Notes for () {
    const TAKES_FIELDS: bool = false;

    fn field(&mut self, _: &'static str, _: usize, _: u8, _: u8, _: u8) {}
}
