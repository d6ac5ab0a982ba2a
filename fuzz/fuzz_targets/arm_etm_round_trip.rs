//! Passes libFuzzer's bytes to `traceproof_fuzz::arm_etm::round_trip`.
#![cfg_attr(fuzzing, no_main)]

#[cfg(fuzzing)]
libfuzzer_sys::fuzz_target!(|data: &[u8]| traceproof_fuzz::arm_etm::round_trip::run(data));

#[cfg(not(fuzzing))]
fn main() {
    eprintln!("this target runs under `cargo +nightly fuzz run arm_etm_round_trip`");
}
