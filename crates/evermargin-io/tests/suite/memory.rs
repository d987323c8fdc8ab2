//! Small files that expand to large data: refused within the memory limit in every format, and read if memory allows.

use evermargin_io::{Limits, ReadOptions, read, read_bytes};
use std::io::{Read, Write};

fn within(max_memory: u64) -> ReadOptions {
    ReadOptions {
        limits: Limits { max_memory: Some(max_memory), ..Limits::default() },
        ..ReadOptions::default()
    }
}

fn refused(name: &str, bytes: &[u8], max_memory: u64) -> String {
    read_bytes(name, bytes.to_vec(), &within(max_memory)).map(|set| set.x.rows()).unwrap_err().to_string()
}

fn zstd(bytes: impl Read) -> Vec<u8> {
    zstd::encode_all(bytes, 3).unwrap()
}

fn xz(bytes: &[u8]) -> Vec<u8> {
    let mut writer = liblzma::write::XzEncoder::new(Vec::new(), 6);
    writer.write_all(bytes).unwrap();
    writer.finish().unwrap()
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut writer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    writer.write_all(bytes).unwrap();
    writer.finish().unwrap()
}

fn npy(descr: &str, shape: &str, data: &[u8]) -> Vec<u8> {
    let header = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}\n");
    [b"\x93NUMPY\x01\x00", &(header.len() as u16).to_le_bytes()[..], header.as_bytes(), data].concat()
}

fn npz(name: &str, array: &[u8]) -> Vec<u8> {
    let mut archive = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    archive.start_file(format!("{name}.npy"), zip::write::SimpleFileOptions::default()).unwrap();
    archive.write_all(array).unwrap();
    archive.finish().unwrap().into_inner()
}

const MIB: u64 = 1 << 20;

#[test]
fn compressed_text_is_refused_within_the_limit() {
    let text = b"1 1:1\n".repeat(1 << 20);
    for (name, bytes) in [("t.zst", zstd(&text[..])), ("t.xz", xz(&text)), ("t.gz", gzip(&text))] {
        let message = refused(name, &bytes, 2 * MIB);
        assert!(message.starts_with(&format!("{name}: its ")), "{message}");
        assert!(message.contains("expand to more than the memory limit of 2.0 MiB"), "{message}");
        assert!(message.contains("stream it") && message.contains("raise max_memory"), "{message}");
        // the text fits, but not together with its rows
        let message = refused(name, &bytes, 8 * MIB);
        assert!(message.contains("its values need 32.0 MiB of memory, but 2.0 MiB are left"), "{message}");
        assert_eq!(read_bytes(name, bytes, &within(64 * MIB)).unwrap().x.rows(), 1 << 20);
    }
}

/// Peak memory of this process in bytes, if the system reports it.
fn peak_memory() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    Some(line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()? * 1024)
}

/// Runs in its own process, because other tests use memory, too.
#[test]
fn default_limit_bounds_the_peak_memory_of_a_small_file() {
    const FILE: &str = "EVERMARGIN_TEST_BOMB";
    if let Some(file) = std::env::var_os(FILE) {
        let message = read(file, &ReadOptions::default()).map(|set| set.x.rows()).unwrap_err().to_string();
        assert!(message.contains("expand to more than the memory limit of"), "{message}");
        let peak = peak_memory().unwrap_or(0);
        assert!(peak < 320 * MIB, "the peak is {peak} bytes");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let zeros = || std::io::repeat(0).take(600 * MIB);
    let mut archive = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    archive.start_file("X.npy", zip::write::SimpleFileOptions::default()).unwrap();
    std::io::copy(&mut zeros(), &mut archive).unwrap();
    for (name, bytes) in [("t.csv.zst", zstd(zeros())), ("t.npz", archive.finish().unwrap().into_inner())] {
        let file = folder.path().join(name);
        std::fs::write(&file, bytes).unwrap();
        let child = std::process::Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "memory::default_limit_bounds_the_peak_memory_of_a_small_file"])
            .env(FILE, &file)
            .output()
            .unwrap();
        let printed = String::from_utf8_lossy(&child.stdout);
        assert!(child.status.success() && printed.contains("1 passed"), "{name}: {printed}");
    }
}

#[test]
fn files_on_disk_are_refused_within_the_limit() {
    let folder = tempfile::tempdir().unwrap();
    let (plain, packed) = (folder.path().join("t.svm"), folder.path().join("t.svm.zst"));
    let text = b"1 1:1\n".repeat(1 << 19);
    std::fs::write(&plain, &text).unwrap();
    std::fs::write(&packed, zstd(&text[..])).unwrap();
    for path in [&plain, &packed] {
        let message = read(path, &within(MIB)).unwrap_err().to_string();
        assert!(message.contains("more than the memory limit of 1.0 MiB"), "{message}");
        assert_eq!(read(path, &within(40 * MIB)).unwrap().x.rows(), 1 << 19);
    }
}

#[test]
fn arrays_larger_in_memory_are_refused_within_the_limit() {
    // one byte per value in the file, eight in memory
    let array = npy("|u1", "(4096, 1024)", &vec![1; 4 << 20]);
    let archive = npz("X", &array);
    assert!(archive.len() < 100_000);
    let message = refused("t.npz", &archive, 2 * MIB);
    assert!(message.contains("expand to more than the memory limit of 2.0 MiB"), "{message}");
    for (name, bytes) in [("t.npz", archive), ("t.npy.zst", zstd(&array[..])), ("t.npy", array)] {
        let message = refused(name, &bytes, 16 * MIB);
        assert!(message.contains("its values need 32.0 MiB of memory"), "{message}");
        assert_eq!(read_bytes(name, bytes, &within(80 * MIB)).unwrap().x.cols(), 1024);
    }
}

#[test]
fn wide_and_long_tables_are_refused_within_the_limit() {
    let wide = ",".repeat(1 << 20) + "\n";
    let message = refused("t.csv", wide.as_bytes(), 8 * MIB);
    assert!(message.contains("of memory, but"), "{message}");
    let long = "a,b,label\n".to_string() + &"0,0,1\n".repeat(1 << 20);
    let message = refused("t.csv", long.as_bytes(), 16 * MIB);
    assert!(message.contains("its values need 24.0 MiB of memory"), "{message}");
    let categories = (0..50_000).fold(String::new(), |text, i| text + "c" + &i.to_string() + ",1\n");
    let limits = Limits { max_columns: 1000, ..Limits::default() };
    let options = ReadOptions { limits, ..ReadOptions::default() };
    let message = read_bytes("t.csv", categories.into_bytes(), &options).unwrap_err().to_string();
    assert!(message.contains("categories are over the cap of 1000"), "{message}");
}

/// 50 MB of zeros compress to some kilobytes and are valid data.
#[test]
fn a_highly_compressed_file_is_read_if_memory_allows() {
    let header: Vec<String> = (0..500).map(|i| format!("x{i}")).collect();
    let text = header.join(",") + ",label\n" + &("0,".repeat(500) + "1\n").repeat(50_000);
    assert!(text.len() > 50_000_000);
    let bytes = zstd(text.as_bytes());
    assert!(bytes.len() < 60_000, "{}", bytes.len());
    drop(text);
    let set = read_bytes("zeros.csv.zst", bytes, &ReadOptions::default()).unwrap();
    assert_eq!((set.x.rows(), set.x.cols()), (50_000, 500));
}
