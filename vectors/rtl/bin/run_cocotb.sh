#!/usr/bin/env bash
# Drives a pack with cocotb 1.9. Arguments: icarus or verilator, your wrapper, your sources, options of the simulator.
#
#   traceproof check-rtl --dut dut.toml --pack pack/ \
#       --run 'vectors/rtl/bin/run_cocotb.sh icarus my_wrap.sv my_encoder.sv'
#
# TRACEPROOF_PACK (the pack) and TRACEPROOF_LOG (the log) come from check-rtl, or from you. TP_BUILD: directory for what
# is built, else a temporary one.
set -euo pipefail

command -v cocotb-config >/dev/null || { echo "run_cocotb.sh: cocotb is missing (pip install 'cocotb<2')" >&2; exit 2; }
: "${TRACEPROOF_PACK:?directory of the pack}" "${TRACEPROOF_LOG:?file for the log}"
here=$(cd "$(dirname "$0")/.." && pwd)
simulator=${1:?icarus or verilator}
shift
sources=() options=()
for argument in "$@"; do
    case $argument in
        -*) options+=("$argument") ;;
        *) sources+=("$(realpath "$argument")") ;;
    esac
done
build=${TP_BUILD:-$(mktemp -d)}
[ -n "${TP_BUILD:-}" ] || trap 'rm -rf "$build"' EXIT
mkdir -p "$build"
blocks=$(awk '$2 == "TP_BLOCKS" { print $3 }' "$TRACEPROOF_PACK/pack.vh")
case $simulator in
    icarus) options+=(-g2012 "-Pdut_wrap.BLOCKS=$blocks") ;;
    verilator) options+=("-GBLOCKS=$blocks" --timing) ;;
esac

cd "$build"
export PYTHONPATH=$here/cocotb${PYTHONPATH:+:$PYTHONPATH} COCOTB_LOG_LEVEL=${COCOTB_LOG_LEVEL:-WARNING}
export COMPILE_ARGS="${options[*]}" # in the environment, so that cocotb adds its own
if ! make -f "$(cocotb-config --makefiles)/Makefile.sim" SIM="$simulator" TOPLEVEL_LANG=verilog TOPLEVEL=dut_wrap \
    MODULE=test_pack VERILOG_SOURCES="${sources[*]} $here/tb/tp_registers.sv" \
    SIM_BUILD="$build" COCOTB_RESULTS_FILE="$build/results.xml" >"$build/build.log" 2>&1 \
    || ! grep -q '<testcase' "$build/results.xml" || grep -q '<failure' "$build/results.xml"; then
    cat "$build/build.log" >&2
    exit 1
fi
