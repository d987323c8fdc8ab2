#!/usr/bin/env python3
"""Number of labels needed by `evermargin run`, by random queries, and by margin sampling of scikit-activeml with SVC.

usage: research/races/label_efficiency.py EVERMARGIN [mnist news adult ibm-mac] [--data DIR] [--work DIR] [--seeds 3] [--peer]
                                          [--budgets N ...] [--strategies NAME ...] [--flags "FLAGS OF RUN"]

EVERMARGIN is the built program. The streams are the training parts, in random order, of MNIST even/odd, 20 Newsgroups comp/rec,
Adult, and sentence embeddings of the two hardware groups of 20 Newsgroups. The final model of each stream is scored on the test
part. The target is A0 + 0.95 (A1 - A0), where A0 is the share of the larger class and A1 the accuracy of a model trained on all
labels. --peer needs numpy, scikit-learn and scikit-activeml, which gets a pool of 5,000 rows and one label at a time; its CPU
seconds exclude scoring.
"""
import argparse
import json
import lzma
import os
import random
import resource
import struct
import subprocess
import sys
import tarfile
import time

BUDGETS = [20, 50, 100, 200, 300, 400, 600, 800, 1200, 1600, 2400, 3200, 4800, 6400, 9600, 12800]
RUN = {
    "mnist": ["--batch", "500"],
    "news": ["--text", "text", "--label", "label", "--batch", "200"],
    "adult": ["--batch", "500"],
    "ibm-mac": ["--batch", "100"],
}
BATCHES = {"mnist": 120, "news": 26, "adult": 65, "ibm-mac": 12}
ALL = {
    "mnist": ["--learner", "svc", "--c", "3"],
    "news": ["--text", "text", "--label", "label", "--learner", "linear", "--scale", "none"],
    "adult": ["--learner", "svc", "--c", "1"],
    "ibm-mac": ["--learner", "svc", "--c", "3"],
}


def idx(path):
    with lzma.open(path) as file:
        raw = file.read()
    dims = struct.unpack(">" + "I" * raw[3], raw[4 : 4 + 4 * raw[3]])
    return raw[4 + 4 * raw[3] :], dims


def write(path, lines):
    random.Random(1).shuffle(lines)
    with open(path, "w") as f:
        f.writelines(line + "\n" for line in lines)


def mnist(data, work):
    for part, name in (("train", "train"), ("t10k", "test")):
        x, dims = idx(f"{data}/images/{part}-images-idx3-ubyte.xz")
        y, _ = idx(f"{data}/images/{part}-labels-idx1-ubyte.xz")
        d, lines = dims[1] * dims[2], []
        for i in range(dims[0]):
            row = x[i * d : (i + 1) * d]
            cells = " ".join(f"{j + 1}:{v}" for j, v in enumerate(row) if v)
            lines.append(("even " if y[i] % 2 == 0 else "odd ") + cells)
        write(f"{work}/mnist_{name}.svm", lines)
    return f"{work}/mnist_train.svm", f"{work}/mnist_test.svm"


def news(data, work):
    parts = {"train": [], "test": []}
    with tarfile.open(f"{data}/text/20news-bydate.tar.xz") as tar:
        for member in tar:
            group = member.name.split("/")[-2] if member.isfile() else ""
            kind = group.split(".")[0]
            if kind in ("comp", "rec"):
                text = tar.extractfile(member).read().decode("latin-1")
                part = "test" if "-test" in member.name else "train"
                parts[part].append(json.dumps({"text": text, "label": kind}))
    for part, lines in parts.items():
        write(f"{work}/news_{part}.jsonl", lines)
    return f"{work}/news_train.jsonl", f"{work}/news_test.jsonl"


def adult(data, work):
    for name in ("a9a", "a9a.t"):
        with lzma.open(f"{data}/libsvm/{name}.xz") as file:
            write(f"{work}/{name}.svm", file.read().decode().split("\n")[:-1])
    return f"{work}/a9a.svm", f"{work}/a9a.t.svm"


def ibm_mac(data, work):
    import numpy as np

    rows = np.load(f"{data}/embeddings/20news.minilm.f16.npy").astype(float)
    with lzma.open(f"{data}/embeddings/20news.rows.csv.xz", "rt") as file:
        names = file.read().splitlines()[1:]
    groups = {"comp.sys.ibm.pc.hardware": "ibm", "comp.sys.mac.hardware": "mac"}
    parts = {"train": [], "test": []}
    for name, row in zip(names, rows):
        place, group = name.rsplit(",", 1)
        if group in groups:
            cells = " ".join(f"{j + 1}:{v:.4g}" for j, v in enumerate(row))
            parts["test" if "-test/" in place else "train"].append(f"{groups[group]} {cells}")
    for part, lines in parts.items():
        write(f"{work}/ibm_mac_{part}.svm", lines)
    return f"{work}/ibm_mac_train.svm", f"{work}/ibm_mac_test.svm"


