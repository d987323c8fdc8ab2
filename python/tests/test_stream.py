"""NeverEndingClassifier: checks of scikit-learn, queries, bounded memory and bit-identical resumption."""

import inspect
import json
import pickle
import re

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_iris, make_blobs, make_moons
from sklearn.exceptions import NotFittedError
from sklearn.utils.estimator_checks import parametrize_with_checks

from evermargin import NeverEndingClassifier, _core
from evermargin._stream import ENGINE_SPECS, RENAMED

MINUS_ONE = "the check has a class -1, which marks unlabeled rows by default"


def expected_failures(estimator):
    return {"check_classifiers_classes": MINUS_ONE} if estimator.missing_label == -1 else {}


@parametrize_with_checks(
    [NeverEndingClassifier(), NeverEndingClassifier(missing_label=None, label_source="model", loss="ramp")],
    expected_failed_checks=expected_failures,
)
def test_scikit_learn_check(estimator, check):
    check(estimator)


def moons(batches, rows=100, seed=0, noise=0.1):
    rng = np.random.RandomState(seed)
    return [make_moons(rows, noise=noise, random_state=rng) for _ in range(batches)]


def run(model, stream):
    """Feed batches and answer every query with the true label."""
    base = model.metrics_["samples"] if hasattr(model, "classes_") else 0
    for X, y in stream:
        model.partial_fit(X)
        while len(ids := model.ask(2)):
            model.answer(ids, y[ids - base])
        base += len(y)
    return model


def test_few_answers_suffice_for_moons():
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
    assert model.confidence_.shape == (100,) and np.all((0 <= model.confidence_) & (model.confidence_ <= 1))


def test_fit_on_labeled_rows_acts_like_a_supervised_classifier():
    X, y = load_iris(return_X_y=True)
    names = np.array(["setosa", "versicolor", "virginica"])[y]
    model = NeverEndingClassifier().fit(X, names)
    assert model.score(X, names) > 0.95
    assert model.classes_.tolist() == ["setosa", "versicolor", "virginica"]
    f = model.decision_function(X)
    np.testing.assert_array_equal(model.classes_[f.argmax(axis=1)], model.predict(X))
    np.testing.assert_array_equal(model.labels_, names)


@pytest.mark.parametrize("missing", [-1, None, float("nan"), "?"])
def test_missing_label_can_be_any_value(missing):
    X, y = make_moons(100, noise=0.1, random_state=0)
    few = np.array([int(v) if i % 4 == 0 else missing for i, v in enumerate(y)], dtype=object)
    if missing == -1 or missing != missing:
        few = few.astype(float)
    if missing == "?":
        few = few.astype(str)
    model = NeverEndingClassifier(gamma=5.0, scale="none", missing_label=missing).fit(X, few)
    assert len(model.classes_) == 2
    assert np.mean(model.predict(X).astype(float) == y) > 0.9
    assert model.metrics_["labels_kept"] == 25


def test_new_classes_can_appear_and_only_classes_with_labels_are_predicted():
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


def test_pending_queries_do_not_cost_budget_again():
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
    assert model.answer([], []).skip([]) is model, "empty answers are allowed"


def test_queries_stay_within_the_budget():
    model = NeverEndingClassifier(queries_per_batch=4, budget=6)
    run(model, moons(4))
    assert model.metrics_["labels_spent"] == 6
    without_strategy = NeverEndingClassifier(strategy="none").partial_fit(moons(1)[0][0])
    assert len(without_strategy.ask(3)) == 0


@pytest.mark.parametrize("strategy", ["small-pool", "margin", "diverse", "bandit", "submod", "random"])
def test_every_strategy_queries_useful_samples(strategy):
    stream = moons(3)
    model = run(NeverEndingClassifier(gamma=5.0, strategy=strategy), stream)
    assert 5 < model.metrics_["labels_spent"] <= 30
    assert model.score(*stream[0]) > 0.8


