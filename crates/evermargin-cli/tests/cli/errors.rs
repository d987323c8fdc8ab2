//! Error messages: exact texts, exact exit codes, no partial output files.

use crate::shell::Shell;

/// A folder with valid and invalid files.
fn shell() -> Shell {
    let shell = Shell::new();
    shell.ok("generate two-moons --rows 40 -o d.svm -q");
    shell.ok("generate two-moons --rows 40 -o d.csv -q");
    shell.ok("fit d.svm -o m.evm -q");
    shell.write("one.svm", "1 1:1\n1 1:2\n");
    shell.write("none.svm", "? 1:1\n? 1:2\n");
    shell.write("nan.svm", "1 1:1\n-1 1:nan\n");
    shell.write("dup.svm", "1 1:1\n-1 1:2 1:3\n");
    shell.write("bad.svm", "1 1:1\n-1 x\n");
    shell.write("empty.svm", "");
    shell.write("wide.csv", "a,b,c,label\n1,2,3,x\n3,4,5,y\n");
    shell.write("w2", "1\n2\n");
    shell.write("minus", &"-1\n".repeat(40));
    shell.write("splits", "1 99\n");
    shell.write("words", "1 2 x\n");
    let whole = shell.read("m.evm");
    std::fs::write(shell.path("cut.evm"), &whole[..whole.len() - 20]).unwrap();
    shell
}

fn check(cases: &[(&str, &str)], code: i32) {
    let shell = shell();
    let before = shell.files();
    for (line, text) in cases {
        let result = shell.run(&format!("{line} -q"));
        let verb = line.split(' ').next().unwrap();
        let tail =
            if code == 2 { format!("\n\nfor more, try 'evermargin {verb} --help'") } else { String::new() };
        assert_eq!(result.err, format!("error: {text}{tail}\n"), "{line}");
        assert_eq!((result.code, result.out.as_str()), (code, ""), "{line}");
        assert_eq!(shell.files(), before, "{line} left something behind");
    }
}

#[test]
fn bad_data_ends_with_code_1() {
    check(
        &[
            ("fit nothing.svm", "nothing.svm: cannot read: No such file or directory (os error 2)"),
            ("fit empty.svm", "empty.svm: the file is empty"),
            ("fit one.svm", "one.svm: training needs two classes or more; all 2 labeled rows are of class 1"),
            (
                "fit none.svm",
                "none.svm: no row has a label; name the label column with --label, or give labels in a file of their own \
                 with --labels",
            ),
            ("fit nan.svm", "nan.svm:2:6: value nan is not a finite number; replace missing values"),
            ("fit dup.svm", "dup.svm:2: index 1 appears twice; keep one of them"),
            ("fit bad.svm", "bad.svm:2:4: expected index:value, found 'x'"),
            ("fit d.svm --weights w2", "w2: 2 weights for 40 rows; there must be one per row"),
            (
                "fit d.svm --weights minus",
                "minus:1: '-1' is not a weight; write one number of 0 or more per line",
            ),
            ("fit d.svm --labeled-rows splits", "splits:1: '99' is not a row number from 1 to 40"),
            ("fit d.svm --labeled-rows words", "words:1: 'x' is not a row number from 1 to 40"),
            ("fit d.svm -o no/such/m.evm", "no/such/m.evm: there is no folder no/such; create it first"),
            (
                "fit d.svm --kernel precomputed",
                "d.svm: columns of a precomputed kernel: expected 40, found 2",
            ),
            (
                "fit d.csv --label nothing",
                "d.csv:1: no column named 'nothing' for the label; the header has: x1, x2, label",
            ),
            ("predict m.evm nothing.svm", "nothing.svm: cannot read: No such file or directory (os error 2)"),
            ("predict m.evm wide.csv", "wide.csv: 3 columns, but the model has 2"),
            ("inspect nothing.evm", "nothing.evm: cannot read: No such file or directory (os error 2)"),
        ],
        1,
    );
}

