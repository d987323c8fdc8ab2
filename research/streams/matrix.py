#!/usr/bin/env python3
"""The stream matrix: runs `evermargin run` with different label sources on the same streams.

usage: research/streams/matrix.py prepare FOLDER [--draws N] [--only WORD]
       research/streams/matrix.py run FOLDER RESULTS.jsonl --program EVERMARGIN [--draws N] [--jobs N] [--only WORD]
                                  [--half decide|report] [--variants sources|strategies|memory] [--variant NAME=FLAGS ...]
       research/streams/matrix.py report RESULTS.jsonl [--write]

`prepare` writes the streams as LIBSVM text and needs numpy, scipy and scikit-learn; `run` needs only Python. A stopped run can
be resumed: results in RESULTS.jsonl are not computed again. For streams whose labels are in the first batch, accuracy is measured
on all later rows, labeled on arrival; for streams with queries it is prequential.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import shlex
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ALONE = ["--label-source", "model", "--c-inferred", "0"]

#: What is remembered of unlabeled rows, with transduction as the only source.
MEMORY = [
    ("200 exemplars", ["--label-source", "transduction"]),
    ("50 exemplars", ["--label-source", "transduction", "--exemplars", "50"]),
    ("1 exemplar", ["--label-source", "transduction", "--exemplars", "1"]),
    ("200 and class means", ["--label-source", "transduction", "--evicted-weight", "5"]),
]

#: Sets of variants, by the option --variants.
VARIANTS = {
    "sources": {
        "default": [],
        "labels alone": ALONE,
        "transduction": ["--label-source", "transduction"],
        "tsvm": ["--label-source", "tsvm"],
        "graph": ["--label-source", "graph"],
    },
    "strategies": {
        name: ["--strategy", name, *ALONE] for name in ("small-pool", "margin", "bandit", "diverse", "submod", "random")
    },
    "memory": dict(MEMORY),
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
    variants = VARIANTS[args.variants]
    if args.variant:
        variants = {name: shlex.split(flags) for name, flags in (text.split("=", 1) for text in args.variant)}
    done = set()
    if results.exists():
        done = {tuple(json.loads(line)["key"]) for line in results.read_text().splitlines()}
    tasks = []
    for plan in plans:
        if (args.only and args.only not in plan["name"]) or (args.half and plan["half"] != args.half):
            continue
        if (args.variants == "strategies" and not plan["queries"]) or (args.variants == "memory" and plan["queries"]):
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
    print(f"{len(tasks)} runs finished")


SOURCES = ["transduction", "tsvm", "graph"]
STRATEGIES = ["small-pool", "margin", "bandit", "diverse", "submod", "random"]
PAGE = Path(__file__).resolve().parents[2] / "docs/stream-matrix.md"


def mean(values: list[float]) -> float:
    return sum(values) / len(values) if values else math.nan


def number(value: float, digits: int = 1) -> str:
    return "" if math.isnan(value) else f"{value:.{digits}f}".replace("-", "\u2212")


def gain(one: list[float], other: list[float]) -> str:
    """Mean difference over the draws, with its standard error if there are several."""
    differences = [a - b for a, b in zip(one, other)]
    if not differences:
        return ""
    text = ("+" if mean(differences) >= 0 else "") + number(mean(differences))
    if len(differences) == 1:
        return text
    variance = sum((d - mean(differences)) ** 2 for d in differences) / (len(differences) - 1)
    return f"{text} \u00b1 {math.sqrt(variance / len(differences)):.1f}"


def load(results: Path) -> dict[str, dict]:
    """For each stream its half and, for each variant, the results of its draws."""
    streams: dict[str, dict] = {}
    for line in results.read_text().splitlines():
        result = json.loads(line)
        variant, stream, draw = result["key"]
        if "error" in result:
            print(f"failed: {variant}, {stream}: {result['error']}", file=sys.stderr)
            continue
        entry = streams.setdefault(stream, {"half": result["half"], "variants": {}})
        entry["variants"].setdefault(variant, {})[draw] = result
    return streams


def values(entry: dict, variant: str, key: str) -> list[float]:
    """Percentages of a variant, over the draws that every compared variant has."""
    draws = entry["variants"].get(variant, {})
    return [100 * draws[d][key] for d in sorted(draws) if draws[d].get(key) is not None]


def table(header: list[str], rows: list[list[str]], left: int = 2) -> str:
    lines = ["| " + " | ".join(header) + " |", "| " + " | ".join(["---"] * left + ["---:"] * (len(header) - left)) + " |"]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows])


def source_table(streams: dict[str, dict], kind: str) -> str:
    """Default, labels alone and single sources, with the gain of the default and of the model that it publishes."""
    header = ["stream", "half", "draws", "default", "labels alone", "gain", *SOURCES, "model: default", "labels alone", "gain",
              "seconds: default", "labels alone", "selection"]
    rows, sums = [], {}
    for name, entry in streams.items():
        if kind not in name or "default" not in entry["variants"] or "labels alone" not in entry["variants"]:
            continue
        default, alone = values(entry, "default", "accuracy"), values(entry, "labels alone", "accuracy")
        model, model_alone = values(entry, "default", "model_accuracy"), values(entry, "labels alone", "model_accuracy")
        seconds = [mean([r["seconds"] for r in entry["variants"][v].values()]) for v in ("default", "labels alone")]
        numbers = [mean(default), mean(alone), *(mean(values(entry, s, "accuracy")) for s in SOURCES), mean(model),
                   mean(model_alone), *seconds, mean(values(entry, "default", "selection_share"))]
        sums.setdefault(entry["half"], []).append(numbers)
        shown = [number(n) for n in numbers]
        rows.append([name, entry["half"], str(len(default)), *shown[:2], gain(default, alone), *shown[2:7],
                     gain(model, model_alone), *shown[7:9], number(numbers[9], 0)])
    for half, numbers in sorted(sums.items()):
        means = [mean([n for n in column if not math.isnan(n)]) for column in zip(*numbers)]
        shown = [number(n) for n in means]
        rows.append(["*mean*", half, "", *shown[:2], gain([means[0]], [means[1]]), *shown[2:7], gain([means[5]], [means[6]]),
                     *shown[7:9], number(means[9], 0)])
    return table(header, rows)


def strategy_table(streams: dict[str, dict]) -> str:
    rows, sums = [], {}
    for name, entry in streams.items():
        found = [mean(values(entry, s, "accuracy")) for s in STRATEGIES]
        if any(math.isnan(f) for f in found):
            continue
        sums.setdefault(entry["half"], []).append(found)
        rows.append([name, entry["half"], str(len(entry["variants"]["random"])), *map(number, found)])
    for half, found in sorted(sums.items()):
        rows.append(["*mean*", half, "", *(number(mean(list(column))) for column in zip(*found))])
    return table(["stream", "half", "draws", *STRATEGIES], rows)


def memory_table(streams: dict[str, dict]) -> str:
    """Means over the streams with labels in the first batch, by what is remembered of unlabeled rows."""
    names = [n for n, _ in MEMORY]
    rows = []
    for half in ("decide", "report"):
        found = [[mean(values(e, n, "accuracy")) for n in names] for e in streams.values() if e["half"] == half]
        found = [f for f in found if not any(math.isnan(v) for v in f)]
        if found:
            rows.append([half, str(len(found)), *(number(mean(list(column))) for column in zip(*found))])
    return table(["half", "streams", *names], rows)


def report(results: Path, write_page: bool) -> None:
    streams = load(results)
    tables = {"labels": source_table(streams, "labels"), "queries": source_table(streams, "queries"),
              "strategies": strategy_table(streams), "memory": memory_table(streams)}
    if not write_page:
        print("\n\n".join(f"{name}\n\n{text}" for name, text in tables.items()))
        return
    page = PAGE.read_text()
    for name, text in tables.items():
        begin, end = f"<!-- begin {name} -->\n", f"<!-- end {name} -->\n"
        before, found, rest = page.partition(begin)
        _, closed, after = rest.partition(end)
        if not found or not closed:
            sys.exit(f"error: {PAGE} has no place for the table {name}")
        page = f"{before}{begin}\n{text}\n\n{end}{after}"
    PAGE.write_text(page)


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
    parser.add_argument("--variants", choices=list(VARIANTS), default="sources")
    parser.add_argument("--variant", action="append")
    parser.add_argument("--write", action="store_true", help="report: write the tables into the book")
    args = parser.parse_args()
    if args.verb == "prepare":
        prepare(Path(args.folder), args.draws, args.only)
    elif args.verb == "run":
        run(args)
    else:
        report(Path(args.folder), args.write)


if __name__ == "__main__":
    main()
