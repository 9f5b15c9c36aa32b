//! The application of `patches/` by the build script: a lost hunk stops the build and is named.

#[path = "../build/patch.rs"]
mod patch;

use patch::Files;

const ORIGINAL: &str = "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\nten\n";

const TWO_HUNKS: &str = "\
Why: the header is prose and is skipped.

--- a/db/numbers.cc
+++ b/db/numbers.cc
@@ -1,3 +1,3 @@
 one
-two
+TWO
 three
@@ -8,3 +8,4 @@
 eight
 nine
+nine and a half
 ten
";

fn apply(diff: &str, original: &str) -> Result<Files, String> {
    let mut files = Files::new();
    patch::apply(diff, &mut files, |path| {
        assert_eq!(path, "db/numbers.cc");
        Ok(original.to_owned())
    })?;
    Ok(files)
}

#[test]
fn every_hunk_is_applied() {
    let files = apply(TWO_HUNKS, ORIGINAL).unwrap();
    let patched = "one\nTWO\nthree\nfour\nfive\nsix\nseven\neight\nnine\nnine and a half\nten\n";
    assert_eq!(files["db/numbers.cc"], patched);
}

#[test]
fn hunks_follow_moved_lines() {
    let files = apply(TWO_HUNKS, &format!("zero\nzero\n{ORIGINAL}")).unwrap();
    assert!(files["db/numbers.cc"].starts_with("zero\nzero\none\nTWO\n"));
    assert!(files["db/numbers.cc"].ends_with("nine and a half\nten\n"));
}

#[test]
fn lost_hunk_is_an_error_with_file_and_number() {
    let error = apply(TWO_HUNKS, &ORIGINAL.replace("nine", "9")).unwrap_err();
    assert!(error.contains("db/numbers.cc"), "{error}");
    assert!(error.contains("hunk #2"), "{error}");
}

#[test]
fn second_patch_sees_the_first() {
    let mut files = apply(TWO_HUNKS, ORIGINAL).unwrap();
    let diff = "--- a/db/numbers.cc\n+++ b/db/numbers.cc\n@@ -1,3 +1,3 @@\n one\n-TWO\n+zwei\n three\n";
    patch::apply(diff, &mut files, |path| panic!("{path} is read again")).unwrap();
    assert!(files["db/numbers.cc"].starts_with("one\nzwei\nthree\n"));
}

#[test]
fn damaged_hunks_are_refused() {
    for (whole, damaged) in [
        ("@@ -8,3 +8,4 @@", "@@ -8,3 @@"),
        (" ten\n", ""),
        ("@@ -8,3", "@@ -8,2"),
    ] {
        let diff = TWO_HUNKS.replace(whole, damaged);
        assert_ne!(diff, TWO_HUNKS);
        let outcome = apply(&diff, ORIGINAL);
        assert!(outcome.is_err(), "{damaged:?} was accepted: {outcome:?}");
    }
}

#[test]
fn empty_and_creating_diffs_are_refused() {
    let create = "--- /dev/null\n+++ b/db/numbers.cc\n@@ -0,0 +1 @@\n+one\n";
    for diff in ["", "prose only\n", create] {
        let outcome = apply(diff, ORIGINAL);
        assert!(outcome.is_err(), "{diff:?} was accepted: {outcome:?}");
    }
}

#[test]
fn unreadable_original_is_passed_on() {
    let error = patch::apply(TWO_HUNKS, &mut Files::new(), |_| Err("no such file".to_owned())).unwrap_err();
    assert_eq!(error, "no such file");
}
