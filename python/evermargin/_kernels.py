"""Kernel parameters in the form of the core, and kernel values between rows."""

from __future__ import annotations

import json
import numbers

import numpy as np
from scipy import sparse
from sklearn.metrics.pairwise import linear_kernel, polynomial_kernel, rbf_kernel
from sklearn.preprocessing import normalize


def gamma_of(gamma, X) -> float:
    """``gamma`` as a number: scale is 1/(n_features * X.var()), auto is 1/n_features."""
    if isinstance(gamma, numbers.Real) and not isinstance(gamma, bool):
        if not 0 < gamma < float("inf"):
            raise ValueError(f"gamma={gamma}: must be a positive number, 'scale' or 'auto'")
        return float(gamma)
    if gamma == "auto":
        return 1.0 / X.shape[1]
    if gamma != "scale":
        raise ValueError(f"gamma={gamma!r}: must be a positive number, 'scale' or 'auto'")
    variance = _variance(X)
    return 1.0 / (X.shape[1] * variance) if variance > 0 else 1.0


def _variance(X):
    if sparse.issparse(X):
        return X.multiply(X).mean() - X.mean() ** 2
    return X.var()


def kernel_of(kernel, gamma, X, degree=3, coef0=0.0) -> dict:
    """A kernel and its parameters in the form of the core."""
    if kernel == "linear":
        return {"type": "linear"}
    if kernel == "rbf":
        return {"type": "rbf", "gamma": gamma_of(gamma, X)}
    if kernel == "poly":
        return {"type": "poly", "gamma": gamma_of(gamma, X), "degree": int(degree), "coef0": float(coef0)}
    raise ValueError(f"kernel={kernel!r}: must be 'rbf', 'linear' or 'poly'")


def kernel_json(kernel, gamma, X) -> str:
    """Like :func:`kernel_of`, as JSON text, for the rbf and linear kernels only."""
    if kernel not in ("rbf", "linear"):
        raise ValueError(f"kernel={kernel!r}: must be 'rbf' or 'linear'")
    return json.dumps(kernel_of(kernel, gamma, X))


def similarity(X, Z, kernel: dict) -> np.ndarray:
    """Kernel values between the rows of ``X`` and ``Z``."""
    if kernel["type"] == "rbf":
        return rbf_kernel(X, Z, gamma=kernel["gamma"])
    if kernel["type"] == "poly":
        return polynomial_kernel(X, Z, degree=kernel["degree"], gamma=kernel["gamma"], coef0=kernel["coef0"])
    return linear_kernel(X, Z, dense_output=True)


def unit_rows(X):
    """Rows scaled to unit length; rows of zeros stay as they are."""
    return normalize(X)


def weight(name, value):
    """The weight of a term of an objective in the form of the core."""
    if value in ("auto", "static"):
        return value
    if isinstance(value, numbers.Real) and not isinstance(value, bool):
        return {"value": float(value)}
    raise ValueError(f"{name}={value!r}: must be 'auto', 'static' or a number from 0 on")
