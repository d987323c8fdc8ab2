"""Durable streams: a session in a directory, and an engine that stores its events in a session."""

from __future__ import annotations

import json
import os
import re
import time
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_array

from . import _core
from ._base import rows

if TYPE_CHECKING:
    from ._core import Effects, Rows
    from ._label_encoder import LabelEncoder
    from ._types import StrPath


def truth_value(same: Any) -> bool:
    """Check that ``same`` is a boolean: a text such as "no" would count as true."""
    if not isinstance(same, (bool, np.bool_)):
        raise TypeError(f"same must be True or False, not {same!r}")
    return bool(same)


def class_name(label: Any) -> str:
    """Class name of a label in a session: digits for numbers; texts as they are, in quotes if they could be numbers."""
    label = label.item() if isinstance(label, np.generic) else label
    if isinstance(label, str):
        return json.dumps(label) if class_label(label) != label else label
    if isinstance(label, (int, float)):
        return json.dumps(label)
    raise ValueError(f"label {label!r}: must be a text or a number, so that it can be stored in a file")


def class_label(name: str) -> Any:
    """Label of a class name in a session; the inverse of :func:`class_name`."""
    try:
        label = json.loads(name)
    except ValueError:
        return name
    return label if isinstance(label, (str, int, float)) else name


class DurableEngine:
    """A session in a directory with the methods of ``_core.Engine``; codes are those of the label encoder."""

    def __init__(self, session: _core.Session, encoder: LabelEncoder) -> None:
        self.session, self.encoder = session, encoder

    def _name(self, code: int) -> str:
        return class_name(self.encoder.label(code))

    def _code(self, name: str | None) -> int:
        return -1 if name is None else self.encoder.code(class_label(name))

    def _effects(self, effects_json: str, predictions: Any = None) -> Effects:
        names, confidence, sources = predictions or ([], np.zeros(0), [])
        codes = np.array([self._code(name) for name in names], dtype=np.int64)
        effects = json.loads(effects_json)
        effects["notes"] = [self._note(note) for note in effects["notes"]]
        for implied in effects["implied"]:
            implied["label"] = None if implied["label"] is None else self._code(implied["label"])
        self.session.take_notices()  # drop the notices, which repeat these effects
        return codes, confidence, sources, json.dumps(effects)

    def _submit(self, event: Any, *args: Any) -> Effects:
        try:
            effects = event(*args)
        except _core.Rejected as error:  # the error of an engine in memory is a ValueError
            raise ValueError(str(error)) from None
        return self._effects(effects)

    def _note(self, note: str) -> str:
        new = re.fullmatch(r"class (.+) is new", note)
        return f"class {self._code(new[1])} is new" if new else note

    def batch(self, x: Any, codes: np.ndarray) -> Effects:
        names = [self._name(code) if code >= 0 else None for code in codes.tolist()]
        try:
            predictions, effects = self.session.ingest(x, names)
        except _core.Rejected as error:
            raise ValueError(str(error)) from None
        return self._effects(effects, predictions)

    def answer(self, sample: int, code: int) -> Effects:
        return self._submit(self.session.answer, sample, self._name(code))

    def correct(self, sample: int, code: int) -> Effects:
        return self._submit(self.session.correct, sample, self._name(code))

    def skip(self, sample: int) -> Effects:
        return self._submit(self.session.skip, sample)

    def withdraw(self, sample: int) -> Effects:
        return self._submit(self.session.withdraw, sample)

    def relate(self, a: int, b: int, same: bool) -> Effects:
        return self._submit(self.session.relate, a, b, same)

    def compare(self, sample: int) -> Effects:
        return self._submit(self.session.compare, sample)

    def reference(self, sample: int) -> str:
        found = json.loads(self.session.reference(sample))
        return json.dumps(found and found | {"class": self._code(found["class"])})

    def ask(self, count: int) -> Effects:
        return self._effects(self.session.ask(count))

    def tick(self, now: int) -> Effects:
        self.session.close_batch(now)
        notices = json.loads(self.session.take_notices())
        effects = {
            "questions": [],
            "implied": [],
            "drift": next((n["drift"] for n in notices if n["drift"]), None),
            "advice": next((n["advice"] for n in notices if n["advice"]), None),
            "notes": [note for n in notices for note in n["notes"]],
            "rejected": [],
        }
        return self._effects(json.dumps(effects), self.session.predictions())

    def questions(self) -> list[int]:
        return self.session.questions()

    def metrics(self) -> str:
        return self.session.metrics()

    def params(self) -> str:
        return self.session.params()

    def label_sources(self) -> str:
        return self.session.label_sources()

    def query_arms(self) -> str:
        return self.session.query_arms()

    def exemplars(self) -> tuple[Rows, np.ndarray] | None:
        return self.session.exemplars()

    def labels(self) -> tuple[np.ndarray, np.ndarray]:
        pairs = [(sample, self._code(name)) for sample, name in self.session.labels()]
        samples, codes = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
        return samples, codes

    def classifier(self) -> CodedClassifier | None:
        found = self.session.classifier()
        return None if found is None else CodedClassifier(found, [str(self._code(name)) for name in found.classes])

    def to_bytes(self, about: str = "") -> bytes:
        raise ValueError("a classifier with state=DIR is always saved in its directory; copy the directory")


