//! Why a packet cannot be written.

use core::fmt;

/// A packet that has no representation under the given parameters: the field that is to blame, by its name in
/// [`Packet`](traceproof_vectors::arm_pft::Packet).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnencodablePacket {
    /// The field.
    pub field: &'static str,
}

impl fmt::Display for UnencodablePacket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` cannot travel like this with these parameters", self.field)
    }
}

impl core::error::Error for UnencodablePacket {}
