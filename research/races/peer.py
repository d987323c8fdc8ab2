"""Runs one measurement of a peer in its own process and prints one line of JSON.

    peer.py svc sklearn|sklearnex FOLDER C GAMMA TOLERANCE
    peer.py linear dual|primal FOLDER C
    peer.py read FILE TIMES

The calling process pins it to cores and sets the number of threads. Times cover only `fit` and `predict`, memory is the peak
when `fit` returns, and the objective is computed after all measurements.
"""

import json
import resource
import sys
import time
from pathlib import Path

import numpy as np
from prepare import load_half

#: Maximum number of support vectors for which the dual objective is computed.
MAX_OBJECTIVE_POINTS = 13_000


def peak_mib():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def timed(work):
    wall, cpu = time.perf_counter(), time.process_time()
    result = work()
    return result, time.process_time() - cpu, time.perf_counter() - wall


def dual_objective(model, gamma):
    """½αᵀKα − Σ|α| of the support vectors in double precision, computed in blocks of rows."""
    from sklearn.metrics.pairwise import rbf_kernel

    alpha, points = model.dual_coef_, model.support_vectors_
    alpha = np.asarray(alpha.todense() if hasattr(alpha, "todense") else alpha)[0]
    if len(alpha) > MAX_OBJECTIVE_POINTS:
        return None
    quadratic = 0.0
    for start in range(0, len(alpha), 1000):
        rows = slice(start, start + 1000)
        quadratic += alpha[rows] @ (rbf_kernel(points[rows], points, gamma=gamma) @ alpha)
    return float(0.5 * quadratic - np.abs(alpha).sum())


def svc(which, folder, c, gamma, tolerance):
    if which == "sklearnex":
        from sklearnex.svm import SVC
    else:
        from sklearn.svm import SVC
    x, y = load_half(folder, "train")
    test, truth = load_half(folder, "test")
    model = SVC(C=c, gamma=gamma, tol=tolerance, cache_size=1000)
    _, cpu, wall = timed(lambda: model.fit(x, y))
    out = dict(cpu=cpu, wall=wall, peak_mib=peak_mib(), support=int(np.sum(model.n_support_)))
    found, cpu, wall = timed(lambda: model.predict(test))
    out |= dict(predict_cpu=cpu, predict_wall=wall, rows=test.shape[0], accuracy=float(np.mean(found == truth)))
    return out | dict(objective=dual_objective(model, gamma))


def linear(form, folder, c):
    from sklearn.svm import LinearSVC

    x, y = load_half(folder, "train")
    test, truth = load_half(folder, "test")
    model = LinearSVC(loss="squared_hinge", C=c, dual=form == "dual", random_state=0, max_iter=100_000)
    _, cpu, wall = timed(lambda: model.fit(x, y))
    out = dict(cpu=cpu, wall=wall, peak_mib=peak_mib(), support=int(np.count_nonzero(model.coef_)))
    found, cpu, wall = timed(lambda: model.predict(test))
    out |= dict(predict_cpu=cpu, predict_wall=wall, rows=test.shape[0], accuracy=float(np.mean(found == truth)))
    w, b = model.coef_[0], model.intercept_[0]
    loss = np.maximum(0, 1 - np.where(y > 0, 1, -1) * (x @ w + b))
    return out | dict(objective=float(0.5 * (w @ w + b * b) + c * (loss @ loss)))


def read(file, times):
    from sklearn.datasets import load_svmlight_file

    best = min(timed(lambda: load_svmlight_file(file))[2] for _ in range(times))
    return dict(megabytes=Path(file).stat().st_size / 1e6, cpu=best, wall=best, peak_mib=peak_mib())


if __name__ == "__main__":
    what, *rest = sys.argv[1:]
    if what == "svc":
        out = svc(rest[0], Path(rest[1]), *map(float, rest[2:5]))
    elif what == "linear":
        out = linear(rest[0], Path(rest[1]), float(rest[2]))
    else:
        out = read(rest[0], int(rest[1]))
    print(json.dumps(out))
