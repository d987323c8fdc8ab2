"""The checks of River for the classifier, and tests of what they do not cover."""

import math
import pickle
import random

import numpy as np
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
def test_river_check(params, number, check):
    check(EverMarginClassifier(**params).clone())


def test_no_river_check_is_skipped():
    assert not EverMarginClassifier()._unit_test_skips()
    assert len(CASES) >= 2 * 49


def test_prediction_before_any_label_is_empty():
    model = EverMarginClassifier()
    assert model.predict_one({"a": 1.0}) is None
    assert model.predict_proba_one({"a": 1.0}) == {}


def test_accuracy_on_phishing():
    stream = datasets.Phishing()
    score = evaluate.progressive_val_score(stream, EverMarginClassifier(), metrics.Accuracy())
    assert score.get() > 0.85


def test_prediction_leaves_the_model_unchanged():
    rng = random.Random(0)
    predicting, untouched = EverMarginClassifier(batch_size=7), EverMarginClassifier(batch_size=7)
    for i, (x, y) in enumerate(datasets.Phishing().take(120)):
        for _ in range(rng.randrange(3)):
            predicting.predict_one(x)
            predicting.predict_proba_one({**x, f"new{i}": 1.0})
        predicting.learn_one(x, y)
        untouched.learn_one(x, y)
    assert pickle.dumps(predicting) == pickle.dumps(untouched)


def test_features_beyond_max_features_share_columns():
    model = EverMarginClassifier(batch_size=10, max_features=8)
    for i in range(200):
        model.learn_one({f"word{i}": 1.0, "side": float(i % 2), "text": "yes" if i % 2 else "no"}, i % 2 == 1)
    assert len(model._columns) == 8
    assert model.predict_one({"side": 1.0, "text": "yes"}) is True
    assert model.predict_one({"side": 0.0, "text": "no"}) is False


def test_classes_can_appear_later_and_feature_names_can_be_numbers():
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


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf, 1.1e100, 10**400, np.float32("nan"), [1.0]], ids=str)
def test_unusable_record_is_an_error_and_leaves_the_model_unchanged(bad):
    model, clean = EverMarginClassifier(batch_size=4), EverMarginClassifier(batch_size=4)
    for i in range(22):
        x, y = {"a": float(i % 2), "b": 1.0}, i % 2
        for record in ({"new": 1.0, "a": 1.0, "bad": bad}, {**x, "a": bad}):
            before = pickle.dumps(model) if i else None
            with pytest.raises(ValueError, match=r"feature '(bad|a)'"):
                model.learn_one(record, "new class")
            assert i == 0 or pickle.dumps(model) == before
        model.learn_one(x, y)
        clean.learn_one(x, y)
    assert pickle.dumps(model) == pickle.dumps(clean)
    with pytest.raises(ValueError, match="feature 'a'"):
        model.predict_one({"a": bad})
    assert model.predict_one({"a": 1.0, "b": 1.0}) == 1


def test_sum_of_features_in_a_shared_column_is_checked():
    model = EverMarginClassifier(batch_size=2, max_features=1)
    model.learn_one({"a": 1e100}, 0)
    with pytest.raises(ValueError, match="feature 'b'"):
        model.learn_one({"a": 1e100, "b": 1e100}, 1)
    model.learn_one({"a": 1.0}, 1)
    assert model._pending == [] and model._counts == [1, 1]


@pytest.mark.parametrize("y", [math.nan, np.float64("nan")])
def test_nan_and_unhashable_classes_are_errors(y):
    model = EverMarginClassifier()
    with pytest.raises(ValueError, match="is no class"):
        model.learn_one({"a": 1.0}, y)
    with pytest.raises(TypeError, match="unhashable"):
        model.learn_one({"a": 1.0}, [1])
    assert not model._columns and not model._labels and not model._pending


def test_learn_many_stops_at_an_unusable_row():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"a": [0.0, 1.0, math.nan, 1.0], "b": 1.0})
    model = EverMarginClassifier(batch_size=3)
    with pytest.raises(ValueError, match="feature 'a'"):
        model.learn_many(frame, pandas.Series([0, 1, 2, 1]))
    assert len(model._pending) == 2 and model._counts == [1, 1] and list(model._labels) == [0, 1]
    model.learn_many(frame[3:], pandas.Series([1]))
    assert model._pending == [] and model._model is not None


def test_batch_rejected_by_the_engine_is_dropped():
    class RejectingEngine:
        def batch(self, rows, codes):
            raise ValueError("not this one")

    model = EverMarginClassifier(batch_size=2)
    model.learn_one({"a": 0.0}, 0)
    engine, model._engine = model._engine, RejectingEngine()
    with pytest.raises(ValueError, match="not this one"):
        model.learn_one({"a": 1.0}, 1)
    model._engine = engine
    for i in range(4):
        model.learn_one({"a": float(i % 2)}, i % 2)
    assert model._pending == [] and model.predict_one({"a": 1.0}) == 1


@pytest.mark.parametrize(
    "params",
    [
        {"kernel": "poly"},
        {"C": -1.0},
        {"C": math.nan},
        {"gamma": -1.0},
        {"gamma": "scale"},
        {"loss": "square"},
        {"batch_size": 0},
        {"batch_size": 2.5},
        {"max_features": 0},
        {"window": -1},
        {"max_labels": 0},
        {"seed": -1},
    ],
    ids=str,
)
def test_wrong_parameters_are_errors_at_the_first_record(params):
    model = EverMarginClassifier(**params)
    with pytest.raises(ValueError):
        model.learn_one({"a": 1.0}, 0)
    assert not model._columns and not model._labels and not model._pending


def test_text_values_get_their_own_columns():
    model = EverMarginClassifier()
    for x in ({"a": "b"}, {"a=b": 1.0}, {("a", "b"): 1.0}, {("a",): 1.0}, {"a": 1.0}, {("a", "b"): "c"}):
        model.learn_one(x, 0)
    assert [row for row, _ in model._pending] == [[(at, 1.0)] for at in range(6)]
