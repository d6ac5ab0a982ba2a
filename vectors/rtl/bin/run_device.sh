#!/usr/bin/env bash
# Drives a pack into the test device, with all warnings of the simulator. Arguments: icarus or verilator, then options,
# for example -DTP_COMPRESS=0. TP_PLUSARGS=+defect=1 turns a deliberate mistake on. The parameters come from the line
# `# defines:` of TP_DUT (a file of vectors/rtl/device).
#
#   TP_DUT=vectors/rtl/device/rv32.toml traceproof check-rtl --dut vectors/rtl/device/rv32.toml --pack pack/ \
#       --run 'vectors/rtl/bin/run_device.sh icarus'
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
device=$here/../device
simulator=${1:?icarus or verilator}
shift
read -ra defines <<<"$(sed -n 's/^# defines: //p' "${TP_DUT:?a file of vectors/rtl/device}")"
sources=("$device"/{etrace_pkg,dut_wrap,etrace_encoder,etrace_packet,etrace_items,etrace_resync}.sv)
[ "$simulator" = verilator ] && sources+=(-Wall)
"$here/run_$simulator.sh" "${defines[@]}" "$@" "${sources[@]}"
