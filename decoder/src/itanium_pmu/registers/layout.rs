//! The names of the bits of a register.

use traceproof_vectors::itanium_pmu::{Register, RegisterClass};

/// One field of a register, by the specification's name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RegisterField {
    /// Its name; `ig` for ignored bits, `-` for bits that the performance monitor does not use.
    pub name: &'static str,
    /// Its lowest bit.
    pub low: u8,
    /// How many bits.
    pub width: u8,
}

const fn f(name: &'static str, high: u8, low: u8) -> RegisterField {
    RegisterField { name, low, width: high - low + 1 }
}

const STATUS: &[RegisterField] = &[f("fr", 0, 0), f("ig", 3, 1), f("overflow", 7, 4), f("ig", 63, 8)];
const NOTHING: &[RegisterField] = &[f("ig", 63, 0)];
const COUNTER_3: &[RegisterField] = &counter(f("threshold", 22, 20), f("ig", 23, 23));
const COUNTER_2: &[RegisterField] = &counter(f("threshold", 21, 20), f("ig", 23, 22));
const OPCODE: &[RegisterField] = &[
    f("ig", 2, 0),
    f("mask", 29, 3),
    f("ig", 32, 30),
    f("match", 59, 33),
    f("b", 60, 60),
    f("f", 61, 61),
    f("i", 62, 62),
    f("m", 63, 63),
];
const INSTRUCTION_EAR: &[RegisterField] = &[
    f("plm", 3, 0),
    f("ig", 5, 4),
    f("pm", 6, 6),
    f("tlb", 7, 7),
    f("ig", 15, 8),
    f("umask", 19, 16),
    f("ig", 23, 20),
    f("ism", 25, 24),
    f("ig", 63, 26),
];
const DATA_EAR: &[RegisterField] = &[
    f("plm", 3, 0),
    f("ig", 5, 4),
    f("pm", 6, 6),
    f("tlb", 7, 7),
    f("ig", 15, 8),
    f("umask", 19, 16),
    f("ig", 23, 20),
    f("ism", 25, 24),
    f("ig", 27, 26),
    f("pt", 28, 28),
    f("ig", 63, 29),
];
const TRACE_BUFFER: &[RegisterField] = &[
    f("plm", 3, 0),
    f("ig", 5, 4),
    f("pm", 6, 6),
    f("tar", 7, 7),
    f("tm", 9, 8),
    f("ptm", 11, 10),
    f("ppm", 13, 12),
    f("bpt", 14, 14),
    f("bac", 15, 15),
    f("ig", 63, 16),
];
const RANGE_CHECK: &[RegisterField] = &[f("ta", 0, 0), f("ig", 63, 1)];
const LINE: &[RegisterField] = &[f("v", 0, 0), f("tlb", 1, 1), f("ig", 4, 2), f("line", 63, 5)];
const LATENCY: &[RegisterField] = &[f("latency", 11, 0), f("ig", 63, 12)];
const ADDRESS: &[RegisterField] = &[f("address", 63, 0)];
const LEVEL: &[RegisterField] = &[f("latency", 11, 0), f("ig", 61, 12), f("level", 63, 62)];
const COUNT: &[RegisterField] = &[f("count", 31, 0), f("sxt", 63, 32)];
const BRANCH: &[RegisterField] = &[f("b", 0, 0), f("mp", 1, 1), f("slot", 3, 2), f("address", 63, 4)];
const BRANCH_INDEX: &[RegisterField] = &[f("bbi", 2, 0), f("full", 3, 3), f("ig", 63, 4)];
const BUNDLE: &[RegisterField] = &[f("v", 0, 0), f("ig", 1, 1), f("slot", 3, 2), f("bundle", 63, 4)];
const BREAKPOINT: &[RegisterField] = &[f("addr", 63, 0)];
const INSTRUCTION_MASK: &[RegisterField] =
    &[f("mask", 55, 0), f("plm", 59, 56), f("ig", 62, 60), f("x", 63, 63)];
const DATA_MASK: &[RegisterField] =
    &[f("mask", 55, 0), f("plm", 59, 56), f("ig", 61, 60), f("w", 62, 62), f("r", 63, 63)];
const PSR: &[RegisterField] = &[
    f("-", 1, 0),
    f("up", 2, 2),
    f("-", 13, 3),
    f("i", 14, 14),
    f("-", 19, 15),
    f("sp", 20, 20),
    f("pp", 21, 21),
    f("-", 23, 22),
    f("db", 24, 24),
    f("-", 31, 25),
    f("cpl", 33, 32),
    f("is", 34, 34),
    f("-", 63, 35),
];
const PMV: &[RegisterField] = &[f("vector", 7, 0), f("-", 15, 8), f("m", 16, 16), f("-", 63, 17)];

const fn counter(threshold: RegisterField, after_threshold: RegisterField) -> [RegisterField; 12] {
    [
        f("plm", 3, 0),
        f("ev", 4, 4),
        f("oi", 5, 5),
        f("pm", 6, 6),
        f("ig", 7, 7),
        f("es", 14, 8),
        f("ig", 15, 15),
        f("umask", 19, 16),
        threshold,
        after_threshold,
        f("ism", 25, 24),
        f("ig", 63, 26),
    ]
}

/// All 64 bits of a register by name, lowest first, without gaps.
#[must_use]
pub const fn fields(register: Register) -> &'static [RegisterField] {
    match (register.class, register.index) {
        (RegisterClass::Pmc, 0) => STATUS,
        (RegisterClass::Pmc, 4 | 5) => COUNTER_3,
        (RegisterClass::Pmc, 6 | 7) => COUNTER_2,
        (RegisterClass::Pmc, 8 | 9) => OPCODE,
        (RegisterClass::Pmc, 10) => INSTRUCTION_EAR,
        (RegisterClass::Pmc, 11) => DATA_EAR,
        (RegisterClass::Pmc, 12) => TRACE_BUFFER,
        (RegisterClass::Pmc, 13) => RANGE_CHECK,
        (RegisterClass::Pmd, 0) => LINE,
        (RegisterClass::Pmd, 1) => LATENCY,
        (RegisterClass::Pmd, 2) => ADDRESS,
        (RegisterClass::Pmd, 3) => LEVEL,
        (RegisterClass::Pmd, 4..=7) => COUNT,
        (RegisterClass::Pmd, 8..=15) => BRANCH,
        (RegisterClass::Pmd, 16) => BRANCH_INDEX,
        (RegisterClass::Pmd, 17) => BUNDLE,
        (RegisterClass::Ibr | RegisterClass::Dbr, 0 | 2 | 4 | 6) => BREAKPOINT,
        (RegisterClass::Ibr, 1 | 3 | 5 | 7) => INSTRUCTION_MASK,
        (RegisterClass::Dbr, 1 | 3 | 5 | 7) => DATA_MASK,
        (RegisterClass::Psr, 0) => PSR,
        (RegisterClass::Pmv, 0) => PMV,
        _ => NOTHING,
    }
}
