//! Names, offsets and kinds of access of the registers.

#[cfg(feature = "serde")]
use alloc::string::String;
use core::fmt;
use core::str::FromStr;

use super::Parameters;
use super::register_table::{ROWS, Row};

/// A register by its offset: in the map of the trace unit from 0x000 to 0xFFC, or a System register of the processor by
/// a number of this project from 0x1000 on.
///
/// Written by its name (`TRCPRGCTLR`, `TRCACVR3`; `TRCACVR3+4` is the upper word of a register of 64 bits), or by its
/// offset (`0x300`), which any multiple of 4 has. Accesses to a System register of the processor change nothing of the
/// trace unit: what OSLAR_EL1, TRFCR_ELx and TRBLIMITR_EL1 do to it has records of its own
/// ([`Input`](super::Input)).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Register(pub u16);

/// Which errors an external or memory-mapped access can give (ETE-ACC-001 to 004).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum AccessClass {
    /// T: trace registers. An error while the OS Lock is locked, external trace access is not allowed, or there is no
    /// Core power.
    Trace,
    /// C: claim tags and TRCIDR0 to TRCIDR13. An error while the OS Lock is locked or there is no Core power.
    Claim,
    /// TRCOSLSR. An error while external trace access is not allowed or there is no Core power.
    LockStatus,
    /// M: management registers. An error only without Core power.
    Management,
    /// No register of this trace unit: ETE-KQMKX-001.
    Reserved,
    /// A System register of the processor: always [`Outcome::Ok`](super::Outcome::Ok), no external access.
    Processor,
}

/// Which accesses a register has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Direction {
    /// It is read and written.
    ReadWrite,
    /// It is only read.
    ReadOnly,
    /// It is only written.
    WriteOnly,
}

/// Names of the registers that the rules of the trace unit single out.
impl Register {
    /// TRCPRGCTLR: EN is bit 0.
    pub const PRGCTLR: Self = Self(0x004);
    /// TRCSTATR: IDLE is bit 0, PMSTABLE bit 1.
    pub const STATR: Self = Self(0x00C);
    /// TRCCONFIGR.
    pub const CONFIGR: Self = Self(0x010);
    /// TRCAUXCTLR.
    pub const AUXCTLR: Self = Self(0x018);
    /// TRCEVENTCTL0R.
    pub const EVENTCTL0R: Self = Self(0x020);
    /// TRCEVENTCTL1R: OE is bit 13.
    pub const EVENTCTL1R: Self = Self(0x024);
    /// TRCRSR.
    pub const RSR: Self = Self(0x028);
    /// TRCSTALLCTLR: ISTALL is bit 8, NOOVERFLOW bit 13.
    pub const STALLCTLR: Self = Self(0x02C);
    /// TRCTSCTLR.
    pub const TSCTLR: Self = Self(0x030);
    /// TRCSYNCPR.
    pub const SYNCPR: Self = Self(0x034);
    /// TRCCCCTLR.
    pub const CCCTLR: Self = Self(0x038);
    /// TRCBBCTLR.
    pub const BBCTLR: Self = Self(0x03C);
    /// TRCTRACEIDR.
    pub const TRACEIDR: Self = Self(0x040);
    /// TRCQCTLR.
    pub const QCTLR: Self = Self(0x044);
    /// TRCVICTLR: SSSTATUS is bit 9.
    pub const VICTLR: Self = Self(0x080);
    /// TRCVIIECTLR.
    pub const VIIECTLR: Self = Self(0x084);
    /// TRCVISSCTLR.
    pub const VISSCTLR: Self = Self(0x088);
    /// TRCVIPCSSCTLR.
    pub const VIPCSSCTLR: Self = Self(0x08C);
    /// TRCSEQRSTEVR: RST is bits \[7:0\].
    pub const SEQRSTEVR: Self = Self(0x118);
    /// TRCSEQSTR.
    pub const SEQSTR: Self = Self(0x11C);
    /// TRCIMSPEC0: EN is bits \[7:4\], SUPPORT bits \[3:0\].
    pub const IMSPEC0: Self = Self(0x1C0);
    /// TRCIDR5: OE is bit 31, ATBTRIG bit 22, TRACEIDSIZE bits \[21:16\].
    pub const IDR5: Self = Self(0x1F4);
    /// TRCOSLAR of ETMv4: a write of bit 0 locks (1) or unlocks (0) the OS Lock. Reserved in ETE.
    pub const OSLAR: Self = Self(0x300);
    /// TRCOSLSR: OSLK is bit 1.
    pub const OSLSR: Self = Self(0x304);
    /// TRCPDCR.
    pub const PDCR: Self = Self(0x310);
    /// TRCPDSR: POWER is bit 0, STICKYPD bit 1, OSLK bit 5.
    pub const PDSR: Self = Self(0x314);
    /// TRCITCTRL: IME is bit 0.
    pub const ITCTRL: Self = Self(0xF00);
    /// TRCCLAIMSET.
    pub const CLAIMSET: Self = Self(0xFA0);
    /// TRCCLAIMCLR.
    pub const CLAIMCLR: Self = Self(0xFA4);
    /// TRCLAR, the Software Lock of ETMv4; RES0 in ETE.
    pub const LAR: Self = Self(0xFB0);

