//! What the registers of a PTM say about its trace.

use super::Parameters;

/// Registers that decide what a PTM sends. A capture tool reads them out beside the trace.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Registers {
    /// ETMCR, register 0x000: Main Control (3.16.1).
    pub etmcr: u32,
    /// ETMCCER, register 0x07A: Configuration Code Extension (3.16.29). Some silicon reads wrong values here.
    pub etmccer: u32,
    /// ETMIDR, register 0x079: ID.
    pub etmidr: u32,
}

impl Parameters {
    /// The parameters of a PTM with these registers, ETMCR as it was read back.
    ///
    /// Bits of ETMCR that depend on an option of the PTM read as zero without it; so ETMCR alone decides the return
    /// stack and the timestamps, and ETMCCER\[23:22\] are not looked at (PFT-CFG-013, PFT-CFG-014). ETMCCER\[29:26\]
    /// count from PFTv1.1 on (PFT-CFG-007). A VMID enable without Virtualization Extensions has no effect
    /// (PFT-CFG-010).
    ///
    /// `m_profile`: the processor is of the M profile, which no register of the PTM says. Nor does one say whether the
    /// program uses ThumbEE state; [`thumbee`](Self::thumbee) is off.
    ///
    /// # Errors
    ///
    /// The name of the register and what in it no decoder of this protocol can read: an architecture other than PFTv1.0
    /// and PFTv1.1, or the return stack together with branch broadcasting, which is UNPREDICTABLE (PFT-CFG-004).
    ///
    /// ```
    /// use traceproof_vectors::arm_pft::{Parameters, Registers};
    ///
    /// let cortex_a15 = Registers { etmcr: 0x1000_1000, etmccer: 0x34c0_1ac2, etmidr: 0x411c_f312 };
    /// let parameters = Parameters::from_registers(cortex_a15, false)?;
    /// assert!(parameters.cycle_accurate && parameters.timestamps && parameters.timestamp_binary);
    /// assert_eq!((parameters.minor, parameters.timestamp_bits), (1, 64));
    /// # Ok::<(), (&str, &str)>(())
    /// ```
    ///
    /// Spec: PFT-CFG-001 to PFT-CFG-010, PFT-CFG-013, PFT-CFG-014.
    pub const fn from_registers(
        registers: Registers,
        m_profile: bool,
    ) -> Result<Self, (&'static str, &'static str)> {
        let Registers { etmcr, etmccer, etmidr } = registers;
        if etmidr >> 8 & 0xf != 3 {
            return Err(("ETMIDR", "the architecture is not PFT"));
        }
        let minor = (etmidr >> 4 & 0xf) as u8;
        if minor > 1 {
            return Err(("ETMIDR", "the architecture has no such minor version"));
        }
        if bit(etmcr, 29) && bit(etmcr, 8) {
            return Err(("ETMCR", "the return stack together with branch broadcasting is UNPREDICTABLE"));
        }
        let v1_1 = minor >= 1;
        let virtualization = v1_1 && !m_profile && bit(etmccer, 26);
        Ok(Self {
            minor,
            cycle_accurate: bit(etmcr, 12),
            context_id_bytes: [0, 1, 2, 4][(etmcr >> 14 & 3) as usize],
            branch_broadcast: bit(etmcr, 8),
            timestamps: bit(etmcr, 28),
            timestamp_bits: if v1_1 && bit(etmccer, 29) { 64 } else { 48 },
            timestamp_binary: v1_1 && bit(etmccer, 28),
            return_stack: bit(etmcr, 29),
            return_stack_depth: Self::DEFAULT_RETURN_STACK_DEPTH,
            vmid: virtualization && bit(etmcr, 30),
            virtualization,
            barrier_waypoints: bit(etmccer, 24),
            barrier_timestamps: bit(etmccer, 25),
            m_profile,
            thumbee: false,
        })
    }
}

