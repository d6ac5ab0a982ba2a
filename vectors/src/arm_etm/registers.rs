//! The parameters of a macrocell's trace from its registers.

use super::{Architecture, Parameters, VectorBase};

/// Registers that decide what a macrocell sends. A capture tool reads them in addition to the trace.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Registers {
    /// ETMCR, register 0x000: Main Control.
    pub etmcr: u32,
    /// ETMIDR, register 0x079: ID. Macrocells before ETMv2.0 do not have it.
    pub etmidr: u32,
    /// ETMCCER, register 0x07A: Configuration Code Extension. Only macrocells from ETMv3.1 on have it; its bits count
    /// from ETMv3.5 on.
    pub etmccer: u32,
}

impl Parameters {
    /// The parameters of a macrocell with these registers. What its version does not have is off, whatever the bits
    /// are.
    ///
    /// `m_profile`: the processor is of the M profile, which is in no register of the macrocell.
    ///
    /// # Errors
    ///
    /// The name of the register and what in it no decoder of these protocols can read: another architecture, or a port
    /// size of ETMv1 and ETMv2 other than 4, 8 and 16 bits.
    ///
    /// ```
    /// use traceproof_vectors::arm_etm::{Architecture, Parameters, Registers};
    ///
    /// let cortex_a7 = Registers { etmcr: 0x1000_1860, etmidr: 0x410c_f250, etmccer: 0x3440_08f2 };
    /// let parameters = Parameters::from_registers(cortex_a7, false)?;
    /// assert_eq!((parameters.architecture, parameters.minor), (Architecture::V3, 5));
    /// assert!(parameters.cycle_accurate && parameters.timestamps && !parameters.traces_data());
    /// # Ok::<(), (&str, &str)>(())
    /// ```
    ///
    /// Spec: ETM-GEN-001 to ETM-GEN-004 (3.5.1, 3.5.40).
    pub const fn from_registers(
        registers: Registers,
        m_profile: bool,
    ) -> Result<Self, (&'static str, &'static str)> {
        let Registers { etmcr, etmidr, etmccer } = registers;
        let minor = (etmidr >> 4 & 0xf) as u8;
        let (architecture, latest) = match etmidr >> 8 & 0xf {
            0 => (Architecture::V1, 3),
            1 => (Architecture::V2, 1),
            2 => (Architecture::V3, 5),
            _ => return Err(("ETMIDR", "the architecture is none of ETMv1, ETMv2, ETMv3")),
        };
        if minor > latest {
            return Err(("ETMIDR", "the architecture has no such minor version"));
        }
        let v3 = matches!(architecture, Architecture::V3);
        let port_width = match (etmcr >> 4 & 7) | (etmcr >> 21 & 1) << 3 {
            // The width of an ETMv3 port does not show in its bytes.
            _ if v3 => 8,
            0 => 4,
            1 => 8,
            2 => 16,
            _ => return Err(("ETMCR", "the port size is none of 4, 8 and 16 bits")),
        };
        Ok(Self {
            architecture,
            minor,
            port_width,
            data_value: bit(etmcr, 2),
            data_address: bit(etmcr, 3),
            monitor_cprt: bit(etmcr, 1),
            branch_broadcast: bit(etmcr, 8),
            context_id_bytes: [0, 1, 2, 4][(etmcr >> 14 & 3) as usize],
            cycle_accurate: bit(etmcr, 12),
            fifo_latency: 0,
            alternative_branches: v3 && minor >= 4 && bit(etmidr, 20),
            thumb32_single: bit(etmidr, 18),
            load_pc_first: bit(etmidr, 16),
            data_only: v3 && minor >= 1 && bit(etmcr, 20),
            filter_cprt: v3 && bit(etmcr, 19),
            timestamps: v3 && minor >= 5 && bit(etmcr, 28),
            timestamp_bits: if v3 && minor >= 5 && !bit(etmccer, 29) { 48 } else { 64 },
            timestamp_gray: v3 && minor >= 5 && !bit(etmccer, 28),
            vmid: v3 && minor >= 5 && bit(etmcr, 30),
            virtualization: v3 && minor >= 5 && bit(etmccer, 26),
            m_profile: v3 && minor >= 4 && m_profile,
            bare_port: false,
            // No register of the macrocell shows it.
            hivecs: VectorBase::Unknown,
            tfo_jazelle: false,
        })
    }
}

