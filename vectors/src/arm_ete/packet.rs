//! Packets, field by field (sheet 2.3 and 5).

use super::{AddressField, Atoms, ConditionalResult, ContextField};
use crate::arm_etm::v3::VariableField;

/// One packet, as it travels.
///
/// The fields give every bit of the wire back, with [`Parameters`](super::Parameters). Members named `reserved` hold
/// bits that must be 0, so they are 0 in what conforming encoders send.
///
/// # Fields of variable length
///
/// A [`VariableField`] has 7 bits of each byte in `bits`, the first byte in the lowest bits; bit 7 of a byte says that
/// another one follows. The last byte that the field may have ends it and gives all its 8 bits. So `bits` tells padded
/// groups (`85 00`, two bytes) and short ones (`05`) apart (ETE-PKT-ENC-001, ETE-PKT-ENC-002).
///
/// | field | most bytes | value | reserved |
/// |---|---|---|---|
/// | COMMIT, CANCEL, Q COUNT, SPEC, KEY | 5 | `bits`\[31:0\] | `bits`\[35:32\] |
/// | COUNT of cycles and of timestamps | 3 | `bits`\[19:0\] | `bits`\[21:20\] |
/// | CYCT | 2 | `bits`\[11:0\] | `bits`\[14:12\] |
/// | timestamp | 9 | `bits`\[63:0\]; bits above those that travelled are kept from the timestamp before | none |
/// | PLCTL, INFO of Trace Info | 4 | see [`TraceInfo`](Self::TraceInfo) | |
///
/// Reserved bits are a warning and have no effect on the value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case", deny_unknown_fields))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Packet {
    /// `00 00 … 80`: A-sync; the next byte is a header (ETE-PKT-SYNC-001, ETE-PKT-SYNC-002).
    AlignmentSync {
        /// Zero bytes before the 80, the header included: 11 or more (ETE-PKT-SYNC-003).
        zeros: u64,
    },
    /// `00 03` (ETE-PKT-EXT-001).
    Discard,
    /// `00 05` (ETE-PKT-EXT-001, ETE-PKT-EXT-002).
    Overflow,
    /// `01 PLCTL [INFO] [KEY] [SPEC] [CYCT]` (ETE-PKT-TI-001 to ETE-PKT-TI-005). PLCTL\[3:0\] say which of the four
    /// sections are present, in this order from bit 0.
    TraceInfo {
        /// Bytes of PLCTL: 1, or up to 4 where bit 7 says that another follows (ETE-V4-TI-001).
        #[cfg_attr(feature = "serde", serde(default = "one", skip_serializing_if = "is_one"))]
        control_bytes: u8,
        /// PLCTL without \[3:0\]: \[6:4\] of the first byte in bits \[6:4\], then 7 bits of each other byte. They must
        /// be 0 and announce no section (reading `ete-reserved-control-bits`).
        #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "is_zero"))]
        reserved: u32,
        /// INFO: \[0\] CC, \[6\] T; of ETMv4 \[3:1\] COND, \[4\] P0 LOAD, \[5\] P0 STORE. Bit 7 says that another byte
        /// follows, at most 4 in all.
        #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
        info: Option<VariableField>,
        /// KEY: the P0 key (ETMv4); skipped by ETE decoders.
        #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
        key: Option<VariableField>,
        /// SPEC: uncommitted P0 elements.
        #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
        speculation: Option<VariableField>,
        /// CYCT: the cycle count threshold.
        #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
        cycle_threshold: Option<VariableField>,
    },
    /// `02`, `03` (ETE-PKT-TS-001, ETE-PKT-TS-002).
    Timestamp {
        /// The bits that travel.
        value: VariableField,
        /// COUNT; present with header 03.
        #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
        count: Option<VariableField>,
    },
    /// `04` (ETE-PKT-TON-001).
    TraceOn,
    /// `05`, ETMv4.2 or later (A9).
    FunctionReturn,
    /// `06` of ETE, with its address (ETE-PKT-EXC-001 to ETE-PKT-EXC-006). Also PE Reset and Transaction Failure.
    Exception {
        /// TYPE, \[5:1\] of the information byte; see [`exception_name`](super::exception_name).
        number: u8,
        /// E: `false` = 01; `true` = 10, a Target Address element with the same address precedes the exception. 00 and
        /// 11 are reserved.
        #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "core::ops::Not::not"))]
        with_target: bool,
        /// Bit 7 of the information byte, which must be 0. It announces no further byte.
        #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "core::ops::Not::not"))]
        reserved: bool,
        /// The preferred return address, after an address header (90 to 92, 95, 96, 9A, 9B, 9D, 9E, 82, 83, 85, 86);
        /// `None` = `70`, UNKNOWN.
        #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
        address: Option<AddressField>,
        /// Present with 82, 83, 85, 86: with 32 or 64 address bits only.
        #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
        context: Option<ContextField>,
    },
    /// `06` of ETMv4: the preferred return address is the next packet (ETE-PKT-EXC-007, ETE-V4-EXC-002).
    #[cfg_attr(feature = "serde", serde(rename = "exception_v4"))]
    ExceptionV4 {
        /// TYPE\[9:0\]: \[5:1\] of the first information byte, \[4:0\] of the second one.
        number: u16,
        /// E, as of ETE.
        #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "core::ops::Not::not"))]
        with_target: bool,
        /// P, bit 5 of the second information byte: a fault is pending. `None` = there is no second byte.
        #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
        fault_pending: Option<bool>,
        /// Bits \[7:6\] of the second information byte, at their places; they must be 0.
        #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "super::field::is_zero"))]
        reserved: u8,
    },
    /// `07`, ETMv4.
    ExceptionReturn,
    /// `08`, ETMv4 (A7).
    Resynchronization,
    /// `00 07`, ETMv4.5 or later, M profile.
    BranchFutureFlush,
    /// `09` (ETE-PKT-ITE-001).
    Instrumentation {
        /// \[1:0\] of the first byte, the exception level.
        level: u8,
        /// \[7:2\] of the first byte, at their places; they must be 0.
        #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "super::field::is_zero"))]
        reserved: u8,
        /// 8 bytes, little-endian.
        #[cfg_attr(feature = "serde", serde(with = "crate::notation::hex"))]
        #[cfg_attr(feature = "schema", schemars(with = "crate::notation::Hex"))]
        value: u64,
    },
    /// `0A` (ETE-PKT-TRX-001).
    TransactionStart,
    /// `0B` (ETE-PKT-TRX-001).
    TransactionCommit,
    /// `0E`, `0F`: format 1 (ETE-PKT-CC1-001).
    CycleCount1 {
        /// COMMIT; present with COMMOPT = 0. 0 = no Commit element (ETE-PKT-CC1-002).
        #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
        commit: Option<VariableField>,
        /// COUNT, without threshold; present with header 0E. `None` = UNKNOWN.
        #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
        count: Option<VariableField>,
    },
    /// `0C`, `0D`: format 2 (ETE-PKT-CC2-001, ETE-PKT-CC2-002).
    CycleCount2 {
        /// Header 0D: a large commit with COMMOPT = 0, no commit with COMMOPT = 1.
        #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "core::ops::Not::not"))]
        large: bool,
        /// AAAA, \[7:4\] of the second byte; without meaning with COMMOPT = 1, where encoders send 15.
        commit: u8,
        /// BBBB, \[3:0\], without threshold.
        count: u8,
    },
    /// `10` to `1F`: format 3 (ETE-PKT-CC3-001).
    CycleCount3 {
        /// AA, \[3:2\]: one less than the commit; always 0 with COMMOPT = 1.
        commit: u8,
        /// BB, \[1:0\], without threshold.
        count: u8,
    },
    /// `20` to `27`, ETMv4: \[2:0\].
    NumberedDataSyncMarker(u8),
    /// `28` to `2C`, ETMv4: \[2:0\], E atoms before the marker, 0 to 4 (ETE-V4-DSM-001).
    UnnumberedDataSyncMarker(u8),
    /// `2D` (ETE-PKT-CMT-001). 0 is reserved.
    Commit(VariableField),
    /// `2E`, `2F`: format 1 (ETE-PKT-CAN-001).
    Cancel1 {
        /// P0 elements. 0 is reserved.
        count: VariableField,
        /// Header 2F: a Mispredict element after it.
        #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "core::ops::Not::not"))]
        mispredict: bool,
    },
    /// `34` to `37`: format 2: atoms, Cancel(1), Mispredict (ETE-PKT-CAN-002).
    Cancel2 {
        /// Absent, `E`, `EE` or `N`.
        #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
        atoms: Option<Atoms>,
    },
    /// `38` to `3F`: format 3: perhaps an E atom, Cancel(2 to 5), Mispredict (ETE-PKT-CAN-003).
    Cancel3 {
        /// Bit 0: an E atom comes first.
        #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "core::ops::Not::not"))]
        atom: bool,
        /// P0 elements, 2 to 5: \[2:1\] and 2.
        count: u8,
    },
    /// `30` to `33`: atoms, Mispredict (ETE-PKT-MIS-001).
    Mispredict {
        /// Absent, `E`, `EE` or `N`.
        #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
        atoms: Option<Atoms>,
    },
    /// `6C`, ETMv4: format 1. The key, at most 5 bytes as COMMIT.
    ConditionalInstruction1(VariableField),
    /// `40` to `42`, ETMv4: format 2, \[1:0\] (ETE-V4-CND-002).
    ConditionalInstruction2(u8),
    /// `6D`, ETMv4: format 3 (A8).
    ConditionalInstruction3 {
        /// NUM, \[6:1\] of the second byte.
        count: u8,
        /// Z, \[0\]: one more with the same key.
        #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "core::ops::Not::not"))]
        repeated: bool,
        /// Bit 7 of the second byte, which must be 0.
        #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "core::ops::Not::not"))]
        reserved: bool,
    },
    /// `43`, ETMv4.
    ConditionalFlush,
    /// `68` to `6B` with two payloads, `6E` and `6F` with one, ETMv4: format 1.
    ConditionalResult1 {
        /// CI is bit 0 of the header.
        first: ConditionalResult,
        /// CI is bit 1 of the header; absent with 6E and 6F.
        #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
        second: Option<ConditionalResult>,
    },
    /// `48` to `4A`, `4C` to `4E`, ETMv4: format 2.
    ConditionalResult2 {
        /// K, bit 2: the key is incremented by 2, otherwise by 1.
        #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "core::ops::Not::not"))]
        by_two: bool,
        /// \[1:0\], 0 to 2.
        token: u8,
    },
    /// `50` to `5F`, ETMv4: format 3. 12 bits: \[3:0\] of the header are \[11:8\], the second byte is \[7:0\] (D-31).
    ConditionalResult3(
        #[cfg_attr(feature = "serde", serde(with = "tokens"))]
        #[cfg_attr(feature = "schema", schemars(with = "crate::notation::Hex"))]
        u16,
    ),
    /// `44` to `46`, ETMv4: format 4, \[1:0\].
    ConditionalResult4(u8),
    /// `70`: filling (ETE-PKT-IGN-001).
    Ignore,
    /// `71` to `7F`: \[3:0\], bit n = event n (ETE-PKT-EVT-001).
    Event(
        #[cfg_attr(feature = "serde", serde(with = "crate::notation::hex8"))]
        #[cfg_attr(feature = "schema", schemars(with = "crate::notation::Hex"))]
        u8,
    ),
    /// `80`: the context of the packet before is repeated (ETE-PKT-CTX-001).
    ContextSame,
    /// `81` (ETE-PKT-CTX-001 to ETE-PKT-CTX-003).
    Context(ContextField),
    /// `82`, `83`, `85`, `86` with context; `90` to `92`, `95`, `96`, `9A`, `9B`, `9D`, `9E` without (ETE-PKT-ADR-001
    /// to ETE-PKT-ADR-006).
    TargetAddress {
        /// The address bytes.
        address: AddressField,
        /// The context bytes after them; with 32 or 64 address bits only.
        #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
        context: Option<ContextField>,
    },
    /// `88` (ETE-PKT-TSM-001).
    TimestampMarker,
    /// `A0` to `A2`, `A5`, `A6`, `AA`, `AB` with address and count; `AC` with count; `AF` with neither (ETE-PKT-Q-001,
    /// ETE-PKT-Q-002). There is no form with 64 bits.
    Q {
        /// The address bytes, before the count.
        #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
        address: Option<AddressField>,
        /// COUNT: instructions. 0 is an unknown count.
        #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
        count: Option<VariableField>,
    },
    /// `B0` to `B2`, `B4` to `B9` (ETE-PKT-SRC-001).
    SourceAddress(AddressField),
    /// `C0` to `FF` (ETE-PKT-ATM-001, ETE-PKT-ATM-002).
    Atoms(Atoms),
}

