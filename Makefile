# Every target makes the environment it needs. A second call installs nothing and needs no network.
#
#   make demo           generate, type-check and run the example
#   make demo-decoder   the same for a small GPT-2, compared with plain PyTorch and served
#   make lint           ruff
#   make types          mypy and pyright over the whole repository
#   make test           all tests but those of the next line: about three minutes
#   make test-long      compiled code, several processes, large models, random projects, the examples, stubtest, the wheel
#   make architectures  models of transformers and other libraries, deferred, sharded and inspected; Lightning and accelerate
#   make editors        the servers of four type checkers; the extension for Visual Studio Code, driven in a real editor, where there is npm
#   make test-oldest    the generator's tests with another interpreter: make test-oldest PYTHON=/usr/bin/python3.11
#   make test-python-3.14  the tests of the generator and of the runtime with another Python
#   make test-newest-torch  the runtime's tests with the newest torch that the registry has
#   make test-oldest-torch  the same with torch 2.6, without what it cannot compile
#   make test-model     many more random sequences of operations than the tests try, others each time
#   make fuzz           random declarations, generated, run and type-checked, for SECONDS=600 seconds
#   make typing-scoreboard  docs/evidence/typing-scoreboard.json: what four type checkers see
#   make bench          the benchmarks
#   make bench-chart    the comparison of TensorClasses, and the chart of it in docs/
#   make docs           the documentation as a site, in build/site, with its playground where npm is
#   make test-playground      the same, and tests of it in a browser
#   make generate       write the generated files of this repository anew
#   make peers          tensordict's tests with classes of this project: make peers CHECKOUT=path/to/tensordict
#   make clean          remove caches and build results; the environment stays
#
# Another interpreter or environment: make test PYTHON=python3.12 VENV=/path/to/environment

PYTHON ?= python3
VENV ?= .venv
# Pinned and installed first: an open range would fetch the newest build with gigabytes of CUDA packages.
TORCH ?= torch==2.13.0
JOBS ?= 2
# How long `make fuzz` goes on.
SECONDS ?= 600

BIN := $(abspath $(VENV))/bin
INSTALLED := $(VENV)/.qten-gen-installed
VSCODE := editors/vscode

# What `make architectures` installs of the libraries in tests/architectures/libraries.py: its tests skip the others. These construct
# their models in 20 seconds; LIBRARIES='timm torchvision segmentation_models_pytorch open_clip_torch' takes three minutes more, and needs a
# torchvision that was built for this torch.
LIBRARIES ?= diffusers e3nn monai torch_geometric x_transformers
# torchtitan, and the part of its dependencies that making, sharding and loading a model needs.
TORCHTITAN ?= torchtitan==0.3.0 spmd_types==0.2.3 tyro typeguard docstring-parser

# All tests but the long ones, or the folders named. What the generator says of a source depends on its interpreter most.
TESTS ?=
GENERATOR_TESTS := $(addprefix tests/,cli project generate read link reflection rules emit report model declaring)

# What depends on torch most, and needs no checker.
RUNTIME_TESTS := $(addprefix tests/,declaring tensorclass/fields tensorclass/methods) $(wildcard tests/module/test_*.py)
# A new torch changes what is traced, and the fake tensors, before all else.
NEWEST_TESTS := $(addprefix tests/,tensorclass module large_models)
TOOLS := 'pytest>=8.3,<9.2' pytest-xdist hypothesis numpy safetensors cloudpickle ipython jaxtyping jsonargparse tensordict

# torch 2.6 cannot trace or export these, compiles the dtype of a parameter in, warns of less, and leaves a message of its own at the exit of a process.
NOT_IN_2_6 := $(addprefix tests/, \
	tensorclass/fields/test_annotated_shapes.py::test_compiled_code_checks_without_a_graph_break \
	tensorclass/fields/test_per_item.py::test_values_are_read_in_code_that_is_compiled_or_exported \
	tensorclass/fields/test_per_item.py::test_compiled_code_cannot_read_what_it_has_rearranged \
	declaring/test_ways_to_start.py::test_classes_of_a_script_reach_other_processes_through_cloudpickle \
	module/test_dispatch.py::test_compiled_code_finds_the_handlers_for_parameters \
	module/test_virtual_anything.py::test_in_compiled_code \
	module/test_virtual_anything.py::test_in_functional_transforms)

# Without it pyright asks the network whether it is the newest.
export PYRIGHT_PYTHON_IGNORE_WARNINGS := 1
export PIP_DISABLE_PIP_VERSION_CHECK := 1

