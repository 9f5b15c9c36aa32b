# Each target works as the first command after the clone. Everything else is plain cargo.

.PHONY: ab build check claims db_bench eval install record setup test

# ccache serves RocksDB's objects to every profile and clone. Read when a recipe runs: setup may just have installed it.
ENV = if command -v ccache >/dev/null; then \
	export CC="$${CC:-ccache gcc}" CXX="$${CXX:-ccache g++}" CCACHE_DIR="$${CCACHE_DIR:-$$HOME/.cache/ccache}"; fi;

MOUNTDB = $${CARGO_TARGET_DIR:-target}/release/mountdb

# The paired comparison on real and on uniform keys: the table here, the charts in target/ab/report.html.
ab: build
	@mkdir -p target/ab
	$(MOUNTDB) ab --preset quick --html target/ab/report.html $(ARGS)

# The paper's evaluation: half an hour, the report in target/eval/report.html. Started again, it goes on where it was.
eval: build
	$(MOUNTDB) eval --out target/eval $(ARGS)

# README's tables of measurements, from the newest records.
claims: build
	$(MOUNTDB) claims $(ARGS)

test: setup
	@$(ENV) tools/progress.sh cargo test --workspace --features mountdb/tools $(ARGS)

check: setup
	cargo fmt --all --check
	@$(ENV) tools/progress.sh cargo clippy --workspace --all-targets --features mountdb/tools -- -D warnings

# The comparisons that README quotes, stored in bench/record: let nothing else run meanwhile.
record: build
	@$(ENV) tools/progress.sh cargo build --release --package mountdb-micro
	tools/record.sh $(MOUNTDB) $(ARGS)

# RocksDB's db_bench with the learned indexes: make db_bench ARGS='--memtablerep=alex --user_defined_index=pgm'
db_bench: build
	$(MOUNTDB) db_bench $(ARGS)

# The C++ library beside a RocksDB that is there already: make install PREFIX=/usr/local ROCKSDB=its/source/tree (README).
PREFIX ?= /usr/local
install:
	@$(ENV) tools/install.sh $(PREFIX)

build: setup
	@$(ENV) tools/progress.sh cargo build --release --features tools

# Installs what the build needs (apt), or says what is missing; instant when all is there.
setup:
	@tools/setup.sh
