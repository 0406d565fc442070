# Everything sets itself up: a machine with Python 3.11 or newer (with venv), make and this clone is enough.

PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
READY  := $(VENV)/.ready
DEVELOPED := $(VENV)/.developed

LOCK   := uv pip compile pyproject.toml --universal --python-version 3.11 --generate-hashes --no-header --no-emit-index-url

.DEFAULT_GOAL := help
.PHONY: help demo test trials check gen bless bench lock clean

help: ## say what there is
	@awk -F ':.*## ' '/^[a-z]+:.*## / {printf "  make %-8s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

# The program alone, and with what it takes to work on it.
$(READY): requirements.lock pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or newer is needed")'
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	touch $@

$(DEVELOPED): $(READY) requirements-dev.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements-dev.lock
	touch $@

demo: $(READY) ## record, replay, verify and diff games of all three kinds on a real server
	$(BIN)/heptalog demo

test: $(DEVELOPED) ## run the whole suite
	$(BIN)/python -m pytest -n 2 $(PYTEST_ARGS)

trials: $(DEVELOPED) ## crashes, full disks, backups, tampering and fuzzing: an hour; each has a short form in the tests
	$(BIN)/python -m tests.trials.crash --rounds 200
	$(BIN)/python -m tests.trials.disk_full
	$(BIN)/python -m tests.trials.backup
	$(BIN)/python -m tests.trials.tamper
	$(BIN)/python -m tests.trials.fuzz --minutes 10

check: $(DEVELOPED) ## generated code, lint, format and types
	$(BIN)/python proto/gen.py --check
	cd proto && ../$(BIN)/buf lint
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/pyright --warnings

gen: $(DEVELOPED) ## generate the protobuf code and its stubs
	$(BIN)/python proto/gen.py

bless: $(DEVELOPED) ## rewrite golden texts and generated documents; read the difference before the commit
	$(BIN)/python -m pytest --bless tests/golden tests/test_docs.py

bench: $(READY) ## measure the core, commits, tables, and appends beside heavy questions
	$(BIN)/python -m bench $(BENCH_ARGS)
	$(BIN)/python -m bench.commits
	$(BIN)/python -m bench.tables
	$(BIN)/python -m bench.queries

lock: ## pin every dependency with its hashes (needs uv)
	$(LOCK) --group dev -o requirements-dev.lock
	$(LOCK) --group build -c requirements-dev.lock -o requirements.lock

clean: ## remove the virtual environment and caches
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis
