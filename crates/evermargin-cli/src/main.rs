//! The evermargin command line.
fn main() {}