#[cfg(feature = "serde")]
const fn one() -> u8 {
    1
}

#[cfg(feature = "serde")]
#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
const fn is_one(bytes: &u8) -> bool {
    *bytes == 1
}

#[cfg(feature = "serde")]
#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
const fn is_zero(bits: &u32) -> bool {
    *bits == 0
}

/// 12 bits, as `"0xa34"`.
#[cfg(feature = "serde")]
mod tokens {
    use serde::{Deserializer, Serializer, de};

    use crate::notation::hex32;

    #[allow(clippy::trivially_copy_pass_by_ref, reason = "the signature that serde asks for")]
    pub(super) fn serialize<S: Serializer>(value: &u16, serializer: S) -> Result<S::Ok, S::Error> {
        hex32::serialize(&u32::from(*value), serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u16, D::Error> {
        let value = hex32::deserialize(deserializer)?;
        u16::try_from(value).ok().filter(|value| *value < 1 << 12).ok_or_else(|| {
            de::Error::invalid_value(de::Unexpected::Unsigned(u64::from(value)), &"a number of 12 bits")
        })
    }
}

#[cfg(all(test, feature = "cases"))]
mod tests {
    use super::*;

    #[test]
    fn packets_are_short_in_json() {
        let field = |bits, bytes| Some(VariableField { bits, bytes });
        for (packet, text) in [
            (
                Packet::TraceInfo {
                    control_bytes: 1,
                    reserved: 0,
                    info: field(1, 1),
                    key: None,
                    speculation: None,
                    cycle_threshold: field(0x16, 1),
                },
                r#"{"trace_info":{"info":{"bits":"0x1","bytes":1},"cycle_threshold":{"bits":"0x16","bytes":1}}}"#,
            ),
            (
                Packet::Exception {
                    number: 0,
                    with_target: false,
                    reserved: false,
                    address: None,
                    context: None,
                },
                r#"{"exception":{"number":0}}"#,
            ),
            (Packet::SourceAddress(AddressField::ExactMatch(2)), r#"{"source_address":{"exact_match":2}}"#),
            (Packet::Atoms("EEN".parse().expect("atoms")), r#"{"atoms":"EEN"}"#),
            (Packet::Event(9), r#"{"event":"0x9"}"#),
            (Packet::ConditionalResult3(0xa34), r#"{"conditional_result3":"0xa34"}"#),
            (Packet::TraceOn, r#""trace_on""#),
        ] {
            assert_eq!(serde_json::to_string(&packet).expect("text"), text);
            assert_eq!(serde_json::from_str::<Packet>(text).expect(text), packet);
        }
        assert!(serde_json::from_str::<Packet>(r#"{"conditional_result3":"0x1000"}"#).is_err());
    }
}
