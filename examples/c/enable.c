/* A database of stock RocksDB gets learned indexes, is used with them, and goes back to stock: through RocksDB's C interface, as
   bindings of other languages use it.

     enable FOLDER

   Build it against an installed mountdb (README, "Beside your RocksDB"):
     cc -c enable.c $(pkg-config --cflags mountdb) && c++ enable.o $(pkg-config --libs mountdb) -o enable */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mountdb/c.h"

enum { KEYS = 100000 };

static void check(char* error) {
  if (error != NULL) {
    fprintf(stderr, "%s\n", error);
    exit(1);
  }
}

/* The options of the application. */
static rocksdb_options_t* stock(void) {
  rocksdb_options_t* options = rocksdb_options_create();
  rocksdb_options_set_create_if_missing(options, 1);
  return options;
}

static rocksdb_t* open_db(rocksdb_options_t* options, const char* folder) {
  char* error = NULL;
  rocksdb_t* db = rocksdb_open(options, folder, &error);
  check(error);
  return db;
}

static void write_keys(rocksdb_t* db, int from, int to) {
  rocksdb_writeoptions_t* options = rocksdb_writeoptions_create();
  char key[16];
  char value[32];
  int number;
  for (number = from; number < to; ++number) {
    char* error = NULL;
    int key_length = snprintf(key, sizeof(key), "key %08d", number);
    int value_length = snprintf(value, sizeof(value), "value %d", number);
    rocksdb_put(db, options, key, (size_t)key_length, value, (size_t)value_length, &error);
    check(error);
  }
  rocksdb_writeoptions_destroy(options);
}

/* Every key of ours, in a scan. */
static void read_keys(rocksdb_t* db, int count, const char* when) {
  rocksdb_readoptions_t* options = rocksdb_readoptions_create();
  rocksdb_iterator_t* iterator = rocksdb_create_iterator(db, options);
  char* error = NULL;
  char key[16];
  int found = 0;
  for (rocksdb_iter_seek(iterator, "key ", 4); rocksdb_iter_valid(iterator); rocksdb_iter_next(iterator)) {
    size_t length = 0;
    const char* got = rocksdb_iter_key(iterator, &length);
    size_t wanted = (size_t)snprintf(key, sizeof(key), "key %08d", found);
    if (length < 4 || memcmp(got, "key ", 4) != 0) {
      break;
    }
    if (length != wanted || memcmp(got, key, wanted) != 0) {
      fprintf(stderr, "%s: expected %s, found %.*s\n", when, key, (int)length, got);
      exit(1);
    }
    ++found;
  }
  rocksdb_iter_get_error(iterator, &error);
  check(error);
  rocksdb_iter_destroy(iterator);
  rocksdb_readoptions_destroy(options);
  if (found != count) {
    fprintf(stderr, "%s: expected %d keys, found %d\n", when, count, found);
    exit(1);
  }
  printf("%s: %d keys\n", when, found);
}

/* Writes all files anew, those of the last level included. */
static void compact(rocksdb_t* db) {
  char* error = NULL;
  rocksdb_flushoptions_t* flush = rocksdb_flushoptions_create();
  rocksdb_compactoptions_t* options = rocksdb_compactoptions_create();
  rocksdb_flush(db, flush, &error);
  check(error);
  rocksdb_compactoptions_set_bottommost_level_compaction(options, 2); /* kForce */
  rocksdb_compact_range_opt(db, options, NULL, 0, NULL, 0);
  rocksdb_compactoptions_destroy(options);
  rocksdb_flushoptions_destroy(flush);
}

int main(int argc, char** argv) {
  const char* folder = argv[1];
  mountdb_memtable_stats_t stats;
  rocksdb_options_t* options;
  rocksdb_t* db;
  char* error = NULL;
  if (argc != 2) {
    fprintf(stderr, "usage: %s FOLDER\n", argv[0]);
    return 2;
  }

  /* What the application does today. */
  options = stock();
  db = open_db(options, folder);
  write_keys(db, 0, KEYS);
  read_keys(db, KEYS, "stock");
  rocksdb_close(db);

  /* Alongside: new files carry both indexes, RocksDB's own serves the reads. Refuses a RocksDB that mountdb was not compiled for. */
  mountdb_options_apply(options, "alex", "pgm", mountdb_index_alongside, &error);
  check(error);
  db = open_db(options, folder);
  write_keys(db, KEYS, 2 * KEYS);
  compact(db);
  read_keys(db, 2 * KEYS, "alongside");
  if (!mountdb_memtable_stats(db, NULL, &stats)) {
    fprintf(stderr, "the memtable is not alex\n");
    return 1;
  }
  printf("last memtable: %llu entries, %llu bytes of index\n", (unsigned long long)stats.last_entries,
         (unsigned long long)stats.last_index_bytes);
  rocksdb_close(db);

  /* Primary: the learned index serves the reads. */
  mountdb_options_apply(options, NULL, "pgm", mountdb_index_primary, &error);
  check(error);
  db = open_db(options, folder);
  write_keys(db, 2 * KEYS, 3 * KEYS);
  read_keys(db, 3 * KEYS, "primary");
  rocksdb_close(db);
  rocksdb_options_destroy(options);

  /* Rollback: leave the options away. */
  options = stock();
  db = open_db(options, folder);
  read_keys(db, 3 * KEYS, "rolled back");
  rocksdb_close(db);
  rocksdb_options_destroy(options);
  return 0;
}