#[test]
fn bad_usage_ends_with_code_2() {
    let names: Vec<&str> = evermargin::estimators::ESTIMATORS.iter().map(|l| l.name).collect();
    let learners =
        format!("parameter learner = svm: must be one of {} (did you mean svc?)", names.join(", "));
    check(
        &[
            ("fit d.svm --learner svm", &learners),
            (
                "fit d.svm --kernel rbg",
                "parameter kernel = rbg: must be one of linear, rbf, poly, sigmoid, precomputed (did you mean rbf?)",
            ),
            (
                "fit d.svm --set gama=1",
                "learner svc has no parameter gama: must be one of kernel, gamma, degree, coef0, c, tolerance, \
                 fit_intercept, max_steps, cache_bytes (did you mean gamma?)",
            ),
            (
                "fit d.svm --learner linear --kernel rbf",
                "learner linear has no parameter kernel: must be one of c, fit_intercept, tolerance, max_steps",
            ),
            ("fit d.svm --c 0", "parameter c = 0: must be a number above 0, at most 1e15"),
            ("fit d.svm --c -1", "parameter c = -1: must be a number above 0, at most 1e15"),
            ("fit d.svm --gamma -2", "parameter gamma = -2: must be a positive number, scale or auto"),
            (
                "fit d.svm --kernel poly --degree 99",
                "parameter degree = 99: must be a whole number from 1 to 32",
            ),
            ("fit d.svm --threads 0", "--threads 0: must be 1 or more; leave it out to use every core"),
            ("fit d.svm --rows 1..99", "--rows 1..99: d.svm has 40 rows"),
            ("fit d.svm --positive 7", "--positive 7: the data has no such class, only -1, 1"),
            ("fit d.svm --labeled-rows splits --split 2", "--split 2: splits has 1 split"),
            (
                "fit d.svm --class-weight 3=2",
                "parameter class_weight = 3: must be one of -1, 1 (did you mean 1?)",
            ),
            ("fit d.svm -o d.svm", "d.svm: this is an input file; give the output another name"),
            ("fit d.svm -o - --json", "-o - and --json both need standard output; write the model to a file"),
            ("fit nothing.svm --c 0", "parameter c = 0: must be a number above 0, at most 1e15"),
            ("fit d.svm --c -1e300", "parameter c = -1e300: must be a number above 0, at most 1e15"),
            ("fit nothing.svm --gamma 0", "parameter gamma = 0: must be a positive number, scale or auto"),
            ("fit nothing.svm --max-seconds -1", "--max-seconds -1: must be 0 or more"),
            (
                "generate two-moons --rows 99999999999999",
                "--rows 99999999999999: with about 3 values per row, that exceeds the limit of 1000000000 values; request \
                 333333333 rows or fewer",
            ),
            ("predict - -", "MODEL and DATA cannot both be standard input; use a file for one of them"),
            (
                "predict d.csv m.evm",
                "d.csv looks like data and m.evm is a model; name the model first: evermargin predict m.evm d.csv",
            ),
            ("fit d.svm --max-seconds -1", "--max-seconds -1: must be 0 or more"),
            ("tune d.svm --folds 99", "parameter folds = 99: must be at most 40, the labeled rows"),
            ("tune d.svm --plot x.png", "--plot x.png: must end in .svg or .html"),
            (
                "tune d.svm --kernel linear --gamma 1,2",
                "--gamma: the linear kernel has no gamma; leave the option out",
            ),
            ("convert m.evm m.evm --to json", "m.evm: this is an input file; give the output another name"),
            (
                "generate two-mons",
                "parameter name = two-mons: must be one of two-moons, two-moons-two-lines, circles, spirals, g50c, spheres, ball, \
                 categories, waveform, text, \
                 drift",
            ),
        ],
        2,
    );
}

