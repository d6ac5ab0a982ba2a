//! Why a packet cannot be written.

use core::fmt;

/// A packet with a number that does not fit its record: the field at fault, by its name in
/// [`Packet`](traceproof_vectors::itanium_pmu::Packet).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnencodablePacket {
    /// The field.
    pub field: &'static str,
}

impl fmt::Display for UnencodablePacket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` does not fit its record", self.field)
    }
}

impl core::error::Error for UnencodablePacket {}
