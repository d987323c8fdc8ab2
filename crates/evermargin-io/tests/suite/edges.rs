//! Graphs as lists of edges: accepted input, and error messages for refused input.
use evermargin::graph::Graph;
use evermargin_io::{Limits, edges_from_bytes, read_edges};
use std::io::Write;

fn read(text: &[u8], rows: usize) -> Result<Graph, String> {
    edges_from_bytes("g.txt", text.to_vec(), rows, &Limits::default()).map_err(|e| e.to_string())
}

#[test]
fn reads_edges_with_weights_comments_and_blank_lines() {
    let text = "\u{feff}# a graph\n1 2\r\n\n  2\t3 0.5  # half\n3 2 0.25\n4 4 9\n1 4 0\n5 1 1e-2";
    let expected = Graph::from_edges(5, &[(0, 1, 1.0), (1, 2, 0.5), (4, 0, 0.01)]).unwrap();
    assert_eq!(read(text.as_bytes(), 5).unwrap(), expected);
    assert_eq!(read(b"", 3).unwrap(), Graph::without_edges(3));
    assert_eq!(read(b"# nothing", 0).unwrap(), Graph::without_edges(0));
}

#[test]
fn reads_compressed_files_detected_by_their_bytes() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("graph.gz");
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    packed.write_all(b"1 2\n2 3 2\n").unwrap();
    let packed = packed.finish().unwrap();
    std::fs::write(&path, &packed).unwrap();
    let expected = Graph::from_edges(3, &[(0, 1, 1.0), (1, 2, 2.0)]).unwrap();
    assert_eq!(read_edges(&path, 3, &Limits::default()).unwrap(), expected);
    assert_eq!(read(&packed, 3).unwrap(), expected);
    assert!(read(&packed[..packed.len() / 2], 3).unwrap_err().starts_with("g.txt"));
    let missing = read_edges(dir.path().join("none"), 3, &Limits::default()).unwrap_err().to_string();
    assert!(missing.contains("cannot read"), "{missing}");
}

#[test]
fn refuses_unusable_lines_with_file_and_line() {
    let cases: [(&[u8], &str); 14] = [
        (b"1 2\n1 4294967295\n", "g.txt:2: there is no row 4294967295; the data has 5"),
        (b"1 99999999999999999999999\n", "g.txt:1: there is no row 99999999999999999999999; the data has 5"),
        (b"6 1", "g.txt:1: there is no row 6; the data has 5"),
        (b"0 1", "g.txt:1: row 0; rows are counted from 1"),
        (b"\n-1 2", "g.txt:2: '-1' is no row; rows are whole numbers from 1"),
        (b"+1 2", "g.txt:1: '+1' is no row; rows are whole numbers from 1"),
        (b"1.5 2", "g.txt:1: '1.5' is no row; rows are whole numbers from 1"),
        (b"1,2", "g.txt:1: '1,2' names one row; an edge is two rows and a weight"),
        (b"3", "g.txt:1: '3' names one row; an edge is two rows and a weight"),
        (b"1 2 -1", "g.txt:1: weight '-1' is not usable; weights are finite and not negative"),
        (b"1 2 nan", "g.txt:1: weight 'nan' is not usable; weights are finite and not negative"),
        (b"1 2 1e999", "g.txt:1: weight '1e999' is not usable; weights are finite and not negative"),
        (b"1 2 1 7", "g.txt:1: '7' after the weight; an edge is two rows and a weight"),
        (b"1 \xff\x00", "g.txt:1: '\u{fffd}\\u{0}' is no row; rows are whole numbers from 1"),
    ];
    for (text, expected) in cases {
        assert_eq!(read(text, 5).unwrap_err(), expected);
    }
}
