"""The stream classifier: it predicts, queries labels and learns batch by batch, in bounded memory."""

from __future__ import annotations

import json
import numbers
import os
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import _num_samples, check_is_fitted, validate_data

from . import _core
from ._annotation import AnnotationMixin
from ._base import (
    from_rows,
    is_whole,
    parameter_error,
    rows,
    seed,
    to_json_value,
    transactional,
)
from ._label_encoder import LabelEncoder
from ._labels import check_minus_one, classes_and_codes, known_labels
from ._persistence import PersistenceMixin
from ._session import DurableEngine, class_label, class_name, class_names_of

if TYPE_CHECKING:
    from typing_extensions import Self

    from ._core import Effects, Rows
    from ._session import StreamEngine
    from ._types import StrPath

#: Result of a function of the core.
Made = TypeVar("Made")

#: Maximum length of ``events_``.
MAX_EVENTS = 1000

#: Engine parameters with another name in Python.
RENAMED = {"c": "C", "seed": "random_state"}

#: Specifications of the engine parameters, by their names in the engine.
ENGINE_SPECS: dict[str, dict[str, Any]] = {spec["name"]: spec for spec in json.loads(_core.engine_specs())}


class NeverEndingClassifier(AnnotationMixin, PersistenceMixin, ClassifierMixin, BaseEstimator):
    """Classifier for a stream with few labels, which queries the labels that are worth their cost.

    Each batch is labeled on arrival. ``ask`` returns the samples of the batch that are worth a label, and ``answer``
    learns a label at once. When the next batch arrives, the previous one is reduced to exemplars of its unlabeled
    samples and its true labels. New classes may appear at any time. Memory is bounded by the parameters and the size
    of the largest batch, whatever the length of the stream. Changed parameters take effect with the next ``fit``.

    Parameters and defaults are those of ``evermargin run``. Methods and failure modes: ``docs/run.md`` and
    ``docs/python-streams.md``.

    Parameters
    ----------
    budget : int or None, default=None
        Maximum number of queries in total; None = no limit. May change when a state is resumed.
    queries_per_batch : int, default=10
        Maximum number of queries per batch. May change when a state is resumed.
    per_time : str or None, default=None
        Maximum number of queries in a span of time, N/SECONDS; None = no limit.
    queries_per_round : int, default=1
        Number of queries that ``ask`` returns at once; the queries of the next round depend on the answers.
    strategy : {"small-pool", "margin", "diverse", "bandit", "submod", "random", "none"}, default="small-pool"
        Strategy for choosing the samples to query: small-pool (nearest to the boundary among a few drawn at random),
        margin (nearest of the batch), diverse (near the boundary and unlike each other), bandit (chooses among random,
        small-pool, diverse and submod by their answers), submod (SUBMOD-ACTV), random, or none.
    submod_weights : {"dense", "outliers", "learned"}, default="dense"
        Weights of the strategy submod: dense (rows like many others), outliers (rows unlike most others) or learned
        (from remembered labels).
    pairwise_queries : {"on-request", "after-skip", "always"}, default="on-request"
        When to ask whether a sample is of the same class as a labeled one: on-request (by an annotator who cannot name
        the class), after-skip (also when a query about the class is skipped) or always (before asking for the class),
        the latter two once new classes are rare.
    label_price : float or None, default=None
        Price of a label: query only while a label is expected to save more; needs error_price; None = no price.
    error_price : float or None, default=None
        Price of a wrong label in the output; needs label_price; None = no price.
    price_horizon : int or None, default=None
        Number of rows for which a label is useful, for label_price; None = as many as were seen so far.
    pool : int, default=59
        Number of samples that small-pool draws.
    exploration_rate : float, default=0.1
        Fraction of queries drawn at random; accuracy and drift are measured on them.
    max_margin_distance : float, default=1.0
        Maximum distance from the boundary of samples that a strategy queries; the margin is at 1.
    novelty : bool, default=False
        Whether to report improbably many rows unlike all earlier ones, and to reserve up to a fifth of the queries of
        the batch for them.
    classifier : {"lasvm", "local", "seq-lapmed"}, default="lasvm"
        Online classifier: lasvm, local (keeps every label; a new label updates its neighborhood) or seq-lapmed (also
        learns the unlabeled rows of a batch).
    graph_weight : float, default=0.5
        Weight of the variation along the graph of a batch in seq-lapmed, divided by the number of the batch; 0 =
        labels alone.
    kernel : {"auto", "rbf", "linear", "poly"}, default="auto"
        Kernel: auto (linear for sparse rows of 1000 columns or more, else rbf), rbf, linear or poly.
    gamma : "scale", "auto" or float, default="scale"
        Width of the rbf and poly kernels: a number, scale = 1/(d·Var X) of the first batch, or auto = 1/d.
    degree : int, default=3
        Power of the poly kernel.
    coef0 : float, default=1.0
        Constant of the poly kernel.
    C : float, default=3.0
        Cost of a margin violation of a true label.
    c_inferred : float, default=3.0
        Cost of a margin violation of an inferred label of full confidence in the published classifier; 0 = learn from
        true labels alone.
    loss : {"hinge", "ramp"}, default="hinge"
        Loss: hinge, or ramp where labels may be wrong.
    class_weight : "balanced", "ratio", dict or None, default=None
        Class weights: balanced (equal total weight per class), ratio (n_largest / n_class), or one weight per class.
    scale : {"auto", "none", "minmax", "range", "standard", "unit", "tfidf"}, default="auto"
        Scaling, fitted on the first batch: minmax, range, standard, unit, tfidf, none, or auto = chosen from that
        batch.
    label_source : {"auto", "model", "transduction", "tsvm", "graph"}, default="auto"
        Source of inferred labels: model (the classifier trained on true labels), transduction (SUBMOD-S3VM), tsvm,
        graph (label propagation), or auto = all of them, weighted by their accuracy on held-out labels.
    ratio : "labels", "auto", float or list of float, default="auto"
        Share of the second class among unlabeled rows, or of each class in order of names: a number, a list of numbers,
        labels (as among labels that no query strategy chose) or auto (estimated).
    forget : str, default="on-drift=5"
        Labels to forget: nothing, window=N (all but the last N), half-life=N (weight halves every N batches), or
        on-drift=N (after drift, those at least N batches old, except for the newest 50 and the newest 10 of each class).
    drift : {"none", "windowed", "adwin", "kswin", "page-hinkley"}, default="windowed"
        Drift detector on the errors of labels that no query strategy chose: windowed (windows of 50 labels), adwin,
        kswin, page-hinkley, or none; all but none also test the share of rows within the margin.
    random_state : int, RandomState instance or None, default=None
        Random seed; None is 1.
    exemplars : int, default=200
        Maximum number of exemplars of past unlabeled rows; 0 = as many as the largest batch has rows.
    tolerance : float, default=0.05
        Share of a batch's labels that may change when the past is summarized; 0 = none may change.
    evicted_weight : float, default=0.0
        Total weight, in batches, that evicted rows keep in transduction through their class means; 0 disables this.
    max_labels : int, default=4000
        Maximum number of true labels that are remembered.
    max_features : int or None, default=None
        Maximum number of columns that a stream may grow to; None = 1048576 for sparse rows, 4096 for dense rows.
    max_points : int, default=4000
        Maximum number of points of the classifier.
    max_open : int, default=1000
        Maximum number of pending queries; the oldest lapse.
    max_classes : int, default=100
        Maximum number of classes; labels of further classes are rejected.
    cache_mb : int, default=256
        Memory for cached kernel rows, in megabytes.
    missing_label : scalar, float('nan') or None, default=-1
        Value in ``y`` that marks unlabeled rows.
    state : str, path-like or None, default=None
        Directory in which every event is stored before it takes effect. An estimator with the same parameters and
        directory resumes the stream with bit-identical results, also after a crash; ``budget``, ``queries_per_batch``,
        ``per_time`` and ``queries_per_round`` may differ. None keeps the state in memory only.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Sorted classes seen so far.
    labels_ : ndarray of shape (n_samples,)
        Labels of the last batch: given labels as they are, inferred labels elsewhere; ``missing_label`` while fewer than
        two classes are known.
    confidence_ : ndarray of shape (n_samples,)
        Estimated probability that each label is correct, computed on arrival of the batch and again by ``close_batch``.
        For a row with a given label, it refers to the label that was inferred.
    sources_ : ndarray of shape (n_samples,)
        Source of each label of the last batch: given, model, transduction, tsvm, graph or combined (several weighted
        sources); None where there is no label.
    label_sources_ : list of dict
        One entry per label source: ``source``, ``weight`` and ``accuracy`` on held-out labels; empty before the sources
        are first compared.
    query_arms_ : list of dict
        With ``strategy="bandit"``, one entry per arm: ``strategy``, ``usefulness`` (share of useful queries) and number
        of ``answers``.
    sample_ids_ : ndarray of shape (n_samples,)
        Ids of the samples of the last batch, as ``ask`` returns them.
    exemplars_ : ndarray or sparse matrix
        Samples that represent all batches except the last, after scaling.
    metrics_ : dict
        Numbers of used and rejected rows, of batches, of queries and of drifts; accuracy on labels that no strategy chose.
    events_ : list of dict
        The last 1000 events, each with the number of its batch: drifts, new classes, advice to stop querying, rejected
        rows.

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
        budget: int | None = None,
        queries_per_batch: int = 10,
        per_time: str | None = None,
        queries_per_round: int = 1,
        strategy: str = "small-pool",
        submod_weights: str = "dense",
        pairwise_queries: str = "on-request",
        label_price: float | None = None,
        error_price: float | None = None,
        price_horizon: int | None = None,
        pool: int = 59,
        exploration_rate: float = 0.1,
        max_margin_distance: float = 1.0,
        novelty: bool = False,
        classifier: str = "lasvm",
        graph_weight: float = 0.5,
        kernel: str = "auto",
        gamma: float | str = "scale",
        degree: int = 3,
        coef0: float = 1.0,
        C: float = 3.0,
        c_inferred: float = 3.0,
        loss: str = "hinge",
        class_weight: dict[Any, float] | str | None = None,
        scale: str = "auto",
        label_source: str = "auto",
        ratio: float | Sequence[float] | str = "auto",
        forget: str = "on-drift=5",
        drift: str = "windowed",
        random_state: Any = None,
        exemplars: int = 200,
        tolerance: float = 0.05,
        evicted_weight: float = 0.0,
        max_labels: int = 4000,
        max_features: int | None = None,
        max_points: int = 4000,
        max_open: int = 1000,
        max_classes: int = 100,
        cache_mb: int = 256,
        missing_label: Any = -1,
        state: StrPath | None = None,
    ) -> None:
        self.budget = budget
        self.queries_per_batch = queries_per_batch
        self.per_time = per_time
        self.queries_per_round = queries_per_round
        self.strategy = strategy
        self.submod_weights = submod_weights
        self.pairwise_queries = pairwise_queries
        self.label_price = label_price
        self.error_price = error_price
        self.price_horizon = price_horizon
        self.pool = pool
        self.exploration_rate = exploration_rate
        self.max_margin_distance = max_margin_distance
        self.novelty = novelty
        self.classifier = classifier
        self.graph_weight = graph_weight
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.C = C
        self.c_inferred = c_inferred
        self.loss = loss
        self.class_weight = class_weight
        self.scale = scale
        self.label_source = label_source
        self.ratio = ratio
        self.forget = forget
        self.drift = drift
        self.random_state = random_state
        self.exemplars = exemplars
        self.tolerance = tolerance
        self.evicted_weight = evicted_weight
        self.max_labels = max_labels
        self.max_features = max_features
        self.max_points = max_points
        self.max_open = max_open
        self.max_classes = max_classes
        self.cache_mb = cache_mb
        self.missing_label = missing_label
        self.state = state

    @transactional
    def fit(self, X: Any, y: ArrayLike) -> Self:
        """Reset the classifier, then learn one batch.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples.
        y : array-like of shape (n_samples,)
            Class labels; ``missing_label`` marks unlabeled rows.

        Returns
        -------
        self : object
            The estimator.
        """
        if self.state is not None and (getattr(self, "_engine", None) is not None or self._has_session()):
            raise ValueError(f"{self.state} holds a session: continue with partial_fit, or name another directory")
        X = validate_data(self, X, accept_sparse="csr", dtype=np.float64, order="C")
        classes_and_codes(y, self.missing_label, _num_samples(X))  # raises an error for ambiguous labels
        return self._process_batch(X, y, None, restart=True)

    def partial_fit(self, X: Any, y: ArrayLike | None = None, classes: ArrayLike | None = None) -> Self:
        """Predict the labels of a batch, then learn from the labels given with it.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples; their ids continue those of earlier batches (``sample_ids_``).
        y : array-like of shape (n_samples,), default=None
            Class labels; ``missing_label`` marks unlabeled rows. With None all rows are unlabeled.
        classes : array-like, default=None
            Classes to expect. Other classes may appear, too.

        Returns
        -------
        self : object
            The estimator.
        """
        self._resume()
        return self._partial_fit(X, y, classes)

    @transactional
    def _partial_fit(self, X: Any, y: ArrayLike | None, classes: ArrayLike | None) -> Self:
        first = getattr(self, "_engine", None) is None
        X = validate_data(self, X, accept_sparse="csr", dtype=np.float64, order="C", reset=first)
        return self._process_batch(X, y, classes, restart=first)

    def _process_batch(self, X: Any, y: ArrayLike | None, classes: ArrayLike | None, restart: bool) -> Self:
        n = _num_samples(X)
        has = np.zeros(n, dtype=bool)
        labels = np.array([])
        if classes is not None:
            check_minus_one(has, labels, self.missing_label, classes)
        if y is not None:
            has, labels = known_labels(y, self.missing_label, n)
        encoder = LabelEncoder(self.class_weight) if restart else self._label_encoder.copy()
        if restart:
            self._seed = seed(self.random_state)
        codes = np.full(n, -1, dtype=np.int64)
        codes[has] = encoder.codes(labels)
        if classes is not None:
            encoder.codes(np.unique(classes))
        engine = self._begin(X, encoder) if restart else self._engine
        if restart:
            encoder.shares = self._shares()
        self._set_ratio(engine, encoder)
        inferred, confidence, sources, effects = self._submit_batch(engine, encoder, rows(X), codes, close_on_error=restart)
        if restart:
            self._queried_rows, self.events_ = {}, []
        self._engine, self._label_encoder = engine, encoder
        self._first = json.loads(engine.metrics())["samples"] - n
        self._batch = X
        self.classes_ = encoder.classes()
        self.sample_ids_ = np.arange(self._first, self._first + n)
        self._codes = np.where(has, codes, inferred)
        self.confidence_, self.sources_ = confidence, np.where(has, "given", _objects(sources))
        self._update_labels()
        self._record_events(effects)
        return self

    def _shares(self) -> list[float]:
        """Share of each class in the order of class names; empty unless ``ratio`` has numbers."""
        if isinstance(self.ratio, str):
            return []
        shares = np.atleast_1d(self.ratio).tolist()
        return [1.0 - shares[0], shares[0]] if len(shares) == 1 else shares

    def _set_ratio(self, engine: StreamEngine, encoder: LabelEncoder) -> None:
        """Pass the class shares to an engine in memory, in the order of first appearance of its classes."""
        places = encoder.places()
        if not isinstance(engine, DurableEngine) and len(encoder.shares) == len(places) > 0:
            engine.set_ratio([encoder.shares[places[code]] for code in sorted(places)])

    def _submit_batch(
        self, engine: StreamEngine, encoder: LabelEncoder, x: Rows, codes: np.ndarray, close_on_error: bool
    ) -> Effects:
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

    def _begin(self, X: Any, encoder: LabelEncoder) -> StreamEngine:
        """Create an engine without data."""
        if self.state is None:
            return self._call_checked(_core.Engine, self._settings(encoder.weights))
        session = _core.Session.open(os.fspath(self.state))
        try:
            self._begin_session(session, X, {class_name(encoder.label(int(c))): w for c, w in encoder.weights.items()})
        except BaseException:
            session.close()
            raise
        return DurableEngine(session, encoder)

    def _begin_session(self, session: _core.Session, X: Any, weights: Mapping[str, float]) -> None:
        """Initialize a session for rows with the layout of ``X``."""
        if getattr(self, "_seed", None) is None:
            self._seed = seed(self.random_state)
        names = getattr(self, "feature_names_in_", None)
        about = json.dumps({"names": None if names is None else list(names)})
        layout = X.shape[1], bool(sparse.issparse(X))
        self._call_checked(lambda text: session.begin(text, *layout, about), self._settings(weights))

    def _continue_session(self, session: _core.Session) -> None:
        """Set the budget of an existing session; raise an error if its other parameters differ."""
        self._seed = seed(self.random_state)
        settings = self._settings(class_names_of(self.class_weight))
        names = {RENAMED.get(n, n) for n in self._call_checked(session.differences, settings)}
        if not is_whole(self.random_state):
            names.discard("random_state")
        if names:
            listed = ", ".join(sorted(names))
            raise ValueError(f"the session in {self.state} began with other values of: {listed}")
        self._call_checked(session.set_budget, settings)

    def _has_session(self) -> bool:
        """Whether the state directory holds a session."""
        if self.state is None or not os.path.isdir(self.state):
            return False
        session = _core.Session.open(os.fspath(self.state))
        empty = session.is_empty()
        session.close()
        return not empty

    def _resume(self) -> None:
        """Open the session in the state directory, if there is one and it is not open yet."""
        if self.state is None or getattr(self, "_engine", None) is not None or not os.path.isdir(self.state):
            return
        session = _core.Session.open(os.fspath(self.state))
        try:
            if session.is_empty():
                session.close()
                return
            self._continue_session(session)
            self._restore(session)
        except BaseException:
            session.close()
            raise

    def _restore(self, session: _core.Session) -> None:
        encoder = LabelEncoder(self.class_weight)
        for name in session.classes:
            encoder.codes(np.array([class_label(name)]))
        engine = DurableEngine(session, encoder)
        names = json.loads(session.about)["names"] if session.about.startswith("{") else None
        self.n_features_in_ = session.layout[0]
        if names is not None:
            self.feature_names_in_ = np.array(names, dtype=object)
        predicted, confidence, sources = session.predictions() if session.batch_closed else ([], np.zeros(0), [])
        self._codes = np.array([engine._code(name) for name in predicted], dtype=np.int64)
        rows_seen = json.loads(engine.metrics())["samples"]
        self._first, self._batch, self._queried_rows, self.events_ = rows_seen - len(self._codes), None, {}, []
        self._engine, self._label_encoder = engine, encoder
        self.classes_, self.confidence_, self.sources_ = encoder.classes(), confidence, _objects(sources)
        self.sample_ids_ = np.arange(self._first, rows_seen)
        self._update_labels()

    def close(self) -> None:
        """Close the state directory, so that it can be opened elsewhere. Without it nothing is lost."""
        engine = getattr(self, "_engine", None)
        if isinstance(engine, DurableEngine):
            engine.session.close()
            del self._engine

    def __sklearn_is_fitted__(self) -> bool:
        self._resume()
        return getattr(self, "_engine", None) is not None

    def _call_checked(self, make: Callable[[str], Made], settings: Mapping[str, Any]) -> Made:
        """Return ``make(settings)``; errors have the Python name and value of the parameter."""
        for core_name, value in settings.items():
            try:
                json.dumps(value, default=to_json_value, allow_nan=False)
            except (TypeError, ValueError):
                name = RENAMED.get(core_name, core_name)
                raise parameter_error(name, getattr(self, name), ENGINE_SPECS[core_name]["allowed"]) from None
        try:
            return make(json.dumps(settings, default=to_json_value))
        except _core.ParameterError as error:
            name = RENAMED.get(error.name, error.name)
            if error.name not in ENGINE_SPECS:
                raise
            raise parameter_error(name, getattr(self, name), error.allowed) from None

    def _settings(self, weights: Mapping[str, float]) -> dict[str, Any]:
        """Parameters by their names in the engine; ``weights`` are class weights by class names of the engine."""
        settings = {name: getattr(self, RENAMED.get(name, name)) for name in ENGINE_SPECS}
        if self.scale is None:
            settings["scale"] = "auto"
        if not isinstance(self.class_weight, str):
            settings["class_weight"] = weights or None
        return settings | {"seed": self._seed}

    def _update_labels(self) -> None:
        """Set ``labels_`` from the class numbers of the last batch."""
        values = [self._label_encoder.label(c) if c >= 0 else self.missing_label for c in self._codes]
        if np.all(self._codes >= 0):
            self.labels_ = np.array(values, dtype=self.classes_.dtype)
            return
        number = isinstance(self.missing_label, numbers.Number) and self.classes_.dtype.kind in "iuf"
        self.labels_ = np.array(values) if number else _objects(values)

    def _record_events(self, effects_json: str) -> list[int]:
        """Append the effects of an engine event to ``events_``; return the ids of newly queried samples."""
        effects = json.loads(effects_json)
        batch = json.loads(self._engine.metrics())["batches"]
        events = deque(self.events_, maxlen=MAX_EVENTS)
        if effects["drift"]:
            events.append({"batch": batch, "event": "drift", **effects["drift"]})
        if effects["advice"]:
            events.append({"batch": batch, "event": "advice", "why": effects["advice"]})
        if effects["rejected"]:
            events.append({"batch": batch, "event": "rejected", "rows": effects["rejected"]})
        for note in effects["notes"]:
            events.append({"batch": batch, "event": "note", "text": self._label_encoder.translate(note)})
        self.events_ = list(events)
        for implied in effects["implied"]:
            self._set_label(implied["sample"], -1 if implied["label"] is None else int(implied["label"]))
        return [question["sample"] for question in effects["questions"]]

    def close_batch(self) -> Self:
        """Close the last batch and label it again with all answers.

        The next ``partial_fit`` closes the batch, too. Call this to get the final ``labels_``.

        Returns
        -------
        self : object
            The estimator.
        """
        engine = self._engine_or_error()
        codes, confidence, sources, effects = engine.tick(0)
        if len(codes) == len(self._codes):
            self._codes, self.confidence_, self.sources_ = codes, confidence, _objects(sources)
            self._update_labels()
        self._record_events(effects)
        return self

    def _engine_or_error(self) -> StreamEngine:
        check_is_fitted(self)
        return self._engine

    def decision_function(self, X: Any) -> np.ndarray:
        """Compute decision values.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        f : ndarray of shape (n_samples,) or (n_samples, n_classes)
            With two classes one value per row, positive for ``classes_[1]``. With more classes one value per class; the
            largest decides. Classes without a label so far have -1e100.
        """
        check_is_fitted(self)
        X = validate_data(self, X, accept_sparse="csr", dtype=np.float64, order="C", reset=False)
        return self._label_encoder.decisions(self._engine, X)

    def predict(self, X: Any) -> np.ndarray:
        """Predict the classes of samples; the state of the stream stays unchanged.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        y : ndarray of shape (n_samples,)
            Predicted classes.
        """
        f = self.decision_function(X)
        if len(self.classes_) == 0:
            raise ValueError("no label is known yet: give some in y, or answer the queries of ask()")
        if len(self.classes_) == 1:
            return np.repeat(self.classes_, len(f))
        return self.classes_[(f > 0).astype(int) if f.ndim == 1 else np.argmax(f, axis=1)]

    @property
    def metrics_(self) -> dict[str, Any]:
        """Counts and accuracy of the stream."""
        self._attribute("metrics_")
        return json.loads(self._engine.metrics())

    @property
    def label_sources_(self) -> list[dict[str, Any]]:
        """Label sources with their weights and their accuracies on held-out labels."""
        self._attribute("label_sources_")
        return json.loads(self._engine.label_sources())

    @property
    def query_arms_(self) -> list[dict[str, Any]]:
        """Strategies of the bandit with their shares of useful queries and numbers of answers."""
        self._attribute("query_arms_")
        if self.strategy != "bandit":
            raise AttributeError(f"query_arms_: strategy={self.strategy!r} has no arms, only \"bandit\" has")
        return json.loads(self._engine.query_arms())

    @property
    def exemplars_(self) -> np.ndarray | sparse.csr_array:
        """Samples that represent all batches except the last, after scaling."""
        self._attribute("exemplars_")
        return from_rows(self._summary()[0])

    @property
    def exemplar_weights_(self) -> np.ndarray:
        """Number of samples that each exemplar represents."""
        self._attribute("exemplar_weights_")
        return self._summary()[1]

    def _summary(self) -> tuple[Rows, np.ndarray]:
        found = self._engine.exemplars()
        assert found is not None, "a fitted classifier has a summary, which can be empty"
        return found

    def _attribute(self, name: str) -> None:
        self._resume()
        if getattr(self, "_engine", None) is None:
            raise AttributeError(f"{name}: this {type(self).__name__} is not fitted yet")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def _objects(values: Sequence[Any]) -> np.ndarray:
    out = np.empty(len(values), dtype=object)
    out[:] = values
    return out
