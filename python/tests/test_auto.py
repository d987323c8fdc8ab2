"""AutoSemiSupervised: labels of all rows, attributes of candidates, estimated accuracy."""

import math

import numpy as np
import pytest
from sklearn.datasets import make_moons

from evermargin import TSVM, AutoSemiSupervised


def moons(per_class):
    X, y = make_moons(200, noise=0.08, random_state=3)
    known = np.concatenate([np.flatnonzero(y == c)[:per_class] for c in (0, 1)])
    few = np.full(len(y), -1)
    few[known] = y[known]
    return X, y, few


def test_six_labels_suffice_for_moons():
    X, y, few = moons(3)
    model = AutoSemiSupervised().fit(X, few)
    unlabeled = few == -1
    assert np.mean(model.transduction_[unlabeled] == y[unlabeled]) > 0.8
    assert np.mean(model.predict(X) == y) > 0.8


def test_candidates_have_names_weights_and_accuracies():
    X, _, few = moons(3)
    model = AutoSemiSupervised().fit(X, few)
    names = [c["candidate"] for c in model.candidates_]
    assert len(names) == len(set(names)) > 5
    assert sum(c["weight"] for c in model.candidates_) == pytest.approx(1.0)
    rounding = 1e-9
    for c in model.candidates_:
        assert 0.0 <= c["accuracy_low"] <= c["accuracy"] <= c["accuracy_high"] + rounding <= 1.0 + rounding
    assert 0.0 <= model.estimated_accuracy_ <= 1.0


def test_one_label_per_class_gives_no_estimate():
    X, _, few = moons(1)
    model = AutoSemiSupervised().fit(X, few)
    assert math.isnan(model.estimated_accuracy_)
    assert all("accuracy" not in c for c in model.candidates_)


def test_other_learners_have_no_candidates():
    X, _, few = moons(3)
    model = TSVM().fit(X, few)
    assert not hasattr(model, "candidates_") and not hasattr(model, "estimated_accuracy_")
