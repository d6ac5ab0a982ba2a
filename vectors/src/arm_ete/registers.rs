//! What the registers of a trace unit say about its trace.

use super::{ConditionalTrace, Parameters, QElements, Version};
use crate::arm::Profile;

/// Registers that decide what a trace unit sends (sheet 3.2, 3.3). A capture tool reads them out beside the trace.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Registers {
    /// TRCIDR0, offset 0x1E0.
    pub trcidr0: u32,
    /// TRCIDR1, offset 0x1E4.
    pub trcidr1: u32,
    /// TRCIDR2, offset 0x1E8.
    pub trcidr2: u32,
    /// TRCIDR8, offset 0x180.
    pub trcidr8: u32,
    /// TRCDEVARCH, offset 0xFBC; 0 = not read out.
    pub trcdevarch: u32,
    /// TRCCONFIGR, offset 0x010.
    pub trcconfigr: u32,
}

/// What no register of a trace unit says about its processor.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Processor {
    /// The architecture profile.
    pub profile: Profile,
    /// FEAT_TME.
    pub transactions: bool,
}

impl Parameters {
    /// The parameters of a trace unit with these registers.
    ///
    /// The version is that of TRCIDR1 where it is an ETMv4's; TRCIDR1.TRCARCHMAJ and TRCARCHMIN of 15 refer to
    /// TRCDEVARCH. What an ETE does not have (conditional trace, data trace, load and store P0) is off whatever its
    /// registers hold. Q elements with branch broadcasting are off, as R_SGFHP and TRCCONFIGR.QE demand.
    ///
    /// # Errors
    ///
    /// The name of the register and what in it no decoder of this protocol can read.
    ///
    /// ```
    /// use traceproof_vectors::arm_ete::{Parameters, Processor, Registers, Version};
    ///
    /// let registers = Registers {
    ///     trcidr0: 0x2880_0ea1,
    ///     trcidr1: 0x4100_fff0,
    ///     trcidr2: 0xc000_1088,
    ///     trcidr8: 0,
    ///     trcdevarch: 0x4771_5a13,
    ///     trcconfigr: 0x18c1,
    /// };
    /// let parameters = Parameters::from_registers(registers, Processor::default())?;
    /// assert_eq!((parameters.version, parameters.commopt), (Version::Ete1_1, true));
    /// assert!(parameters.return_stack && parameters.timestamps && parameters.timestamp_markers);
    /// # Ok::<(), (&str, &str)>(())
    /// ```
    ///
    /// Spec: ETE-DEC-CFG-001, ETE-DEC-CFG-002.
    pub const fn from_registers(
        registers: Registers,
        processor: Processor,
    ) -> Result<Self, (&'static str, &'static str)> {
        let Registers { trcidr0, trcidr2, trcidr8, trcconfigr, .. } = registers;
        let version = match version(registers) {
            Ok(version) => version,
            Err(wrong) => return Err(wrong),
        };
        let is_v4 = !version.is_ete();
        let Some(timestamp_bits) = timestamp_bits(trcidr0) else {
            return Err(("TRCIDR0", "TSSIZE is none of 0, 6 and 8"));
        };
        let conditional_trace = match trcconfigr >> 8 & 7 {
            1 if is_v4 => ConditionalTrace::Loads,
            2 if is_v4 => ConditionalTrace::Stores,
            3 if is_v4 => ConditionalTrace::LoadsAndStores,
            7 if is_v4 => ConditionalTrace::All,
            4..=6 if is_v4 => return Err(("TRCCONFIGR", "COND is reserved")),
            _ => ConditionalTrace::None,
        };
        let parameters = Self {
            version,
            profile: processor.profile,
            commopt: bit(trcidr0, 29),
            commtrans: bit(trcidr0, 30),
            maxspec: trcidr8,
            vmid_bytes: (trcidr2 >> 10 & 0x1f) as u8,
            context_id_bytes: (trcidr2 >> 5 & 0x1f) as u8,
            address_bytes: (trcidr2 & 0x1f) as u8,
            cycle_count_bits: 12 + (trcidr2 >> 25 & 0xf) as u8,
            timestamp_bits,
            timestamp_markers: bit(trcidr0, 23),
            instrumentation: !is_v4 && bit(trcidr0, 22),
            transactions: !is_v4 && processor.transactions,
            wfx_is_p0: bit(trcidr2, 31),
            q_elements: q_elements(trcidr0, trcconfigr),
            cycle_counting: bit(trcconfigr, 4),
            timestamps: bit(trcconfigr, 11),
            context_ids: bit(trcconfigr, 6),
            vmids: bit(trcconfigr, 7),
            return_stack: bit(trcconfigr, 12),
            branch_broadcast: bit(trcconfigr, 3),
            conditional_trace,
            load_is_p0: is_v4 && bit(trcconfigr, 1),
            store_is_p0: is_v4 && bit(trcconfigr, 2),
            data_trace: is_v4 && (bit(trcconfigr, 16) || bit(trcconfigr, 17)),
        };
        match parameters.check() {
            Ok(()) => Ok(parameters),
            Err((name, reason)) => Err((register_of(name), reason)),
        }
    }
}

