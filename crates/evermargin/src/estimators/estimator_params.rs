//! The list of all estimators, one line each, and the enum of their parameters.

use super::auto::{self, AutoParams};
use super::baselines::cotraining::{self, CoTrainingParams};
use super::baselines::parzen::{self, ParzenParams};
use super::baselines::perceptron::{self, PerceptronParams};
use super::manifold::lap::{self, LapParams};
use super::manifold::sparse::{self, SparseLapParams};
use super::med::{self, LabelsOnly, MedParams};
use super::multiview::colap::{self, CoLapParams};
use super::multiview::coreg::{self, CoRlsParams};
use super::online::lasvm::{self, LasvmParams};
use super::registry::{EstimatorSpec, read, values_of};
use super::supervised::linear::{self, LinearParams};
use super::supervised::one_class::{self, OneClassParams};
use super::supervised::ramp::{self, RampParams};
use super::supervised::rls::{self, RlsParams};
use super::supervised::svc::{self, SvcParams};
use super::transductive::bnb::{self, BnbParams};
use super::transductive::cccp::{self, CccpParams};
use super::transductive::da::{self, DaParams};
use super::transductive::grad_tsvm::{self, GradTsvmParams};
use super::transductive::label_propagation::{self, LabelPropagationParams};
use super::transductive::linear_da::{self, LinearDaParams};
use super::transductive::linear_tsvm::{self, LinearTsvmParams};
use super::transductive::qp::{self, QpParams};
use super::transductive::submod::{self, SubmodParams};
use super::transductive::tsvm::{self, TsvmParams};
use super::{Fit, Fitted, Targets};
use crate::data::MatrixView;
use crate::error::{Error, Result};
use crate::graph::Graph;
use crate::params::{ParamValues, one_of};
use crate::solver::Watch;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::sync::Arc;

macro_rules! estimators {
    ($($variant:ident($params:ty) = $spec:expr;)*) => {
        /// All estimators: first those meant for use, then the baselines.
        pub static ESTIMATORS: &[&EstimatorSpec] = &[$(&$spec),*];

        /// The parameters of any estimator.
        #[derive(Debug, Clone, PartialEq)]
        pub enum EstimatorParams {
            $(#[doc = concat!("Parameters of [`", stringify!($spec), "`].")] $variant($params),)*
        }

        impl EstimatorParams {
            /// The parameters of an estimator, from values and defaults.
            pub fn new(spec: &EstimatorSpec, values: &ParamValues) -> Result<Self> {
                match spec.name {
                    $(name if name == $spec.name => Ok(Self::$variant(read(&$spec, values)?)),)*
                    name => Err(unknown(name)),
                }
            }

            /// Specification of the estimator that these parameters belong to.
            pub fn spec(&self) -> &'static EstimatorSpec {
                match self { $(Self::$variant(_) => &$spec,)* }
            }

            /// Values of all parameters in the flat form that a user writes.
            pub fn values(&self) -> Result<ParamValues> {
                match self { $(Self::$variant(params) => values_of(&$spec, params),)* }
            }

            /// These parameters as an estimator that can be fitted.
            pub fn as_fit(&self) -> &dyn Fit {
                match self { $(Self::$variant(params) => params,)* }
            }
        }
    };
}

estimators! {
    Auto(AutoParams) = auto::SPEC;
    Svc(SvcParams) = svc::SPEC;
    Lasvm(LasvmParams) = lasvm::spec::LASVM;
    LasvmG(LasvmParams) = lasvm::spec::LASVM_G;
    LasvmNc(LasvmParams) = lasvm::spec::LASVM_NC;
    LasvmI(LasvmParams) = lasvm::spec::LASVM_I;
    LocalSvc(LasvmParams) = lasvm::spec::LOCAL_SVC;
    RampSvc(RampParams) = ramp::SPEC;
    OneClass(OneClassParams) = one_class::SPEC;
    Linear(LinearParams) = linear::SPEC;
    Rls(RlsParams) = rls::SPEC;
    LinearTsvm(LinearTsvmParams) = linear_tsvm::SPEC;
    LinearDa(LinearDaParams) = linear_da::SPEC;
    Tsvm(TsvmParams) = tsvm::SPEC;
    GradTsvm(GradTsvmParams) = grad_tsvm::SPEC;
    Da(DaParams) = da::SPEC;
    CccpS3vm(CccpParams) = cccp::SPEC;
    BnbS3vm(BnbParams) = bnb::SPEC;
    Lapsvm(LapParams) = lap::LAPSVM;
    Laprls(LapParams) = lap::LAPRLS;
    SeqMed(LabelsOnly) = med::SEQ_MED;
    SeqLapmed(MedParams) = med::SEQ_LAPMED;
    Corls(CoRlsParams) = coreg::SPEC;
    Colapsvm(CoLapParams) = colap::COLAPSVM;
    Colaprls(CoLapParams) = colap::COLAPRLS;
    SparseLap(SparseLapParams) = sparse::SPEC;
    LabelPropagation(LabelPropagationParams) = label_propagation::SPEC;
    SubmodS3vm(SubmodParams) = submod::SPEC;
    QpS3vm(QpParams) = qp::SPEC;
    FullSvm(LasvmParams) = lasvm::spec::FULL_SVM;
    Perceptron(PerceptronParams) = perceptron::SPEC;
    Cotraining(CoTrainingParams) = cotraining::SPEC;
    Parzen(ParzenParams) = parzen::SPEC;
}

