"""Large-margin learning that never ends, as scikit-learn estimators."""

from ._core import __version__, set_threads

__all__ = ["__version__", "set_threads"]