const fn version(registers: Registers) -> Result<Version, (&'static str, &'static str)> {
    let Registers { trcidr1, trcdevarch, .. } = registers;
    match (trcidr1 >> 8 & 0xf, trcidr1 >> 4 & 0xf) {
        (4, 0) => Ok(Version::Etmv4_0),
        (4, 1) => Ok(Version::Etmv4_1),
        (4, 2) => Ok(Version::Etmv4_2),
        (4, 3) => Ok(Version::Etmv4_3),
        (4, 4) => Ok(Version::Etmv4_4),
        (4, 5) => Ok(Version::Etmv4_5),
        (4, 6) => Ok(Version::Etmv4_6),
        (0xf, 0xf) => match (trcdevarch >> 12 & 0xf, trcdevarch >> 16 & 0xf) {
            (5, 0) => Ok(Version::Ete1_0),
            (5, 1) => Ok(Version::Ete1_1),
            (5, 2) => Ok(Version::Ete1_2),
            (5, 3) => Ok(Version::Ete1_3),
            _ => Err(("TRCDEVARCH", "the architecture is none of ETE 1.0 to 1.3")),
        },
        _ => Err(("TRCIDR1", "the architecture is neither ETMv4.0 to ETMv4.6 nor ETE")),
    }
}

const fn timestamp_bits(trcidr0: u32) -> Option<u8> {
    match trcidr0 >> 24 & 0x1f {
        0 => Some(0),
        6 => Some(48),
        8 => Some(64),
        _ => None,
    }
}

const fn q_elements(trcidr0: u32, trcconfigr: u32) -> QElements {
    let is_implemented = trcidr0 >> 15 & 3 != 0;
    match trcconfigr >> 13 & 3 {
        1 if is_implemented && !bit(trcconfigr, 3) => QElements::Count,
        3 if is_implemented && !bit(trcconfigr, 3) => QElements::Any,
        _ => QElements::None,
    }
}

