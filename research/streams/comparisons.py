#!/usr/bin/env python3
"""Compares pairwise queries with class queries on streams with many classes.

usage: research/streams/comparisons.py EVERMARGIN [--work DIR] [--seeds 3] [--rows 6000]

EVERMARGIN is the built program; the labels of the data answer (`run --oracle truth`). The streams are the embeddings of 20
Newsgroups with 20 classes and, by the first part of the group name, with 7. A class query costs one answer, and log2(classes) bits if
a person chooses the class by yes-no questions; a comparison costs one answer and one bit.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "few_labels"))
import sets

#: Queries per batch, mode, share of the classes that the person can name.
RUNS = [
    (10, "on-request", 1.0),
    (10, "always", 1.0),
    (20, "always", 1.0),
    (40, "always", 1.0),
    (10, "on-request", 0.5),
    (10, "after-skip", 0.5),
    (10, "on-request", 0.2),
    (10, "after-skip", 0.2),
]


def write(path: Path, seed: int, rows: int, top: bool) -> int:
    x, y = sets._embedding("20news")
    y = np.array([name.split(".")[0] for name in y]) if top else y
    order = np.random.default_rng(100 + seed).permutation(len(y))[:rows]
    with open(path, "w") as file:
        print(*[f"v{i}" for i in range(x.shape[1])], "class", sep=",", file=file)
        for i in order:
            print(*[f"{v:.5g}" for v in x[i]], y[i], sep=",", file=file)
    return len(np.unique(y))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--work", type=Path, default=Path(tempfile.gettempdir()))
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--rows", type=int, default=6000)
    parser.add_argument("--options", nargs="*", default=[])
    args = parser.parse_args()
    for top in (False, True):
        results = {}
        for seed in range(1, args.seeds + 1):
            data = args.work / f"comparisons-{seed}-{'top' if top else 'all'}.csv"
            classes = write(data, seed, args.rows, top)
            for queries, mode, named in RUNS:
                state = args.work / f"comparisons-{seed}-{queries}-{mode}-{named}-{top}"
                subprocess.run(["rm", "-rf", str(state)], check=True)
                command = [args.program, "run", str(data), "--label", "class", "--batch", "200", "--json", "--seed", str(seed),
                           "--queries-per-batch", str(queries), "--pairwise-queries", mode, "--label-rate", str(named),
                           "--state", str(state), *args.options]
                result = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
                count = answers(state)
                bits = count["answer"] * np.log2(classes) + count["related"]
                results.setdefault((queries, mode, named), []).append(
                    [result["labels_spent"], count["answer"], count["related"], bits,
                     100 * result["prequential_accuracy"], 100 * result["prequential_accuracy_last_half"]])
        print(f"{classes} classes, {args.rows} rows, {args.seeds} seeds")
        print("per batch  mode        named  queries  classes  comparisons   bits  accuracy  last half")
        for (queries, mode, named), found in results.items():
            m = np.mean(found, axis=0)
            print(f"{queries:9}  {mode:10}  {named:5}  {m[0]:7.0f}  {m[1]:7.0f}  {m[2]:11.0f}  {m[3]:5.0f}  {m[4]:8.1f}  {m[5]:9.1f}",
                  flush=True)


def answers(state: Path) -> dict[str, int]:
    import sqlite3

    with sqlite3.connect(state / "events.db") as events:
        found = dict(events.execute("select kind, count(*) from events group by kind"))
    return {kind: found.get(kind, 0) for kind in ("answer", "related")}


if __name__ == "__main__":
    main()
