//! Passes libFuzzer's bytes to `traceproof_fuzz::itanium_pmu::qualification`.
#![cfg_attr(fuzzing, no_main)]

#[cfg(fuzzing)]
libfuzzer_sys::fuzz_target!(|data: &[u8]| traceproof_fuzz::itanium_pmu::qualification::run(data));

#[cfg(not(fuzzing))]
fn main() {
    eprintln!("this target runs under `cargo +nightly fuzz run itanium_pmu_qualification`");
}
