//! The hash chain as documented, computed from the rows as any SQL tool reads them.

use crate::common::{DATABASE, sample, temporary_directory};
use rusqlite::Connection;
use rusqlite::types::Value;

fn number(number: usize) -> [u8; 8] {
    (number as u64).to_le_bytes()
}

#[test]
fn the_hash_chain_equals_its_documentation() {
    let home = temporary_directory();
    let directory = home.path().join("store");
    let contents = sample(&directory);
    let database = Connection::open(directory.join(DATABASE)).unwrap();
    let instance: Vec<u8> = database.query_row("SELECT instance FROM store", [], |row| row.get(0)).unwrap();
    let mut hash = blake3::hash(&[&b"evermargin store"[..], &number(1), &instance].concat());
    let mut statement =
        database.prepare("SELECT kind, length, body_hash, hash, body FROM events ORDER BY seq").unwrap();
    let mut rows = statement.query([]).unwrap();
    let mut seq = 0;
    while let Some(row) = rows.next().unwrap() {
        let (kind, length): (String, isize) = (row.get(0).unwrap(), row.get(1).unwrap());
        let (body_hash, stored_hash): (Vec<u8>, Vec<u8>) = (row.get(2).unwrap(), row.get(3).unwrap());
        let record = &contents.records[seq];
        assert_eq!((kind.as_str(), seq as u64), (record.kind.as_str(), record.seq));
        if let Some(body) = &record.body {
            assert_eq!(blake3::hash(body).as_bytes()[..], body_hash);
        }
        let parts = [
            &hash.as_bytes()[..],
            &number(seq),
            &number(kind.len()),
            kind.as_bytes(),
            &number(length as usize),
            &body_hash,
        ];
        hash = blake3::hash(&parts.concat());
        assert_eq!(hash.as_bytes()[..], stored_hash);
        seq += 1;
    }
    assert_eq!((seq as u64, *hash.as_bytes()), (contents.next, contents.head));
}

#[test]
fn labels_are_readable_with_sql() {
    let home = temporary_directory();
    let directory = home.path().join("store");
    sample(&directory);
    let database = Connection::open(directory.join(DATABASE)).unwrap();
    let sql = "SELECT seq, body ->> 'class' FROM events WHERE kind = 'label' ORDER BY seq";
    let mut statement = database.prepare(sql).unwrap();
    let rows: Vec<(i64, Value)> =
        statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).unwrap().map(Result::unwrap).collect();
    assert_eq!(rows, [(2, Value::Text("größer".to_string())), (5, Value::Null)]);
    let kinds: Vec<String> = database
        .prepare("SELECT typeof(body) FROM events ORDER BY seq")
        .unwrap()
        .query_map([], |row| row.get(0))
        .unwrap()
        .map(Result::unwrap)
        .collect();
    assert_eq!(kinds, ["text", "null", "text", "text", "blob", "text", "blob", "text"]);
}
