//! What the pins of a bare trace port carry (TPIU).

/// One record: TRACECTL and TRACEDATA.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Record {
    /// A byte of the trace.
    Trace(u8),
    /// The trigger occurred, whether or not the byte is to be captured.
    Trigger,
    /// Tracing is disabled in this cycle.
    Nothing,
    /// TRACECTL is a pin, but bits \[7:1\] of its byte are set.
    Malformed,
}

impl Record {
    /// Spec: ETM3-MISC-007.
    #[inline]
    pub(super) const fn new(control: u8, data: u8) -> Self {
        match (control, data & 1) {
            (0, _) => Self::Trace(data),
            (1, 0) => Self::Trigger,
            (1, _) => Self::Nothing,
            _ => Self::Malformed,
        }
    }
}
