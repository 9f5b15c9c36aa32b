//! The machine a result belongs to.

use serde::{Deserialize, Serialize};
use sysinfo::{CpuRefreshKind, MemoryRefreshKind, RefreshKind, System};

/// What a reader needs to know about the machine behind a number.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Machine {
    /// Model name of the processor.
    pub cpu: String,
    /// Hardware threads that this process may use.
    pub cores: usize,
    /// Main memory in bytes.
    pub memory: u64,
    /// Kernel version.
    pub kernel: String,
    /// Operating system and its version.
    pub os: String,
}

impl Machine {
    /// Asks the operating system. What it does not tell becomes `unknown`.
    pub fn detect() -> Self {
        let wanted = RefreshKind::nothing()
            .with_cpu(CpuRefreshKind::nothing())
            .with_memory(MemoryRefreshKind::nothing().with_ram());
        let system = System::new_with_specifics(wanted);
        let unknown = || "unknown".to_owned();
        let cpu = system
            .cpus()
            .first()
            .map(|cpu| cpu.brand().trim().to_owned())
            .filter(|brand| !brand.is_empty());
        Machine {
            cpu: cpu.unwrap_or_else(unknown),
            cores: std::thread::available_parallelism().map_or(1, usize::from),
            memory: system.total_memory(),
            kernel: System::kernel_version().unwrap_or_else(unknown),
            os: System::long_os_version().unwrap_or_else(unknown),
        }
    }
}
