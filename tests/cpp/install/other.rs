//! Another Rust library in the same program, with its own copy of the standard library: strings, maps, threads, a panic that is caught.

use std::collections::HashMap;

#[unsafe(no_mangle)]
pub extern "C" fn other_rust(count: u32) -> u32 {
    let map: HashMap<String, u32> = (0..count).map(|number| (format!("key {number}"), number)).collect();
    let sum = std::thread::spawn(move || map.values().sum::<u32>()).join().unwrap_or(0);
    let caught = std::panic::catch_unwind(|| if count > 0 { std::panic::resume_unwind(Box::new(())) });
    sum + u32::from(caught.is_err())
}
