"""Durable streams: resuming after a crash, rejected rows, typed errors."""

import json
import os
import shutil
import signal
import subprocess
import sys
import textwrap
import threading
import time

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import make_moons
from sklearn.exceptions import NotFittedError

from evermargin import (
    Corrupt,
    NeverEndingClassifier,
    OtherCpu,
    ParameterError,
    Rejected,
    Session,
    SessionError,
    StorageError,
    StorageFull,
    _core,
)
from evermargin._session import class_label, class_name

X, Y = make_moons(300, noise=0.1, random_state=0)


def stream(model, first, last):
    """Feed batches of 50 rows and answer their queries."""
    for start in range(first, last, 50):
        part = slice(start, start + 50)
        model.partial_fit(X[part], np.where(np.arange(50) % 25 == 0, Y[part], -1))
        ids = model.ask(4)
        model.answer(ids, Y[ids])
    return model


def test_resumed_classifier_is_bit_identical(tmp_path):
    whole = stream(NeverEndingClassifier(gamma=5), 0, 300)
    state = tmp_path / "state"
    for first in range(0, 300, 100):
        model = stream(NeverEndingClassifier(gamma=5, state=state), first, first + 100)
        after = model.decision_function(X)
        model.close()
    again = NeverEndingClassifier(gamma=5, state=state)
    assert np.array_equal(again.predict(X), whole.predict(X))
    assert np.array_equal(again.decision_function(X), after)
    assert np.array_equal(after, whole.decision_function(X))
    assert again.classes_.dtype == whole.classes_.dtype and again.n_features_in_ == 2
    assert again.metrics_ == whole.metrics_


def test_durable_classifier_equals_the_classifier_in_memory(tmp_path):
    one, other = NeverEndingClassifier(gamma=5), NeverEndingClassifier(gamma=5, state=tmp_path / "state")
    for model in (one, other):
        stream(model, 0, 150).close_batch()
    assert np.array_equal(one.labels_, other.labels_)
    assert np.array_equal(one.confidence_, other.confidence_)
    assert one.events_ == other.events_
    assert np.array_equal(one.exemplars_, other.exemplars_)


def test_stream_resumes_after_the_process_was_killed(tmp_path):
    state = tmp_path / "state"
    script = f"""
        import os, signal
        import numpy as np
        from sklearn.datasets import make_moons
        from evermargin import NeverEndingClassifier
        X, y = make_moons(300, noise=0.1, random_state=0)
        model = NeverEndingClassifier(gamma=5, state={str(state)!r})
        for start in range(0, 200, 50):
            model.partial_fit(X[start : start + 50], y[start : start + 50])
        os.kill(os.getpid(), signal.SIGKILL)
    """
    ended = subprocess.run([sys.executable, "-c", textwrap.dedent(script)])
    assert ended.returncode == -9
    model = NeverEndingClassifier(gamma=5, state=state).partial_fit(X[200:], Y[200:])
    whole = NeverEndingClassifier(gamma=5)
    for part in (slice(0, 50), slice(50, 100), slice(100, 150), slice(150, 200), slice(200, 300)):
        whole.partial_fit(X[part], Y[part])
    assert np.array_equal(model.decision_function(X), whole.decision_function(X))


@pytest.mark.parametrize("labels", [["no", "yes"], ["1", "2"], [1.0, 2.0], [7, 3], ["null", "[1]"]])
def test_labels_keep_their_type(tmp_path, labels):
    y = np.array(labels)[Y]
    NeverEndingClassifier(state=tmp_path / "state").partial_fit(X, y).close()
    again = NeverEndingClassifier(state=tmp_path / "state")
    assert (again.predict(X) == y).mean() > 0.9
    assert again.classes_.tolist() == sorted(labels)
    for label in labels:
        assert class_label(class_name(label)) == label and type(class_label(class_name(label))) is type(label)


