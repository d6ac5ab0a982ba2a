//! Packets, field by field (ET 7).

use core::fmt;

use super::{DataPacket, StandardSupport};
use crate::Address;

/// One packet. Fields of instruction trace packets are named as in ET 7 and hold what travels, with these exceptions:
/// addresses are shifted left by `iaddress_lsb_p` to byte addresses, and the differentially coded status
/// bits `notify`, `updiscon`, `irreport` hold the *flags* (RVET-PKT-025 to 027).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case", deny_unknown_fields))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Packet {
    /// Format 3 subformat 0: start of tracing or resynchronisation (ET 7.2).
    Start {
        /// Raw bit: `false` only if the instruction at `address` is a taken branch.
        branch: bool,
        /// Privilege of the reported instruction.
        privilege: u8,
        /// Present unless `notime_p`.
        #[cfg_attr(
            feature = "serde",
            serde(default, skip_serializing_if = "Option::is_none", with = "crate::notation::hex_option")
        )]
        #[cfg_attr(feature = "schema", schemars(with = "Option<crate::notation::Hex>"))]
        time: Option<u64>,
        /// Present unless `nocontext_p`.
        #[cfg_attr(
            feature = "serde",
            serde(default, skip_serializing_if = "Option::is_none", with = "crate::notation::hex_option")
        )]
        #[cfg_attr(feature = "schema", schemars(with = "Option<crate::notation::Hex>"))]
        context: Option<u64>,
        /// Absolute byte address.
        address: Address,
    },
    /// Format 3 subformat 1: trap (ET 7.3).
    Trap {
        /// Raw bit, as in [`Packet::Start`].
        branch: bool,
        /// `thaddr`: level of the handler; otherwise the level before the trap.
        privilege: u8,
        /// Present unless `notime_p`.
        #[cfg_attr(
            feature = "serde",
            serde(default, skip_serializing_if = "Option::is_none", with = "crate::notation::hex_option")
        )]
        #[cfg_attr(feature = "schema", schemars(with = "Option<crate::notation::Hex>"))]
        time: Option<u64>,
        /// Present unless `nocontext_p`.
        #[cfg_attr(
            feature = "serde",
            serde(default, skip_serializing_if = "Option::is_none", with = "crate::notation::hex_option")
        )]
        #[cfg_attr(feature = "schema", schemars(with = "Option<crate::notation::Hex>"))]
        context: Option<u64>,
        /// Cause of the trap.
        ecause: u64,
        /// An interrupt (no `tval`), not an exception.
        interrupt: bool,
        /// `address` is the first handler instruction, which has retired.
        thaddr: bool,
        /// Absolute byte address; absent in implicit exception mode when `thaddr`.
        #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
        address: Option<Address>,
        /// Absent for interrupts; not shifted.
        #[cfg_attr(
            feature = "serde",
            serde(default, skip_serializing_if = "Option::is_none", with = "crate::notation::hex_option")
        )]
        #[cfg_attr(feature = "schema", schemars(with = "Option<crate::notation::Hex>"))]
        tval: Option<u64>,
    },
    /// Format 3 subformat 2: imprecise context change (ET 7.4).
    Context {
        /// Privilege of the new context.
        privilege: u8,
        /// Present unless `notime_p`.
        #[cfg_attr(
            feature = "serde",
            serde(default, skip_serializing_if = "Option::is_none", with = "crate::notation::hex_option")
        )]
        #[cfg_attr(feature = "schema", schemars(with = "Option<crate::notation::Hex>"))]
        time: Option<u64>,
        /// Present unless `nocontext_p`.
        #[cfg_attr(
            feature = "serde",
            serde(default, skip_serializing_if = "Option::is_none", with = "crate::notation::hex_option")
        )]
        #[cfg_attr(feature = "schema", schemars(with = "Option<crate::notation::Hex>"))]
        context: Option<u64>,
    },
    /// Format 3 subformat 3 of version 2.0: support (ET 7.5).
    Support {
        /// Instruction trace is enabled.
        ienable: bool,
        /// 0 is branch trace, the only defined value.
        encoder_mode: u8,
        /// Change of the filter qualification.
        qual_status: QualStatus,
        /// Option bits; their meaning is in [`SupportLayout`](super::SupportLayout).
        ioptions: u32,
        /// Data trace is enabled; `false` where the layout has no such field.
        #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "core::ops::Not::not"))]
        denable: bool,
        /// Data packets were lost; `false` where the layout has no such field.
        #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "core::ops::Not::not"))]
        dloss: bool,
        /// Data trace option bits; 0 where the layout has no such field.
        #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "is_zero"))]
        doptions: u32,
    },
    /// Format 3 subformat 3 of version 2.0.5: standard support packet.
    StandardSupport(StandardSupport),
    /// Format 2: address only (ET 7.6).
    Address {
        /// The reported instruction.
        address: ReportedAddress,
        /// Reported because of a notify request, and not an updiscon target.
        #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "core::ops::Not::not"))]
        notify: bool,
        /// Follows an updiscon and is followed by a format 3 packet.
        #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "core::ops::Not::not"))]
        updiscon: bool,
        /// `irdepth` or `irets` is meaningful.
        #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "core::ops::Not::not"))]
        irreport: bool,
        /// Depth of the return stack or call counter when `irreport`, otherwise 0; also 0 with `iret_ext`.
        #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "is_zero"))]
        irdepth: u32,
        /// Number of implicit returns when `irreport`, otherwise 0; in place of `irdepth` with `iret_ext` (RVET5-PKT-014).
        #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "is_zero_byte"))]
        irets: u8,
    },
    /// Format 1: branch map, with or without address (ET 7.7).
    Branch {
        /// Raw field: 1 to 31 with address; 0 = 31 outcomes and no address.
        branches: u8,
        /// Outcomes, oldest in bit 0, 0 = taken. All bits that travel, significant or not.
        branch_map: u32,
        /// The reported instruction; `None` exactly when `branches` is 0.
        #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
        address: Option<ReportedAddress>,
        /// As in [`Packet::Address`].
        #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "core::ops::Not::not"))]
        notify: bool,
        /// As in [`Packet::Address`].
        #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "core::ops::Not::not"))]
        updiscon: bool,
        /// As in [`Packet::Address`].
        #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "core::ops::Not::not"))]
        irreport: bool,
        /// As in [`Packet::Address`].
        #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "is_zero"))]
        irdepth: u32,
        /// As in [`Packet::Address`].
        #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "is_zero_byte"))]
        irets: u8,
    },
    /// Format 0 subformat 0: correctly predicted branches (ET 7.8).
    BranchCount {
        /// Raw field: correct predictions minus 31.
        branch_count: u32,
        /// Raw field: 0 no address and a failed branch follows, 2 address, 3 address of a failed branch.
        branch_fmt: u8,
        /// The reported instruction; `None` exactly when `branch_fmt` is 0.
        #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
        address: Option<ReportedAddress>,
        /// As in [`Packet::Address`].
        #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "core::ops::Not::not"))]
        notify: bool,
        /// As in [`Packet::Address`].
        #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "core::ops::Not::not"))]
        updiscon: bool,
        /// As in [`Packet::Address`].
        #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "core::ops::Not::not"))]
        irreport: bool,
        /// As in [`Packet::Address`].
        #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "is_zero"))]
        irdepth: u32,
        /// As in [`Packet::Address`].
        #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "is_zero_byte"))]
        irets: u8,
    },
    /// Format 0 subformat 1: jump target cache index (ET 7.8).
    JumpTargetIndex {
        /// Index of the cache entry that holds the target.
        index: u32,
        /// Number of outcomes, 0 to 31.
        branches: u8,
        /// As in [`Packet::Branch`]; 0 where `branches` is 0.
        branch_map: u32,
        /// As in [`Packet::Address`].
        #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "core::ops::Not::not"))]
        irreport: bool,
        /// As in [`Packet::Address`].
        #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "is_zero"))]
        irdepth: u32,
        /// As in [`Packet::Address`].
        #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "is_zero_byte"))]
        irets: u8,
    },
    /// A data trace packet (ET 8). The transport distinguishes them (RVET-DATA-001).
    Data(DataPacket),
}

