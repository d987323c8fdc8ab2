"""Parameters of all estimators: values are validated, errors name the parameter, and values reach the core."""

import inspect
import json
import math
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import make_classification

import evermargin
from evermargin import DASVM, SVC, LASVMClassifier, LinearSVC, ParameterError, _core
from evermargin._base import MEGABYTE, PYTHON_ONLY, TRAIN_OPTIONS, LargeMarginEstimator

GENERATOR = Path(__file__).resolve().parents[1] / "generate.py"
SPECS = {spec["name"]: {p["name"]: p for p in spec["params"]} for spec in json.loads(_core.specs())}
CLASSES = [
    cls
    for name in evermargin.__all__
    if isinstance(cls := getattr(evermargin, name), type) and issubclass(cls, LargeMarginEstimator)
]
#: All classes, with all learners of each.
BLANK = [cls for cls in CLASSES if cls is not LASVMClassifier]
VARIANTS = [(cls, {}) for cls in BLANK] + [(LASVMClassifier, {"loss": loss}) for loss in LASVMClassifier._variants]
CASES = [
    pytest.param(cls, fixed, name, SPECS[cls(**fixed)._name()][core_name], id=f"{cls(**fixed)._name()}-{name}")
    for cls, fixed in VARIANTS
    for name, core_name in cls._params.items()
    if core_name in SPECS[cls(**fixed)._name()]
]
X, Y = make_classification(40, 4, random_state=0)
NUMERIC = ("float", "integer", "gamma", "ratio", "per-view")


def out_of_range(param):
    """Values of the right type that are not allowed."""
    kind = param["kind"]
    if param["name"] == "max_steps":
        return [0, -2, 1.5]
    if param["name"] == "cache_bytes":
        return [-1, math.nan, math.inf]
    if param["name"] == "seed":
        return [-1, 2**63, 1.5]
    if kind in NUMERIC:
        low = [] if param["min"] is None else [param["min"] if param.get("min_open") else param["min"] - 1]
        high = [] if param["max"] is None else [param["max"] if param.get("max_open") else param["max"] * 2 + 1]
        if param.get("or_zero"):
            low = [-1.0]
        return [*low, *high, math.nan, math.inf, -math.inf]
    return {"bool": [2], "choice": ["utter nonsense"], "views": ["0..2"], "kernels": ["cubic"]}[kind]


def wrong_types(param):
    words = [] if param["kind"] in ("views",) else ["utter nonsense"]
    return [object(), {"a": 1}, 1j, *words, *([] if param["name"] == "seed" else [None])]


def other_value(param):
    """An allowed value that is not the default."""
    kind, default = param["kind"], param["default"]
    if param["name"] == "max_steps":
        return 77
    if param["name"] == "cache_bytes":
        return default // MEGABYTE + 3
    if kind == "integer":
        return default + 1 if param["max"] is None or default < param["max"] else default - 1
    if kind == "float":
        candidates = [default * 0.5, default * 2, 0.25, 2.0, -0.5]
        low, high = param["min"], param["max"]
        fits = (v for v in candidates if v != default and (low is None or v > low) and (high is None or v < high))
        return next(fits)
    if kind == "choice":
        return next(word for word in param["choices"] if word != default)
    values = {"bool": not default, "gamma": 0.37, "ratio": 0.37, "views": [(0, 2), (2, 4)], "kernels": "rbf;linear"}
    return values.get(kind, 0.37)


def core_params(cls, **params):
    """Parameters that the core receives from an estimator."""
    estimator = cls(**params)
    estimator.n_features_in_ = 4
    return json.loads(_core.resolved_params(estimator._name(), estimator._settings([0, 1])))


def test_generated_estimators_are_current():
    subprocess.run([sys.executable, str(GENERATOR), "--check"], check=True)


@pytest.mark.parametrize("cls", CLASSES)
def test_each_parameter_is_of_exactly_one_kind(cls):
    names = set(inspect.signature(cls.__init__).parameters) - {"self"}
    assert names == set(cls().get_params())
    core, options, python = set(cls._params), set(cls._options), names & PYTHON_ONLY
    selects_the_learner = {"loss"} if cls is LASVMClassifier else set()
    assert names == core | options | python | selects_the_learner
    assert len(names) == len(core) + len(options) + len(python) + len(selects_the_learner), "kinds overlap"
    assert options <= TRAIN_OPTIONS


@pytest.mark.parametrize("cls", CLASSES)
def test_parameters_and_defaults_match_the_core(cls):
    learners = list(cls._variants.values()) if cls is LASVMClassifier else [cls._learner]
    # only the command line uses `curve` (models of intermediate steps)
    assert set(cls._params.values()) == {name for learner in learners for name in SPECS[learner]} - {"curve"}
    for fixed in [f for c, f in VARIANTS if c is cls]:
        got, learner = core_params(cls, **fixed)["params"], cls(**fixed)._name()
        assert json.loads(_core.resolved_params(learner, {"params": {}}))["params"] == got