def test_parameters_of_a_session_cannot_change(tmp_path):
    state = tmp_path / "state"
    model = NeverEndingClassifier(C=2.0, state=state).partial_fit(X, Y)
    with pytest.raises(ValueError, match="holds a session"):
        model.fit(X, Y)
    model.close()
    with pytest.raises(ValueError, match="began with other values of: C"):
        NeverEndingClassifier(C=5.0, state=state).partial_fit(X, Y)
    with pytest.raises(ValueError, match="holds a session"):
        NeverEndingClassifier(C=2.0, state=state).fit(X, Y)
    again = NeverEndingClassifier(C=2.0, state=state).partial_fit(X, Y)
    with pytest.raises(ValueError, match="has no label that could be changed"):
        again.correct(10**6, 1)
    again.close()
    weighted = NeverEndingClassifier(class_weight={0: 2.0}, state=tmp_path / "weighted").partial_fit(X, Y)
    weighted.close()
    assert len(clone(weighted).predict(X)) == 300


def test_budget_can_change_when_a_session_is_resumed(tmp_path):
    state = tmp_path / "state"
    model = NeverEndingClassifier(queries_per_batch=2, state=state).partial_fit(X[:100])
    assert len(model.ask(5)) == 2
    model.close()
    budget = {"budget": 5, "queries_per_batch": 4, "per_time": "50/1", "queries_per_round": 3}
    model = NeverEndingClassifier(**budget, state=state).partial_fit(X[100:200])
    assert len(model.skip(model.ask(2)).ask()) == 3
    params = json.loads(model._engine.params())
    assert {name: params[name] for name in budget} == budget
    events = model.metrics_
    model.close()
    again = NeverEndingClassifier(**budget, state=state)
    assert again.metrics_ == events, "the changed budget is part of the session"
    again.close()
    for name, value in {"C": 2.0, "gamma": 5.0, "exemplars": 10, "strategy": "margin", "cache_mb": 3, "random_state": 7}.items():
        with pytest.raises(ValueError, match=f"began with other values of: .*{name}"):
            NeverEndingClassifier(**{name: value}, **budget, state=state).partial_fit(X, Y)
    with Session(state, queries_per_batch=9) as session:
        assert len(session.ask()) == 4, "the pending queries and one more"
    with Session(state) as session:
        assert json.loads(session._session.params())["queries_per_batch"] == 9, "without parameters nothing changes"
    with pytest.raises(ValueError, match="other values of: C"):
        Session(state, C=2.0)


def test_resumed_session_keeps_label_sources_and_arms(tmp_path):
    state = tmp_path / "state"
    model = NeverEndingClassifier(gamma=5, strategy="bandit", state=state).partial_fit(X[:100], Y[:100])
    model.partial_fit(X[100:]).close_batch()
    sources, weights, arms = model.sources_, model.label_sources_, model.query_arms_
    assert len(sources) == 200 and weights and len(arms) == 4
    model.close()
    again = NeverEndingClassifier(gamma=5, strategy="bandit", state=state)
    assert again.label_sources_ == weights and again.query_arms_ == arms
    assert again.sources_.tolist() == sources.tolist()
    again.close()
    with Session(state) as session:
        assert session.label_sources == weights


def test_classifier_with_an_empty_state_directory_is_not_fitted(tmp_path):
    model = NeverEndingClassifier(state=tmp_path / "state")
    with pytest.raises(NotFittedError):
        model.predict(X)
    assert not (tmp_path / "state").exists()
    with pytest.raises(ParameterError, match=r"C=-1\.0"):
        NeverEndingClassifier(C=-1.0, state=tmp_path / "state").partial_fit(X, Y)
    assert NeverEndingClassifier(state=tmp_path / "state").partial_fit(X, Y).predict(X).shape == (300,)


def huge_value():
    rows = X.copy()
    rows[7, 1] = 3e15
    return rows


def tiny_then_large_column():
    rng = np.random.default_rng(0)
    column = np.concatenate([1e-9 * rng.random(60), 1e7 * rng.random(240)])
    return np.column_stack([X, column])


def identical_first_rows():
    rows = X.copy()
    rows[:60] = 0.25
    return rows


