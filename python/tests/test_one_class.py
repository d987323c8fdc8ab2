"""OneClassSVM: agreement with scikit-learn, and properties that follow from its equations."""

import subprocess

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_digits, make_moons
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import OneClassSVM as Theirs

from evermargin import OneClassSVM

MOONS = make_moons(300, noise=0.1, random_state=0)[0]
CANCER = StandardScaler().fit_transform(load_breast_cancer().data)
DIGITS = load_digits().data[:600] / 16


@pytest.mark.parametrize("X", [MOONS, CANCER, DIGITS], ids=["moons", "cancer", "digits"])
@pytest.mark.parametrize("nu", [0.013, 0.1, 0.5, 0.93])
@pytest.mark.parametrize("kernel", [{}, {"gamma": 3.0}, {"kernel": "poly", "degree": 2, "coef0": 2.0}], ids=str)
def test_same_optimum_as_scikit_learn(X, nu, kernel):
    ours = OneClassSVM(nu=nu, tol=1e-6, **kernel).fit(X)
    theirs = Theirs(nu=nu, tol=1e-7, **kernel).fit(X)
    f, g = ours.score_samples(X), theirs.score_samples(X)
    assert np.abs(f - g).max() < 1e-3 * np.abs(g).max()
    free = np.any((theirs.dual_coef_ > 1e-6) & (theirs.dual_coef_ < 1 - 1e-6))  # otherwise the offset is not unique
    if free:
        tolerance = 1e-5 * np.abs(g).max()  # if all kernel values are almost equal, decision values are rounding errors
        f, g = ours.decision_function(X), theirs.decision_function(X)
        tolerance += 1e-3 * np.abs(g).max()
        assert np.abs(f - g).max() < tolerance
        clear = np.abs(g) > tolerance
        assert (ours.predict(X) == theirs.predict(X))[clear].all()


def test_sample_weights_act_as_in_scikit_learn():
    weights = np.random.RandomState(0).uniform(0.2, 3, len(MOONS))
    ours = OneClassSVM(nu=0.2, tol=1e-6).set_params(gamma=2.0).fit(MOONS, sample_weight=weights)
    theirs = Theirs(nu=0.2, tol=1e-7, gamma=2.0).fit(MOONS, sample_weight=weights)
    g = theirs.decision_function(MOONS)
    assert np.abs(ours.decision_function(MOONS) - g).max() < 1e-3 * np.abs(g).max()


@pytest.mark.parametrize("nu", [0.01, 0.1, 0.5, 0.9, 1.0])
def test_nu_bounds_the_shares_of_outliers_and_support_vectors(nu):
    model = OneClassSVM(nu=nu).fit(MOONS)
    assert (model.predict(MOONS) == -1).mean() <= nu
    assert len(model.support_vectors_) >= nu * len(MOONS) - 1e-9


def test_follows_the_conventions_of_outlier_detectors():
    model = OneClassSVM(nu=0.1)
    found = model.fit_predict(MOONS)
    assert set(found) == {-1, 1} and (found == model.predict(MOONS)).all()
    f = model.decision_function(MOONS)
    assert np.allclose(model.score_samples(MOONS) - model.offset_, f, rtol=0, atol=1e-12)
    assert ((f > 0) == (found == 1)).all() and isinstance(model.offset_, float)
    assert model.stop_reason_ == "converged" and model.n_iter_ >= 1
    pipe = make_pipeline(StandardScaler(), OneClassSVM(nu=0.05)).fit(MOONS)
    assert (pipe.predict([[50.0, 50.0]]) == -1).all()


def test_labels_are_ignored():
    f = OneClassSVM().fit(MOONS).decision_function(MOONS)
    assert (OneClassSVM().fit(MOONS, np.arange(300) % 3).decision_function(MOONS) == f).all()


def test_precomputed_rbf_kernel_equals_rbf_kernel():
    K = np.exp(-2.0 * ((MOONS[:, None] - MOONS[None]) ** 2).sum(-1))
    f = OneClassSVM(kernel="precomputed", nu=0.3).fit(K).decision_function(K)
    g = OneClassSVM(gamma=2.0, nu=0.3).fit(MOONS).decision_function(MOONS)
    assert np.abs(f - g).max() < 1e-3 * np.abs(g).max()


def test_wrong_input_is_an_error():
    for nu in (0.0, -1.0, 1.5):
        with pytest.raises(ValueError, match=r"nu=.*: must be a number above 0, at most 1"):
            OneClassSVM(nu=nu).fit(MOONS)
    with pytest.raises(ValueError, match="nu=nan: must be a number above 0, at most 1"):
        OneClassSVM(nu=float("nan")).fit(MOONS)
    with pytest.raises(ValueError, match=r"no row to learn from|non-zero"):
        OneClassSVM().fit(MOONS, sample_weight=np.zeros(300))
    with pytest.raises(ValueError, match="use the rbf kernel"):
        OneClassSVM(kernel="linear").fit(CANCER)
    with pytest.raises(NotFittedError):
        OneClassSVM().predict(MOONS)
    with pytest.raises(AttributeError):
        OneClassSVM().offset_  # noqa: B018


def test_command_line_predicts_the_same(command_line, tmp_path):
    np.savetxt(tmp_path / "d.csv", MOONS, delimiter=",", header="a,b", comments="", fmt="%.17g")
    run = lambda words: subprocess.run([command_line, *words.split()], cwd=tmp_path, check=True, capture_output=True)  # noqa: E731
    run("fit d.csv --label none --learner one-class --set nu=0.1 --scale none -o m.evm")
    run("predict m.evm d.csv -o p.csv")
    lines = (tmp_path / "p.csv").read_text().splitlines()[1:]
    model = OneClassSVM(nu=0.1).fit(MOONS)
    assert [line.split(",")[0] for line in lines] == ["inside" if p == 1 else "outside" for p in model.predict(MOONS)]
    assert ([float(line.split(",")[1]) for line in lines] == model.decision_function(MOONS)).all()
