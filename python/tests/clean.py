"""Checks the parts that need only numpy and scikit-learn. ``python/check`` runs this file; pytest does not."""

import importlib.util

import numpy as np
from sklearn.datasets import make_moons
from sklearn.model_selection import cross_val_score

import evermargin

assert importlib.util.find_spec("matplotlib") is None, "the environment is not clean"
X, y = make_moons(120, noise=0.1, random_state=0)
few = np.where(np.arange(120) < 10, y, -1)
assert cross_val_score(evermargin.SVC(gamma=2.0), X, y).mean() > 0.95
assert (evermargin.LapSVC(gamma=10).fit(X, few).transduction_ == y).mean() > 0.9
for name in evermargin.__all__:
    assert getattr(evermargin, name) is not None
print("works with numpy", np.__version__, "and scikit-learn alone")
