"""Validation of labels, some of which may be missing."""

from __future__ import annotations

import math
import numbers
import warnings
from typing import Any

import numpy as np
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d


def _is_null(value: Any) -> bool:
    """Whether a value is None, NaN, NaT or the NA of pandas, which are never classes."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(value, (float, np.floating)) and math.isnan(value)


def is_missing(y: np.ndarray, missing_label: Any) -> np.ndarray:
    """Mask of the missing labels.

    These are the labels equal to ``missing_label``; with NaN or NA as ``missing_label``, all null values. With None these are the
    null values of objects, because pandas replaces None by NaN.
    """
    if missing_label is None and y.dtype != object:
        return np.zeros(len(y), dtype=bool)
    if _is_null(missing_label):
        return np.isnan(y) if y.dtype.kind == "f" else np.fromiter(map(_is_null, y), dtype=bool, count=len(y))
    if y.dtype == object:
        same = (not _is_null(v) and bool(v == missing_label) for v in y)
        return np.fromiter(same, dtype=bool, count=len(y))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # numpy warns when texts are compared with numbers
        return np.asarray(y == missing_label, dtype=bool) & np.ones(len(y), dtype=bool)


def known_labels(y: Any, missing_label: Any, n_samples: int) -> tuple[np.ndarray, np.ndarray]:
    """Mask of the labeled rows, and their labels; ambiguous labels are an error."""
    if y is None:
        raise ValueError("requires y to be passed, but the target y is None")
    y = column_or_1d(y, warn=True)
    if len(y) != n_samples:
        raise ValueError(f"Found input variables with inconsistent numbers of samples: [{n_samples}, {len(y)}]")
    has = ~is_missing(y, missing_label)
    labels = y[has]
    mark = f"missing_label={missing_label!r}"
    if labels.dtype == object:
        if any(map(_is_null, labels)):
            raise ValueError(f"Input y contains NaN or None, and {mark}; set missing_label=float('nan') or None")
        texts = sum(isinstance(v, str) for v in labels)
        if 0 < texts < len(labels):
            raise ValueError("y has labels of different kinds, texts and numbers; use one kind for all classes")
        labels = np.array(list(labels))
    if labels.dtype.kind == "f" and not np.isfinite(labels).all():
        raise ValueError(
            f"Input y contains NaN or infinity, and {mark}; if NaN means unlabeled, set missing_label=float('nan')"
        )
    if _is_minus_one(missing_label):
        if labels.dtype.kind == "U" and np.any(labels == "-1"):
            raise ValueError("y contains the text '-1', and missing_label is the number -1; set missing_label='-1'")
        if labels.dtype.kind == "u" and labels.size and labels.max() == np.iinfo(labels.dtype).max:
            raise ValueError(f"y is of type {labels.dtype}, which cannot hold -1: it became {labels.max()}; use int64")
    if labels.size:
        check_classification_targets(labels)
    return has, labels


def check_minus_one(has: np.ndarray, labels: np.ndarray, missing_label: Any, classes: Any = None) -> None:
    """Raise an error if -1 seems to be a class although it marks unlabeled rows."""
    declared = classes is not None and bool(np.any(is_missing(np.unique(classes), missing_label)))
    alone = classes is None and _is_minus_one(missing_label) and not has.all() and set(labels.tolist()) == {1}
    if declared or alone:
        found = f"classes contain {missing_label}" if declared else "y contains only -1 and 1"
        raise ValueError(
            f"{found}, and {missing_label} means unlabeled here. If it is a class, mark unlabeled rows with another value "
            "and set missing_label=None, missing_label=float('nan') or missing_label to that value; or use the classes 0 and 1 "
            "and keep -1 for unlabeled rows"
        )


def classes_and_codes(y: Any, missing_label: Any, n_samples: int) -> tuple[np.ndarray, np.ndarray]:
    """Sorted classes, and the class index of each row: -1 where the label is missing."""
    has, labels = known_labels(y, missing_label, n_samples)
    check_minus_one(has, labels, missing_label)
    classes, numbers_of = np.unique(labels, return_inverse=True)
    codes = np.full(n_samples, -1, dtype=np.int64)
    codes[has] = numbers_of
    return classes, codes


def _is_minus_one(value: Any) -> bool:
    number = isinstance(value, numbers.Number)
    return number and bool(value == -1)
