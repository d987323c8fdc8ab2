"""Queries of a stream classifier and the answers of an annotator: classes, comparisons and corrections."""

from __future__ import annotations

import json
import numbers
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from ._labels import known_labels
from ._session import DurableEngine, truth_value
from ._stream_state import StreamState

if TYPE_CHECKING:
    from typing_extensions import Self

    from ._core import Effects


class AnnotationMixin(StreamState):
    """Methods for queries and answers, for an estimator that wraps an engine."""

    def ask(self, n: int | None = None, return_X: bool = False) -> Any:
        """Choose samples of the last batch to query.

        Pending queries come first and do not count against the budget again. ``references`` returns which of them are
        comparisons.

        Parameters
        ----------
        n : int or None, default=None
            Maximum number of samples; None is ``queries_per_round``. Fewer are returned when the budget is spent or no
            further sample is worth a label.
        return_X : bool, default=False
            Whether to return the samples, too.

        Returns
        -------
        ids : ndarray of shape (n_queries,)
            Ids of the samples, for ``answer``.
        X : ndarray or sparse matrix of shape (n_queries, n_features)
            The samples; only if ``return_X``.
        """
        check_is_fitted(self)
        n = json.loads(self._engine.params())["queries_per_round"] if n is None else n
        whole = isinstance(n, numbers.Integral)
        if not whole or n < 0:
            raise ValueError(f"n={n!r}: must be a whole number, 0 or more")
        pending = self._engine.questions()
        self._queried_rows = {i: self._queried_rows[i] for i in pending if i in self._queried_rows}
        queried = pending[:n]
        if len(queried) < n:
            new = self._record_events(self._engine.ask(n - len(queried))[-1])
            if self._batch is not None:
                self._queried_rows.update((i, self._batch[[i - self._first]]) for i in new)
            queried = queried + new
        ids = np.array(queried, dtype=np.int64)
        return (ids, self._rows_of(ids)) if return_X else ids

    def _rows_of(self, ids: np.ndarray) -> Any:
        if len(ids) == 0:
            return np.zeros((0, self.n_features_in_)) if self._batch is None else self._batch[:0]
        lost = [i for i in ids.tolist() if i not in self._queried_rows]
        if lost:
            raise ValueError(
                f"samples {lost} arrived before the state was loaded, and a state does not contain the rows of its last batch"
            )
        found = [self._queried_rows[i] for i in ids.tolist()]
        return sparse.vstack(found, format="csr") if sparse.issparse(found[0]) else np.vstack(found)

    def answer(self, ids: ArrayLike, labels: ArrayLike) -> Self:
        """Answer queries with the classes of the samples; the classifier is updated after each answer.

        Parameters
        ----------
        ids : int or array-like of int
            Ids of the samples, as ``ask`` returned them.
        labels : scalar or array-like
            Classes of the samples; new classes are allowed.

        Returns
        -------
        self : object
            The estimator.
        """
        samples, classes = self._ids_and_labels(ids, labels)
        pending = set(self._engine.questions())
        unexpected = [i for i in samples if i not in pending]
        if unexpected or len(set(samples)) < len(samples):
            raise ValueError(
                f"samples {unexpected or samples} are not asked about, have an answer already or are listed twice; "
                "ask() returns the pending queries, correct(id, label) changes an answer"
            )
        return self._submit_labels(self._engine.answer, samples, classes)

    def correct(self, id: int, label: Any) -> Self:
        """Change the class of a sample that has a label.

        Parameters
        ----------
        id : int
            Id of the sample.
        label : scalar
            Class of the sample.

        Returns
        -------
        self : object
            The estimator, retrained on the stored labels.
        """
        return self._submit_labels(self._engine_or_error().correct, *self._ids_and_labels(id, label))

    def _submit_labels(self, submit: Callable[[int, int], Effects], ids: list[int], labels: np.ndarray) -> Self:
        encoder = self._label_encoder.copy()
        codes = encoder.codes(labels)
        if isinstance(self._engine, DurableEngine):
            self._engine.encoder = encoder
        self._set_ratio(self._engine, encoder)
        for i, code in zip(ids, codes.tolist(), strict=True):
            effects = submit(i, code)[-1]
            self._label_encoder = encoder
            self.classes_ = encoder.classes()
            self._set_label(i, code)
            self._record_events(effects)
        self._update_labels()
        return self

    def _set_label(self, i: int, code: int) -> None:
        if 0 <= i - self._first < len(self._codes):
            self._codes[i - self._first] = code
            self.sources_[i - self._first] = "given" if code >= 0 else None

    def skip(self, ids: ArrayLike) -> Self:
        """Skip queries without an answer.

        Parameters
        ----------
        ids : int or array-like of int
            Ids of queried samples.

        Returns
        -------
        self : object
            The estimator.
        """
        return self._submit_each(self._engine_or_error().skip, ids)

    def compare(self, ids: ArrayLike) -> Self:
        """Turn queries for classes into comparisons, for an annotator who can compare samples but not name their classes.

        Each query becomes the question whether the sample has the same class as a labeled sample (``references``). If the
        answer is no, the sample is compared with another class, which costs another query of the budget.

        Parameters
        ----------
        ids : int or array-like of int
            Ids of queried samples.

        Returns
        -------
        self : object
            The estimator.
        """
        return self._submit_each(self._engine_or_error().compare, ids)

    def _submit_each(self, submit: Callable[[int], Effects], ids: ArrayLike) -> Self:
        for i in _sample_ids(ids):
            self._record_events(submit(i)[-1])
        return self

    def references(self, ids: ArrayLike) -> list[dict[str, Any] | None]:
        """Return the labeled samples with which queried samples are compared.

        Parameters
        ----------
        ids : int or array-like of int
            Ids of queried samples.

        Returns
        -------
        references : list of dict or None
            For each query the ``sample`` to compare with and its ``class``, to be answered by ``relate``; None where the
            class is queried, to be answered by ``answer``.
        """
        engine = self._engine_or_error()
        samples = _sample_ids(ids)
        pending = set(engine.questions())
        if unexpected := [i for i in samples if i not in pending]:
            raise ValueError(f"samples {unexpected} are not asked about; their queries may have expired or been answered")
        found = [json.loads(engine.reference(i)) for i in samples]
        return [r and {"sample": r["sample"], "class": self._label_encoder.label(int(r["class"]))} for r in found]

    def relate(self, a: int, b: int, same: bool) -> Self:
        """Add a must-link (same class) or cannot-link (different classes) constraint between two samples.

        Answers the query that compares them. Labels that follow from constraints are learned: the label of a linked sample,
        or the only class that no cannot-link constraint excludes. A sample is not compared with an excluded class again.

        Parameters
        ----------
        a, b : int
            Ids of samples that are in the last batch, queried, or labeled with a stored label.
        same : bool
            Whether the samples have the same class.

        Returns
        -------
        self : object
            The estimator.

        Examples
        --------
        >>> import numpy as np
        >>> from sklearn.datasets import make_blobs
        >>> from evermargin import NeverEndingClassifier
        >>> X, y = make_blobs(300, centers=4, random_state=0)
        >>> model = NeverEndingClassifier(queries_per_batch=20).partial_fit(X, np.where(np.arange(300) < 40, y, -1))
        >>> while len(ids := model.ask(1)):
        ...     [reference] = model.references(ids)
        ...     if reference is None:                # asks for the class, which this annotator cannot name
        ...         model = model.compare(ids)
        ...     else:
        ...         model = model.relate(ids[0], reference["sample"], y[ids[0]] == reference["class"])
        >>> bool((model.close_batch().labels_ == y).mean() > 0.8)
        True
        """
        self._engine_or_error()
        [a], [b] = _sample_ids(a), _sample_ids(b)
        self._record_events(self._engine.relate(a, b, truth_value(same))[-1])
        self._update_labels()
        return self

    def withdraw(self, id: int) -> Self:
        """Remove the label of a sample.

        Parameters
        ----------
        id : int
            Id of the sample.

        Returns
        -------
        self : object
            The estimator, retrained on the other labels.
        """
        for i in _sample_ids(id):
            self._record_events(self._engine_or_error().withdraw(i)[-1])
            self._set_label(i, -1)
        self._update_labels()
        return self

    def _ids_and_labels(self, ids: ArrayLike, labels: ArrayLike) -> tuple[list[int], np.ndarray]:
        self._engine_or_error()
        samples = _sample_ids(ids)
        given = np.atleast_1d(np.asarray(labels))
        has, known = known_labels(given, self.missing_label, len(given))
        if len(samples) != len(given) or not has.all():
            raise ValueError(
                f"{len(samples)} samples, {int(has.sum())} labels: every sample needs one; skip(ids) leaves queries unanswered"
            )
        return samples, known


def _sample_ids(ids: ArrayLike) -> list[int]:
    found = np.atleast_1d(np.asarray(ids))
    if found.size and found.dtype.kind not in "iu":
        raise ValueError(f"sample ids must be whole numbers, not {found.dtype}")
    if np.any(found < 0):
        raise ValueError(f"sample {found.min()} does not exist")
    return found.tolist()
