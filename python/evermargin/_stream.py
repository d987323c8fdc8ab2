"""The loop that never ends: label, ask, learn, remember, in bounded memory."""

from __future__ import annotations

import json
import math
import numbers
import os
from collections import deque
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import _num_samples, check_is_fitted, validate_data

from . import _core
from ._base import (
    from_rows,
    is_whole,
    parameter_error,
    plain,
    rows,
    seed,
    transactional,
)
from ._label_encoder import LabelEncoder
from ._labels import known_labels, labels_and_gaps, refuse_minus_one
from ._persistence import PersistenceMixin
from ._session import DurableEngine, class_label, class_name, class_names_of

if TYPE_CHECKING:
    from typing_extensions import Self

#: Maximum number of events that are remembered.
MAX_EVENTS = 1000

#: Parameters of the engine by their names there.
ENGINE_NAMES = {
    "c": "C",
    "loss": "loss",
    "kernel": "kernel",
    "gamma": "gamma",
    "scale": "scale",
    "class_weight": "class_weight",
    "label_source": "label_source",
    "query_strategy": "strategy",
    "exploration_rate": "exploration_rate",
    "forget": "forgetting",
    "max_labels": "max_labels",
    "max_points": "max_points",
}


class NeverEndingClassifier(PersistenceMixin, ClassifierMixin, BaseEstimator):
    """A classifier for a stream with few labels, that asks for those worth having.

    Each batch is labeled when it arrives; ``ask`` names the samples of it that are worth a label, ``answer``
    learns one at once. When the next batch arrives, the one before is summarized: exemplars of samples without
    a label, true labels up to a cap. Classes may appear at any time. Memory is bounded by the parameters and
    the largest batch, however long the stream. Parameters that are changed later count from the next ``fit`` on.

    The parts and when they fail: ``docs/run.md`` and ``docs/python-streams.md``.

    Parameters
    ----------
    C : float, default=3.0
        Cost of a true label.
    kernel : "auto", "rbf" or "linear", default="auto"
        Auto is linear for sparse samples of 1000 columns or more, else rbf.
    gamma : "scale", "auto" or float, default="scale"
        Width of the rbf kernel: a number, scale = 1/(d·Var X) of the first batch, or auto = 1/d.
    loss : "hinge" or "ramp", default="hinge"
        Ramp where labels may be wrong.
    class_weight : "balanced", "ratio", dict or None, default=None
        Weights of classes: balanced (all weigh the same in sum), ratio (the largest keeps 1), or one a class.
    scale : str or None, default="none"
        Scaling fitted on the first batch: none, minmax, standard, range, unit or tfidf; None chooses from it.
    strategy : str, default="small-pool"
        How samples to ask about are chosen: small-pool, margin, diverse, submod, random or none.
    queries_per_batch : int, default=10
        Maximum number of queries per batch.
    total_budget : int or None, default=None
        Maximum number of queries in total; None is no limit.
    label_source : "auto", "model" or "transduction", default="auto"
        Source of the labels of a batch: the classifier, transduction, or the more accurate of the two so far.
    forgetting : tuple or None, default=None
        ``("window", n)`` keeps the last n labels, ``("half_life", n)`` lets a label count half after n
        batches, ``("on_drift", n)`` drops labels older than n batches when the stream has changed. None
        forgets nothing but what exceeds the caps.
    max_labels : int, default=4000
        Maximum number of true labels that are remembered.
    max_points : int, default=4000
        Maximum number of points of the classifier.
    exploration_rate : float, default=0.1
        Share of questions that are drawn at random, by which accuracy and change are measured.
    random_state : int, RandomState instance or None, default=None
        Seed of everything random; None is 1.
    missing_label : scalar, float('nan') or None, default=-1
        What marks a row without a label in ``y``.
    state : str, path-like or None, default=None
        Directory in which every event is stored before it takes effect. An estimator with the same parameters and
        directory continues there, after a crash too, with bit-identical results. None keeps everything in memory.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Classes so far, sorted.
    labels_ : ndarray of shape (n_samples,)
        Labels of the last batch: given ones as they are, ``missing_label`` while no two classes are known.
    confidence_ : ndarray of shape (n_samples,)
        How sure each was when it arrived; 1 is the edge of the margin.
    sample_ids_ : ndarray of shape (n_samples,)
        Numbers of the samples of the last batch, by which they are asked about.
    exemplars_ : ndarray or sparse matrix
        Samples that stand for all batches but the last, as the classifier sees them (scaled).
    metrics_ : dict
        Rows used and rejected, batches, questions asked, accuracy on labels that were not chosen, changes of the stream.
    events_ : list of dict
        What happened, with the number of the batch: drift, new classes, advice to stop asking. The last 1000.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import make_moons
    >>> from evermargin import NeverEndingClassifier
    >>> X, y = make_moons(600, noise=0.1, random_state=0)
    >>> model = NeverEndingClassifier(gamma=5, queries_per_batch=8)
    >>> for part in np.split(np.arange(500), 5):
    ...     model = model.partial_fit(X[part])
    ...     while len(ids := model.ask(1)):
    ...         model = model.answer(ids, y[ids])
    >>> model.metrics_["labels_spent"] <= 40
    True
    >>> model.score(X[500:], y[500:]) > 0.9
    True
    """

    def __init__(
        self,
        *,
        C: float = 3.0,
        kernel: str = "auto",
        gamma: float | str = "scale",
        loss: str = "hinge",
        class_weight: dict[Any, float] | str | None = None,
        scale: str | None = "none",
        strategy: str = "small-pool",
        queries_per_batch: int = 10,
        total_budget: int | None = None,
        label_source: str = "auto",
        forgetting: tuple[str, int] | None = None,
        max_labels: int = 4000,
        max_points: int = 4000,
        exploration_rate: float = 0.1,
        random_state: Any = None,
        missing_label: Any = -1,
        state: str | os.PathLike | None = None,
    ) -> None:
        self.C = C
        self.kernel = kernel
        self.gamma = gamma
        self.loss = loss
        self.class_weight = class_weight
        self.scale = scale
        self.strategy = strategy
        self.queries_per_batch = queries_per_batch
        self.total_budget = total_budget
        self.label_source = label_source
        self.forgetting = forgetting
        self.max_labels = max_labels
        self.max_points = max_points
        self.exploration_rate = exploration_rate
        self.random_state = random_state
        self.missing_label = missing_label
        self.state = state

    @transactional
    def fit(self, X: Any, y: ArrayLike) -> Self:
        """Forget everything, then learn one batch.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples.
        y : array-like of shape (n_samples,)
            Their classes; ``missing_label`` marks rows without a label.

        Returns
        -------
        self : object
            The estimator.
        """
        if self.state is not None and (getattr(self, "_engine", None) is not None or self._has_session()):
            raise ValueError(f"{self.state} holds a session: continue with partial_fit, or name another directory")
        X = validate_data(self, X, accept_sparse="csr", dtype=np.float64, order="C")
        labels_and_gaps(y, self.missing_label, _num_samples(X))  # refuses what cannot be meant
        return self._arrive(X, y, None, anew=True)

    def partial_fit(self, X: Any, y: ArrayLike | None = None, classes: ArrayLike | None = None) -> Self:
        """Take a batch in: label it, then learn the labels it came with.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples; they are numbered on from those before (``sample_ids_``).
        y : array-like of shape (n_samples,), default=None
            Their classes; ``missing_label`` marks rows without a label. None is no label at all.
        classes : array-like, default=None
            Classes to expect. They may also come unannounced.

        Returns
        -------
        self : object
            The estimator.
        """
        self._resume()
        return self._partial_fit(X, y, classes)

    @transactional
    def _partial_fit(self, X, y, classes):
        first = getattr(self, "_engine", None) is None
        X = validate_data(self, X, accept_sparse="csr", dtype=np.float64, order="C", reset=first)
        return self._arrive(X, y, classes, anew=first)

    def _arrive(self, X, y, classes, anew):
        n = _num_samples(X)
        has = np.zeros(n, dtype=bool)
        labels = np.array([])
        if classes is not None:
            refuse_minus_one(has, labels, self.missing_label, classes)
        if y is not None:
            has, labels = known_labels(y, self.missing_label, n)
        encoder = LabelEncoder(self.class_weight) if anew else self._label_encoder.copy()
        if anew:
            self._seed = seed(self.random_state)
        codes = np.full(n, -1, dtype=np.int64)
        codes[has] = encoder.codes(labels)
        if classes is not None:
            encoder.codes(np.unique(classes))
        engine = self._begin(X, encoder) if anew else self._engine
        said, sure, told = self._take_in(engine, encoder, rows(X), codes, close_on_error=anew)
        if anew:
            self._asked, self.events_ = {}, []
        self._engine, self._label_encoder = engine, encoder
        self._first = json.loads(engine.metrics())["samples"] - n
        self._batch = X
        self.classes_ = encoder.classes()
        self.sample_ids_ = np.arange(self._first, self._first + n)
        self._codes = np.where(has, codes, said)
        self.confidence_ = sure
        self._show()
        self._note(told)
        return self

    def _take_in(self, engine, encoder, x, codes, close_on_error):
        if isinstance(engine, DurableEngine):
            before, engine.encoder = engine.encoder, encoder
            try:
                return engine.batch(x, codes)
            except BaseException:
                engine.encoder = before
                if close_on_error:
                    engine.session.close()
                raise
        return engine.batch(x, codes)

    def _begin(self, X, encoder):
        """An engine that has seen nothing; errors name the parameter as it is called here."""
        if self.state is None:
            return self._checked(_core.Engine, self._settings(X.shape[1], encoder.weights))
        session = _core.Session.open(os.fspath(self.state))
        try:
            self._begin_session(session, X, {class_name(encoder.label(int(c))): w for c, w in encoder.weights.items()})
        except BaseException:
            session.close()
            raise
        return DurableEngine(session, encoder)

    def _begin_session(self, session, X, weights):
        """Begins a session for rows like these."""
        if getattr(self, "_seed", None) is None:
            self._seed = seed(self.random_state)
        names = getattr(self, "feature_names_in_", None)
        about = json.dumps({"names": None if names is None else list(names)})
        layout = X.shape[1], bool(sparse.issparse(X))
        self._checked(lambda text: session.begin(text, *layout, about), self._settings(X.shape[1], weights))

    def _check_unchanged(self, session):
        """Refuses a session that began with other parameters."""
        self._seed = seed(self.random_state)
        settings = self._settings(session.layout[0], class_names_of(self.class_weight))
        names = {ENGINE_NAMES.get(n, n) for n in self._checked(session.differences, settings)}
        if not is_whole(self.random_state):
            names.discard("seed")
        if names:
            listed = ", ".join(sorted(names))
            raise ValueError(f"the session in {self.state} began with other values of: {listed}")

    def _has_session(self):
        """Whether the state directory holds a session."""
        if not os.path.isdir(self.state):
            return False
        session = _core.Session.open(os.fspath(self.state))
        empty = session.is_empty()
        session.close()
        return not empty

    def _resume(self):
        """Opens the session in the state directory, if there is one and it is not open yet."""
        if self.state is None or getattr(self, "_engine", None) is not None or not os.path.isdir(self.state):
            return
        session = _core.Session.open(os.fspath(self.state))
        try:
            if session.is_empty():
                session.close()
                return
            self._check_unchanged(session)
            self._restore(session)
        except BaseException:
            session.close()
            raise

    def _restore(self, session):
        encoder = LabelEncoder(self.class_weight)
        for name in session.classes:
            encoder.codes(np.array([class_label(name)]))
        engine = DurableEngine(session, encoder)
        names = json.loads(session.about)["names"] if session.about.startswith("{") else None
        self.n_features_in_ = session.layout[0]
        if names is not None:
            self.feature_names_in_ = np.array(names, dtype=object)
        predicted, confidence = session.predictions() if session.batch_closed else ([], np.zeros(0))
        self._codes = np.array([engine._code(name) for name in predicted], dtype=np.int64)
        rows_seen = json.loads(engine.metrics())["samples"]
        self._first, self._batch, self._asked, self.events_ = rows_seen - len(self._codes), None, {}, []
        self._engine, self._label_encoder = engine, encoder
        self.classes_, self.confidence_ = encoder.classes(), confidence
        self.sample_ids_ = np.arange(self._first, rows_seen)
        self._show()

    def close(self) -> None:
        """Close the state directory, which can then be opened elsewhere; nothing is lost without it."""
        engine = getattr(self, "_engine", None)
        if isinstance(engine, DurableEngine):
            engine.session.close()
            self._engine = None

    def __sklearn_is_fitted__(self) -> bool:
        self._resume()
        return getattr(self, "_engine", None) is not None

    def _checked(self, make, settings):
        """What ``make`` gives for these settings; errors name the parameter as it is called here."""
        for core_name, value in settings.items():
            try:
                json.dumps(value, default=plain, allow_nan=False)
            except (TypeError, ValueError):
                name = ENGINE_NAMES.get(core_name, core_name)
                raise parameter_error(name, value, "a finite number, a word or a list of them") from None
        try:
            return make(json.dumps(settings, default=plain))
        except _core.ParameterError as error:
            name = ENGINE_NAMES.get(error.name)
            if name is None:
                raise
            raise parameter_error(name, getattr(self, name), error.allowed) from None

    def _settings(self, columns, weights):
        return {
            "loss": self.loss,
            "kernel": self._kernel(columns),
            "scale": self.scale,
            "c": self.C,
            "class_weight": self._class_weight(weights),
            "label_source": self.label_source,
            "query_strategy": self.strategy,
            "budget": {"per_batch": self._count("queries_per_batch"), "total": self._total(), "queries_per_round": 0},
            "exploration_rate": self.exploration_rate,
            "forget": self._forget(),
            "max_labels": self.max_labels,
            "max_points": self.max_points,
            "seed": self._seed,
        }

    def _class_weight(self, weights):
        if isinstance(self.class_weight, str):
            return self.class_weight
        return {"explicit": weights} if weights else "none"

    def _count(self, name):
        value = getattr(self, name)
        if not is_whole(value) or value < 0:
            raise parameter_error(name, value, "a whole number from 0 on")
        return int(value)

    def _total(self):
        return None if self.total_budget is None else self._count("total_budget")

    def _kernel(self, columns):
        if self.kernel not in ("auto", "rbf", "linear"):
            raise parameter_error("kernel", self.kernel, "auto, rbf or linear")
        if self.kernel == "linear":
            return {"fixed": {"type": "linear"}}
        if isinstance(self.gamma, str):
            if self.gamma not in ("scale", "auto"):
                raise parameter_error("gamma", self.gamma, "a positive number, scale or auto")
            return self.kernel if self.gamma == "scale" else {"fixed": {"type": "rbf", "gamma": 1.0 / columns}}
        if not isinstance(self.gamma, numbers.Real) or not 0 < self.gamma < math.inf:
            raise parameter_error("gamma", self.gamma, "a positive number, scale or auto")
        return {"fixed": {"type": "rbf", "gamma": float(self.gamma)}}

    def _forget(self):
        if self.forgetting is None:
            return "nothing"
        names = {"window": "window", "half_life": "half-life", "on_drift": "on-drift"}
        try:
            name, count = self.forgetting
            return {names[name]: int(count)}
        except (TypeError, ValueError, KeyError):
            allowed = "None, ('window', labels), ('half_life', batches) or ('on_drift', batches)"
            raise parameter_error("forgetting", self.forgetting, allowed) from None

    def _show(self):
        """The labels of the last batch as the user knows them."""
        values = [self._label_encoder.label(c) if c >= 0 else self.missing_label for c in self._codes]
        if np.all(self._codes >= 0):
            self.labels_ = np.array(values, dtype=self.classes_.dtype)
            return
        number = isinstance(self.missing_label, numbers.Number) and self.classes_.dtype.kind in "iuf"
        self.labels_ = np.array(values) if number else _objects(values)

    def _note(self, told):
        """Remembers what happened; gives the numbers of the samples asked about."""
        told = json.loads(told)
        batch = json.loads(self._engine.metrics())["batches"]
        events = deque(self.events_, maxlen=MAX_EVENTS)
        if told["drift"]:
            events.append({"batch": batch, "event": "drift", **told["drift"]})
        if told["advice"]:
            events.append({"batch": batch, "event": "advice", "why": told["advice"]})
        if told["rejected"]:
            events.append({"batch": batch, "event": "rejected", "rows": told["rejected"]})
        for note in told["notes"]:
            events.append({"batch": batch, "event": "note", "text": self._label_encoder.translate(note)})
        self.events_ = list(events)
        return [question["sample"] for question in told["questions"]]

    def ask(self, n: int = 1, return_X: bool = False) -> Any:
        """Samples of the last batch that are worth a label now.

        Questions that wait for an answer come first, and are not paid for again.

        Parameters
        ----------
        n : int, default=1
            How many; fewer come where the budget is spent or no more are worth it.
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
        if not isinstance(n, numbers.Integral) or n < 0:
            raise ValueError(f"n={n!r}: must be a whole number, 0 or more")
        waiting = self._engine.questions()
        self._asked = {i: self._asked[i] for i in waiting if i in self._asked}
        ids = waiting[:n]
        if len(ids) < n:
            new = self._note(self._engine.ask(n - len(ids))[2])
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
        """Tell the classes of samples that were asked about; each is learned at once.

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
            The estimator, made anew from the labels remembered.
        """
        return self._tell(self._engine_or_error().correct, *self._pairs(id, label))

    def _tell(self, how, ids, labels):
        encoder = self._label_encoder.copy()
        codes = encoder.codes(labels)
        if isinstance(self._engine, DurableEngine):
            self._engine.encoder = encoder
        for i, code in zip(ids, codes.tolist()):
            self._note_and_encode(how(i, code)[2], encoder)
            self._mark(i, code)
        self._show()
        return self

    def _note_and_encode(self, told, encoder):
        self._label_encoder = encoder
        self.classes_ = encoder.classes()
        self._note(told)

    def _mark(self, i, code):
        if 0 <= i - self._first < len(self._codes):
            self._codes[i - self._first] = code

    def skip(self, ids: ArrayLike) -> Self:
        """Pass questions over: nobody knows, or nobody wants to say.

        Parameters
        ----------
        ids : int or array-like of int
            Numbers of samples that were asked about.

        Returns
        -------
        self : object
            The estimator.
        """
        for i in _integers(ids):
            self._note(self._engine_or_error().skip(i)[2])
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
            The estimator, made anew from the labels that are left.
        """
        for i in _integers(id):
            self._note(self._engine_or_error().withdraw(i)[2])
            self._mark(i, -1)
        self._show()
        return self

    def close_batch(self) -> Self:
        """End the last batch: no more answers are waited for, and it is labeled with all that is known now.

        The next ``partial_fit`` does so too; this is for whoever wants ``labels_`` of the end.

        Returns
        -------
        self : object
            The estimator.
        """
        engine = self._engine_or_error()
        said, sure, told = engine.tick(0)
        if len(said) == len(self._codes):
            self._codes, self.confidence_ = said, sure
            self._show()
        self._note(told)
        return self

    def _engine_or_error(self):
        check_is_fitted(self)
        return self._engine

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

    def decision_function(self, X: Any) -> np.ndarray:
        """Decision values.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        f : ndarray of shape (n_samples,) or (n_samples, n_classes)
            Of two classes one value a row, positive for ``classes_[1]``; of more one a class, the largest
            wins. Classes without a label have -1e100.
        """
        check_is_fitted(self)
        X = validate_data(self, X, accept_sparse="csr", dtype=np.float64, order="C", reset=False)
        return self._label_encoder.decisions(self._engine, X)

    def predict(self, X: Any) -> np.ndarray:
        """Classes of samples, by the classifier as it is; nothing changes.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        y : ndarray of shape (n_samples,)
            One of ``classes_`` each.
        """
        f = self.decision_function(X)
        if len(self.classes_) == 0:
            raise ValueError("no label is known yet: give some in y, or answer what ask() asks")
        if len(self.classes_) == 1:
            return np.repeat(self.classes_, len(f))
        return self.classes_[(f > 0).astype(int) if f.ndim == 1 else np.argmax(f, axis=1)]

    @property
    def metrics_(self) -> dict[str, Any]:
        """What the loop knows about itself."""
        self._attribute("metrics_")
        return json.loads(self._engine.metrics())

    @property
    def exemplars_(self) -> Any:
        """Samples that stand for all batches but the last."""
        self._attribute("exemplars_")
        return from_rows(self._engine.exemplars()[0])

    @property
    def exemplar_weights_(self) -> np.ndarray:
        """How many samples each exemplar stands for."""
        self._attribute("exemplar_weights_")
        return self._engine.exemplars()[1]

    def _attribute(self, name):
        self._resume()
        if getattr(self, "_engine", None) is None:
            raise AttributeError(f"{name}: this {type(self).__name__} is not fitted yet")

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def _integers(ids):
    ids = np.atleast_1d(np.asarray(ids))
    if ids.size and ids.dtype.kind not in "iu":
        raise ValueError(f"numbers of samples must be whole numbers, not {ids.dtype}")
    if np.any(ids < 0):
        raise ValueError(f"sample {ids.min()} does not exist")
    return ids.tolist()


def _objects(values):
    out = np.empty(len(values), dtype=object)
    out[:] = values
    return out
