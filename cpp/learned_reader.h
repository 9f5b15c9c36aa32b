// What the readers of both forms of the learned index have in common.
#pragma once

#include "rocksdb/user_defined_index.h"

namespace mountdb {

class LearnedReader : public rocksdb::UserDefinedIndexReader {
 public:
  // Whether it is a WindowIndexReader, else a PgmReader: there is no type
  // information to ask.
  virtual bool IsWindow() const = 0;
};

}  // namespace mountdb
