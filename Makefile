# Everything runs from a fresh clone; only cargo and python3 are required.
.PHONY: test test-distributed lint deny advisories audit coverage mutants miri environments test-python test-browser screenshot wheel bench bench-large bench-distributed profile clusters labels results reference fuzz doc fmt clean

VENV := .venv
PYTHON := $(VENV)/bin/python
WHEEL_VENV := .venv-wheel
# A build from scratch gains nothing from incremental files.
export CARGO_INCREMENTAL := 0
PIP := -m pip install --quiet --disable-pip-version-check

## The tests: formatting, lints, documentation, every test. Python reads what the program wrote.
## Python packages are downloaded while the compiler works.
test:
	$(MAKE) --jobs=2 lint environments
	TAUGRAPH_PYTHON=$(abspath $(PYTHON)) cargo test --workspace
	cargo test --package taugraph-io --no-default-features --lib
	$(MAKE) test-browser test-python PROGRAM_IS_BUILT=yes
	@test -n "$$TAUGRAPH_DATA" || echo "SKIPPED: TAUGRAPH_DATA is not set, so nothing was tested on the paper's real sets."

## The second clippy checks the readers without Parquet, the third the library as its users see it, without the feature `unstable`.
lint:
	cargo fmt --all --check
	python3 -m doctest scripts/check_dependencies.py
	python3 scripts/check_dependencies.py
	cargo clippy --workspace --all-targets -- -D warnings
	cargo clippy --package taugraph-io --no-default-features -- -D warnings
	cargo clippy --package taugraph --lib -- -D warnings
	RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps

## The dependencies by the rules of deny.toml, with cargo-deny, which is installed into .tools if it is missing.
deny:
	scripts/deny.sh

## Known vulnerabilities of the dependencies; needs cargo-deny and a network.
advisories:
	cargo deny check advisories

environments: $(VENV)
	python3 -m venv --clear $(WHEEL_VENV)
	$(WHEEL_VENV)/bin/python $(PIP) -r python/tests/requirements.txt
	scripts/chromium.sh > /dev/null

## The Python package: its wheel in a clean environment, with scikit-learn's checks, real scanpy and comparison with the program.
test-python: wheel
	test -x $(WHEEL_VENV)/bin/python || $(MAKE) environments
	$(WHEEL_VENV)/bin/python $(PIP) target/wheels/taugraph-*.whl
	$(WHEEL_VENV)/bin/python $(PIP) --force-reinstall --no-deps target/wheels/taugraph-*.whl
	$(if $(PROGRAM_IS_BUILT),,cargo build --workspace --bins && cargo build --package taugraph --example fit)
	TAUGRAPH_PROGRAM=$(abspath target/debug/taugraph) $(WHEEL_VENV)/bin/python -m pytest --quiet

## All tests of taugraph.distributed, with a Ray cluster of two nodes on this machine; after test-python.
test-distributed:
	TAUGRAPH_CLUSTER=1 $(WHEEL_VENV)/bin/python -m pytest --quiet python/tests/distributed

## The report in a real Chromium, which is installed if possible.
test-browser: $(VENV)
	$(if $(PROGRAM_IS_BUILT),,cargo build --workspace --bins)
	chromium=$$(scripts/chromium.sh) && if [ -n "$$chromium" ]; then \
		TAUGRAPH_CHROMIUM=$$chromium TAUGRAPH_PROGRAM=$(abspath target/debug/taugraph) \
		$(PYTHON) -m pytest --quiet --rootdir=browser -s browser; fi

## The picture of the README.
screenshot: $(VENV)
	cargo build --release
	TAUGRAPH_CHROMIUM=$$(scripts/chromium.sh) $(PYTHON) scripts/screenshot.py target/release/taugraph docs/report.png

wheel: $(VENV)
	rm -rf target/wheels
	$(VENV)/bin/maturin build --quiet --out target/wheels

## Time and memory compared with the peers; writes docs/PERFORMANCE.md. SECTIONS="labels paper" runs only some.
bench: $(VENV)
	$(PYTHON) $(PIP) -r scripts/bench-requirements.txt
	$(PYTHON) $(PIP) .
	cargo build --release --package taugraph --package taugraph-io --examples
	cargo build --release
	$(PYTHON) scripts/bench.py $(SECTIONS)

