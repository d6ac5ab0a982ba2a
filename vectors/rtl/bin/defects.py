#!/usr/bin/env python3
"""Runs the test device with each of its deliberate mistakes, and shows which clause `check-rtl` blames.

    vectors/rtl/bin/defects.py --dut vectors/rtl/device/rv32.toml --pack pack/ [--simulator icarus] [NUMBER ...]

Without numbers the device without a mistake comes first, and must pass at all levels. A row is ok if the clause of defects.json is the first finding of a case, and if every first finding names this clause
or one that the same mistake breaks by itself (`also`): nothing else is blamed. Exit code 1 if a row is not ok.
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


def by_clause(groups):
    """In how many cases each clause is the first finding, the most frequent one first."""
    counts = {}
    for group in groups:
        counts[group["clause"]] = counts.get(group["clause"], 0) + group["first_in"]
    return dict(sorted(counts.items(), key=lambda entry: -entry[1]))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dut", required=True)
    parser.add_argument("--pack", required=True)
    parser.add_argument("--simulator", default="icarus", choices=["icarus", "verilator"])
    parser.add_argument("--program", default="traceproof")
    parser.add_argument("numbers", nargs="*", type=int)
    arguments = parser.parse_args()
    defects = json.loads((HERE.parent / "defects.json").read_text("utf-8"))
    if not arguments.numbers:
        defects.insert(0, {"number": 0, "name": "NONE", "clause": None})
    wrong = 0
    with tempfile.TemporaryDirectory() as directory:
        for defect in defects:
            if arguments.numbers and defect["number"] not in arguments.numbers:
                continue
            result = verdict(arguments, defect["number"], directory)
            groups = result["groups"]
            first = [group for group in groups if group["first_in"]]
            blamed = ", ".join(f"{clause} {count}" for clause, count in by_clause(first).items())
            if defect["clause"] is None:
                exact = sum("fail" in case["exact"] for case in result["cases"])
                good = result["exit"] == 0 and not groups and not exact
                wrong += not good
                print(f"{'ok ' if good else 'NOT'}  0 no mistake             {len(result['cases'])} cases pass at all "
                      f"levels", flush=True)
                continue
            named = {defect["clause"], *defect.get("also", [])}
            cases = sum(group["first_in"] for group in first)
            others = [group for group in first if group["clause"] not in named]
            is_named = any(group["clause"] == defect["clause"] for group in first)
            good = result["exit"] == 1 and is_named and not others
            wrong += not good
            print(f"{'ok ' if good else 'NOT'} {defect['number']:>2} {defect['name']:<22} {cases} cases: "
                  f"{blamed or 'nothing'}; fails {' '.join(levels(result)) or 'nothing'}", flush=True)
            for group in others:
                case, finding = group["example"]
                print(f"       {case}, row {finding['row']:#x}, packet {finding['packet']}: {group['clause']} "
                      f"`{group['field']}`: expected {finding['expected']}, got {finding['got']}", flush=True)
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
