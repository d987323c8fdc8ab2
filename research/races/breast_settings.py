"""Best g-means of a support vector machine on the breast cancer data of table 5.3 of Ertekin (2009), among 126 settings.

    python research/races/breast_settings.py DATA_FOLDER

Each value is the mean over 60 stratified splits with 492 training rows and 191 held-out rows.
"""

import lzma
import pathlib
import sys

import numpy as np
from sklearn.model_selection import StratifiedShuffleSplit
from sklearn.svm import SVC

path = pathlib.Path(sys.argv[1]) / "uci/breast-cancer-wisconsin.data.xz"
with lzma.open(path, "rt") as file:
    rows = [line.split(",") for line in file.read().split() if "?" not in line]
x = np.array([[float(v) for v in row[1:-1]] for row in rows])
y = np.array([row[-1] == "4" for row in rows])
splits = list(StratifiedShuffleSplit(60, train_size=492, test_size=191, random_state=1).split(x, y))
low, high = x.min(0), x.max(0)
scalings = {
    "unscaled": (x, [1e-4, 1e-3, 3e-3, 0.01, 0.03, 0.1]),
    "standardized": ((x - x.mean(0)) / x.std(0), [1e-3, 0.01, 0.03, 0.1, 0.3, 1]),
    "[0, 1]": ((x - low) / (high - low), [0.01, 0.1, 0.3, 1, 3, 10]),
}


def g_means(truth, found):
    return np.sqrt(found[truth].mean() * (~found[~truth]).mean())


best = []
for name, (z, gammas) in scalings.items():
    for c in [0.03, 0.1, 0.3, 1, 10, 100, 1000]:
        for gamma in gammas:
            runs = [
                g_means(y[test], SVC(C=c, gamma=gamma).fit(z[train], y[train]).predict(z[test]))
                for train, test in splits
            ]
            best.append((100 * np.mean(runs), name, c, gamma))
for score, name, c, gamma in sorted(best)[-5:]:
    print(f"{score:.2f} % {name} C {c:g} gamma {gamma:g}")
