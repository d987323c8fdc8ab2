"""Large-margin learning that never ends, as scikit-learn estimators."""

from ._core import __version__, set_threads

__all__ = ["__version__", "set_threads"]

from ._exemplars import ExemplarSelector
from ._noise import find_label_issues, label_quality
from ._resample import SMOTE, VIRTUAL

__all__ += ["ExemplarSelector", "SMOTE", "VIRTUAL", "find_label_issues", "label_quality"]
