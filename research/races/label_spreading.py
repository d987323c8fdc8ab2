#!/usr/bin/env python3
"""`lapsvm` beside scikit-learn's LabelSpreading, tuned, and SVC on the labels alone: the same rows, the same labels.

usage: research/races/.venv/bin/python research/races/label_spreading.py EVERMARGIN [--data DIR] [--draws 5]

EVERMARGIN is the built program, which runs with its defaults. LabelSpreading (knn) has the number of neighbors and alpha that are best on
the very rows it is scored on, mean of the draws; SVC the better of three C. Two moons of 10,000 rows with 10 labels, USPS even/odd of
9,298 with 100. CPU seconds of one thread; those of LabelSpreading are one fit with its graph.
"""

import argparse
import json
import os
import resource
import subprocess
import tempfile
import time
import warnings
from pathlib import Path

os.environ.update(OPENBLAS_NUM_THREADS="1", OMP_NUM_THREADS="1")

import numpy as np
from prepare import FILES, usps
from sklearn.neighbors import kneighbors_graph
from sklearn.semi_supervised import LabelSpreading
from sklearn.svm import SVC

NEIGHBORS, ALPHAS = (3, 5, 7, 10, 20), (0.1, 0.2, 0.5, 0.8, 0.95, 0.99)


def moons(program, work):
    subprocess.run([program, "generate", "two-moons", "--rows", "10000", "--seed", "1", "-q", "-o", work / "moons.csv"], check=True)
    table = np.genfromtxt(work / "moons.csv", delimiter=",", skip_header=1, dtype=str)
    return table[:, :-1].astype(float), np.where(table[:, -1] == table[0, -1], 1, 0), 10


def digits(data):
    parts = usps([data / f for f in FILES["usps"]], True)
    return np.vstack([x for x, _ in parts]), np.concatenate([(y + 1) // 2 for _, y in parts]), 100


def drawn(y, labels, draws):
    """Rows with a label, some of each class."""
    rng, found = np.random.default_rng(1), []
    while len(found) < draws:
        rows = np.sort(rng.choice(len(y), labels, replace=False))
        if 0 < y[rows].sum() < labels:
            found.append(rows)
    return found


def used(who):
    usage = resource.getrusage(who)
    return usage.ru_utime + usage.ru_stime


def ours(program, x, y, draws, work):
    np.savetxt(work / "data.csv", np.column_stack([x, y]), delimiter=",", fmt=["%.7g"] * x.shape[1] + ["%d"])
    right, seconds = [], []
    for rows in draws:
        (work / "rows.txt").write_text(" ".join(str(i + 1) for i in rows))
        start = used(resource.RUSAGE_CHILDREN)
        out = subprocess.run(
            [program, "label", work / "data.csv", "--labeled-rows", work / "rows.txt", "--learner", "lapsvm", "--no-compare", "--json",
             "-q", "--threads", "1"], check=True, capture_output=True, text=True).stdout
        seconds.append(used(resource.RUSAGE_CHILDREN) - start)
        right.append(json.loads(out.strip().splitlines()[-1])["transductive_accuracy"])
    return np.mean(right), np.median(seconds)


def scored(model, x, y, rows):
    open_rows = np.setdiff1d(np.arange(len(y)), rows)
    return np.mean(model(x, rows, open_rows) == y[open_rows])


def spreading(x, y, draws):
    best = (0, None)
    for k in NEIGHBORS:
        graph = kneighbors_graph(x, k, include_self=True)
        for alpha in ALPHAS:
            def model(x, rows, open_rows):
                known = np.full(len(y), -1)
                known[rows] = y[rows]
                return LabelSpreading(kernel=lambda a, b: graph, alpha=alpha, max_iter=1000).fit(x, known).transduction_[open_rows]
            best = max(best, (np.mean([scored(model, x, y, rows) for rows in draws]), (k, alpha)))
    right, (k, alpha) = best
    known = np.full(len(y), -1)
    known[draws[0]] = y[draws[0]]
    start = time.process_time()
    LabelSpreading(kernel="knn", n_neighbors=k, alpha=alpha, max_iter=1000).fit(x, known)
    return right, time.process_time() - start, f"{k} neighbors, alpha {alpha}"


def supervised(x, y, draws):
    def mean(c):
        model = lambda x, rows, open_rows: SVC(C=c).fit(x[rows], y[rows]).predict(x[open_rows])
        return np.mean([scored(model, x, y, rows) for rows in draws])
    return max((mean(c), f"C {c}") for c in (1, 10, 100))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program", type=Path)
    parser.add_argument("--data", type=Path, default=Path(os.environ.get("EVERMARGIN_DATA", "../shared/data")))
    parser.add_argument("--draws", type=int, default=5)
    args = parser.parse_args()
    warnings.filterwarnings("ignore")
    print("| data | lapsvm, defaults | CPU s | LabelSpreading, tuned | CPU s | SVC on the labels |\n|---|--:|--:|--:|--:|--:|")
    with tempfile.TemporaryDirectory() as work:
        work = Path(work)
        for name, (x, y, labels) in (("two moons 10,000", moons(args.program, work)), ("USPS even/odd 9,298", digits(args.data))):
            draws = drawn(y, labels, args.draws)
            right, seconds = ours(args.program, x, y, draws, work)
            theirs, their_seconds, how = spreading(x, y, draws)
            alone, c = supervised(x, y, draws)
            print(f"| {name}, {labels} labels | {100 * right:.2f} | {seconds:.2f} | {100 * theirs:.2f} ({how}) | {their_seconds:.2f} | "
                  f"{100 * alone:.2f} ({c}) |", flush=True)


if __name__ == "__main__":
    main()
