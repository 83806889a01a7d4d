#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs a benchmark with JSON output and checks what it printed: every row right, in place and not, and
sizes, counts and bandwidths as nccl-tests counts them.

    run_and_check.py COLLECTIVE RANKS ROWS COMMAND...      e.g. all_gather 3 6 all_gather_perf --ranks 3 ...
"""

import json
import subprocess
import sys

BYTES = {"int8": 1, "uint8": 1, "int32": 4, "uint32": 4, "int64": 8, "uint64": 8, "half": 2, "float": 4,
         "double": 8, "bfloat16": 2, "f8e4m3": 1, "f8e5m2": 1}
SECTIONED = {"all_gather", "reduce_scatter", "gather", "scatter", "alltoall", "alltoallv"}
REDUCING = {"all_reduce", "reduce", "reduce_scatter"}
ROOTED = {"reduce", "broadcast", "gather", "scatter"}
OUT_OF_PLACE_ONLY = {"alltoallv", "sendrecv", "barrier"}


def bus_factor(collective, ranks):
    if collective == "all_reduce":
        return 2 * (ranks - 1) / ranks
    return (ranks - 1) / ranks if collective in SECTIONED else 1


def near(value, expected):
    return abs(value - expected) <= 1e-9 * max(abs(value), abs(expected))


def side_faults(row, side, factor):
    if side["nwrong"] != 0:
        yield f"{side['nwrong']} wrong values"
    if not near(side["alg_bw"], row["size"] / side["time"] / 1e3):
        yield "alg_bw is not size over time"
    if not near(side["bus_bw"], side["alg_bw"] * factor):
        yield f"bus_bw is not alg_bw times {factor}"


def row_faults(row, collective, ranks, in_place):
    sections = ranks if collective in SECTIONED else 1
    if row["count"] * sections * BYTES[row["type"]] != row["size"]:
        yield "size is not that of the larger buffer"
    if (row["redop"] != "none") != (collective in REDUCING):
        yield "redop"
    if (row["root"] != -1) != (collective in ROOTED):
        yield "root"
    sides = ["out_of_place", "in_place"] if in_place else ["out_of_place"]
    if [key for key in ("out_of_place", "in_place") if key in row] != sides:
        yield f"not the sides {sides}"
        return
    for side in sides:
        for fault in side_faults(row, row[side], bus_factor(collective, ranks)):
            yield f"{side}: {fault}"


def document_faults(document, collective, ranks, rows):
    if document["program"] != collective + "_perf" or document["nranks"] != ranks:
        yield "program or nranks"
    results = document["results"]
    if len(results) != rows:
        yield f"{len(results)} rows, not {rows}"
    # MPI_Reduce_scatter_block has another form in place than NCCL.
    only_out = collective in OUT_OF_PLACE_ONLY or (
        collective == "reduce_scatter" and not document["library"].startswith("Gyre"))
    for row in results:
        for fault in row_faults(row, collective, ranks, not only_out):
            yield f"{row['size']} B, {row['type']}, {row['redop']}, root {row['root']}: {fault}"
    roots = {row["root"] for row in results}
    if collective in ROOTED and roots != set(range(ranks)):
        yield f"roots {roots}"


def main():
    collective, ranks, rows = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    run = subprocess.run(sys.argv[4:] + ["--json"], stdout=subprocess.PIPE, text=True)
    if run.returncode != 0:
        print(run.stdout)
        print(f"exit status {run.returncode}")
        return 1
    document = json.loads(run.stdout[run.stdout.index("{"):])
    faults = list(document_faults(document, collective, ranks, rows))
    for fault in faults:
        print(fault)
    print(f"{len(document['results'])} rows, {len(faults)} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
