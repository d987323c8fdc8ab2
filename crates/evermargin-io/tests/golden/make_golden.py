#!/usr/bin/env python3
"""Makes the golden files of golden_libsvm.rs with svm-train and svm-predict of LIBSVM (made with 3.24).

    python3 make_golden.py [EVERMARGIN [DATA]]

EVERMARGIN  the program that generates the small sets (default: evermargin). Existing sets are kept.
DATA        folder of the real sets (default: EVERMARGIN_DATA, or shared/data beside the repository).

Needs numpy, svm-train and svm-predict. Writes generated.json, real.json, and NAME.svm and NAME.EPS.model for
every generated set. Origin of the numbers:
  objective_printed, rho_printed   output of svm-train (six decimals)
  rho, alpha, support              the model file (17 digits)
  objective, decision              computed here in double precision from the model file
  labels                           output of svm-predict
Debian's svm-train reads the numbers of its command line in single precision (a gamma of 0.02 is 0.0199999996 in its
model file), so every parameter here is a short binary fraction, the same number in both precisions.

All pairs have the orientation of LIBSVM: (i, j) in the order in which the classes first occur, positive for i.
"""

import json
import lzma
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parent
EPSILONS = ["1e-6", "1e-3"]

# name: (generate arguments, parameters). Weights are LIBSVM's -wi.
GENERATED = {
    "moons-rbf": ("two-moons --rows 200 --noise 0.25 --seed 11", dict(kernel="rbf", gamma=1.5, c=10)),
    "moons-hard": ("two-moons --rows 160 --noise 0.3 --seed 5", dict(kernel="rbf", gamma=0.5, c=1000)),
    "circles-poly": (
        "circles --rows 160 --noise 0.25 --seed 12",
        dict(kernel="poly", degree=3, gamma=1, coef0=0.5, c=2),
    ),
    "g50c-linear": ("g50c --rows 200 --cols 20 --noise 1 --flip 0.05 --seed 13", dict(kernel="linear", c=0.125)),
    "spirals-weights": (
        "spirals --rows 200 --noise 0.08 --seed 14 --imbalance 0.25",
        dict(kernel="rbf", gamma=4, c=5, weights={"1": 3, "-1": 0.5}),
    ),
    "waveform-rbf": ("waveform --rows 240 --seed 15", dict(kernel="rbf", gamma=0.015625, c=2)),
    "waveform-weights": (
        "waveform --rows 210 --seed 16 --imbalance 0.15",
        dict(kernel="poly", degree=2, gamma=0.0078125, coef0=1, c=0.5, weights={"1": 0.5, "3": 4}),
    ),
    "text-linear": ("text --rows 120 --cols 400 --flip 0.05 --seed 17", dict(kernel="linear", c=2)),
    "g50c-sigmoid": (
        "g50c --rows 180 --cols 10 --noise 1 --seed 19",
        dict(kernel="sigmoid", gamma=0.03125, coef0=-1, c=4),
    ),
}

# file: parameters. The data is used unchanged.
REAL = {
    "heart_scale": dict(kernel="rbf", gamma=0.0625, c=1),
    "ionosphere_scale": dict(kernel="rbf", gamma=0.125, c=5),
    "diabetes": dict(kernel="rbf", gamma=2**-11, c=1),
    "fourclass_scale": dict(kernel="rbf", gamma=8, c=10),
    "german.numer": dict(kernel="rbf", gamma=2**-10, c=2),
    "a1a": dict(kernel="rbf", gamma=0.0625, c=1),
    "w1a": dict(kernel="rbf", gamma=0.0625, c=10, weights={"1": 5}),
    "svmguide1": dict(kernel="rbf", gamma=2**-10, c=2),
}

KERNELS = {"linear": 0, "poly": 1, "rbf": 2, "sigmoid": 3}


def read_svm(text):
    labels, rows = [], []
    for line in text.splitlines():
        words = line.split()
        if words:
            labels.append(words[0])
            rows.append([(int(k), float(v)) for k, v in (w.split(":") for w in words[1:])])
    x = np.zeros((len(rows), max(k for r in rows for k, _ in r)))
    for i, row in enumerate(rows):
        for k, v in row:
            x[i, k - 1] = v
    return labels, x


def write_svm(path, labels, x):
    """Writes six digits per value, which the model file, with eight, keeps exactly."""
    with open(path, "w") as out:
        for label, row in zip(labels, x):
            cells = [f"{k + 1}:{v:.6g}" for k, v in enumerate(row) if v != 0]
            out.write(" ".join([label] + cells) + "\n")


def kernel_matrix(p, a, b):
    dot = a @ b.T
    if p["kernel"] == "linear":
        return dot
    if p["kernel"] == "rbf":
        square = (a * a).sum(1)[:, None] + (b * b).sum(1)[None, :] - 2 * dot
        return np.exp(-p["gamma"] * np.maximum(square, 0))
    if p["kernel"] == "poly":
        return (p["gamma"] * dot + p.get("coef0", 0)) ** p["degree"]
    return np.tanh(p["gamma"] * dot + p.get("coef0", 0))


def arguments(p, epsilon):
    given = [v for k, v in p.items() if k not in ("kernel", "weights")] + list(p.get("weights", {}).values())
    assert all(float(np.float32(v)) == v for v in given), f"{p}: not the same in single precision"
    out = ["-s", "0", "-t", str(KERNELS[p["kernel"]]), "-c", repr(p["c"]), "-e", epsilon, "-m", "200"]
    for flag, key in (("-g", "gamma"), ("-d", "degree"), ("-r", "coef0")):
        if key in p:
            out += [flag, repr(p[key])]
    for label, weight in p.get("weights", {}).items():
        out += [f"-w{label}", repr(weight)]
    return out


def train(data, p, epsilon, model):
    """Trains with svm-train and returns the printed objective and rho of each pair."""
    run = subprocess.run(
        ["svm-train", *arguments(p, epsilon), str(data), str(model)], check=True, capture_output=True, text=True
    )
    found = re.findall(r"obj = (\S+), rho = (\S+)", run.stdout)
    return [float(o) for o, _ in found], [float(r) for _, r in found]


def predict(data, model):
    with tempfile.NamedTemporaryFile("r") as out:
        subprocess.run(["svm-predict", str(data), str(model), out.name], check=True, capture_output=True)
        return out.read().split()


def read_model(path):
    head, body = open(path).read().split("\nSV\n")
    keys = {line.split(" ", 1)[0]: line.split()[1:] for line in head.splitlines()}
    rho = [float(v) for v in keys["rho"]]
    counts = [int(v) for v in keys["nr_sv"]]
    lines = [line.split() for line in body.splitlines() if line.strip()]
    width = len(counts) - 1
    coef = np.array([[float(v) for v in words[:width]] for words in lines])
    cells = [[(int(k), float(v)) for k, v in (w.split(":") for w in words[width:])] for words in lines]
    return keys["label"], counts, rho, coef, cells


def rows_of(labels, x, classes, counts, cells):
    """The row of each support vector: the file holds them class by class, in the order of the data."""
    rows, at = [], 0
    for name, count in zip(classes, counts):
        own = iter([i for i, label in enumerate(labels) if float(label) == float(name)])
        for cell in cells[at : at + count]:
            point = np.zeros(x.shape[1])
            for k, v in cell:
                point[k - 1] = v
            rows.append(next(i for i in own if np.allclose(x[i], point, rtol=1e-7, atol=0)))
        at += count
    return rows


