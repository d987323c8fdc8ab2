"""Kernels as the core reads them, and their values for a few rows."""

from __future__ import annotations

import json
import numbers

import numpy as np
from scipy import sparse
from sklearn.metrics.pairwise import linear_kernel, polynomial_kernel, rbf_kernel
from sklearn.preprocessing import normalize


def gamma_of(gamma, X) -> float:
    """gamma as a number: scale is 1/(features * variance), auto is 1/features."""
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
    """A kernel with its parameters as the core has it."""
    if kernel == "linear":
        return {"type": "linear"}
    if kernel == "rbf":
        return {"type": "rbf", "gamma": gamma_of(gamma, X)}
    if kernel == "poly":
        return {"type": "poly", "gamma": gamma_of(gamma, X), "degree": int(degree), "coef0": float(coef0)}
    raise ValueError(f"kernel={kernel!r}: must be 'rbf', 'linear' or 'poly'")


def kernel_json(kernel, gamma, X) -> str:
    """The same as text, for similarities: rbf or linear."""
    if kernel not in ("rbf", "linear"):
        raise ValueError(f"kernel={kernel!r}: must be 'rbf' or 'linear'")
    return json.dumps(kernel_of(kernel, gamma, X))


def similarity(X, Z, kernel: dict) -> np.ndarray:
    """Values of a kernel between rows."""
    if kernel["type"] == "rbf":
        return rbf_kernel(X, Z, gamma=kernel["gamma"])
    if kernel["type"] == "poly":
        return polynomial_kernel(X, Z, degree=kernel["degree"], gamma=kernel["gamma"], coef0=kernel["coef0"])
    return linear_kernel(X, Z, dense_output=True)


def unit_rows(X):
    """Rows of unit length, rows of zeros as they are."""
    return normalize(X)


def weight(name, value):
    """A weight of a term as the core reads it."""
    if value in ("auto", "static"):
        return value
    if isinstance(value, numbers.Real) and not isinstance(value, bool):
        return {"value": float(value)}
    raise ValueError(f"{name}={value!r}: must be 'auto', 'static' or a number from 0")
