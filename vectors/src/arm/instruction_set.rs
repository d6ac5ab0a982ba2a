//! Instruction sets, and addresses of instructions in them.

use alloc::format;
use alloc::string::String;
use core::fmt;
use core::str::FromStr;

/// An instruction set of the ARM architecture.
///
/// As text: `a32`, `t32`, `t32ee`, `jazelle`, `a64`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "lowercase"))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum InstructionSet {
    /// A32 (ARM state): words.
    #[default]
    A32,
    /// T32 (Thumb state): half-words, one or two for each instruction.
    T32,
    /// T32EE (ThumbEE state): T32 with some encodings of its own.
    T32Ee,
    /// Jazelle state: bytes.
    Jazelle,
    /// A64 (`AArch64` state): words.
    A64,
}

impl InstructionSet {
    /// Every instruction set.
    pub const ALL: [Self; 5] = [Self::A32, Self::T32, Self::T32Ee, Self::Jazelle, Self::A64];

    /// The name in case files.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::A32 => "a32",
            Self::T32 => "t32",
            Self::T32Ee => "t32ee",
            Self::Jazelle => "jazelle",
            Self::A64 => "a64",
        }
    }

    /// Number of low address bits that are 0 for every instruction, and that no packet carries: 2, 1 or 0.
    #[must_use]
    pub const fn alignment_bits(self) -> u32 {
        match self {
            Self::A32 | Self::A64 => 2,
            Self::T32 | Self::T32Ee => 1,
            Self::Jazelle => 0,
        }
    }

    /// The greatest address, one less than a power of two.
    #[must_use]
    pub const fn address_mask(self) -> u64 {
        match self {
            Self::A64 => u64::MAX,
            _ => u32::MAX as u64,
        }
    }

    /// Whether the processor is in `AArch64` state.
    #[must_use]
    pub const fn is_64_bit(self) -> bool {
        matches!(self, Self::A64)
    }

    /// T32 or T32EE.
    #[must_use]
    pub const fn is_thumb(self) -> bool {
        matches!(self, Self::T32 | Self::T32Ee)
    }
}

impl fmt::Display for InstructionSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// Where an instruction lies and how it is read there.
///
/// As text: the instruction set, a blank, the address in hexadecimal notation, e.g. `t32 0x8002`. The address is
/// that of the instruction's first byte: bit 0 of a T32 address is 0 here (see [`CodeAddress::interworking`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(try_from = "String", into = "String"))]
pub struct CodeAddress {
    /// The instruction set.
    pub instruction_set: InstructionSet,
    /// Address of the first byte.
    pub address: u64,
}

impl CodeAddress {
    /// The instruction at `address`; address bits that the instruction set does not have are cleared.
    #[must_use]
    pub const fn new(instruction_set: InstructionSet, address: u64) -> Self {
        Self { instruction_set, address: address & instruction_set.address_mask() }
    }

    /// Whether an instruction can lie here.
    #[must_use]
    pub const fn is_aligned(self) -> bool {
        self.address & ((1 << self.instruction_set.alignment_bits()) - 1) == 0
    }

    /// So many bytes further on; wraps within the address space of the instruction set.
    #[must_use]
    pub const fn plus(self, bytes: u64) -> Self {
        Self::new(self.instruction_set, self.address.wrapping_add(bytes))
    }

    /// Where `BX` branches to with this value in its register: bit 0 selects T32.
    ///
    /// `None` when bits \[1:0\] are b10, which is UNPREDICTABLE.
    ///
    /// Source: ARM DDI 0406, `BXWritePC`.
    #[must_use]
    pub const fn from_interworking(value: u32) -> Option<Self> {
        match value & 3 {
            0 => Some(Self::new(InstructionSet::A32, value as u64)),
            2 => None,
            _ => Some(Self::new(InstructionSet::T32, (value & !1) as u64)),
        }
    }

    /// The register value with which `BX` branches here. `None` where `BX` cannot branch to: A64, Jazelle, T32EE
    /// and addresses at which no instruction can lie.
    #[must_use]
    pub const fn interworking(self) -> Option<u32> {
        match self.instruction_set {
            InstructionSet::A32 if self.is_aligned() => Some(self.address as u32),
            InstructionSet::T32 if self.is_aligned() => Some(self.address as u32 | 1),
            _ => None,
        }
    }
}

impl fmt::Display for CodeAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {:#x}", self.instruction_set, self.address)
    }
}

