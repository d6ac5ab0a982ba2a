//! Which packet a header byte begins.

/// What a header byte begins (Table 4.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Header {
    Branch,
    Atoms,
    AlignmentSync,
    InstructionSync,
    WaypointUpdate,
    Trigger,
    ContextId,
    Vmid,
    Timestamp,
    ExceptionReturn,
    Ignore,
    Reserved,
}

impl Header {
    /// Spec: PFT-PKT-001 to PFT-PKT-003, PFT-PKT-023, PFT-PKT-025 (4.5).
    pub(super) const fn of(byte: u8, cycle_accurate: bool) -> Self {
        match byte {
            _ if byte & 1 == 1 => Self::Branch,
            // Reading `pft-empty-atom-headers`.
            0x80 | 0x82 if !cycle_accurate => Self::Reserved,
            0x80.. => Self::Atoms,
            0x00 => Self::AlignmentSync,
            0x08 => Self::InstructionSync,
            0x72 => Self::WaypointUpdate,
            0x0c => Self::Trigger,
            0x6e => Self::ContextId,
            0x3c => Self::Vmid,
            0x42 | 0x46 => Self::Timestamp,
            0x76 => Self::ExceptionReturn,
            0x66 => Self::Ignore,
            _ => Self::Reserved,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fifty_four_headers_are_reserved_and_two_more_without_cycle_counts() {
        let reserved = |cycle_accurate| {
            (0..=u8::MAX).filter(|byte| Header::of(*byte, cycle_accurate) == Header::Reserved).count()
        };
        assert_eq!((reserved(true), reserved(false)), (54, 56));
    }
}