# What takes long, by file and folder: `make test` leaves it out and `make test-long` runs it, so that each test is in one of the two.
LONG := $(addprefix tests/,devices fuzz large_models \
	cli/test_faults.py cli/test_incremental.py cli/test_run_laws.py project/test_partitions.py \
	life_cycles/test_four_processes.py module/torch_tools tensorclass/processes tensorclass/torch_tools \
	tensorclass/operations/test_compiled.py tensorclass/operations/test_model.py tensorclass/ragged/test_compiled.py \
	tensorclass/storage/test_concurrent_saves.py tensorclass/storage/test_faults.py \
	tools/stubs/test_types.py pages/test_long_pages.py \
	$(addprefix typing/,test_generated_python.py test_layouts.py test_pages.py test_programs_in_pyright.py test_stubtest.py test_torch_layers.py) \
	test_decoder.py test_detector.py test_packaging.py)

# The modules are compiled once, also where PYTHONDONTWRITEBYTECODE is set: hundreds of processes import them.
# One thread for each of the workers: they share the cores. `tests/scheduling.py` says what `loadgroup` gives to whom.
PYTEST = $(BIN)/python -m compileall -q qten_gen && OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n $(JOBS) --dist loadgroup

.PHONY: demo demo-decoder docs test test-long test-playground architectures editors vscode typing-scoreboard test-oldest test-newest-torch test-oldest-torch test-model spellings fuzz lint types bench bench-chart generate peers clean