/// The text is no [`CodeAddress`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseCodeAddressError {
    text: String,
}

impl fmt::Display for ParseCodeAddressError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "`{}` is no instruction address; write `a32 0x8000`, `t32 0x8002`, `a64 0x400000`",
            self.text
        )
    }
}

impl core::error::Error for ParseCodeAddressError {}

impl FromStr for CodeAddress {
    type Err = ParseCodeAddressError;

    fn from_str(text: &str) -> Result<Self, ParseCodeAddressError> {
        let parse = || {
            let (set, address) = text.split_once(' ')?;
            let instruction_set = InstructionSet::ALL.into_iter().find(|known| known.name() == set)?;
            let digits = address.strip_prefix("0x").filter(|digits| !digits.starts_with(['+', '-']))?;
            let address = u64::from_str_radix(digits, 16).ok()?;
            let code = Self::new(instruction_set, address);
            (code.address == address).then_some(code)
        };
        parse().ok_or_else(|| ParseCodeAddressError { text: text.into() })
    }
}

impl TryFrom<String> for CodeAddress {
    type Error = ParseCodeAddressError;

    fn try_from(text: String) -> Result<Self, ParseCodeAddressError> {
        text.parse()
    }
}

impl From<CodeAddress> for String {
    fn from(address: CodeAddress) -> Self {
        format!("{address}")
    }
}

#[cfg(feature = "schema")]
impl schemars::JsonSchema for CodeAddress {
    fn schema_name() -> alloc::borrow::Cow<'static, str> {
        "CodeAddress".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "description": "An instruction set and an address, e.g. `t32 0x8002`",
            "type": "string",
            "pattern": "^(a32|t32|t32ee|jazelle|a64) 0x[0-9a-fA-F]{1,16}$",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_addresses_are_text() {
        for (text, set, address) in [
            ("a32 0x8000", InstructionSet::A32, 0x8000),
            ("t32 0x8002", InstructionSet::T32, 0x8002),
            ("t32ee 0xfffffffe", InstructionSet::T32Ee, 0xffff_fffe),
            ("jazelle 0x1", InstructionSet::Jazelle, 1),
            ("a64 0xffff000000080000", InstructionSet::A64, 0xffff_0000_0008_0000),
        ] {
            assert_eq!(text.parse(), Ok(CodeAddress::new(set, address)));
            assert_eq!(format!("{}", CodeAddress::new(set, address)), text);
        }
        for wrong in
            ["", "0x8000", "a32", "a32 8000", "a32 0x", "arm 0x0", "a32 0x100000000", "t32 0x+1", "a32  0x0"]
        {
            assert!(wrong.parse::<CodeAddress>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn bit_0_of_an_interworking_address_selects_t32() {
        for (value, expected) in [
            (0x8000, Some(CodeAddress::new(InstructionSet::A32, 0x8000))),
            (0x8001, Some(CodeAddress::new(InstructionSet::T32, 0x8000))),
            (0x8002, None),
            (0x8003, Some(CodeAddress::new(InstructionSet::T32, 0x8002))),
        ] {
            assert_eq!(CodeAddress::from_interworking(value), expected);
            if let Some(code) = expected {
                assert_eq!(code.interworking(), Some(value));
            }
        }
        for set in [InstructionSet::T32Ee, InstructionSet::Jazelle, InstructionSet::A64] {
            assert_eq!(CodeAddress::new(set, 0x8000).interworking(), None);
        }
        assert_eq!(CodeAddress::new(InstructionSet::A32, 0x8002).interworking(), None);
    }

    #[test]
    fn addresses_wrap_at_the_end_of_their_space() {
        let last = CodeAddress::new(InstructionSet::A32, 0xffff_fffc);
        assert_eq!(last.plus(8), CodeAddress::new(InstructionSet::A32, 4));
        let last = CodeAddress::new(InstructionSet::A64, 0xffff_fffc);
        assert_eq!(last.plus(8).address, 0x1_0000_0004);
        assert_eq!(CodeAddress::new(InstructionSet::A64, u64::MAX - 3).plus(4).address, 0);
    }

    #[test]
    fn alignment_is_that_of_the_instruction_set() {
        for (set, aligned) in InstructionSet::ALL.into_iter().zip([4_u64, 2, 2, 1, 4]) {
            let of = (1..=4).find(|&address| CodeAddress::new(set, address).is_aligned());
            assert_eq!(of, Some(aligned), "{set}");
        }
    }
}
