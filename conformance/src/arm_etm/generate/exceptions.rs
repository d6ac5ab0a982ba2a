//! What exceptions of ETMv1 and ETMv2 are, by the number in the stimulus (IHI 0014Q 4.5.3).

use traceproof_vectors::arm_etm::{Exception, ExceptionKind};

/// An exception.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Taken {
    pub(super) kind: ExceptionKind,
    /// ETMv2: the instruction counts as not executed.
    pub(super) cancels: bool,
    /// ETMv2: the data of the instruction mean nothing.
    pub(super) ignores_data: bool,
}

/// The exception of this number.
///
/// Spec: ETM2-EXC-003 to 005 (6.8.1).
pub(super) fn taken(exception: &Exception) -> Taken {
    use ExceptionKind::{DataAbort, Fiq, Irq, PrefetchAbort, Reset, Svc, Undefined, Unknown};
    let (kind, cancels, ignores_data) = match exception.number {
        4 => (DataAbort, true, true),
        8 => (Reset, true, true),
        9 => (Undefined, true, true),
        10 => (Svc, false, false),
        11 => (PrefetchAbort, true, true),
        12 => (DataAbort, false, true),
        14 => (Irq, true, true),
        15 => (Fiq, true, true),
        _ => (Unknown, true, true),
    };
    Taken { kind, cancels, ignores_data }
}

/// Whether the instruction of an exception was executed: SVC only. Spec: ETM1-EXC-002 to 005 (4.5.3).
pub(super) fn is_executed(kind: ExceptionKind) -> bool {
    kind == ExceptionKind::Svc
}

/// Whether one of the two tables has a vector there. Spec: ETM1-EXC-007, ETM1-EXC-010 (4.5.3).
pub(super) fn is_vector(address: u32) -> bool {
    let offset = [0_u32, 0xffff_0000].map(|base| address.wrapping_sub(base));
    offset.iter().any(|offset| matches!(offset, 0 | 4 | 8 | 0xc | 0x10 | 0x18 | 0x1c))
}
