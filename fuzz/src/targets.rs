//! Which targets exist.

use crate::{arm, arm_etm, itanium_pmu, riscv_etrace};

/// One fuzz target.
#[derive(Clone, Copy, Debug)]
pub struct Target {
    /// Name of the binary and of the directories of seeds and regressions.
    pub name: &'static str,
    /// What must hold for any input.
    pub property: &'static str,
    /// Checks the property; panics when it does not hold.
    pub run: fn(&[u8]),
}

/// Every target, in the order of the layers.
pub const TARGETS: [Target; 12] = [
    Target {
        name: "riscv_etrace_encapsulation",
        property: "any stream is cut into the same units however it arrives; what is framed comes back",
        run: riscv_etrace::encapsulation::run,
    },
    Target {
        name: "riscv_etrace_packets",
        property: "any payload is a packet that the writer turns back into an equal packet, or a typed fault",
        run: riscv_etrace::packets::run,
    },
    Target {
        name: "riscv_etrace_flow",
        property: "any stream over any program gives the same bounded results however it is cut",
        run: riscv_etrace::flow::run,
    },
    Target {
        name: "riscv_etrace_data",
        property: "any data trace payload is a packet that comes back, or a typed fault, however the stream is cut",
        run: riscv_etrace::data::run,
    },
    Target {
        name: "riscv_etrace_round_trip",
        property: "any execution that the encoder model traces comes back from the decoder",
        run: riscv_etrace::round_trip::run,
    },
    Target {
        name: "arm_formatter",
        property: "any formatted stream gives the same bounded results however it is cut; what the formatter sends comes back",
        run: arm::formatter::run,
    },
    Target {
        name: "arm_etm_v1_cycles",
        property: "any ETMv1 capture over any program gives the same bounded results however it is cut",
        run: arm_etm::v1_cycles::run,
    },
    Target {
        name: "arm_etm_cycles",
        property: "any ETMv2 capture gives the same bounded results however it is cut",
        run: arm_etm::cycles::run,
    },
    Target {
        name: "arm_etm_v3_packets",
        property: "ETMv3 packets that are read are written as bytes that read as the same packets",
        run: arm_etm::v3_packets::run,
    },
    Target {
        name: "arm_etm_v3_flow",
        property: "any ETMv3 stream over any program gives the same bounded results however it is cut",
        run: arm_etm::v3_flow::run,
    },
    Target {
        name: "itanium_pmu_registers",
        property: "any log gives the same bounded results however it is cut; registers that are read come back",
        run: itanium_pmu::registers::run,
    },
    Target {
        name: "itanium_pmu_qualification",
        property: "whatever is programmed and happens, model and oracle work the same out",
        run: itanium_pmu::qualification::run,
    },
];
