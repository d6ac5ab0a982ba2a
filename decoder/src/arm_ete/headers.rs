//! Which packet a header byte begins.

use traceproof_vectors::arm_ete::{Parameters, QElements, SubIsa, Version};

/// What a header byte begins (sheet 5.1 and 2.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Header {
    /// A-sync, Discard, Overflow, branch future flush: the second byte decides.
    Extension,
    TraceInfo,
    Timestamp,
    TraceOn,
    FunctionReturn,
    Exception,
    ExceptionReturn,
    Resynchronization,
    Instrumentation,
    TransactionStart,
    TransactionCommit,
    CycleCount1,
    CycleCount2,
    CycleCount3,
    NumberedDataSyncMarker,
    UnnumberedDataSyncMarker,
    Commit,
    Cancel1,
    Cancel2,
    Cancel3,
    Mispredict,
    ConditionalInstruction1,
    ConditionalInstruction2,
    ConditionalInstruction3,
    ConditionalFlush,
    ConditionalResult1,
    ConditionalResult2,
    ConditionalResult3,
    ConditionalResult4,
    Ignore,
    Event,
    ContextSame,
    Context,
    TargetAddress,
    TimestampMarker,
    Q,
    SourceAddress,
    Atoms,
    Reserved,
}

impl Header {
    /// What it begins with these parameters.
    ///
    /// Spec: ETE-PKT-RSV-001, ETE-PKT-CFG-001, ETE-DEC-V4-001, ETE-PKT-ITE-002, ETE-PKT-CC2-002, ETE-PKT-CC3-001,
    /// ETE-PKT-TSM-001, ETE-PKT-ATM-002.
    pub(super) const fn of(byte: u8, parameters: &Parameters) -> Self {
        let header = Self::of_any(byte);
        let is_ete = parameters.version.is_ete();
        let version = parameters.version as u8;
        let exists = match header {
            Self::FunctionReturn => version >= Version::Etmv4_2 as u8 && !is_ete,
            Self::ExceptionReturn
            | Self::Resynchronization
            | Self::NumberedDataSyncMarker
            | Self::UnnumberedDataSyncMarker
            | Self::ConditionalInstruction1
            | Self::ConditionalInstruction2
            | Self::ConditionalInstruction3
            | Self::ConditionalFlush
            | Self::ConditionalResult1
            | Self::ConditionalResult2
            | Self::ConditionalResult3
            | Self::ConditionalResult4 => !is_ete,
            Self::Instrumentation => parameters.instrumentation,
            Self::TransactionStart | Self::TransactionCommit | Self::SourceAddress => is_ete,
            Self::CycleCount2 => byte == 0x0d || !parameters.commopt,
            Self::CycleCount3 => byte <= 0x13 || !parameters.commopt,
            Self::Ignore => version >= Version::Etmv4_3 as u8,
            Self::TimestampMarker => parameters.timestamp_markers,
            Self::Q => !matches!(parameters.q_elements, QElements::None),
            _ => true,
        };
        if exists { header } else { Self::Reserved }
    }

    /// With all options of both architectures.
    const fn of_any(byte: u8) -> Self {
        match byte {
            0x00 => Self::Extension,
            0x01 => Self::TraceInfo,
            0x02 | 0x03 => Self::Timestamp,
            0x04 => Self::TraceOn,
            0x05 => Self::FunctionReturn,
            0x06 => Self::Exception,
            0x07 => Self::ExceptionReturn,
            0x08 => Self::Resynchronization,
            0x09 => Self::Instrumentation,
            0x0a => Self::TransactionStart,
            0x0b => Self::TransactionCommit,
            0x0c | 0x0d => Self::CycleCount2,
            0x0e | 0x0f => Self::CycleCount1,
            0x10..=0x1f => Self::CycleCount3,
            0x20..=0x27 => Self::NumberedDataSyncMarker,
            0x28..=0x2c => Self::UnnumberedDataSyncMarker,
            0x2d => Self::Commit,
            0x2e | 0x2f => Self::Cancel1,
            0x30..=0x33 => Self::Mispredict,
            0x34..=0x37 => Self::Cancel2,
            0x38..=0x3f => Self::Cancel3,
            0x40..=0x42 => Self::ConditionalInstruction2,
            0x43 => Self::ConditionalFlush,
            0x44..=0x46 => Self::ConditionalResult4,
            0x48..=0x4a | 0x4c..=0x4e => Self::ConditionalResult2,
            0x50..=0x5f => Self::ConditionalResult3,
            0x68..=0x6b | 0x6e | 0x6f => Self::ConditionalResult1,
            0x6c => Self::ConditionalInstruction1,
            0x6d => Self::ConditionalInstruction3,
            0x70 => Self::Ignore,
            0x71..=0x7f => Self::Event,
            0x80 => Self::ContextSame,
            0x81 => Self::Context,
            0x88 => Self::TimestampMarker,
            0xac | 0xaf => Self::Q,
            0xc0.. => Self::Atoms,
            _ => match AddressForm::of(byte) {
                Some((Carrier::Target | Carrier::TargetWithContext, _)) => Self::TargetAddress,
                Some((Carrier::Q, _)) => Self::Q,
                Some((Carrier::Source, _)) => Self::SourceAddress,
                None => Self::Reserved,
            },
        }
    }
}

