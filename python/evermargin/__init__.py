"""Large-margin learning that never ends, as scikit-learn estimators."""

from ._core import __version__, set_threads
from ._semi import (
    BranchBoundS3VM,
    CCCPS3VM,
    CoLapRLS,
    CoLapSVC,
    CoRLS,
    CoTraining,
    DASVM,
    GradTSVM,
    LabelPropagation,
    LapRLS,
    LapSVC,
    LinearDA,
    LinearTSVM,
    ParzenClassifier,
    QPS3VM,
    SparseLapRLS,
    SubmodularS3VM,
    TSVM,
)
from .exchange import from_libsvm, from_sklearn, load, save, to_libsvm, to_onnx
from ._supervised import (
    LASVMClassifier,
    LinearSVC,
    Perceptron,
    RLSClassifier,
    RampSVC,
    SVC,
)

__all__ = [
    "BranchBoundS3VM",
    "CCCPS3VM",
    "CoLapRLS",
    "CoLapSVC",
    "CoRLS",
    "CoTraining",
    "DASVM",
    "GradTSVM",
    "LASVMClassifier",
    "LabelPropagation",
    "LapRLS",
    "LapSVC",
    "LinearDA",
    "LinearSVC",
    "LinearTSVM",
    "ParzenClassifier",
    "Perceptron",
    "QPS3VM",
    "RLSClassifier",
    "RampSVC",
    "SVC",
    "SparseLapRLS",
    "SubmodularS3VM",
    "TSVM",
    "__version__",
    "set_threads",
    "from_libsvm",
    "from_sklearn",
    "load",
    "save",
    "to_libsvm",
    "to_onnx",
]

from ._exemplars import ExemplarSelector
from ._noise import find_label_issues, label_quality
from ._resample import SMOTE, VIRTUAL

__all__ += ["ExemplarSelector", "SMOTE", "VIRTUAL", "find_label_issues", "label_quality"]

from ._sequential import SequentialLapMED, SequentialMED
from ._stream import NeverEndingClassifier

__all__ += ["NeverEndingClassifier", "SequentialLapMED", "SequentialMED"]
