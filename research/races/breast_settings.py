"""What a support vector machine can get on the breast cancer data of Ertekin's table 5.3: g-means on 191 rows held out in
proportion, mean of 60 divisions, of 126 settings. Run: python research/races/breast_settings.py DATA_FOLDER"""

import lzma
import pathlib
import sys

import numpy as np
from sklearn.model_selection import StratifiedShuffleSplit
from sklearn.svm import SVC

path = pathlib.Path(sys.argv[1]) / "uci/breast-cancer-wisconsin.data.xz"
rows = [line.split(",") for line in lzma.open(path, "rt").read().split() if "?" not in line]
x = np.array([[float(v) for v in row[1:-1]] for row in rows])
y = np.array([row[-1] == "4" for row in rows])
divisions = list(StratifiedShuffleSplit(60, train_size=492, test_size=191, random_state=1).split(x, y))
low, high = x.min(0), x.max(0)
forms = {
    "unscaled": (x, [1e-4, 1e-3, 3e-3, 0.01, 0.03, 0.1]),
    "standardized": ((x - x.mean(0)) / x.std(0), [1e-3, 0.01, 0.03, 0.1, 0.3, 1]),
    "[0, 1]": ((x - low) / (high - low), [0.01, 0.1, 0.3, 1, 3, 10]),
}


def g_means(truth, found):
    return np.sqrt(found[truth].mean() * (~found[~truth]).mean())


best = []
for name, (z, gammas) in forms.items():
    for c in [0.03, 0.1, 0.3, 1, 10, 100, 1000]:
        for gamma in gammas:
            runs = [
                g_means(y[test], SVC(C=c, gamma=gamma).fit(z[train], y[train]).predict(z[test]))
                for train, test in divisions
            ]
            best.append((100 * np.mean(runs), name, c, gamma))
for row in sorted(best)[-5:]:
    print("%.2f %% %s C %g gamma %g" % row)
