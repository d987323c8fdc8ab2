//! The part of Markdown that the book uses: fenced blocks, headings, links, comments.

use std::path::{Path, PathBuf};

/// The root folder of the project.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("the project")
}

/// A page of the book.
pub struct Page {
    pub path: PathBuf,
    /// The path from the root, such as `docs/svc.md`.
    pub name: String,
    pub text: String,
}

/// A fenced block, or one hidden in a comment `<!-- setup LANGUAGE … -->`.
#[derive(Debug, PartialEq, Eq)]
pub struct Block {
    /// The text after the opening fence.
    pub language: String,
    /// Line number of the opening fence, from 1.
    pub line: usize,
    pub text: String,
    /// The line directly above the opening fence.
    pub above: String,
    /// Whether only blank lines are between this block and the one before it.
    pub follows: bool,
}

/// A line that is neither in a block nor in a comment, with its number.
pub type Line<'a> = (usize, &'a str);

impl Page {
    pub fn read(name: &str) -> Self {
        let path = root().join(name);
        let text = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{name}: {e}"));
        Self { path, name: name.to_string(), text }
    }

    /// The file name without its folder.
    pub fn file(&self) -> &str {
        self.name.rsplit('/').next().unwrap_or(&self.name)
    }

    /// Blocks, and the remaining lines.
    pub fn parts(&self) -> (Vec<Block>, Vec<Line<'_>>) {
        let (mut blocks, mut prose) = (Vec::new(), Vec::new());
        let mut lines = self.text.lines().enumerate().map(|(i, l)| (i + 1, l)).peekable();
        let (mut above, mut follows) = (String::new(), false);
        while let Some((number, line)) = lines.next() {
            let end = match line.trim_start() {
                l if l.starts_with("```") => Some(("```", l.trim_start_matches('`'))),
                l if l.starts_with("<!-- setup ") => Some(("-->", &l["<!-- setup ".len()..])),
                _ => None,
            };
            if let Some((end, language)) = end {
                let indent = line.len() - line.trim_start().len();
                let mut text = String::new();
                loop {
                    let (_, inner) = lines
                        .next()
                        .unwrap_or_else(|| panic!("{}:{number}: a block without an end", self.name));
                    if inner.trim() == end {
                        break;
                    }
                    text += inner.get(indent..).unwrap_or(inner.trim_start());
                    text.push('\n');
                }
                let language = language.trim().to_string();
                blocks.push(Block {
                    language,
                    line: number,
                    text,
                    above: std::mem::take(&mut above),
                    follows,
                });
                follows = true;
                continue;
            }
            if !(line.starts_with("<!--") && line.ends_with("-->")) {
                prose.push((number, line));
            }
            follows &= line.trim().is_empty();
            above = line.to_string();
        }
        (blocks, prose)
    }

    pub fn blocks(&self) -> Vec<Block> {
        self.parts().0
    }

    pub fn prose(&self) -> Vec<Line<'_>> {
        self.parts().1
    }

    /// Headings, with their number of `#`.
    pub fn headings(&self) -> Vec<(usize, String)> {
        let heading = |(_, line): Line<'_>| {
            let depth = line.bytes().take_while(|b| *b == b'#').count();
            (depth > 0 && line[depth..].starts_with(' ')).then(|| (depth, line[depth..].trim().to_string()))
        };
        self.prose().into_iter().filter_map(heading).collect()
    }

    /// Targets of links and pictures, each with its line number.
    pub fn links(&self) -> Vec<(usize, String)> {
        let mut found = Vec::new();
        for (number, line) in self.prose() {
            let plain = without_code(line);
            for rest in plain.split("](").skip(1) {
                let end =
                    rest.find(')').unwrap_or_else(|| panic!("{}:{number}: a link without an end", self.name));
                found.push((number, rest[..end].to_string()));
            }
        }
        found
    }
}

/// A line without its code spans.
fn without_code(line: &str) -> String {
    line.split('`').step_by(2).collect()
}

/// All pages of the book, in the order of their names.
pub fn book() -> Vec<Page> {
    let entries = std::fs::read_dir(root().join("docs")).expect("docs");
    let mut names: Vec<String> =
        entries.map(|e| e.expect("entry").file_name().to_string_lossy().to_string()).collect();
    names.retain(|n| n.split('.').next_back() == Some("md"));
    names.sort();
    names.iter().map(|n| Page::read(&format!("docs/{n}"))).collect()
}

/// The book and the README.
pub fn book_and_readme() -> Vec<Page> {
    let mut pages = book();
    pages.push(Page::read("README.md"));
    pages
}

/// The anchor of a heading: letters, digits, `-` and `_` in lower case, blanks as `-`.
pub fn anchor(heading: &str) -> String {
    let mut out = String::new();
    for c in heading.chars() {
        match c {
            c if c.is_alphanumeric() || c == '-' || c == '_' => out.extend(c.to_lowercase()),
            ' ' => out.push('-'),
            _ => {}
        }
    }
    out
}

/// The text between two marks.
pub fn between<'a>(text: &'a str, begin: &str, end: &str) -> Option<&'a str> {
    let (_, rest) = text.split_once(begin)?;
    Some(rest.split_once(end)?.0)
}

#[test]
fn pages_are_parsed_into_blocks_headings_and_links() {
    let text = "# A `b`\n\n<!-- setup sh\nmake\n-->\n```sh\nrun\n```\n\n```text\nsaid\n```\nsee [x](y.md#z), `[n](o)`\n";
    let page = Page { path: PathBuf::new(), name: "p".into(), text: text.into() };
    let (blocks, prose) = page.parts();
    let seen: Vec<_> =
        blocks.iter().map(|b| (b.language.as_str(), b.line, b.text.as_str(), b.follows)).collect();
    assert_eq!(seen, [("sh", 3, "make\n", false), ("sh", 6, "run\n", true), ("text", 10, "said\n", true)]);
    assert_eq!(prose.len(), 4);
    assert_eq!(page.headings(), [(1, "A `b`".to_string())]);
    assert_eq!(page.links(), [(13, "y.md#z".to_string())]);
    assert_eq!(anchor("fit, `predict`: What's new?"), "fit-predict-whats-new");
    assert_eq!(between("a<x>b</x>c", "<x>", "</x>"), Some("b"));
}
