//! Properties of the RISC-V E-Trace codecs.

pub mod data;
pub mod encapsulation;
pub mod flow;
pub mod packets;
pub mod presets;
pub mod round_trip;
mod seeds;

use crate::targets::{FamilyTargets, Target};

/// What is fuzzed.
pub const TARGETS: FamilyTargets = FamilyTargets {
    targets: &[
        Target {
            name: "riscv_etrace_encapsulation",
            input: "constants of the encapsulation, stream",
            property: "any stream is cut into the same units however it arrives; what is framed comes back",
            run: encapsulation::run,
        },
        Target {
            name: "riscv_etrace_packets",
            input: "preset number, payload",
            property: "any payload is a packet that the writer turns back into an equal packet, or a typed fault",
            run: packets::run,
        },
        Target {
            name: "riscv_etrace_flow",
            input: "preset number, code sections, stream",
            property: "any stream over any program gives the same bounded results however it is cut",
            run: flow::run,
        },
        Target {
            name: "riscv_etrace_data",
            input: "constants of data trace, payloads",
            property: "any data trace payload is a packet that comes back, or a typed fault, however the stream is cut",
            run: data::run,
        },
        Target {
            name: "riscv_etrace_round_trip",
            input: "entropy of the scenario generator",
            property: "any execution that the encoder model traces comes back from the decoder",
            run: round_trip::run,
        },
    ],
    seeds: seeds::all,
};
