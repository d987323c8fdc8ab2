//! Views of the same rows, by column names and in separate files. In each form the result is bit-identical to that of one
//! file with column ranges.

use crate::shell::Shell;
use std::fmt::Write;

/// A sample of LIBSVM text: label and pairs.
type Sample = (String, Vec<(usize, String)>);

fn samples(text: &str) -> Vec<Sample> {
    let pair = |word: &str| word.split_once(':').map(|(c, v)| (c.parse().unwrap(), v.to_string())).unwrap();
    let sample = |line: &str| {
        let mut words = line.split_whitespace();
        (words.next().unwrap().to_string(), words.map(pair).collect())
    };
    text.lines().map(sample).collect()
}

fn written(samples: &[Sample], label: impl Fn(usize, &str) -> String, columns: [usize; 2]) -> String {
    let [first, last] = columns;
    let mut out = String::new();
    for (i, (own, values)) in samples.iter().enumerate() {
        out += &label(i, own);
        for (c, v) in values.iter().filter(|(c, _)| (first..=last).contains(c)) {
            write!(out, " {}:{v}", c + 1 - first).unwrap();
        }
        out.push('\n');
    }
    out
}

/// Writes `all.svm`, and its columns as `left.svm` (with labels) and `right.svm` (without); returns the ranges of both.
fn halves(generate: &str) -> (Shell, String) {
    let shell = Shell::new();
    shell.ok(&format!("generate {generate} --seed 5 -o all.svm"));
    let all = samples(&shell.text("all.svm"));
    let mut used: Vec<usize> = all.iter().flat_map(|(_, values)| values.iter().map(|(c, _)| *c)).collect();
    used.sort_unstable();
    used.dedup();
    let (at, last) = (used[used.len() / 2], used[used.len() - 1]);
    shell.write("left.svm", &written(&all, |_, own| own.into(), [1, at]));
    shell.write("right.svm", &written(&all, |_, _| "?".into(), [at + 1, last]));
    let known: Vec<String> = (1..=all.len() / 3).map(|i| i.to_string()).collect();
    shell.write("known", &known.join(" "));
    (shell, format!("1..{at};{}..{last}", at + 1))
}

#[test]
fn view_files_equal_one_file_with_column_ranges() {
    for generate in ["g50c --rows 60", "text --rows 60 --cols 400"] {
        let (shell, ranges) = halves(generate);
        for learner in ["corls", "colapsvm", "colaprls", "cotraining"] {
            let how = format!("--labeled-rows known --learner {learner}");
            shell.ok(&format!("label all.svm {how} --set views={ranges} -o one.tsv --model one.evm"));
            shell.ok(&format!("label left.svm --view right.svm {how} -o two.tsv --model two.evm"));
            assert_eq!(shell.text("one.tsv"), shell.text("two.tsv"), "{generate} {learner}");
            shell.ok("predict one.evm all.svm -o one.tsv");
            shell.ok("predict two.evm left.svm --view right.svm -o two.tsv");
            assert_eq!(shell.text("one.tsv"), shell.text("two.tsv"), "{generate} {learner}");
        }
    }
}

/// Decision values in a table of predictions.
fn decisions(table: &str) -> Vec<f64> {
    let cell = |line: &str| line.split('\t').nth(1).unwrap().parse().unwrap();
    table.lines().skip(1).map(cell).collect()
}

#[test]
fn predictions_without_a_view_use_the_other_view() {
    for generate in ["g50c --rows 60", "text --rows 60 --cols 400"] {
        let (shell, ranges) = halves(generate);
        let how = "--labeled-rows known --learner corls";
        shell.ok(&format!("label all.svm {how} --set views={ranges} -o one.tsv --model one.evm"));
        shell.ok(&format!("label left.svm --view right.svm {how} -o two.tsv --model two.evm"));
        for (view, files) in [(1, "left.svm"), (2, "none --view right.svm"), (1, "left.svm --view none")] {
            let own = format!("label left.svm --view right.svm {how} --set view={view}");
            shell.ok(&format!("{own} -o own.tsv --model own.evm"));
            shell.ok(&format!("predict two.evm {files} -o some.tsv"));
            shell.ok(&format!("predict one.evm all.svm --without {} -o one.tsv", 3 - view));
            assert_eq!(shell.text("one.tsv"), shell.text("some.tsv"), "{generate} {view}");
            shell.ok("predict own.evm left.svm --view right.svm -o all.tsv");
            shell.ok(&format!("predict own.evm {files} -o own.tsv"));
            assert_eq!(shell.text("own.tsv"), shell.text("all.tsv"), "{generate} {view}");
            let [some, alone] = ["some.tsv", "own.tsv"].map(|file| decisions(&shell.text(file)));
            let size = alone.iter().fold(0.0f64, |m, v| m.max(v.abs()));
            assert!(size > 0.0);
            for (a, b) in some.iter().zip(&alone) {
                assert!((a - b).abs() < 1e-5 * size, "{generate} {view}: {a} {b}");
            }
        }
    }
}

