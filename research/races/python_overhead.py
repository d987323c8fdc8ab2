"""Overhead of Python: the time of SVC.fit on USPS compared with the training seconds that the command line prints.

    python research/races/python_overhead.py target/release/evermargin
"""

import json
import lzma
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

import evermargin

data = Path(os.environ.get("EVERMARGIN_DATA", Path(__file__).resolve().parents[3] / "shared" / "data"))
with lzma.open(data / "images" / "zip.train.xz", "rt") as file:
    table = np.loadtxt(file)
X, y = np.ascontiguousarray(table[:, 1:]), table[:, 0].astype(int)


def by_python():
    started = time.perf_counter()
    evermargin.SVC(C=10, gamma=1 / 128).fit(X, y)
    return time.perf_counter() - started


with tempfile.TemporaryDirectory() as folder:
    np.save(f"{folder}/x.npy", X)
    np.save(f"{folder}/y.npy", y)
    command = [sys.argv[1], "fit", f"{folder}/x.npy", "--labels", f"{folder}/y.npy", "-o", f"{folder}/m.evm"]
    command += ["--c", "10", "--gamma", "0.0078125", "--scale", "none", "--json"]

    def by_command_line():
        return json.loads(subprocess.run(command, check=True, capture_output=True).stdout)["seconds"]

    pairs = [(by_python(), by_command_line()) for _ in range(7)]  # alternate, so that changes of the load affect both

python, rust = (min(times) for times in zip(*pairs))
print(f"{X.shape[0]} rows: SVC.fit {python:.3f} s, command line {rust:.3f} s of training: {python / rust - 1:+.1%}")
Z = np.random.RandomState(0).rand(10_000, 784)
model = evermargin.SVC().fit(Z[:2000], (Z[:2000, 0] > 0.5).astype(int))
started = time.perf_counter()
model.predict(Z)
print(f"predict 10,000 x 784, {len(model.support_vectors_)} support vectors: {time.perf_counter() - started:.3f} s")
