//! An independent ONNX interpreter in double precision, written from the description of each operator, for use without
//! onnxruntime. It supports the operators that the export uses and panics for any other.

use evermargin_io::onnx::message::{AttributeProto, DataType, ModelProto, NodeProto, TensorProto};
use std::collections::BTreeMap;

#[derive(Debug, Clone)]
pub enum Value {
    Numbers(Vec<Vec<f64>>),
    Names(Vec<String>),
}

type Values = BTreeMap<String, Value>;

/// All values of the graph for the rows of `X`.
pub fn run(model: &ModelProto, x: &[Vec<f64>]) -> Values {
    let graph = model.graph.as_ref().unwrap();
    let mut values = Values::new();
    for tensor in &graph.initializer {
        assert!(values.insert(tensor.name.clone(), constant(tensor)).is_none());
    }
    values.insert("X".into(), Value::Numbers(x.to_vec()));
    for node in &graph.node {
        let outputs = operate(node, &values);
        assert!(outputs.len() == node.output.len(), "{}", node.op_type);
        for (name, value) in node.output.iter().zip(outputs) {
            assert!(values.insert(name.clone(), value).is_none(), "{name} is made twice");
        }
    }
    values
}

impl Value {
    pub fn numbers(&self) -> &[Vec<f64>] {
        let Self::Numbers(rows) = self else { panic!("names") };
        rows
    }

    pub fn names(&self) -> &[String] {
        let Self::Names(names) = self else { panic!("numbers") };
        names
    }
}

fn constant(tensor: &TensorProto) -> Value {
    let value = match tensor.data_type() {
        DataType::Double => Value::Numbers(vec![tensor.double_data.clone()]),
        DataType::Int64 => Value::Names(tensor.int64_data.iter().map(ToString::to_string).collect()),
        DataType::String => {
            let text = |s: &Vec<u8>| String::from_utf8(s.clone()).unwrap();
            Value::Names(tensor.string_data.iter().map(text).collect())
        }
        other => panic!("{other:?}"),
    };
    let len = match &value {
        Value::Numbers(rows) => rows[0].len(),
        Value::Names(names) => names.len(),
    };
    assert_eq!(tensor.dims, [len as i64], "{}", tensor.name);
    value
}

pub fn attribute<'a>(node: &'a NodeProto, name: &str) -> &'a AttributeProto {
    node.attribute.iter().find(|a| a.name == name).unwrap_or_else(|| panic!("{} has no {name}", node.op_type))
}

fn int(node: &NodeProto, name: &str) -> i64 {
    attribute(node, name).i.unwrap()
}

fn operate(node: &NodeProto, values: &Values) -> Vec<Value> {
    let input = |i: usize| &values[&node.input[i]];
    let each = |f: &dyn Fn(f64) -> f64| {
        let rows = input(0).numbers().iter();
        vec![Value::Numbers(rows.map(|r| r.iter().map(|v| f(*v)).collect()).collect())]
    };
    let with_row = |f: &dyn Fn(f64, f64) -> f64| {
        let (rows, by) = (input(0).numbers(), &input(1).numbers()[0]);
        let row = |r: &Vec<f64>| {
            assert_eq!(r.len(), by.len());
            r.iter().zip(by).map(|(a, b)| f(*a, *b)).collect()
        };
        vec![Value::Numbers(rows.iter().map(row).collect())]
    };
    let rows = |f: &dyn Fn(&[f64]) -> Vec<f64>| {
        vec![Value::Numbers(input(0).numbers().iter().map(|r| f(r)).collect())]
    };
    match (node.domain.as_str(), node.op_type.as_str()) {
        ("", "Cast") if int(node, "to") == DataType::Float as i64 => each(&|v| f64::from(v as f32)),
        ("", "Cast") if int(node, "to") == DataType::Double as i64 => each(&|v| v),
        ("", "Neg") => each(&|v| -v),
        ("", "Sigmoid") => each(&|v| 1.0 / (1.0 + (-v).exp())),
        ("", "Softplus") => each(&|v| v.max(0.0) + (-v.abs()).exp().ln_1p()),
        ("", "Add") => with_row(&|a, b| a + b),
        ("", "Sub") => with_row(&|a, b| a - b),
        ("", "Mul") => with_row(&|a, b| a * b),
        ("", "Softmax") => rows(&|r| {
            let top = r.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let total: f64 = r.iter().map(|v| (v - top).exp()).sum();
            r.iter().map(|v| (v - top).exp() / total).collect()
        }),
        ("", "LpNormalization") => {
            assert_eq!((int(node, "axis"), int(node, "p")), (1, 2));
            rows(&|r| {
                let length = r.iter().map(|v| v * v).sum::<f64>().sqrt();
                r.iter().map(|v| if length == 0.0 { 0.0 } else { v / length }).collect()
            })
        }
        ("", "ArgMax") => {
            assert_eq!((int(node, "axis"), int(node, "keepdims")), (1, 0));
            vec![Value::Numbers(vec![input(0).numbers().iter().map(|r| first_largest(r) as f64).collect()])]
        }
        ("", "Gather") if int(node, "axis") == 1 => {
            let at: Vec<usize> = input(1).names().iter().map(|n| n.parse().unwrap()).collect();
            rows(&|r| at.iter().map(|i| r[*i]).collect())
        }
        ("", "Gather") => {
            let (names, at) = (input(0).names(), &input(1).numbers()[0]);
            vec![Value::Names(at.iter().map(|i| names[*i as usize].clone()).collect())]
        }
        ("ai.onnx.ml", "LinearClassifier") => linear(node, input(0).numbers()),
        ("ai.onnx.ml", "SVMClassifier") => machine(node, input(0).numbers()),
        other => panic!("{other:?}"),
    }
}

