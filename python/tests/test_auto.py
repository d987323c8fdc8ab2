"""AutoSemiSupervised: labels of all rows, attributes of candidates, estimated accuracy."""

import math

import numpy as np
import pytest
from sklearn.datasets import load_wine, make_moons

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


def test_defaults_scale_columns_of_different_ranges():
    X, y = load_wine(return_X_y=True)
    known = np.concatenate([np.flatnonzero(y == c)[:7] for c in range(3)])
    few = np.full(len(y), -1)
    few[known] = y[known]
    found = AutoSemiSupervised().fit(X, few).transduction_
    assert np.mean(found == y) > 0.9
    assert np.array_equal(found, AutoSemiSupervised(scale=None).fit(X, few).transduction_)


@pytest.mark.parametrize("dtype", [object, "category"])
def test_none_marks_gaps_in_pandas_labels(dtype):
    pandas = pytest.importorskip("pandas")
    X, y, few = moons(3)
    words = pandas.Series([None if c == -1 else ("left", "right")[c] for c in few], dtype=dtype)
    found = AutoSemiSupervised(missing_label=None).fit(X, words).transduction_
    assert np.mean(found == np.array(["left", "right"])[y]) > 0.8


def test_shares_of_two_classes_may_be_two_numbers():
    X, _, few = moons(3)
    one = AutoSemiSupervised(ratio=0.4).fit(X, few)
    two = AutoSemiSupervised(ratio=[0.6, 0.4]).fit(X, few)
    assert np.array_equal(one.transduction_, two.transduction_)
    assert np.mean(one.transduction_[few == -1] == 1) == pytest.approx(0.4, abs=0.02)
