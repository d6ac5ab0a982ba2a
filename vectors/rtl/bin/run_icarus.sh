#!/usr/bin/env bash
# Drives a pack with Icarus Verilog. Arguments: your wrapper, your sources, options for iverilog.
#
#   traceproof check-rtl --dut dut.toml --pack pack/ --run 'vectors/rtl/bin/run_icarus.sh my_wrap.sv my_encoder.sv'
#
# TRACEPROOF_PACK (the pack) and TRACEPROOF_LOG (the log) come from check-rtl, or from you. TP_BUILD: directory for what
# is built, else a temporary one. TP_PLUSARGS: more arguments of the simulation.
set -euo pipefail

if ! command -v iverilog >/dev/null; then
    echo "run_icarus.sh: iverilog is missing (Debian: apt-get install iverilog)" >&2
    exit 2
fi
: "${TRACEPROOF_PACK:?directory of the pack}" "${TRACEPROOF_LOG:?file for the log}"
tb=$(cd "$(dirname "$0")/../tb" && pwd)
build=${TP_BUILD:-$(mktemp -d)}
[ -n "${TP_BUILD:-}" ] || trap 'rm -rf "$build"' EXIT
mkdir -p "$build"
blocks=$(awk '$2 == "TP_BLOCKS" { print $3 }' "$TRACEPROOF_PACK/pack.vh")

iverilog -g2012 -Wall -Wno-timescale -s tp_tb "-Ptp_tb.BLOCKS=$blocks" -o "$build/tp_tb.vvp" \
    "$@" "$tb"/tp_{tb,bench,driver,monitor,registers}.sv
vvp -n "$build/tp_tb.vvp" "+rows=$TRACEPROOF_PACK/pack.memh" "+log=$TRACEPROOF_LOG" ${TP_PLUSARGS:-}