#[cfg(feature = "serde")]
#[allow(clippy::trivially_copy_pass_by_ref, reason = "the signature that serde asks for")]
const fn is_zero(value: &u32) -> bool {
    *value == 0
}

#[cfg(feature = "serde")]
#[allow(clippy::trivially_copy_pass_by_ref, reason = "the signature that serde asks for")]
const fn is_zero_byte(value: &u8) -> bool {
    *value == 0
}

impl Packet {
    /// The `format` field of an instruction trace packet.
    #[must_use]
    pub const fn format(&self) -> Option<u8> {
        match self {
            Self::Start { .. }
            | Self::Trap { .. }
            | Self::Context { .. }
            | Self::Support { .. }
            | Self::StandardSupport(_) => Some(3),
            Self::Address { .. } => Some(2),
            Self::Branch { .. } => Some(1),
            Self::BranchCount { .. } | Self::JumpTargetIndex { .. } => Some(0),
            Self::Data(_) => None,
        }
    }

    /// The `subformat` of formats 3 and 0 of instruction trace.
    #[must_use]
    pub const fn subformat(&self) -> Option<u8> {
        match self {
            Self::Start { .. } | Self::BranchCount { .. } => Some(0),
            Self::Trap { .. } | Self::JumpTargetIndex { .. } => Some(1),
            Self::Context { .. } => Some(2),
            Self::Support { .. } | Self::StandardSupport(_) => Some(3),
            Self::Address { .. } | Self::Branch { .. } | Self::Data(_) => None,
        }
    }
}

