//! The command `mountdb claims`: what README says is won, produced from the records, so that it cannot drift from them.

mod eval;
mod micro;
mod paired;
mod records;

use std::fs;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, Result, ensure};

use records::Records;

/// The lines between which README belongs to this command.
const BEGIN: &str = "<!-- claims: written by `mountdb claims` from bench/record -->";
const END: &str = "<!-- end of claims -->";

/// Writes the tables of README that state measurements, from the newest record of each kind.
#[derive(Clone, Debug, clap::Args)]
pub struct Args {
    /// Folder of the records
    #[arg(long, default_value = "bench/record", value_name = "DIR")]
    pub record: PathBuf,

    /// File with the two lines between which the tables are written
    #[arg(long, default_value = "README.md", value_name = "FILE")]
    pub readme: PathBuf,

    /// Change nothing; fail if the file says something else than the records
    #[arg(long)]
    pub check: bool,
}

/// Writes or checks.
///
/// # Errors
/// When a record that a claim needs is missing, or the file cannot be read or written, or has not the two lines.
pub fn run(args: &Args) -> Result<ExitCode> {
    let readme = args.readme.display();
    let old = fs::read_to_string(&args.readme).with_context(|| format!("cannot read {readme}"))?;
    let new = replaced(&old, &tables(&Records::open(&args.record)?)?).with_context(|| format!("{readme}"))?;
    if old == new {
        println!("{readme} says what the records say");
    } else if args.check {
        eprintln!("mountdb claims: {readme} says something else than the records: run `mountdb claims`");
        return Ok(ExitCode::FAILURE);
    } else {
        fs::write(&args.readme, new).with_context(|| format!("cannot write {readme}"))?;
        println!("{readme} written");
    }
    Ok(ExitCode::SUCCESS)
}

fn tables(records: &Records) -> Result<String> {
    let mut parts = vec![paired::table(records)?, micro::table(records)?];
    parts.extend(eval::table(records)?);
    Ok(parts.join("\n"))
}

/// `text` with everything between the two lines replaced.
fn replaced(text: &str, tables: &str) -> Result<String> {
    let (before, rest) = text
        .split_once(BEGIN)
        .with_context(|| format!("the line {BEGIN} is missing"))?;
    let (_, after) = rest
        .split_once(END)
        .with_context(|| format!("the line {END} is missing"))?;
    ensure!(!after.contains(BEGIN), "the line {BEGIN} is there twice");
    Ok(format!("{before}{BEGIN}\n\n{tables}\n{END}{after}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_lies_between_the_lines_changes() {
        let text = format!("a\n{BEGIN}\nold\n{END}\nb\n");
        let once = replaced(&text, "new").unwrap();
        assert_eq!(once, format!("a\n{BEGIN}\n\nnew\n{END}\nb\n"));
        assert_eq!(replaced(&once, "new").unwrap(), once);
        assert!(replaced("nothing", "new").is_err());
        assert!(replaced(&format!("{text}{text}"), "new").is_err());
    }
}