## Up to a million points, easy and hard, neighbors and clusters compared with the peers, few points, points on disk, resumed runs; its sections of
## docs/PERFORMANCE.md. Images: TAUGRAPH_DATA. SECTIONS="growth hard neighbors columns mnist embeddings links small disk resume partitions" runs only some,
## BASELINE=PROGRAM runs an older program beside this one on the hard sets, SETS="mixture-64" measures only some of them,
## MOST=100000 leaves larger sets out of "hard" and "columns", QUICK=1 tries the script on tiny sizes in bench-data/quick.
bench-large: $(VENV)
	$(PYTHON) $(PIP) -r scripts/bench-large-requirements.txt
	$(PYTHON) $(PIP) .
	cargo build --release --package taugraph --package taugraph-cli --bins --example bench
	QUICK=$(QUICK) BASELINE=$(BASELINE) MOST=$(MOST) SETS="$(SETS)" $(PYTHON) scripts/bench_large.py $(SECTIONS)

## Clusters on partitions in processes of this machine, beside one process: its section of docs/PERFORMANCE.md. MOST=4000000 takes larger tables, too.
bench-distributed:
	$(MAKE) bench-large SECTIONS=partitions

## Where the time of a stage goes, as samples (perf) or instructions (valgrind): bench-data/profile-STAGE.txt. STAGE is neighbors, quantiles, links, eigen, merging …,
## cluster or labels; SET is a hard set (scripts/hard_sets.py), N its size, TOOL perf or callgrind.
profile: $(VENV)
	$(PYTHON) scripts/profile_stage.py "$(STAGE)" "$(or $(SET),mixture-16)" "$(N)" "$(TOOL)"

## The number of clusters on structureless, generated and real sets beside HDBSCAN; writes docs/CLUSTERS.md. PEERS=1 adds UMAP + HDBSCAN, EVoC and PLSCAN.
clusters: $(VENV)
	$(if $(PEERS),$(PYTHON) $(PIP) -r scripts/clusters-requirements.txt)
	$(PYTHON) $(PIP) .
	$(PYTHON) scripts/clusters.py $(if $(PEERS),--peers)

## Labels at every share of unlabeled rows beside scikit-learn and graphlearning, one label for each class of MNIST, calibration, rows to
## label next; writes docs/LABELS.md. The datasets: TAUGRAPH_DATA.
labels: $(VENV)
	$(PYTHON) $(PIP) -r scripts/bench-requirements.txt
	$(PYTHON) $(PIP) .
	cargo build --release --package taugraph --example bench
	$(PYTHON) scripts/labels.py

## The paper's tables and our own, with controls; writes docs/RESULTS.md. The datasets: TAUGRAPH_DATA, or `taugraph-lab datasets fetch --all`.
results:
	cargo build --release --package taugraph-lab
	target/release/taugraph-lab paper all --output paper-results --fresh > /dev/null
	cat docs/reading.md paper-results/RESULTS.md > docs/RESULTS.md.new
	target/release/taugraph-lab labels >> docs/RESULTS.md.new
	target/release/taugraph-lab networks > docs/networks.md
	mv docs/RESULTS.md.new docs/RESULTS.md

## Regenerates the reference values of the tests.
reference: $(VENV)
	$(PYTHON) scripts/reference_values.py

## Kills, damaged stages, failing disks and allocations, interrupts and a thousand fits in Python, in full; the tests have a part of it.
## Then cargo-deny, Miri and the coverage of lines, if their tools are installed. PARTS="soak miri" runs only some, FITS=100 fewer fits.
audit: $(VENV)
	FITS=$(FITS) scripts/audit.sh $(PARTS)

## Lines of readers, models and checkpoints that the tests run; needs cargo-llvm-cov.
coverage:
	scripts/coverage.sh

## Small changes of the same code, which the tests should notice; needs cargo-mutants. SHARD=1/20 tries every twentieth.
SHARD := 1/20
mutants:
	scripts/mutants.sh $(SHARD)

## What Miri can run of it; needs a nightly toolchain with Miri.
miri:
	scripts/miri.sh

## Random input for every reader and for what is made of it: a minute for each target; MINUTES=10 takes longer, SANITIZER=address
## looks for errors of memory, too.
MINUTES := 1
fuzz:
	SANITIZER=$(SANITIZER) scripts/fuzz.sh $(MINUTES)

doc:
	cargo doc --workspace --no-deps --open

fmt:
	cargo fmt --all

$(VENV): scripts/requirements.txt
	python3 -m venv $(VENV)
	$(PYTHON) $(PIP) -r scripts/requirements.txt
	touch $(VENV)

clean:
	cargo clean
	rm -rf $(VENV) $(WHEEL_VENV) .tools bench-data paper-results fuzz/target fuzz/found fuzz/artifacts
