"""Tables of the few-label matrix.

A cell is a set at a level; its numbers are means over the draws. Accuracies are percentages of the unlabeled rows.
"""

from __future__ import annotations

import math
from collections import defaultdict
from pathlib import Path

import numpy as np

PAGE = Path(__file__).resolve().parents[2] / "docs" / "few-labels-matrix.md"

LEVELS = {1: "1 or 2 per class", 2: "20", 3: "100"}

HALVES = {"decide": "sets on which settings were decided", "report": "other sets"}

ALONE = ("logistic regression", "SVC of scikit-learn")
PEERS = ("LabelSpreading", "SelfTraining", "Poisson (graphlearning)")
CANDIDATES = ("SVC", "LinearSVC", "harmonic", "spreading", "poisson", "LapRLS", "TSVM", "LinearDA", "SubmodularS3VM")

#: A cell counts as lost if `auto` is this many points below a peer.
LOST = 3.0

#: A set is worse than labels alone if the mean gain plus one standard error is below this value.
WORSE = -1.0


def alone(records: list[dict], fixed_cost: bool = False) -> np.ndarray:
    """Accuracy of labels alone per draw: that of the learner with the better cross-validated accuracy. In draws in which no
    label could be held out, it is that of the learner with the higher mean over these draws, which favors the baseline.

    With ``fixed_cost``, draws in which some class has one label use C = 1 and count as draws without folds."""
    fixed = [fixed_cost and record["fewest_labels"] == 1 for record in records]
    names = [[f"{name}, C = 1" if f else name for name in ALONE] for f in fixed]
    both = np.array([[record["accuracy"][n] for n in of] for record, of in zip(records, names)])
    held = [{} if f else record["facts"].get("cross_validated", {}) for record, f in zip(records, fixed)]
    undecided = np.array([len(h) < len(ALONE) for h in held])
    chosen = np.array([0 if len(h) < len(ALONE) else int(h[ALONE[1]] > h[ALONE[0]]) for h in held])
    if undecided.any():
        chosen[undecided] = int(np.argmax(both[undecided].mean(axis=0)))
    return both[np.arange(len(records)), chosen]


class Cell:
    """One set at one level."""

    def __init__(self, records: list[dict]) -> None:
        records = sorted(records, key=lambda r: r["draw"])
        first = records[0]
        self.set, self.half, self.level = first["set"], first["half"], first["level"]
        self.classes, self.labels, self.draws = first["classes"], first["labels"], len(records)
        names = {name for record in records for name in record["accuracy"]}
        in_all = [n for n in names if all(n in record["accuracy"] for record in records)]
        self.mean = {n: float(np.mean([record["accuracy"][n] for record in records])) for n in in_all}
        self.alone = alone(records)
        self.difference = np.array([record["accuracy"]["auto"] for record in records]) - self.alone
        self.gain_fixed_cost = self.auto_of(records) - float(alone(records, fixed_cost=True).mean())
        self.auto, self.gain = self.mean["auto"], float(self.difference.mean())
        # candidates can have fewer draws; auto is compared with them on these draws
        some = [record for record in records if any(n in record["accuracy"] for n in CANDIDATES)] or records
        both = [n for n in CANDIDATES if all(n in record["accuracy"] for record in some)]
        self.candidates = {n: float(np.mean([record["accuracy"][n] for record in some])) for n in both}
        self.best = max(both, key=lambda n: self.candidates[n])
        self.behind = self.candidates[self.best] - self.auto_of(some)
        self.seconds = float(np.mean([record["seconds"]["auto"] for record in records]))

    @staticmethod
    def auto_of(records: list[dict]) -> float:
        return float(np.mean([record["accuracy"]["auto"] for record in records]))

    @property
    def error(self) -> float:
        """Standard error of the gain; NaN with one draw."""
        return float(self.difference.std(ddof=1) / math.sqrt(self.draws)) if self.draws > 1 else math.nan

    @property
    def is_worse(self) -> bool:
        """False with one draw, which has no standard error."""
        return self.gain + self.error < WORSE

    def over(self, peer: str) -> float:
        return self.auto - self.mean[peer]

    def peers(self) -> list[str]:
        return [peer for peer in PEERS if peer in self.mean]


def cells(records: list[dict]) -> list[Cell]:
    grouped = defaultdict(list)
    for record in records:
        if "auto" in record["accuracy"]:
            grouped[record["set"], record["level"]].append(record)
    return [Cell(group) for group in grouped.values()]


def markdown(head: list[str], rows: list[list[str]]) -> str:
    rule = ["---"] + ["---:"] * (len(head) - 1)
    return "".join("| " + " | ".join(row) + " |\n" for row in [head, rule, *rows])


def signed(value: float) -> str:
    return f"{value:+.1f}".replace("-", "−")


def plain(value: float) -> str:
    return "" if math.isnan(value) else f"{value:.1f}".replace("-", "−")


def correlation(records: list[dict]) -> str:
    """Correlation of estimated and true accuracy over all draws, and the mean of their difference."""
    pairs = [
        (100 * record["facts"]["estimated_accuracy"], record["accuracy"]["auto"])
        for record in records
        if record["facts"].get("estimated_accuracy") is not None
    ]
    if len(pairs) < 3 or np.ptp(pairs, axis=0).min() == 0:
        return ""
    estimated, true = np.array(pairs).T
    return f"{np.corrcoef(estimated, true)[0, 1]:.2f} ({signed(float((estimated - true).mean()))})"


