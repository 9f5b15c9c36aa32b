// Transactions of many threads, and optimistic ones that look for conflicts in sealed memtables.

#include <algorithm>
#include <atomic>
#include <map>

#include "db.h"
#include "rocksdb/utilities/optimistic_transaction_db.h"
#include "rocksdb/utilities/transaction.h"
#include "rocksdb/utilities/transaction_db.h"
#include "voices.h"

namespace mountdb::test {

using rocksdb::OptimisticTransactionDB;
using rocksdb::Transaction;
using rocksdb::TransactionDB;
using rocksdb::TxnDBWritePolicy;

namespace {

constexpr int kAccounts = 20;
constexpr int kStart = 1000;

std::string Account(uint64_t number) { return "account" + std::to_string(number % kAccounts); }

// The sum of all accounts as one snapshot sees them.
int Total(rocksdb::DB& db, const rocksdb::ReadOptions& read) {
  int total = 0;
  for (const auto& [key, value] : ScanAll(db, db.DefaultColumnFamily(), true, read)) {
    total += key.rfind("account", 0) == 0 ? std::stoi(value) : 0;
  }
  return total;
}

// Moves an amount from one account to another in steps, so that keys are written more than once;
// false if it had to give up.
bool Move(TransactionDB& db, Rng& rng, const std::string& name) {
  std::unique_ptr<Transaction> transaction(db.BeginTransaction({}));
  CHECK_OK(transaction->SetName(name));
  const uint64_t from = rng() % kAccounts;
  const uint64_t to = from + 1 + rng() % (kAccounts - 1);
  const int amount = static_cast<int>(rng() % 10);
  for (const auto& [account, change] : {std::pair(from, -amount), std::pair(to, amount)}) {
    for (int half = 0; half < 2; ++half) {
      std::string value;
      const rocksdb::Status status = transaction->GetForUpdate({}, Account(account), &value);
      if (status.IsBusy() || status.IsTimedOut()) {
        CHECK_OK(transaction->Rollback());
        return false;
      }
      CHECK_OK(status);
      const int step = half == 0 ? change / 2 : change - change / 2;
      CHECK_OK(transaction->Put(Account(account), std::to_string(std::stoi(value) + step)));
    }
  }
  CHECK_OK(transaction->Put("log" + name, std::to_string(amount)));
  CHECK_OK(transaction->Prepare());
  if (rng() % 8 == 0) {
    CHECK_OK(transaction->Rollback());
    return false;
  }
  CHECK_OK(transaction->Commit());
  return true;
}

void ManyThreads(TxnDBWritePolicy policy, const Voices::Change& change) {
  for (const std::string& memtable : kMemtables) {
    TempDir dir;
    rocksdb::Options options = VoiceOptions(memtable);
    options.write_buffer_size = 64 << 10;
    change(&options);
    rocksdb::TransactionDBOptions transactions;
    transactions.write_policy = policy;
    transactions.transaction_lock_timeout = 20;
    const auto open = [&] {
      TransactionDB* db = nullptr;
      CHECK_OK(TransactionDB::Open(options, transactions, dir / "db", &db));
      return std::unique_ptr<TransactionDB>(db);
    };
    auto db = open();
    for (int i = 0; i < kAccounts; ++i) {
      CHECK_OK(db->Put({}, Account(i), std::to_string(kStart)));
    }
    std::atomic<size_t> moved{0};
    std::atomic<size_t> writers{6};
    InThreads(8, [&](size_t thread) {
      if (thread >= 6) {
        while (writers > 0) {
          rocksdb::ManagedSnapshot snapshot(db.get());
          rocksdb::ReadOptions read;
          read.snapshot = snapshot.snapshot();
          const int total = Total(*db, read);
          if (total != kAccounts * kStart) {
            writers = 0;
          }
          CHECK_EQ(total, kAccounts * kStart);
        }
        return;
      }
      struct Leave {
        std::atomic<size_t>& left;
        ~Leave() {
          if (left > 0) {
            --left;
          }
        }
      } leave{writers};
      Rng rng(Seed() + thread);
      for (int i = 0; i < 400; ++i) {
        moved += Move(*db, rng, "-" + std::to_string(thread) + "-" + std::to_string(i));
        if (i % 100 == 50 && thread == 0) {
          CHECK_OK(db->Flush({}));
        }
      }
    });
    CHECK_MSG(moved > 500, memtable + ": only " + std::to_string(moved));
    const Entries before = ScanAll(*db);
    CHECK_EQ(before.size(), kAccounts + moved);
    CHECK_EQ(Total(*db, {}), kAccounts * kStart);
    db.reset();
    db = open();
    CHECK_MSG(ScanAll(*db) == before, memtable + ": recovery differs");
  }
}

}  // namespace

CASE(transactions_of_many_threads_committed) {
  ManyThreads(TxnDBWritePolicy::WRITE_COMMITTED, [](rocksdb::Options*) {});
}
CASE(transactions_of_many_threads_prepared) {
  ManyThreads(TxnDBWritePolicy::WRITE_PREPARED, [](rocksdb::Options*) {});
}
CASE(transactions_of_many_threads_unprepared) {
  ManyThreads(TxnDBWritePolicy::WRITE_UNPREPARED, [](rocksdb::Options*) {});
}
CASE(transactions_of_many_threads_pipelined) {
  ManyThreads(TxnDBWritePolicy::WRITE_COMMITTED,
              [](rocksdb::Options* options) { options->enable_pipelined_write = true; });
}
CASE(transactions_of_many_threads_unordered) {
  ManyThreads(TxnDBWritePolicy::WRITE_PREPARED, [](rocksdb::Options* options) {
    options->unordered_write = true;
    options->two_write_queues = true;
  });
}

// Begins, commits and plain writes in one order on all memtables, with switches in between: which
// commits are refused, and how, must not depend on the memtable. The versions that tell are in
// sealed memtables, kept by max_write_buffer_size_to_maintain.
CASE(optimistic_conflicts_in_sealed_memtables) {
  constexpr int64_t kKept = 64 << 20;
  // A byte keeps nothing that is flushed. 0 would let OptimisticTransactionDB choose.
  for (const int64_t kept : {int64_t{1}, kKept}) {
    std::vector<std::string> stock;
    for (const std::string& memtable : kMemtables) {
      TempDir dir;
      rocksdb::Options options = VoiceOptions(memtable);
      options.max_write_buffer_size_to_maintain = kept;
      OptimisticTransactionDB* opened = nullptr;
      CHECK_OK(OptimisticTransactionDB::Open(options, dir / "db", &opened));
      const std::unique_ptr<OptimisticTransactionDB> db(opened);
      Rng rng(Seed());
      std::vector<std::unique_ptr<Transaction>> open;
      std::vector<std::string> said;
      std::map<std::string, size_t> counts;
      const auto key = [&] { return "key" + std::to_string(rng() % 200); };
      for (int i = 0; i < 6000; ++i) {
        switch (rng() % 8) {
          case 0: {
            rocksdb::OptimisticTransactionOptions with_snapshot;
            with_snapshot.set_snapshot = true;
            open.emplace_back(db->BeginTransaction({}, with_snapshot));
            break;
          }
          case 1:
          case 2:
            if (!open.empty()) {
              Transaction& transaction = *open[rng() % open.size()];
              const std::string tracked = key();
              std::string value;
              const rocksdb::Status status = transaction.GetForUpdate({}, tracked, &value);
              said.push_back(tracked + ": " + status.ToString() + " " + value);
              CHECK_OK(transaction.Put(tracked, std::to_string(i)));
            }
            break;
          case 3:
            if (open.size() > 6) {
              const size_t at = rng() % open.size();
              const rocksdb::Status status = open[at]->Commit();
              said.push_back("commit: " + status.ToString());
              ++counts[status.ok() ? "ok" : status.IsBusy() ? "busy" : status.IsTryAgain() ? "again" : "else"];
              open.erase(open.begin() + static_cast<long>(at));
            }
            break;
          case 4:
            if (rng() % 20 == 0) {
              CHECK_OK(db->Flush({}));
            }
            break;
          default:
            CHECK_OK(rng() % 5 == 0 ? db->Delete({}, key()) : db->Put({}, key(), std::to_string(i)));
        }
      }
      open.clear();
      for (const auto& [entry, value] : ScanAll(*db)) {
        said.push_back(entry + "=" + value);
      }
      if (stock.empty()) {
        stock = said;
      }
      const auto first = std::mismatch(said.begin(), said.end(), stock.begin(), stock.end());
      CHECK_MSG(said == stock, memtable + ", kept " + std::to_string(kept) + ": " +
                                   (first.first != said.end() ? *first.first : "(end)") +
                                   ", stock: " +
                                   (first.second != stock.end() ? *first.second : "(end)"));
      // The sample holds what it is for.
      CHECK_MSG(counts["ok"] > 20 && counts["busy"] > 20 && counts["else"] == 0 &&
                    (counts["again"] == 0) == (kept == kKept),
                std::to_string(counts["ok"]) + " ok, " + std::to_string(counts["busy"]) +
                    " busy, " + std::to_string(counts["again"]) + " again");
    }
  }
}

}  // namespace mountdb::test