    /// `TRCSEQEVR<n>`: F is bits \[7:0\], B bits \[15:8\].
    #[must_use]
    pub const fn seqevr(n: u8) -> Self {
        Self(0x100 + 4 * n as u16)
    }

    /// `TRCCNTCTLR<n>`: CNTEVENT is bits \[7:0\], RLDEVENT bits \[15:8\].
    #[must_use]
    pub const fn cntctlr(n: u8) -> Self {
        Self(0x150 + 4 * n as u16)
    }

    /// `TRCCNTVR<n>`: VALUE is bits \[15:0\].
    #[must_use]
    pub const fn cntvr(n: u8) -> Self {
        Self(0x160 + 4 * n as u16)
    }

    /// `TRCRSCTLR<n>`; there are those from 2 on.
    #[must_use]
    pub const fn rsctlr(n: u8) -> Self {
        Self(0x200 + 4 * n as u16)
    }

    /// `TRCSSCSR<n>`: STATUS is bit 31, PENDING bit 30.
    #[must_use]
    pub const fn sscsr(n: u8) -> Self {
        Self(0x2A0 + 4 * n as u16)
    }
}

impl Register {
    /// The offset in the map, or the number of a System register of the processor.
    #[must_use]
    pub const fn offset(self) -> u16 {
        self.0
    }

    /// Its row of the table, its index in the row, and whether it is the upper word of a register of 64 bits.
    pub(super) fn row(self) -> Option<(&'static Row, u8, bool)> {
        ROWS.iter().find_map(|row| {
            let stride = if row.wide { 8 } else { 4 };
            let distance = self.0.checked_sub(row.offset)?;
            let index = u8::try_from(distance / stride).ok().filter(|index| *index < row.count)?;
            match distance % stride {
                0 => Some((row, index, false)),
                4 => Some((row, index, true)),
                _ => None,
            }
        })
    }

    /// Whether it has a name, in some trace unit.
    #[must_use]
    pub fn is_named(self) -> bool {
        self.row().is_some()
    }

    /// Whether this trace unit has it. A register that is none of a trace unit but of the processor counts as there.
    #[must_use]
    pub fn exists(self, parameters: &Parameters) -> bool {
        self.row().is_some_and(|(row, index, _)| index < row.presence.count(parameters, row.count))
    }

    /// Whether it is a System register of the processor, none of the trace unit (ETE-PRG-008).
    #[must_use]
    pub const fn is_of_processor(self) -> bool {
        self.0 >= 0x1000
    }

    /// Its access class in this trace unit.
    #[must_use]
    pub fn class(self, parameters: &Parameters) -> AccessClass {
        match self.row() {
            Some((row, ..)) if self.exists(parameters) => row.class,
            _ => AccessClass::Reserved,
        }
    }

    /// Which accesses it has; none where it has no name.
    #[must_use]
    pub fn direction(self) -> Option<Direction> {
        self.row().map(|(row, ..)| row.direction)
    }

    /// Whether MRS and MSR have an encoding for it (ETE-ACC-007). The upper word of a register has none.
    #[must_use]
    pub fn has_system_encoding(self) -> bool {
        self.row().is_some_and(|(row, _, upper)| row.system && !upper)
    }

    /// Whether it has 64 bits.
    #[must_use]
    pub fn is_wide(self) -> bool {
        self.row().is_some_and(|(row, _, upper)| row.wide && !upper)
    }

    /// Whether a write of it programs the trace unit: R_RWYQD and ETE-PRG-002 hold for it.
    ///
    /// Every register of the trace unit that can be written, except TRCPRGCTLR, TRCCLAIMSET, TRCCLAIMCLR and TRCLAR,
    /// and in ETMv4 except TRCOSLAR and TRCPDCR too (ETE-PRG-007). TRCSYNCPR with a fixed period is only read.
    #[must_use]
    pub fn is_programming(self, parameters: &Parameters) -> bool {
        let exempt = [Self::PRGCTLR, Self::CLAIMSET, Self::CLAIMCLR, Self::LAR, Self::OSLAR];
        !self.is_of_processor()
            && self.exists(parameters)
            && self.direction() != Some(Direction::ReadOnly)
            && !exempt.contains(&self)
            && (self != Self::PDCR || parameters.version.is_ete())
            && (self != Self::SYNCPR || !parameters.fixed_sync_period)
    }

