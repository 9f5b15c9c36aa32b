// How options of the factories are parsed and checked.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "rocksdb/status.h"
#include "rocksdb/utilities/options_type.h"

namespace mountdb {

// The longest distance between two verified look-ups.
constexpr uint32_t kMaxVerifyOneIn = 1000000;

// A number between two limits, or one of a few words: RocksDB's own parsers name
// neither what they got nor what they take.
inline rocksdb::Status CheckNumber(const char* option, uint64_t value, uint64_t low, uint64_t high,
                   const std::string& given) {
  if (value < low || value > high) {
    return rocksdb::Status::InvalidArgument(
        option, "must be " + std::to_string(low) + " to " + std::to_string(high) + ", is " + given);
  }
  return rocksdb::Status::OK();
}

inline rocksdb::OptionTypeInfo Number(const char* option, int offset, uint32_t low, uint32_t high) {
  return rocksdb::OptionTypeInfo(offset, rocksdb::OptionType::kUInt32T)
      .SetParseFunc([=](const rocksdb::ConfigOptions&, const std::string&,
                        const std::string& text, void* address) {
        const bool number = !text.empty() && text.size() <= 9 &&
                            text.find_first_not_of("0123456789") == std::string::npos;
        const uint64_t value = number ? std::stoull(text) : UINT64_MAX;
        rocksdb::Status status = CheckNumber(option, value, low, high, text);
        if (status.ok()) {
          *static_cast<uint32_t*>(address) = static_cast<uint32_t>(value);
        }
        return status;
      });
}

template <typename Enum>
rocksdb::OptionTypeInfo Choice(const char* option, int offset,
                               const std::vector<std::string>& words) {
  return rocksdb::OptionTypeInfo(offset, rocksdb::OptionType::kUnknown)
      .SetParseFunc([=](const rocksdb::ConfigOptions&, const std::string&,
                        const std::string& text, void* address) {
        const auto found = std::find(words.begin(), words.end(), text);
        if (found == words.end()) {
          std::string known;
          for (const std::string& word : words) {
            known += (known.empty() ? "" : ", ") + word;
          }
          return rocksdb::Status::InvalidArgument(option, "must be one of " + known + ", is " + text);
        }
        *static_cast<Enum*>(address) = static_cast<Enum>(found - words.begin());
        return rocksdb::Status::OK();
      })
      .SetSerializeFunc([=](const rocksdb::ConfigOptions&, const std::string&,
                            const void* address, std::string* text) {
        *text = words[static_cast<size_t>(*static_cast<const Enum*>(address))];
        return rocksdb::Status::OK();
      })
      .SetEqualsFunc([](const rocksdb::ConfigOptions&, const std::string&, const void* a,
                        const void* b, std::string*) {
        return *static_cast<const Enum*>(a) == *static_cast<const Enum*>(b);
      });
}

}  // namespace mountdb
