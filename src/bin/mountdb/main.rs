//! The `mountdb` program: RocksDB's tools with the learned indexes registered, and the paired comparison.

mod convert;
mod estimate;
mod inspect;
mod statistics;

use std::ffi::{CString, OsString, c_char, c_int};
use std::os::unix::ffi::OsStringExt;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

#[derive(Parser)]
#[command(name = "mountdb", version, about = "Learned indexes for RocksDB")]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Compare stock RocksDB with the learned indexes, slice by slice
    Ab(Box<mountdb_bench::ab::Args>),
    /// The experiments of the MountDB paper against stock RocksDB, with a report
    Eval(Box<mountdb_bench::eval::Args>),
    /// Write the tables of README from the records of measurements
    Claims(mountdb_bench::claims::Args),
    /// Which index the files of a database carry, by level, and what the learned one would take
    Inspect(inspect::Args),
    /// Rewrite the files of a database that carry another index than wanted
    Convert(convert::Args),
    /// RocksDB's db_bench: also --memtablerep=alex, --user_defined_index=pgm and --keys_file=FILE
    #[command(name = "db_bench", disable_help_flag = true)]
    DbBench(ToolArgs),
    /// RocksDB's ldb
    #[command(disable_help_flag = true)]
    Ldb(ToolArgs),
    /// RocksDB's sst_dump
    #[command(name = "sst_dump", disable_help_flag = true)]
    SstDump(ToolArgs),
}

/// Arguments that clap hands on as they are.
#[derive(clap::Args)]
struct ToolArgs {
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "ARGS")]
    args: Vec<OsString>,
}

fn main() -> ExitCode {
    mountdb::register();
    match Cli::parse().command {
        Command::Ab(args) => mountdb_bench::ab::run(&args, None).unwrap_or_else(|error| {
            eprintln!("mountdb ab: {error:#}");
            ExitCode::FAILURE
        }),
        Command::Claims(args) => mountdb_bench::claims::run(&args).unwrap_or_else(|error| {
            eprintln!("mountdb claims: {error:#}");
            ExitCode::FAILURE
        }),
        Command::Eval(args) => mountdb_bench::eval::run(&args, EVAL_HOOKS).unwrap_or_else(|error| {
            eprintln!("mountdb eval: {error:#}");
            ExitCode::FAILURE
        }),
        Command::Inspect(args) => report("inspect", inspect::run(&args)),
        Command::Convert(args) => report("convert", convert::run(&args)),
        Command::DbBench(args) => run_tool("mountdb db_bench", mountdb_tools_db_bench, args),
        Command::Ldb(args) => run_tool("mountdb ldb", mountdb_tools_ldb, args),
        Command::SstDump(args) => run_tool("mountdb sst_dump", mountdb_tools_sst_dump, args),
    }
}

const EVAL_HOOKS: mountdb_bench::eval::Hooks = mountdb_bench::eval::Hooks {
    segments: |keys, epsilon| mountdb::model::segments(keys, epsilon).len(),
    index_bytes: None,
    progress: true,
};

fn report(command: &str, result: anyhow::Result<()>) -> ExitCode {
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("mountdb {command}: {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// The `main` of a C++ tool.
type ToolMain = unsafe extern "C" fn(c_int, *mut *mut c_char) -> c_int;

// The signatures are those of cpp/tools.cc.
unsafe extern "C" {
    fn mountdb_tools_db_bench(argc: c_int, argv: *mut *mut c_char) -> c_int;
    fn mountdb_tools_ldb(argc: c_int, argv: *mut *mut c_char) -> c_int;
    fn mountdb_tools_sst_dump(argc: c_int, argv: *mut *mut c_char) -> c_int;
}

fn run_tool(name: &str, main: ToolMain, arguments: ToolArgs) -> ExitCode {
    let program = CString::new(name).expect("a tool's name holds no NUL");
    let arguments = arguments.args.into_iter().map(|argument| {
        // The operating system passes arguments as C strings.
        CString::new(argument.into_vec()).expect("an argument holds no NUL")
    });
    // gflags reorders the pointers and keeps some until the process ends, so the strings are never freed.
    let mut argv: Vec<*mut c_char> = std::iter::once(program)
        .chain(arguments)
        .map(CString::into_raw)
        .collect();
    let argc = c_int::try_from(argv.len()).expect("the number of arguments fits an int");
    argv.push(std::ptr::null_mut());
    let argv = argv.leak().as_mut_ptr();
    // SAFETY: `argv` holds `argc` NUL-terminated writable strings and a null pointer, all leaked.
    let status = unsafe { main(argc, argv) };
    // What C's exit does with a status.
    ExitCode::from((status & 0xff) as u8)
}
