//! Compiles the harness around a `MemTableRep`.

#[path = "../../build/harness.rs"]
mod harness;

fn main() {
    harness::main("mountdb_micro", &[]);
}
