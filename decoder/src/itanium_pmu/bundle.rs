//! Syllables of a bundle of IA-64 code: 128 bits -> template, stops, three slots.
//!
//! Source: the Itanium architecture manual, volume 1, 3.3, and volume 3, 4 (bundle format, template field encoding and
//! slot mapping).

use core::fmt;

use traceproof_vectors::Address;
use traceproof_vectors::itanium_pmu::{Instruction, SyllableType};

/// Bytes of a bundle; also its alignment.
pub const BUNDLE: usize = 16;

/// A bundle taken apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bundle {
    /// `{4:0}`.
    pub template: Template,
    /// `{45:5}`, `{86:46}` and `{127:87}`: 41 bits each, bit 0 = qualifying predicate's least significant bit.
    pub slots: [u64; 3],
}

/// One defined value of the template field: which types the slots have, and where instruction groups stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Template {
    /// The 5 bits.
    pub code: u8,
    /// The name without stops, e.g. `MII`.
    pub name: &'static str,
    /// The types of slots 0 to 2. `None`: slot 1 of MLX, the upper part of the long syllable, which slot 2 has as `X`.
    pub types: [Option<SyllableType>; 3],
    /// Whether an instruction group stops after slot 0, 1, 2.
    pub stops: [bool; 3],
}

/// The template field has a reserved value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReservedTemplate(
    /// The 5 bits.
    pub u8,
);

impl fmt::Display for ReservedTemplate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "template {:#04x} is reserved", self.0)
    }
}

impl core::error::Error for ReservedTemplate {}

impl fmt::Display for Template {
    /// The name with `|` where a group stops, e.g. `MI|I|`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (letter, stop) in self.name.chars().zip(self.stops) {
            write!(f, "{letter}{}", if stop { "|" } else { "" })?;
        }
        Ok(())
    }
}

const M: Option<SyllableType> = Some(SyllableType::M);
const I: Option<SyllableType> = Some(SyllableType::I);
const F: Option<SyllableType> = Some(SyllableType::F);
const B: Option<SyllableType> = Some(SyllableType::B);
const X: Option<SyllableType> = Some(SyllableType::X);

impl Template {
    /// The template with these 5 bits.
    ///
    /// # Errors
    ///
    /// For the eight reserved values, and for numbers of more than 5 bits.
    pub const fn new(code: u8) -> Result<Self, ReservedTemplate> {
        // Codes come in twos: the odd one stops at the end of the bundle.
        let (name, types) = match code & !1 {
            0x00 | 0x02 => ("MII", [M, I, I]),
            0x04 => ("MLX", [M, None, X]),
            0x08 | 0x0a => ("MMI", [M, M, I]),
            0x0c => ("MFI", [M, F, I]),
            0x0e => ("MMF", [M, M, F]),
            0x10 => ("MIB", [M, I, B]),
            0x12 => ("MBB", [M, B, B]),
            0x16 => ("BBB", [B, B, B]),
            0x18 => ("MMB", [M, M, B]),
            0x1c => ("MFB", [M, F, B]),
            _ => return Err(ReservedTemplate(code)),
        };
        let stops = [code & !1 == 0x0a, code & !1 == 0x02, code & 1 == 1];
        Ok(Self { code, name, types, stops })
    }
}

impl Bundle {
    /// Takes 16 bytes of code apart, little-endian as IA-64 code always is.
    ///
    /// # Errors
    ///
    /// When the template is reserved.
    pub const fn decode(bytes: &[u8; BUNDLE]) -> Result<Self, ReservedTemplate> {
        let bits = u128::from_le_bytes(*bytes);
        let template = match Template::new((bits & 0x1f) as u8) {
            Ok(template) => template,
            Err(reserved) => return Err(reserved),
        };
        const SYLLABLE: u128 = (1 << 41) - 1;
        let slots = [(bits >> 5 & SYLLABLE) as u64, (bits >> 46 & SYLLABLE) as u64, (bits >> 87) as u64];
        Ok(Self { template, slots })
    }

    /// The instructions of the bundle at `ip`, in order: three, or two of an MLX bundle, all retired and none squashed.
    ///
    /// Spec: ITA-OPC-011, ITA-OPC-017.
    pub fn instructions(&self, ip: u64) -> impl Iterator<Item = Instruction> + use<> {
        let slots = (0_u8..).zip(self.template.types).zip(self.slots);
        slots.filter_map(move |((slot, itype), enco)| {
            Some(Instruction { ip: Address(ip), slot, itype: itype?, enco, retired: true, squashed: false })
        })
    }
}
