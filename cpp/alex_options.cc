#include "cpp/alex_options.h"

#include <cstddef>

#include "cpp/option_types.h"

namespace mountdb {

using rocksdb::OptionTypeInfo;
using rocksdb::Status;

namespace {

constexpr uint32_t kMaxSkeletonPeriod = 1000000;
constexpr uint32_t kMinSlots = 16;
constexpr uint32_t kMaxSlots = 32768;

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
       Number("data_node_slots", offsetof(Options, data_node_slots), kMinSlots, kMaxSlots)},
      {"verify_one_in",
       Number("verify_one_in", offsetof(Options, verify_one_in), 0, kMaxVerifyOneIn)}};
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