def test_labels_can_be_corrected_and_withdrawn():
    X, y = make_moons(60, noise=0.05, random_state=1)
    wrong = y.copy()
    wrong[7] = 1 - wrong[7]
    correct = NeverEndingClassifier(gamma=5.0).fit(X, y)
    corrected = NeverEndingClassifier(gamma=5.0).fit(X, wrong).correct(7, y[7])
    np.testing.assert_array_equal(corrected.decision_function(X), correct.decision_function(X))
    np.testing.assert_array_equal(corrected.labels_, y)
    before = corrected.metrics_["labels_kept"]
    corrected.withdraw(7)
    assert corrected.metrics_["labels_kept"] == before - 1
    assert corrected.labels_[7] == -1
    with pytest.raises(ValueError, match="sample 7 has no label"):
        corrected.withdraw(7)


def test_fit_resets_the_classifier():
    stream = moons(2)
    model = run(NeverEndingClassifier(), stream)
    X, y = stream[0]
    model.fit(X, y)
    fresh = clone(model).fit(X, y)
    assert model.metrics_ == fresh.metrics_ and model.events_ == fresh.events_
    np.testing.assert_array_equal(model.decision_function(X), fresh.decision_function(X))
    assert model.to_bytes() == fresh.to_bytes()


@pytest.mark.parametrize("format", ["pickle", "bytes", "file"])
def test_restored_state_is_bit_identical(format, tmp_path):
    stream = moons(4)
    model = NeverEndingClassifier(gamma=5.0, class_weight={0: 2.0, 1: 1.0}, forget="window=12")
    run(model, stream[:2])
    if format == "pickle":
        other = pickle.loads(pickle.dumps(model))
    elif format == "bytes":
        other = NeverEndingClassifier.from_bytes(model.to_bytes())
    else:
        model.save(tmp_path / "state")
        other = NeverEndingClassifier.load(tmp_path / "state")
        assert [p.name for p in tmp_path.iterdir()] == ["state"], "no temporary file is left"
    assert other.get_params() == {**model.get_params(), "random_state": other.random_state}
    np.testing.assert_array_equal(other.labels_, model.labels_)
    for one in (model, other):
        run(one, stream[2:])
    X = stream[0][0]
    np.testing.assert_array_equal(model.decision_function(X), other.decision_function(X))
    assert model.metrics_ == other.metrics_ and model.events_ == other.events_


def test_damaged_state_is_an_error():
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


def test_memory_of_a_long_stream_is_bounded():
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


def test_drift_is_an_event_and_no_warning(recwarn):
    rng = np.random.RandomState(0)
    model = NeverEndingClassifier(gamma=2.0, forget="on-drift=2", label_source="model")
    for batch in range(24):
        X, y = make_moons(60, noise=0.1, random_state=rng)
        model.partial_fit(X, y if batch < 16 else 1 - y)
    assert model.metrics_["drifts"] > 0
    drifts = [event for event in model.events_ if event["event"] == "drift"]
    assert drifts and all(16 <= d["batch"] and d["now"] > d["before"] for d in drifts)
    assert model.score(X, 1 - y) > 0.9, "labels from before the drift are forgotten"
    assert not recwarn.list


def test_sparse_and_dense_streams_give_the_same_result():
    stream = moons(3)
    dense = run(NeverEndingClassifier(gamma=5.0, scale="none", strategy="random"), stream)
    sparse_stream = [(sparse.csr_matrix(X), y) for X, y in stream]
    from_sparse = run(NeverEndingClassifier(gamma=5.0, scale="none", strategy="random"), sparse_stream)
    X = stream[0][0]
    np.testing.assert_array_equal(dense.predict(X), from_sparse.predict(sparse.csr_matrix(X)))
    ids, rows = from_sparse.partial_fit(sparse.csr_matrix(X)).ask(2, return_X=True)
    np.testing.assert_array_equal(rows.toarray(), X[ids - 300])