def run_json(program, *words):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    out = subprocess.run([program, *words, "--threads", "1", "--quiet", "--json"], capture_output=True, text=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if out.returncode:
        sys.exit(out.stderr)
    return json.loads(out.stdout), after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def score(program, model, test):
    return run_json(program, "predict", model, test)[0]["accuracy"]


def main():
    parse = argparse.ArgumentParser()
    parse.add_argument("program")
    parse.add_argument("sets", nargs="*", default=[])
    parse.add_argument("--data", default=os.environ.get("EVERMARGIN_DATA", "../shared/data"))
    parse.add_argument("--work", default="/tmp/label-efficiency")
    parse.add_argument("--seeds", type=int, default=3)
    parse.add_argument("--peer", action="store_true")
    parse.add_argument("--budgets", type=int, nargs="+", default=BUDGETS)
    parse.add_argument("--strategies", nargs="+", default=["small-pool", "random"])
    parse.add_argument("--flags", default="", help="additional flags of run")
    args = parse.parse_args()
    os.makedirs(args.work, exist_ok=True)
    for name in args.sets or ["mnist", "news", "adult", "ibm-mac"]:
        train, test = {"mnist": mnist, "news": news, "adult": adult, "ibm-mac": ibm_mac}[name](args.data, args.work)
        model = f"{args.work}/{name}.evm"
        run_json(args.program, "fit", train, "-o", model, *ALL[name])
        full_accuracy = score(args.program, model, test)
        counts = {}
        with open(test) as f:
            for line in f:
                label = json.loads(line)["label"] if line[0] == "{" else line.split(" ", 1)[0]
                counts[label] = counts.get(label, 0) + 1
        majority = max(counts.values()) / sum(counts.values())
        target = majority + 0.95 * (full_accuracy - majority)
        print(f"{name}: larger class {majority:.4f}, all labels {full_accuracy:.4f}, target {target:.4f}", flush=True)
        for strategy in args.strategies:
            for budget in args.budgets:
                found, cpu = [], 0.0
                for seed in range(1, args.seeds + 1):
                    each = max(20, -(-budget // BATCHES[name]))
                    _, seconds = run_json(args.program, "run", train, *RUN[name], "--strategy", strategy, "--budget",
                                          str(budget), "--queries-per-batch", str(each), "--seed", str(seed), "--model", model,
                                          "--max-labels", str(max(4000, budget)), "--max-points", str(max(4000, budget)),
                                          *args.flags.split())
                    cpu += seconds
                    found.append(score(args.program, model, test))
                mean = sum(found) / len(found)
                print(f"  {strategy:10} {budget:5} labels  {mean:.4f}  (lowest {min(found):.4f})  "
                      f"{cpu / args.seeds:.2f} CPU s per run", flush=True)
                if mean >= target:
                    break
        if args.peer:
            peer(name, train, test, target)


def peer(name, train, test, target):
    import numpy as np
    from skactiveml.classifier import SklearnClassifier
    from skactiveml.pool import UncertaintySampling
    from sklearn.datasets import load_svmlight_file
    from sklearn.svm import SVC

    if name == "news":
        print("  scikit-activeml does not accept sparse rows")
        return
    def load(path, rows):
        with open(path) as f:
            lines = [line.replace("even ", "-1 ").replace("odd ", "1 ") for line in f][:rows]
        import io
        x, y = load_svmlight_file(io.BytesIO("".join(lines).encode()), n_features=784 if name == "mnist" else 123)
        return x.toarray() / (255 if name == "mnist" else 1), (y > 0).astype(int)
    x, y = load(train, 5000)
    xt, yt = load(test, None)
    rng = np.random.RandomState(1)
    known = np.full(len(y), np.nan)
    for c in (0, 1):
        known[rng.choice(np.where(y == c)[0], 5, replace=False)] = c
    query, cpu = UncertaintySampling(method="margin_sampling", random_state=1), 0.0
    c = 3 if name == "mnist" else 1
    for n in range(10, 1601):
        start = time.process_time()
        machine = SklearnClassifier(SVC(C=c, probability=True, random_state=0), classes=[0, 1])
        at = query.query(X=x, y=known, clf=machine, batch_size=1)
        cpu += time.process_time() - start
        if n in BUDGETS:
            labeled = np.isfinite(known)
            right = SVC(C=c).fit(x[labeled], y[labeled]).score(xt, yt)
            print(f"  scikit-activeml {n:5} labels  {right:.4f}  {cpu:.1f} CPU s", flush=True)
            if right >= target or cpu > 600:
                break
        known[at] = y[at]


main()
