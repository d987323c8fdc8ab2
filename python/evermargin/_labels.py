"""Labels that may be missing."""

from __future__ import annotations

import math
import numbers
import warnings
from typing import Any

import numpy as np
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d


def _is_gap(value: Any) -> bool:
    """None, NaN, NaT or pandas' NA: never a class."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(value, (float, np.floating)) and math.isnan(value)


def is_missing(y: np.ndarray, missing_label: Any) -> np.ndarray:
    """Which labels are missing: equal to ``missing_label``; any gap if that is NaN or NA, None if that is None."""
    if missing_label is None:
        return np.fromiter((v is None for v in y), dtype=bool, count=len(y))
    if _is_gap(missing_label):
        return np.isnan(y) if y.dtype.kind == "f" else np.fromiter(map(_is_gap, y), dtype=bool, count=len(y))
    if y.dtype == object:
        same = (not _is_gap(v) and bool(v == missing_label) for v in y)
        return np.fromiter(same, dtype=bool, count=len(y))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # comparing words with numbers: not equal
        return np.asarray(y == missing_label, dtype=bool) & np.ones(len(y), dtype=bool)


def known_labels(y: Any, missing_label: Any, n_samples: int) -> tuple[np.ndarray, np.ndarray]:
    """Which rows have a label, and these labels; refuses what cannot be meant."""
    if y is None:
        raise ValueError("requires y to be passed, but the target y is None")
    y = column_or_1d(y, warn=True)
    if len(y) != n_samples:
        raise ValueError(f"Found input variables with inconsistent numbers of samples: [{n_samples}, {len(y)}]")
    has = ~is_missing(y, missing_label)
    labels = y[has]
    mark = f"missing_label={missing_label!r}"
    if labels.dtype == object:
        if any(map(_is_gap, labels)):
            raise ValueError(f"Input y contains NaN or None, and {mark}; say missing_label=float('nan') or None")
        texts = sum(isinstance(v, str) for v in labels)
        if 0 < texts < len(labels):
            raise ValueError("y holds labels of different kinds, texts and numbers; use one kind for all classes")
        labels = np.array(list(labels))
    if labels.dtype.kind == "f" and not np.isfinite(labels).all():
        raise ValueError(
            f"Input y contains NaN or infinity, and {mark}; if NaN means unlabeled, say missing_label=float('nan')"
        )
    if _is_minus_one(missing_label):
        if labels.dtype.kind == "U" and np.any(labels == "-1"):
            raise ValueError("y holds the text '-1', and missing_label is the number -1; say missing_label='-1'")
        if labels.dtype.kind == "u" and labels.size and labels.max() == np.iinfo(labels.dtype).max:
            raise ValueError(f"y is of type {labels.dtype}, which cannot hold -1: it became {labels.max()}; use int64")
    if labels.size:
        check_classification_targets(labels)
    return has, labels


def refuse_minus_one(has: np.ndarray, labels: np.ndarray, missing_label: Any, classes: Any = None) -> None:
    """Refuses -1 as a class where it marks rows without a label."""
    declared = classes is not None and bool(np.any(is_missing(np.unique(classes), missing_label)))
    alone = classes is None and _is_minus_one(missing_label) and not has.all() and set(labels.tolist()) == {1}
    if declared or alone:
        found = f"classes hold {missing_label}" if declared else "y holds -1 and 1 alone"
        raise ValueError(
            f"{found}, and {missing_label} means unlabeled here. If it is a class, mark unlabeled rows otherwise and "
            "say how: missing_label=None (None in y), float('nan') or any other value; or number the classes 0 and 1 and "
            "keep -1 for unlabeled"
        )


def labels_and_gaps(y: Any, missing_label: Any, n_samples: int) -> tuple[np.ndarray, np.ndarray]:
    """Sorted classes, and the number of the class of each row, -1 where the label is missing."""
    has, labels = known_labels(y, missing_label, n_samples)
    refuse_minus_one(has, labels, missing_label)
    classes, numbers_of = np.unique(labels, return_inverse=True)
    codes = np.full(n_samples, -1, dtype=np.int64)
    codes[has] = numbers_of
    return classes, codes


def _is_minus_one(value: Any) -> bool:
    return isinstance(value, numbers.Number) and value == -1
