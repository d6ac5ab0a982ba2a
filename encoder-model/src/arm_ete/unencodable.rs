//! Why a packet cannot be written.

use core::fmt;

/// A packet that has no representation under the given parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnencodablePacket {
    /// The field to blame, by its name in [`Packet`](traceproof_vectors::arm_ete::Packet); or the parameter under which
    /// the packet's header is reserved, by its name in [`Parameters`](traceproof_vectors::arm_ete::Parameters).
    pub field: &'static str,
}

impl fmt::Display for UnencodablePacket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` does not let this packet travel with these parameters", self.field)
    }
}

impl core::error::Error for UnencodablePacket {}
