//! What cannot be written, and what cannot happen.

use core::fmt;

/// A packet with a number that its record cannot hold: the field at fault, by its name in
/// [`Packet`](traceproof_vectors::arm_ete_unit::Packet).
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

/// A step that cannot happen at any trace unit. The model leaves it out: no record, no effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ImpossibleStimulus {
    /// Its record cannot hold it.
    Unencodable(UnencodablePacket),
    /// Something that the processor or the unit does, without Core power or in retention.
    WithoutPower,
    /// A write without a value.
    WithoutValue,
    /// An external access to a System register of the processor.
    NotExternal,
    /// A TSB CSYNC that flushes to a sink that is blocked: it does not complete (ETE-FCBLJ-001).
    BarrierWaits,
    /// An ETEEvent that the unit has not.
    AbsentEvent,
    /// An ETEEvent while the unit is disabled (ETE-YFLJT-001).
    EventWhileDisabled,
}

impl From<UnencodablePacket> for ImpossibleStimulus {
    fn from(packet: UnencodablePacket) -> Self {
        Self::Unencodable(packet)
    }
}

impl fmt::Display for ImpossibleStimulus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unencodable(packet) => packet.fmt(f),
            Self::WithoutPower => f.write_str("nothing is executed without Core power"),
            Self::WithoutValue => f.write_str("a write has a value"),
            Self::NotExternal => f.write_str("no external access reaches a System register of the processor"),
            Self::BarrierWaits => {
                f.write_str("TSB CSYNC does not complete while the trace buffer is blocked")
            }
            Self::AbsentEvent => f.write_str("the trace unit has no such ETEEvent"),
            Self::EventWhileDisabled => f.write_str("no ETEEvent occurs while the trace unit is disabled"),
        }
    }
}

impl core::error::Error for ImpossibleStimulus {}