#[test]
fn fit_tune_and_ask_accept_view_files_like_label() {
    let (shell, ranges) = halves("g50c --rows 60");
    let one = format!("all.svm --learner corls --set views={ranges}");
    let two = "left.svm --view right.svm --learner corls";
    let grid = "--labeled-rows known --over gamma_c=0.1,1 --gamma 0.01 --json";
    let [a, b] = [&one, two].map(|files| shell.ok(&format!("tune {files} {grid}")).json());
    assert_eq!((&a["grid"], &a["best"]), (&b["grid"], &b["best"]));
    let again = b["command"].as_str().unwrap().strip_prefix("evermargin ").unwrap();
    assert!(again.contains("--view right.svm"), "{again}");
    shell.ok(again);
    shell.ok(&format!("fit {two} --rows 1..40 -o two.evm"));
    shell.ok(&format!("fit {one} --rows 1..40 -o one.evm"));
    let ask = |files: &str| shell.ok(&format!("ask {files} --labeled-rows known -n 5")).out;
    assert_eq!(ask("all.svm --model one.evm"), ask("left.svm --view right.svm --model two.evm"));
    let seen = shell.ok("inspect two.evm").out;
    assert!(seen.contains(&ranges) && seen.contains("2 side by side, of 26, 24 features"), "{seen}");
}

/// `d.csv` with column names, a column of words among numbers, and labels in the first half.
fn table() -> Shell {
    let shell = Shell::new();
    let mut text = String::from("title,color,size,link_a,link_b,class\n");
    for i in 0..40u32 {
        let (side, noise) = (i % 2, f64::from(i * 37 % 11) / 20.0);
        let x = f64::from(side) + noise;
        let color = ["red", "green", "blue"][(i % 3) as usize];
        let class = if i < 20 { ["no", "yes"][side as usize] } else { "" };
        writeln!(text, "{x},{color},{},{},{},{class}", x * noise, 1.0 - x, noise - x).unwrap();
    }
    shell.write("d.csv", &text);
    shell
}

/// Writes the given columns of the table to a file.
fn cut(shell: &Shell, names: &[&str], to: &str) {
    let text = shell.text("d.csv");
    let mut lines = text.lines().map(|l| l.split(',').collect::<Vec<_>>());
    let header = lines.next().unwrap();
    let at: Vec<usize> = names.iter().map(|n| header.iter().position(|h| h == n).unwrap()).collect();
    let rows = lines.map(|cells| at.iter().map(|&c| cells[c]).collect::<Vec<_>>().join(","));
    shell.write(to, &(names.join(",") + "\n" + &rows.collect::<Vec<_>>().join("\n") + "\n"));
}

#[test]
fn column_names_equal_column_numbers() {
    let shell = table();
    // a column of three words becomes three features
    for (names, numbers) in [
        ("title,size;link_a..link_b", "1,5;6..7"),
        ("title..size;link_a,7", "1..5;6,7"),
        ("color;1,5..link_b", "2..4;1,5..7"),
    ] {
        shell.ok(&format!("fit d.csv --learner corls --set views={names} -o names.evm"));
        shell.ok(&format!("fit d.csv --learner corls --set views={numbers} -o numbers.evm"));
        shell.ok("predict names.evm d.csv -o names.tsv");
        shell.ok("predict numbers.evm d.csv -o numbers.tsv");
        assert_eq!(shell.text("names.tsv"), shell.text("numbers.tsv"), "{names}");
    }
    for (views, output) in [
        ("title;linka", "--set views=title;linka: d.csv: no column is named 'linka'; similar names: link_a"),
        ("title;words", "no column is named 'words'; columns are: title, color, size, link_a, link_b"),
        ("size..title", "title comes before size"),
        ("title;8", "views = 1;8: must be all, or the columns of each view"),
    ] {
        for verb in ["fit", "label", "tune --over gamma_c=1"] {
            let found = shell.run(&format!("{verb} d.csv --learner corls --set views={views} --json"));
            assert!(found.code != 0 && found.err.contains(output), "{verb} {views}: {}", found.err);
        }
    }
}

