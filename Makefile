# Everything runs from a fresh clone with Python 3.11+ and make; the environment is kept in .venv.
PYTHON ?= python3
BIN := .venv/bin
# Two workers for each core: many tests wait for a process or a disk.
JOBS ?= $(shell $(PYTHON) -c "import os; print(2 * (os.cpu_count() or 1))")
PYTEST = $(BIN)/python -m pytest -n $(JOBS) --dist worksteal
# A file stays with one worker, so that a kernel which its tests call is compiled once.
COMPILED = BELATED_COMPILED=1 $(PYTEST) --dist loadfile
# Compiles on all cores, so that no test waits for a learner that another one is compiling.
WARMUP = BELATED_CACHE_DIR=.cache $(BIN)/belated warmup
# The folders whose tests run kernels in their own process; `make check` runs them compiled.
KERNELS := $(addprefix tests/,analysis asktell benchmarks comparison compiled environments \
  examples laws learners numerics play replay solvers stress studies sweep theory worlds \
  cli/test_stress.py service/store/test_killed_writers.py \
  service/run/test_recovery.py)
# The tests in a browser need playwright, which is large: only where there is a browser.
BROWSER := $(if $(wildcard /usr/bin/chromium),$(shell echo ,browser))
# Only what is imported gets compiled to bytecode; then it is kept, for tests start many processes.
INSTALL = $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile --editable
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help demo test check rest compiled lint setup docs figures bench serve soak wheel clean

help:  ## list the commands
	@grep -E '^[a-z]+:.*##' Makefile | sed -E 's/^([a-z]+):.*## /\1\t/' | expand -t 10

demo: .venv/demo  ## compare the learners on three scenarios and write report.html
	$(BIN)/belated compare late-best limit-orders network-width --report report.html

test: setup  ## all tests interpreted, and the core of the kernels compiled; ten minutes
	$(PYTEST) -m "not check and not long"
	$(WARMUP) exp3 concealed partially-concealed full-information practical-bandit practical-experts linear
	$(COMPILED) -m core

check: test rest  ## make test, and everything that takes longer; under 20 minutes

rest: .venv/bench  ## what make check adds: lint, types, demo, all compiled, mutants, long forms
	touch .venv/dev .venv/docs  # .venv/bench has it all
	$(MAKE) -j2 lint compiled  # mypy leaves a core idle
	BELATED_CACHE_DIR=.cache $(MAKE) demo  # with the code that was just compiled
	$(COMPILED) -m "not core and (compiled or not check)" $(KERNELS)
	$(PYTEST) -m check

compiled:
	$(WARMUP) --all

lint: .venv/dev  ## ruff and mypy
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

docs: .venv/docs  ## build the docs as a site: open build/site/index.html
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict --quiet

figures: .venv/docs  ## draw the pictures of the README and the docs, and execute the notebooks
	$(BIN)/python -m examples.figures
	$(BIN)/python -m studies scenarios --kept docs/study.csv --figures docs/images
	for each in docs/notebooks/*.ipynb; do $(BIN)/python -m website.execution $$each || exit 1; done

bench: .venv/bench  ## measure the speed beside all peers, and draw the figure of docs/benchmarks.md anew
	$(BIN)/python -m benchmarks --figure docs/images/benchmarks.svg --json > docs/benchmarks.new
	mv docs/benchmarks.new docs/benchmarks.json

serve: .venv/service  ## the decision service, on this machine only
	$(BIN)/belated serve --no-auth

soak: setup  ## kill the service 200 times, its workers and PostgreSQL 50 times, then all faults; hours
	BELATED_COMPILED=1 BELATED_CLIENTS=24 BELATED_KILLS=200 BELATED_POSTGRES_KILLS=50 \
	  $(BIN)/python -m pytest -s -n 0 tests/service/store/test_killed_writers.py \
	  tests/service/run/test_killed_services.py
	for seed in 1 2 3; do BELATED_NEMESIS=600 BELATED_SEED=$$seed \
	  $(BIN)/python -m pytest -s -n 0 -k "not longer" tests/service/run/nemesis || exit 1; done
	BELATED_COMPILED=1 BELATED_ROWS=100000 BELATED_LEARNER=practical-bandit \
	  $(BIN)/python -m pytest -s -n 0 tests/service/run/test_recovery.py

wheel: .venv/dev  ## a wheel for Linux whose learners are native, in dist; takes minutes
	$(BIN)/python -m wheels build/_native.abi3.so
	BELATED_NATIVE_OBJECT=build/_native.abi3.so \
	  $(BIN)/python -m pip wheel --quiet --disable-pip-version-check --no-deps --wheel-dir dist .

setup: .venv/test  ## install what the tests need into .venv

# What is installed for which command: pyproject.toml says what each name stands for.
.venv/demo: EXTRAS = jit,report
.venv/service: EXTRAS = jit,service
.venv/test: EXTRAS = test$(BROWSER)
.venv/dev: EXTRAS = dev
.venv/docs: EXTRAS = docs
.venv/bench: EXTRAS = dev,bench,docs
.venv/demo .venv/service .venv/test .venv/dev .venv/docs .venv/bench: .venv/made
	$(INSTALL) ".[$(EXTRAS)]"
	touch $@

.venv/made: pyproject.toml
	$(PYTHON) -c "import sys; assert sys.version_info >= (3, 11), 'belated needs Python 3.11 or newer'"
	$(PYTHON) -m venv .venv
	touch .venv/made

clean:  ## remove the environment and all caches
	rm -rf .venv .cache .pytest_cache .mypy_cache .ruff_cache .hypothesis
