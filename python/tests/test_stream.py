"""The loop that never ends from Python: conformance, questions, memory, and states that go on bit by bit."""

import json
import pickle

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_iris, make_blobs, make_moons
from sklearn.exceptions import NotFittedError
from sklearn.utils.estimator_checks import parametrize_with_checks

from evermargin import NeverEndingClassifier, _core
from evermargin._stream import ENGINE_NAMES

MINUS_ONE = "-1 is a class in this check, and means unlabeled here unless missing_label says otherwise"


def explained(estimator):
    return {"check_classifiers_classes": MINUS_ONE} if estimator.missing_label == -1 else {}


@parametrize_with_checks(
    [NeverEndingClassifier(), NeverEndingClassifier(missing_label=None, label_source="model", loss="ramp")],
    expected_failed_checks=explained,
)
def test_conformance(estimator, check):
    check(estimator)


def moons(batches, rows=100, seed=0, noise=0.1):
    rng = np.random.RandomState(seed)
    return [make_moons(rows, noise=noise, random_state=rng) for _ in range(batches)]


def run(model, stream):
    """Answers every question with the truth."""
    base = model.metrics_["samples"] if hasattr(model, "classes_") else 0
    for X, y in stream:
        model.partial_fit(X)
        while len(ids := model.ask(2)):
            model.answer(ids, y[ids - base])
        base += len(y)
    return model


def test_few_answers_are_enough():
    stream = moons(8)
    model = run(NeverEndingClassifier(gamma=5.0, queries_per_batch=6), stream[:-1])
    X, y = stream[-1]
    assert model.score(X, y) > 0.95
    metrics = model.metrics_
    assert metrics["rows"] == 700 and metrics["batches"] == 7
    assert 10 < metrics["labels_spent"] <= 42
    assert metrics["labels_kept"] == metrics["labels_spent"]
    model.partial_fit(X)
    assert np.mean(model.labels_ == y) > 0.9
    assert model.confidence_.shape == (100,) and np.all(model.confidence_ >= 0)


def test_a_labeled_batch_is_learned_like_an_ordinary_classifier():
    X, y = load_iris(return_X_y=True)
    names = np.array(["setosa", "versicolor", "virginica"])[y]
    model = NeverEndingClassifier().fit(X, names)
    assert model.score(X, names) > 0.95
    assert model.classes_.tolist() == ["setosa", "versicolor", "virginica"]
    f = model.decision_function(X)
    np.testing.assert_array_equal(model.classes_[f.argmax(axis=1)], model.predict(X))
    np.testing.assert_array_equal(model.labels_, names)


@pytest.mark.parametrize("missing", [-1, None, float("nan"), "?"])
def test_missing_labels_are_marked_in_many_ways(missing):
    X, y = make_moons(100, noise=0.1, random_state=0)
    few = np.array([int(v) if i % 4 == 0 else missing for i, v in enumerate(y)], dtype=object)
    if missing == -1 or missing != missing:
        few = few.astype(float)
    if missing == "?":
        few = few.astype(str)
    model = NeverEndingClassifier(gamma=5.0, missing_label=missing).fit(X, few)
    assert len(model.classes_) == 2
    assert np.mean(model.predict(X).astype(float) == y) > 0.9
    assert model.metrics_["labels_kept"] == 25


def test_classes_come_at_any_time_and_only_those_met_are_predicted():
    X, y = make_blobs(300, centers=4, random_state=2, cluster_std=0.5)
    model = NeverEndingClassifier(missing_label=None).partial_fit(X[y == 3], y[y == 3])
    assert set(model.predict(X)) == {3}
    model.partial_fit(X[y == 1], y[y == 1])
    assert model.decision_function(X).shape == (300,)
    np.testing.assert_array_equal(model.predict(X) == 3, model.decision_function(X) > 0)
    model.partial_fit(X[y == 0], y[y == 0], classes=[0, 1, 2, 3])
    assert model.classes_.tolist() == [0, 1, 2, 3]
    assert set(model.predict(X)) == {0, 1, 3}
    assert np.all(model.decision_function(X)[:, 2] == -1e100)
    model.partial_fit(X[y == 2], y[y == 2])
    assert model.score(X, y) > 0.98
    assert {"batch": 4, "event": "note", "text": "class 2 is new"} in model.events_


def test_questions_that_wait_are_not_paid_for_twice():
    X, y = make_moons(100, noise=0.1, random_state=0)
    model = NeverEndingClassifier(queries_per_batch=5).partial_fit(X)
    ids, rows = model.ask(2, return_X=True)
    np.testing.assert_array_equal(rows, X[ids])
    np.testing.assert_array_equal(model.ask(2), ids)
    assert model.metrics_["labels_spent"] == 2
    more = model.ask(50)
    assert len(more) == 5 and set(ids) <= set(more), "the budget of the batch"
    model.skip(more[0])
    model.answer(more[1:3], y[more[1:3]])
    assert len(model.ask(50)) == 2
    assert model.metrics_["labels_kept"] == 2
    assert list(model.labels_[more[1:3]]) == list(y[more[1:3]])
    assert model.answer([], []).skip([]) is model, "nothing is an answer to no question"


