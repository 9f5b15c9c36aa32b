# mountdb as a RocksDB plugin (RocksDB's PLUGINS.md). Needs the Rust part and the generated bridge in rust/ beside this file:
# tools/plugin.sh makes them.
mountdb_SOURCES = cpp/alex_memtable.cc cpp/alex_options.cc cpp/build_check.cc cpp/c.cc cpp/pgm_index.cc cpp/registry.cc cpp/reports.cc rust/bridge.cc
mountdb_HEADERS = cpp/c.h cpp/registry.h
mountdb_FUNC = mountdb_register_plugin
mountdb_CXXFLAGS = -Iplugin/mountdb -Iplugin/mountdb/rust/include
mountdb_LDFLAGS = $(CURDIR)/plugin/mountdb/rust/libmountdb.a -lpthread -ldl