def test_prediction_leaves_the_state_unchanged():
    model = run(NeverEndingClassifier(), moons(2))
    before = model.to_bytes()
    model.predict(moons(1)[0][0])
    model.decision_function(moons(1)[0][0])
    assert model.to_bytes() == before


def test_errors_leave_the_state_unchanged():
    (X, y), (X2, y2) = moons(2)
    with pytest.raises(NotFittedError):
        NeverEndingClassifier().ask(1)
    with pytest.raises(ValueError, match="no label is known yet"):
        NeverEndingClassifier().partial_fit(X).predict(X)
    for name, value in [
        ("kernel", "sigmoid"),
        ("gamma", -1.0),
        ("loss", "square"),
        ("strategy", "guess"),
        ("forget", "never=1"),
        ("forget", "window=0"),
        ("forget", ("window", 12)),
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
    with pytest.raises(ValueError, match="y contains only -1 and 1"):
        NeverEndingClassifier().fit(X, 2 * y - 1)


def python_name(name):
    return RENAMED.get(name, name)


def test_signature_matches_the_table_of_engine_parameters():
    """Names, order and defaults match the command line, which uses the same table."""
    specs = json.loads(_core.engine_specs())
    parameters = inspect.signature(NeverEndingClassifier).parameters
    assert list(parameters) == [python_name(spec["name"]) for spec in specs] + ["missing_label", "state"]
    for spec in specs:
        default = parameters[python_name(spec["name"])].default
        expected = None if spec["name"] == "seed" else spec["default"]
        assert default == expected and type(default) is type(expected), spec["name"]


#: Parameters with their own description, because their values have another form in Python.
DESCRIBED_FOR_PYTHON = {"class_weight", "queries_per_round", "ratio", "seed"}


@pytest.mark.parametrize("name", list(ENGINE_SPECS))
def test_docstring_has_the_help_of_the_table(name):
    spec, section = ENGINE_SPECS[name], inspect.getdoc(NeverEndingClassifier).split("Attributes\n---")[0]
    default = inspect.signature(NeverEndingClassifier).parameters[python_name(name)].default
    shown = f'"{default}"' if isinstance(default, str) else repr(default)
    found = re.search(rf"^{python_name(name)} : .*, default={re.escape(shown)}\n((?:    .*\n)+)", section, re.MULTILINE)
    assert found, name
    if name not in DESCRIBED_FOR_PYTHON:
        text = re.sub(r"\bnone\b", "None", spec["help"]) if spec["default"] is None else spec["help"]
        text = re.sub(r"(?<![\w-])c(?![\w-])", "C", text)
        assert " ".join(found[1].split()) == text[0].upper() + text[1:] + "."


def other_value(spec):
    """An allowed value of an engine parameter other than its default."""
    if spec["kind"] == "choice":
        return [word for word in spec["choices"] if word not in (spec["default"], "tfidf")][-1]  # tfidf needs counts
    if spec["kind"] == "bool":
        return not spec["default"]
    return {
        "float": 0.75,
        "integer": 17,
        "gamma": 0.3,
        "ratio": [0.25, 0.75],
        "optional-count": 7,
        "optional-float": 7.5,
        "quota": "20/3600",
        "class-weights": {0: 2.0, 1: 0.5},
        "rule": "window=5",
    }[spec["kind"]]


#: Settings under which a parameter takes effect.
NEEDED = {
    "degree": {"kernel": "poly"},
    "coef0": {"kernel": "poly"},
    "gamma": {"kernel": "rbf"},
    "label_price": {"label_price": 2.0, "error_price": 3.0},
    "error_price": {"label_price": 2.0, "error_price": 3.0},
}


def settings_of(params):
    model = NeverEndingClassifier(**params).partial_fit(*moons(1)[0])
    return json.loads(model._engine.params())


@pytest.mark.parametrize("name", list(ENGINE_SPECS))
def test_every_parameter_reaches_the_engine(name):
    value, base = other_value(ENGINE_SPECS[name]), NEEDED.get(name, {})
    default, changed = settings_of(base), settings_of({**base, python_name(name): value})
    assert {n for n in default if default[n] != changed[n]} == {name}
    expected = {"0": 2.0, "1": 0.5} if name == "class_weight" else value
    assert changed[name] == expected


def test_defaults_match_the_engine():
    specs = {name: "none" if spec["default"] is None else spec["default"] for name, spec in ENGINE_SPECS.items()}
    assert settings_of({}) == specs


def test_ask_returns_queries_per_round_samples():
    X, y = moons(1)[0]
    model = NeverEndingClassifier(queries_per_round=3).partial_fit(X)
    assert model.metrics_["labels_spent"] == 0
    assert len(ids := model.ask()) == 3 and model.metrics_["labels_spent"] == 3
    assert model.answer(ids, y[ids]).metrics_["labels_spent"] == 3, "answers make no queries"
    assert len(model.ask()) == 3 and len(model.ask(50)) == 7
    model.skip(model.ask(50)).partial_fit(X)
    assert len(model.set_params(queries_per_round=5).ask()) == 3, "changed parameters take effect with fit"


@pytest.mark.parametrize("ratio", [[0.15, 0.85], 0.85])
def test_ratio_is_in_the_order_of_class_names_in_memory_and_on_disk(tmp_path, ratio):
    """The first class name is that of the class that appears last."""
    X, y = moons(1)[0]
    parts = [np.full(len(y), None, dtype=object) for _ in range(2)]
    parts[0][np.flatnonzero(y == 0)[:6]] = "z"
    parts[1][np.flatnonzero(y == 1)[:4]] = "a"

    def labels(ratio, **params):
        model = NeverEndingClassifier(ratio=ratio, label_source="transduction", missing_label=None, **params)
        for part in parts:
            model = model.partial_fit(X, part)
        assert list(model.classes_) == ["a", "z"]
        return model.close_batch().labels_

    found = labels(ratio)
    # a session numbers the classes in another order, so that the number of rows of a share may be rounded differently
    assert np.sum(found != labels(ratio, state=tmp_path / "state")) <= 1
    assert np.mean(found == "z") > np.mean(labels([0.85, 0.15]) == "z") + 0.2


@pytest.mark.parametrize("on_disk", [False, True])
def test_ratio_for_another_number_of_classes_is_noted_once(tmp_path, on_disk):
    X, y = moons(1)[0]
    model = NeverEndingClassifier(ratio=[0.2, 0.3, 0.5], state=tmp_path / "state" if on_disk else None)
    known = np.where(np.arange(len(y)) < 40, y, -1)
    model = model.partial_fit(X, known).partial_fit(X, known)
    notes = [e["text"] for e in model.events_ if e["event"] == "note" and "ratio" in e["text"]]
    assert notes == ["the ratio is for 3 classes, and there are 2 so far: it is not used until there are 3"]
    model.close()


def run_with_comparisons(model, X, y, batches):
    """Feed a stream and answer only comparisons; return the model and the numbers of answers of each kind."""
    counts = {"same": 0, "different": 0}
    for part in np.array_split(np.arange(len(X)), batches):
        known = np.where(part < 30, y[part], -1)
        model = model.partial_fit(X[part], known)
        compared = set()
        while len(ids := model.ask(1)):
            [reference] = model.references(ids)
            if reference is None:
                try:
                    model.compare(ids)
                except ValueError:
                    model.skip(ids)
                continue
            pair = (int(ids[0]), reference["class"])
            assert pair not in compared and y[reference["sample"]] == reference["class"]
            compared.add(pair)
            same = bool(y[ids[0]] == reference["class"])
            counts["same" if same else "different"] += 1
            model = model.relate(ids[0], reference["sample"], same)
            if same:
                assert model.labels_[ids[0] - part[0]] == reference["class"]
                assert model.sources_[ids[0] - part[0]] == "given"
    return model, counts


def test_comparisons_label_samples_whose_class_cannot_be_named(tmp_path):
    X, y = make_blobs(400, centers=5, cluster_std=2.5, random_state=3)
    y = np.array([7, 3, 9, 1, 5])[y]
    model, counts = run_with_comparisons(NeverEndingClassifier(queries_per_batch=15, random_state=1), X, y, 4)
    assert counts["same"] > 10 and counts["different"] > 5, counts
    ids, codes = model._engine.labels()
    assert len(ids) > 40 and [model._label_encoder.label(c) for c in codes.tolist()] == y[ids].tolist()
    durable = NeverEndingClassifier(queries_per_batch=15, random_state=1, state=tmp_path / "state")
    durable, again = run_with_comparisons(durable, X, y, 4)
    assert again["same"] > 10
    before = durable.predict(X)
    durable.close()
    resumed = NeverEndingClassifier(queries_per_batch=15, random_state=1, state=tmp_path / "state")
    assert (resumed.predict(X) == before).all()
    resumed.close()


def test_invalid_comparisons_are_errors():
    X, y = moons(1)[0]
    model = NeverEndingClassifier().partial_fit(X)
    [first] = model.ask(1)
    with pytest.raises(ValueError, match="cannot be compared: no class has a labeled sample"):
        model.compare(first)
    with pytest.raises(ValueError, match="is not asked about"):
        model.compare(first + 1)
    with pytest.raises(ValueError, match=r"999999.* are not asked about"):
        model.references([first, 999999])
    with pytest.raises(ValueError, match="cannot be related to itself"):
        model.relate(first, first, True)
    known = np.where(np.arange(len(y)) < 20, y, -1)
    model = NeverEndingClassifier(pairwise_queries="after-skip").partial_fit(X, known)
    [second] = model.ask(1)
    assert model.references(second) == [None]
    model.skip(second)
    assert model.ask(1) == [second], "a skipped question becomes a comparison"
    [reference] = model.references(second)
    first = reference["sample"]
    for word in ["no", "yes", 0, 1, None, np.array([True])]:
        with pytest.raises(TypeError, match="same must be True or False"):
            model.relate(second, first, word)
    assert first < 20 and reference["class"] == y[first]
    model.relate(second, first, np.bool_(True))
    assert model.labels_[second] == y[first]
    model.withdraw(first)
    assert model.sources_[second] is None and model.sources_[first] is None


@pytest.mark.parametrize(
    ("name", "value", "allowed"),
    [
        ("C", -1.0, "a number above 0"),
        ("C", "3", "a number above 0"),
        ("C", None, "a number above 0"),
        ("C", float("nan"), "a number above 0"),
        ("strategy", "margins", "did you mean margin?"),
        ("strategy", None, "one of small-pool, margin"),
        ("budget", -1, "None, or a whole number from 0 on"),
        ("budget", 1.5, "None, or a whole number from 0 on"),
        ("queries_per_batch", None, "a whole number from 0 on"),
        ("per_time", (20, 3600), "None, or N/SECONDS, like 20/3600"),
        ("forget", None, "one of nothing, window=N"),
        ("forget", ("window", 5), "one of nothing, window=N"),
        ("scale", 5, "one of auto, none, minmax"),
        ("novelty", "yes", "True or False"),
        ("novelty", 1, "True or False"),
        ("class_weight", {0: 0.0}, "None, balanced, ratio, or a dict of positive weights by class"),
        ("class_weight", {0: "heavy"}, "None, balanced, ratio, or a dict of positive weights by class"),
        ("class_weight", "heavy", "None, balanced, ratio, or a dict of positive weights by class"),
        ("ratio", [0.5, None], "labels, auto, or shares between 0 and 1"),
        ("max_labels", 1, "a whole number from 10 to 16777216"),
        ("label_price", 2.0, "given together with error_price"),
        ("queries_per_round", 0, "a whole number from 1 to 16777216"),
        ("random_state", -1, "from 0 to"),
        ("random_state", "one", "a whole number, a RandomState instance or None"),
    ],
)
def test_errors_name_the_parameter_the_value_and_the_allowed_values(name, value, allowed):
    with pytest.raises(_core.ParameterError) as error:
        NeverEndingClassifier(**{name: value}).fit(*moons(1)[0])
    assert str(error.value).startswith(f"{name}={value!r}: must be ") and allowed in str(error.value)
    assert error.value.name == name and allowed in error.value.allowed


@pytest.mark.parametrize("name", [python_name(name) for name in ENGINE_SPECS])
def test_error_for_a_wrong_type_names_the_parameter(name):
    (X, y), *_ = moons(1)
    for value in ("utter nonsense", {"a": [1.5]}, 1j):
        with pytest.raises((TypeError, ValueError), match=name):
            NeverEndingClassifier(**{name: value}).fit(X, y)


def test_labels_have_confidences_and_sources():
    (X, y), (X2, _) = moons(2)
    few = np.where(np.arange(100) < 20, y, -1)
    model = NeverEndingClassifier(gamma=5.0).partial_fit(X[:50]).partial_fit(X, few)
    known = {"given", "model", "transduction", "tsvm", "graph", "combined"}
    assert set(model.sources_[:20]) == {"given"} and set(model.sources_) <= known | {None}
    model.partial_fit(X2)
    assert set(model.sources_) <= known - {"given"} and np.all((0 < model.confidence_) & (model.confidence_ <= 1))
    assert {s["source"] for s in model.label_sources_} <= known - {"given", "combined"}
    assert all(set(s) == {"source", "weight", "accuracy"} for s in model.label_sources_)
    assert sum(s["weight"] for s in model.label_sources_) == pytest.approx(1.0)
    again = NeverEndingClassifier.from_bytes(model.to_bytes())
    np.testing.assert_array_equal(again.sources_, model.sources_)
    assert again.label_sources_ == model.label_sources_
    ids = model.ask(1)
    assert model.answer(ids, y[:1]).sources_[ids[0] - 150] == "given"
    assert model.withdraw(ids[0]).sources_[ids[0] - 150] is None


def test_batch_before_any_label_has_no_sources():
    model = NeverEndingClassifier().partial_fit(moons(1)[0][0])
    assert set(model.sources_) == {None} and np.all(model.confidence_ == 0) and model.label_sources_ == []


def test_query_arms_of_the_bandit():
    model = run(NeverEndingClassifier(gamma=5.0, strategy="bandit"), moons(4))
    assert {"random", "small-pool", "diverse", "submod"} == {arm["strategy"] for arm in model.query_arms_}
    assert sum(arm["answers"] for arm in model.query_arms_) > 0
    assert all(0 <= arm["usefulness"] <= 1 for arm in model.query_arms_)
    with pytest.raises(AttributeError, match="query_arms_"):
        _ = run(NeverEndingClassifier(), moons(1)).query_arms_


def test_labels_must_be_texts_or_numbers():
    X = np.eye(4)
    with pytest.raises(ValueError, match="a text or a number"):
        NeverEndingClassifier().partial_fit(X, np.array(["2026-01-01", "2026-01-02"] * 2, dtype="datetime64[D]"))


def test_empty_query_has_the_layout_of_the_batch():
    X = sparse.csr_matrix(np.eye(4))
    ids, found = NeverEndingClassifier(strategy="none").partial_fit(X, [0, 1, 0, 1]).ask(2, return_X=True)
    assert len(ids) == 0 and sparse.issparse(found) and found.shape == (0, 4)