@pytest.mark.parametrize("cls", CLASSES)
def test_docstring_has_every_parameter(cls):
    for name in cls().get_params():
        assert f"\n    {name} : " in cls.__doc__ or f"\n{name} : " in inspect.getdoc(cls)


@pytest.mark.parametrize(("cls", "fixed", "name", "param"), CASES)
def test_error_for_a_wrong_value_names_the_parameter(cls, fixed, name, param):
    for value in [*out_of_range(param), *wrong_types(param)]:
        if value is None and inspect.signature(cls.__init__).parameters[name].default is None:
            continue
        with pytest.raises(ValueError, match=name) as found:
            cls(**fixed, **{name: value}).fit(X, Y)
        if name != "views":
            assert isinstance(found.value, ParameterError) and found.value.name == name, value
            assert found.value.allowed and str(found.value).startswith(f"{name}="), value


@pytest.mark.parametrize(("cls", "fixed", "name", "param"), CASES)
def test_every_parameter_reaches_the_core(cls, fixed, name, param):
    kernel = {"kernel": "poly"} if name in ("gamma", "degree", "coef0") else {}
    value = 7 if name == "random_state" else other_value(param)
    assert core_params(cls, **fixed, **{**kernel, name: value}) != core_params(cls, **fixed, **kernel)


OPTION_VALUES = {
    "class_weight": (["balanced", "ratio", {0: 2.0}], [3, "even", {0: -1.0}, {9: 2.0}, {0: "much"}]),
    "scale": ([None, "standard", "divide=2"], ["big", 3, "divide=0"]),
    "multi": (["one-vs-one"], ["each", 3]),
    "probability": ([True, "isotonic"], ["sure", 3]),
    "threshold": (["f1", "rate=0.3"], ["high", 3, "rate=2"]),
    "compare": ([False], ["yes", 3, None]),
}


@pytest.mark.parametrize("cls", CLASSES)
def test_training_options_are_validated_and_reach_the_core(cls):
    for name in cls._options:
        right, wrong = OPTION_VALUES[name]
        if cls().get_params().get(name) == "auto":
            right = [value for value in right if value is not None]  # None is auto, too
        for value in right:
            assert core_params(cls, **{name: value}) != core_params(cls), (name, value)
        for value in wrong:
            with pytest.raises((TypeError, ValueError), match=name):
                cls(**{name: value}).fit(X, Y)


@pytest.mark.parametrize("cls", CLASSES)
def test_python_only_parameters_are_validated(cls):
    with pytest.raises(ParameterError, match="verbose='loud'"):
        cls(verbose="loud").fit(X, Y)
    if "decision_function_shape" in cls().get_params():
        with pytest.raises(ParameterError, match="decision_function_shape='each': must be ovr or ovo"):
            cls(decision_function_shape="each").fit(X, Y)


def test_loss_of_dasvm_changes_the_objective():
    few = np.where(np.arange(40) % 4 == 0, Y, -1)
    fitted = [DASVM(kernel="linear", loss=loss, compare=False).fit(X, few) for loss in ("l1", "l2", "square")]
    objectives = {model.report_["outputs"][0]["objective"] for model in fitted}
    assert len(objectives) == 3
    with pytest.raises(ParameterError, match="loss='utter nonsense': must be one of l2, l1, square"):
        DASVM(loss="utter nonsense").fit(X, few)


def test_variant_rejects_parameters_of_other_variants():
    with pytest.raises(ParameterError, match="select='active': must be None: learner lasvm-nc does not take it"):
        LASVMClassifier(loss="ramp", select="active").fit(X, Y)
    with pytest.raises(ParameterError, match="loss=3: must be one of hinge"):
        LASVMClassifier(loss=3).fit(X, Y)


def test_accepts_numpy_scalars():
    given = {"C": np.float32(2.0), "degree": np.int64(2), "kernel": np.str_("poly"), "fit_intercept": np.bool_(False)}
    plain = {"C": 2.0, "degree": 2, "kernel": "poly", "fit_intercept": False}
    assert core_params(SVC, **given) == core_params(SVC, **plain)
    assert core_params(SVC, C=np.array(2.0)) == core_params(SVC, C=2.0)


def test_max_iter_and_cache_size_have_the_units_of_scikit_learn():
    assert core_params(LinearSVC, max_iter=-1) == core_params(LinearSVC)
    assert core_params(LinearSVC, max_iter=9)["params"]["max_steps"] == 9
    assert core_params(SVC, cache_size=200)["params"]["cache_bytes"] == 200 << 20


def test_errors_can_be_pickled():
    import pickle

    with pytest.raises(ParameterError) as found:
        SVC(C=-1.0).fit(X, Y)
    again = pickle.loads(pickle.dumps(found.value))
    assert (again.name, again.value, str(again)) == ("C", -1.0, str(found.value))
