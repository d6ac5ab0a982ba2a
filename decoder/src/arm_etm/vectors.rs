//! Exception vectors: which exception a branch to an address is (4.5.3).

use traceproof_vectors::arm_etm::v3::InByteException;
use traceproof_vectors::arm_etm::{ExceptionKind, VectorBase};

/// Where the tables are that HIVECS selects.
const LOW: u32 = 0x0000_0000;
const HIGH: u32 = 0xffff_0000;

/// An entry of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Vector {
    pub(super) offset: u32,
    pub(super) kind: ExceptionKind,
}

/// The vector at `address`; with an unknown base, of either table.
///
/// Spec: ETM1-EXC-001, ETM1-EXC-007, ETM1-EXC-010 (4.5.3).
pub(super) const fn vector_at(base: VectorBase, address: u32) -> Option<Vector> {
    let offset = match base {
        VectorBase::High => address.wrapping_sub(HIGH),
        VectorBase::Unknown if address >= HIGH => address.wrapping_sub(HIGH),
        VectorBase::Low | VectorBase::Unknown => address.wrapping_sub(LOW),
    };
    let kind = match offset {
        0x00 => ExceptionKind::Reset,
        0x04 => ExceptionKind::Undefined,
        0x08 => ExceptionKind::Svc,
        0x0c => ExceptionKind::PrefetchAbort,
        0x10 => ExceptionKind::DataAbort,
        0x18 => ExceptionKind::Irq,
        0x1c => ExceptionKind::Fiq,
        _ => return None,
    };
    Some(Vector { offset, kind })
}

/// The number that ETMv3 has for the exception at `address`, where only that shows its type. Spec: ETM3-EXC-014.
pub(super) const fn number_at(base: VectorBase, address: u32) -> u16 {
    let Some(Vector { kind, .. }) = vector_at(base, address) else { return InByteException::OTHER };
    match kind {
        ExceptionKind::Reset => 8,
        ExceptionKind::Undefined => 9,
        ExceptionKind::Svc => 10,
        ExceptionKind::PrefetchAbort => 11,
        ExceptionKind::DataAbort => 12,
        ExceptionKind::Irq => 14,
        ExceptionKind::Fiq => 15,
        _ => InByteException::OTHER,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_table_has_seven_vectors() {
        for (base, first) in [(VectorBase::Low, 0), (VectorBase::High, 0xffff_0000)] {
            for offset in (0..0x24_u32).step_by(2) {
                let is_vector = [0, 4, 8, 0xc, 0x10, 0x18, 0x1c].contains(&offset);
                let other = first ^ 0xffff_0000;
                assert_eq!(vector_at(base, first + offset).is_some(), is_vector, "{base:?} {offset:#x}");
                assert_eq!(vector_at(VectorBase::Unknown, first + offset).is_some(), is_vector);
                assert_eq!(vector_at(base, other + offset), None, "{base:?} {offset:#x}");
            }
        }
        assert_eq!(vector_at(VectorBase::Unknown, 0xfffe_0018), None);
    }
}
