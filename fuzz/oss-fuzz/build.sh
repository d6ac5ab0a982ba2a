#!/bin/bash -eu
# Builds the fuzz targets where OSS-Fuzz and ClusterFuzzLite want them. `SRC`, `OUT` and `SANITIZER` come from their
# images. fuzz/tests/oss_fuzz.rs holds the list against Cargo.toml and runs this script with another cargo.

targets=(
    riscv_etrace_encapsulation
    riscv_etrace_packets
    riscv_etrace_flow
    riscv_etrace_round_trip
    arm_formatter
    riscv_etrace_data
    arm_etm_v1_cycles
    arm_etm_cycles
    arm_etm_v3_packets
    arm_etm_v3_flow
    arm_etm_round_trip
    arm_pft_packets
    arm_pft_flow
    arm_pft_round_trip
    arm_ete_packets
    arm_ete_flow
    arm_ete_round_trip
    arm_ete_unit_log
    arm_ete_unit_agreement
    itanium_pmu_registers
    itanium_pmu_qualification
)

cd "$SRC/traceproof"
built=$SRC/fuzz-build
cargo fuzz build --fuzz-dir fuzz --target-dir "$built" --sanitizer "${SANITIZER:-address}" -O --debug-assertions

# The seeds that the shipped cases give; this program needs no instrumentation.
corpus=$SRC/fuzz-corpus
env -u RUSTFLAGS -u CFLAGS -u CXXFLAGS cargo run --release --package traceproof -- fuzz-seeds --corpus "$corpus"

for target in "${targets[@]}"; do
    cp "$built/x86_64-unknown-linux-gnu/release/$target" "$OUT/"
    mkdir -p "$corpus/$target"
    if [ -d "fuzz/regressions/$target" ]; then
        cp fuzz/regressions/"$target"/* "$corpus/$target/"
    fi
    (cd "$corpus/$target" && find . -type f | zip -q "$OUT/${target}_seed_corpus.zip" -@)
    printf '[libfuzzer]\nmax_len = 8192\ntimeout = 30\n' > "$OUT/$target.options"
done