demo: $(INSTALLED)
	$(BIN)/qten-gen examples/detector
	$(BIN)/mypy --strict examples/detector
	cd examples && $(BIN)/python -m detector.train
	@echo
	@echo "Generated from examples/detector/model.py:"
	@ls examples/detector/*_qten.py examples/detector/*_qten.pyi

demo-decoder: $(INSTALLED)
	$(BIN)/qten-gen examples/decoder
	$(BIN)/mypy --strict examples/decoder
	cd examples && $(BIN)/python -m decoder.train && $(BIN)/python -m decoder.serve

# Folders that are named are tested whole.
test: $(INSTALLED)
	$(PYTEST) $(or $(TESTS),$(addprefix --ignore=,tests/architectures tests/playground $(LONG)))

test-long: $(INSTALLED)
	$(PYTEST) $(LONG)

architectures: $(INSTALLED)
	$(BIN)/python -c 'import accelerate, lightning, peft, transformers' 2>/dev/null || $(BIN)/python -m pip install --quiet --editable '.[architectures]'
	$(BIN)/python -m pip install --quiet $(TORCH) $(LIBRARIES)
	$(BIN)/python -m pip install --quiet --no-deps $(TORCHTITAN)
	$(BIN)/pyright --pythonpath $(BIN)/python tests/architectures
	$(PYTEST) tests/architectures tests/life_cycles tests/module/torch_tools/test_steps.py

editors: $(INSTALLED)
	@test -x $(BIN)/pyrefly -a -x $(BIN)/basedpyright || $(BIN)/python -m pip install --quiet --editable '.[editors]' || \
		echo "The servers of basedpyright and pyrefly were not tested: they cannot be installed"
	$(BIN)/python -m pytest -q tests/editor
	@if command -v npm >/dev/null; then $(MAKE) --no-print-directory vscode; \
		else echo "The extension for Visual Studio Code was not built and not tested: npm is missing (Debian: apt-get install npm)"; fi

# No script of a package runs, and the editor's parts that would have to be compiled are not needed.
vscode: $(VSCODE)/node_modules/.package-lock.json $(VSCODE)/.editor/package.json
	cd $(VSCODE) && npm run --silent package && QTEN_GEN_PYTHON=$(BIN)/python npm run --silent test

$(VSCODE)/node_modules/.package-lock.json: $(VSCODE)/package-lock.json
	cd $(VSCODE) && npm ci --ignore-scripts --no-audit --no-fund --loglevel=error
	touch $@

# Where code-server does not run, the test says so.
$(VSCODE)/.editor/package.json: $(VSCODE)/package.json
	test "$$(uname -sm)" != "Linux x86_64" || (cd $(VSCODE) && npm run --silent editor)
	mkdir -p $(@D) && touch $@

typing-scoreboard: $(INSTALLED)
	test -x $(BIN)/pyrefly || $(BIN)/python -m pip install --quiet --editable '.[scoreboard]'
	$(BIN)/python -m tests.typing.scoreboard > docs/evidence/typing-scoreboard.new
	mv docs/evidence/typing-scoreboard.new docs/evidence/typing-scoreboard.json

test-oldest:
	$(MAKE) --no-print-directory test PYTHON=$(PYTHON) VENV=$(VENV)-oldest TESTS='$(GENERATOR_TESTS)'

test-python-%:
	$(MAKE) --no-print-directory test PYTHON=python$* VENV=$(VENV)-$* TESTS='$(GENERATOR_TESTS) $(RUNTIME_TESTS)'

# In environments of their own. tensordict and the checkers are not pinned there: the newest ones do not install beside an old torch.
test-newest-torch:
	$(call test_with,$(VENV)-newest-torch,torch,$(NEWEST_TESTS))

test-oldest-torch:
	$(call test_with,$(VENV)-oldest-torch,torch==2.6.0,$(addprefix --deselect=,$(NOT_IN_2_6)))

define test_with
	@test -x $(1)/bin/python || printf '%s\n' "Installing $(2) and the tools of the tests into $(1): about 0.6 GB, or 5.4 GB where pip takes the build" \
		"for CUDA. For the one without, stop and set PIP_EXTRA_INDEX_URL=https://download.pytorch.org/whl/cpu"
	test -x $(1)/bin/python || $(PYTHON) -m venv $(1)
	$(1)/bin/python -m pip install --quiet '$(2)' --editable . $(TOOLS)
	$(1)/bin/python -W ignore -c 'import sys, torch; print("torch", torch.__version__, "Python", sys.version.split()[0])'
	OMP_NUM_THREADS=1 $(1)/bin/python -m pytest -n $(JOBS) $(RUNTIME_TESTS) $(3)
endef

test-model: $(INSTALLED)
	QTEN_GEN_EXAMPLES=3000 OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n $(JOBS) tests/tensorclass/operations/test_model.py

spellings: $(INSTALLED)
	QTEN_GEN_ALL_SPELLINGS=1 OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n $(JOBS) tests/readers_agree

fuzz: $(INSTALLED)
	OMP_NUM_THREADS=1 $(BIN)/python -m tests.fuzz --seconds $(SECONDS)

lint: $(INSTALLED)
	$(BIN)/ruff check
	$(BIN)/ruff format --check

types: $(INSTALLED)
	$(BIN)/mypy
	$(BIN)/pyright --threads $(JOBS) --pythonpath $(BIN)/python

bench: $(INSTALLED)
	$(BIN)/python -m benchmarks.startup
	$(BIN)/python -m benchmarks.generator
	$(BIN)/python -m benchmarks.editor
	$(BIN)/python -m benchmarks.tensorclass
	$(BIN)/python -W ignore -m benchmarks.ragged
	$(BIN)/python -m benchmarks.compiled
	$(BIN)/python -m benchmarks.class_creation
	$(BIN)/python -m benchmarks.storage
	$(BIN)/python -m benchmarks.workers
	$(BIN)/python -m benchmarks.module
	$(BIN)/python -m benchmarks.derived
	$(BIN)/python -m benchmarks.deferred
	$(BIN)/python -W ignore -m benchmarks.materialize

bench-chart: $(INSTALLED)
	$(BIN)/python -m benchmarks.tensorclass --no-large --rounds 30 --json docs/tensorclass-speed.json
	$(BIN)/python -m benchmarks.chart docs/tensorclass-speed.json docs/tensorclass-speed.svg

# A link that leads nowhere is an error, and so is a docstring that cannot be read.
docs: $(INSTALLED)
	$(BIN)/python -c 'import furo, myst_parser' 2>/dev/null || $(BIN)/python -m pip install --quiet --editable '.[docs]'
	OMP_NUM_THREADS=1 $(BIN)/python -m sphinx --quiet --fail-on-warning --keep-going -b html docs build/site
	@echo "build/site/index.html"

test-playground: docs
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest tests/playground

generate: $(INSTALLED)
	$(BIN)/qten-gen
	$(BIN)/python -m tests.generate.golden
	$(BIN)/python -m templates.rules_page > docs/rules.md
	$(BIN)/python -m templates.rules_page codes > qten_gen/common/diagnostic_codes.py
	$(BIN)/python -m templates.settings_schema > docs/settings.schema.json
	names="$$($(BIN)/python -m templates.operation_names)" && echo "$$names" > qten_gen/common/operation_names.py
	for file in arranging dtypes numbers operators; do \
		$(BIN)/python -m templates.operation_types $$file > stubs/qten_gen_typing/$$file.pyi || exit 1; \
	done
	for file in fields writing conversion interop storage processes; do \
		$(BIN)/python -m templates.members $$file > stubs/qten_gen_typing/$$file.pyi || exit 1; \
	done
	$(BIN)/python -m templates.operations_page > docs/operations.md

peers: $(INSTALLED)
	$(BIN)/python -m tests.peers.run '$(CHECKOUT)'

clean:
	rm -rf build dist $(VSCODE)/dist $(VSCODE)/node_modules $(VSCODE)/.editor .hypothesis .mypy_cache .pytest_cache .qten_cache .ruff_cache
	find . -name __pycache__ -not -path './$(VENV)*' -prune -exec rm -rf {} +

$(INSTALLED): pyproject.toml | $(BIN)/python
	@$(BIN)/python -c 'import torch' 2>/dev/null || printf '%s\n' "Installing $(TORCH) and the tools of the project into $(VENV): about 0.6 GB, or 5.4 GB where" \
		"pip takes the build for CUDA. For the one without, stop and run:" \
		"  $(BIN)/python -m pip install $(TORCH) --index-url https://download.pytorch.org/whl/cpu"
	@$(BIN)/python -c 'import torch' 2>/dev/null || $(BIN)/python -m pip install --quiet '$(TORCH)'
	$(BIN)/python -m pip install --quiet --editable '.[dev]'
	touch $@

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)
