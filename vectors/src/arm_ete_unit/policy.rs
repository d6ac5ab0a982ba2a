//! Which legal choices a model makes: one field for each constrained-unpredictable choice, for each cell of the state
//! table that the text does not settle, and for each implementation choice.
//!
//! No expectation of a checker depends on one: whatever a model chooses here, its log has no finding that another
//! choice has not.

/// The choices of a model.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(default, deny_unknown_fields))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Policy {
    /// When a direct write of EN, of the OS Lock or of TRBLIMITR_EL1.E takes effect.
    pub direct_write: DirectWrite,
    /// A write of a programming register outside Idle (ETE-RWYQD-001).
    pub write_outside_idle: UnpredictableWrite,
    /// Such a write also corrupts the bytes of the session (ETE-RWYQD-002): one more byte than was generated leaves the
    /// unit. Default: false.
    pub corrupts_stream: bool,
    /// A change of EN in Enabling, Unstable or Stable (ETE-MDZDN-001).
    pub enable_change: EnableChange,
    /// The unit becomes disabled in Enabling: OS Lock, or EN read as 0 after an unpredictable write.
    pub disabled_while_enabling: DisabledWhileEnabling,
    /// The unit becomes enabled in Unstable or Stable: OS Lock unlocked with EN = 1, or EN read as 1 after an
    /// unpredictable write.
    pub enabled_while_disabling: EnabledWhileDisabling,
    /// PMSTABLE in Enabling and Running. Default: false.
    pub pmstable_while_enabled: bool,
    /// The value of what is UNKNOWN: registers after a trace unit reset, written registers after an unpredictable
    /// write, reads of resource state outside Idle and Stable. Default: 0.
    #[cfg_attr(feature = "serde", serde(with = "crate::notation::hex"))]
    #[cfg_attr(feature = "schema", schemars(with = "crate::notation::Hex"))]
    pub unknown: u64,
    /// Resource state read outside Idle and Stable is `unknown`, not what it is. Default: false.
    pub unknown_resource_state: bool,
    /// An external access to a reserved register while the OS Lock is locked or access is not allowed gives an error,
    /// otherwise it is RES0 (ETE-KQMKX-001). Default: false.
    pub reserved_is_error: bool,
    /// An external access of an unsupported size (ETE-YFRMG-001).
    pub unsupported_size: UnsupportedSize,
    /// OE = 1 and the interfaces are disabled by their own mechanism: bytes leave all the same. Default: false.
    pub disabled_interfaces_output: bool,
    /// Where bytes in flight go when TRBLIMITR_EL1.E has changed without a TSB CSYNC.
    pub in_flight: InFlight,
    /// With several interfaces, which of them get each byte: bit n is interface n. 0 = all. Default: 0.
    pub interface_mask: u16,
    /// Bytes that the unit's buffers hold. More is an overflow. Default: 64.
    pub buffer: u32,
    /// An overflow can happen in Enabling, too. Default: false.
    pub overflow_in_enabling: bool,
    /// Trace is generated in Enabling, too. Default: false.
    pub trace_in_enabling: bool,
    /// TRCRSR.TA after an overflow keeps its value, otherwise it is 0 (ETE-QZPJD-001). Default: false.
    pub overflow_keeps_ta: bool,
    /// Speculative start and stop points at a disable count as cancelled. Default: false.
    pub speculation_cancelled: bool,
    /// There is a low-power state (ETE-FBMYZ-001). Default: true.
    pub low_power: bool,
    /// Entry to Debug state and to low power flushes (ETE-LHDSS-001). Default: false.
    pub flushes_on_entry: bool,
    /// The processor is stalled where it may be, instead of an overflow (ETE-RWTYJ-001). Default: false.
    pub stalls: bool,
    /// The most internal steps that the model takes during one poll. Default: 8.
    pub poll_steps: u32,
}

impl Default for Policy {
    fn default() -> Self {
        Self {
            direct_write: DirectWrite::default(),
            write_outside_idle: UnpredictableWrite::default(),
            corrupts_stream: false,
            enable_change: EnableChange::default(),
            disabled_while_enabling: DisabledWhileEnabling::default(),
            enabled_while_disabling: EnabledWhileDisabling::default(),
            pmstable_while_enabled: false,
            unknown: 0,
            unknown_resource_state: false,
            reserved_is_error: false,
            unsupported_size: UnsupportedSize::default(),
            disabled_interfaces_output: false,
            in_flight: InFlight::default(),
            interface_mask: 0,
            buffer: 64,
            overflow_in_enabling: false,
            trace_in_enabling: false,
            overflow_keeps_ta: false,
            speculation_cancelled: false,
            low_power: true,
            flushes_on_entry: false,
            stalls: false,
            poll_steps: 8,
        }
    }
}

/// A choice of the model; the first is the default.
macro_rules! choice {
    ($(#[$meta:meta])* $name:ident {
        $(#[$first_meta:meta])* $first:ident, $($(#[$other_meta:meta])* $other:ident),+ $(,)?
    }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
        #[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
        #[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
        pub enum $name {
            $(#[$first_meta])*
            #[default]
            $first,
            $($(#[$other_meta])* $other,)+
        }

        impl $name {
            /// Every choice, the default first.
            pub const ALL: &[Self] = &[Self::$first, $(Self::$other),+];
        }
    };
}

choice! {
    /// When a direct write takes effect (ETE-JQTMC-001, ETE-KNQWS-001, ETE-KNQWS-002).
    DirectWrite {
        /// With the record of the write.
        AtOnce,
        /// With the next context synchronisation event.
        AtSynchronisation,
    }
}
choice! {
    /// What an unpredictable write of a register does.
    UnpredictableWrite {
        /// It is ignored.
        Ignored,
        /// The register takes [`Policy::unknown`].
        Unknown,
        /// The register takes the written value, which UNKNOWN includes.
        Written,
    }
}
choice! {
    /// What an unpredictable change of EN does.
    EnableChange {
        /// It is ignored.
        Ignored,
        /// TRCPRGCTLR is UNKNOWN and EN is 0.
        Zero,
        /// TRCPRGCTLR is UNKNOWN and EN is 1.
        One,
    }
}
choice! {
    /// What a unit does that becomes disabled in Enabling.
    DisabledWhileEnabling {
        /// It goes to Running and from there to Unstable.
        AfterRunning,
        /// It goes to Unstable at once.
        Unstable,
        /// It goes to Idle.
        Idle,
    }
}
choice! {
    /// What a unit does that becomes enabled in Unstable or Stable.
    EnabledWhileDisabling {
        /// It goes on to Idle and from there to Enabling.
        AfterIdle,
        /// It goes to Enabling at once.
        AtOnce,
    }
}
choice! {
    /// What an external access of an unsupported size does.
    UnsupportedSize {
        /// A read is UNKNOWN, a written register is UNKNOWN.
        Unknown,
        /// A read is UNKNOWN, a write is ignored.
        WriteIgnored,
        /// It gives an error, and a written register is UNKNOWN.
        Error,
    }
}
choice! {
    /// Where bytes go that are in flight when the trace buffer unit is enabled or disabled.
    InFlight {
        /// To the sinks of the new setting.
        New,
        /// To the sinks of the old setting.
        Old,
        /// To both.
        Both,
        /// Nowhere.
        Discarded,
    }
}
