"""Questions of a stream classifier, and the answers of a person: classes, comparisons, corrections."""

from __future__ import annotations

import json
import numbers
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from ._labels import known_labels
from ._session import DurableEngine, truth_value

if TYPE_CHECKING:
    from typing_extensions import Self


class AnnotationMixin:
    """``ask`` and the answers to it, for an estimator around an engine."""

    def ask(self, n: int | None = None, return_X: bool = False) -> Any:
        """Samples of the last batch that are worth a label now.

        Questions that wait for an answer come first and do not count against the budget again. ``references`` says which
        of them are comparisons.

        Parameters
        ----------
        n : int or None, default=None
            Maximum number of samples; None is ``queries_per_round``. Fewer are returned when the budget is spent or no
            more are worth a label.
        return_X : bool, default=False
            Whether to give the samples too.

        Returns
        -------
        ids : ndarray of shape (n_questions,)
            Numbers of samples, for ``answer``.
        X : ndarray or sparse matrix of shape (n_questions, n_features)
            The samples; only if ``return_X``.
        """
        check_is_fitted(self)
        n = json.loads(self._engine.params())["queries_per_round"] if n is None else n
        if not isinstance(n, numbers.Integral) or n < 0:
            raise ValueError(f"n={n!r}: must be a whole number, 0 or more")
        waiting = self._engine.questions()
        self._asked = {i: self._asked[i] for i in waiting if i in self._asked}
        ids = waiting[:n]
        if len(ids) < n:
            new = self._note(self._engine.ask(n - len(ids))[-1])
            if self._batch is not None:
                self._asked.update((i, self._batch[[i - self._first]]) for i in new)
            ids = ids + new
        ids = np.array(ids, dtype=np.int64)
        return (ids, self._rows_of(ids)) if return_X else ids

    def _rows_of(self, ids):
        if len(ids) == 0:
            return np.zeros((0, self.n_features_in_)) if self._batch is None else self._batch[:0]
        lost = [i for i in ids.tolist() if i not in self._asked]
        if lost:
            raise ValueError(f"the rows of samples {lost} came before the state was loaded; they are not in it")
        found = [self._asked[i] for i in ids.tolist()]
        return sparse.vstack(found, format="csr") if sparse.issparse(found[0]) else np.vstack(found)

    def answer(self, ids: ArrayLike, labels: ArrayLike) -> Self:
        """Answer questions with the classes of the samples; each answer is learned at once.

        Parameters
        ----------
        ids : int or array-like of int
            Numbers of samples, as ``ask`` gave them.
        labels : scalar or array-like
            Their classes; new ones may come.

        Returns
        -------
        self : object
            The estimator.
        """
        ids, labels = self._pairs(ids, labels)
        open_ones = set(self._engine.questions())
        strange = [i for i in ids if i not in open_ones]
        if strange or len(set(ids)) < len(ids):
            raise ValueError(
                f"samples {strange or ids} are not asked about, have an answer already or are named twice; "
                "ask() gives those that wait, correct(id, label) changes an answer"
            )
        return self._tell(self._engine.answer, ids, labels)

    def correct(self, id: int, label: Any) -> Self:
        """Change the class of a sample that has a label.

        Parameters
        ----------
        id : int
            Number of the sample.
        label : scalar
            Its class.

        Returns
        -------
        self : object
            The estimator, trained again on the remembered labels.
        """
        return self._tell(self._engine_or_error().correct, *self._pairs(id, label))

    def _tell(self, how, ids, labels):
        encoder = self._label_encoder.copy()
        codes = encoder.codes(labels)
        if isinstance(self._engine, DurableEngine):
            self._engine.encoder = encoder
        self._set_ratio(self._engine, encoder)
        for i, code in zip(ids, codes.tolist()):
            told = how(i, code)[-1]
            self._label_encoder = encoder
            self.classes_ = encoder.classes()
            self._mark(i, code)
            self._note(told)
        self._show()
        return self

    def _mark(self, i, code):
        if 0 <= i - self._first < len(self._codes):
            self._codes[i - self._first] = code
            self.sources_[i - self._first] = "given" if code >= 0 else None

    def skip(self, ids: ArrayLike) -> Self:
        """Skip questions without an answer.

        Parameters
        ----------
        ids : int or array-like of int
            Numbers of samples that were asked about.

        Returns
        -------
        self : object
            The estimator.
        """
        return self._each(self._engine_or_error().skip, ids)

    def compare(self, ids: ArrayLike) -> Self:
        """Ask for comparisons instead of classes: a person cannot name the classes of these samples, but can compare them.

        Each question becomes one whether the sample is of the same class as a labeled sample (``references``). After an answer
        that they differ, the sample is compared with another class, which counts as another question of the budget.

        Parameters
        ----------
        ids : int or array-like of int
            Numbers of samples that were asked about.

        Returns
        -------
        self : object
            The estimator.
        """
        return self._each(self._engine_or_error().compare, ids)

    def _each(self, how, ids):
        for i in _integers(ids):
            self._note(how(i)[-1])
        return self

    def references(self, ids: ArrayLike) -> list[dict[str, Any] | None]:
        """The labeled samples that open questions compare with.

        Parameters
        ----------
        ids : int or array-like of int
            Numbers of samples that were asked about.

        Returns
        -------
        references : list of dict or None
            For each question the ``sample`` to compare with, by ``relate``, and its ``class``; None where the class is asked
            for, by ``answer``.
        """
        engine = self._engine_or_error()
        ids = _integers(ids)
        open_ones = set(engine.questions())
        if strange := [i for i in ids if i not in open_ones]:
            raise ValueError(f"samples {strange} are not asked about; they may have lapsed, or have an answer already")
        found = [json.loads(engine.reference(i)) for i in ids]
        return [r and {"sample": r["sample"], "class": self._label_encoder.label(int(r["class"]))} for r in found]

    def relate(self, a: int, b: int, same: bool) -> Self:
        """State that two samples are of the same class (must-link), or of two classes (cannot-link).

        Answers the question that compares them. Labels that follow are learned: one sample's label is that of the other, or
        the only class that no cannot-link excludes. A sample is not compared with an excluded class again.

        Parameters
        ----------
        a, b : int
            Numbers of samples: of the last batch, asked about, or with a label that is remembered.
        same : bool
            Whether they are of the same class.

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
        ...     if reference is None:                # asked by name, which this person cannot say
        ...         model = model.compare(ids)
        ...     else:
        ...         model = model.relate(ids[0], reference["sample"], y[ids[0]] == reference["class"])
        >>> bool((model.close_batch().labels_ == y).mean() > 0.8)
        True
        """
        self._engine_or_error()
        [a], [b] = _integers(a), _integers(b)
        self._note(self._engine.relate(a, b, truth_value(same))[-1])
        self._show()
        return self

    def withdraw(self, id: int) -> Self:
        """Take the label of a sample back.

        Parameters
        ----------
        id : int
            Number of the sample.

        Returns
        -------
        self : object
            The estimator, trained again on the other labels.
        """
        for i in _integers(id):
            self._note(self._engine_or_error().withdraw(i)[-1])
            self._mark(i, -1)
        self._show()
        return self

    def _pairs(self, ids, labels):
        self._engine_or_error()
        ids = _integers(ids)
        labels = np.atleast_1d(np.asarray(labels))
        has, known = known_labels(labels, self.missing_label, len(labels))
        if len(ids) != len(labels) or not has.all():
            raise ValueError(
                f"{len(ids)} samples, {int(has.sum())} labels: every sample needs one; skip(ids) passes over"
            )
        return ids, known


def _integers(ids):
    ids = np.atleast_1d(np.asarray(ids))
    if ids.size and ids.dtype.kind not in "iu":
        raise ValueError(f"numbers of samples must be whole numbers, not {ids.dtype}")
    if np.any(ids < 0):
        raise ValueError(f"sample {ids.min()} does not exist")
    return ids.tolist()