@pytest.mark.parametrize("scale", ["none", "standard", "minmax", "auto"])
@pytest.mark.parametrize("durable", [False, True])
@pytest.mark.parametrize("rows", [huge_value, tiny_then_large_column, identical_first_rows])
def test_classifier_survives_hostile_streams(tmp_path, rows, durable, scale):
    rows, state = rows(), tmp_path / "state" if durable else None
    model = NeverEndingClassifier(scale=scale, state=state)
    for start in range(0, 300, 60):
        part = slice(start, start + 60)
        model.partial_fit(rows[part], Y[part])
        assert len(model.labels_) == 60
        ids = model.ask(2)
        model.answer(ids, Y[ids])
        if durable:
            before = model.predict(rows)
            model.close()
            model = NeverEndingClassifier(scale=scale, state=state)
            assert np.array_equal(model.predict(rows), before)
    assert model.metrics_["rows"] + model.metrics_["rejected_rows"] == model.metrics_["samples"] == 300
    assert model.metrics_["rejected_rows"] == 0 or rows.max() == 3e15  # scaling adapts to the other streams
    assert model.predict(X if rows.shape[1] == 2 else rows).shape == (300,)


@pytest.mark.parametrize("layout", [np.asarray, sparse.csr_array])
def test_unusable_rows_are_rejected_one_by_one(tmp_path, layout):
    rows = X.copy()
    rows[3, 0], rows[40, 1], rows[41, 0] = np.nan, np.inf, 1e200
    with Session.open(tmp_path / "state", gamma=5) as session:
        assert session.ingest(layout(rows), Y) == 3
        assert [r["reason"] for r in session.rejected_rows] == [
            "value is not a number",
            "value is infinite",
            "value is too large",
        ]
        session.close_batch()
        assert [r["sample"] for r in session.rejected_rows] == [3, 40, 41]
        assert session.stats["rejected_rows"] == 3
        assert (session.stats["rows"], session.stats["samples"]) == (297, 300)
        assert (session.predict(X) == Y).mean() > 0.9
    with Session.open(tmp_path / "state") as session:
        assert session.stats["rejected_rows"] == 3
        assert session.ingest(layout(X), Y) == 0


def test_answers_can_be_corrected_and_withdrawn(tmp_path):
    with Session.open(tmp_path / "state", gamma=5, queries_per_batch=20, exploration_rate=0.0) as session:
        session.ingest(X)
        asked = []
        while queries := session.queries() or session.ask(5):
            for query in queries:
                asked.append(query["sample"])
                session.answer(query["sample"], Y[query["row"]])
        assert 10 <= len(asked) <= 20
        with pytest.raises(Rejected, match="is not asked about"):
            session.answer(asked[0], 1)
        session.correct(asked[0], 1 - Y[asked[0]])
        session.withdraw(asked[0])
        session.close_batch()
        labels, confidence = session.predictions()
        assert len(labels) == len(confidence) == 300 and set(labels) == {0, 1}
        model = tmp_path / "model"
        session.save_model(model)
        assert model.stat().st_size > 0
        assert sorted(session.classes_.tolist()) == [0, 1]


def test_queries_can_become_comparisons(tmp_path):
    state, names = tmp_path / "state", np.array(["moon", "other"])[Y]
    with Session.open(state, gamma=5, queries_per_batch=20, queries_per_round=2, exploration_rate=0.0) as session:
        session.ingest(X[:100], names[:100])
        session.ingest(X[100:])
        first, second = session.ask()
        assert first["reference"] is None
        session.compare(first["sample"])
    with Session.open(state) as session:
        assert len(session.ask()) == 4, "queries_per_round is the one given when the session was created"
        first = session.queries()[0]
        reference = first["reference"]
        assert reference["sample"] < 100 and reference["class"] == names[reference["sample"]]
        with pytest.raises(Rejected, match="is compared already"):
            session.compare(first["sample"])
        before = session.stats["labels_kept"]
        session.relate(first["sample"], reference["sample"], same=bool(names[first["sample"]] == reference["class"]))
        with pytest.raises(TypeError, match="same must be True or False, not 'no'"):
            session.relate(second["sample"], first["sample"], same="no")
        session.relate(second["sample"], first["sample"], same=bool(Y[second["sample"]] == Y[first["sample"]]))
        assert len(session.queries()) == 2 and session.stats["labels_kept"] == before + 2
        stats, predicted = session.stats, session.predict(X)
    with Session.open(state) as session:
        assert session.stats == stats and (session.predict(X) == predicted).all()


