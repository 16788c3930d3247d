# Everything runs in .venv. The stamps make re-runs quick: the environment is installed anew only when what it was
# installed from has changed.

PYTHON ?= python3
ENVIRONMENT := .venv
BIN := $(ENVIRONMENT)/bin
INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-warn-conflicts -c constraints.txt
DESCRIPTION := pyproject.toml setup.py constraints.txt
KERNELS := $(wildcard rules/native/*.[ch] training/native/*.[ch])
BUILT := $(ENVIRONMENT)/.built
DEPENDENCIES := $(ENVIRONMENT)/.dependencies
PACKAGE := $(ENVIRONMENT)/.package
DEVELOPMENT := $(ENVIRONMENT)/.development

# Two processes; the tests of a file stay together, so that what they share is computed once.
TOGETHER := -n 2 --dist loadfile

# The kinds of processor that OpenBLAS can be told to take this one for, and numbers of threads.
CORES := Nehalem Sandybridge Haswell Zen SkylakeX
THREADS := 1 2
.PHONY: verify test solvers lint types format build bench bench-search bench-train clean

verify: $(PACKAGE)
	$(BIN)/kappaguard verify

test: $(PACKAGE) $(DEVELOPMENT)
	$(BIN)/python -m pytest $(TOGETHER)

# Rounding differs from processor to processor: what asks a solver must come out alike on all of them. Some 35 minutes on
# two idle cores; `make solvers CORES=Zen THREADS=1` is a tenth of it.
solvers: $(PACKAGE) $(DEVELOPMENT)
	for core in $(CORES); do for threads in $(THREADS); do \
	    echo "$$core, $$threads threads" && OPENBLAS_CORETYPE=$$core OPENBLAS_NUM_THREADS=$$threads \
	    $(BIN)/python -m pytest $(TOGETHER) -q -m solver --no-header -p no:cacheprovider tests || exit 1; \
	done; done

lint: $(DEVELOPMENT)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

format: $(DEVELOPMENT)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

types: $(PACKAGE) $(DEVELOPMENT)
	$(BIN)/mypy

build: $(DEVELOPMENT)
	$(BIN)/python -m build --no-isolation --outdir dist .

bench: $(PACKAGE) $(DEVELOPMENT)
	$(BIN)/python benchmarks/rules.py
	$(BIN)/python benchmarks/large.py

bench-search: $(PACKAGE) $(DEVELOPMENT)
	$(BIN)/python benchmarks/search.py
	$(BIN)/python benchmarks/unseen.py

bench-train: $(PACKAGE) $(DEVELOPMENT)
	$(BIN)/python benchmarks/training.py

clean:
	rm -rf $(ENVIRONMENT) build dist *.egg-info kappa-report .pytest_cache .mypy_cache .ruff_cache \
	    .hypothesis .coverage htmlcov
	rm -f rules/native/*.so training/native/*.so
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(BUILT):
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "kappaguard needs Python 3.11 or newer")'
	$(PYTHON) -m venv $(ENVIRONMENT)
	touch $@

$(DEPENDENCIES): $(BUILT) constraints.txt
	$(INSTALL) setuptools
	touch $@

# The build back end comes from the environment, so that it is the pinned one and nothing is fetched twice.
$(PACKAGE): $(DEPENDENCIES) $(DESCRIPTION) $(KERNELS)
	$(INSTALL) --no-build-isolation -e .
	touch $@

$(DEVELOPMENT): $(DEPENDENCIES) $(DESCRIPTION) requirements-peers.txt requirements-peers-imports.txt | $(PACKAGE)
	$(INSTALL) --no-build-isolation -e '.[dev,train]'
	$(INSTALL) -r requirements-peers-imports.txt
	$(INSTALL) --no-deps -r requirements-peers.txt
	touch $@
