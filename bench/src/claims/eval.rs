//! The table of the paper's figures, from a record of `mountdb eval`: the file eval.json that it leaves.

use anyhow::Result;
use serde::Deserialize;

use super::records::Records;
use crate::eval::{Figure, Overview, Record, overview};

#[derive(Deserialize)]
struct All {
    records: Vec<Record>,
}

/// `None` if there is no such record.
pub(super) fn table(records: &Records) -> Result<Option<String>> {
    let Some((all, name)) = records.newest::<All>("eval-small")? else {
        return Ok(None);
    };
    let failed = all.records.iter().filter(|record| record.error.is_some()).count();
    let mut text = format!(
        "The paper's evaluation (`mountdb eval`, record `{name}`, {} experiments, {failed} failed), operations per second of both indexes learned; worse and \
         better count comparisons whose 95% interval lies on that side of 1:\n\n\
         | figure | against | least | median | most | better | worse | no difference | too few rounds |\n|---|---|---|---|---|---|---|---|---|\n",
        all.records.len()
    );
    for figure in Figure::ALL {
        for against in ["stock", "tuned"] {
            if let Some(overview) = overview(&all.records, figure, against) {
                let Overview {
                    least,
                    median,
                    most,
                    better,
                    worse,
                    no_difference,
                    too_few,
                } = overview;
                text += &format!(
                    "| {} | {against} | {least:.2} | {median:.2} | {most:.2} | {better} | {worse} | {no_difference} | {too_few} |\n",
                    figure.title()
                );
            }
        }
    }
    Ok(Some(text))
}
