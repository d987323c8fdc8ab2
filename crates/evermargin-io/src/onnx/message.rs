//! Protobuf messages of ONNX (`onnx.proto`, IR version 7), with the fields used here under their names in ONNX.

/// A graph with the versions of its format and operators.
#[derive(Clone, PartialEq, prost::Message)]
pub struct ModelProto {
    /// Version of the ONNX format.
    #[prost(int64, tag = "1")]
    pub ir_version: i64,
    /// Program that wrote the model.
    #[prost(string, tag = "2")]
    pub producer_name: String,
    /// Version of the program.
    #[prost(string, tag = "3")]
    pub producer_version: String,
    /// The computation.
    #[prost(message, optional, tag = "7")]
    pub graph: Option<GraphProto>,
    /// Sets of operators that the graph uses.
    #[prost(message, repeated, tag = "8")]
    pub opset_import: Vec<OperatorSetIdProto>,
}

/// A set of operators; the empty domain is `ai.onnx`.
#[derive(Clone, PartialEq, prost::Message)]
pub struct OperatorSetIdProto {
    /// Domain of the operators.
    #[prost(string, tag = "1")]
    pub domain: String,
    /// Version of the operator set.
    #[prost(int64, tag = "2")]
    pub version: i64,
}

/// Nodes in the order of computation.
#[derive(Clone, PartialEq, prost::Message)]
pub struct GraphProto {
    /// The operations.
    #[prost(message, repeated, tag = "1")]
    pub node: Vec<NodeProto>,
    /// Name of the graph.
    #[prost(string, tag = "2")]
    pub name: String,
    /// Constants.
    #[prost(message, repeated, tag = "5")]
    pub initializer: Vec<TensorProto>,
    /// Inputs of the graph.
    #[prost(message, repeated, tag = "11")]
    pub input: Vec<ValueInfoProto>,
    /// Outputs of the graph.
    #[prost(message, repeated, tag = "12")]
    pub output: Vec<ValueInfoProto>,
}

/// One operation.
#[derive(Clone, PartialEq, prost::Message)]
pub struct NodeProto {
    /// Names of the input values.
    #[prost(string, repeated, tag = "1")]
    pub input: Vec<String>,
    /// Names of the output values.
    #[prost(string, repeated, tag = "2")]
    pub output: Vec<String>,
    /// Name of the operation.
    #[prost(string, tag = "3")]
    pub name: String,
    /// The operator.
    #[prost(string, tag = "4")]
    pub op_type: String,
    /// Constant parameters of the operator.
    #[prost(message, repeated, tag = "5")]
    pub attribute: Vec<AttributeProto>,
    /// Set of operators that contains the operator.
    #[prost(string, tag = "7")]
    pub domain: String,
}

/// A constant parameter of an operation: one of the values, selected by `r#type`.
#[derive(Clone, PartialEq, prost::Message)]
pub struct AttributeProto {
    /// Name of the attribute.
    #[prost(string, tag = "1")]
    pub name: String,
    /// A whole number.
    #[prost(int64, optional, tag = "3")]
    pub i: Option<i64>,
    /// A text.
    #[prost(bytes = "vec", optional, tag = "4")]
    pub s: Option<Vec<u8>>,
    /// Numbers.
    #[prost(float, repeated, tag = "7")]
    pub floats: Vec<f32>,
    /// Whole numbers.
    #[prost(int64, repeated, tag = "8")]
    pub ints: Vec<i64>,
    /// Texts.
    #[prost(bytes = "vec", repeated, tag = "9")]
    pub strings: Vec<Vec<u8>>,
    /// Field that has the value.
    #[prost(enumeration = "AttributeType", tag = "20")]
    pub r#type: i32,
}

/// Type of an attribute, which is the name of the field with its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, prost::Enumeration)]
#[repr(i32)]
pub enum AttributeType {
    /// Not specified.
    Undefined = 0,
    /// `i`
    Int = 2,
    /// `s`
    String = 3,
    /// `floats`
    Floats = 6,
    /// `ints`
    Ints = 7,
    /// `strings`
    Strings = 8,
}

/// A constant.
#[derive(Clone, PartialEq, prost::Message)]
pub struct TensorProto {
    /// Shape of the tensor.
    #[prost(int64, repeated, tag = "1")]
    pub dims: Vec<i64>,
    /// Type of the values, which determines their field.
    #[prost(enumeration = "DataType", tag = "2")]
    pub data_type: i32,
    /// Texts.
    #[prost(bytes = "vec", repeated, tag = "6")]
    pub string_data: Vec<Vec<u8>>,
    /// Whole numbers.
    #[prost(int64, repeated, tag = "7")]
    pub int64_data: Vec<i64>,
    /// Name of the constant.
    #[prost(string, tag = "8")]
    pub name: String,
    /// Values in double precision.
    #[prost(double, repeated, tag = "10")]
    pub double_data: Vec<f64>,
}

/// Type of the values of a tensor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, prost::Enumeration)]
#[repr(i32)]
pub enum DataType {
    /// Not specified.
    Undefined = 0,
    /// Single precision.
    Float = 1,
    /// Whole numbers of 64 bits.
    Int64 = 7,
    /// Texts.
    String = 8,
    /// Double precision.
    Double = 11,
}

/// An input or output of a graph.
#[derive(Clone, PartialEq, prost::Message)]
pub struct ValueInfoProto {
    /// Name of the value.
    #[prost(string, tag = "1")]
    pub name: String,
    /// Type of the value.
    #[prost(message, optional, tag = "2")]
    pub r#type: Option<TypeProto>,
    /// Meaning of the value.
    #[prost(string, tag = "3")]
    pub doc_string: String,
}

/// A type, which is always a tensor here.
#[derive(Clone, PartialEq, prost::Message)]
pub struct TypeProto {
    /// Type of the tensor.
    #[prost(message, optional, tag = "1")]
    pub tensor_type: Option<TensorType>,
}

/// The type of a tensor.
#[derive(Clone, PartialEq, prost::Message)]
pub struct TensorType {
    /// Type of the values.
    #[prost(enumeration = "DataType", tag = "1")]
    pub elem_type: i32,
    /// Shape of the tensor.
    #[prost(message, optional, tag = "2")]
    pub shape: Option<TensorShapeProto>,
}

/// Shape of a tensor.
#[derive(Clone, PartialEq, prost::Message)]
pub struct TensorShapeProto {
    /// One length per axis.
    #[prost(message, repeated, tag = "1")]
    pub dim: Vec<Dimension>,
}

/// Length of an axis: a number, or a name for a number that is known only at run time.
#[derive(Clone, PartialEq, prost::Message)]
pub struct Dimension {
    /// The number.
    #[prost(int64, optional, tag = "1")]
    pub dim_value: Option<i64>,
    /// The name.
    #[prost(string, optional, tag = "2")]
    pub dim_param: Option<String>,
}
