# Everything runs from a fresh clone with Python 3.11+ and make; the environment is kept in .venv.
PYTHON ?= python3
BIN := .venv/bin
JOBS ?= auto

.PHONY: demo test check lint setup figures bench serve soak clean

demo: .venv/demo  ## compare the learners on three scenarios and write report.html
	$(BIN)/belated compare late-best limit-orders network-width --report report.html

test: setup  ## run all tests
	$(BIN)/python -m pytest -n $(JOBS) --dist worksteal

check: lint test  ## lint, types and tests

lint: setup  ## ruff and mypy
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

figures: setup  ## draw the pictures of the README and the docs anew
	$(BIN)/python -m examples.figures

bench: .venv/bench  ## measure the speed beside all peers, and draw the figure of docs/benchmarks.md anew
	$(BIN)/python -m benchmarks --figure docs/images/benchmarks.svg --json > docs/benchmarks.new
	mv docs/benchmarks.new docs/benchmarks.json

serve: .venv/service  ## the decision service, on this machine only
	$(BIN)/belated serve --no-auth

soak: setup  ## kill the service 200 times, its workers and PostgreSQL 50 times; over an hour
	BELATED_COMPILED=1 BELATED_CLIENTS=24 BELATED_KILLS=200 BELATED_POSTGRES_KILLS=50 \
	  $(BIN)/python -m pytest -s -n 0 tests/service/test_kills.py \
	  tests/service/test_killed_services.py
	BELATED_COMPILED=1 BELATED_ROWS=100000 BELATED_LEARNER=practical-bandit \
	  $(BIN)/python -m pytest -s -n 0 tests/service/test_recovery.py

setup: .venv/ready

.venv/ready: .venv/made
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable ".[dev]"
	touch .venv/ready

.venv/bench: .venv/ready
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable ".[dev,bench]"
	touch .venv/bench

.venv/demo: .venv/made
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable ".[report]"
	touch .venv/demo

.venv/service: .venv/made
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable ".[service]"
	touch .venv/service

.venv/made: pyproject.toml
	$(PYTHON) -c "import sys; assert sys.version_info >= (3, 11), 'belated needs Python 3.11 or newer'"
	$(PYTHON) -m venv .venv
	touch .venv/made

clean:  ## remove the environment and all caches
	rm -rf .venv .pytest_cache .mypy_cache .ruff_cache .hypothesis
