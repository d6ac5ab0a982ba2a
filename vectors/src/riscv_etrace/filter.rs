//! What an encoder is set to trace, and when: filters, triggers, timestamps (ET 4.2.4, 5, 6).

use alloc::vec::Vec;

use crate::Address;

/// One filter (ET 5): all of its conditions must hold. By default it has none, and everything passes.
///
/// Filters use the signals of the ingress port, so with block retirement an address is that of the block's first
/// instruction (`iaddr`), and a block is traced whole or not at all.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(default, deny_unknown_fields))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Filter {
    /// `iaddr` is in one of these ranges; empty = anywhere. An exception is where its EPC is, an interrupt, which has
    /// no address at the port, where the instruction before it is.
    pub addresses: Vec<AddressRange>,
    /// `priv` is one of these levels; empty = any. That of a trap is the level before it.
    pub privileges: Vec<u8>,
    /// `context` is one of these; empty = any.
    pub contexts: Vec<u64>,
    /// From a trap of this kind to the return from it, the trap and whatever is nested in it included.
    pub trap: Option<TrapFilter>,
}

/// Byte addresses from `first` to `last`, both included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AddressRange {
    /// The lowest address.
    pub first: Address,
    /// The highest address.
    pub last: Address,
}

/// Which traps a filter waits for. By default any.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(default, deny_unknown_fields))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TrapFilter {
    /// Only interrupts, or only exceptions; absent = both.
    pub interrupt: Option<bool>,
    /// `cause` is in one of these ranges; empty = any cause.
    pub causes: Vec<CauseRange>,
}

/// Causes from `first` to `last`, both included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CauseRange {
    /// The lowest cause.
    pub first: u64,
    /// The highest cause.
    pub last: u64,
}

/// What the triggers of the hart do (ET 4.2.4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(default, deny_unknown_fields))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Triggers {
    /// Trace-on and trace-off pulses (`trigger[0]`, `trigger[1]`) start and stop tracing.
    pub on_off: bool,
    /// Notify pulses (`trigger[2+]`) make instructions reported.
    pub notify: bool,
    /// Switching the trace on does not start tracing; the first trace-on pulse does.
    pub wait_for_on: bool,
}

impl Default for Triggers {
    fn default() -> Self {
        Self { on_off: true, notify: true, wait_for_on: false }
    }
}

/// Which packets have a timestamp where the transport has room for one (EN 2.1.1, ET 6).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Timestamps {
    /// All of them.
    #[default]
    Always,
    /// Synchronisation packets: format 3 subformats 0 and 1.
    Synchronisation,
    /// None.
    Never,
}