    /// The bits of resource state in it that only writes change in Idle and Stable (ETE-BPTKT-001), 0 for most
    /// registers.
    #[must_use]
    pub fn resource_state(self, parameters: &Parameters) -> u32 {
        if !self.exists(parameters) {
            return 0;
        }
        let ones = |count: u8| (1_u32 << count.min(16)) - 1;
        match self.row() {
            Some((row, _, false)) => match row.name {
                "TRCVICTLR" if parameters.address_pairs > 0 || parameters.pe_comparators > 0 => 1 << 9,
                "TRCSEQSTR" => 3,
                "TRCCNTVR" => 0xFFFF,
                "TRCSSCSR" => 1 << 31,
                "TRCRSR" => 1 << 12 | ones(parameters.events) << 8 | ones(parameters.external_inputs),
                _ => 0,
            },
            _ => 0,
        }
    }

    /// The bits that read back as they were written in Idle (ETE-RWYQD-004): resource state, and of some registers the
    /// control bits that every implementation with these parameters has. 0 for registers that are not compared.
    #[must_use]
    pub fn written_bits(self, parameters: &Parameters) -> u32 {
        if !self.exists(parameters) {
            return 0;
        }
        let control = match self {
            Self::EVENTCTL1R => {
                (u32::from(parameters.output_enable) << 13) | ((1 << parameters.events.min(4)) - 1)
            }
            Self::TRACEIDR if parameters.trace_id => 0x7F,
            Self::SYNCPR if !parameters.fixed_sync_period => 0x1F,
            Self::BBCTLR if parameters.address_pairs > 0 => 1 << 8,
            _ => 0,
        };
        control | self.resource_state(parameters)
    }

    /// Every named register, in the order of the table, lower words only.
    pub fn named() -> impl Iterator<Item = Self> {
        ROWS.iter().flat_map(|row| {
            let stride = if row.wide { 8 } else { 4 };
            (0..row.count).map(move |index| Self(row.offset + stride * u16::from(index)))
        })
    }
}

impl fmt::Display for Register {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some((row, index, upper)) = self.row() else { return write!(f, "{:#05x}", self.0) };
        f.write_str(row.name)?;
        if let Some(first) = row.first {
            write!(f, "{}", first + index)?;
        }
        if upper { f.write_str("+4") } else { Ok(()) }
    }
}

impl FromStr for Register {
    type Err = UnknownRegister;

    /// Accepts what [`Display`](fmt::Display) writes, in any case, and any multiple of 4 below 0x1000 as `0x…`.
    fn from_str(text: &str) -> Result<Self, UnknownRegister> {
        if let Some(digits) = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
            let is_digit = digits.bytes().all(|digit| digit.is_ascii_hexdigit());
            let offset = u16::from_str_radix(digits, 16).ok().filter(|_| is_digit).ok_or(UnknownRegister)?;
            return if offset < 0x1000 && offset % 4 == 0 { Ok(Self(offset)) } else { Err(UnknownRegister) };
        }
        let (name, upper) = text.strip_suffix("+4").map_or((text, false), |name| (name, true));
        let found = Self::by_name(name).ok_or(UnknownRegister)?;
        if !upper {
            return Ok(found);
        }
        if found.is_wide() { Ok(Self(found.0 + 4)) } else { Err(UnknownRegister) }
    }
}

impl Register {
    fn by_name(name: &str) -> Option<Self> {
        ROWS.iter().find_map(|row| {
            let rest = name.get(row.name.len()..)?;
            if !name.get(..row.name.len())?.eq_ignore_ascii_case(row.name) {
                return None;
            }
            let index = match row.first {
                None => return rest.is_empty().then_some(Self(row.offset)),
                Some(first) => {
                    let canonical = !rest.is_empty()
                        && rest.bytes().all(|digit| digit.is_ascii_digit())
                        && (rest == "0" || !rest.starts_with('0'));
                    rest.parse::<u8>().ok().filter(|_| canonical)?.checked_sub(first)?
                }
            };
            let stride = if row.wide { 8 } else { 4 };
            (index < row.count).then(|| Self(row.offset + stride * u16::from(index)))
        })
    }
}

/// The text names no register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnknownRegister;

