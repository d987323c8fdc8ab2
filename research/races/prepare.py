"""Prepares the inputs of a race once, in the cache folder. It runs in its own process, so that the process that starts the races
stays small: the measured peak memory of a child includes the image of its parent.

    prepare.py DATA CACHE TASK [text]        prints the folder of the task or `missing: FILE`
"""

import lzma
import shutil
import sys
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from sklearn.datasets import load_svmlight_file

FILES = {
    "usps": ["images/zip.train.xz", "images/zip.test.xz"],
    "usps-raw": ["images/zip.train.xz", "images/zip.test.xz"],
    "mnist10k": ["images/train-images-idx3-ubyte.xz", "images/train-labels-idx1-ubyte.xz",
                 "images/t10k-images-idx3-ubyte.xz", "images/t10k-labels-idx1-ubyte.xz"],
    "a9a": ["libsvm/a9a.xz", "libsvm/a9a.t.xz"],
    "w8a": ["libsvm/w8a.xz", "libsvm/w8a.t.xz"],
    "covtype": ["uci/covtype-sample92962.csv.xz"],
}
FILES["mnist60k"] = FILES["mnist10k"]


def opened(path):
    return lzma.open(path) if path.suffix == ".xz" else open(path, "rb")


def idx(path):
    with opened(path) as file:
        raw = file.read()
    axes = raw[3]
    shape = np.frombuffer(raw, ">u4", axes, 4)
    return np.frombuffer(raw, np.uint8, offset=4 + 4 * axes).reshape(shape[0], -1)


def usps(files, mapped):
    parts = []
    for file in files:
        table = np.loadtxt(opened(file))
        x = (table[:, 1:] + 1) / 2 if mapped else table[:, 1:]
        parts.append((np.ascontiguousarray(x), np.where(table[:, 0] % 2 == 0, 1, -1)))
    return parts


def mnist(files, rows):
    images, labels, test_images, test_labels = (idx(f) for f in files)

    def eight(y):
        return np.where(y[:, 0] == 8, 1, -1)

    return [(images[:rows] / 255.0, eight(labels[:rows])), (test_images / 255.0, eight(test_labels))]


def sparse(files):
    parts = []
    for file in files:
        with opened(file) as text:
            parts.append(load_svmlight_file(text))
    width = max(x.shape[1] for x, _ in parts)
    out = []
    for x, y in parts:
        x.resize((x.shape[0], width))
        x.indices, x.indptr = x.indices.astype(np.int32), x.indptr.astype(np.int32)
        out.append((x, y.astype(int)))
    return out


def covtype(file):
    table = np.loadtxt(opened(file), delimiter=",", skiprows=1)
    table = table[np.isin(table[:, -1], (1, 2))]
    order = np.random.default_rng(0).permutation(len(table))
    train = len(table) * 4 // 5
    x, y = table[order, :-1], np.where(table[order, -1] == 1, 1, -1)
    mean, std = x[:train].mean(0), x[:train].std(0)
    x = (x - mean) / np.where(std > 0, std, 1)
    return [(x[:train], y[:train]), (x[train:], y[train:])]


def write_text(path, x, y, digits="%.6g"):
    """Write rows as LIBSVM text."""
    x = sp.csr_matrix(x)
    with open(path, "w") as out:
        for i, label in enumerate(y):
            span = slice(x.indptr[i], x.indptr[i + 1])
            cells = [f"{k + 1}:{digits % v}" for k, v in zip(x.indices[span], x.data[span])]
            out.write(" ".join([str(label)] + cells) + "\n")


def load_half(folder, half):
    """Rows and labels in the format for peers: dense f64, or CSR with 32-bit indices."""
    y = np.load(folder / f"{half}.y.npy")
    dense = folder / f"{half}.npy"
    return (np.load(dense) if dense.exists() else sp.load_npz(folder / f"{half}.npz")), y


def prepare(data, cache, task):
    """Write training and test rows of one task: `.npy` and labels, or LIBSVM text and `.npz`."""
    files = [data / f for f in FILES[task]]
    missing = [f for f in files if not f.exists()]
    if missing:
        print("missing:", *(f.relative_to(data) for f in missing))
        return None
    folder = cache / task
    if not (folder / "ready").exists():
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        if task.startswith("usps"):
            halves = usps(files, task == "usps")
        elif task.startswith("mnist"):
            halves = mnist(files, 10_000 if task == "mnist10k" else 60_000)
        elif task == "covtype":
            halves = covtype(*files)
        else:
            halves = sparse(files)
        for half, (x, y) in zip(("train", "test"), halves):
            np.save(folder / f"{half}.y.npy", y)
            (folder / f"{half}.y.txt").write_text("".join(f"{v}\n" for v in y))
            if sp.issparse(x):
                sp.save_npz(folder / f"{half}.npz", x)
                write_text(folder / f"{half}.svm", x, y)
            else:
                np.save(folder / f"{half}.npy", x)
        (folder / "ready").touch()
    return folder


def prepare_linear(cache):
    """Split the generated text rows (all.svm) into the first 20,000 for training and the rest for tests."""
    folder = cache / "linear"
    if not (folder / "ready").exists():
        with open(folder / "all.svm") as rows, open(folder / "train.svm", "w") as train, \
                open(folder / "test.svm", "w") as test:
            for i, line in enumerate(rows):
                (train if i < 20_000 else test).write(line)
        width = load_svmlight_file(str(folder / "all.svm"))[0].shape[1]
        for half in ("train", "test"):
            x, y = load_svmlight_file(str(folder / f"{half}.svm"), n_features=width)
            x.indices, x.indptr = x.indices.astype(np.int32), x.indptr.astype(np.int32)
            sp.save_npz(folder / f"{half}.npz", x)
            np.save(folder / f"{half}.y.npy", y.astype(int))
        (folder / "ready").touch()
    return folder


if __name__ == "__main__":
    data, cache, task = Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3]
    folder = prepare_linear(cache) if task == "linear" else prepare(data, cache, task)
    if folder and "text" in sys.argv[4:]:
        for half in ("train", "test"):
            if not (folder / f"{half}.svm").exists():
                unfinished = folder / f"{half}.svm.part"
                write_text(unfinished, *load_half(folder, half))
                unfinished.rename(folder / f"{half}.svm")
    if folder:
        print(folder)
