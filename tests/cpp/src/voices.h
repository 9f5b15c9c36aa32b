// One database for each memtable of the list, all given the same operations: RocksDB's own is the first.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "db.h"
#include "rocksdb/utilities/stackable_db.h"
#include "variants.h"

namespace mountdb::test {

// Small memtables, and a merge operator that keeps the order of operands.
rocksdb::Options VoiceOptions(const std::string& memtable);

class Voices {
 public:
  using Change = std::function<void(rocksdb::Options*)>;

  explicit Voices(const Change& change = [](rocksdb::Options*) {}) {
    for (size_t i = 0; i < kMemtables.size(); ++i) {
      options_.push_back(VoiceOptions(kMemtables[i]));
      change(&options_.back());
      dbs_.push_back(Open(options_.back(), Path(i)));
    }
  }

  size_t size() const { return dbs_.size(); }
  rocksdb::DB& operator[](size_t i) { return *dbs_[i]; }
  const rocksdb::Options& options(size_t i) const { return options_[i]; }
  std::string Path(size_t i) const { return dir_ / std::to_string(i); }
  std::string Folder(const std::string& name) const { return dir_ / name; }

  void All(const std::function<void(rocksdb::DB&)>& act) {
    for (auto& db : dbs_) {
      act(*db);
    }
  }

  void Put(const std::string& key, const std::string& value) {
    model[key] = value;
    All([&](rocksdb::DB& db) { CHECK_OK(db.Put({}, key, value)); });
  }
  void Delete(const std::string& key) {
    model.erase(key);
    All([&](rocksdb::DB& db) { CHECK_OK(db.Delete({}, key)); });
  }
  void Merge(const std::string& key, const std::string& operand) {
    model[key] += operand;
    All([&](rocksdb::DB& db) { CHECK_OK(db.Merge({}, key, operand)); });
  }
  void DeleteRange(const std::string& from, const std::string& to) {
    model.erase(model.lower_bound(from), model.lower_bound(to));
    All([&](rocksdb::DB& db) { CHECK_OK(db.DeleteRange({}, from, to)); });
  }
  void Flush() {
    All([](rocksdb::DB& db) { CHECK_OK(db.Flush({})); });
  }
  // One random operation on one of the keys; with range deletions and merges or without.
  void Random(Rng& rng, const std::vector<std::string>& keys, bool ranges = true,
              bool merges = true);

  Entries Wanted() const { return Entries(model.begin(), model.end()); }
  // `db` holds what was written, forwards, backwards and one by one.
  void CheckAgainstModel(rocksdb::DB& db, const std::string& what) const;
  void Check(const std::string& what) {
    for (size_t i = 0; i < size(); ++i) {
      CheckAgainstModel(*dbs_[i], what + ", " + kMemtables[i]);
    }
  }

  std::map<std::string, std::string> model;

 private:
  TempDir dir_;
  std::vector<rocksdb::Options> options_;
  std::vector<std::unique_ptr<rocksdb::DB>> dbs_;
};

// "aaaa0000" and so on: 26 prefixes of four letters with `each` keys each.
std::vector<std::string> PrefixedKeys(size_t each);

}  // namespace mountdb::test
