#include "check.h"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <mutex>
#include <thread>

namespace mountdb::test {

void Fail(const char* file, int line, const std::string& what) {
  throw Failure(std::string(file) + ":" + std::to_string(line) + ": " + what);
}

uint64_t Seed() {
  static const uint64_t seed = [] {
    const char* given = std::getenv("MOUNTDB_SEED");
    return given != nullptr ? std::strtoull(given, nullptr, 0)
                            : static_cast<uint64_t>(std::random_device()());
  }();
  return seed;
}

int RunCase(const char* name, void (*body)(), char* message, size_t capacity) {
  std::string what;
  try {
    body();
    return 0;
  } catch (const std::exception& error) {
    what = error.what();
  }
  std::snprintf(message, capacity, "%s (MOUNTDB_SEED=%llu): %s", name,
                static_cast<unsigned long long>(Seed()), what.c_str());
  return 1;
}

void InThreads(size_t count, const std::function<void(size_t)>& body) {
  std::mutex mutex;
  std::exception_ptr first;
  std::vector<std::thread> threads;
  for (size_t i = 0; i < count; ++i) {
    threads.emplace_back([&, i] {
      try {
        body(i);
      } catch (...) {
        std::lock_guard lock(mutex);
        if (first == nullptr) {
          first = std::current_exception();
        }
      }
    });
  }
  for (auto& thread : threads) {
    thread.join();
  }
  if (first != nullptr) {
    std::rethrow_exception(first);
  }
}

struct Watchdog::State {
  explicit State(const char* name) : what(name) {}

  const char* const what;
  std::atomic<uint64_t> steps{0};
  std::mutex mutex;
  std::condition_variable wake;
  bool done = false;
  std::thread thread;
};

Watchdog::Watchdog(const char* what) : state_(new State(what)) {
  State* state = state_;
  state->thread = std::thread([state] {
    uint64_t seen = 0;
    std::unique_lock lock(state->mutex);
    while (!state->wake.wait_for(lock, std::chrono::seconds(5), [state] { return state->done; })) {
      const uint64_t now = state->steps.load();
      if (now == seen) {
        std::fprintf(stderr, "%s: stuck after %llu steps (MOUNTDB_SEED=%llu)\n", state->what,
                     static_cast<unsigned long long>(now),
                     static_cast<unsigned long long>(Seed()));
        std::abort();
      }
      seen = now;
    }
  });
}

Watchdog::~Watchdog() {
  {
    std::lock_guard lock(state_->mutex);
    state_->done = true;
  }
  state_->wake.notify_all();
  state_->thread.join();
  delete state_;
}

void Watchdog::Progress() { state_->steps.fetch_add(1, std::memory_order_relaxed); }

TempDir::TempDir() {
  std::string path = (std::filesystem::temp_directory_path() / "mountdb-cpp-XXXXXX").string();
  CHECK(mkdtemp(path.data()) != nullptr);
  path_ = path;
}

TempDir::~TempDir() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace mountdb::test
