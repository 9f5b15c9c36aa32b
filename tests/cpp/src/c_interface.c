/* The C interface, compiled as C: a case in the sense of check.h. Takes a folder. */

#include <stdio.h>
#include <string.h>

#include "cpp/c.h"

/* Leaves the case with what failed. */
#define REQUIRE(condition)                                                                    \
  do {                                                                                        \
    if (!(condition)) {                                                                       \
      snprintf(message, capacity, "%s:%d: %s (%s)", __FILE__, __LINE__, #condition,           \
               error == NULL ? "no error" : error);                                           \
      return 1;                                                                               \
    }                                                                                         \
  } while (0)

/* One that has to fail, with a message that holds the text. */
#define REQUIRE_ERROR(text)                                                                   \
  do {                                                                                        \
    REQUIRE(error != NULL && strstr(error, text) != NULL);                                    \
    rocksdb_free(error);                                                                      \
    error = NULL;                                                                             \
  } while (0)

int mountdb_test_c_interface(const char* folder, char* message, size_t capacity);

int mountdb_test_c_interface(const char* folder, char* message, size_t capacity) {
  char* error = NULL;
  char key[16];
  int i;
  size_t length = 0;
  char* value;
  mountdb_memtable_stats_t stats;
  rocksdb_t* db;
  rocksdb_options_t* options = rocksdb_options_create();
  rocksdb_flushoptions_t* flush = rocksdb_flushoptions_create();
  rocksdb_writeoptions_t* write = rocksdb_writeoptions_create();
  rocksdb_readoptions_t* read = rocksdb_readoptions_create();
  rocksdb_options_set_create_if_missing(options, 1);

  mountdb_register(&error);
  mountdb_register(&error);
  REQUIRE(error == NULL);

  mountdb_options_apply(options, "alx", NULL, mountdb_index_alongside, &error);
  REQUIRE_ERROR("alx");
  mountdb_options_apply(options, "{id=alex;data_node_slots=7}", NULL, mountdb_index_alongside, &error);
  REQUIRE_ERROR("data_node_slots");
  mountdb_options_apply(options, NULL, "pgn", mountdb_index_primary, &error);
  REQUIRE_ERROR("pgn");
  mountdb_options_apply(options, NULL, "pgm", 7, &error);
  REQUIRE_ERROR("index_mode");
  /* A message that is there already is replaced, as RocksDB does it. */
  mountdb_options_apply(options, "alx", NULL, mountdb_index_alongside, &error);
  mountdb_options_apply(options, NULL, "pgn", mountdb_index_alongside, &error);
  REQUIRE_ERROR("pgn");

  /* None of that has changed the options: stock has no statistics of ours. */
  memset(&stats, 0x5a, sizeof(stats));
  db = rocksdb_open(options, folder, &error);
  REQUIRE(error == NULL);
  REQUIRE(!mountdb_memtable_stats(db, NULL, &stats));
  REQUIRE(stats.memtables == 0x5a5a5a5a5a5a5a5aULL);
  rocksdb_close(db);

  /* One after the other; the second leaves the memtable as it is. */
  mountdb_options_apply(options, "{id=alex;skeleton=off}", "", mountdb_index_alongside, &error);
  REQUIRE(error == NULL);
  mountdb_options_apply(options, NULL, "pgm", mountdb_index_primary, &error);
  REQUIRE(error == NULL);
  db = rocksdb_open(options, folder, &error);
  REQUIRE(error == NULL);
  for (i = 0; i < 5000; ++i) {
    snprintf(key, sizeof(key), "key %08d", (i * 7919) % 5000);
    rocksdb_put(db, write, key, strlen(key), key, strlen(key), &error);
    REQUIRE(error == NULL);
  }
  rocksdb_flush(db, flush, &error);
  REQUIRE(error == NULL);
  REQUIRE(mountdb_memtable_stats(db, NULL, &stats));
  REQUIRE(stats.memtables == 1);
  REQUIRE(stats.fallbacks == 0);
  REQUIRE(stats.last_entries == 5000);
  REQUIRE(stats.last_index_bytes >= 5000 * 16);
  for (i = 0; i < 5000; ++i) {
    snprintf(key, sizeof(key), "key %08d", i);
    value = rocksdb_get(db, read, key, strlen(key), &length, &error);
    REQUIRE(error == NULL);
    REQUIRE(value != NULL && length == strlen(key) && memcmp(value, key, length) == 0);
    rocksdb_free(value);
  }
  rocksdb_close(db);

  rocksdb_readoptions_destroy(read);
  rocksdb_writeoptions_destroy(write);
  rocksdb_flushoptions_destroy(flush);
  rocksdb_options_destroy(options);
  return 0;
}
