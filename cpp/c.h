/* The C interface of mountdb, beside RocksDB's rocksdb/c.h. */
#pragma once

#include <stdint.h>

#include "rocksdb/c.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Errors as in rocksdb/c.h: *errptr is NULL before the call and stays so if it
   succeeds, else it is a message that the caller frees with rocksdb_free(). */

/* Makes the names alex (memtable_factory) and pgm (user_defined_index_factory)
   known to option strings and OPTIONS files of this process. May be called any
   number of times and from any thread. Fails if mountdb was compiled for another
   RocksDB: then nothing else of mountdb may be used. */
void mountdb_register(char** errptr);

/* How SST files use the learned index. */
enum {
  mountdb_index_alongside = 0, /* written beside RocksDB's own, which serves the reads */
  mountdb_index_primary = 1    /* serves the reads of files that have it; RocksDB without mountdb's patches wants it in every file */
};

/* Sets the learned indexes by option strings, such as "alex" or
   "{id=alex;skeleton=off}" for the memtable and "pgm" for the SST files. NULL or
   "" leaves what is there. Registers the names first. With an index, call it
   after rocksdb_options_set_block_based_table_factory(), which would replace
   what it sets; the other options of the tables stay as they are. If it fails,
   the options are unchanged. */
void mountdb_options_apply(rocksdb_options_t* options, const char* memtable, const char* index,
                           int index_mode, char** errptr);

/* What is known about the memtables of one column family. "Last" is the last
   memtable that was full and has been read since, by its flush as a rule. */
typedef struct mountdb_memtable_stats_t {
  uint64_t memtables;           /* so far */
  uint64_t fallbacks;           /* memtables that are skip lists, because the comparator is not bytewise */
  uint64_t longest_pause_nanos; /* longest rebuild of a node that inserts had to wait for */
  uint64_t last_entries;
  uint64_t last_data_nodes;
  uint64_t last_depth;
  uint64_t last_index_bytes; /* nodes, replaced ones included */
  uint64_t last_splits;      /* of data nodes */
  uint64_t last_expansions;
  uint64_t last_rebuilds; /* done in the background */
  uint64_t last_moved_inserts; /* inserts that found no free slot where they belonged */
  uint64_t last_longest_pause_nanos;
  uint64_t last_planned_nodes;  /* data nodes of its skeleton; 0: it had none */
  uint64_t last_skeleton_age;   /* memtables made from that skeleton before */
  uint64_t last_skeleton_bytes; /* shared by all memtables made from it */
  uint64_t last_skeleton_build_nanos; /* in the background */
} mountdb_memtable_stats_t;

/* Fills *stats for a column family (NULL: the default one). 0 if its memtable
   factory is not alex; then *stats stays as it was. A factory that serves several
   databases counts their column families of equal number together. */
unsigned char mountdb_memtable_stats(rocksdb_t* db, rocksdb_column_family_handle_t* family,
                                     mountdb_memtable_stats_t* stats);

/* Where look-ups through windowed indexes (lookup=window) ended, in this process
   so far: in the predicted block, the one to its left or right, or farther away
   (only where many blocks start with equal eight bytes). */
typedef struct mountdb_window_stats_t {
  uint64_t predicted;
  uint64_t left;
  uint64_t right;
  uint64_t beyond;
  uint64_t reads; /* of three blocks at once, because the predicted one was not cached */
} mountdb_window_stats_t;

void mountdb_window_stats(mountdb_window_stats_t* stats);

/* What verify_one_in found, in this process so far. */
typedef struct mountdb_verify_stats_t {
  uint64_t seeks;         /* of table indexes, answered by both */
  uint64_t wrong_seeks;   /* whose answers differed */
  uint64_t lookups;       /* of memtables, checked by a walk */
  uint64_t wrong_lookups; /* that had missed the entry */
} mountdb_verify_stats_t;

void mountdb_verify_stats(mountdb_verify_stats_t* stats);

#ifdef __cplusplus
}
#endif
