#include "voices.h"

#include <algorithm>

#include "rocksdb/merge_operator.h"

namespace mountdb::test {

namespace {

class Append final : public rocksdb::AssociativeMergeOperator {
 public:
  const char* Name() const override { return "mountdb.test.append"; }
  bool Merge(const rocksdb::Slice&, const rocksdb::Slice* existing, const rocksdb::Slice& operand,
             std::string* result, rocksdb::Logger*) const override {
    *result = (existing != nullptr ? existing->ToString() : "") + operand.ToString();
    return true;
  }
};

}  // namespace

rocksdb::Options VoiceOptions(const std::string& memtable) {
  rocksdb::Options options = DbOptions(Index::kStock);
  options.memtable_factory = Memtable(memtable);
  options.merge_operator = std::make_shared<Append>();
  return options;
}

void Voices::Random(Rng& rng, const std::vector<std::string>& keys, bool ranges,
                    bool merges) {
  const std::string& key = keys[rng() % keys.size()];
  switch (rng() % 16) {
    case 0:
      return Delete(key);
    case 1:
      return merges ? Merge(key, "+" + std::to_string(rng() % 100)) : Delete(key);
    case 2:
      if (ranges && rng() % 8 == 0) {
        const std::string& other = keys[rng() % keys.size()];
        return DeleteRange(std::min(key, other), std::min(std::max(key, other), key + "0"));
      }
      [[fallthrough]];
    default:
      return Put(key, std::to_string(rng()));
  }
}

void Voices::CheckAgainstModel(rocksdb::DB& db, const std::string& what) const {
  Entries wanted = Wanted();
  const Entries found = ScanAll(db);
  const auto [at, expected] = std::mismatch(found.begin(), found.end(), wanted.begin(), wanted.end());
  const auto show = [](const Entries& entries, Entries::const_iterator place) {
    return place != entries.end() ? place->first + "=" + place->second : std::string("(end)");
  };
  CHECK_MSG(found == wanted, what + ": forward scan has " + show(found, at) + ", expected " +
                                 show(wanted, expected));
  for (const auto& [key, value] : wanted) {
    CHECK_MSG(Get(db, key) == value, what + ": " + Show(rocksdb::Slice(key)));
  }
  std::reverse(wanted.begin(), wanted.end());
  CHECK_MSG(ScanAll(db, false) == wanted, what + ": backward scan differs");
}

std::vector<std::string> PrefixedKeys(size_t each) {
  std::vector<std::string> keys;
  for (char letter = 'a'; letter <= 'z'; ++letter) {
    for (size_t i = 0; i < each; ++i) {
      const std::string digits = std::to_string(i);
      keys.push_back(std::string(4, letter) + std::string(4 - digits.size(), '0') + digits);
    }
  }
  return keys;
}

}  // namespace mountdb::test