impl fmt::Display for UnknownRegister {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("no register; write a name such as TRCPRGCTLR or TRCACVR3+4, or an offset such as 0x300")
    }
}

impl core::error::Error for UnknownRegister {}

#[cfg(feature = "serde")]
impl serde::Serialize for Register {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(feature = "serde")]
impl<'de> serde::Deserialize<'de> for Register {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(feature = "schema")]
impl schemars::JsonSchema for Register {
    fn schema_name() -> alloc::borrow::Cow<'static, str> {
        "Register".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "type": "string",
            "description": "A register by name or offset, e.g. `TRCPRGCTLR`, `TRCACVR3+4`, `0x300`.",
            "pattern": r"^([A-Za-z][A-Za-z0-9_]*(\+4)?|0[xX][0-9a-fA-F]{1,3})$"
        })
    }
}

#[cfg(test)]
mod tests {
    use alloc::collections::BTreeSet;
    use alloc::string::ToString;

    use super::*;

    #[test]
    fn names_are_read_as_they_are_written() {
        let mut names = BTreeSet::new();
        let mut offsets = BTreeSet::new();
        for register in Register::named() {
            let name = register.to_string();
            assert_eq!(name.parse(), Ok(register), "{name}");
            assert_eq!(name.to_lowercase().parse(), Ok(register), "{name}");
            assert!(names.insert(name) && offsets.insert(register), "{register}");
            if register.is_wide() {
                let upper = Register(register.0 + 4);
                assert_eq!(upper.to_string().parse(), Ok(upper));
                assert!(offsets.insert(upper), "{upper}");
            }
        }
        assert_eq!(Register(0x300).to_string(), "TRCOSLAR");
        assert_eq!(Register(0x0F0).to_string(), "0x0f0");
        assert_eq!("0x0f0".parse(), Ok(Register(0x0F0)));
        assert_eq!("0x4".parse(), Ok(Register::PRGCTLR));
    }

    #[test]
    fn offsets_are_those_of_the_map() {
        for (name, offset) in [
            ("TRCPRGCTLR", 0x004),
            ("TRCSTATR", 0x00C),
            ("TRCITEEDCR", 0x048),
            ("TRCSEQEVR2", 0x108),
            ("TRCSEQSTR", 0x11C),
            ("TRCCNTVR3", 0x16C),
            ("TRCIDR8", 0x180),
            ("TRCIDR13", 0x194),
            ("TRCIDR5", 0x1F4),
            ("TRCRSCTLR2", 0x208),
            ("TRCRSCTLR31", 0x27C),
            ("TRCSSCSR7", 0x2BC),
            ("TRCACVR15", 0x478),
            ("TRCACATR1", 0x488),
            ("TRCACVR0+4", 0x404),
            ("TRCVMIDCCTLR1", 0x68C),
            ("TRCCLAIMCLR", 0xFA4),
            ("TRCPIDR4", 0xFD0),
            ("TRCPIDR0", 0xFE0),
            ("TRCCIDR3", 0xFFC),
        ] {
            assert_eq!(name.parse(), Ok(Register(offset)), "{name}");
        }
    }

    #[test]
    fn what_is_no_register_is_refused() {
        for text in
            ["", "TRC", "TRCRSCTLR0", "TRCRSCTLR32", "TRCIDR14", "TRCIDR00", "TRCPRGCTLR+4", "TRCACVR"]
        {
            assert_eq!(text.parse::<Register>(), Err(UnknownRegister), "{text}");
        }
        for text in ["0x", "0x5", "0x1000", "0x+4", "4", "TRCSTATRé", "é", "TRCSTATR0", "TRCACVR-1"] {
            assert_eq!(text.parse::<Register>(), Err(UnknownRegister), "{text}");
        }
    }

    #[test]
    fn what_exists_follows_from_the_parameters() {
        let parameters = Parameters { counters: 1, sequencer: false, ..Parameters::default() };
        assert!(Register::cntvr(0).exists(&parameters) && !Register::cntvr(1).exists(&parameters));
        assert!(!Register::SEQSTR.exists(&parameters));
        assert_eq!(Register::SEQSTR.class(&parameters), AccessClass::Reserved);
        // TRCOSLAR is a register of ETMv4 only.
        assert_eq!(Register::OSLAR.class(&parameters), AccessClass::Reserved);
        assert_eq!(Register::CLAIMSET.class(&parameters), AccessClass::Claim);
        assert!(Register::PDCR.is_programming(&parameters) && !Register::STATR.is_programming(&parameters));
        assert_eq!(Register::SEQSTR.written_bits(&parameters), 0);
        assert_eq!(Register::RSR.written_bits(&parameters), 0x1F0F);
    }
}