/// The `qual_status` field of a support packet (ET 7.5, RVET-PKT-022).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum QualStatus {
    /// 0: the filter qualification did not change.
    #[default]
    NoChange = 0,
    /// 1: tracing ended; the preceding packet was sent only to report the final instruction.
    EndedRep = 1,
    /// 2: instruction packets were lost.
    TraceLost = 2,
    /// 3: tracing ended; the preceding packet would have been sent anyway because of an updiscon.
    EndedNtr = 3,
}

/// The address of formats 0, 1 and 2, in bytes: the difference to the latest reported address in delta
/// address mode, the address itself in full address mode.
///
/// In files a difference always has its sign (`"+0x910"`, `"-0x10c"`), an address never (`"0x80000100"`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReportedAddress {
    /// Sign-extended from `iaddress_width_p` bits. For 64-bit addresses the most negative value stands for itself.
    Delta(i64),
    /// Zero-extended from `iaddress_width_p` bits.
    Full(u64),
}

impl fmt::Display for ReportedAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Delta(delta) if delta < 0 => write!(f, "-{:#x}", delta.unsigned_abs()),
            Self::Delta(delta) => write!(f, "+{delta:#x}"),
            Self::Full(address) => write!(f, "{address:#x}"),
        }
    }
}

#[cfg(feature = "serde")]
impl serde::Serialize for ReportedAddress {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        use crate::notation::HexText;
        let text = match *self {
            Self::Delta(delta) => HexText::signed(delta),
            Self::Full(address) => HexText::new(address),
        };
        serializer.serialize_str(text.as_str())
    }
}

#[cfg(feature = "serde")]
impl<'de> serde::Deserialize<'de> for ReportedAddress {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        use crate::notation::parse_u64;
        use alloc::string::String;
        let text = String::deserialize(deserializer)?;
        let parsed = if let Some(magnitude) = text.strip_prefix('+') {
            parse_u64(magnitude).and_then(|value| i64::try_from(value).ok()).map(Self::Delta)
        } else if let Some(magnitude) = text.strip_prefix('-') {
            parse_u64(magnitude).and_then(|value| 0_i64.checked_sub_unsigned(value)).map(Self::Delta)
        } else {
            parse_u64(&text).map(Self::Full)
        };
        parsed.ok_or_else(|| {
            serde::de::Error::invalid_value(
                serde::de::Unexpected::Str(&text),
                &"a difference such as \"+0x10\" or \"-0x10\", or an address such as \"0x80000000\"",
            )
        })
    }
}

#[cfg(feature = "schema")]
impl schemars::JsonSchema for ReportedAddress {
    fn schema_name() -> alloc::borrow::Cow<'static, str> {
        "ReportedAddress".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "type": "string",
            "pattern": "^[+-]?(0[xX][0-9a-fA-F_]+|0[bB][01_]+|[0-9_]+)$",
            "description": "A difference with its sign, or an address without one."
        })
    }
}

#[cfg(all(test, feature = "cases"))]
mod tests {
    use super::*;

    #[test]
    fn reported_addresses_keep_their_kind_through_text() {
        for address in [
            ReportedAddress::Delta(0),
            ReportedAddress::Delta(0x910),
            ReportedAddress::Delta(-0x10c),
            ReportedAddress::Delta(i64::MIN),
            ReportedAddress::Delta(i64::MAX),
            ReportedAddress::Full(0),
            ReportedAddress::Full(u64::MAX),
        ] {
            let text = serde_json::to_string(&address).expect("serialises");
            assert_eq!(
                serde_json::from_str::<ReportedAddress>(&text).expect("reads back"),
                address,
                "{text}"
            );
        }
        assert!(serde_json::from_str::<ReportedAddress>("\"+0xffffffffffffffff\"").is_err());
        assert!(serde_json::from_str::<ReportedAddress>("\"--1\"").is_err());
    }
}
