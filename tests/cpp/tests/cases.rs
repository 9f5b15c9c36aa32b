//! The cases written in C++ (`src/*.cc`), one test each. `MOUNTDB_SEED` repeats a run with its random numbers.

use mountdb_cpp_tests::run;

macro_rules! cases {
    ($($name:ident,)*) => {
        mod cpp {
            use std::ffi::{c_char, c_int};

            unsafe extern "C" {
                $(pub fn $name(message: *mut c_char, capacity: usize) -> c_int;)*
            }
        }

        $(
            #[test]
            fn $name() {
                if let Err(what) = run(cpp::$name) {
                    panic!("{what}");
                }
            }
        )*
    };
}

cases! {
    a_cold_lookup_reads_once,
    fallback_of_a_family_logs_one_line,
    fallback_of_a_rep_logs_one_line,
    fb_02_another_build_is_refused_in_one_line,
    fb_02_this_build_is_accepted,
    fb_04_c_interface,
    fb_04_register_any_number_of_times,
    ingested_files_over_a_memtable,
    iterators_and_snapshots_outlive_their_memtables,
    mc_01_duplicates_are_refused,
    mc_01_one_of_many_writers_wins,
    mc_01_write_committed,
    mc_01_write_prepared,
    mc_01_write_unprepared,
    mc_02_get_and_validate,
    mc_02_iterator_and_validate,
    mc_02_multiget,
    mc_02_multiget_of_many_versions,
    mc_02_paranoid_options_of_a_db,
    mc_02_refused_entries_are_corruption,
    mc_03_hints_of_a_db,
    mc_03_hints_of_eight_writers,
    mc_03_hints_of_one_writer,
    mc_04_dense_numbers,
    mc_04_empty,
    mc_04_equal_keys,
    mc_04_key_written_twice,
    mc_04_sparse_numbers,
    mc_04_strings,
    mc_09_estimated_counts,
    mc_09_mempurge,
    mc_09_random_samples,
    mt_05_everything_reported_is_polled,
    mt_06_every_permutation_of_six,
    mt_06_random_order_from_eight_threads,
    mt_06_write_modes_of_a_db,
    od_01_documented_strings,
    od_01_invalid_parameter_of_the_constructor,
    od_01_invalid_parameters,
    od_01_options_file_brings_the_factories_back,
    od_01_strings_round_trip,
    od_01_unknown_parameters,
    od_01_unregistered_names,
    od_02_backup,
    od_02_checkpoint,
    od_02_export_and_import,
    od_02_options_without_the_plugin,
    optimistic_conflicts_in_sealed_memtables,
    prefix_iterators,
    read_only_instances_replay_the_log,
    secondary_instances_replay_the_log,
    sf_02_faulty_reads_are_errors,
    sf_05_estimate_is_an_upper_bound,
    sf_05_memory_of_table_readers,
    si_05_adjoining_ranges,
    si_05_multi_scan,
    si_05_upper_bound,
    si_07_all_together,
    si_07_blob_files,
    si_07_compression_dictionary,
    si_07_every_type,
    si_07_on_key_added_changes_nothing,
    si_07_range_tombstones_alone,
    si_08_bytewise_under_another_name,
    si_08_reverse_bytewise,
    si_08_short_keys_first,
    si_08_timestamps_are_refused,
    si_08_timestamps_in_a_created_family,
    si_08_versions_over_many_blocks,
    tailing_iterators_see_later_writes,
    transactions_of_many_threads_committed,
    transactions_of_many_threads_pipelined,
    transactions_of_many_threads_prepared,
    transactions_of_many_threads_unordered,
    transactions_of_many_threads_unprepared,
    verified_lookups_find_an_entry_that_was_changed,
}
