# mountdb as a plugin of RocksDB's make (its PLUGINS.md), with this repository at plugin/mountdb. CMakeLists.txt and build.rs read the
# sources from here; rust/ holds what cargo makes (tools/plugin.sh).
mountdb_SOURCES = cpp/alex_memtable.cc cpp/alex_options.cc cpp/build_check.cc cpp/c.cc cpp/index_wrappers.cc cpp/pgm_index.cc cpp/registry.cc cpp/reports.cc cpp/verify.cc cpp/verifying_reader.cc cpp/window_index.cc cpp/window_iterator.cc cpp/window_stats.cc rust/bridge.cc
mountdb_HEADERS = cpp/c.h cpp/registry.h
mountdb_FUNC = mountdb_register_plugin
mountdb_CXXFLAGS = -Iplugin/mountdb -Iplugin/mountdb/rust/include
mountdb_LDFLAGS = $(CURDIR)/plugin/mountdb/rust/libmountdb.a -lpthread -ldl

# Where the Rust sources are not there, rust/ has been made elsewhere (tests/rocksdb/run).
ifneq ($(wildcard plugin/mountdb/Cargo.toml),)
# RocksDB's first rule is to stay the default.
mountdb_GOAL := $(.DEFAULT_GOAL)

# The library links with the bridge, so a new time of the bridge makes what depends on the library anew.
plugin/mountdb/rust/bridge.cc: $(shell find -L plugin/mountdb/src -name '*.rs') plugin/mountdb/Cargo.toml plugin/mountdb/Cargo.lock
	plugin/mountdb/tools/plugin.sh
	@touch $@

# The generated headers have to be there before anything is compiled or asked for its headers.
$(addprefix plugin/mountdb/,$(filter cpp/%,$(mountdb_SOURCES))): | plugin/mountdb/rust/bridge.cc

.DEFAULT_GOAL := $(mountdb_GOAL)
endif
