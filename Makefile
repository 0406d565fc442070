# Everything sets itself up: a machine with Python 3.11 or newer (with venv), make and this clone is enough.

PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
READY  := $(VENV)/.ready
DEVELOPED := $(VENV)/.developed
PEERS  := .venv-bench

LOCK   := uv pip compile --universal --python-version 3.11 --generate-hashes --no-header --no-emit-index-url

# What the compiled form could get wrong. Everything else runs above it, and is tested with the form as it is written.
COMPILED_TESTS := tests/test_form.py tests/rules tests/golden tests/laws tests/chain tests/files tests/evidence

# Where bytecode is not kept, each of the hundreds of processes of the tests compiles all of our source anew.
unexport PYTHONDONTWRITEBYTECODE

# Tests make thousands of commits, and each waits for a disk: where memory has the room, their folders lie in memory.
# What is left of a test that has passed would stay there.
MEMORY := $(shell df -Pk /dev/shm 2>/dev/null | awk 'NR == 2 && $$1 == "tmpfs" && $$4 > 4000000 {print $$6}')
PYTEST := $(if $(MEMORY),TMPDIR=$(MEMORY)) $(BIN)/python -m pytest -o tmp_path_retention_policy=failed

.DEFAULT_GOAL := help
.PHONY: help demo test compiled trials check check-code check-mypy check-pyright gen bless bench lock clean

help: ## say what there is
	@awk -F ':.*## ' '/^[a-z]+:.*## / {printf "  make %-8s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

# The program alone, and with what it takes to work on it.
$(READY): requirements.lock pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or newer is needed")'
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	touch $@

# The others that we are measured beside. What cannot be installed is left out of the measurements, which say so.
$(PEERS)/.ready: bench/peers/requirements.lock bench/peers/package.json bench/peers/package-lock.json
	test -x $(PEERS)/bin/python || $(PYTHON) -m venv $(PEERS)
	cp bench/peers/package.json bench/peers/package-lock.json $(PEERS)
	cd $(PEERS) && npm ci --silent --ignore-scripts --no-audit --no-fund || echo "message-db is not installed"
	$(PEERS)/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes \
		-r bench/peers/requirements.lock && touch $@ || echo "other peers are not installed"

$(DEVELOPED): $(READY) requirements-dev.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements-dev.lock
	touch $@

demo: $(READY) ## record, replay, verify and diff games of all three kinds on a real server
	$(BIN)/heptalog demo

test: $(DEVELOPED) ## run the whole suite
	$(PYTEST) -n 2 --dist worksteal $(PYTEST_ARGS)

compiled: $(DEVELOPED) ## a wheel with its core compiled, in build/compiled, and the tests of the core against it
	rm -rf build/compiled
	HATCH_BUILD_HOOKS_ENABLE=1 $(BIN)/python -m pip wheel --quiet --disable-pip-version-check \
		--no-deps --no-build-isolation -w build/compiled .
	$(BIN)/python -m pip install --quiet --disable-pip-version-check \
		--no-deps --target build/compiled/site build/compiled/*.whl
	PYTHONPATH=build/compiled/site $(PYTEST) -n 2 --compiled $(COMPILED_TESTS) $(PYTEST_ARGS)

trials: $(DEVELOPED) ## crashes, full disks, backups, tampering and fuzzing: an hour; each has a short form in the tests
	$(BIN)/python -m tests.trials.crash --rounds 200
	$(BIN)/python -m tests.trials.disk_full
	$(BIN)/python -m tests.trials.backup
	$(BIN)/python -m tests.trials.tamper
	$(BIN)/python -m tests.trials.flipped
	$(BIN)/python -m tests.trials.fuzz --minutes 10

check: check-code check-mypy check-pyright ## generated code, lint, format and types; with -j2 on two cores

check-code: $(DEVELOPED)
	$(BIN)/python proto/gen.py --check
	cd proto && ../$(BIN)/buf lint
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

check-mypy: $(DEVELOPED)
	$(BIN)/mypy

check-pyright: $(DEVELOPED)
	$(BIN)/pyright --warnings

gen: $(DEVELOPED) ## generate the protobuf code and its stubs
	$(BIN)/python proto/gen.py

bless: $(DEVELOPED) ## rewrite golden texts and generated documents; read the difference before the commit
	$(BIN)/python -m pytest --bless tests/golden tests/test_docs.py

bench: $(READY) $(PEERS)/.ready ## measure all, and ourselves beside others: ten minutes, with BENCH_ARGS=--quick two
	$(BIN)/python -m bench.everything $(BENCH_ARGS)

lock: ## pin every dependency with its hashes (needs uv)
	$(LOCK) pyproject.toml --group dev -o requirements-dev.lock
	$(LOCK) pyproject.toml --group build -c requirements-dev.lock -o requirements.lock
	$(LOCK) bench/peers/requirements.in -o bench/peers/requirements.lock

clean: ## remove the virtual environment and caches
	rm -rf $(VENV) $(PEERS) .mypy_cache .ruff_cache .pytest_cache .hypothesis
