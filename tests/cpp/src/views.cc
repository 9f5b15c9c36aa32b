// Every way of looking at a memtable that RocksDB offers, on each memtable of the list and on a
// sorted map.

#include <algorithm>
#include <filesystem>

#include "rocksdb/slice_transform.h"
#include "rocksdb/sst_file_writer.h"
#include "voices.h"

namespace mountdb::test {

using rocksdb::Iterator;
using rocksdb::ReadOptions;

namespace {

std::vector<std::unique_ptr<Iterator>> Iterators(Voices& voices, const ReadOptions& read) {
  std::vector<std::unique_ptr<Iterator>> all;
  voices.All([&](rocksdb::DB& db) { all.emplace_back(db.NewIterator(read)); });
  return all;
}

std::string Place(Iterator& iterator) {
  CHECK_OK(iterator.status());
  return iterator.Valid() ? iterator.key().ToString() + "=" + iterator.value().ToString() : "(end)";
}

std::string Place(const std::map<std::string, std::string>& model,
                  std::map<std::string, std::string>::const_iterator at) {
  return at != model.end() ? at->first + "=" + at->second : "(end)";
}

}  // namespace

// Without range deletions: a tailing iterator of stock RocksDB does not see those of memtables.
CASE(tailing_iterators_see_later_writes) {
  Rng rng(Seed());
  Voices voices;
  const std::vector<std::string> keys = PrefixedKeys(40);
  for (int i = 0; i < 500; ++i) {
    voices.Random(rng, keys, false);
  }
  ReadOptions read;
  read.tailing = true;
  auto iterators = Iterators(voices, read);
  for (int round = 0; round < 300; ++round) {
    for (uint64_t i = 0; i < rng() % 20; ++i) {
      voices.Random(rng, keys, false);
    }
    if (round % 50 == 49) {
      voices.Flush();
    }
    const std::string target = round % 10 == 0 ? "" : keys[rng() % keys.size()];
    const uint64_t steps = rng() % 30;
    for (size_t i = 0; i < iterators.size(); ++i) {
      Iterator& iterator = *iterators[i];
      target.empty() ? iterator.SeekToFirst() : iterator.Seek(target);
      auto wanted = voices.model.lower_bound(target);
      for (uint64_t step = 0;; ++step) {
        const std::string place = Place(iterator);
        CHECK_MSG(place == Place(voices.model, wanted),
                  kMemtables[i] + ", round " + std::to_string(round) + ": at " + place +
                      ", expected " + Place(voices.model, wanted));
        if (!iterator.Valid() || step == steps) {
          break;
        }
        iterator.Next();
        ++wanted;
      }
    }
    // Written behind the place where all stand: a seek onwards finds it.
    if (iterators[0]->Valid()) {
      const std::string next = iterators[0]->key().ToString() + "next";
      voices.Put(next, "just now");
      for (size_t i = 0; i < iterators.size(); ++i) {
        iterators[i]->Seek(next);
        CHECK_MSG(Place(*iterators[i]) == next + "=just now", kMemtables[i]);
      }
    }
  }
}

CASE(prefix_iterators) {
  struct Shape {
    const char* name;
    double bloom;
    bool whole_keys;
  };
  for (const Shape& shape : {Shape{"plain", 0, false}, Shape{"bloom", 0.1, false},
                             Shape{"bloom of whole keys", 0.1, true}}) {
    Rng rng(Seed());
    Voices voices([&](rocksdb::Options* options) {
      options->prefix_extractor.reset(rocksdb::NewFixedPrefixTransform(4));
      options->memtable_prefix_bloom_size_ratio = shape.bloom;
      options->memtable_whole_key_filtering = shape.whole_keys;
    });
    std::vector<std::string> keys = PrefixedKeys(30);
    // Some prefixes stay empty.
    std::vector<std::string> written;
    std::copy_if(keys.begin(), keys.end(), std::back_inserter(written),
                 [](const std::string& key) { return key[0] % 3 != 0; });
    for (int flushed = 0; flushed < 3; ++flushed) {
      for (int i = 0; i < 700; ++i) {
        voices.Random(rng, written);
      }
      for (const std::string mode : {"total", "auto", "same"}) {
        for (int round = 0; round < 200; ++round) {
          const std::string target = keys[rng() % keys.size()];
          const std::string upper = keys[rng() % keys.size()];
          const rocksdb::Slice bound(upper);
          ReadOptions read;
          read.total_order_seek = mode == "total";
          read.auto_prefix_mode = mode == "auto";
          read.prefix_same_as_start = mode == "same";
          if (mode == "auto" || round % 2 == 0) {
            read.iterate_upper_bound = &bound;
          }
          Entries wanted;
          for (auto at = voices.model.lower_bound(target); at != voices.model.end(); ++at) {
            const bool other_prefix = at->first.compare(0, 4, target, 0, 4) != 0;
            const bool beyond = read.iterate_upper_bound != nullptr && at->first >= upper;
            if (beyond || (mode == "same" && other_prefix)) {
              break;
            }
            wanted.push_back(*at);
          }
          auto iterators = Iterators(voices, read);
          for (size_t i = 0; i < iterators.size(); ++i) {
            Entries found;
            for (iterators[i]->Seek(target); iterators[i]->Valid(); iterators[i]->Next()) {
              found.emplace_back(iterators[i]->key().ToString(), iterators[i]->value().ToString());
            }
            CHECK_OK(iterators[i]->status());
            CHECK_MSG(found == wanted, kMemtables[i] + ", " + shape.name + ", " + mode +
                                           ": from " + target + " to " + upper + " " +
                                           std::to_string(found.size()) + " entries, expected " +
                                           std::to_string(wanted.size()));
          }
        }
      }
      if (flushed < 2) {
        voices.Flush();
      }
    }
  }
}

CASE(iterators_and_snapshots_outlive_their_memtables) {
  Rng rng(Seed());
  Voices voices([](rocksdb::Options* options) { options->write_buffer_size = 64 << 10; });
  const std::vector<std::string> keys = PrefixedKeys(40);
  struct View {
    Entries wanted;
    std::vector<std::unique_ptr<Iterator>> iterators;
    std::vector<const rocksdb::Snapshot*> snapshots;
  };
  std::vector<View> views;
  for (int round = 0; round < 12; ++round) {
    for (int i = 0; i < 400; ++i) {
      voices.Random(rng, keys);
    }
    View view{voices.Wanted(), Iterators(voices, {}), {}};
    voices.All([&](rocksdb::DB& db) { view.snapshots.push_back(db.GetSnapshot()); });
    // Half of the iterators stand on an entry of a memtable that is about to be sealed.
    if (round % 2 == 0) {
      for (auto& iterator : view.iterators) {
        iterator->Seek(keys[keys.size() / 2]);
      }
    }
    views.push_back(std::move(view));
    if (round % 3 == 2) {
      voices.Flush();
    }
    if (round % 6 == 5) {
      voices.All([](rocksdb::DB& db) { Compact(db); });
    }
  }
  for (size_t number = 0; number < views.size(); ++number) {
    View& view = views[number];
    for (size_t i = 0; i < voices.size(); ++i) {
      const std::string what = kMemtables[i] + ", view " + std::to_string(number);
      Iterator& iterator = *view.iterators[i];
      if (number % 2 == 0) {
        // From where it stands to the end, first.
        auto at = std::lower_bound(view.wanted.begin(), view.wanted.end(),
                                   std::make_pair(keys[keys.size() / 2], std::string()));
        for (; at != view.wanted.end(); ++at, iterator.Next()) {
          CHECK_MSG(Place(iterator) == at->first + "=" + at->second, what);
        }
        CHECK_MSG(Place(iterator) == "(end)", what);
      }
      Entries backwards;
      for (iterator.SeekToLast(); iterator.Valid(); iterator.Prev()) {
        backwards.emplace_back(iterator.key().ToString(), iterator.value().ToString());
      }
      std::reverse(backwards.begin(), backwards.end());
      CHECK_MSG(backwards == view.wanted, what);
      ReadOptions then;
      then.snapshot = view.snapshots[i];
      CHECK_MSG(ScanAll(voices[i], voices[i].DefaultColumnFamily(), true, then) == view.wanted,
                what);
      voices[i].ReleaseSnapshot(view.snapshots[i]);
    }
  }
  views.clear();
  voices.Check("after the views");
}

CASE(ingested_files_over_a_memtable) {
  Rng rng(Seed());
  Voices voices([](rocksdb::Options* options) { options->disable_auto_compactions = true; });
  const std::vector<std::string> keys = PrefixedKeys(30);
  for (int round = 0; round < 60; ++round) {
    for (int i = 0; i < 60; ++i) {
      voices.Random(rng, keys);
    }
    // A few neighbours: between the memtable's entries or over them.
    const size_t from = rng() % keys.size();
    const bool between = round % 3 == 0;
    std::map<std::string, std::string> file;
    for (size_t i = from; i < std::min(from + 1 + rng() % 5, keys.size()); ++i) {
      file[keys[i] + (between ? "between" : "")] = "ingested " + std::to_string(round);
    }
    const std::string path = voices.Folder("ingest" + std::to_string(round));
    rocksdb::SstFileWriter writer(rocksdb::EnvOptions(), voices.options(0));
    std::filesystem::create_directories(path);
    CHECK_OK(writer.Open(path + "/file.sst"));
    for (const auto& [key, value] : file) {
      CHECK_OK(writer.Put(key, value));
    }
    CHECK_OK(writer.Finish());
    rocksdb::IngestExternalFileOptions ingest;
    ingest.allow_blocking_flush = round % 2 == 0;
    std::vector<std::string> said;
    voices.All([&](rocksdb::DB& db) {
      const rocksdb::Status status = db.IngestExternalFile({path + "/file.sst"}, ingest);
      std::string files;
      CHECK(db.GetProperty("rocksdb.num-files-at-level0", &files));
      uint64_t entries = 0;
      CHECK(db.GetIntProperty("rocksdb.num-entries-active-mem-table", &entries));
      said.push_back(status.ToString() + ", " + files + " files, " + std::to_string(entries) +
                     " entries in the memtable");
      CHECK(status.ok() || !ingest.allow_blocking_flush);
      if (&db == &voices[0] && status.ok()) {
        for (const auto& [key, value] : file) {
          voices.model[key] = value;
        }
      }
    });
    for (size_t i = 1; i < said.size(); ++i) {
      CHECK_MSG(said[i] == said[0], kMemtables[i] + ": " + said[i] + "; stock: " + said[0]);
    }
  }
  voices.Check("after ingestion");
}

}  // namespace mountdb::test