const fn bit(register: u32, bit: u32) -> bool {
    register >> bit & 1 == 1
}

#[cfg(test)]
mod tests {
    use super::*;

    const CORTEX_A15: Registers = Registers { etmcr: 0x1000_1000, etmccer: 0x34c0_1ac2, etmidr: 0x411c_f312 };

    fn parameters(registers: Registers) -> Parameters {
        let parameters = Parameters::from_registers(registers, false).expect("a PTM");
        assert_eq!(parameters.check(), Ok(()));
        parameters
    }

    /// Each bit says one thing; what the other bits say stays.
    #[test]
    fn each_bit_says_one_thing() {
        let before = parameters(CORTEX_A15);
        let etmcr = |bits: u32| parameters(Registers { etmcr: CORTEX_A15.etmcr ^ bits, ..CORTEX_A15 });
        let etmccer = |bits: u32| parameters(Registers { etmccer: CORTEX_A15.etmccer ^ bits, ..CORTEX_A15 });
        let same = || before.clone();
        for (got, expected) in [
            (etmcr(1 << 0), same()),
            (etmcr(1 << 8), Parameters { branch_broadcast: true, ..same() }),
            (etmcr(1 << 12), Parameters { cycle_accurate: false, ..same() }),
            (etmcr(1 << 14), Parameters { context_id_bytes: 1, ..same() }),
            (etmcr(2 << 14), Parameters { context_id_bytes: 2, ..same() }),
            (etmcr(3 << 14), Parameters { context_id_bytes: 4, ..same() }),
            (etmcr(1 << 28), Parameters { timestamps: false, ..same() }),
            (etmcr(1 << 29), Parameters { return_stack: true, ..same() }),
            (etmcr(1 << 30), Parameters { vmid: true, ..same() }),
            (etmccer(1 << 22), same()),
            (etmccer(1 << 23), same()),
            (etmccer(1 << 24), Parameters { barrier_waypoints: true, ..same() }),
            (etmccer(1 << 25), Parameters { barrier_timestamps: true, ..same() }),
            (etmccer(1 << 26), Parameters { virtualization: false, ..same() }),
            (etmccer(1 << 28), Parameters { timestamp_binary: false, ..same() }),
            (etmccer(1 << 29), Parameters { timestamp_bits: 48, ..same() }),
        ] {
            assert_eq!(got, expected);
        }
        let without = Registers { etmcr: 1 << 30, etmccer: 0, ..CORTEX_A15 };
        assert!(!parameters(without).vmid, "no effect without Virtualization Extensions");
    }

    /// The ETMCCER of this core reads zero where its manual says one (PFT-CFG-013, PFT-CFG-014).
    #[test]
    fn etmccer_does_not_switch_off_what_etmcr_switches_on() {
        let cortex_a9 = Registers { etmcr: 0x3000_0000, etmccer: 0x0000_08ea, etmidr: 0x411c_f301 };
        let expected = Parameters { return_stack: true, timestamps: true, ..Parameters::v1_0() };
        assert_eq!(parameters(cortex_a9), expected);
        let all = Registers { etmccer: u32::MAX, ..cortex_a9 };
        let barriers = Parameters { barrier_waypoints: true, barrier_timestamps: true, ..expected };
        assert_eq!(parameters(all), barriers, "ETMCCER[29:26] count from PFTv1.1 on");
    }

    #[test]
    fn other_architectures_are_refused() {
        for etmidr in [0x410c_f250, 0x411c_f322, 0x411c_f412] {
            let refused = Parameters::from_registers(Registers { etmidr, ..CORTEX_A15 }, false);
            assert!(matches!(refused, Err(("ETMIDR", _))), "{etmidr:#x}");
        }
        let both = Registers { etmcr: 1 << 29 | 1 << 8, ..CORTEX_A15 };
        assert!(matches!(Parameters::from_registers(both, false), Err(("ETMCR", _))));
    }
}