def test_errors_are_typed(tmp_path):
    for error in (Rejected, StorageError, StorageFull, Corrupt):
        assert issubclass(error, SessionError)
    state = tmp_path / "state"
    with Session(state) as session:
        with pytest.raises(ValueError, match="no batch yet"):
            session.predict(X)
        session.ingest(X, Y)
        with pytest.raises(SessionError):
            Session(state)  # one process at a time
    with pytest.raises(ValueError, match="other values of: C"):
        Session(state, C=7.0)
    for name in os.listdir(state):
        path = state / name
        if path.is_file() and path.stat().st_size > 4096:
            content = bytearray(path.read_bytes())
            content[2048:4096] = bytes(2048)
            path.write_bytes(content)
    with pytest.raises(SessionError):
        Session(state)


def test_command_line_predicts_the_same_with_the_model_of_a_session(tmp_path, command_line):
    model, table, predicted = tmp_path / "m.evm", tmp_path / "d.csv", tmp_path / "predicted.tsv"
    with Session(tmp_path / "state", gamma=5) as session:
        session.ingest(X, Y)
        session.close_batch()
        session.save_model(model)
        expected = session.predict(X)
    lines = ["x0,x1,label", *(f"{a!r},{b!r},{label}" for (a, b), label in zip(X.tolist(), Y, strict=True))]
    table.write_text("\n".join(lines) + "\n")
    words = [command_line, "predict", model, table, "--label", "label", "-o", predicted]
    subprocess.run([str(w) for w in words], check=True, capture_output=True)
    found = [int(row.split("\t")[0]) for row in predicted.read_text().splitlines()[1:]]
    assert found == expected.tolist()


def test_row_counts_match_the_command_line(tmp_path, command_line):
    values = [f"{a!r},{b!r},{label}" for (a, b), label in zip(X.tolist(), Y, strict=True)]
    values[120], values[130] = "nan,1,0", "3e15,1,1"
    (tmp_path / "d.csv").write_text("\n".join(["a,b,label", *values]) + "\n")
    run = [command_line, "run", tmp_path / "d.csv", "--batch", "100", "--json", "-q"]
    said = json.loads(subprocess.run([str(w) for w in run], check=True, capture_output=True).stdout)
    rows = X.copy()
    rows[120], rows[130] = (np.nan, 1), (3e15, 1)
    with Session(tmp_path / "state") as session:
        for start in range(0, 300, 100):
            session.ingest(rows[start : start + 100])
        assert session.stats["rows"] == said["rows"] == 298
        assert session.stats["rejected_rows"] == said["rejected_rows"] == 2


def test_rejected_rows_are_reported_as_in_memory(tmp_path):
    rows = X[:100].copy()
    rows[7, 1], rows[9, 0] = 1e200, 1e200
    one, other = NeverEndingClassifier(gamma=5), NeverEndingClassifier(gamma=5, state=tmp_path / "state")
    for model in (one, other):
        model.partial_fit(rows, Y[:100])
    assert one.events_ == other.events_ and [r["row"] for r in one.events_[0]["rows"]] == [7, 9]
    assert one.metrics_ == other.metrics_


STORAGE_FAULT = """
    import resource, signal, sys
    from contextlib import suppress
    from sklearn.datasets import make_moons
    from evermargin import Session, StorageError, StorageFull
    X, y = make_moons(200, noise=0.1, random_state=0)
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    session = Session(sys.argv[1])
    if len(sys.argv) > 2:
        resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]), resource.RLIM_INFINITY))
    try:
        for done in range(100):
            before = session.stats if done else None
            session.ingest(X, y)
            before = session.stats
            session.close_batch(0)
    except StorageError as error:
        print(type(error).__name__, error)
        assert before is None or session.stats == before
        try:
            session.ask(1)
        except StorageError:
            assert before is None or session.stats == before
            resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
            for step in (session.reopen_store, lambda: session.ingest(X, y), lambda: session.close_batch(0)):
                for attempt in range(5):  # an injected error hits one write of each thread, so a later step may fail, too
                    try:
                        step()
                        break
                    except StorageError:
                        assert attempt < 4, "the store does not recover"
                        with suppress(StorageError):
                            session.reopen_store()
            print("continued")
"""


