//! The figures of docs/benchmarks.md, "Spine".
fn main() {}
