"""Five minutes: train, predict, look; then the same with ten labels.

    python docs/examples/five_minutes.py picture.svg
"""

import sys

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_moons
from sklearn.model_selection import GridSearchCV, train_test_split

import evermargin
from evermargin import plot

# Data with labels: an ordinary classifier, tuned as any other of scikit-learn.
X, y = make_moons(600, noise=0.12, random_state=0)
X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0)
search = GridSearchCV(evermargin.SVC(), {"C": [1, 10, 100], "gamma": [0.5, 2, 8]}, cv=5).fit(X_train, y_train)
print(f"all {len(y_train)} labels: {search.score(X_test, y_test):.1%} right, {search.best_params_}")

# The same rows with ten labels: -1 means that there is none.
few = np.full(len(y_train), -1)
for c in (0, 1):
    known = np.flatnonzero(y_train == c)[:5]
    few[known] = c
labels_alone = evermargin.SVC(gamma=8).fit(X_train[few != -1], few[few != -1])
with_all_rows = evermargin.LapSVC(gamma=8).fit(X_train, few)
for name, model in [("ten labels alone", labels_alone), ("ten labels and all rows", with_all_rows)]:
    print(f"{name}: {model.score(X_test, y_test):.1%} right")

figure, axes = plt.subplots(1, 2, figsize=(10, 4.2), constrained_layout=True)
plot.decision_surface(labels_alone, X_train, few, ax=axes[0])
axes[0].set_title(f"SVC, ten labels: {labels_alone.score(X_test, y_test):.1%}")
plot.decision_surface(with_all_rows, X_train, few, ax=axes[1])
axes[1].set_title(f"LapSVC, the same ten and {np.sum(few == -1)} rows without: {with_all_rows.score(X_test, y_test):.1%}")
figure.savefig(sys.argv[1] if len(sys.argv) > 1 else "five_minutes.svg")
assert with_all_rows.score(X_test, y_test) > 0.95
