#include "cpp/alex_options.h"

#include <algorithm>
#include <cstddef>
#include <vector>

namespace mountdb {

using rocksdb::ConfigOptions;
using rocksdb::OptionType;
using rocksdb::OptionTypeInfo;
using rocksdb::Status;

namespace {

constexpr uint32_t kMaxSkeletonPeriod = 1000000;
constexpr uint32_t kMinSlots = 16;
constexpr uint32_t kMaxSlots = 32768;

// A number between two limits, or one of a few words: RocksDB's own parsers name
// neither what they got nor what they take.
Status CheckNumber(const char* option, uint64_t value, uint64_t low, uint64_t high,
                   const std::string& given) {
  if (value < low || value > high) {
    return Status::InvalidArgument(
        option, "must be " + std::to_string(low) + " to " + std::to_string(high) + ", is " + given);
  }
  return Status::OK();
}

OptionTypeInfo Number(const char* option, int offset, uint32_t low, uint32_t high) {
  return OptionTypeInfo(offset, OptionType::kUInt32T)
      .SetParseFunc([=](const ConfigOptions&, const std::string&,
                        const std::string& text, void* address) {
        const bool number = !text.empty() && text.size() <= 9 &&
                            text.find_first_not_of("0123456789") == std::string::npos;
        const uint64_t value = number ? std::stoull(text) : UINT64_MAX;
        Status status = CheckNumber(option, value, low, high, text);
        if (status.ok()) {
          *static_cast<uint32_t*>(address) = static_cast<uint32_t>(value);
        }
        return status;
      });
}

template <typename Enum>
OptionTypeInfo Choice(const char* option, int offset,
                               const std::vector<std::string>& words) {
  return OptionTypeInfo(offset, OptionType::kUnknown)
      .SetParseFunc([=](const ConfigOptions&, const std::string&,
                        const std::string& text, void* address) {
        const auto found = std::find(words.begin(), words.end(), text);
        if (found == words.end()) {
          std::string known;
          for (const std::string& word : words) {
            known += (known.empty() ? "" : ", ") + word;
          }
          return Status::InvalidArgument(option, "must be one of " + known + ", is " + text);
        }
        *static_cast<Enum*>(address) = static_cast<Enum>(found - words.begin());
        return Status::OK();
      })
      .SetSerializeFunc([=](const ConfigOptions&, const std::string&,
                            const void* address, std::string* text) {
        *text = words[static_cast<size_t>(*static_cast<const Enum*>(address))];
        return Status::OK();
      })
      .SetEqualsFunc([](const ConfigOptions&, const std::string&, const void* a,
                        const void* b, std::string*) {
        return *static_cast<const Enum*>(a) == *static_cast<const Enum*>(b);
      });
}

}  // namespace

const std::unordered_map<std::string, OptionTypeInfo>& AlexOptionTypes() {
  using Options = AlexMemTableOptions;
  static const auto* types = new std::unordered_map<std::string, OptionTypeInfo>{
      {"skeleton", Choice<AlexSkeleton>("skeleton", offsetof(Options, skeleton),
                                        {"off", "single", "periodic"})},
      {"skeleton_period", Number("skeleton_period", offsetof(Options, skeleton_period), 0,
                                 kMaxSkeletonPeriod)},
      {"skeleton_content",
       Choice<AlexSkeletonContent>("skeleton_content", offsetof(Options, skeleton_content),
                                   {"models", "keys"})},
      {"rebuild",
       Choice<AlexRebuild>("rebuild", offsetof(Options, rebuild), {"inline", "background"})},
      {"data_node_slots",
       Number("data_node_slots", offsetof(Options, data_node_slots), kMinSlots, kMaxSlots)}};
  return *types;
}

Status CheckAlexOptions(const AlexMemTableOptions& options) {
  Status status = CheckNumber("skeleton_period", options.skeleton_period, 0, kMaxSkeletonPeriod,
                              std::to_string(options.skeleton_period));
  if (status.ok()) {
    status = CheckNumber("data_node_slots", options.data_node_slots, kMinSlots, kMaxSlots,
                         std::to_string(options.data_node_slots));
  }
  return status;
}

}  // namespace mountdb
