"""Kernel parameters in the form of the core, and kernel values between rows."""

from __future__ import annotations

import json
import numbers
from typing import TYPE_CHECKING, Any, TypeGuard

import numpy as np
from scipy import sparse
from sklearn.metrics.pairwise import linear_kernel, polynomial_kernel, rbf_kernel
from sklearn.preprocessing import normalize

if TYPE_CHECKING:
    from ._types import Kernel


def is_number(value: object) -> TypeGuard[float]:
    """Whether a value is a real number; booleans do not count."""
    return isinstance(value, numbers.Real) and not isinstance(value, bool)


def gamma_of(gamma: float | str, X: Any) -> float:
    """``gamma`` as a number: scale is 1/(n_features * X.var()), auto is 1/n_features."""
    if is_number(gamma):
        if not 0 < gamma < float("inf"):
            raise ValueError(f"gamma={gamma}: must be a positive number, 'scale' or 'auto'")
        return float(gamma)
    if gamma == "auto":
        return 1.0 / X.shape[1]
    if gamma != "scale":
        raise ValueError(f"gamma={gamma!r}: must be a positive number, 'scale' or 'auto'")
    variance = _variance(X)
    return 1.0 / (X.shape[1] * variance) if variance > 0 else 1.0


def _variance(X: Any) -> float:
    if sparse.issparse(X):
        return X.multiply(X).mean() - X.mean() ** 2
    return X.var()


def kernel_of(kernel: str, gamma: float | str, X: Any, degree: int = 3, coef0: float = 0.0) -> Kernel:
    """A kernel and its parameters in the form of the core."""
    if kernel == "linear":
        return {"type": "linear"}
    if kernel == "rbf":
        return {"type": "rbf", "gamma": gamma_of(gamma, X)}
    if kernel == "poly":
        return {"type": "poly", "gamma": gamma_of(gamma, X), "degree": int(degree), "coef0": float(coef0)}
    raise ValueError(f"kernel={kernel!r}: must be 'rbf', 'linear' or 'poly'")


def kernel_json(kernel: str, gamma: float | str, X: Any) -> str:
    """Like :func:`kernel_of`, as JSON text, for the rbf and linear kernels only."""
    if kernel not in ("rbf", "linear"):
        raise ValueError(f"kernel={kernel!r}: must be 'rbf' or 'linear'")
    return json.dumps(kernel_of(kernel, gamma, X))


def similarity(X: Any, Z: Any, kernel: Kernel) -> np.ndarray:
    """Kernel values between the rows of ``X`` and ``Z``."""
    if kernel["type"] == "rbf":
        return rbf_kernel(X, Z, gamma=kernel["gamma"])
    if kernel["type"] == "poly":
        return polynomial_kernel(X, Z, degree=kernel["degree"], gamma=kernel["gamma"], coef0=kernel["coef0"])
    return linear_kernel(X, Z, dense_output=True)


def unit_rows(X: Any) -> Any:
    """Rows scaled to unit length; rows of zeros stay as they are."""
    return normalize(X)


def weight(name: str, value: float | str) -> str | dict[str, float]:
    """The weight of a term of an objective in the form of the core."""
    if isinstance(value, str) and value in ("auto", "static"):
        return value
    if is_number(value):
        return {"value": float(value)}
    raise ValueError(f"{name}={value!r}: must be 'auto', 'static' or a number from 0 on")
