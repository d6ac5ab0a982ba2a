//! Names of the registers.

#[cfg(feature = "serde")]
use alloc::string::String;
use core::fmt;
use core::str::FromStr;

/// One register of the performance monitor, of the debug registers that it shares, or of the processor state that it
/// uses.
///
/// Written `PMC4`, `PMD17`, `IBR0`, `DBR7`, `PSR`, `PMV`. An index that the processor does not implement can be written
/// too: a trace may be wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Register {
    /// Which file.
    pub class: RegisterClass,
    /// Which one of it; 0 where the class has one register only.
    pub index: u8,
}

/// A register file. The number is the one that travels (see [`wire`](super::wire)).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum RegisterClass {
    /// Performance monitor configuration.
    Pmc = 0,
    /// Performance monitor data.
    Pmd = 1,
    /// Instruction breakpoint registers.
    Ibr = 2,
    /// Data breakpoint registers.
    Dbr = 3,
    /// Processor status register.
    Psr = 4,
    /// Performance monitoring vector (cr73).
    Pmv = 5,
}

impl RegisterClass {
    /// Every class, in the order of their codes.
    pub const ALL: [Self; 6] = [Self::Pmc, Self::Pmd, Self::Ibr, Self::Dbr, Self::Psr, Self::Pmv];

    /// The name, e.g. `PMC`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Pmc => "PMC",
            Self::Pmd => "PMD",
            Self::Ibr => "IBR",
            Self::Dbr => "DBR",
            Self::Psr => "PSR",
            Self::Pmv => "PMV",
        }
    }

    /// How many registers the processor implements (ITA-REG-001): indices 0 to one less.
    #[must_use]
    pub const fn count(self) -> u8 {
        match self {
            Self::Pmc => 14,
            Self::Pmd => 18,
            Self::Ibr | Self::Dbr => 8,
            Self::Psr | Self::Pmv => 1,
        }
    }

    /// Whether the name stands without an index.
    const fn is_single(self) -> bool {
        self.count() == 1
    }
}

impl Register {
    /// The processor status register.
    pub const PSR: Self = Self { class: RegisterClass::Psr, index: 0 };
    /// The performance monitoring vector.
    pub const PMV: Self = Self { class: RegisterClass::Pmv, index: 0 };

    /// `PMC[index]`.
    #[must_use]
    pub const fn pmc(index: u8) -> Self {
        Self { class: RegisterClass::Pmc, index }
    }

    /// `PMD[index]`.
    #[must_use]
    pub const fn pmd(index: u8) -> Self {
        Self { class: RegisterClass::Pmd, index }
    }

    /// `IBR[index]`.
    #[must_use]
    pub const fn ibr(index: u8) -> Self {
        Self { class: RegisterClass::Ibr, index }
    }

    /// `DBR[index]`.
    #[must_use]
    pub const fn dbr(index: u8) -> Self {
        Self { class: RegisterClass::Dbr, index }
    }

    /// Whether the processor has it.
    #[must_use]
    pub const fn is_implemented(self) -> bool {
        self.index < self.class.count()
    }

    /// Every implemented register, by class and index.
    pub fn implemented() -> impl Iterator<Item = Self> {
        RegisterClass::ALL
            .into_iter()
            .flat_map(|class| (0..class.count()).map(move |index| Self { class, index }))
    }
}

impl fmt::Display for Register {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.class.name())?;
        if self.class.is_single() && self.index == 0 { Ok(()) } else { write!(f, "{}", self.index) }
    }
}

impl FromStr for Register {
    type Err = UnknownRegister;

    /// Accepts `PMC4`, `pmc4` and `PMC[4]`.
    fn from_str(text: &str) -> Result<Self, UnknownRegister> {
        let (name, index) = text.split_at_checked(3).ok_or(UnknownRegister)?;
        let class = RegisterClass::ALL
            .into_iter()
            .find(|class| class.name().eq_ignore_ascii_case(name))
            .ok_or(UnknownRegister)?;
        let digits = index.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(index);
        if digits.is_empty() && class.is_single() {
            return Ok(Self { class, index: 0 });
        }
        if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(UnknownRegister);
        }
        let index = digits.parse().map_err(|_| UnknownRegister)?;
        Ok(Self { class, index })
    }
}

/// The text names no register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnknownRegister;

impl fmt::Display for UnknownRegister {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("no register; write PMC4, PMD17, IBR0, DBR7, PSR or PMV")
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
            "description": "A register, e.g. `PMC4`.",
            "pattern": r"^([Pp][Mm][CcDd]|[IiDd][Bb][Rr])(\d+|\[\d+\])$|^[Pp][Ss][Rr]$|^[Pp][Mm][Vv]$"
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;

    #[test]
    fn names_are_read_as_they_are_written() {
        for register in Register::implemented() {
            assert_eq!(register.to_string().parse(), Ok(register));
        }
        assert_eq!(Register::implemented().count(), 14 + 18 + 8 + 8 + 2);
        assert_eq!("PMC[13]".parse(), Ok(Register::pmc(13)));
        assert_eq!("pmd200".parse(), Ok(Register::pmd(200)));
        for wrong in ["PMC", "PMC256", "PM4", "PMC+4", "PSRx", "", "IBR[2", "é44"] {
            assert_eq!(wrong.parse::<Register>(), Err(UnknownRegister), "{wrong}");
        }
    }
}
