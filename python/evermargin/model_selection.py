"""Cross-validation with unlabeled rows, which are used for training and never for scoring.

Examples
--------
>>> import numpy as np
>>> from sklearn.datasets import make_moons
>>> from sklearn.model_selection import GridSearchCV
>>> from sklearn.semi_supervised import LabelSpreading
>>> from evermargin.model_selection import LabeledKFold
>>> X, y = make_moons(120, noise=0.1, random_state=0)
>>> y[30:] = -1
>>> grid = {"gamma": [0.01, 10]}
>>> search = GridSearchCV(LabelSpreading(), grid, cv=LabeledKFold(3, shuffle=True, random_state=0)).fit(X, y)
>>> search.best_params_
{'gamma': 10}
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.metrics import check_scoring
from sklearn.model_selection import StratifiedKFold
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import _num_samples, column_or_1d

from ._labels import is_missing

if TYPE_CHECKING:
    from ._types import RandomStateLike

__all__ = ["LabeledKFold", "labeled_scorer"]


class LabeledKFold:
    """Stratified cross-validation of labeled rows, with all unlabeled rows in every training part.

    Parameters
    ----------
    n_splits : int, default=5
        Number of folds.
    shuffle : bool, default=False
        Whether to shuffle labeled rows before splitting.
    random_state : int, RandomState instance or None, default=None
        Controls the shuffling.
    missing_label : scalar or None, default=-1
        Value in ``y`` that marks unlabeled rows; may be NaN or None.

    Examples
    --------
    >>> import numpy as np
    >>> from evermargin.model_selection import LabeledKFold
    >>> y = np.array([0, 1, -1, 0, 1, -1])
    >>> for train, test in LabeledKFold(2).split(np.zeros((6, 1)), y):
    ...     print(train, test)
    [2 3 4 5] [0 1]
    [0 1 2 5] [3 4]
    """

    def __init__(
        self,
        n_splits: int = 5,
        *,
        shuffle: bool = False,
        random_state: RandomStateLike = None,
        missing_label: Any = -1,
    ) -> None:
        self.n_splits = n_splits
        self.shuffle = shuffle
        self.random_state = random_state
        self.missing_label = missing_label

    def split(self, X: Any, y: ArrayLike | None = None, groups: Any = None) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Generate the row indices of each training part and test part.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.
        y : array-like of shape (n_samples,)
            Labels, some of them missing.
        groups : None
            Not used.

        Yields
        ------
        train, test : ndarray
            Row indices in ascending order.
        """
        if y is None:
            raise ValueError("LabeledKFold needs y, which has the labels of the rows")
        targets: np.ndarray = column_or_1d(y)
        if _num_samples(X) != len(targets):
            raise ValueError(
                f"{_num_samples(X)} rows and {len(targets)} labels: each row needs a label or missing_label"
            )
        missing = is_missing(targets, self.missing_label)
        known, unlabeled = np.flatnonzero(~missing), np.flatnonzero(missing)
        labels = _label_types_restored(targets[known])
        self._check(labels)
        folds = StratifiedKFold(self.n_splits, shuffle=self.shuffle, random_state=self.random_state)
        for train, test in folds.split(np.zeros(len(known)), labels):
            yield np.sort(np.concatenate([known[train], unlabeled])), known[test]

    def _check(self, labels: np.ndarray) -> None:
        if not len(labels):
            raise ValueError(f"no row has a label: all are missing_label={self.missing_label!r}")
        classes, counts = np.unique(labels, return_counts=True)
        if counts.min() < self.n_splits:
            raise ValueError(
                f"class {classes[np.argmin(counts)]} has {counts.min()} labeled rows, fewer than the "
                f"{self.n_splits} folds: use fewer folds or label more rows"
            )

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """Return the number of folds.

        Parameters
        ----------
        X, y, groups : None
            Not used.

        Returns
        -------
        n_splits : int
            Number of folds.
        """
        return self.n_splits

    def __repr__(self) -> str:
        return (
            f"LabeledKFold(n_splits={self.n_splits}, shuffle={self.shuffle}, "
            f"random_state={self.random_state}, missing_label={self.missing_label!r})"
        )


def _label_types_restored(labels: np.ndarray) -> np.ndarray:
    """Undo the types that missing labels require: objects become their common type, whole floats integers."""
    if labels.dtype == object:
        return np.array(list(labels))
    if labels.dtype.kind == "f" and (labels == np.round(labels)).all():
        return labels.astype(np.int64)
    return labels


def labeled_scorer(
    scoring: str | Callable[..., float] | None = None, missing_label: Any = -1
) -> Callable[..., float]:
    """Make a scorer that ignores unlabeled rows.

    Parameters
    ----------
    scoring : str, callable or None, default=None
        Name of a score, a scorer, or None for the ``score`` of the estimator, as in scikit-learn.
    missing_label : scalar or None, default=-1
        Value in ``y`` that marks unlabeled rows.

    Returns
    -------
    scorer : callable
        Function ``scorer(estimator, X, y)``; it returns NaN if no row has a label.

    Examples
    --------
    >>> from sklearn.dummy import DummyClassifier
    >>> from evermargin.model_selection import labeled_scorer
    >>> guess = DummyClassifier().fit([[0], [0]], [1, 1])
    >>> labeled_scorer("accuracy")(guess, [[0], [0], [0]], [1, 0, -1])
    0.5
    """
    return _LabeledScorer(scoring, missing_label)


class _LabeledScorer:
    """The scorer as a class, because nested functions cannot be pickled."""

    def __init__(self, scoring: str | Callable[..., float] | None, missing_label: Any) -> None:
        self.scoring = scoring
        self.missing_label = missing_label

    def __call__(self, estimator: Any, X: Any, y: ArrayLike, **kwargs: Any) -> float:
        labels: np.ndarray = column_or_1d(y)
        known = np.flatnonzero(~is_missing(labels, self.missing_label))
        if not len(known):
            return float("nan")
        score = check_scoring(estimator, scoring=self.scoring)
        return score(estimator, _safe_indexing(X, known), _label_types_restored(labels[known]), **kwargs)

    def __repr__(self) -> str:
        return f"labeled_scorer({self.scoring!r}, missing_label={self.missing_label!r})"
