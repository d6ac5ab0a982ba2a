//! What holds for any execution, packet or register value: round trips, metamorphic relations, codec laws, truth
//! tables.
//!
//! `PROPTEST_CASES=100000 cargo test --release -p traceproof-conformance --test properties round_trip`
//! runs more of one module.

mod agreement_arm;
mod agreement_arm_ete_unit;
mod agreement_itanium_pmu;
mod arm_llvm;
mod codec_laws;
mod contents_arm_ete;
mod filters;
mod formatter;
mod relations;
mod relations_arm_etm;
mod round_trip_arm_ete;
mod round_trip_arm_etm;
mod round_trip_arm_etm_v1;
mod round_trip_arm_pft;
mod round_trip_riscv_etrace;
mod truth_table_itanium_pmu;
