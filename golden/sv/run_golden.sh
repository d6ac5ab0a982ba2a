#!/usr/bin/env bash
# Drives a pack into the golden model with Verilator 5. TP_DUT: the description of the device; TP_GOLDEN: the static
# library. TP_BUILD, TP_PLUSARGS: as for vectors/rtl/bin/run_verilator.sh, which this calls; options go to verilator.
#
#   TP_DUT=dut.toml TP_GOLDEN=target/release/libtraceproof_golden.a traceproof check-rtl --dut dut.toml --pack pack/ \
#       --run golden/sv/run_golden.sh
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
: "${TP_DUT:?description of the device}" "${TP_GOLDEN:?libtraceproof_golden.a}"
TP_PLUSARGS="+golden=$(realpath "$TP_DUT") ${TP_PLUSARGS:-}" \
    "$here/../../vectors/rtl/bin/run_verilator.sh" "$@" -LDFLAGS "$(realpath "$TP_GOLDEN") -lpthread -ldl -lm" \
    "$here/tp_golden_pkg.sv" "$here/dut_golden.sv"
