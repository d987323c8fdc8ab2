"""Records per second of the River classifier on small rows, compared with the logistic regression of River.

    python research/races/river_rate.py [records]

Times are CPU seconds of this process with one thread in the core. The data have two classes and 8 columns, 3 of them informative.
"""

import random
import sys
import time

from river import linear_model

from evermargin import set_threads
from evermargin.river import EverMarginClassifier


def records(count, columns=8, seed=0):
    rng = random.Random(seed)
    for _ in range(count):
        y = rng.random() < 0.5
        middle = 0.6 if y else -0.6
        yield {f"f{j}": rng.gauss(middle if j < 3 else 0.0, 1.0) for j in range(columns)}, y


def rate(count, work):
    started = time.process_time()
    work()
    return count / (time.process_time() - started)


def race(make, data):
    model = make()
    learned = rate(len(data), lambda: [model.learn_one(x, y) for x, y in data])
    subset = data[: len(data) // 4]
    predicted = rate(len(subset), lambda: [model.predict_one(x) for x, _ in subset])
    new_model, right = make(), []

    def both():
        for x, y in subset:
            right.append(new_model.predict_one(x) == y)
            new_model.learn_one(x, y)

    return learned, predicted, rate(len(subset), both), sum(right) / len(right)


if __name__ == "__main__":
    set_threads(1)
    data = list(records(int(sys.argv[1]) if len(sys.argv) > 1 else 20_000))
    for make in (EverMarginClassifier, linear_model.LogisticRegression):
        learned, predicted, both, right = race(make, data)
        print(
            f"{make.__name__}: {learned:.0f} learned, {predicted:.0f} predicted, {both:.0f} predicted and learned "
            f"per second; prequential accuracy {right:.1%}"
        )
