// Reads that check what they see, batches of lookups, samples and counts.

#include <algorithm>
#include <unordered_set>

#include "cpp/c.h"
#include "rep.h"

namespace mountdb::test {

using rocksdb::LookupKey;
using rocksdb::Slice;
using rocksdb::Status;

namespace {

constexpr uint64_t kEntries = 10000;

// Even numbers are present, at sequence number 5.
void Fill(Rep& rep) {
  std::vector<uint64_t> numbers(kEntries);
  for (uint64_t i = 0; i < kEntries; ++i) {
    numbers[i] = 2 * i;
  }
  std::shuffle(numbers.begin(), numbers.end(), Rng(Seed()));
  for (const uint64_t number : numbers) {
    CHECK(rep.Insert({Number(number), 5}, std::to_string(number)));
  }
}

// What a lookup of MemTable wants: the first entry of the key.
struct Answer {
  std::string key;
  std::string value;
  size_t calls = 0;

  static bool Take(void* arg, const char* entry) {
    auto& answer = *static_cast<Answer*>(arg);
    ++answer.calls;
    if (VersionOf(entry).key == answer.key) {
      answer.value = ValueOf(entry);
    }
    return false;
  }
};

Status Accept(const char*, bool) { return Status::OK(); }
Status Refuse(const char*, bool) { return Status::Corruption("planted"); }

}  // namespace

CASE(verified_lookups_find_an_entry_that_was_changed) {
  mountdb_verify_stats_t before, after;
  for (const uint32_t one_in : {0u, 1u}) {
    Rep rep(NewAlexMemTableFactory({.verify_one_in = one_in}));
    Fill(rep);
    const std::string key = Number(1000);
    const LookupKey lookup(key, rocksdb::kMaxSequenceNumber);
    const auto get = [&](const LookupKey& asked, const std::string& wanted) {
      Answer answer{wanted, ""};
      rep->Get(asked, &answer, Answer::Take);
      return answer.value;
    };
    mountdb_verify_stats(&before);
    CHECK_EQ(get(lookup, key), std::string("1000"));
    mountdb_verify_stats(&after);
    CHECK_EQ(after.lookups - before.lookups, uint64_t{one_in});
    CHECK_EQ(after.wrong_lookups, before.wrong_lookups);

    // An entry in front grows above: a walk stops there, a look-up goes past it.
    auto iterator = rep.NewIterator();
    iterator->Seek(rocksdb::Slice(), LookupKey(Number(500), 5).memtable_key().data());
    CHECK(iterator->Valid());
    auto* const first_byte =
        const_cast<char*>(rocksdb::GetLengthPrefixedSlice(iterator->key()).data());
    *first_byte = 0x7f;
    CHECK_EQ(get(lookup, key), std::string("1000"));
    mountdb_verify_stats(&after);
    CHECK_EQ(after.wrong_lookups - before.wrong_lookups, uint64_t{one_in});
    *first_byte = 0;
  }
}

CASE(mc_02_get_and_validate) {
  Rep rep;
  Fill(rep);
  for (uint64_t number = 0; number < 2 * kEntries; ++number) {
    const std::string key = Number(number);
    const LookupKey lookup(key, rocksdb::kMaxSequenceNumber);
    for (const bool detect : {false, true}) {
      Answer answer{key, ""};
      std::unordered_set<const char*> seen;
      const char* returned = nullptr;
      const auto validate = [&](const char* entry, bool) {
        seen.insert(entry);
        return Status::OK();
      };
      struct Both {
        Answer& answer;
        const char*& returned;
      } both{answer, returned};
      CHECK_OK(rep->GetAndValidate(
          lookup, &both,
          [](void* arg, const char* entry) {
            static_cast<Both*>(arg)->returned = entry;
            return Answer::Take(&static_cast<Both*>(arg)->answer, entry);
          },
          true, detect, validate));
      CHECK_EQ(answer.value, number % 2 == 0 ? std::to_string(number) : std::string());
      CHECK(returned == nullptr || seen.count(returned) == 1);
    }
    Answer answer{key, ""};
    CHECK_OK(rep->GetAndValidate(lookup, &answer, Answer::Take, true, true, nullptr));
    CHECK_EQ(answer.value.empty(), number % 2 == 1);
  }
}

CASE(mc_02_iterator_and_validate) {
  Rep rep;
  Fill(rep);
  auto iterator = rep.NewIterator();
  for (uint64_t number = 0; number < 2 * kEntries; ++number) {
    const std::string target = InternalKey({Number(number), rocksdb::kMaxSequenceNumber});
    const uint64_t wanted = number + number % 2;
    CHECK_OK(iterator->SeekAndValidate(target, nullptr, true, number % 3 != 0, Accept));
    CHECK_EQ(iterator->Valid(), wanted < 2 * kEntries);
    if (iterator->Valid()) {
      CHECK_EQ(VersionOf(iterator->key()), (Version{Number(wanted), 5}));
    }
    // The other way to name the target.
    const LookupKey lookup(Number(number), rocksdb::kMaxSequenceNumber);
    CHECK_OK(iterator->SeekAndValidate(Slice(), lookup.memtable_key().data(), true, true, nullptr));
    CHECK(!iterator->Valid() || VersionOf(iterator->key()).key == Number(wanted));
  }
  uint64_t count = 0;
  for (iterator->SeekToFirst(); iterator->Valid(); ++count) {
    CHECK_EQ(VersionOf(iterator->key()).key, Number(2 * count));
    CHECK_OK(iterator->NextAndValidate(count % 2 == 0));
  }
  CHECK_EQ(count, kEntries);
  for (iterator->SeekToLast(); iterator->Valid(); --count) {
    CHECK_EQ(VersionOf(iterator->key()).key, Number(2 * (count - 1)));
    CHECK_OK(iterator->PrevAndValidate(count % 2 == 0));
  }
  CHECK_EQ(count, uint64_t{0});
}

CASE(mc_02_refused_entries_are_corruption) {
  Rep rep;
  Fill(rep);
  const std::string key = Number(kEntries);
  const LookupKey lookup(key, rocksdb::kMaxSequenceNumber);
  Answer answer{key, ""};
  CHECK(rep->GetAndValidate(lookup, &answer, Answer::Take, true, false, Refuse).IsCorruption());
  CHECK_EQ(answer.calls, size_t{0});
  auto iterator = rep.NewIterator();
  const std::string target = InternalKey({key, rocksdb::kMaxSequenceNumber});
  CHECK(iterator->SeekAndValidate(target, nullptr, true, false, Refuse).IsCorruption());
  CHECK(!iterator->Valid());
  const char* keys[] = {lookup.memtable_key().data()};
  void* args[] = {&answer};
  CHECK(rep->MultiGet(1, keys, args, Answer::Take, true, false, Refuse).IsCorruption());
  CHECK_EQ(answer.calls, size_t{0});
  // And nothing stays broken.
  CHECK_OK(rep->MultiGet(1, keys, args, Answer::Take, true, true, Accept));
  CHECK_EQ(answer.value, std::to_string(kEntries));
}

CASE(mc_02_multiget) {
  Rep rep;
  Fill(rep);
  Rng rng(Seed());
  for (const size_t batch : {0, 1, 2, 31, 32, 33, 64, 1000}) {
    std::vector<uint64_t> numbers(batch);
    for (auto& number : numbers) {
      number = rng() % (2 * kEntries + 10);
    }
    std::sort(numbers.begin(), numbers.end());
    for (const int mode : {0, 1, 2}) {  // plain, order checked, entries checked too
      std::vector<std::unique_ptr<LookupKey>> lookups;
      std::vector<const char*> keys;
      std::vector<Answer> answers;
      std::vector<void*> args;
      answers.reserve(batch);
      for (const uint64_t number : numbers) {
        lookups.push_back(
            std::make_unique<LookupKey>(Number(number), rocksdb::kMaxSequenceNumber));
        keys.push_back(lookups.back()->memtable_key().data());
        args.push_back(&answers.emplace_back(Answer{Number(number), ""}));
      }
      std::function<Status(const char*, bool)> validate;
      if (mode == 2) {
        validate = Accept;
      }
      CHECK_OK(rep->MultiGet(batch, keys.data(), args.data(), Answer::Take, true, mode > 0,
                             validate));
      for (size_t i = 0; i < batch; ++i) {
        const bool present = numbers[i] % 2 == 0 && numbers[i] < 2 * kEntries;
        CHECK_EQ(answers[i].value, present ? std::to_string(numbers[i]) : std::string());
        CHECK(answers[i].calls <= 1);
      }
    }
  }
}

// Entries of a key that a callback goes on to ask for come newest first.
CASE(mc_02_multiget_of_many_versions) {
  Rep rep;
  for (uint64_t key = 0; key < 100; ++key) {
    for (uint64_t seq = 1; seq <= 50; ++seq) {
      CHECK(rep.Insert({Number(key), seq}));
    }
  }
  struct All {
    std::string key;
    std::vector<uint64_t> seqs;
    static bool Take(void* arg, const char* entry) {
      auto& all = *static_cast<All*>(arg);
      const Version version = VersionOf(entry);
      if (version.key != all.key) {
        return false;
      }
      all.seqs.push_back(version.seq);
      return true;
    }
  };
  for (const bool detect : {false, true}) {
    std::vector<std::unique_ptr<LookupKey>> lookups;
    std::vector<const char*> keys;
    std::vector<All> found(100);
    std::vector<void*> args;
    for (uint64_t key = 0; key < 100; ++key) {
      found[key].key = Number(key);
      lookups.push_back(std::make_unique<LookupKey>(Number(key), key % 51));
      keys.push_back(lookups.back()->memtable_key().data());
      args.push_back(&found[key]);
    }
    CHECK_OK(rep->MultiGet(keys.size(), keys.data(), args.data(), All::Take, false, detect));
    for (uint64_t key = 0; key < 100; ++key) {
      CHECK_EQ(found[key].seqs.size(), size_t{key % 51});
      for (size_t i = 0; i < found[key].seqs.size(); ++i) {
        CHECK_EQ(found[key].seqs[i], key % 51 - i);
      }
    }
  }
}

CASE(mc_09_random_samples) {
  for (const uint64_t entries : {1, 10, 1000, 20000}) {
    Rep rep;
    for (uint64_t i = 0; i < entries; ++i) {
      // Versions of one key count as entries of their own.
      CHECK(rep.Insert({Number(i / 3 * i), i + 1}));
    }
    std::vector<const char*> order;
    std::map<const char*, size_t> place;
    auto iterator = rep.NewIterator();
    for (iterator->SeekToFirst(); iterator->Valid(); iterator->Next()) {
      place[iterator->key()] = order.size();
      order.push_back(iterator->key());
    }
    CHECK_EQ(order.size(), size_t{entries});
    for (const uint64_t target : {uint64_t{1}, uint64_t{10}, entries / 100, entries / 2, entries}) {
      if (target == 0 || target > entries) {
        continue;
      }
      std::unordered_set<const char*> sample = {nullptr};
      rep->UniqueRandomSample(entries, target, &sample);
      CHECK_MSG(sample.size() * 2 >= target && sample.size() <= 2 * target,
                std::to_string(sample.size()) + " of " + std::to_string(target));
      std::vector<size_t> deciles(10);
      for (const char* entry : sample) {
        CHECK(place.count(entry) == 1);
        ++deciles[place[entry] * 10 / entries];
      }
      if (target >= 1000) {  // Without bias a decile holds 100, give or take 10.
        for (const size_t decile : deciles) {
          CHECK_MSG(decile * 2 > target / 10 && decile < 2 * target / 10,
                    std::to_string(decile) + " of " + std::to_string(target / 10));
        }
      }
    }
  }
}

CASE(mc_09_estimated_counts) {
  Rng rng(Seed());
  struct Shape {
    const char* name;
    std::function<Version(uint64_t)> make;
  };
  const Shape shapes[] = {
      {"uniform", [&](uint64_t i) { return Version{Number(rng()), i}; }},
      {"sequential", [&](uint64_t i) { return Version{Number(i), i}; }},
      {"skewed", [&](uint64_t i) { return Version{Number(rng() >> (rng() % 60)), i}; }},
      {"clustered",
       [&](uint64_t i) { return Version{Number((rng() % 20 << 50) + rng() % 100000), i}; }},
      {"strings", [&](uint64_t i) { return Version{"key" + std::to_string(rng() % 100000), i}; }},
      {"one hot key",
       [&](uint64_t i) { return Version{i % 2 == 0 ? Number(1ull << 63) : Number(rng()), i}; }},
  };
  for (const Shape& shape : shapes) {
    Rep rep;
    std::vector<Version> versions;
    for (uint64_t i = 1; i <= 20000; ++i) {
      versions.push_back(shape.make(i));
      CHECK(rep.Insert(versions.back()));
    }
    std::sort(versions.begin(), versions.end());
    for (int round = 0; round < 200; ++round) {
      size_t from = rng() % versions.size();
      size_t to = rng() % versions.size();
      if (from > to) {
        std::swap(from, to);
      }
      const std::string start = InternalKey({versions[from].key, rocksdb::kMaxSequenceNumber});
      const std::string end = InternalKey({versions[to].key, rocksdb::kMaxSequenceNumber});
      const auto count = [&](const std::string& key) {
        return std::lower_bound(versions.begin(), versions.end(),
                                Version{key, rocksdb::kMaxSequenceNumber}) -
               versions.begin();
      };
      const uint64_t truth = count(versions[to].key) - count(versions[from].key);
      const uint64_t estimate = rep->ApproximateNumEntries(start, end);
      if (truth >= 200) {
        CHECK_MSG(estimate * 2 >= truth && estimate <= 2 * truth,
                  std::string(shape.name) + ": " + std::to_string(estimate) + " for " +
                      std::to_string(truth));
      } else {
        CHECK_MSG(estimate <= 1000, std::string(shape.name) + ": " + std::to_string(estimate) +
                                        " for " + std::to_string(truth));
      }
    }
    CHECK(rep->ApproximateNumEntries(InternalKey({"~", 1}), InternalKey({"", 1})) <= 1000);
  }
}

}  // namespace mountdb::test
