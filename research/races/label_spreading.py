#!/usr/bin/env python3
"""Compares `lapsvm` with a tuned LabelSpreading and a supervised SVC of scikit-learn on the same rows and labels.

usage: research/races/.venv/bin/python research/races/label_spreading.py EVERMARGIN [--data DIR] [--draws 5]

EVERMARGIN is the built program, which runs with its defaults. LabelSpreading (knn) uses the number of neighbors and alpha with the best
mean accuracy over the draws on the rows on which it is scored; SVC uses the best of three values of C in the same way. The data sets are
two moons with 10,000 rows and 10 labels, and USPS even/odd with 9,298 rows and 100 labels. Times are CPU seconds of one thread; that of
LabelSpreading is one fit including its graph.
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


def label_draws(y, labels, draws):
    """Sets of labeled rows; each contains both classes."""
    rng, found = np.random.default_rng(1), []
    while len(found) < draws:
        rows = np.sort(rng.choice(len(y), labels, replace=False))
        if 0 < y[rows].sum() < labels:
            found.append(rows)
    return found


def cpu_seconds(who):
    usage = resource.getrusage(who)
    return usage.ru_utime + usage.ru_stime


def ours(program, x, y, draws, work):
    np.savetxt(work / "data.csv", np.column_stack([x, y]), delimiter=",", fmt=["%.7g"] * x.shape[1] + ["%d"])
    right, seconds = [], []
    for rows in draws:
        (work / "rows.txt").write_text(" ".join(str(i + 1) for i in rows))
        start = cpu_seconds(resource.RUSAGE_CHILDREN)
        out = subprocess.run(
            [program, "label", work / "data.csv", "--labeled-rows", work / "rows.txt", "--learner", "lapsvm", "--no-compare", "--json",
             "-q", "--threads", "1"], check=True, capture_output=True, text=True).stdout
        seconds.append(cpu_seconds(resource.RUSAGE_CHILDREN) - start)
        right.append(json.loads(out.strip().splitlines()[-1])["transductive_accuracy"])
    return np.mean(right), np.median(seconds)


def scored(model, x, y, rows):
    unlabeled = np.setdiff1d(np.arange(len(y)), rows)
    return np.mean(model(x, rows, unlabeled) == y[unlabeled])


def spreading(x, y, draws):
    best = (0, None)
    for k in NEIGHBORS:
        graph = kneighbors_graph(x, k, include_self=True)
        for alpha in ALPHAS:
            def model(x, rows, unlabeled, graph=graph, alpha=alpha):
                known = np.full(len(y), -1)
                known[rows] = y[rows]
                return LabelSpreading(kernel=lambda a, b: graph, alpha=alpha, max_iter=1000).fit(x, known).transduction_[unlabeled]
            best = max(best, (np.mean([scored(model, x, y, rows) for rows in draws]), (k, alpha)))
    right, (k, alpha) = best
    known = np.full(len(y), -1)
    known[draws[0]] = y[draws[0]]
    start = time.process_time()
    LabelSpreading(kernel="knn", n_neighbors=k, alpha=alpha, max_iter=1000).fit(x, known)
    return right, time.process_time() - start, f"{k} neighbors, alpha {alpha}"


def supervised(x, y, draws):
    def mean(c):
        def model(x, rows, unlabeled):
            return SVC(C=c).fit(x[rows], y[rows]).predict(x[unlabeled])

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
            draws = label_draws(y, labels, args.draws)
            right, seconds = ours(args.program, x, y, draws, work)
            theirs, their_seconds, settings = spreading(x, y, draws)
            labels_only, c = supervised(x, y, draws)
            print(f"| {name}, {labels} labels | {100 * right:.2f} | {seconds:.2f} | {100 * theirs:.2f} ({settings}) | {their_seconds:.2f} | "
                  f"{100 * labels_only:.2f} ({c}) |", flush=True)


if __name__ == "__main__":
    main()