def test_total_budget_and_no_strategy():
    model = NeverEndingClassifier(queries_per_batch=4, total_budget=6)
    run(model, moons(4))
    assert model.metrics_["labels_spent"] == 6
    silent = NeverEndingClassifier(strategy="none").partial_fit(moons(1)[0][0])
    assert len(silent.ask(3)) == 0


@pytest.mark.parametrize("strategy", ["small-pool", "margin", "diverse", "submod", "random"])
def test_every_strategy_asks(strategy):
    stream = moons(3)
    model = run(NeverEndingClassifier(gamma=5.0, strategy=strategy), stream)
    assert 5 < model.metrics_["labels_spent"] <= 30
    assert model.score(*stream[0]) > 0.8


def test_labels_are_corrected_and_taken_back():
    X, y = make_moons(60, noise=0.05, random_state=1)
    wrong = y.copy()
    wrong[7] = 1 - wrong[7]
    told = NeverEndingClassifier(gamma=5.0).fit(X, y)
    mended = NeverEndingClassifier(gamma=5.0).fit(X, wrong).correct(7, y[7])
    np.testing.assert_array_equal(mended.decision_function(X), told.decision_function(X))
    np.testing.assert_array_equal(mended.labels_, y)
    before = mended.metrics_["labels_kept"]
    mended.withdraw(7)
    assert mended.metrics_["labels_kept"] == before - 1
    assert mended.labels_[7] == -1
    with pytest.raises(ValueError, match="sample 7 has no label"):
        mended.withdraw(7)


def test_fit_forgets_and_repeats():
    stream = moons(2)
    model = run(NeverEndingClassifier(), stream)
    X, y = stream[0]
    model.fit(X, y)
    fresh = clone(model).fit(X, y)
    assert model.metrics_ == fresh.metrics_ and model.events_ == fresh.events_
    np.testing.assert_array_equal(model.decision_function(X), fresh.decision_function(X))
    assert model.to_bytes() == fresh.to_bytes()


@pytest.mark.parametrize("way", ["pickle", "bytes", "file"])
def test_a_state_goes_on_bit_by_bit(way, tmp_path):
    stream = moons(4)
    model = NeverEndingClassifier(gamma=5.0, class_weight={0: 2.0, 1: 1.0}, forgetting=("window", 12))
    run(model, stream[:2])
    if way == "pickle":
        other = pickle.loads(pickle.dumps(model))
    elif way == "bytes":
        other = NeverEndingClassifier.from_bytes(model.to_bytes())
    else:
        model.save(tmp_path / "state")
        other = NeverEndingClassifier.load(tmp_path / "state")
        assert [p.name for p in tmp_path.iterdir()] == ["state"], "nothing else is left behind"
    assert other.get_params() == {**model.get_params(), "random_state": other.random_state}
    np.testing.assert_array_equal(other.labels_, model.labels_)
    for one in (model, other):
        run(one, stream[2:])
    X = stream[0][0]
    np.testing.assert_array_equal(model.decision_function(X), other.decision_function(X))
    assert model.metrics_ == other.metrics_ and model.events_ == other.events_


def test_damage_is_found():
    model = NeverEndingClassifier().fit(*moons(1)[0])
    state = model.to_bytes()
    for at in (0, 7, 9, 100, len(state) - 1):
        bad = bytearray(state)
        bad[at] ^= 1
        with pytest.raises(ValueError):
            NeverEndingClassifier.from_bytes(bytes(bad))
    with pytest.raises(ValueError, match="an empty file"):
        NeverEndingClassifier.from_bytes(b"")
    with pytest.raises(ValueError, match="not the state of a NeverEndingClassifier"):
        NeverEndingClassifier.from_bytes(model._engine.to_bytes("{}"))


def test_memory_is_bounded_over_a_long_stream():
    rng = np.random.RandomState(3)
    model = NeverEndingClassifier(
        gamma=5.0, queries_per_batch=3, max_labels=40, max_points=40, label_source="model", random_state=0
    )
    sizes = []
    for batch in range(60):
        X, y = make_moons(200, noise=0.1, random_state=rng)
        few = np.where(rng.rand(200) < 0.05, y, -1)
        model.partial_fit(X, few)
        ids = model.ask(3)
        model.answer(ids, y[ids - 200 * batch])
        sizes.append(len(pickle.dumps(model)))
        metrics = model.metrics_
        assert metrics["labels_kept"] <= 40
        assert metrics["samples_kept"] <= 40 + 40 * 4 // 3 + 3 * 200 + 200
    assert max(sizes[20:]) < 1.3 * max(sizes[5:20]), "12,000 rows"
    assert model.score(X, y) > 0.9
    assert len(model.exemplars_) == len(model.exemplar_weights_) > 0
    assert len(model.exemplars_) <= 200


