// What every case needs: checks, the seed, a temporary folder, threads.
#pragma once

#include <cstdint>
#include <functional>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "rocksdb/slice.h"
#include "rocksdb/status.h"

namespace mountdb::test {

using Rng = std::mt19937_64;

// The failure of a check; leaves the case through RunCase.
class Failure final : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

[[noreturn]] void Fail(const char* file, int line, const std::string& what);

inline std::string Show(const std::string& text) { return "\"" + text + "\""; }
inline std::string Show(const char* text) { return Show(std::string(text)); }
inline std::string Show(const rocksdb::Slice& bytes) { return "0x" + bytes.ToString(true); }
inline std::string Show(const rocksdb::Status& status) { return status.ToString(); }
inline std::string Show(bool value) { return value ? "true" : "false"; }
template <typename T>
std::string Show(const T& value) {
  return std::to_string(value);
}

// MOUNTDB_SEED, or a number that changes from run to run; printed with a failure.
uint64_t Seed();

int RunCase(const char* name, void (*body)(), char* message, size_t capacity);

// Runs body(0) to body(count - 1) on one thread each and rethrows the first failure.
void InThreads(size_t count, const std::function<void(size_t)>& body);

// Ends the process if the case makes no progress for five seconds: a thread that
// spins inside of an index cannot be stopped in any other way.
class Watchdog {
 public:
  explicit Watchdog(const char* what);
  ~Watchdog();
  void Progress();

 private:
  struct State;
  State* state_;
};

// A folder that is gone with the object.
class TempDir {
 public:
  TempDir();
  ~TempDir();
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

}  // namespace mountdb::test

#define CHECK(condition)                                             \
  do {                                                               \
    if (!(condition)) {                                              \
      ::mountdb::test::Fail(__FILE__, __LINE__, #condition);         \
    }                                                                \
  } while (false)

// A check with an explanation, a std::string.
#define CHECK_MSG(condition, explanation)                                          \
  do {                                                                             \
    if (!(condition)) {                                                            \
      ::mountdb::test::Fail(__FILE__, __LINE__,                                    \
                            std::string(#condition) + ": " + (explanation));       \
    }                                                                              \
  } while (false)

#define CHECK_EQ(got, wanted)                                                      \
  do {                                                                             \
    const auto& got_ = (got);                                                      \
    const auto& wanted_ = (wanted);                                                \
    if (!(got_ == wanted_)) {                                                      \
      ::mountdb::test::Fail(__FILE__, __LINE__,                                    \
                            std::string(#got " is ") + ::mountdb::test::Show(got_) + \
                                ", expected " + ::mountdb::test::Show(wanted_));   \
    }                                                                              \
  } while (false)

#define CHECK_OK(expression)                                                       \
  do {                                                                             \
    const ::rocksdb::Status status_ = (expression);                                \
    if (!status_.ok()) {                                                           \
      ::mountdb::test::Fail(__FILE__, __LINE__,                                    \
                            std::string(#expression ": ") + status_.ToString());   \
    }                                                                              \
  } while (false)

// Defines a case under its C name, as tests/cases.rs lists it.
#define CASE(name)                                                    \
  static void Body_##name();                                          \
  extern "C" int name(char* message, size_t capacity) {               \
    return ::mountdb::test::RunCase(#name, Body_##name, message, capacity); \
  }                                                                   \
  static void Body_##name()