def summary(records: list[dict]) -> str:
    head = [
        "sets, labels", "sets", "gain over labels alone", "gain if C = 1 where a class has one label", "worst set", "sets worse than labels alone",
        "behind the best candidate", *(f"over {peer}" for peer in PEERS), "cells far below a peer", "estimate",
    ]  # fmt: skip
    rows = []
    every = cells(records)
    for half in HALVES:
        for level in (1, 2, 3, None):
            some = [c for c in every if c.half == half and level in (None, c.level)]
            if not some:
                continue
            worst = min(some, key=lambda c: c.gain)
            lost = [any(c.over(peer) < -LOST for peer in c.peers()) for c in some]
            over = []
            for peer in PEERS:
                gains = [c.over(peer) for c in some if peer in c.mean]
                over.append(signed(float(np.mean(gains))) if gains else "")
            mine = [r for r in records if r["half"] == half and level in (None, r["level"]) and "auto" in r["accuracy"]]
            rows.append([
                f"{half}, {LEVELS[level] if level else 'all'}",
                str(len(some)),
                signed(float(np.mean([c.gain for c in some]))),
                signed(float(np.mean([c.gain_fixed_cost for c in some]))),
                f"{worst.set} {signed(worst.gain)}",
                f"{sum(c.is_worse for c in some)} of {sum(c.draws > 1 for c in some)}",
                plain(float(np.mean([c.behind for c in some]))),
                *over,
                f"{100 * np.mean(lost):.0f} %",
                correlation(mine),
            ])  # fmt: skip
    return markdown(head, rows)


def per_set(records: list[dict], half: str) -> str:
    head = ["set", "labels", "labels alone", "auto", "gain ± standard error", "best candidate", *PEERS, "seconds"]
    rows = []
    for c in sorted(cells(records), key=lambda c: c.level):
        if c.half == half:
            gain = signed(c.gain) + ("" if math.isnan(c.error) else f" ± {plain(c.error)}")
            rows.append([
                c.set, str(c.labels), plain(float(c.alone.mean())), plain(c.auto), f"**{gain}**" if c.is_worse else gain,
                f"{plain(c.candidates[c.best])} ({c.best})", *(plain(c.mean.get(peer, math.nan)) for peer in PEERS), plain(c.seconds),
            ])  # fmt: skip
    return markdown(head, rows)


def methods(records: list[dict]) -> str:
    """Mean accuracy and CPU seconds of every method, over the cells and draws that all methods finished."""
    names = ["auto", *CANDIDATES, *ALONE, *PEERS]
    names = [n for n in names if any(n in record["accuracy"] for record in records)]
    records = [record for record in records if all(n in record["accuracy"] for n in names)]
    every = cells(records)
    rows = []
    for name in names:
        row = [name]
        for half in HALVES:
            for level in LEVELS:
                found = [c.mean[name] for c in every if c.half == half and c.level == level]
                row.append(plain(float(np.mean(found))) if found else "")
        row.append(f"{np.mean([r['seconds'][name] for r in records if name in r['seconds']]):.2f}")
        rows.append(row)
    return markdown(["method", *(f"{half}, {LEVELS[level]}" for half in HALVES for level in LEVELS), "seconds"], rows)


def measured(records: list[dict]) -> str:
    draws = defaultdict(set)
    for record in records:
        draws[record["level"]].add(record["draw"])
    of = ", ".join(f"{len(found)} ({LEVELS[level]})" for level, found in sorted(draws.items()))
    errors = sorted({f"{r['set']}: {m}: {e}" for r in records for m, e in r["errors"].items()})
    minutes = sum(sum(r["seconds"].values()) for r in records) / 60
    candidates = len({r["draw"] for r in records if any(n in r["accuracy"] for n in CANDIDATES)})
    text = (
        f"{len({r['set'] for r in records})} sets; random draws by number of labels: {of}; draws on which the "
        f"candidates of auto were also fitted alone: {candidates}; {minutes:.0f} CPU minutes in total; "
        f"build {', '.join(sorted({r['build'] for r in records}))}.\n"
    )
    return text + ("\nFailed: " + "; ".join(errors) + ".\n" if errors else "")


def tables(records: list[dict]) -> dict[str, str]:
    """The tables by the name of their markers."""
    return {
        "few-labels measured": measured(records),
        "few-labels summary": summary(records),
        "few-labels methods": methods(records),
        **{f"few-labels {half}": per_set(records, half) for half in HALVES},
    }


def embed(page: str, name: str, text: str) -> str:
    begin, end = f"<!-- begin {name} -->\n", f"<!-- end {name} -->\n"
    before, found, rest = page.partition(begin)
    _, closed, after = rest.partition(end)
    if not (found and closed):
        raise SystemExit(f"error: {PAGE.name} has no markers for {name}")
    return f"{before}{begin}\n{text}\n{end}{after}"


def main(records: list[dict], write: bool) -> None:
    if not records:
        raise SystemExit("error: no results")
    for name, text in tables(records).items():
        if write:
            PAGE.write_text(embed(PAGE.read_text(), name, text))
        else:
            print(f"## {name}\n\n{text}")