class CodedClassifier:
    """A classifier whose classes are the codes of a label encoder."""

    def __init__(self, classifier: _core.Classifier, classes: list[str]) -> None:
        self.predict, self.classes = classifier.predict, classes


#: The engine of a stream classifier: in memory, or with a session in a directory.
StreamEngine: TypeAlias = _core.Engine | DurableEngine


class Session:
    """A durable stream in a directory: every event is on disk before it takes effect.

    After a crash, open the directory again to resume with bit-identical results. Rows that cannot be used (NaN,
    infinite, too large) are rejected one by one and counted; the other rows of the batch are learned. For an estimator
    with a durable state, use ``NeverEndingClassifier(state=DIR)``.

    Errors are subclasses of `SessionError`: `StorageFull`, `StorageError`, `Corrupt`, `OtherCpu` and `Rejected`.

    Parameters
    ----------
    directory : str or path-like
        The directory; it is created if it does not exist. Only one process at a time can open it.
    allow_other_cpu : bool, default=False
        Whether to continue a session that was computed with other CPU features; results may differ in the last bits.
    **params
        Parameters of `NeverEndingClassifier`. They are fixed when the first batch arrives; open an existing session
        with the same ones, or with none. The parameters of the budget may change: ``budget``, ``queries_per_batch``,
        ``per_time`` and ``queries_per_round``.

    Examples
    --------
    >>> import tempfile
    >>> from sklearn.datasets import make_moons
    >>> from evermargin import Session
    >>> X, y = make_moons(200, noise=0.1, random_state=0)
    >>> directory = tempfile.mkdtemp()
    >>> with Session(directory, gamma=5) as session:
    ...     rejected = session.ingest(X[:100])
    ...     for query in session.ask(10):
    ...         session.answer(query["sample"], y[query["row"]])
    ...     session.close_batch()
    >>> with Session(directory) as session:
    ...     print((session.predict(X[100:]) == y[100:]).mean() > 0.8)
    True
    """

    def __init__(self, directory: StrPath, *, allow_other_cpu: bool = False, **params: Any) -> None:
        from ._stream import NeverEndingClassifier

        self._template = NeverEndingClassifier(**params)
        self._given = bool(params)
        self.directory = os.fspath(directory)
        self._session = _core.Session.open(self.directory, allow_other_cpu)
        try:
            if self._given and not self._session.is_empty():
                self._template._continue_session(self._session)
        except BaseException:
            self._session.close()
            raise

    @classmethod
    def open(cls, directory: StrPath, *, allow_other_cpu: bool = False, **params: Any) -> Session:
        """Open the session in a directory, or create one; equivalent to the constructor."""
        return cls(directory, allow_other_cpu=allow_other_cpu, **params)

    def __enter__(self) -> Session:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the files. Without it nothing is lost, but the directory stays locked while the object exists."""
        self._session.close()

    def ingest(self, X: Any, y: ArrayLike | None = None, missing_label: Any = None) -> int:
        """Predict the rows of a batch, then learn from its labels. This closes the batch before.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples; unusable rows are rejected, the others are used.
        y : array-like of shape (n_samples,), default=None
            Class labels; ``missing_label`` marks unlabeled rows.
        missing_label : scalar, float('nan') or None, default=None
            Value in ``y`` that marks unlabeled rows.

        Returns
        -------
        rejected : int
            Number of rejected rows of this batch; ``rejected_rows`` has the reasons.
        """
        from ._labels import known_labels

        X = check_array(X, accept_sparse="csr", dtype=np.float64, order="C", ensure_all_finite=False)
        names: list[str | None] = [None] * X.shape[0]
        if y is not None:
            has, labels = known_labels(y, missing_label, X.shape[0])
            for i, label in zip(np.flatnonzero(has), labels, strict=True):
                names[i] = class_name(label)
        if self._session.is_empty():
            self._template._begin_session(self._session, X, class_names_of(self._template.class_weight))
        before = self.stats["rejected_rows"]
        self._session.ingest(rows(X), names)
        return self.stats["rejected_rows"] - before

    def queries(self) -> list[dict[str, Any]]:
        """Return the pending queries.

        Each is a dict with ``sample``, ``row`` in its batch, ``why``, ``guess``, ``closeness`` and ``reference``. The reference
        is None if the class is queried; in a comparison it has the labeled ``sample`` to compare with and its ``class``, to be
        answered by ``relate``.
        """
        found = json.loads(self._session.queries())
        for query in found:
            reference = query["reference"]
            query["guess"] = None if query["guess"] is None else class_label(query["guess"])
            query["reference"] = reference and reference | {"class": class_label(reference["class"])}
        return found

    def ask(self, n: int | None = None) -> list[dict[str, Any]]:
        """Choose up to ``n`` samples to query, as far as the budget allows, and return all pending queries.

        None is ``queries_per_round``, as given when the session was created or last opened.
        """
        self._session.ask(json.loads(self._session.params())["queries_per_round"] if n is None else n)
        return self.queries()

    def answer(self, sample: int, label: Any) -> None:
        """Answer a query with the class of the sample."""
        self._session.answer(int(sample), class_name(label))

    def skip(self, sample: int) -> None:
        """Skip a query without an answer."""
        self._session.skip(int(sample))

    def compare(self, sample: int) -> None:
        """Turn a query for a class into a comparison with a labeled sample.

        The query gets a ``reference``. If the two samples differ in class, the sample is compared with another class, which
        costs another query of the budget.
        """
        self._session.compare(int(sample))

    def relate(self, a: int, b: int, same: bool) -> None:
        """State whether two samples have the same class; answers the query that compares them."""
        self._session.relate(int(a), int(b), truth_value(same))

    def correct(self, sample: int, label: Any) -> None:
        """Change the class of a sample that has a label."""
        self._session.correct(int(sample), class_name(label))

    def withdraw(self, sample: int) -> None:
        """Remove the label of a sample."""
        self._session.withdraw(int(sample))

    def close_batch(self, now: int | None = None) -> None:
        """Close the batch, which ends its queries. ``now`` is the time in seconds; None reads the clock."""
        self._session.close_batch(int(time.time()) if now is None else int(now))

    def reopen_store(self) -> bool:
        """Reopen the store after `StorageFull` or `StorageError`, once the cause is removed.

        Returns
        -------
        applied : bool
            Whether the failed event was stored after all and is applied now; send it again otherwise.
        """
        return self._session.reopen_store()

    @property
    def classes_(self) -> np.ndarray:
        """Classes seen so far, in the order of their first appearance."""
        return np.array([class_label(name) for name in self._session.classes])

    @property
    def classifier(self) -> _core.Classifier | None:
        """The current classifier; None until labels of two classes are known."""
        return self._session.classifier()

    def predict(self, X: Any) -> np.ndarray:
        """Predict the classes of samples by the current classifier; the session stays unchanged."""
        found = self.classifier
        if found is None:
            raise ValueError("labels of two classes are needed: give some in y, or answer queries")
        X = check_array(X, accept_sparse="csr", dtype=np.float64, order="C")
        labels = np.array([class_label(name) for name in found.classes])
        return labels[found.predict(rows(X))[0]]

    def predictions(self) -> tuple[list[Any], np.ndarray]:
        """Return classes (None where unknown) and confidences of the rows of the last closed batch.

        A confidence is the estimated probability that the class is correct.
        """
        names, confidence, _ = self._session.predictions()
        return [None if name is None else class_label(name) for name in names], confidence

    def save_model(self, path: StrPath) -> None:
        """Write the current classifier to a model file."""
        from ._files import write_whole

        if self.classifier is None:
            raise ValueError("labels of two classes are needed: give some in y, or answer queries")
        write_whole(path, self.classifier.to_bytes())

    @property
    def label_sources(self) -> list[dict[str, Any]]:
        """Label sources with their weights and their accuracies on held-out labels."""
        found: list[dict[str, Any]] = json.loads(self._session.label_sources())
        return found

    @property
    def rejected_rows(self) -> list[dict[str, Any]]:
        """Rejected rows of the last batch: ``sample``, ``column``, ``value`` and ``reason`` of each."""
        found = json.loads(self._session.rejected_rows())
        return [{"sample": r["row"] - 1, "column": r["column"], "value": r["value"], "reason": r["reason"]} for r in found]

    @property
    def stats(self) -> dict[str, Any]:
        """Counts and metrics of the stream.

        ``rows`` is the number of used rows and ``rejected_rows`` of rejected ones, as on the command line; ``samples`` is
        their sum. Predictions made on arrival are scored by ``kappa``, ``kappa_t`` (against repeating the
        previous label), ``kappa_m`` (against the majority class so far), ``windowed_accuracy``, ``fading_accuracy`` and
        ``per_class`` (precision, recall, F1); each is None where it is not defined.
        """
        found: dict[str, Any] = json.loads(self._session.statistics())
        return found


def class_names_of(class_weight: Any) -> dict[str, Any]:
    """Class weights by the names of classes in a session."""
    if not isinstance(class_weight, dict):
        return {}
    return {class_name(label): weight for label, weight in class_weight.items()}
