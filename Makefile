# Every target sets up what it needs; a machine with python3 (3.11 or later, with venv) and make is enough.
PYTHON ?= python3
VENV   := .venv
PARITY := .venv-parity
PACKAGES := .venv-packages
PIP    := -m pip --disable-pip-version-check install -qq
PYTEST_ARGS ?=
BENCH_ARGS ?=

PROGRAMS ?= 100000
FIRST ?= 1000
MUTANTS ?= 70
SEED ?= 0

.PHONY: help kernels sanitize demo test fuzz faults versions parity packages programs mutants sweep docs site stubs bench bench-docs clean

help:
	@echo "make kernels   build the native kernels, or say why they cannot be built"
	@echo "make demo      train a digit classifier and draw its loss curve"
	@echo "make test      lint, type check and all tests that need no PyTorch"
	@echo "make fuzz      load 10,000 damaged files: none may crash, run or hang"
	@echo "make faults    interrupt programs at every place, and use everything at first in many threads"
	@echo "make versions  make test on every CPython from 3.11 to 3.15 that is installed"
	@echo "make parity    every comparison with PyTorch, in an environment of its own"
	@echo "make packages  programs of 34 packages made for PyTorch, on this library and on PyTorch"
	@echo "make programs  100,000 random programs beside PyTorch (PROGRAMS=..., from seed FIRST=...)"
	@echo "make mutants   put 70 random faults into a copy of the source: which do the tests not notice? (MUTANTS=..., SEED=...)"
	@echo "make sweep     all of PyTorch's own sample calls beside PyTorch"
	@echo "make docs      measure every op, write docs/ops.md and docs/names.md, build the site"
	@echo "make site      build the site of docs/ into site/, strictly and without a network"
	@echo "make stubs     write the .pyi files from the declared functions"
	@echo "make bench     time retrograd beside PyTorch (BENCH_ARGS='--only train --threads 1,2')"
	@echo "make bench-docs  the same with 1 and 2 threads, written to docs/bench.md and a history"
	@echo "make sanitize  the tests of the native kernels under address, behaviour and thread sanitizers"
	@echo "make clean     remove the environments and what the targets wrote"

demo: $(VENV)/kernels
	@$(VENV)/bin/retrograd demo

test: $(VENV)/kernels
	$(VENV)/bin/ruff check .
	$(VENV)/bin/mypy
	$(VENV)/bin/python -m pytest tests --ignore=tests/parity --ignore=tests/packages -q -n 2 $(PYTEST_ARGS)

fuzz: $(VENV)/installed
	RETROGRAD_FUZZED_FILES=10000 $(VENV)/bin/python -m pytest tests/test_serialization.py -k mutated -q $(PYTEST_ARGS)

faults: $(VENV)/installed
	RETROGRAD_FAULTS=full $(VENV)/bin/python -m pytest tests/test_interrupts.py tests/test_threads.py -q -n 2 --dist worksteal $(PYTEST_ARGS)

# Each version has an environment of its own.
versions:
	@set -e; for version in 3.11 3.12 3.13 3.14 3.15; do \
	    if python$$version -c "" 2>/dev/null; then \
	        $(MAKE) test PYTHON=python$$version VENV=.venv-$$version; \
	    else echo "python$$version is not here"; fi; done

# The import comes first so that a missing PyTorch is a failure, whatever the tests would make of it.
parity: $(PARITY)/kernels
	@$(PARITY)/bin/python -c "import torch; v = torch.__version__; assert v.split('+')[0] == '2.13.0', v"
	$(PARITY)/bin/python -m pytest tests/parity -q -n 2 $(PYTEST_ARGS)

# Packages made for PyTorch, in an environment of their own, each on both libraries.
packages: $(PACKAGES)/kernels
	$(PACKAGES)/bin/python $(PIP) -r tests/packages/requirements.txt
	$(PACKAGES)/bin/python -m pytest tests/packages -q -n 2 $(PYTEST_ARGS)

# In hours rather than minutes; after a break FIRST= says where to go on.
programs: $(PARITY)/installed
	cd tests && $(CURDIR)/$(PARITY)/bin/python -m parity.fuzz $(PROGRAMS) $(FIRST)

# With PyTorch, so that the comparisons with it can notice a fault too, and mostly without the native kernels,
# under which faults in the bodies that they stand over would not show.
mutants: $(PARITY)/kernels
	cd tests && RETROGRAD_KERNELS=0 PYTHONPATH=.. $(CURDIR)/$(PARITY)/bin/python -m mutants $(MUTANTS) $(SEED)

# The table is printed whether or not a call differs without a reason, which fails afterwards.
# Without the native kernels equal elements of narrow dtypes are sorted in another order.
sweep: $(PARITY)/kernels
	rm -f .sweep-report
	RETROGRAD_SWEEP=full RETROGRAD_SWEEP_REPORT=.sweep-report $(PARITY)/bin/python -m pytest tests/parity/test_op_db.py -q -n 2 $(PYTEST_ARGS); \
	    status=$$?; PYTHONPATH=.:tests $(PARITY)/bin/python -m tests.sweeps.table .sweep-report; exit $$status
	PARITY_EXAMPLES=3000 $(PARITY)/bin/python -m pytest tests/parity/test_random_graphs.py -q -n 2 $(PYTEST_ARGS)

