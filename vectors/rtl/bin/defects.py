#!/usr/bin/env python3
"""Runs the test device with each of its deliberate mistakes, and shows which clause `check-rtl` blames.

    vectors/rtl/bin/defects.py --dut vectors/rtl/device/rv32.toml --pack pack/ [--simulator icarus] [NUMBER ...]

A row is ok if the clause of defects.json is found first in a case, and if this clause, or one that the
same mistake breaks by itself (`also`), is the first finding in 95 % of the cases with findings. Exit code 1 if a row is
not ok.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent


def verdict(arguments, number, directory):
    """The verdict on the device with one mistake, as JSON."""
    output = Path(directory) / f"{number}.json"
    run = f"'{HERE / 'run_device.sh'}' {arguments.simulator} >{directory}/out 2>&1 || (cat {directory}/out; false)"
    command = [arguments.program, "check-rtl", "--dut", arguments.dut, "--pack", arguments.pack, "--run", run,
               "--json", output]
    environment = {**os.environ, "TP_DUT": os.path.abspath(arguments.dut), "TP_BUILD": f"{directory}/build",
                   "TP_PLUSARGS": f"+defect={number}"}
    done = subprocess.run(command, env=environment, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    if not output.exists():
        sys.exit(f"defects.py: mistake {number}: no verdict\n{done.stdout}")
    result = json.loads(output.read_text("utf-8"))
    result["exit"] = done.returncode
    return result


def levels(result):
    """Names of the levels that a case fails."""
    names = ["fields", "legal", "semantic", "relation", "latency"]
    return [name for name in names if any("fail" in case[name] for case in result["cases"])]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dut", required=True)
    parser.add_argument("--pack", required=True)
    parser.add_argument("--simulator", default="icarus", choices=["icarus", "verilator"])
    parser.add_argument("--program", default="traceproof")
    parser.add_argument("numbers", nargs="*", type=int)
    arguments = parser.parse_args()
    defects = json.loads((HERE.parent / "defects.json").read_text("utf-8"))
    wrong = 0
    with tempfile.TemporaryDirectory() as directory:
        for defect in defects:
            if arguments.numbers and defect["number"] not in arguments.numbers:
                continue
            result = verdict(arguments, defect["number"], directory)
            groups = result["groups"]
            first = [group for group in groups if group["first_in"]]
            blamed = ", ".join(f"{group['clause']} `{group['field']}` {group['first_in']}" for group in first)
            later = sum(1 for group in groups if not group["first_in"])
            named = {defect["clause"], *defect.get("also", [])}
            cases = sum(group["first_in"] for group in first)
            share = sum(group["first_in"] for group in first if group["clause"] in named) / max(cases, 1)
            is_named = any(group["clause"] == defect["clause"] for group in first)
            good = result["exit"] == 1 and is_named and share >= 0.95
            wrong += not good
            print(f"{'ok ' if good else 'NOT'} {defect['number']:>2} {defect['name']:<22} {' '.join(sorted(named))}: "
                  f"{share:.0%} of {cases} cases; first "
                  f"{blamed or 'nothing'}; {later} later groups; fails {' '.join(levels(result)) or 'nothing'}",
                  flush=True)
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
