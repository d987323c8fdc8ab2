"""Noisy labels: one in five is wrong. Learn in spite of it, and say which.

With a C that suits, hinge loss bears as much noise here; ramp loss needs fewer points for it.

    python docs/examples/noisy_labels.py picture.svg
"""

import sys

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

import evermargin

X, y = load_digits(return_X_y=True)
X, y = X / 16, (y % 2).astype(int)  # odd or even
X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0)
rng = np.random.RandomState(0)
wrong = rng.rand(len(y_train)) < 0.2
noisy = np.where(wrong, 1 - y_train, y_train)
print(f"{len(noisy)} digits, {wrong.sum()} labels are wrong")

for name, model in [
    ("hinge loss", evermargin.SVC(C=3)),
    ("ramp loss, all rows at once", evermargin.RampSVC(C=3)),
    ("ramp loss, one row at a time", evermargin.LASVMClassifier(loss="ramp", C=3)),
]:
    right = model.fit(X_train, noisy).score(X_test, y_test)
    print(f"{name:30} {right:.1%} of the test rows right, {len(model.support_vectors_)} support vectors")

suspects = evermargin.find_label_issues(X_train, noisy, random_state=0)
first = suspects[: wrong.sum()]
print(f"of the {len(first)} first suspects {np.mean(wrong[first]):.0%} are wrong; by chance {np.mean(wrong):.0%}")

figure, axes = plt.subplots(3, 10, figsize=(9, 3.4), constrained_layout=True)
for axis, i in zip(axes.flat, suspects):
    axis.imshow(X_train[i].reshape(8, 8), cmap="gray_r")
    axis.set_title("odd?" if noisy[i] else "even?", color="#bb3333" if wrong[i] else "#228833", fontsize=9)
    axis.axis("off")
figure.suptitle("The thirty most suspicious labels (red: wrong)")
figure.savefig(sys.argv[1] if len(sys.argv) > 1 else "noisy_labels.svg")
assert np.mean(wrong[first]) > 0.6