#[test]
fn unreadable_options_end_with_code_2() {
    let shell = shell();
    for (line, text) in [
        ("fit d.svm --c nan", "error: invalid value 'nan' for '--c <X>': must be a finite number"),
        (
            "fit d.svm --gamma wide",
            "error: invalid value 'wide' for '--gamma <X>': must be a number, scale or auto",
        ),
        (
            "fit d.svm --scale big",
            "error: invalid value 'big' for '--scale <NAME>': must be one of none, minmax, range, standard, unit, \
             tfidf, divide=N",
        ),
        (
            "predict m.evm d.svm --as xml",
            "error: invalid value 'xml' for '--as <KIND>': must be tsv, csv or labels",
        ),
        (
            "tune d.svm --c 10..1",
            "error: invalid value '10..1' for '--c <GRID>': must be FROM..TO or a list A,B,… of positive numbers",
        ),
        (
            "convert m.evm x --to pmml",
            "error: invalid value 'pmml' for '--to <FORMAT>': must be libsvm, onnx, json or evermargin",
        ),
        (
            "fit d.svm --labeled-rows splits --split 0",
            "error: invalid value '0' for '--split <K>': must be a whole number, 1 or more",
        ),
        (
            "tune nothing.svm --folds 1",
            "error: invalid value '1' for '--folds <K>': must be a whole number, 2 or more",
        ),
        (
            "tune d.svm --grid 1000000000000",
            "error: invalid value '1000000000000' for '--grid <N>': must be a whole number from 1 to 100",
        ),
        (
            "fit d.svm --cache-mb -1",
            "error: invalid value '-1' for '--cache-mb <MB>': must be a whole number, 0 or more",
        ),
        (
            "fit d.svm --degree 99999999999999999999",
            "error: invalid value '99999999999999999999' for '--degree <N>': must be a whole number from 0 to 4294967295",
        ),
        (
            "tune d.svm --over coef0=-1..0",
            "error: invalid value 'coef0=-1..0' for '--over <NAME=GRID>': must be NAME=FROM..TO with positive numbers, or \
             NAME=A,B,… with any numbers",
        ),
        ("fit", "error: the following required arguments were not provided:"),
        ("frobnicate", "error: unrecognized subcommand 'frobnicate'"),
    ] {
        let result = shell.run(line);
        assert_eq!(
            (result.err.lines().next().unwrap_or(""), result.code, result.out.as_str()),
            (text, 2, ""),
            "{line}"
        );
    }
}

/// The parser accepts any number for these flags; the parameter determines the range.
#[test]
fn numbers_out_of_range_name_their_parameter_and_what_is_allowed() {
    let shell = shell();
    for (verb, flags) in [
        ("fit d.svm", &["c", "tolerance", "max-seconds", "gamma", "flip", "thin"][..]),
        ("label d.svm --learner tsvm", &["max-seconds", "gamma", "ratio"]),
        (
            "run d.svm",
            &[
                "c",
                "c-inferred",
                "tolerance",
                "exploration-rate",
                "max-margin-distance",
                "evicted-weight",
                "gamma",
            ],
        ),
        ("generate two-moons -o x.csv", &["noise", "imbalance", "flip"]),
        ("embed d.svm", &["smoothness", "gamma"]),
        ("summarize d.svm", &["gamma", "diversity"]),
    ] {
        for flag in flags {
            let result = shell.run(&format!("{verb} --{flag} -1"));
            let named = result.err.contains(&flag.replace('-', "_")) || result.err.contains(flag);
            assert!(
                result.code == 2 && named && result.err.contains("must be"),
                "{verb} --{flag}: {}",
                result.err
            );
        }
    }
}

