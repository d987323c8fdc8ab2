#!/usr/bin/env python3
"""The stream matrix: runs `evermargin run` with different label sources on the same streams.

usage: research/streams/matrix.py prepare FOLDER [--draws N] [--only WORD]
       research/streams/matrix.py run FOLDER RESULTS.jsonl --program EVERMARGIN [--draws N] [--jobs N] [--only WORD]
                                  [--half decide|report] [--variant NAME=FLAGS ...]
       research/streams/matrix.py report RESULTS.jsonl

`prepare` writes the streams as LIBSVM text and needs numpy, scipy and scikit-learn; `run` needs only Python. A stopped run can
be resumed: results in RESULTS.jsonl are not computed again. For streams whose labels are in the first batch, accuracy is measured
on all later rows, labeled on arrival; for streams with queries it is prequential.
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

VARIANTS = {
    "default": [],
    "labels alone": ["--label-source", "model", "--c-inferred", "0"],
    "transduction": ["--label-source", "transduction"],
    "graph": ["--label-source", "graph"],
}


def prepare(folder: Path, draws: int, only: str | None) -> None:
    import numpy as np
    import scipy.sparse as sp

    import streams

    folder.mkdir(parents=True, exist_ok=True)
    plans = []
    for number, stream in enumerate(streams.ALL):
        plans.append({"name": stream.name, "batch": stream.batch, "queries": stream.queries, "labels": stream.labels,
                      "half": streams.half(stream), "number": number})
        if only and only not in stream.name:
            continue
        x, y = None, None
        for d in range(draws if stream.shuffled else 1):
            path = folder / f"{number}-{d}"
            if path.with_suffix(".truth").exists():
                continue
            if x is None:
                x, y = stream.load()
                x = sp.csr_matrix(x) if sp.issparse(x) else np.asarray(x, float)
            rows, classes, labeled, rest, rest_classes = streams.draw(stream, x, y, d)
            if len(rest_classes):
                write(path.with_suffix(".test.svm"), rest, rest_classes, np.ones(len(rest_classes), bool))
            write(path.with_suffix(".svm"), rows, classes, labeled if stream.labels else np.ones(len(classes), bool))
            path.with_suffix(".truth").write_text("".join(f"{c}\n" for c in classes))
            print(path.name, stream.name, rows.shape)
    (folder / "plans.json").write_text(json.dumps(plans))


def write(path: Path, rows, classes, labeled) -> None:
    import scipy.sparse as sp

    # embeddings are stored as float16
    digits = 4 if not sp.issparse(rows) and rows.shape[1] > 300 else 7
    with open(path, "w") as out:
        for i in range(rows.shape[0]):
            row = rows[i] if not sp.issparse(rows) else None
            if row is None:
                lo, hi = rows.indptr[i], rows.indptr[i + 1]
                cells = sorted(zip(rows.indices[lo:hi], rows.data[lo:hi]))
            else:
                cells = [(j, v) for j, v in enumerate(row) if v != 0]
            label = f"c{classes[i]}" if labeled[i] else "?"
            out.write(label + "".join(f" {j + 1}:{v:.{digits}g}" for j, v in cells) + "\n")


def run_one(program: str, folder: Path, plan: dict, draw: int, variant: str, flags: list[str]) -> dict:
    path = folder / f"{plan['number']}-{draw}.svm"
    truth = path.with_suffix(".truth").read_text().split()
    words = [program, "run", str(path), "--batch", str(plan["batch"]), "--threads", "1", "--quiet", "--json", *flags]
    with tempfile.TemporaryDirectory() as work:
        out = Path(work) / "labels.tsv"
        if plan["queries"]:
            words += ["--queries-per-batch", str(plan["queries"])]
        test = path.with_suffix(".test.svm")
        if test.exists():
            model = Path(work) / "model.evm"
            words += ["--model", str(model)]
        if not plan["queries"]:
            words += ["--oracle", "none", "--strategy", "none", "-o", str(out)]
        done = subprocess.run(words, capture_output=True, text=True)
        if done.returncode:
            return {"error": done.stderr[-500:]}
        answer = json.loads(done.stdout)
        result = {"seconds": answer["seconds"], "sources": answer.get("label_sources"), "drifts": answer["drifts"]}
        for key in ("kappa", "kappa_t", "selection_share", "labels_spent"):
            result[key] = answer.get(key)
        if test.exists() and model.exists():
            predicted = [program, "predict", str(model), str(test), "--threads", "1", "--quiet", "--json"]
            done = subprocess.run(predicted, capture_output=True, text=True)
            if not done.returncode:
                result["model_accuracy"] = json.loads(done.stdout)["accuracy"]
        if plan["queries"]:
            result["accuracy"] = answer["prequential_accuracy"]
        else:
            lines = [line.split("\t") for line in out.read_text().splitlines()]
            column = lines[0].index("label") if "label" in lines[0] else 1
            labels = [line[column] for line in lines if line[0] != "row"]
            scored = range(plan["batch"], len(truth))
            result["accuracy"] = sum(labels[i] == f"c{truth[i]}" for i in scored) / len(scored)
    return result


def run(args) -> None:
    folder, results = Path(args.folder), Path(args.results)
    plans = json.loads((folder / "plans.json").read_text())
    variants = dict(VARIANTS)
    if args.variant:
        variants = {name: shlex.split(flags) for name, flags in (text.split("=", 1) for text in args.variant)}
    done = set()
    if results.exists():
        done = {tuple(json.loads(line)["key"]) for line in results.read_text().splitlines()}
    tasks = []
    for plan in plans:
        if (args.only and args.only not in plan["name"]) or (args.half and plan["half"] != args.half):
            continue
        for draw in range(args.draws):
            if not (folder / f"{plan['number']}-{draw}.svm").exists():
                continue
            for variant, flags in variants.items():
                key = (variant, plan["name"], draw)
                if key not in done:
                    tasks.append((key, plan, draw, variant, flags))

    def work(task):
        key, plan, draw, variant, flags = task
        return {"key": key, "half": plan["half"], **run_one(args.program, folder, plan, draw, variant, flags)}

    with open(results, "a") as out, ThreadPoolExecutor(args.jobs) as pool:
        for result in pool.map(work, tasks):
            out.write(json.dumps(result) + "\n")
            out.flush()
    report(results)


def report(results: Path) -> None:
    table: dict[str, dict[str, list[float]]] = {}
    halves, seconds, models = {}, {}, {}
    for line in results.read_text().splitlines():
        result = json.loads(line)
        variant, stream, _ = result["key"]
        if "error" in result:
            print(f"failed: {variant}, {stream}: {result['error']}", file=sys.stderr)
            continue
        table.setdefault(stream, {}).setdefault(variant, []).append(100 * result["accuracy"])
        seconds.setdefault(stream, {}).setdefault(variant, []).append(result["seconds"])
        halves[stream] = result["half"]
        if "model_accuracy" in result:
            models.setdefault(stream, {}).setdefault(variant, []).append(100 * result["model_accuracy"])
    variants = list(dict.fromkeys(v for row in table.values() for v in row))
    print("| stream | half | " + " | ".join(variants) + " |")
    print("| --- | --- |" + " ---: |" * len(variants))
    mean = lambda values: sum(values) / len(values) if values else float("nan")
    for stream, row in table.items():
        unseen = lambda v: f", model {mean(models[stream][v]):.1f}" if v in models.get(stream, {}) else ""
        cells = [f"{mean(row[v]):.1f} ({mean(seconds[stream][v]):.1f} s{unseen(v)})" if v in row else "" for v in variants]
        print(f"| {stream} | {halves[stream]} | " + " | ".join(cells) + " |")
    for half in ("decide", "report"):
        for kind in ("labels", "queries"):
            rows = [row for s, row in table.items() if halves[s] == half and kind in s and all(v in row for v in variants)]
            if rows:
                cells = [f"{mean([mean(row[v]) for row in rows]):.2f}" for v in variants]
                print(f"| mean, {kind} | {half} | " + " | ".join(cells) + " |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("verb", choices=["prepare", "run", "report"])
    parser.add_argument("folder")
    parser.add_argument("results", nargs="?")
    parser.add_argument("--program", default="evermargin")
    parser.add_argument("--draws", type=int, default=3)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--only")
    parser.add_argument("--half", choices=["decide", "report"])
    parser.add_argument("--variant", action="append")
    args = parser.parse_args()
    if args.verb == "prepare":
        prepare(Path(args.folder), args.draws, args.only)
    elif args.verb == "run":
        run(args)
    else:
        report(Path(args.folder))


if __name__ == "__main__":
    main()