const fn bit(register: u32, bit: u32) -> bool {
    register >> bit & 1 == 1
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The registers of a Cortex-A7 that was captured.
    const CORTEX_A7: Registers = Registers { etmcr: 0x1000_1860, etmidr: 0x410c_f250, etmccer: 0x3440_08f2 };

    fn parameters(registers: Registers) -> Parameters {
        let parameters = Parameters::from_registers(registers, false).expect("a macrocell");
        assert_eq!(parameters.check(), Ok(()));
        parameters
    }

    #[test]
    fn a_captured_macrocell_is_what_its_registers_say() {
        let expected = Parameters {
            architecture: Architecture::V3,
            minor: 5,
            data_value: false,
            data_address: false,
            cycle_accurate: true,
            thumb32_single: true,
            timestamps: true,
            timestamp_bits: 64,
            timestamp_gray: false,
            virtualization: true,
            hivecs: VectorBase::Unknown,
            ..Parameters::default()
        };
        assert_eq!(parameters(CORTEX_A7), expected);
    }

    /// Each bit has one meaning; the meaning of the other bits stays.
    #[test]
    fn each_bit_says_one_thing() {
        let before = parameters(CORTEX_A7);
        let etmcr = |bits: u32| parameters(Registers { etmcr: CORTEX_A7.etmcr ^ bits, ..CORTEX_A7 });
        let etmidr = |bits: u32| parameters(Registers { etmidr: CORTEX_A7.etmidr ^ bits, ..CORTEX_A7 });
        let etmccer = |bits: u32| parameters(Registers { etmccer: CORTEX_A7.etmccer ^ bits, ..CORTEX_A7 });
        let same = || before.clone();
        for (got, expected) in [
            (etmcr(1 << 0), same()),
            (etmcr(1 << 1), Parameters { monitor_cprt: true, ..same() }),
            (etmcr(1 << 2), Parameters { data_value: true, ..same() }),
            (etmcr(1 << 3), Parameters { data_address: true, ..same() }),
            (etmcr(7 << 4), same()),
            (etmcr(1 << 8), Parameters { branch_broadcast: true, ..same() }),
            (etmcr(1 << 12), Parameters { cycle_accurate: false, ..same() }),
            (etmcr(1 << 14), Parameters { context_id_bytes: 1, ..same() }),
            (etmcr(2 << 14), Parameters { context_id_bytes: 2, ..same() }),
            (etmcr(3 << 14), Parameters { context_id_bytes: 4, ..same() }),
            (etmcr(1 << 19), Parameters { filter_cprt: true, ..same() }),
            (etmcr(1 << 20), Parameters { data_only: true, ..same() }),
            (etmcr(1 << 28), Parameters { timestamps: false, ..same() }),
            (etmcr(1 << 30), Parameters { vmid: true, ..same() }),
            (etmidr(1 << 16), Parameters { load_pc_first: true, ..same() }),
            (etmidr(1 << 18), Parameters { thumb32_single: false, ..same() }),
            (etmidr(1 << 20), Parameters { alternative_branches: true, ..same() }),
            (etmccer(1 << 22), same()),
            (etmccer(1 << 26), Parameters { virtualization: false, ..same() }),
            (etmccer(1 << 28), Parameters { timestamp_gray: true, ..same() }),
            (etmccer(1 << 29), Parameters { timestamp_bits: 48, ..same() }),
        ] {
            assert_eq!(got, expected);
        }
        let profile = Parameters::from_registers(CORTEX_A7, true).expect("a macrocell");
        assert_eq!(profile, Parameters { m_profile: true, ..same() });
    }

    #[test]
    fn a_version_has_only_what_came_with_it() {
        let everything = |etmidr| parameters(Registers { etmcr: 0xffff_ff9f, etmidr, etmccer: 0 });
        let old = everything(0x411c_f200);
        assert!(old.filter_cprt && !old.data_only && !old.alternative_branches && !old.timestamps);
        assert!(!old.vmid && !old.timestamp_gray);
        assert!(everything(0x411c_f210).data_only);
        assert!(everything(0x411c_f240).alternative_branches);
        assert!(!everything(0x411c_f240).timestamps);
        let port =
            |etmcr| Parameters::from_registers(Registers { etmcr, etmidr: 0x4100_0110, etmccer: 0 }, true);
        for (code, width) in [(0, 4), (1, 8), (2, 16)] {
            let parameters = port(code << 4).expect("a port of ETMv2.1");
            assert_eq!((parameters.architecture, parameters.minor), (Architecture::V2, 1));
            assert_eq!(parameters.port_width, width);
            assert!(!parameters.m_profile);
        }
        for code in [3 << 4, 4 << 4, 1 << 21, 1 << 21 | 1 << 4] {
            assert!(matches!(port(code), Err(("ETMCR", _))), "{code:#x}");
        }
        // PTM; ETMv3.6.
        for etmidr in [0x411c_f301, 0x410c_f260] {
            let refused = Parameters::from_registers(Registers { etmidr, ..CORTEX_A7 }, false);
            assert!(matches!(refused, Err(("ETMIDR", _))), "{etmidr:#x}");
        }
    }
}
