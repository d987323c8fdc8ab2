"""Compares the objective of a transductive SVM at its final labels with the objective at the true labels.

On Sonar and Svmguide1 the first is a fraction of the second, so that a better search does not give more correct labels. The draws
are those with the lowest accuracy of a supervised SVM. Needs evermargin and scikit-learn; data as for reproduce.

    python research/races/tsvm_objective.py sonar
    python research/races/tsvm_objective.py svmguide1
"""

import io
import lzma
import os
import sys

import numpy as np
from sklearn.datasets import load_svmlight_file
from sklearn.svm import SVC

import evermargin

# file, number of labels, cost, number of draws, number of hardest draws, whether columns are scaled to [0, 1]
SETS = {
    "sonar": ("libsvm/sonar_scale.xz", 2, 1.0, 200, 20, True),
    "svmguide1": ("libsvm/svmguide1.xz", 16, 0.01, 60, 6, False),
}


def objective(x, labels, cost):
    machine = SVC(kernel="linear", C=cost, tol=1e-3).fit(x, labels)
    hinge = np.maximum(0, 1 - labels * machine.decision_function(x))
    return 0.5 * (machine.coef_**2).sum() + cost * hinge.sum()


def main():
    file, labeled, cost, count, hardest, scaled = SETS[sys.argv[1]]
    folder = os.environ.get("EVERMARGIN_DATA", "../shared/data")
    with lzma.open(os.path.join(folder, file)) as data:
        x, y = load_svmlight_file(io.BytesIO(data.read()))
    x, y = x.toarray(), np.where(y > 0, 1, -1)
    if scaled:
        x = (x - x.min(0)) / (x.max(0) - x.min(0) + 1e-12)
    rng = np.random.default_rng(0)
    draws = []
    while len(draws) < count:
        draw = rng.choice(len(y), labeled, replace=False)
        if len(set(y[draw])) == 2:
            draws.append(draw)

    def right(draw):
        others = np.setdiff1d(np.arange(len(y)), draw)
        machine = SVC(kernel="linear", C=cost).fit(x[draw], y[draw])
        return (machine.predict(x[others]) == y[others]).mean()

    found, shares = [], []
    for draw in sorted(draws, key=right)[:hardest]:
        others = np.setdiff1d(np.arange(len(y)), draw)
        known = np.full(len(y), -1)
        known[draw] = y[draw] > 0
        machine = evermargin.TSVM(kernel="linear", ratio=(y[others] > 0).mean(), scale="none", compare=False)
        labels = np.where(machine.fit(x, known).transduction_ > 0, 1, -1)
        found.append((labels[others] == y[others]).mean())
        shares.append(objective(x, labels, cost) / objective(x, y, cost))
    print(f"accuracy {np.mean(found):.3f}; objective divided by that of the true labels: ", end="")
    print(f"mean {np.mean(shares):.2f}, largest {np.max(shares):.2f} of {hardest} draws")


if __name__ == "__main__":
    main()