#[test]
fn refuses_a_parameter_given_twice() {
    let shell = shell();
    for (line, name) in [
        ("fit d.svm --c 1 --set c=2", "c"),
        ("fit d.svm --set c=1 --set c=2", "c"),
        ("fit d.svm --gamma 1 --set gamma=2", "gamma"),
        ("fit d.svm --set gamma=1 --set gamma=2", "gamma"),
        ("fit d.svm --kernel rbf --set kernel=linear", "kernel"),
        ("fit d.svm --max-steps 5 --set max-steps=6", "max_steps"),
        ("fit d.svm --learner lasvm --epochs 2 --set epochs=3", "epochs"),
        ("label d.svm --ratio 0.5 --set ratio=0.4", "ratio"),
        ("label d.svm --learner submod-s3vm --variant plain --set variant=thesis", "variant"),
        ("label d.svm --learner tsvm --gamma 1 --set gamma=2", "gamma"),
        ("tune d.svm --set c=2", "c"),
        ("tune d.svm --gamma 1,2 --set gamma=2", "gamma"),
        ("tune d.svm --learner lapsvm --over gamma_i=0,1 --set gamma_i=2", "gamma_i"),
    ] {
        let result = shell.run(line);
        let expected = format!("error: parameter {name} is given twice");
        assert!(result.code == 2 && result.err.starts_with(&expected), "{line}: {}", result.err);
    }
    let json = shell.ok("tune d.svm --c 1,2 --folds 2 --set gamma=2 --json").json();
    let command = json["command"].as_str().unwrap().strip_prefix("evermargin ").unwrap();
    assert!(!command.contains("--set gamma"), "{command}");
    shell.ok(command);
}

#[test]
fn outputs_replace_neither_inputs_nor_each_other() {
    let shell = shell();
    let model = shell.read("m.evm");
    for (line, option) in [
        ("run d.svm --rejects x -o x", "--rejects"),
        ("run d.svm --model x -o ./x", "--model"),
        ("run d.svm --model x --report x", "--report"),
        ("run d.svm --state x -o x", "--output"),
        ("fit d.svm --learner lasvm -o x --state ./x", "--state"),
        ("fit d.svm --learner lasvm -o x --suspects y --curve y", "--suspects"),
        ("label d.svm --model x -o x", "--model"),
        ("label d.svm --model x --plot x.svg -o x.svg", "--plot"),
        ("predict m.evm d.svm -o x --roc x", "--roc"),
        ("tune d.svm -o x.svg --plot x.svg", "--plot"),
    ] {
        let result = shell.run(line);
        let refused = result.err.starts_with(&format!("error: {option}: "))
            && result.err.contains("is already the output of");
        assert!(result.code == 2 && refused, "{line}: {}", result.err);
        assert!(!shell.path("x").exists(), "{line}");
    }
    for line in [
        "run d.svm -o d.svm",
        "fit d.svm --labeled-rows splits -o splits",
        "label d.svm --labeled-rows splits --model splits",
        "predict m.evm d.svm --roc m.evm",
        "tune d.svm --labeled-rows splits --plot d.svm -o d.svm",
        "ask d.svm --model m.evm -o m.evm",
        "convert d.svm ./d.svm",
    ] {
        let result = shell.run(line);
        let refused = result.err.contains("this is an input file") || result.err.contains("must end in .svg");
        assert!(result.code == 2 && refused, "{line}: {}", result.err);
    }
    assert_eq!(shell.read("m.evm"), model);
}

#[test]
fn refuses_files_that_are_not_models() {
    let shell = shell();
    for file in ["d.svm", "cut.evm", "empty.svm", "wide.csv"] {
        let result = shell.run(&format!("predict {file} d.svm"));
        assert_eq!(result.code, 1, "{file}");
        assert!(result.err.starts_with(&format!("error: {file}: ")), "{}", result.err);
    }
}

#[test]
fn failed_training_does_not_change_the_old_model() {
    let shell = shell();
    let before = shell.read("m.evm");
    assert_eq!(shell.run("fit one.svm -o m.evm").code, 1);
    assert_eq!(shell.read("m.evm"), before);
}
