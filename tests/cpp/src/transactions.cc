// Transactions, whose memtable contracts are stricter than those of a plain database.

#include "db.h"
#include "rocksdb/utilities/transaction.h"
#include "rocksdb/utilities/transaction_db.h"

namespace mountdb::test {

using rocksdb::TransactionDB;
using rocksdb::TxnDBWritePolicy;

namespace {

class Transactions {
 public:
  explicit Transactions(TxnDBWritePolicy policy) : options_(DbOptions(Index::kPrimary)) {
    options_.avoid_flush_during_recovery = true;  // Reads after recovery come from the memtable.
    policy_.write_policy = policy;
    Reopen();
  }

  void Reopen() {
    db_.reset();
    TransactionDB* db = nullptr;
    CHECK_OK(TransactionDB::Open(options_, policy_, dir_ / "db", &db));
    db_.reset(db);
  }

  TransactionDB& operator*() { return *db_; }
  TransactionDB* operator->() { return db_.get(); }

  std::unique_ptr<rocksdb::Transaction> Begin(const std::string& name) {
    std::unique_ptr<rocksdb::Transaction> transaction(db_->BeginTransaction({}));
    CHECK_OK(transaction->SetName(name));
    return transaction;
  }

 private:
  TempDir dir_;
  rocksdb::Options options_;
  rocksdb::TransactionDBOptions policy_;
  std::unique_ptr<TransactionDB> db_;
};

void CheckTransactions(TxnDBWritePolicy policy) {
  Transactions db(policy);

  rocksdb::WriteBatch batch;
  CHECK_OK(batch.Put("twice", "first"));
  CHECK_OK(batch.Put("other", "value"));
  CHECK_OK(batch.Put("twice", "second"));
  CHECK_OK(batch.Put("gone", "value"));
  CHECK_OK(batch.Delete("gone"));
  CHECK_OK(batch.Delete("back"));
  CHECK_OK(batch.Put("back", "value"));
  CHECK_OK(db->Write({}, &batch));

  auto transaction = db.Begin("twice");
  for (const char* value : {"a", "b", "c"}) {
    CHECK_OK(transaction->Put("prepared", value));
  }
  CHECK_OK(transaction->Prepare());
  CHECK_OK(transaction->Commit());

  auto undone = db.Begin("undone");
  CHECK_OK(undone->Put("twice", "never"));
  CHECK_OK(undone->Put("undone", "never"));
  CHECK_OK(undone->Prepare());
  CHECK_OK(undone->Rollback());

  auto pending = db.Begin("pending");
  CHECK_OK(pending->Put("pending", "a"));
  CHECK_OK(pending->Put("pending", "b"));
  CHECK_OK(pending->Prepare());

  const auto check = [&] {
    CHECK_EQ(Get(*db, "twice"), std::string("second"));
    CHECK_EQ(Get(*db, "other"), std::string("value"));
    CHECK_EQ(Get(*db, "gone"), std::string("(none)"));
    CHECK_EQ(Get(*db, "back"), std::string("value"));
    CHECK_EQ(Get(*db, "prepared"), std::string("c"));
    CHECK_EQ(Get(*db, "undone"), std::string("(none)"));
    CHECK_EQ(Get(*db, "pending"), std::string("(none)"));
    const Entries wanted = {
        {"back", "value"}, {"other", "value"}, {"prepared", "c"}, {"twice", "second"}};
    CHECK(ScanAll(*db) == wanted);
  };
  check();
  for (auto* finished : {&transaction, &undone, &pending}) {
    finished->reset();
  }

  db.Reopen();
  check();
  std::vector<rocksdb::Transaction*> recovered;
  db->GetAllPreparedTransactions(&recovered);
  CHECK_EQ(recovered.size(), size_t{1});
  std::unique_ptr<rocksdb::Transaction> owned(recovered[0]);
  CHECK_EQ(owned->GetName(), std::string("pending"));
  CHECK_OK(owned->Commit());
  owned.reset();
  CHECK_EQ(Get(*db, "pending"), std::string("b"));

  CHECK_OK(db->Flush({}));
  CHECK_EQ(Get(*db, "twice"), std::string("second"));
  CHECK_EQ(Get(*db, "pending"), std::string("b"));
  db.Reopen();
  CHECK_EQ(Get(*db, "twice"), std::string("second"));
  CHECK_EQ(Get(*db, "pending"), std::string("b"));
  CHECK_EQ(ScanAll(*db, false).size(), size_t{5});
}

}  // namespace

CASE(mc_01_write_committed) { CheckTransactions(TxnDBWritePolicy::WRITE_COMMITTED); }
CASE(mc_01_write_prepared) { CheckTransactions(TxnDBWritePolicy::WRITE_PREPARED); }
CASE(mc_01_write_unprepared) { CheckTransactions(TxnDBWritePolicy::WRITE_UNPREPARED); }

}  // namespace mountdb::test