def describe(labels, x, p, printed, model):
    """Solution of each pair in double precision, and the number of support vectors."""
    classes, counts, rho, coef, cells = read_model(model)
    rows = rows_of(labels, x, classes, counts, cells)
    starts = np.cumsum([0] + counts)
    points = x[rows]
    to_all = kernel_matrix(p, x, points)
    within = kernel_matrix(p, points, points)
    pairs, number = [], 0
    for i in range(len(classes)):
        for j in range(i + 1, len(classes)):
            alpha = np.zeros(len(rows))
            alpha[starts[i] : starts[i + 1]] = coef[starts[i] : starts[i + 1], j - 1]
            alpha[starts[j] : starts[j + 1]] = coef[starts[j] : starts[j + 1], i]
            objective = 0.5 * alpha @ within @ alpha - np.abs(alpha).sum()
            used = [k for k in range(len(rows)) if alpha[k] != 0]
            pairs.append(
                dict(
                    positive=classes[i],
                    negative=classes[j],
                    objective_printed=printed[0][number],
                    rho_printed=printed[1][number],
                    objective=objective,
                    rho=rho[number],
                    support=[rows[k] for k in used],
                    alpha=[alpha[k] for k in used],
                    decision=(to_all @ alpha - rho[number]).tolist(),
                )
            )
            number += 1
    return pairs, len(rows)


def generated(program):
    out = []
    for name, (how, p) in GENERATED.items():
        data = HERE / f"{name}.svm"
        if not data.exists():
            with tempfile.TemporaryDirectory() as folder:
                raw = Path(folder) / "raw.svm"
                subprocess.run([program, "generate", *how.split(), "-q", "-o", str(raw)], check=True)
                write_svm(data, *read_svm(raw.read_text()))
        labels, x = read_svm(data.read_text())
        assert len(np.unique(x, axis=0)) == len(x), f"{name}: equal rows"
        for epsilon in EPSILONS:
            model = HERE / f"{name}.{epsilon}.model"
            printed = train(data, p, epsilon, model)
            pairs, support = describe(labels, x, p, printed, model)
            for pair in pairs:
                pair["alpha"] = [float(f"{a:.17g}") for a in pair["alpha"]]
                pair["decision"] = [float(f"{f:.9g}") for f in pair["decision"]]
            case = dict(name=name, data=data.name, epsilon=float(epsilon), params=p, support_count=support)
            case |= dict(labels=predict(data, model), pairs=pairs)
            out.append(case)
            print(f"{name} {epsilon}: {support} support vectors of {len(x)}, "
                  + ", ".join(f"{pair['objective']:.9g}" for pair in pairs))
    write_json(HERE / "generated.json", out)


def real(folder):
    out = []
    for name, p in REAL.items():
        source = folder / "libsvm" / f"{name}.xz"
        if not source.exists():
            print(f"{name}: not found, skipped")
            continue
        with tempfile.TemporaryDirectory() as scratch:
            data, model = Path(scratch) / "data.svm", Path(scratch) / "model"
            data.write_bytes(lzma.decompress(source.read_bytes()))
            labels, x = read_svm(data.read_text())
            for epsilon in EPSILONS:
                printed = train(data, p, epsilon, model)
                (pair,), support = describe(labels, x, p, printed, model)
                del pair["support"]
                alpha = np.array(pair.pop("alpha"))
                pair["decision"] = [float(f"{f:.9g}") for f in pair["decision"][:20]]
                pair["alpha_sum"] = float(np.abs(alpha).sum())
                wrong = sum(float(a) != float(b) for a, b in zip(predict(data, model), labels))
                case = dict(name=name, file=f"libsvm/{name}.xz", rows=len(x), epsilon=float(epsilon), params=p)
                out.append(case | dict(support_count=support, training_errors=wrong, pairs=[pair]))
                print(f"{name} {epsilon}: {support} of {len(x)}, {pair['objective']:.9g}, {wrong} errors")
    write_json(HERE / "real.json", out)


def write_json(path, cases):
    """Writes one case per line, so that differences are easy to find."""
    lines = ",\n".join(json.dumps(c, separators=(",", ":")) for c in cases)
    path.write_text(f"[\n{lines}\n]\n")


if __name__ == "__main__":
    program = sys.argv[1] if len(sys.argv) > 1 else "evermargin"
    beside = HERE.parents[3].parent / "shared" / "data"
    folder = Path(sys.argv[2] if len(sys.argv) > 2 else os.environ.get("EVERMARGIN_DATA", beside))
    generated(program)
    real(folder)
