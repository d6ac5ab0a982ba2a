//! What must be known beforehand: how strict, and which processor the text leaves open.

/// What a decoder and a model must know beforehand.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(default, deny_unknown_fields))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Parameters {
    /// Values that no hardware can hold are faults, not oddities. Default: true.
    pub strict: bool,
    /// Whether occurrences in IA-32 code count that Tag(PMC\[8\]) or DBRRangeTag qualifies (MD-1).
    pub ia32_counting: Ia32Counting,
    /// How a latency of more than 12 bits is recorded (MD-2).
    pub latency_overflow: LatencyOverflow,
    /// Which of several qualified misses an event address register keeps (MD-3).
    pub ear_replacement: EarReplacement,
    /// The type of the long syllable of an MLX bundle (MD-4).
    pub long_syllable: LongSyllable,
    /// What is still counted in the cycle of the overflow that freezes (MD-5).
    pub freeze: FreezeTiming,
    /// Whether bits {3:0} of an instruction breakpoint address are compared (MD-7).
    pub ibr_low_bits: IbrLowBits,
    /// Latency thresholds 7 to 10 of the data event address registers (MD-8).
    pub data_ear_thresholds: DataEarThresholds,
    /// What qualifies a miss for the data event address registers (MD-9).
    pub data_ear_qualifier: DataEarQualifier,
    /// Whether a latency is captured that equals the threshold.
    pub latency_threshold: LatencyThreshold,
    /// Whether reads of event address registers obey PMC\[10\].pm and PMC\[11\].pm.
    pub ear_read_privilege: EarReadPrivilege,
}

impl Default for Parameters {
    fn default() -> Self {
        Self {
            strict: true,
            ia32_counting: Ia32Counting::default(),
            latency_overflow: LatencyOverflow::default(),
            ear_replacement: EarReplacement::default(),
            long_syllable: LongSyllable::default(),
            freeze: FreezeTiming::default(),
            ibr_low_bits: IbrLowBits::default(),
            data_ear_thresholds: DataEarThresholds::default(),
            data_ear_qualifier: DataEarQualifier::default(),
            latency_threshold: LatencyThreshold::default(),
            ear_read_privilege: EarReadPrivilege::default(),
        }
    }
}

/// An option of the model with its two answers; the first is the default.
macro_rules! option {
    ($(#[$meta:meta])* $name:ident { $(#[$first_meta:meta])* $first:ident, $(#[$second_meta:meta])* $second:ident $(,)? }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
        #[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
        #[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
        pub enum $name {
            $(#[$first_meta])*
            #[default]
            $first,
            $(#[$second_meta])*
            $second,
        }

        impl $name {
            /// Both answers, the default first.
            pub const ALL: [Self; 2] = [Self::$first, Self::$second];
        }
    };
}

option! {
    /// Occurrences in IA-32 code of events that Tag(PMC\[8\]) or DBRRangeTag qualifies (MD-1).
    Ia32Counting {
        /// Count if nothing restricts: ta = 1, PMC\[8\] passes all, pt = 1.
        Unrestricted,
        /// Never count: both tags are 0 there.
        ByTag,
    }
}
option! {
    /// A latency of more than 12 bits (MD-2).
    LatencyOverflow {
        /// Is recorded as 0xfff.
        Saturate,
        /// Is recorded modulo 4096.
        Wrap,
    }
}
option! {
    /// Which of several qualified misses an event address register keeps while PMC\[0\].fr = 0 (MD-3).
    EarReplacement {
        /// The last one.
        Last,
        /// The first one since software last wrote a 0 to PMC\[0\].fr that was 1, or since reset.
        First,
    }
}
option! {
    /// The type of the long syllable of an MLX bundle in opcode matching (MD-4).
    LongSyllable {
        /// I, with the encoding in slot 2.
        I,
        /// None of M, I, F, B: it never matches.
        None,
    }
}
option! {
    /// What is still counted in the cycle of the overflow that freezes (MD-5).
    FreezeTiming {
        /// Everything of that cycle, and its misses are captured.
        WholeCycle,
        /// Counters are updated in the order of their index, event address registers last; what follows the overflow is
        /// not.
        AtOverflow,
    }
}
option! {
    /// Bits {3:0} of an instruction breakpoint address (MD-7).
    IbrLowBits {
        /// Are compared under the mask as the others.
        Compared,
        /// Are never compared.
        Ignored,
    }
}
option! {
    /// Latency thresholds of the data event address registers for umask 7 to 10 (MD-8).
    DataEarThresholds {
        /// 4 << umask: 512, 1024, 2048, 4096.
        Regular,
        /// 7 captures nothing; 8, 9, 10 are 512, 1024, 2048.
        Shifted,
    }
}
option! {
    /// What qualifies a miss for the data event address registers (MD-9).
    DataEarQualifier {
        /// DBRRangeTag of the access.
        DataRange,
        /// Tag(PMC\[8\]) of its instruction.
        Opcode,
    }
}
option! {
    /// A latency that equals the threshold.
    LatencyThreshold {
        /// Is captured.
        AtLeast,
        /// Is not.
        Exceeds,
    }
}
option! {
    /// Reads of event address registers at a privilege level other than 0.
    EarReadPrivilege {
        /// Are masked by PSR.sp only.
        ByStatusOnly,
        /// Give 0 also if PMC\[10\].pm (PMD\[0\], PMD\[1\]) or PMC\[11\].pm (PMD\[2\], PMD\[3\], PMD\[17\]) is 1.
        ByMonitor,
    }
}