/// Which packet an address header belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Carrier {
    Target,
    TargetWithContext,
    Q,
    Source,
}

/// How an address travels (sheet 5.4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AddressForm {
    ExactMatch(u8),
    Short(SubIsa),
    Bits32(SubIsa),
    Bits64(SubIsa),
}

impl AddressForm {
    /// What an address header says.
    ///
    /// Spec: ETE-PKT-ADR-001 to ETE-PKT-ADR-005, ETE-PKT-SRC-001, ETE-PKT-Q-001, ETE-PKT-EXC-003.
    pub(super) const fn of(header: u8) -> Option<(Carrier, Self)> {
        use Carrier::{Q, Source, Target, TargetWithContext};
        use SubIsa::{Is0, Is1};
        Some(match header {
            0x82 => (TargetWithContext, Self::Bits32(Is0)),
            0x83 => (TargetWithContext, Self::Bits32(Is1)),
            0x85 => (TargetWithContext, Self::Bits64(Is0)),
            0x86 => (TargetWithContext, Self::Bits64(Is1)),
            0x90..=0x92 => (Target, Self::ExactMatch(header & 3)),
            0x95 => (Target, Self::Short(Is0)),
            0x96 => (Target, Self::Short(Is1)),
            0x9a => (Target, Self::Bits32(Is0)),
            0x9b => (Target, Self::Bits32(Is1)),
            0x9d => (Target, Self::Bits64(Is0)),
            0x9e => (Target, Self::Bits64(Is1)),
            0xa0..=0xa2 => (Q, Self::ExactMatch(header & 3)),
            0xa5 => (Q, Self::Short(Is0)),
            0xa6 => (Q, Self::Short(Is1)),
            0xaa => (Q, Self::Bits32(Is0)),
            0xab => (Q, Self::Bits32(Is1)),
            0xb0..=0xb2 => (Source, Self::ExactMatch(header & 3)),
            0xb4 => (Source, Self::Short(Is0)),
            0xb5 => (Source, Self::Short(Is1)),
            0xb6 => (Source, Self::Bits32(Is0)),
            0xb7 => (Source, Self::Bits32(Is1)),
            0xb8 => (Source, Self::Bits64(Is0)),
            0xb9 => (Source, Self::Bits64(Is1)),
            _ => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reserved(parameters: &Parameters) -> usize {
        (0..=u8::MAX).filter(|byte| Header::of(*byte, parameters) == Header::Reserved).count()
    }

    /// Counted in the header map, sheet 5.1: 05, 07, 08; 20 to 2C; 40 to 6F; 84, 87, 89 to 8F, 93, 94, 97 to 99, 9C,
    /// 9F; seven of Ax; B3, BA to BF. Then those of options.
    #[test]
    fn reserved_headers_are_as_many_as_in_the_map() {
        let all = Parameters {
            commopt: false,
            instrumentation: true,
            timestamp_markers: true,
            q_elements: QElements::Any,
            ..Parameters::default()
        };
        assert_eq!(reserved(&all), 3 + 13 + 48 + 16 + 7 + 7);
        let none = Parameters { commopt: true, ..Parameters::default() };
        assert_eq!(reserved(&none), reserved(&all) + 1 + 12 + 1 + 1 + 9);
        // 09, 0A, 0B; 47, 4B, 4F, 60 to 67; those of 8x, 9x, Ax; B0 to BF.
        let v4 = Parameters { commopt: false, timestamp_markers: true, q_elements: QElements::Any, ..none };
        let of = |version| reserved(&Parameters { version, ..v4.clone() });
        assert_eq!(of(Version::Etmv4_6), 3 + 11 + 16 + 7 + 16);
        assert_eq!(of(Version::Etmv4_1), of(Version::Etmv4_6) + 2);
    }
}
