//! The families whose cases this crate ships: the one list in these tests that names them.

use traceproof_vectors::Family;

/// Calls a generic function for the vocabulary of every family.
macro_rules! for_every_family {
    ($check:ident) => {
        $check::<traceproof_vectors::riscv_etrace::RiscvEtrace>();
        $check::<traceproof_vectors::arm_etm::ArmEtm>();
        $check::<traceproof_vectors::itanium_pmu::ItaniumPmu>();
    };
}
pub(crate) use for_every_family;

/// How many requirements each group of a specification has been cut into, by what their ids begin with.
pub(crate) const GROUPS: [(Family, &[(&str, usize)]); 3] = [
    (
        Family::RiscvEtrace,
        &[
            ("RVET-PKT", 47),
            ("RVET-ENC", 84),
            ("RVET-ING", 14),
            ("RVET-DEC", 54),
            ("RVET-DISC", 9),
            ("RVET-DATA", 28),
            ("RVET-ENCAP", 25),
            ("RVET-FILT", 6),
        ],
    ),
    (
        Family::ArmEtm,
        &[
            ("ETM-GEN", 12),
            ("ETM1-PS", 12),
            ("ETM1-PKT", 18),
            ("ETM1-APO", 8),
            ("ETM1-DAT", 7),
            ("ETM1-SYN", 9),
            ("ETM2-PS", 13),
            ("ETM2-TRG", 7),
            ("ETM2-HDR", 12),
            ("ETM2-CB", 11),
            ("ETM2-BR", 11),
            ("ETM2-TFO", 24),
            ("ETM2-CTX", 4),
            ("ETM2-ND", 11),
            ("ETM2-DA", 9),
            ("ETM2-VNT", 6),
            ("ETM2-LM", 57),
            ("ETM2-FIFO", 8),
            ("ETM3-HDR", 9),
            ("ETM3-PH", 14),
            ("ETM3-CC", 6),
            ("ETM3-SYN", 14),
            ("ETM3-ISY", 13),
            ("ETM3-BR", 19),
            ("ETM3-EXC", 12),
            ("ETM3-DAT", 19),
            ("ETM3-OOO", 8),
            ("ETM3-TS", 8),
            ("ETM3-MISC", 7),
            ("ETM3-ENC", 5),
            ("ARM-FMT", 13),
        ],
    ),
    (
        Family::ItaniumPmu,
        &[
            ("ITA-REG", 18),
            ("ITA-CNT", 13),
            ("ITA-OVF", 13),
            ("ITA-IBR", 19),
            ("ITA-OPC", 17),
            ("ITA-DBR", 15),
            ("ITA-EAR", 26),
            ("ITA-QUA", 6),
            ("ITA-DEC", 12),
            ("ITA-BTB", 1),
        ],
    ),
];
