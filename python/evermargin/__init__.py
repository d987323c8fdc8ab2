"""Large-margin learning that never ends, as scikit-learn estimators."""

from ._core import __version__, set_threads
from ._sequential import SequentialLapMED, SequentialMED
from ._stream import NeverEndingClassifier

__all__ = [
    "NeverEndingClassifier",
    "SequentialLapMED",
    "SequentialMED",
    "__version__",
    "set_threads",
]
