#!/usr/bin/env bash
# Drives a pack of streams. Arguments: icarus or verilator, your module stream_wrap, your sources, options.
#
#   traceproof vectors answers --pack pack/ --run 'vectors/rtl/bin/run_streams.sh verilator my_wrap.sv my_decoder.sv'
#
# TRACEPROOF_PACK (the pack) and TRACEPROOF_LOG (the log) come from `vectors answers`, or from you. TP_SHEET: bytes (for
# decoders, the default) or stimulus (for everything else). TP_BUILD: directory for what is built, else a temporary one.
# TP_PLUSARGS: more arguments of the simulation.
set -euo pipefail

simulator=${1:?icarus or verilator}
shift
: "${TRACEPROOF_PACK:?directory of the pack}" "${TRACEPROOF_LOG:?file for the log}"
tb=$(cd "$(dirname "$0")/../tb" && pwd)
build=${TP_BUILD:-$(mktemp -d)}
[ -n "${TP_BUILD:-}" ] || trap 'rm -rf "$build"' EXIT
mkdir -p "$build"
sheet=${TP_SHEET:-bytes}
words=2
[ "$sheet" = bytes ] || words=$(awk '$2 == "TP_WORDS" { print $3 }' "$TRACEPROOF_PACK/streams.vh")

case $simulator in
icarus)
    iverilog -g2012 -Wall -Wno-timescale -I "$TRACEPROOF_PACK" -s tp_streams_tb "-Ptp_streams_tb.WORDS=$words" \
        -o "$build/tp_streams.vvp" "$@" "$tb"/tp_streams{,_tb}.sv
    run=(vvp -n "$build/tp_streams.vvp")
    ;;
verilator)
    if ! verilator --binary --timing -O3 --x-assign fast --top-module tp_streams_tb "-GWORDS=$words" \
        "-I$TRACEPROOF_PACK" -Mdir "$build" -o tp_streams "$@" "$tb"/tp_streams{,_tb}.sv >"$build/build.log" 2>&1; then
        cat "$build/build.log" >&2
        exit 1
    fi
    grep -E '^%(Warning|Error)' "$build/build.log" >&2 || true
    run=("$build/tp_streams")
    ;;
*)
    echo "run_streams.sh: $simulator is neither icarus nor verilator" >&2
    exit 2
    ;;
esac
"${run[@]}" "+rows=$TRACEPROOF_PACK/$sheet.memh" "+log=$TRACEPROOF_LOG" ${TP_PLUSARGS:-}
