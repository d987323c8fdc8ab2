//! Reads a model file by `docs/formats.md` alone, with bytes and a JSON parser and without code of the project.

use crate::shell::Shell;
use serde_json::Value;

/// CRC-32 as in zip: polynomial edb88320, reflected.
fn crc32(bytes: &[u8]) -> u32 {
    let step = |sum: u32| if sum & 1 == 1 { sum >> 1 ^ 0xedb8_8320 } else { sum >> 1 };
    !bytes.iter().fold(!0, |sum, byte| (0..8).fold(sum ^ u32::from(*byte), |sum, _| step(sum)))
}

/// A container file: its header and its arrays.
struct Container {
    header: Value,
    data: Vec<u8>,
}

impl Container {
    fn read(bytes: &[u8]) -> Self {
        let length = u64::from_le_bytes(bytes[..8].try_into().unwrap()) as usize;
        let header: Value = serde_json::from_slice(&bytes[8..8 + length]).unwrap();
        let mut zeroed = bytes.to_vec();
        zeroed[37..45].copy_from_slice(b"00000000");
        assert_eq!(header["__metadata__"]["checksum"], format!("{:08x}", crc32(&zeroed)));
        assert_eq!(&bytes[8..37], b"{\"__metadata__\":{\"checksum\":\"");
        Self { header, data: bytes[8 + length..].to_vec() }
    }

    fn description(&self) -> Value {
        serde_json::from_str(self.header["__metadata__"]["description"].as_str().unwrap()).unwrap()
    }

    fn array(&self, name: &str) -> Vec<f64> {
        let entry = &self.header[name];
        let place = |i: usize| entry["data_offsets"][i].as_u64().unwrap() as usize;
        let bytes = &self.data[place(0)..place(1)];
        match entry["dtype"].as_str().unwrap() {
            "F64" => bytes.chunks(8).map(|b| f64::from_le_bytes(b.try_into().unwrap())).collect(),
            "F32" => bytes.chunks(4).map(|b| f64::from(f32::from_le_bytes(b.try_into().unwrap()))).collect(),
            "U64" => bytes.chunks(8).map(|b| u64::from_le_bytes(b.try_into().unwrap()) as f64).collect(),
            "U32" => bytes.chunks(4).map(|b| f64::from(u32::from_le_bytes(b.try_into().unwrap()))).collect(),
            other => panic!("{other}"),
        }
    }

    fn shape(&self, name: &str) -> Vec<usize> {
        self.header[name]["shape"].as_array().unwrap().iter().map(|n| n.as_u64().unwrap() as usize).collect()
    }