# A failure shows in the table and again in `make test`; the page is written all the same.
docs: $(VENV)/installed
	-$(VENV)/bin/python -m pytest -p tests.sweeps.findings tests/test_every_op.py -q -n 2 $(PYTEST_ARGS)
	$(VENV)/bin/python docs/make_ops.py
	$(VENV)/bin/python docs/make_names.py
	NO_MKDOCS_2_WARNING=1 $(VENV)/bin/python -m mkdocs build -q

# The pages alone, without measuring the ops anew.
site: $(VENV)/installed
	NO_MKDOCS_2_WARNING=1 $(VENV)/bin/python -m mkdocs build -q

stubs: $(VENV)/installed
	$(VENV)/bin/python docs/make_stubs.py

bench: $(PARITY)/kernels
	$(PARITY)/bin/python -m bench $(BENCH_ARGS)

bench-docs: $(PARITY)/kernels
	$(PARITY)/bin/python -m bench --memory --record --only "^train"
	$(PARITY)/bin/python -m bench --pure --record
	$(PARITY)/bin/python -m bench --threads 1,2 --record $(BENCH_ARGS)

$(VENV)/installed: pyproject.toml
	@$(PYTHON) -c "import sys; sys.exit(sys.version_info < (3, 11) and 'retrograd needs Python 3.11 or later; set PYTHON=')"
	@echo "setting up $(VENV)"
	@$(PYTHON) -m venv $(VENV)
	@$(VENV)/bin/python $(PIP) -e ".[test]"
	@touch $@

$(PARITY)/installed $(PACKAGES)/installed: pyproject.toml
	@$(PYTHON) -c "import sys; sys.exit(sys.version_info < (3, 11) and 'retrograd needs Python 3.11 or later; set PYTHON=')"
	@echo "setting up $(@D) with PyTorch"
	@$(PYTHON) -m venv $(@D)
	@$(@D)/bin/python $(PIP) torch==2.13.0 expecttest
	@$(@D)/bin/python $(PIP) -e ".[test,parity]"
	@touch $@

# The native kernels: where they cannot be built, this is said, and everything works without them.
KERNELS := kernels/setup.py kernels/pyproject.toml $(wildcard kernels/src/* kernels/retrograd_kernels/*.py)

# The build for this processor does for `make test`; the environment with PyTorch has them all.
$(VENV)/kernels: BUILDS := RETROGRAD_KERNELS_BUILDS=here

%/kernels: %/installed $(KERNELS)
	@if ! command -v $${CXX:-c++} > /dev/null; then echo "no C++ compiler: pure NumPy"; \
	elif $(BUILDS) $*/bin/python $(PIP) --force-reinstall --no-deps ./kernels > $@.log 2>&1; \
	    then echo "native kernels: built"; \
	else echo "native kernels: not built, see $@.log; pure NumPy"; fi
	@touch $@

kernels: $(VENV)/installed
	$(VENV)/bin/python $(PIP) --force-reinstall --no-deps ./kernels
	@$(VENV)/bin/python -c "import retrograd; retrograd.show_config()"

# One build (SANITIZED=portable where there are no levels), in a folder of its own for each sanitizer.
# Vectors check their indices, and small arrays are shared among threads too, so that fewer cases than
# in `make test` meet all that a kernel does. Threads that the interpreter ends while they are in a
# kernel are too much for the sanitizers themselves.
SANITIZED ?= v3
DRAWN ?= 8
sanitize: $(VENV)/installed
	@set -e; for kind in address,undefined thread; do \
	    echo "sanitizer: $$kind"; \
	    RETROGRAD_KERNELS_BUILDS=$(SANITIZED) \
	        RETROGRAD_KERNELS_FLAGS="-g -O2 -DWORTH_A_THREAD=256 -D_GLIBCXX_ASSERTIONS -fsanitize=$$kind -fno-sanitize-recover=all" \
	        $(VENV)/bin/python $(PIP) --upgrade --no-deps --target .sanitized/$$kind ./kernels; \
	    case $$kind in thread) library=libtsan.so;; *) library=libasan.so;; esac; \
	    LD_PRELOAD="$$($${CXX:-c++} -print-file-name=$$library) $$($${CXX:-c++} -print-file-name=libstdc++.so.6)" \
	        ASAN_OPTIONS=detect_leaks=0 \
	        TSAN_OPTIONS="die_after_fork=0 suppressions=kernels/thread.supp" \
	        PYTHONPATH=.sanitized/$$kind RETROGRAD_KERNELS=$(SANITIZED) RETROGRAD_NATIVE_EXAMPLES=$(DRAWN) \
	        $(VENV)/bin/python -m pytest tests/test_native.py -k "not process_ends" -q $(PYTEST_ARGS); done

clean:
	rm -rf $(VENV) .venv-3.* .sanitized $(PARITY) $(PACKAGES) build dist kernels/build kernels/*.egg-info src/*.egg-info site .pytest_cache .mypy_cache .ruff_cache .hypothesis
	rm -f retrograd-demo.svg retrograd-demo.html .sweep-report
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
