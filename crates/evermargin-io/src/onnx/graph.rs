//! Builder of an ONNX graph: nodes in the order of computation, constants, and outputs.

use super::message::{
    AttributeProto, AttributeType, DataType, Dimension, GraphProto, NodeProto, TensorProto, TensorShapeProto,
    TensorType, TypeProto, ValueInfoProto,
};

/// Domain of the operators for classical machine learning.
pub(super) const ML: &str = "ai.onnx.ml";
/// Domain of the operators on tensors, `ai.onnx`.
pub(super) const TENSORS: &str = "";

/// Class names in one of the types that ONNX allows.
pub(super) enum Names {
    Whole(Vec<i64>),
    Words(Vec<String>),
}

impl Names {
    /// Whole numbers if every name is the usual decimal notation of one, else texts.
    pub(super) fn of(classes: &[String]) -> Self {
        let whole = |c: &String| c.parse::<i64>().ok().filter(|n| n.to_string() == *c);
        classes
            .iter()
            .map(whole)
            .collect::<Option<_>>()
            .map_or_else(|| Self::Words(classes.to_vec()), Self::Whole)
    }

    pub(super) fn len(&self) -> usize {
        match self {
            Self::Whole(n) => n.len(),
            Self::Words(w) => w.len(),
        }
    }

    pub(super) fn data_type(&self) -> DataType {
        match self {
            Self::Whole(_) => DataType::Int64,
            Self::Words(_) => DataType::String,
        }
    }

    /// The attribute in which a classifier lists its classes.
    pub(super) fn attribute(&self) -> AttributeProto {
        match self {
            Self::Whole(n) => ints("classlabels_ints", n.clone()),
            Self::Words(w) => strings("classlabels_strings", w),
        }
    }

    pub(super) fn reversed(mut self) -> Self {
        match &mut self {
            Self::Whole(n) => n.reverse(),
            Self::Words(w) => w.reverse(),
        }
        self
    }
}

#[derive(Default)]
pub(super) struct Graph {
    nodes: Vec<NodeProto>,
    constants: Vec<TensorProto>,
    outputs: Vec<ValueInfoProto>,
}

impl Graph {
    /// Adds an operation, which is named after its first output.
    pub(super) fn node(
        &mut self,
        (domain, operator): (&str, &str),
        inputs: &[&str],
        outputs: &[&str],
        attribute: Vec<AttributeProto>,
    ) {
        let owned = |names: &[&str]| names.iter().map(ToString::to_string).collect();
        self.nodes.push(NodeProto {
            input: owned(inputs),
            output: owned(outputs),
            name: format!("make_{}", outputs.first().copied().unwrap_or_default()),
            op_type: operator.into(),
            attribute,
            domain: domain.into(),
        });
    }

    pub(super) fn doubles(&mut self, name: &str, values: &[f64]) {
        self.constant(name, DataType::Double, values.len(), |t| t.double_data = values.to_vec());
    }

    pub(super) fn whole(&mut self, name: &str, values: Vec<i64>) {
        self.constant(name, DataType::Int64, values.len(), |t| t.int64_data = values);
    }

    pub(super) fn names(&mut self, name: &str, names: Names) {
        match names {
            Names::Whole(values) => self.whole(name, values),
            Names::Words(w) => self.constant(name, DataType::String, w.len(), |t| {
                t.string_data = w.into_iter().map(String::into_bytes).collect();
            }),
        }
    }

    fn constant(&mut self, name: &str, data_type: DataType, len: usize, fill: impl FnOnce(&mut TensorProto)) {
        let mut tensor = TensorProto {
            dims: vec![len as i64],
            data_type: data_type as i32,
            name: name.into(),
            ..TensorProto::default()
        };
        fill(&mut tensor);
        self.constants.push(tensor);
    }

    /// Declares an output of the graph; `columns` is `None` for one value per row.
    pub(super) fn output(
        &mut self,
        name: &str,
        data_type: DataType,
        columns: Option<usize>,
        meaning: String,
    ) {
        self.outputs.push(value(name, data_type, columns, meaning));
    }

    /// Completes the graph with an input of `features` numbers per row, which is named `input`.
    pub(super) fn finish(self, input: &str, features: usize) -> GraphProto {
        GraphProto {
            node: self.nodes,
            name: "classifier".into(),
            initializer: self.constants,
            input: vec![value(input, DataType::Float, Some(features), "samples before scaling".into())],
            output: self.outputs,
        }
    }
}

fn value(name: &str, data_type: DataType, columns: Option<usize>, meaning: String) -> ValueInfoProto {
    let rows = Dimension { dim_param: Some("rows".into()), dim_value: None };
    let columns = columns.map(|c| Dimension { dim_value: Some(c as i64), dim_param: None });
    let shape = TensorShapeProto { dim: std::iter::once(rows).chain(columns).collect() };
    let tensor_type = TensorType { elem_type: data_type as i32, shape: Some(shape) };
    ValueInfoProto {
        name: name.into(),
        r#type: Some(TypeProto { tensor_type: Some(tensor_type) }),
        doc_string: meaning,
    }
}

/// Attribute of a Cast operation.
pub(super) fn cast(to: DataType) -> Vec<AttributeProto> {
    vec![int("to", to as i64)]
}

pub(super) fn int(name: &str, i: i64) -> AttributeProto {
    AttributeProto { i: Some(i), ..attribute(name, AttributeType::Int) }
}

pub(super) fn ints(name: &str, ints: Vec<i64>) -> AttributeProto {
    AttributeProto { ints, ..attribute(name, AttributeType::Ints) }
}

pub(super) fn floats(name: &str, floats: Vec<f32>) -> AttributeProto {
    AttributeProto { floats, ..attribute(name, AttributeType::Floats) }
}

pub(super) fn string(name: &str, text: &str) -> AttributeProto {
    AttributeProto { s: Some(text.into()), ..attribute(name, AttributeType::String) }
}

fn strings(name: &str, texts: &[String]) -> AttributeProto {
    let strings = texts.iter().map(|t| t.clone().into_bytes()).collect();
    AttributeProto { strings, ..attribute(name, AttributeType::Strings) }
}

fn attribute(name: &str, r#type: AttributeType) -> AttributeProto {
    AttributeProto { name: name.into(), r#type: r#type as i32, ..AttributeProto::default() }
}
