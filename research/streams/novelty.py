#!/usr/bin/env python3
"""Measures the novelty alarm (`evermargin run --novelty true`): false alarms, cost, and gain if a class appears late.

usage: research/streams/novelty.py EVERMARGIN FOLDER [--seeds N]

EVERMARGIN is the built program. FOLDER contains the streams that `research/streams/matrix.py prepare` wrote with one draw; further
streams are written to it. Prints one line per stream and seed without a new class (alarms, accuracy and CPU seconds without and
with the alarm), then one line per stream, class and seed in which the class is absent from the first half. Needs numpy.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "few_labels"))
import sets

#: Prepared streams without a new class: number in the matrix, maximum number of rows, batch, queries per batch.
PREPARED = {
    "SEA": (21, 20000, 500, 10),
    "Electricity": (20, 20000, 500, 10),
    "KDD-99": (27, 20000, 500, 5),
    "comp-rec": (23, 20000, 200, 5),
    "Mushrooms": (26, 20000, 200, 5),
}

GROUPS = ["comp.graphics", "rec.autos", "sci.space", "talk.politics.mideast", "soc.religion.christian", "misc.forsale"]

ATTACKS = ["satan.", "ipsweep.", "back.", "warezclient.", "neptune."]


def write(path: Path, x, y) -> None:
    with open(path, "w") as out:
        for row, c in zip(x, y):
            out.write(f"c{c}" + "".join(f" {j + 1}:{v:.4g}" for j, v in enumerate(row) if v != 0) + "\n")


def embeddings(groups=None):
    x, y = sets._embedding("20news")
    if groups:
        keep = np.isin(y, groups)
        x, y = x[keep], y[keep]
    return x, np.unique(y, return_inverse=True)[1]


def usps():
    table = np.array([line.split() for line in sets._text("images/zip.train.xz").splitlines()], float)
    return table[:, 1:], table[:, 0].astype(int)


def late(y, new, seed: int):
    """An order of the rows: half of the other classes first, then the other half mixed with half of the rows of the new class."""
    rng = np.random.default_rng(seed)
    order = rng.permutation(len(y))
    old, late_rows = order[y[order] != new], order[y[order] == new]
    half = len(old) // 2
    rest = rng.permutation(np.concatenate([old[half:], late_rows[: len(late_rows) // 2]]))
    return np.concatenate([old[:half], rest]), half


def run(program: str, path: Path, batch: int, queries: int, seed: int, novelty: bool, *flags: str):
    """Result of the command, CPU seconds, and the lines of the label file."""
    labels = path.parent / "labels.tsv"
    words = [program, "run", str(path), "--batch", str(batch), "--queries-per-batch", str(queries), "--seed", str(seed),
             "--threads", "1", "--quiet", "--json", "-o", str(labels), "--novelty", str(novelty).lower(), *flags]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    answer = json.loads(subprocess.run(words, capture_output=True, text=True, check=True).stdout)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
    return answer, cpu, [line.split("\t") for line in labels.read_text().splitlines()]


def false_alarms(program, name, path, batch, queries, seed):
    (off, cpu_off, _), (on, cpu_on, _) = (run(program, path, batch, queries, seed, n) for n in (False, True))
    print(f"{name}, seed {seed}: {on['novelty_alarms']} alarms in {on['batches']} batches, accuracy "
          f"{off['prequential_accuracy']:.4f} {on['prequential_accuracy']:.4f}, CPU s {cpu_off:.2f} {cpu_on:.2f}", flush=True)


def gain(program, name, path, batch, queries, seed, truth, new, half, *flags):
    for novelty in (False, True):
        answer, cpu, lines = run(program, path, batch, queries, seed, novelty, *flags)
        head, rows = lines[0], lines[1:]
        label, source = head.index("label"), head.index("source")
        own = [i for i in range(len(rows)) if truth[i] == new]
        asked = [i for i in own if rows[i][source] == "given"]
        left = [i for i in own if rows[i][source] != "given"]
        recall = sum(rows[i][label] == new for i in left) / max(1, len(left))
        first = (asked[0] - half) // batch if asked else None
        print(f"{name}, class {new}, seed {seed}, novelty {novelty}: first queried after {first} batches, {len(asked)} queries, "
              f"recall {recall:.4f}, accuracy {answer['prequential_accuracy']:.4f}, {answer['novelty_alarms']} alarms, "
              f"CPU s {cpu:.2f}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--seeds", type=int, default=3)
    args = parser.parse_args()
    work = args.folder / "novelty"
    work.mkdir(exist_ok=True)
    seeds = range(1, args.seeds + 1)
    plain = []
    for name, (number, rows, batch, queries) in PREPARED.items():
        path = work / f"{number}.svm"
        lines = (args.folder / f"{number}-0.svm").read_text().splitlines(keepends=True)
        path.write_text("".join(lines[:rows]))
        plain.append((name, path, batch, queries))
    for name, (x, y), batch, queries in [("20news", embeddings(), 500, 10), ("USPS", usps(), 200, 10)]:
        path, order = work / f"{name}.svm", np.random.default_rng(1).permutation(len(y))
        write(path, x[order], y[order])
        plain.append((name, path, batch, queries))
    for stream in plain:
        for seed in seeds:
            false_alarms(args.program, *stream, seed)
    for name, (x, y), classes in [("USPS", usps(), (0, 1, 4, 8)), ("newsgroups", embeddings(GROUPS), (0, 1, 4, 5))]:
        for new in classes:
            for seed in seeds:
                order, half = late(y, new, seed)
                path = work / "late.svm"
                write(path, x[order], y[order])
                gain(args.program, name, path, 200, 5, seed, [f"c{c}" for c in y[order]], f"c{new}", half)
    lines = sets._text("kdd99/kddcup.data_10_percent.xz").splitlines()
    kinds = np.array([line.rsplit(",", 1)[1] for line in lines])
    for new in ATTACKS:
        for seed in seeds:
            rng = np.random.default_rng(seed)
            old = rng.permutation(np.flatnonzero(kinds != new))[:20000]
            late_rows = rng.permutation(np.flatnonzero(kinds == new))[:300]
            order = np.concatenate([old[:10000], rng.permutation(np.concatenate([old[10000:], late_rows]))])
            path = work / "late.csv"
            path.write_text("\n".join(lines[i] for i in order) + "\n")
            gain(args.program, "KDD-99", path, 500, 5, seed, kinds[order], new, 10000, "--header", "no")


if __name__ == "__main__":
    main()
