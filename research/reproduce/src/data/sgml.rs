//! Parser of the SGML of Reuters-21578: documents with their split, topics and text.

/// One news story.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Document {
    /// Part of the ModApte split.
    pub part: Part,
    /// Topics as in the file.
    pub topics: Vec<String>,
    /// Title, author, dateline and body without markup.
    pub text: String,
}

/// Parts of the ModApte split.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    Train,
    Test,
    Unused,
}

/// The documents of one file.
pub(super) fn documents(file: &str) -> Vec<Document> {
    let mut found = Vec::new();
    let mut rest = file;
    while let Some(start) = rest.find("<REUTERS ") {
        let Some(length) = rest[start..].find("</REUTERS>") else { break };
        found.push(document(&rest[start..start + length]));
        rest = &rest[start + length..];
    }
    found
}

fn document(story: &str) -> Document {
    let head = &story[..story.find('>').unwrap_or(0)];
    let part = match (attribute(head, "TOPICS"), attribute(head, "LEWISSPLIT")) {
        (Some("YES"), Some("TRAIN")) => Part::Train,
        (Some("YES"), Some("TEST")) => Part::Test,
        _ => Part::Unused,
    };
    let listed = element(story, "TOPICS").unwrap_or("");
    let topics = listed.split("<D>").skip(1).filter_map(|t| t.split("</D>").next());
    Document { part, topics: topics.map(str::to_string).collect(), text: text(story) }
}

fn attribute<'a>(head: &'a str, name: &str) -> Option<&'a str> {
    let start = head.find(&format!(" {name}=\""))? + name.len() + 3;
    head[start..].split('"').next()
}

/// Text between `<name …>` and `</name>`.
fn element<'a>(story: &'a str, name: &str) -> Option<&'a str> {
    let open = [format!("<{name}>"), format!("<{name} ")];
    let start = open.iter().filter_map(|tag| story.find(tag)).min()?;
    let start = start + story[start..].find('>')? + 1;
    let length = story[start..].find(&format!("</{name}>"))?;
    Some(&story[start..start + length])
}

/// Text of a story without markup.
fn text(story: &str) -> String {
    let whole = element(story, "TEXT").unwrap_or("");
    let mut pieces = whole.split('<');
    let mut out = pieces.next().unwrap_or("").to_string();
    for piece in pieces {
        out.push(' ');
        out.push_str(piece.split_once('>').map_or(piece, |(_, after)| after));
    }
    plain(&out)
}

/// Replaces entities by their characters and control characters by spaces.
fn plain(raw: &str) -> String {
    let mut out = String::with_capacity(raw.len());
    let mut rest = raw;
    while let Some(at) = rest.find('&') {
        out.push_str(&rest[..at]);
        let end = rest[at..].find(';').filter(|end| *end <= 6);
        let Some(end) = end else {
            out.push('&');
            rest = &rest[at + 1..];
            continue;
        };
        out.push(match &rest[at + 1..at + end] {
            "lt" => '<',
            "gt" => '>',
            "amp" => '&',
            _ => ' ',
        });
        rest = &rest[at + end + 1..];
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = r#"<REUTERS TOPICS="YES" LEWISSPLIT="TRAIN" CGISPLIT="TRAINING-SET" OLDID="1" NEWID="1">
<TOPICS><D>grain</D><D>wheat</D></TOPICS><PLACES><D>usa</D></PLACES>
<TEXT>&#2;
<TITLE>WHEAT UP</TITLE><DATELINE> CHICAGO, Feb 26 - </DATELINE>
<BODY>AT&amp;T &lt;T.N> sold wheat &amp corn.&#3;</BODY></TEXT>
</REUTERS>
<REUTERS TOPICS="NO" LEWISSPLIT="TRAIN"><TOPICS></TOPICS><TEXT TYPE="UNPROC">raw &lt;T.N> words</TEXT></REUTERS>
<REUTERS TOPICS="YES" LEWISSPLIT="TEST"><TOPICS></TOPICS><TEXT TYPE="BRIEF"><TITLE>ONLY</TITLE></TEXT></REUTERS>
<REUTERS TOPICS="YES" LEWISSPLIT="TEST"> cut short"#;

    #[test]
    fn documents_have_split_and_topics() {
        let found = documents(FILE);
        assert_eq!(found.len(), 3);
        assert_eq!(found[0].part, Part::Train);
        assert_eq!(found[0].topics, ["grain", "wheat"]);
        let words: Vec<&str> = found[0].text.split_whitespace().collect();
        assert_eq!(words.join(" "), "WHEAT UP CHICAGO, Feb 26 - AT&T <T.N> sold wheat &amp corn.");
        assert_eq!((found[1].part, found[1].text.trim()), (Part::Unused, "raw <T.N> words"));
        assert_eq!((found[2].part, found[2].topics.len()), (Part::Test, 0));
    }

    #[test]
    fn invalid_text_gives_no_documents() {
        assert!(documents("").is_empty());
        assert!(documents("<REUTERS ").is_empty());
        assert_eq!(documents("<REUTERS </REUTERS>")[0].part, Part::Unused);
    }
}
