// MT-05: everything that a database reports about its memtables, asked while they are filled, read
// and sealed.

#include <atomic>
#include <thread>

#include "rep.h"
#include "voices.h"

namespace mountdb::test {

namespace {

uint64_t Property(rocksdb::DB& db, const char* name) {
  uint64_t value = 0;
  CHECK_MSG(db.GetIntProperty(name, &value), name);
  return value;
}

// Asks everything once, and checks what must hold at any time.
void Poll(rocksdb::DB& db, size_t write_buffer) {
  const uint64_t active = Property(db, "rocksdb.cur-size-active-mem-table");
  CHECK_MSG(active <= write_buffer + write_buffer / 5, std::to_string(active));
  CHECK(Property(db, "rocksdb.num-immutable-mem-table") <= 8);
  for (const char* name : {"rocksdb.cur-size-all-mem-tables", "rocksdb.size-all-mem-tables",
                           "rocksdb.num-entries-active-mem-table",
                           "rocksdb.num-entries-imm-mem-tables",
                           "rocksdb.num-deletes-active-mem-table", "rocksdb.estimate-num-keys"}) {
    Property(db, name);
  }
  std::string stats;
  CHECK(db.GetProperty("rocksdb.stats", &stats) && !stats.empty());
  const rocksdb::Range all(Number(0), Number(UINT64_MAX));
  uint64_t count = 0;
  uint64_t bytes = 0;
  db.GetApproximateMemTableStats(all, &count, &bytes);
  CHECK_MSG(count <= 1000000, std::to_string(count));
  rocksdb::SizeApproximationOptions sizes;
  sizes.include_memtables = true;
  CHECK_OK(db.GetApproximateSizes(sizes, db.DefaultColumnFamily(), &all, 1, &bytes));
}

}  // namespace

CASE(mt_05_everything_reported_is_polled) {
  constexpr size_t kWriters = 4;
  constexpr uint64_t kEach = 20000;
  for (const std::string& memtable : kMemtables) {
    for (const size_t write_buffer : {size_t{256} << 10, size_t{64} << 20}) {
      TempDir dir;
      rocksdb::Options options = VoiceOptions(memtable);
      options.write_buffer_size = write_buffer;
      options.max_write_buffer_number = 6;
      options.max_write_buffer_size_to_maintain = 1 << 20;
      auto db = Open(options, dir / "db");
      std::atomic<size_t> writers{kWriters};
      std::atomic<uint64_t> polls{0};
      std::atomic<uint64_t> scans{0};
      struct Leave {
        std::atomic<size_t>& left;
        ~Leave() { --left; }
      };
      InThreads(kWriters + 3, [&](size_t thread) {
        Rng rng(Seed() + thread);
        if (thread < kWriters) {
          const Leave leave{writers};
          while (polls == 0 || scans == 0) {  // All work at once, however busy the machine is.
            std::this_thread::yield();
          }
          for (uint64_t i = 0; i < kEach; ++i) {
            const std::string key = Number((rng() % 64 << 50) + i * kWriters + thread);
            CHECK_OK(i % 10 == 9 ? db->Delete({}, key) : db->Put({}, key, "value"));
          }
        } else if (thread == kWriters) {
          while (writers > 0) {
            Poll(*db, write_buffer);
            ++polls;
          }
        } else {
          while (writers > 0) {
            std::unique_ptr<rocksdb::Iterator> iterator(db->NewIterator({}));
            std::string last;
            for (iterator->Seek(Number(rng() % 64 << 50)); iterator->Valid() && writers > 0;
                 iterator->Next()) {
              CHECK(last < iterator->key().ToString());
              last = iterator->key().ToString();
            }
            CHECK_OK(iterator->status());
            ++scans;
          }
        }
      });
      if (write_buffer > kWriters * kEach * 200) {
        // One memtable, now at rest: counts are exact.
        CHECK_EQ(Property(*db, "rocksdb.num-entries-active-mem-table"), kWriters * kEach);
        CHECK_EQ(Property(*db, "rocksdb.num-deletes-active-mem-table"), kWriters * kEach / 10);
        const rocksdb::Range all(Number(0), Number(UINT64_MAX));
        uint64_t count = 0;
        uint64_t bytes = 0;
        db->GetApproximateMemTableStats(all, &count, &bytes);
        if (memtable != kMemtables.front()) {  // The skip list estimates.
          CHECK_EQ(count, kWriters * kEach);
        }
      }
      CHECK_OK(db->Flush({}));
      CHECK_EQ(Property(*db, "rocksdb.num-entries-active-mem-table"), uint64_t{0});
      CHECK_EQ(ScanAll(*db).size(), size_t{kWriters * kEach * 9 / 10});
    }
  }
}

}  // namespace mountdb::test
