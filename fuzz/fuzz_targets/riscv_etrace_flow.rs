//! Passes libFuzzer's bytes to `traceproof_fuzz::riscv_etrace::flow`.
#![cfg_attr(fuzzing, no_main)]

#[cfg(fuzzing)]
libfuzzer_sys::fuzz_target!(|data: &[u8]| traceproof_fuzz::riscv_etrace::flow::run(data));

#[cfg(not(fuzzing))]
fn main() {
    eprintln!("this target runs under `cargo +nightly fuzz run riscv_etrace_flow`");
}
