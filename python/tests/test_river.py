"""River's own checks over the wrapper, and what they leave out."""

import pickle
import random

import pytest

river = pytest.importorskip("river")

from river import checks, datasets, evaluate, metrics  # noqa: E402

from evermargin.river import EverMarginClassifier  # noqa: E402

CASES = [
    pytest.param(params, number, check, id=f"{number}-{check.__name__}")
    for params in EverMarginClassifier._unit_test_params()
    for number, check in enumerate(checks.yield_checks(EverMarginClassifier(**params)))
]


@pytest.mark.parametrize("params, number, check", CASES)
def test_checks(params, number, check):
    check(EverMarginClassifier(**params).clone())


def test_none_of_the_checks_is_skipped():
    assert not EverMarginClassifier()._unit_test_skips()
    assert len(CASES) >= 2 * 49


def test_before_any_label_it_knows_nothing():
    model = EverMarginClassifier()
    assert model.predict_one({"a": 1.0}) is None
    assert model.predict_proba_one({"a": 1.0}) == {}


def test_it_learns():
    stream = datasets.Phishing()
    score = evaluate.progressive_val_score(stream, EverMarginClassifier(), metrics.Accuracy())
    assert score.get() > 0.85


def test_prediction_changes_nothing():
    rng = random.Random(0)
    asked, silent = EverMarginClassifier(batch_size=7), EverMarginClassifier(batch_size=7)
    for i, (x, y) in enumerate(datasets.Phishing().take(120)):
        for _ in range(rng.randrange(3)):
            asked.predict_one(x)
            asked.predict_proba_one({**x, f"new{i}": 1.0})
        asked.learn_one(x, y)
        silent.learn_one(x, y)
    assert pickle.dumps(asked) == pickle.dumps(silent)


def test_features_beyond_the_cap_share_columns():
    model = EverMarginClassifier(batch_size=10, max_features=8)
    for i in range(200):
        model.learn_one({f"word{i}": 1.0, "side": float(i % 2), "text": "yes" if i % 2 else "no"}, i % 2 == 1)
    assert len(model._columns) == 8
    assert model.predict_one({"side": 1.0, "text": "yes"}) is True
    assert model.predict_one({"side": 0.0, "text": "no"}) is False


def test_classes_come_and_the_name_of_a_feature_may_be_a_number():
    model = EverMarginClassifier(batch_size=5)
    for i in range(60):
        kind = i % (2 if i < 30 else 3)
        model.learn_one({0: float(kind == 0), 1: float(kind == 1), 2: float(kind == 2)}, "abc"[kind])
    for kind in range(3):
        x = {0: float(kind == 0), 1: float(kind == 1), 2: float(kind == 2)}
        assert model.predict_one(x) == "abc"[kind]


def test_memory_is_bounded():
    rng = random.Random(1)
    model, sizes = EverMarginClassifier(max_labels=60, max_points=60, max_features=32), []
    for i in range(3000):
        a, b = rng.gauss(0, 1), rng.gauss(0, 1)
        model.learn_one({"a": a, "b": b, f"seldom{i}": 0.1}, a * b > 0)
        if i % 500 == 499:
            sizes.append(len(pickle.dumps(model)))
    assert max(sizes[2:]) < 1.25 * max(sizes[:2]), sizes