macro_rules! from_params {
    ($($params:ty => $variant:ident),* $(,)?) => {
        $(impl From<$params> for EstimatorParams {
            fn from(params: $params) -> Self {
                Self::$variant(params)
            }
        })*
    };
}

// Parameter structs that belong to one estimator; for the others choose the variant.
from_params! {
    AutoParams => Auto,
    SvcParams => Svc,
    RampParams => RampSvc,
    OneClassParams => OneClass,
    LinearParams => Linear,
    RlsParams => Rls,
    LinearTsvmParams => LinearTsvm,
    LinearDaParams => LinearDa,
    TsvmParams => Tsvm,
    GradTsvmParams => GradTsvm,
    DaParams => Da,
    CccpParams => CccpS3vm,
    BnbParams => BnbS3vm,
    MedParams => SeqLapmed,
    CoRlsParams => Corls,
    SparseLapParams => SparseLap,
    LabelPropagationParams => LabelPropagation,
    SubmodParams => SubmodS3vm,
    QpParams => QpS3vm,
    PerceptronParams => Perceptron,
    CoTrainingParams => Cotraining,
    ParzenParams => Parzen,
}

/// The estimator with this name; an unknown name is an error that lists the names.
pub fn estimator(name: &str) -> Result<&'static EstimatorSpec> {
    ESTIMATORS.iter().find(|e| e.name == name).copied().ok_or_else(|| unknown(name))
}

fn unknown(name: &str) -> Error {
    let names: Vec<&str> = ESTIMATORS.iter().map(|e| e.name).collect();
    Error::parameter("learner", name, one_of(name, &names))
}

impl EstimatorSpec {
    /// The parameters of this estimator, from values and defaults. Unknown names, wrong types and values out of range are
    /// errors.
    pub fn make(&self, values: &ParamValues) -> Result<EstimatorParams> {
        EstimatorParams::new(self, values)
    }

    /// Like [`EstimatorSpec::make`], but with a given graph of all rows, if there is one. A graph is an error for an
    /// estimator that uses none.
    pub fn make_along(&self, values: &ParamValues, graph: Option<&Arc<Graph>>) -> Result<Box<dyn Fit>> {
        let params = self.make(values)?;
        let Some(graph) = graph else { return Ok(Box::new(params)) };
        params.along(graph).ok_or_else(|| {
            Error::parameter(
                "graph",
                "given",
                format!("left out: learner {} uses no graph (a deformed kernel does)", self.name),
            )
        })
    }
}

impl EstimatorParams {
    /// The parameters if the estimator belongs to the LASVM family.
    pub fn as_lasvm(&self) -> Option<&LasvmParams> {
        match self {
            Self::Lasvm(p)
            | Self::LasvmG(p)
            | Self::LasvmNc(p)
            | Self::LasvmI(p)
            | Self::LocalSvc(p)
            | Self::FullSvm(p) => Some(p),
            _ => None,
        }
    }

    /// The parameters if the estimator is `seq-med` or `seq-lapmed`.
    pub fn as_med(&self) -> Option<&MedParams> {
        match self {
            Self::SeqMed(LabelsOnly(p)) | Self::SeqLapmed(p) => Some(p),
            _ => None,
        }
    }
}

impl Fit for EstimatorParams {
    fn fit(&self, x: MatrixView<'_>, problems: &[Targets], watch: &dyn Watch) -> Result<Fitted> {
        self.as_fit().fit(x, problems, watch)
    }

    fn supervised(&self) -> Option<Box<dyn Fit>> {
        self.as_fit().supervised()
    }

    fn along(&self, graph: &Arc<Graph>) -> Option<Box<dyn Fit>> {
        self.as_fit().along(graph)
    }
}

/// Serialized form of [`EstimatorParams`]: the estimator's name and the values as a user writes them.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    estimator: String,
    params: ParamValues,
}

impl Serialize for EstimatorParams {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        let params = self.values().map_err(serde::ser::Error::custom)?;
        Written { estimator: self.spec().name.into(), params }.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for EstimatorParams {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        let written = Written::deserialize(deserializer)?;
        let made = estimator(&written.estimator).and_then(|spec| spec.make(&written.params));
        made.map_err(serde::de::Error::custom)
    }
}