#[test]
fn view_tables_are_matched_by_column_names() {
    let shell = table();
    cut(&shell, &["title", "color", "size", "class"], "pages.csv");
    cut(&shell, &["link_a", "link_b"], "links.csv");
    cut(&shell, &["class", "link_b", "link_a"], "turned.csv");
    let one = "label d.csv --learner corls --set views=title..size;link_a..link_b -o one.tsv --model one.evm";
    shell.ok(one);
    shell.ok("label pages.csv --view links.csv --learner corls -o two.tsv --model two.evm");
    assert_eq!(shell.text("one.tsv"), shell.text("two.tsv"));
    // names across several files
    let named =
        "label pages.csv --view links.csv --learner corls --set views=title..size;link_a..link_b -o two.tsv";
    shell.ok(named);
    assert_eq!(shell.text("one.tsv"), shell.text("two.tsv"));
    shell.ok("predict one.evm d.csv -o one.tsv");
    // in another order, and with labels that agree
    shell.ok("predict two.evm pages.csv --view turned.csv -o two.tsv");
    assert_eq!(shell.text("one.tsv"), shell.text("two.tsv"));
    // columns without names next to columns with names
    let numbers = shell.text("links.csv");
    let line = |l: &str| l.split_once(',').map(|(a, b)| format!("? 1:{a} 2:{b}\n")).unwrap();
    shell.write("links.svm", &numbers.lines().skip(1).map(line).collect::<String>());
    shell.ok("label pages.csv --view links.svm --learner corls --model two.evm");
    shell.ok("predict two.evm pages.csv --view links.svm -o two.tsv");
    assert_eq!(shell.text("one.tsv"), shell.text("two.tsv"));
}

#[test]
fn refuses_a_model_with_inconsistent_view_files() {
    let (shell, _) = halves("g50c --rows 60");
    shell.ok("fit left.svm --view right.svm --learner corls --kernel linear -o two.evm");
    shell.ok("convert two.evm two.json --to json");
    shell.ok("predict two.json left.svm --view right.svm");
    let text: String = shell.text("two.json").split_whitespace().collect();
    for (honest, lie) in [
        ("\"features\":26", "\"features\":27"),
        ("\"features\":26", "\"features\":18446744073709551615"),
        ("\"features\":26", "\"features\":-1"),
        ("\"columns\":0", "\"columns\":7"),
    ] {
        assert!(text.contains(honest), "{text}");
        shell.write("two.json", &text.replacen(honest, lie, 1));
        let found = shell.fails("predict two.json left.svm --view right.svm", 1);
        assert!(
            found.err.contains("view files") || found.err.contains("not a classifier"),
            "{lie}: {}",
            found.err
        );
    }
}

#[test]
fn refuses_view_files_that_do_not_match() {
    let (shell, ranges) = halves("g50c --rows 60");
    let right = shell.text("right.svm");
    shell.write("short.svm", &right.lines().take(59).collect::<Vec<_>>().join("\n"));
    let all = samples(&shell.text("all.svm"));
    let other = |i: usize, own: &str| match i {
        6 if own.starts_with('-') => "1".to_string(),
        6 => "-1".to_string(),
        _ => own.to_string(),
    };
    shell.write("wrong.svm", &written(&all, other, [1, 50]));
    shell.ok(&format!("fit all.svm --learner corls --set views={ranges} -o one.evm"));
    shell.ok("fit left.svm --view right.svm --learner corls -o two.evm");
    for (line, code, output) in [
        (
            "fit left.svm --view short.svm --learner corls",
            1,
            "short.svm has 59 rows and left.svm has 60; a view has the same rows in the same order",
        ),
        ("label left.svm --view wrong.svm --learner corls", 1, "wrong.svm: row 7 has label"),
        (
            "fit left.svm --view right.svm --learner svc",
            2,
            "--view: learner svc does not use views; learners that do: corls, colapsvm, colaprls, cotraining",
        ),
        ("tune left.svm --view right.svm", 2, "--view: learner svc does not use views"),
        ("fit left.svm --view none.svm --learner corls", 1, "none.svm"),
        ("fit - --view - --learner corls", 2, "standard input can be read only once"),
        ("fit left.svm --view right.svm --learner corls -o right.svm", 2, "this is an input file"),
        (
            "predict two.evm left.svm --view right.svm --view right.svm",
            2,
            "the model was trained on 2 files side by side, and 3 are given",
        ),
        ("predict two.evm none --view none", 2, "DATA and every --view are none"),
        ("predict two.evm left.svm --without 3", 2, "--without: there is no view 3; the model has 2"),
        ("predict two.evm left.svm --without 1,2", 2, "--without: at least one view must remain"),
        ("ask left.svm --model two.evm", 2, "ask needs every view"),
        ("predict two.evm left.svm --view right.svm --view right.svm", 2, "and 3 are given"),
        (
            "predict one.evm left.svm --view right.svm",
            2,
            "--view right.svm: the model was trained on one file",
        ),
        (
            "fit left.svm --learner corls --set views=title;2",
            2,
            "columns have no names, so there is no 'title'",
        ),
    ] {
        let found = shell.fails(line, code);
        assert!(found.err.contains(output), "{line}: {}", found.err);
    }
}
