//! The state of the processor in which instructions execute.

use core::fmt;

/// An exception level.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "lowercase"))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum ExceptionLevel {
    /// EL0: applications.
    #[default]
    El0,
    /// EL1: operating systems.
    El1,
    /// EL2: hypervisors (Hyp mode of ARMv7).
    El2,
    /// EL3: the secure monitor.
    El3,
}

impl ExceptionLevel {
    /// Every level, lowest first.
    pub const ALL: [Self; 4] = [Self::El0, Self::El1, Self::El2, Self::El3];

    /// The number, 0 to 3.
    #[must_use]
    pub const fn number(self) -> u8 {
        self as u8
    }

    /// The level of a number; `None` above 3.
    #[must_use]
    pub const fn new(number: u8) -> Option<Self> {
        match number {
            0 => Some(Self::El0),
            1 => Some(Self::El1),
            2 => Some(Self::El2),
            3 => Some(Self::El3),
            _ => None,
        }
    }
}

impl fmt::Display for ExceptionLevel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "el{}", self.number())
    }
}

/// A security state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum SecurityState {
    /// Secure.
    #[default]
    Secure,
    /// Non-secure.
    NonSecure,
    /// Root (Realm Management Extension).
    Root,
    /// Realm (Realm Management Extension).
    Realm,
}

impl SecurityState {
    /// Every security state.
    pub const ALL: [Self; 4] = [Self::Secure, Self::NonSecure, Self::Root, Self::Realm];

    /// The name in case files.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Secure => "secure",
            Self::NonSecure => "non-secure",
            Self::Root => "root",
            Self::Realm => "realm",
        }
    }
}

impl fmt::Display for SecurityState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// What a trace carries about the state in which instructions execute. What it does not carry is `None`.
///
/// `Context::default()` states only Secure state; the `with_` functions add to it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(default, deny_unknown_fields))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Context {
    /// Security state.
    pub security: SecurityState,
    /// Exception level. A protocol that marks only Hyp mode gives EL2 or none.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub exception_level: Option<ExceptionLevel>,
    /// `AArch64` state.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "core::ops::Not::not"))]
    pub is_64_bit: bool,
    /// Context ID register.
    #[cfg_attr(
        feature = "serde",
        serde(skip_serializing_if = "Option::is_none", with = "crate::notation::hex32_option")
    )]
    #[cfg_attr(feature = "schema", schemars(with = "Option<crate::notation::Hex>"))]
    pub context_id: Option<u32>,
    /// Virtual machine identifier, or the virtual Context ID.
    #[cfg_attr(
        feature = "serde",
        serde(skip_serializing_if = "Option::is_none", with = "crate::notation::hex32_option")
    )]
    #[cfg_attr(feature = "schema", schemars(with = "Option<crate::notation::Hex>"))]
    pub vmid: Option<u32>,
}

impl Context {
    /// In that security state.
    #[must_use]
    pub const fn with_security(mut self, security: SecurityState) -> Self {
        self.security = security;
        self
    }

    /// At that exception level, or at one that the trace does not carry.
    #[must_use]
    pub const fn with_exception_level(mut self, level: Option<ExceptionLevel>) -> Self {
        self.exception_level = level;
        self
    }

    /// In `AArch64` state or not.
    #[must_use]
    pub const fn with_64_bit(mut self, is_64_bit: bool) -> Self {
        self.is_64_bit = is_64_bit;
        self
    }

    /// With that Context ID.
    #[must_use]
    pub const fn with_context_id(mut self, context_id: Option<u32>) -> Self {
        self.context_id = context_id;
        self
    }

    /// With that virtual machine identifier.
    #[must_use]
    pub const fn with_vmid(mut self, vmid: Option<u32>) -> Self {
        self.vmid = vmid;
        self
    }
}

/// Architecture profile.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Profile {
    /// A: application processors; also processors before `ARMv7`.
    #[default]
    Application,
    /// R: real-time processors.
    RealTime,
    /// M: microcontrollers; T32 only.
    Microcontroller,
}

/// How the value of a timestamp is coded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "lowercase"))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum TimestampEncoding {
    /// Natural binary.
    #[default]
    Binary,
    /// Gray code: neighbouring values differ in one bit.
    Gray,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_have_numbers() {
        for (number, level) in (0_u8..).zip(ExceptionLevel::ALL) {
            assert_eq!((level.number(), ExceptionLevel::new(number)), (number, Some(level)));
        }
        assert_eq!(ExceptionLevel::new(4), None);
    }

    #[cfg(feature = "serde")]
    #[test]
    fn what_a_trace_does_not_say_is_left_out() {
        let text = |context: &Context| serde_json::to_string(context).expect("text");
        assert_eq!(text(&Context::default()), r#"{"security":"secure"}"#);
        let full = Context::default()
            .with_security(SecurityState::Realm)
            .with_exception_level(Some(ExceptionLevel::El2))
            .with_64_bit(true)
            .with_context_id(Some(0x1234))
            .with_vmid(Some(9));
        let expected = r#"{"security":"realm","exception_level":"el2","is_64_bit":true,"context_id":"0x1234","vmid":"0x9"}"#;
        assert_eq!(text(&full), expected);
        assert_eq!(serde_json::from_str::<Context>(expected).expect("a context"), full);
    }

    #[cfg(feature = "serde")]
    #[test]
    fn names_are_those_of_the_case_files() {
        for state in SecurityState::ALL {
            assert_eq!(serde_json::to_string(&state).expect("text"), alloc::format!("\"{state}\""));
        }
        for level in ExceptionLevel::ALL {
            assert_eq!(serde_json::to_string(&level).expect("text"), alloc::format!("\"{level}\""));
        }
        for set in crate::arm::InstructionSet::ALL {
            assert_eq!(serde_json::to_string(&set).expect("text"), alloc::format!("\"{set}\""));
        }
    }
}