def storage_fault(state, command=(), limit=()):
    words = [*command, sys.executable, "-c", textwrap.dedent(STORAGE_FAULT), str(state), *limit]
    ended = subprocess.run(words, capture_output=True, text=True)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    with Session(state) as session:
        assert session.stats["rows"] % 200 == 0 and session.stats["rows"] > 0
    return ended.stdout


def can_trace():
    strace = shutil.which("strace")
    return strace and subprocess.run([strace, "-qq", "-o", os.devnull, "true"], capture_output=True).returncode == 0


@pytest.mark.skipif(not can_trace(), reason="strace is missing or not permitted")
def test_full_disk_raises_storage_full(tmp_path):
    fault = "inject=pwrite64:error=ENOSPC:when=30"
    trace = ["strace", "-f", "-qq", "-o", os.devnull, "-e", "trace=pwrite64", "-e", fault]
    said = storage_fault(tmp_path / "state", command=trace)
    assert said.startswith("StorageFull no space left") and "continued" in said, said


@pytest.mark.skipif(os.name != "posix", reason="needs resource limits")
def test_failed_write_raises_storage_error(tmp_path):
    said = storage_fault(tmp_path / "state", limit=["100000"])
    assert said.startswith("Storage") and "continued" in said, said


def test_session_of_another_cpu_raises_other_cpu(tmp_path):
    state = tmp_path / "state"
    with Session(state) as session:
        session.ingest(X, Y)
    _core.Session.open(str(state), True, "a level of tests").close()
    for opening in (lambda: Session(state), lambda: NeverEndingClassifier(state=state).predict(X)):
        with pytest.raises(OtherCpu, match="a level of tests"):
            opening()
    with Session(state, allow_other_cpu=True) as session:
        assert session.stats["rows"] == 300


@pytest.mark.skipif(os.name != "posix", reason="needs POSIX signals")
@pytest.mark.parametrize("durable", [False, True])
def test_interrupted_batch_leaves_the_session_unchanged(tmp_path, durable):
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(12000, 40))
    labels = (rows[:, 0] + rng.normal(size=12000) > 0).astype(int)
    state = tmp_path / "state" if durable else None
    model = NeverEndingClassifier(label_source="transduction", state=state)
    model.partial_fit(rows[:200], labels[:200])
    before, predicted = model.metrics_, model.decision_function(rows[:500])
    began = time.monotonic()
    timer = threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        model.partial_fit(rows, labels)
        time.sleep(20)  # in case the batch ends before the signal
    assert time.monotonic() - began < 15
    if model.metrics_["samples"] == 200:
        assert model.metrics_ == before
        assert np.array_equal(model.decision_function(rows[:500]), predicted)
    model.partial_fit(rows[:200], labels[:200])
    if durable:
        metrics = model.metrics_
        model.close()
        assert NeverEndingClassifier(label_source="transduction", state=state).metrics_ == metrics


def test_statistics_have_no_duplicate_names(tmp_path):
    with Session.open(tmp_path / "state", gamma=5) as session:
        session.ingest(X, Y)
        stats = session.stats
        assert {"support_count", "labels_kept", "batches", "labels_spent"} <= stats.keys()
        assert not {"support_vectors", "remembered_labels", "batch", "queries"} & stats.keys()
        assert (stats["batches"], stats["labels_kept"]) == (1, 300)


@pytest.mark.parametrize(
    ("name", "value", "allowed"),
    [
        ("scale", "best", "one of auto, none, minmax, range, standard, unit, tfidf"),
        ("label_source", "both", "one of auto, model, transduction, tsvm, graph"),
        ("loss", "log", "one of hinge, ramp"),
        ("strategy", "best", "one of small-pool, margin, diverse, bandit, submod, random, none"),
        ("max_labels", "many", "a whole number from 10 to 16777216"),
    ],
)
def test_engine_errors_list_what_is_allowed(name, value, allowed):
    with pytest.raises(ParameterError) as error:
        _core.Engine(json.dumps({name: value}))
    assert (error.value.name, error.value.value, error.value.allowed) == (name, value, allowed)
