//! Packets, field by field (4.5).

use super::{Atoms, CycleCount, ExceptionInformation};
use crate::Address32;
use crate::arm_etm::v3::VariableField;
use crate::arm_etm::{CompressedAddress, Reason};

/// One packet, as it travels.
///
/// The fields give every bit of the wire back, with [`Parameters`](super::Parameters). `reserved` holds reserved bits
/// that do not have the value that they must have, so it is 0 in what conforming encoders send.
///
/// Addresses of branches and waypoint updates are a [`CompressedAddress`]: `bits` is the address shifted right by 2
/// (ARM), 1 (Thumb, ThumbEE) or 0 (Jazelle), low bits first, without continuation bits (4.5.4, PFT-PKT-033 to
/// PFT-PKT-041):
///
/// | bytes | bits of the address field | where |
/// |---|---|---|
/// | 1 | 6 | byte 0 \[6:1\] |
/// | 2, 3, 4 | 12, 19, 26 | 6, then 7 for each byte before the last, then 6 in the last, \[5:0\] |
/// | 5 | all | 6, 3 times 7, then byte 4 \[5:0\] in `bits`\[32:27\]: `001aaa` ARM A\[31:29\], `01aaaa` Thumb A\[31:28\], `1aaaaa` Jazelle A\[31:27\] |
///
/// `bits`\[33\] is 0; `bits`\[34\] is bit 7 of the fifth byte, which is reserved.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case", deny_unknown_fields))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Packet {
    /// `00 00 00 00 00 … 80`: A-sync; the next byte is a header (4.5.1, PFT-PKT-004).
    AlignmentSync {
        /// Zero bytes before the 80, 5 or more.
        zeros: u64,
    },
    /// `08`: I-sync, the state in which the next instruction executes (PFT-PKT-009 to PFT-PKT-019).
    InstructionSync {
        /// All 32 bits as they travel; bit 0 is T: 0 = ARM, 1 = Thumb or ThumbEE.
        address: Address32,
        /// Information byte \[6:5\].
        reason: Reason,
        /// Information byte \[3\], NS.
        #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "core::ops::Not::not"))]
        non_secure: bool,
        /// Information byte \[2\], AltISA: with T, ThumbEE.
        #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "core::ops::Not::not"))]
        alt_isa: bool,
        /// Information byte \[1\], Hyp mode (PFTv1.1).
        #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "core::ops::Not::not"))]
        hyp: bool,
        /// Reserved bits of the information byte that are wrong: \[7\] and \[4\], which must be 0; \[0\], which must be
        /// 1.
        #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "super::packet::is_zero"))]
        reserved: u8,
        /// Present if cycle-accurate and the reason is not periodic; bit 7 of its first byte is 1 (PFT-PKT-014,
        /// PFT-PKT-018).
        #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
        cycle_count: Option<CycleCount>,
        /// Present if Context IDs are traced; zero-extended (PFT-PKT-016).
        #[cfg_attr(
            feature = "serde",
            serde(default, skip_serializing_if = "Option::is_none", with = "crate::notation::hex32_option")
        )]
        #[cfg_attr(feature = "schema", schemars(with = "Option<crate::notation::Hex>"))]
        context_id: Option<u32>,
    },
    /// `80` to `FE`, even: atoms (4.5.3, PFT-PKT-020 to PFT-PKT-025).
    Atoms {
        /// The atoms, oldest first: 1 to 5, or 1 if cycle-accurate.
        atoms: Atoms,
        /// Present if cycle-accurate; its first byte is the header.
        #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
        cycle_count: Option<CycleCount>,
    },
    /// Odd: branch address, with or without an exception (4.5.4).
    BranchAddress {
        /// Where to. Bit 6 of the last of 2 to 5 bytes announces `exception` and is not part of `bits`.
        address: CompressedAddress,
        /// The exception information bytes, at most 2; never with one address byte (PFT-PKT-037).
        #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
        exception: Option<ExceptionInformation>,
        /// Present if cycle-accurate (PFT-PKT-048).
        #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
        cycle_count: Option<CycleCount>,
    },
    /// `72`: waypoint update, the latest instruction that was executed (4.5.5, PFT-PKT-052 to PFT-PKT-055).
    WaypointUpdate {
        /// Which. Bit 6 of the last of 2 to 4 bytes has no meaning; it is the bit of `bits` above the address field.
        address: CompressedAddress,
        /// The sixth byte, present if bit 6 of the fifth is 1: \[6\] is AltISA (reading
        /// `pft-waypoint-update-sixth-byte`).
        #[cfg_attr(
            feature = "serde",
            serde(default, skip_serializing_if = "Option::is_none", with = "super::packet::hex8_option")
        )]
        #[cfg_attr(feature = "schema", schemars(with = "Option<crate::notation::Hex>"))]
        information: Option<u8>,
        /// Bit 0 of the first address byte is 0; encoders send 1 (PFT-PKT-055).
        #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "core::ops::Not::not"))]
        even: bool,
    },
    /// `0C`: the trigger occurred (PFT-PKT-056).
    Trigger,
    /// `6E`: the Context ID changed (4.5.7, PFT-PKT-057).
    ContextId {
        /// Zero-extended. Absent if the Context ID has no bytes, where the packet is an error (PFT-ERR-015).
        #[cfg_attr(
            feature = "serde",
            serde(default, skip_serializing_if = "Option::is_none", with = "crate::notation::hex32_option")
        )]
        #[cfg_attr(feature = "schema", schemars(with = "Option<crate::notation::Hex>"))]
        value: Option<u32>,
    },
    /// `3C`: the VMID (PFT-PKT-058).
    Vmid(
        #[cfg_attr(feature = "serde", serde(with = "crate::notation::hex8"))]
        #[cfg_attr(feature = "schema", schemars(with = "crate::notation::Hex"))]
        u8,
    ),
    /// `42`, `46`: timestamp (4.5.9, PFT-PKT-059 to PFT-PKT-065).
    Timestamp {
        /// R, bit 2 of the header: a clock frequency changed since the timestamp before.
        #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "core::ops::Not::not"))]
        clock_change: bool,
        /// The value bits as they travel (Gray code or binary), 7 in each byte; the ninth byte of a 64-bit timestamp
        /// has 8. Of the seventh byte of a 48-bit timestamp all 8 bits are here: `bits`\[49:48\] are reserved.
        value: VariableField,
        /// Present if cycle-accurate (PFT-PKT-064).
        #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
        cycle_count: Option<CycleCount>,
    },
    /// `76`: the latest waypoint was an exception return (4.5.10).
    ExceptionReturn,
    /// `66`: filling (PFT-PKT-056).
    Ignore,
}

#[cfg(feature = "serde")]
#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
pub(super) const fn is_zero(bits: &u8) -> bool {
    *bits == 0
}

/// A byte that may be absent, as `"0x40"`.
#[cfg(feature = "serde")]
mod hex8_option {
    use serde::{Deserializer, Serializer, de};

    use crate::notation::hex32_option;

    #[allow(clippy::ref_option, reason = "the signature that serde asks for")]
    pub(super) fn serialize<S: Serializer>(value: &Option<u8>, serializer: S) -> Result<S::Ok, S::Error> {
        hex32_option::serialize(&value.map(u32::from), serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u8>, D::Error> {
        let value = hex32_option::deserialize(deserializer)?;
        value.map(|value| u8::try_from(value).map_err(|_| de::Error::custom("more than a byte"))).transpose()
    }
}