fn first_largest(values: &[f64]) -> usize {
    let top = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    values.iter().position(|v| *v == top).unwrap()
}

fn class_names(node: &NodeProto) -> Vec<String> {
    let listed = node.attribute.iter().filter(|a| a.name.starts_with("classlabels_"));
    let [labels] = listed.collect::<Vec<_>>()[..] else { panic!("one list of classes") };
    let texts = labels.strings.iter().map(|s| String::from_utf8(s.clone()).unwrap());
    labels.ints.iter().map(ToString::to_string).chain(texts).collect()
}

fn wide(node: &NodeProto, name: &str) -> Vec<f64> {
    attribute(node, name).floats.iter().map(|v| f64::from(*v)).collect()
}

fn text(node: &NodeProto, name: &str) -> String {
    String::from_utf8(attribute(node, name).s.clone().unwrap()).unwrap()
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    assert_eq!(a.len(), b.len());
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// With several intercepts, scores are coefficients·x + intercepts, and the first of the largest wins.
fn linear(node: &NodeProto, x: &[Vec<f64>]) -> Vec<Value> {
    let (names, weights, bias) = (class_names(node), wide(node, "coefficients"), wide(node, "intercepts"));
    assert!(bias.len() >= 2 && bias.len() == names.len() && text(node, "post_transform") == "NONE");
    let score = |x: &Vec<f64>| -> Vec<f64> {
        weights.chunks(weights.len() / bias.len()).zip(&bias).map(|(w, b)| dot(w, x) + b).collect()
    };
    let scores: Vec<Vec<f64>> = x.iter().map(score).collect();
    let labels = scores.iter().map(|s| names[first_largest(s)].clone()).collect();
    vec![Value::Names(labels), Value::Numbers(scores)]
}

/// Votes as in LIBSVM, with `rho` added; two classes give −s and s.
fn machine(node: &NodeProto, x: &[Vec<f64>]) -> Vec<Value> {
    let (names, coef, rho) = (class_names(node), wide(node, "coefficients"), wide(node, "rho"));
    let (vectors, params) = (wide(node, "support_vectors"), wide(node, "kernel_params"));
    let counts: Vec<usize> =
        attribute(node, "vectors_per_class").ints.iter().map(|c| usize::try_from(*c).unwrap()).collect();
    let (n, total): (usize, usize) = (names.len(), counts.iter().sum());
    assert!(n >= 2 && total > 0 && counts.len() == n && text(node, "post_transform") == "NONE");
    assert_eq!((coef.len(), rho.len()), ((n - 1) * total, n * (n - 1) / 2));
    let start: Vec<usize> = (0..n).map(|c| counts[..c].iter().sum()).collect();
    assert!(start.iter().all(|s| *s < total), "a class begins behind the last vector");
    let [gamma, coef0, degree] = params[..] else { panic!("{params:?}") };
    let kernel_type = text(node, "kernel_type");
    let kernel = |z: &[f64], x: &[f64]| match kernel_type.as_str() {
        "LINEAR" => dot(z, x),
        "RBF" => (-gamma * z.iter().zip(x).map(|(a, b)| (a - b) * (a - b)).sum::<f64>()).exp(),
        "POLY" => (gamma * dot(z, x) + coef0).powf(degree),
        "SIGMOID" => (gamma * dot(z, x) + coef0).tanh(),
        other => panic!("{other}"),
    };
    let (mut labels, mut scores) = (Vec::new(), Vec::new());
    for x in x {
        let k: Vec<f64> = vectors.chunks(vectors.len() / total).map(|z| kernel(z, x)).collect();
        let (mut s, mut votes) = (Vec::new(), vec![0.0; n]);
        for i in 0..n {
            for j in i + 1..n {
                let part = |of: usize, row: usize| {
                    let own = start[of]..start[of] + counts[of];
                    dot(&coef[row * total..(row + 1) * total][own.clone()], &k[own])
                };
                s.push(part(i, j - 1) + part(j, i) + rho[s.len()]);
                votes[if s[s.len() - 1] > 0.0 { i } else { j }] += 1.0;
            }
        }
        labels.push(names[first_largest(&votes)].clone());
        scores.push(if n == 2 { vec![-s[0], s[0]] } else { s });
    }
    vec![Value::Names(labels), Value::Numbers(scores)]
}
