"""Forks, threads, interrupts and progress output."""

import _thread
import multiprocessing
import os
import pickle
import signal
import subprocess
import sys
import textwrap
import threading
import time

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.model_selection import cross_val_score

from evermargin import SVC, NeverEndingClassifier


def slow_problem(rows=4000):
    return make_classification(rows, 20, n_informative=15, flip_y=0.4, random_state=0)


def _answer(seed):
    X, y = make_classification(200, random_state=seed)
    return SVC().fit(X, y).decision_function(X)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_forked_children_create_their_own_threads():
    before = _answer(1)  # the thread pool of the parent is running
    with multiprocessing.get_context("fork").Pool(2) as pool:
        for found in pool.map_async(_answer, [1, 1, 1, 1]).get(timeout=60):
            assert (found == before).all()


def test_joblib_workers_give_the_same_scores():
    X, y = make_classification(200, random_state=0)
    assert (cross_val_score(SVC(), X, y, n_jobs=2) == cross_val_score(SVC(), X, y)).all()


def test_fit_releases_the_lock_and_can_be_interrupted():
    X, y = slow_problem()
    ticks = []

    def tick():
        for _ in range(100):
            time.sleep(0.005)
            ticks.append(time.monotonic())
        _thread.interrupt_main()

    thread = threading.Thread(target=tick)
    thread.start()
    with pytest.raises(KeyboardInterrupt):
        SVC(C=1e4, tol=1e-9, cache_size=1).fit(X, y)
    thread.join()
    assert ticks[-1] - ticks[0] < 5, "fit held the global interpreter lock"


@pytest.mark.skipif(os.name == "nt", reason="signals differ")
def test_verbose_prints_progress_and_ctrl_c_interrupts():
    code = """
        from sklearn.datasets import make_classification
        from evermargin import SVC
        X, y = make_classification(20000, 20, n_informative=15, flip_y=0.4, random_state=0)
        try:
            SVC(C=1e4, tol=1e-9, cache_size=1, verbose=True).fit(X, y)
        except KeyboardInterrupt:
            print("interrupted")
    """
    child = subprocess.Popen(
        [sys.executable, "-u", "-c", textwrap.dedent(code)], stdout=subprocess.PIPE, text=True, start_new_session=True
    )
    line = child.stdout.readline()
    child.send_signal(signal.SIGINT)
    output = child.communicate(timeout=100)[0]
    assert line.startswith("[evermargin svc]") and "violation" in line
    assert output.splitlines()[-1] == "interrupted"


def test_interrupted_batch_leaves_the_stream_unchanged():
    X, y = slow_problem(20_000)
    model = NeverEndingClassifier(kernel="rbf", strategy="none").partial_fit(X[:100], y[:100])
    before = model.decision_function(X[:50])
    timer = threading.Timer(0.2, _thread.interrupt_main)
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        model.partial_fit(X, y)
    timer.join()
    assert model.metrics_["batches"] == 1
    assert (model.decision_function(X[:50]) == before).all()


def test_large_batch_in_a_copied_engine_is_bit_identical():
    """A large batch is learned in a copy of the engine; the result equals that of a restored engine."""
    X, y = slow_problem(1300)
    few = np.where(np.arange(1300) % 20 == 0, y, -1)
    large = NeverEndingClassifier().partial_fit(X[:300], few[:300]).partial_fit(X, few)
    again = pickle.loads(pickle.dumps(NeverEndingClassifier().partial_fit(X[:300], few[:300]))).partial_fit(X, few)
    assert (large.decision_function(X) == again.decision_function(X)).all()
    assert (large.labels_ == again.labels_).all()


def test_fit_prints_nothing_by_default(capfd):
    SVC().fit(np.eye(4), [0, 1, 0, 1])
    assert capfd.readouterr().out == ""
