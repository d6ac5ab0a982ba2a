#!/usr/bin/env bash
# Drives a pack with Verilator 5. Arguments: your wrapper, your sources, options for verilator.
#
#   traceproof check-rtl --dut dut.toml --pack pack/ --run 'vectors/rtl/bin/run_verilator.sh my_wrap.sv my_encoder.sv'
#
# TRACEPROOF_PACK (the pack) and TRACEPROOF_LOG (the log) come from check-rtl, or from you. TP_BUILD: directory for what
# is built; a second run with the same directory builds only what changed. Else a temporary one. TP_PLUSARGS: more
# arguments of the simulation.
set -euo pipefail

if ! command -v verilator >/dev/null; then
    echo "run_verilator.sh: verilator is missing (Debian: apt-get install verilator)" >&2
    exit 2
fi
: "${TRACEPROOF_PACK:?directory of the pack}" "${TRACEPROOF_LOG:?file for the log}"
tb=$(cd "$(dirname "$0")/../tb" && pwd)
build=${TP_BUILD:-$(mktemp -d)}
[ -n "${TP_BUILD:-}" ] || trap 'rm -rf "$build"' EXIT
mkdir -p "$build"
blocks=$(awk '$2 == "TP_BLOCKS" { print $3 }' "$TRACEPROOF_PACK/pack.vh")

if ! verilator --binary --timing -O3 --x-assign fast --top-module tp_tb "-GBLOCKS=$blocks" -Mdir "$build" -o tp_tb \
    "$@" "$tb"/tp_{tb,bench,driver,monitor,registers}.sv >"$build/build.log" 2>&1; then
    cat "$build/build.log" >&2
    exit 1
fi
grep -E '^%(Warning|Error)' "$build/build.log" >&2 || true
"$build/tp_tb" "+rows=$TRACEPROOF_PACK/pack.memh" "+log=$TRACEPROOF_LOG" ${TP_PLUSARGS:-}
