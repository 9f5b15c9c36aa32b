#include "rep.h"

#include <cstring>

#include "util/coding.h"

namespace mountdb::test {

using rocksdb::Slice;

std::string Number(uint64_t value) {
  std::string bytes(8, '\0');
  for (int i = 7; i >= 0; --i, value >>= 8) {
    bytes[i] = static_cast<char>(value & 0xff);
  }
  return bytes;
}

std::string InternalKey(const Version& version) {
  std::string bytes;
  rocksdb::AppendInternalKey(
      &bytes, rocksdb::ParsedInternalKey(version.key, version.seq, rocksdb::kValueTypeForSeek));
  return bytes;
}

Version VersionOf(const char* entry) {
  const Slice internal = rocksdb::GetLengthPrefixedSlice(entry);
  return {rocksdb::ExtractUserKey(internal).ToString(), rocksdb::GetInternalKeySeqno(internal)};
}

std::string ValueOf(const char* entry) {
  const Slice internal = rocksdb::GetLengthPrefixedSlice(entry);
  return rocksdb::GetLengthPrefixedSlice(internal.data() + internal.size()).ToString();
}

bool Rep::Insert(const Version& version, const std::string& value, InsertCall call, void** hint,
                 rocksdb::ValueType type) {
  std::string bytes;
  std::string internal;
  rocksdb::AppendInternalKey(&internal,
                             rocksdb::ParsedInternalKey(version.key, version.seq, type));
  rocksdb::PutLengthPrefixedSlice(&bytes, internal);
  rocksdb::PutLengthPrefixedSlice(&bytes, value);
  char* memory = nullptr;
  const rocksdb::KeyHandle handle = rep_->Allocate(bytes.size(), &memory);
  std::memcpy(memory, bytes.data(), bytes.size());
  switch (call) {
    case InsertCall::kPlain:
      return rep_->InsertKey(handle);
    case InsertCall::kHint:
      return rep_->InsertKeyWithHint(handle, hint);
    case InsertCall::kConcurrent:
      return rep_->InsertKeyConcurrently(handle);
    case InsertCall::kHintConcurrent:
      return rep_->InsertKeyWithHintConcurrently(handle, hint);
  }
  return false;
}

std::vector<std::pair<Version, std::string>> Rep::Scan() const {
  std::vector<std::pair<Version, std::string>> entries;
  auto iterator = NewIterator();
  for (iterator->SeekToFirst(); iterator->Valid(); iterator->Next()) {
    entries.emplace_back(VersionOf(iterator->key()), ValueOf(iterator->key()));
  }
  return entries;
}

std::string Rep::Get(const std::string& key, uint64_t seq) const {
  struct Answer {
    const std::string& key;
    std::string value;
  } answer{key, ""};
  rep_->Get(rocksdb::LookupKey(key, seq), &answer, [](void* arg, const char* entry) {
    auto& found = *static_cast<Answer*>(arg);
    if (VersionOf(entry).key == found.key) {
      found.value = ValueOf(entry);
    }
    return false;
  });
  return answer.value;
}

}  // namespace mountdb::test