/// The register that holds a parameter.
const fn register_of(parameter: &'static str) -> &'static str {
    match parameter.as_bytes() {
        b"timestamp_bits" | b"timestamp_markers" => "TRCIDR0",
        b"profile" => "TRCIDR1",
        _ => "TRCIDR2",
    }
}

const fn bit(register: u32, bit: u32) -> bool {
    register >> bit & 1 == 1
}

#[cfg(test)]
mod tests {
    use super::*;

    const ETE: Registers = Registers {
        trcidr0: 0x2880_0ea1,
        trcidr1: 0x4100_fff0,
        trcidr2: 0xc000_1088,
        trcidr8: 0,
        trcdevarch: 0x4771_5a13,
        trcconfigr: 0x18c1,
    };

    const V4: Registers = Registers {
        trcidr0: 0x0800_00a1,
        trcidr1: 0x4100_0420,
        trcidr2: 0x0000_0488,
        trcidr8: 7,
        trcdevarch: 0,
        trcconfigr: 1,
    };

    fn of(registers: Registers) -> Parameters {
        Parameters::from_registers(registers, Processor::default()).expect("a trace unit")
    }

    #[test]
    fn an_ete_and_an_etmv4_are_recognised() {
        let ete = Parameters {
            version: Version::Ete1_1,
            timestamp_markers: true,
            wfx_is_p0: true,
            timestamps: true,
            context_ids: true,
            vmids: true,
            return_stack: true,
            ..Parameters::default()
        };
        assert_eq!(of(ETE), ete);
        let v4 = Parameters {
            commopt: false,
            maxspec: 7,
            vmid_bytes: 1,
            context_id_bytes: 4,
            ..Parameters::etmv4(Version::Etmv4_2)
        };
        assert_eq!(of(V4), v4);
        let processor = Processor { transactions: true, profile: Profile::Application };
        let transactions = Parameters { transactions: true, ..ete };
        assert_eq!(Parameters::from_registers(ETE, processor), Ok(transactions));
        assert_eq!(Parameters::from_registers(V4, processor), Ok(v4), "ETMv4 has no transactions");
    }

    /// Each bit says one thing; what the other bits say stays.
    #[test]
    fn each_bit_says_one_thing() {
        let before = of(V4);
        let config = |bits: u32| of(Registers { trcconfigr: V4.trcconfigr | bits, ..V4 });
        let idr0 = |bits: u32| of(Registers { trcidr0: V4.trcidr0 ^ bits, ..V4 });
        let idr2 = |bits: u32| of(Registers { trcidr2: V4.trcidr2 ^ bits, ..V4 });
        let same = || before.clone();
        for (got, expected) in [
            (config(1 << 1), Parameters { load_is_p0: true, ..same() }),
            (config(1 << 2), Parameters { store_is_p0: true, ..same() }),
            (config(1 << 3), Parameters { branch_broadcast: true, ..same() }),
            (config(1 << 4), Parameters { cycle_counting: true, ..same() }),
            (config(1 << 6), Parameters { context_ids: true, ..same() }),
            (config(1 << 7), Parameters { vmids: true, ..same() }),
            (config(1 << 8), Parameters { conditional_trace: ConditionalTrace::Loads, ..same() }),
            (config(7 << 8), Parameters { conditional_trace: ConditionalTrace::All, ..same() }),
            (config(1 << 11), Parameters { timestamps: true, ..same() }),
            (config(1 << 12), Parameters { return_stack: true, ..same() }),
            (config(1 << 13), same()),
            (config(1 << 16), Parameters { data_trace: true, ..same() }),
            (config(1 << 17), Parameters { data_trace: true, ..same() }),
            (idr0(1 << 29), Parameters { commopt: true, ..same() }),
            (idr0(1 << 30), Parameters { commtrans: true, ..same() }),
            (idr0(14 << 24), Parameters { timestamp_bits: 48, ..same() }),
            (idr0(8 << 24), Parameters { timestamp_bits: 0, ..same() }),
            (idr0(1 << 22), same()),
            (idr2(12), Parameters { address_bytes: 4, ..same() }),
            (idr2(4 << 5), Parameters { context_id_bytes: 0, ..same() }),
            (idr2(3 << 10), Parameters { vmid_bytes: 2, ..same() }),
            (idr2(8 << 25), Parameters { cycle_count_bits: 20, ..same() }),
            (idr2(1 << 31), Parameters { wfx_is_p0: true, ..same() }),
        ] {
            assert_eq!(got, expected);
        }
    }

    #[test]
    fn q_elements_need_support_enable_and_no_broadcasting() {
        let of = |support: u32, configuration: u32| {
            let trcidr0 = ETE.trcidr0 | support << 15;
            of(Registers { trcidr0, trcconfigr: ETE.trcconfigr | configuration, ..ETE }).q_elements
        };
        assert_eq!((of(3, 1 << 13), of(3, 3 << 13)), (QElements::Count, QElements::Any));
        for (support, configuration) in [(0, 3 << 13), (3, 0), (3, 2 << 13), (3, 3 << 13 | 1 << 3)] {
            assert_eq!(of(support, configuration), QElements::None, "{support} {configuration:#x}");
        }
    }

    #[test]
    fn other_trace_units_are_refused() {
        for (registers, wrong) in [
            (Registers { trcidr1: 0x0470, ..V4 }, "TRCIDR1"),
            (Registers { trcidr1: 0x0350, ..V4 }, "TRCIDR1"),
            (Registers { trcdevarch: 0x4774_5a13, ..ETE }, "TRCDEVARCH"),
            (Registers { trcdevarch: 0, ..ETE }, "TRCDEVARCH"),
            (Registers { trcidr0: ETE.trcidr0 ^ 1 << 24, ..ETE }, "TRCIDR0"),
            (Registers { trcidr0: ETE.trcidr0 & !(0x1f << 24), ..ETE }, "TRCIDR0"),
            (Registers { trcidr2: ETE.trcidr2 ^ 2 << 10, ..ETE }, "TRCIDR2"),
            (Registers { trcidr2: 0x0000_0480, ..V4 }, "TRCIDR2"),
            (Registers { trcconfigr: 5 << 8, ..V4 }, "TRCCONFIGR"),
        ] {
            let refused = Parameters::from_registers(registers, Processor::default());
            assert_eq!(refused.map_err(|(register, _)| register), Err(wrong));
        }
    }
}
