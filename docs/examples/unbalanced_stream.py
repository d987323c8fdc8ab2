"""An unbalanced stream: one in fifty is fraud, and the swindlers change their ways little by little.

Rows come in batches of 500. The engine labels each batch before any label of it arrives, then asks for five labels.
Asking near the boundary follows the swindlers; asking at random meets one fraud in ten batches and loses them. (Were they to
change from one day to the next, neither would notice soon: what is new is far from the boundary.)

    python docs/examples/unbalanced_stream.py picture.svg
"""

import sys

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np

import evermargin


def batches(count=60, rows=500, seed=0):
    rng = np.random.RandomState(seed)
    for number in range(count):
        fraud = rng.rand(rows) < 0.02
        X = rng.randn(rows, 8)
        turn = np.pi * number / count
        X[fraud] = 0.7 * X[fraud] + 4 * np.array([np.cos(turn), np.sin(turn), 0, 0, 0, 0, 0, 0])
        yield X, fraud.astype(int)


def watch(strategy, seed=0):
    """Found frauds and false alarms of each batch, labeled before any answer about it."""
    model = evermargin.NeverEndingClassifier(
        strategy=strategy, queries_per_batch=5, class_weight="balanced", missing_label=-1, random_state=seed
    )
    told = []
    for number, (X, y) in enumerate(batches(seed=seed)):
        known = np.full(len(y), -1)
        if number == 0:  # the history: a few labeled cases of either kind
            known[np.flatnonzero(y == 1)[:5]] = 1
            known[np.flatnonzero(y == 0)[:20]] = 0
        model.partial_fit(X, known)
        said = model.labels_
        told.append((np.mean(said[y == 1] == 1) if y.any() else np.nan, np.mean(said[y == 0] == 1)))
        for _ in range(5):  # a person answers one question after another
            ids = model.ask(1)
            model.answer(ids, [y[int(i) % 500] for i in ids])
    return np.array(told), model


figure, axis = plt.subplots(figsize=(8, 3.8), constrained_layout=True)
for strategy, color in [("margin", "#4477aa"), ("random", "#bbbbbb")]:
    runs = [watch(strategy, seed) for seed in range(3)]
    found = np.nanmean([told[:, 0] for told, _ in runs], axis=0)
    alarms = np.mean([told[1:, 1] for told, _ in runs])
    print(f"asking {strategy}: {np.mean(found[5:]):.0%} of the frauds found, {alarms:.2%} false alarms")
    axis.plot(100 * np.convolve(found, np.ones(5) / 5, "valid"), color=color, label=f"asking: {strategy}", lw=2)
axis.set(xlabel="batch", ylabel="% of the frauds found (means of five batches)", ylim=(0, 100))
axis.legend(frameon=False)
figure.savefig(sys.argv[1] if len(sys.argv) > 1 else "unbalanced_stream.svg")
