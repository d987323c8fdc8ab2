"""Large-margin learning that never ends, as scikit-learn estimators.

Classifiers stand here; `evermargin.active` asks, `evermargin.model_selection` knows rows without a label,
`evermargin.plot` draws, `evermargin.river` and `evermargin.skactiveml` speak as those libraries do.
"""

from ._core import __version__, set_threads
from ._exemplars import ExemplarSelector
from ._noise import find_label_issues, label_quality
from ._one_class import OneClassSVM
from ._resample import SMOTE, VIRTUAL
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
from ._sequential import SequentialLapMED, SequentialMED
from ._stream import NeverEndingClassifier
from ._supervised import LASVMClassifier, LinearSVC, Perceptron, RLSClassifier, RampSVC, SVC
from .active import ActiveLearner
from .exchange import from_libsvm, from_sklearn, load, save, to_libsvm, to_onnx

__all__ = [
    "ActiveLearner",
    "BranchBoundS3VM",
    "CCCPS3VM",
    "CoLapRLS",
    "CoLapSVC",
    "CoRLS",
    "CoTraining",
    "DASVM",
    "ExemplarSelector",
    "find_label_issues",
    "from_libsvm",
    "from_sklearn",
    "GradTSVM",
    "label_quality",
    "LabelPropagation",
    "LapRLS",
    "LapSVC",
    "LASVMClassifier",
    "LinearDA",
    "LinearSVC",
    "LinearTSVM",
    "load",
    "NeverEndingClassifier",
    "OneClassSVM",
    "ParzenClassifier",
    "Perceptron",
    "QPS3VM",
    "RampSVC",
    "RLSClassifier",
    "save",
    "SequentialLapMED",
    "SequentialMED",
    "set_threads",
    "SMOTE",
    "SparseLapRLS",
    "SubmodularS3VM",
    "SVC",
    "to_libsvm",
    "to_onnx",
    "TSVM",
    "VIRTUAL",
    "__version__",
]