    /// Points as rows of numbers.
    fn points(&self, prefix: &str, model: &Value) -> Vec<Vec<f64>> {
        let cols = model["cols"].as_u64().unwrap() as usize;
        let values = self.array(&format!("{prefix}points.values"));
        if !model["sparse"].as_bool().unwrap() {
            return values.chunks(cols).map(<[f64]>::to_vec).collect();
        }
        let starts = self.array(&format!("{prefix}points.indptr"));
        let indices = self.array(&format!("{prefix}points.indices"));
        let row = |span: &[f64]| {
            let mut row = vec![0.0; cols];
            (span[0] as usize..span[1] as usize).for_each(|i| row[indices[i] as usize] = values[i]);
            row
        };
        starts.windows(2).map(row).collect()
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn kernel(spec: &Value, x: &[f64], z: &[f64]) -> f64 {
    let number = |key: &str| spec[key].as_f64().unwrap();
    match spec["type"].as_str().unwrap() {
        "linear" => dot(x, z),
        "rbf" => (-number("gamma") * x.iter().zip(z).map(|(a, b)| (a - b) * (a - b)).sum::<f64>()).exp(),
        "poly" => (number("gamma") * dot(x, z) + number("coef0")).powf(number("degree")),
        "sigmoid" => (number("gamma") * dot(x, z) + number("coef0")).tanh(),
        other => panic!("{other}"),
    }
}

fn scaled(file: &Container, scaling: &Value, x: &[f64]) -> Vec<f64> {
    let unit = |x: Vec<f64>| {
        let length = dot(&x, &x).sqrt();
        if length > 0.0 { x.iter().map(|v| v / length).collect() } else { x }
    };
    match scaling["kind"].as_str().unwrap() {
        "none" => x.to_vec(),
        "unit" => unit(x.to_vec()),
        "tfidf" => unit(x.iter().zip(file.array("scaling.idf")).map(|(v, w)| v * w).collect()),
        "affine" => {
            let factor = file.array("scaling.factor");
            let shift = if scaling["shifted"].as_bool().unwrap() {
                file.array("scaling.shift")
            } else {
                vec![0.0; x.len()]
            };
            (0..x.len()).map(|j| (x[j] - shift[j]) * factor[j]).collect()
        }
        other => panic!("{other}"),
    }
}

/// Outputs of one model, and the sum of the magnitudes of their terms, which determines the accuracy of single precision.
fn outputs(file: &Container, prefix: &str, model: &Value, x: &[f64]) -> Vec<(f64, f64)> {
    let bias = file.array(&format!("{prefix}bias"));
    match model["kind"].as_str().unwrap() {
        "linear" => {
            let weights = file.array(&format!("{prefix}weights"));
            let rows = weights.chunks(x.len());
            rows.zip(bias)
                .map(|(w, b)| (dot(w, x) + b, w.iter().zip(x).map(|(w, v)| (w * v).abs()).sum()))
                .collect()
        }
        "expansion" => {
            let values: Vec<f64> =
                file.points(prefix, model).iter().map(|z| kernel(&model["kernel"], x, z)).collect();
            let coef = file.array(&format!("{prefix}coef"));
            let rows = coef.chunks(file.shape(&format!("{prefix}coef"))[1]);
            rows.zip(bias)
                .map(|(c, b)| {
                    (
                        dot(c, &values) + b,
                        c.iter().zip(&values).map(|(c, v)| c.abs() * v.abs().max(1.0)).sum(),
                    )
                })
                .collect()
        }
        other => panic!("{other}"),
    }
}

/// A sum of views: views whose columns are not all zero, scaled up to the sum of all views.
fn decisions(file: &Container, model: &Value, x: &[f64]) -> Vec<(f64, f64)> {
    if model["kind"] != "views" {
        return outputs(file, "", model, x);
    }
    let mut sums: Vec<(f64, f64)> = vec![(0.0, 0.0); file.array("bias").len()];
    let mut present = 0;
    let parts = model["parts"].as_array().unwrap();
    for (v, part) in parts.iter().enumerate() {
        let end = |span: &Value, i: usize| span[i].as_u64().unwrap() as usize;
        let spans = part["columns"].as_array().unwrap();
        let own: Vec<f64> = spans.iter().flat_map(|s| x[end(s, 0)..end(s, 1)].to_vec()).collect();
        if own.iter().any(|value| *value != 0.0) {
            present += 1;
            let more = outputs(file, &format!("views.{v}."), &part["model"], &own);
            sums.iter_mut().zip(more).for_each(|(sum, f)| *sum = (sum.0 + f.0, sum.1 + f.1));
        }
    }
    let scale = parts.len() as f64 / f64::from(present);
    sums.iter().zip(file.array("bias")).map(|(f, b)| (scale * f.0 + b, scale * f.1)).collect()
}

/// The class with the most votes or the largest output.
fn vote(scheme: &str, classes: usize, f: &[f64]) -> usize {
    let first_largest = |v: &[f64]| (1..v.len()).fold(0, |best, i| if v[i] > v[best] { i } else { best });
    match scheme {
        "binary" => usize::from(f[0] > 0.0),
        "one-vs-rest" => first_largest(f),
        _ => {
            let mut votes = vec![0.0; classes];
            let mut pair = f.iter();
            for a in 0..classes {
                for b in a + 1..classes {
                    votes[if *pair.next().unwrap() < 0.0 { a } else { b }] += 1.0;
                }
            }
            first_largest(&votes)
        }
    }
}

#[test]
fn model_files_are_readable_by_their_documentation() {
    let shell = Shell::new();
    shell.ok("generate two-moons --rows 80 --noise 0.2 --seed 3 -o two.csv");
    shell.ok("generate waveform --rows 90 --seed 4 -o three.csv");
    shell.ok("generate text --rows 60 --seed 5 -o text.svm");
    let cases = [
        ("two.csv", "--c 3"),
        ("two.csv", "--scale minmax --kernel poly --coef0 1 --probability sigmoid"),
        ("two.csv", "--scale unit --kernel sigmoid --gamma 0.1"),
        ("two.csv", "--learner linear"),
        ("three.csv", "--learner svc"),
        ("three.csv", "--learner lasvm"),
        ("three.csv", "--learner rls --kernel linear --scale range"),
        ("text.svm", "--kernel rbf --gamma 1 --scale none"),
        ("text.svm", "--kernel linear --scale tfidf"),
    ];
    for (data, options) in cases {
        shell.ok(&format!("fit {data} {options} -o m.evm"));
        shell.ok(&format!("predict m.evm {data} -o said.tsv"));
        compare(&shell, data, options);
    }
}

#[test]
fn models_of_views_are_readable_by_their_documentation() {
    let shell = Shell::new();
    shell.ok("generate two-moons-two-lines --rows 60 --seed 6 -o views.csv");
    let mut text = shell.text("views.csv");
    text.push_str("0,0,0.5,0.25,1\n0.5,0.25,0,0,1\n"); // each misses a view
    shell.write("views.csv", &text);
    shell.write("known.txt", "1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16\n");
    let options = "--learner corls --set views=1..2;3..4 --set kernels=rbf=2;linear --scale none";
    shell.ok(&format!(
        "label views.csv --labeled-rows known.txt {options} --model m.evm --no-compare -o said.tsv"
    ));
    shell.ok("predict m.evm views.csv -o said.tsv");
    compare(&shell, "views.csv", options);
}

/// Features of a text, computed from its column specification.
fn encode_text(column: &Value, text: &str) -> Vec<f64> {
    let buckets = column["buckets"].as_u64().unwrap();
    let number = |v: &Value| v.as_u64().unwrap() as f64;
    let mut times = vec![0.0; buckets as usize];
    for word in text.to_lowercase().split(|c: char| !c.is_alphanumeric()).filter(|w| !w.is_empty()) {
        let step = |h: u64, byte: u8| (h ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        let h = word.bytes().fold(0xcbf2_9ce4_8422_2325, step);
        times[(((h >> buckets.trailing_zeros()) ^ h) % buckets) as usize] += 1.0;
    }
    let mut holding = vec![0.0; buckets as usize];
    for pair in column["frequency"].as_array().unwrap() {
        holding[number(&pair[0]) as usize] = number(&pair[1]);
    }
    let documents = number(&column["documents"]);
    let weight = |t: f64, n: f64| {
        if t == 0.0 { 0.0 } else { (1.0 + t.ln()) * (1.0 + ((1.0 + documents) / (1.0 + n)).ln()) }
    };
    let values: Vec<f64> = times.iter().zip(&holding).map(|(t, n)| weight(*t, *n)).collect();
    let length = dot(&values, &values).sqrt();
    values.iter().map(|v| v / length).collect()
}

#[test]
fn text_features_equal_their_documentation() {
    let shell = Shell::new();
    let texts = [
        "Win money, win NOW",
        "see you on Monday",
        "money for you",
        "Monday, Monday: minutes",
        "no words of these",
    ];
    let line = |(i, t): (usize, &&str)| {
        format!("{{\"body\": \"{t}\", \"class\": \"{}\"}}\n", ["spam", "mail"][i % 2])
    };
    shell.write("t.jsonl", &texts[..4].iter().enumerate().map(line).collect::<String>());
    shell.write("new.jsonl", &texts.iter().enumerate().map(line).collect::<String>());
    shell.ok("fit t.jsonl --text body --label class --learner linear --scale none -o m.evm");
    shell.ok("predict m.evm new.jsonl -o said.tsv");
    let file = Container::read(&shell.read("m.evm"));
    let head = file.description();
    for (text, line) in texts.iter().zip(shell.text("said.tsv").lines().skip(1)) {
        let (f, _) =
            outputs(&file, "", &head["body"]["model"], &encode_text(&head["input"]["columns"][0], text))[0];
        let printed: f64 = line.split('\t').nth(1).unwrap().parse().unwrap();
        assert!((f - printed).abs() < 1e-9, "{text}: {f} and {printed}");
    }
}

fn compare(shell: &Shell, data: &str, options: &str) {
    let file = Container::read(&shell.read("m.evm"));
    let head = file.description();
    let classes: Vec<&str> =
        head["body"]["learner"]["classes"].as_array().unwrap().iter().map(|c| c.as_str().unwrap()).collect();
    let samples = samples(&shell.text(data), data, &head, &file);
    let printed = shell.text("said.tsv");
    let mut rows = printed.lines().skip(1);
    for x in &samples {
        let x = scaled(&file, &head["scaling"], x);
        let ours = decisions(&file, &head["body"]["model"], &x);
        let line: Vec<&str> = rows.next().unwrap().split('\t').collect();
        for (j, (f, size)) in ours.iter().enumerate() {
            let theirs: f64 = line[1 + j].parse().unwrap();
            // kernel values of `predict` are single precision
            assert!((f - theirs).abs() <= 1e-5 * (1.0 + size), "{data} {options}: {f} and {theirs}");
        }
        let f: Vec<f64> = line[1..=ours.len()].iter().map(|v| v.parse().unwrap()).collect();
        let class = vote(head["body"]["learner"]["scheme"].as_str().unwrap(), classes.len(), &f);
        assert_eq!(classes[class], line[0], "{data} {options}");
    }
    assert_eq!(rows.next(), None, "{data} {options}");
}

/// Rows of CSV (label last) or LIBSVM text.
fn samples(text: &str, data: &str, head: &Value, file: &Container) -> Vec<Vec<f64>> {
    if data.split('.').next_back() == Some("csv") {
        let row = |line: &str| {
            let mut cells: Vec<f64> = line.split(',').map(|c| c.parse().unwrap_or(0.0)).collect();
            cells.pop();
            cells
        };
        return text.lines().skip(1).map(row).collect();
    }
    let cols =
        head["body"]["model"]["cols"].as_u64().map_or_else(|| file.shape("weights")[1], |n| n as usize);
    let row = |line: &str| {
        let mut row = vec![0.0; cols];
        for pair in line.split_whitespace().skip(1) {
            let (index, value) = pair.split_once(':').unwrap();
            row[index.parse::<usize>().unwrap() - 1] = value.parse().unwrap();
        }
        row
    };
    text.lines().map(row).collect()
}