def test_a_change_of_the_stream_is_told_without_a_warning(recwarn):
    rng = np.random.RandomState(0)
    model = NeverEndingClassifier(gamma=2.0, forgetting=("on_drift", 2), label_source="model")
    for batch in range(24):
        X, y = make_moons(60, noise=0.1, random_state=rng)
        model.partial_fit(X, y if batch < 16 else 1 - y)
    assert model.metrics_["drifts"] > 0
    drifts = [event for event in model.events_ if event["event"] == "drift"]
    assert drifts and all(16 <= d["batch"] and d["now"] > d["before"] for d in drifts)
    assert model.score(X, 1 - y) > 0.9, "what was before is forgotten"
    assert not recwarn.list


def test_sparse_is_dense():
    stream = moons(3)
    dense = run(NeverEndingClassifier(gamma=5.0, strategy="random"), stream)
    sparse_stream = [(sparse.csr_matrix(X), y) for X, y in stream]
    thin = run(NeverEndingClassifier(gamma=5.0, strategy="random"), sparse_stream)
    X = stream[0][0]
    np.testing.assert_array_equal(dense.predict(X), thin.predict(sparse.csr_matrix(X)))
    ids, rows = thin.partial_fit(sparse.csr_matrix(X)).ask(2, return_X=True)
    np.testing.assert_array_equal(rows.toarray(), X[ids - 300])


def test_prediction_changes_nothing():
    model = run(NeverEndingClassifier(), moons(2))
    before = model.to_bytes()
    model.predict(moons(1)[0][0])
    model.decision_function(moons(1)[0][0])
    assert model.to_bytes() == before


def test_what_is_refused_changes_nothing():
    (X, y), (X2, y2) = moons(2)
    with pytest.raises(NotFittedError):
        NeverEndingClassifier().ask(1)
    with pytest.raises(ValueError, match="no label is known yet"):
        NeverEndingClassifier().partial_fit(X).predict(X)
    for name, value in [
        ("kernel", "poly"),
        ("gamma", -1.0),
        ("loss", "square"),
        ("strategy", "guess"),
        ("forgetting", ("never", 1)),
        ("forgetting", ("window", 0)),
        ("class_weight", "heavy"),
        ("C", 0.0),
        ("exploration_rate", 2.0),
    ]:
        with pytest.raises(ValueError):
            NeverEndingClassifier(**{name: value}).fit(X, y)
    model = NeverEndingClassifier().fit(X, np.where(y == 0, "cat", "dog").astype(object))
    before = model.to_bytes()
    nans = np.full((3, 2), np.nan)
    for X_bad, y_bad in [(X2[:, :1], None), (X2, y2), (X2, y2[:5].astype(str)), (nans, None)]:
        with pytest.raises(ValueError):
            model.partial_fit(X_bad, y_bad)
    with pytest.raises(ValueError, match="not asked about"):
        model.answer([3], ["cat"])
    with pytest.raises(ValueError, match="every sample needs one"):
        model.answer([3, 4], ["cat"])
    with pytest.raises(ValueError, match="whole number"):
        model.ask(1.5)
    with pytest.raises(ValueError, match="whole numbers"):
        model.skip([0.5])
    assert model.to_bytes() == before
    with pytest.raises(ValueError, match="y holds -1 and 1 alone"):
        NeverEndingClassifier().fit(X, 2 * y - 1)


def test_defaults_are_those_of_the_engine():
    core, own = json.loads(_core.Engine.defaults()), NeverEndingClassifier().get_params()
    names = {name: core_name for core_name, name in ENGINE_NAMES.items()}
    chosen_here = {"gamma", "scale", "class_weight", "forgetting"}  # by the rules of scikit-learn, or None for a word
    for name in set(names) - chosen_here:
        assert own[name] == core[names[name]], name
    assert own["queries_per_batch"] == core["budget"]["per_batch"]
    assert own["total_budget"] == core["budget"]["total"]
    assert (core["class_weight"], core["forget"]) == ("none", "nothing")


@pytest.mark.parametrize(
    "name",
    ["C", "kernel", "gamma", "loss", "scale", "strategy", "queries_per_batch", "total_budget", "label_source"]
    + ["forgetting", "max_labels", "max_points", "exploration_rate", "class_weight", "random_state"],
)
def test_a_wrong_type_is_an_error_that_names_the_parameter(name):
    (X, y), *_ = moons(1)
    for value in ("utter nonsense", [1.5], 1j):
        with pytest.raises((TypeError, ValueError), match=name):
            NeverEndingClassifier(**{name: value}).fit(X, y)


def test_labels_are_texts_or_numbers():
    X = np.eye(4)
    with pytest.raises(ValueError, match="a text or a number"):
        NeverEndingClassifier().partial_fit(X, np.array(["2026-01-01", "2026-01-02"] * 2, dtype="datetime64[D]"))


def test_no_question_has_the_layout_of_the_batch():
    X = sparse.csr_matrix(np.eye(4))
    ids, found = NeverEndingClassifier(strategy="none").partial_fit(X, [0, 1, 0, 1]).ask(2, return_X=True)
    assert len(ids) == 0 and sparse.issparse(found) and found.shape == (0, 4)
