#!/usr/bin/env python3
"""The few-label matrix: compares `auto` with supervised learning, peers and its candidates, all with defaults.

    research/few_labels/matrix.py run --out matrix.jsonl --draws 10 --jobs 2
    research/few_labels/matrix.py report matrix.jsonl                    # print the tables
    research/few_labels/matrix.py report matrix.jsonl --write            # write them into docs/few-labels-matrix.md
    research/few_labels/matrix.py smoke                                  # generated sets, one draw, no files

Needs Python 3.10 with numpy, scikit-learn and the wheel of evermargin; graphlearning is optional. README.md has more.
"""

from __future__ import annotations

import argparse
import os
import sys

# One thread per process, set before numpy is imported; started processes inherit it.
for _name in ("RAYON_NUM_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ[_name] = "1"

import hashlib
import json
import multiprocessing
import tempfile
import time
import warnings
from pathlib import Path

#: One unit of work: name of the set, level (1 to 3), draw.
Key = tuple[str, int, int]


def key_of(record: dict) -> Key:
    return record["set"], record["level"], record["draw"]


def read(path: Path) -> list[dict]:
    """The results in a file; a last line that was cut off is ignored."""
    lines = path.read_text().split("\n") if path.exists() else []
    return [json.loads(line) for line in lines if line.endswith("}")]


def build_id() -> str:
    """Identifies the compiled core, so that results of two builds are not mixed."""
    import evermargin

    return hashlib.sha256(Path(evermargin._core.__file__).read_bytes()).hexdigest()[:12]


def measure(job: tuple[Key, str, dict, bool]) -> dict:
    """Run all methods on one draw, with or without the candidates. ``known`` has results of other packages from an earlier file."""
    (name, level, draw), build, known, with_candidates = job
    import numpy as np
    from methods import CANDIDATES, FOREIGN, METHODS, Cell
    from sets import draw as draw_labels
    from sets import half, load

    warnings.simplefilter("ignore")
    data = load(name)
    cell = Cell(data, draw_labels(data.y, level, draw))
    unlabeled = np.setdiff1d(np.arange(len(data.y)), cell.labeled)
    accuracy, seconds, errors = {}, {}, {}
    for method, run in METHODS.items():
        if method in CANDIDATES and not with_candidates:
            continue
        if method in FOREIGN and method in known.get("accuracy", {}):
            accuracy[method], seconds[method] = known["accuracy"][method], known["seconds"][method]
            continue
        start = time.process_time()
        try:
            right = np.asarray(run(cell))[unlabeled] == data.y[unlabeled]
            accuracy[method] = round(100 * float(right.mean()), 3)
        except Exception as error:  # a failing method must not stop the matrix
            errors[method] = f"{type(error).__name__}: {error}"[:300]
        seconds[method] = round(time.process_time() - start, 4)
    if "cross_validated" in known.get("facts", {}):
        cell.facts["cross_validated"] = known["facts"]["cross_validated"]
    return {
        "set": name,
        "half": half(name),
        "level": level,
        "draw": draw,
        "labels": len(cell.labeled),
        "fewest_labels": int(np.bincount(cell.y).min()),
        "rows": len(data.y),
        "classes": data.classes,
        "scaling": data.scaling,
        "build": build,
        "accuracy": accuracy,
        "seconds": seconds,
        "facts": cell.facts,
        "errors": errors,
    }


def work(sets: list[str], levels: list[int], draws: int) -> list[Key]:
    """Order of the cells: lower levels first, and draws outermost, so that an unfinished file covers all sets."""
    stages = [[level for level in levels if level < 3], [level for level in levels if level == 3]]
    return [(s, level, d) for stage in stages for d in range(draws) for s in sets for level in stage]


def run(args: argparse.Namespace, sets: list[str]) -> None:
    build = build_id()
    done = read(args.out)
    if any(record["build"] != build for record in done):
        sys.exit(f"error: {args.out} has results of another build of evermargin; choose another --out (see --peers-from)")
    finished = {key_of(record) for record in done}
    known = {key_of(record): record for record in read(args.peers_from)} if args.peers_from else {}
    open_keys = [key for key in work(sets, args.levels, args.draws) if key not in finished]
    print(f"{len(finished)} cells finished, {len(open_keys)} to do", flush=True)
    if args.out.exists() and not args.out.read_text().endswith("\n"):
        args.out.write_text("".join(json.dumps(record) + "\n" for record in done))
    jobs = [(key, build, known.get(key, {}), key[2] < args.candidate_draws) for key in open_keys]
    start = time.time()
    with multiprocessing.get_context("spawn").Pool(args.jobs) as pool, args.out.open("a") as out:
        for i, record in enumerate(pool.imap_unordered(measure, jobs), 1):
            out.write(json.dumps(record) + "\n")
            out.flush()
            auto, total = record["accuracy"].get("auto", float("nan")), sum(record["seconds"].values())
            print(
                f"{i}/{len(jobs)} {record['set']} level {record['level']} draw {record['draw']}: auto {auto:.1f}, "
                f"{record['seconds']['auto']:.1f} of {total:.1f} s, {(time.time() - start) / 60:.0f} min"
                + "".join(f"; {method}: {error}" for method, error in record["errors"].items()),
                flush=True,
            )


def smoke() -> None:
    """Run and report two generated sets with one draw in a temporary folder."""
    import report

    sets = ["generated-moons", "generated-words"]
    with tempfile.TemporaryDirectory() as folder:
        args = argparse.Namespace(out=Path(folder) / "out.jsonl", draws=1, candidate_draws=1, levels=[1, 2], jobs=1, peers_from=None)
        run(args, sets)
        with args.out.open("a") as out:
            out.write('{"set": "cut o')
        run(args, sets)
        records = read(args.out)
    assert sorted(map(key_of, records)) == sorted(work(sets, [1, 2], 1)), "a finished cell was measured again or lost"
    for record in records:
        assert not record["errors"], record["errors"]
        assert record["accuracy"]["auto"] > 100 / record["classes"] + 15, record
    text = "\n".join(report.tables(records).values())
    assert "generated-moons" in text and "nan" not in text, text
    print("few-label matrix: smoke test passed")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    running = commands.add_parser("run", help="measure; finished cells of --out are skipped")
    running.add_argument("--out", type=Path, required=True, help="results, one JSON line per set, level and draw")
    running.add_argument("--draws", type=int, default=10, help="draws of labels per set and level; default 10")
    running.add_argument("--candidate-draws", type=int, default=10, help="draws in which the candidates are fitted alone, too; default 10")
    running.add_argument("--jobs", type=int, default=1, help="processes with one thread each; default 1")
    running.add_argument("--sets", help="names of sets, separated by commas; default: all")
    running.add_argument("--levels", default="1,2,3", help="levels, separated by commas; default 1,2,3")
    running.add_argument("--peers-from", type=Path, help="copy results of other packages from this file of an earlier build")
    reporting = commands.add_parser("report", help="print the tables, or write them into the book")
    reporting.add_argument("results", type=Path)
    reporting.add_argument("--write", action="store_true", help="write the tables into docs/few-labels-matrix.md")
    commands.add_parser("smoke", help="check the command on generated sets in seconds")
    args = parser.parse_args()
    if args.command == "run":
        from sets import ORDER

        sets = args.sets.split(",") if args.sets else list(ORDER)
        args.levels = [int(level) for level in args.levels.split(",")]
        unknown = set(sets) - set(ORDER)
        if unknown or not set(args.levels) <= {1, 2, 3}:
            parser.error(f"unknown sets {sorted(unknown)} or levels {args.levels}")
        run(args, sets)
    elif args.command == "report":
        import report

        report.main(read(args.results), args.write)
    else:
        smoke()


if __name__ == "__main__":
    main()
