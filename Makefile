# Each target sets up what it needs, in virtual environments here, and is a quick no-op afterwards.
# All that the machine must have is make, a C library and Python 3.11 or newer (PYTHON=... to choose).

SHELL := /bin/sh
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.NOTPARALLEL:

VENV := .venv
BIN := $(VENV)/bin
WHEELS := build/wheels
# One per processor, four at most.
WORKERS ?= $(shell n=$$(getconf _NPROCESSORS_ONLN 2>/dev/null || echo 2); [ $$n -gt 4 ] && n=4; echo $$n)

# The environment of the tests is the repository's alone.
export PYTHONPATH :=
export PYTHONDONTWRITEBYTECODE :=
export PYRIGHT_PYTHON_IGNORE_WARNINGS := 1
export PIP_DISABLE_PIP_VERSION_CHECK := 1

PIP := $(BIN)/python -m pip --quiet
PROJECTS := pyproject.toml core/pyproject.toml
NO_PYTHON := echo 'Dovetail needs Python 3.11 or newer with venv and ensurepip: install one, or name it with PYTHON=...' >&2; exit 1

.PHONY: help
help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

# --- the environment ------------------------------------------------------------------------------

# Pins changed: start afresh, so that nothing unpinned lingers.
$(VENV)/.base: constraints.txt tools/find_python.sh
	@python=$$(sh tools/find_python.sh) || { $(NO_PYTHON); }; \
	echo "$(VENV): $$("$$python" --version) ($$python)"; \
	"$$python" -m venv --clear $(VENV)
	@$(PIP) install -c constraints.txt pip hatchling editables
	@touch $@

# $(VENV)/.with-viz: the two distributions, editable, with the extra viz; a hyphen joins extras.
comma := ,
$(VENV)/.with-%: $(VENV)/.base $(PROJECTS)
	@echo "$(VENV): dovetail[$(subst -,$(comma),$*)], editable"
	@$(PIP) install -c constraints.txt --no-build-isolation -e core -e '.[$(subst -,$(comma),$*)]'
	@touch $@

DEMO := $(VENV)/.with-viz
TEST := $(VENV)/.with-test-viz
LINT := $(VENV)/.with-lint-mutation-test-viz
DOCS := $(VENV)/.with-docs-viz
MUTATION := $(VENV)/.with-mutation-test-viz
FLAX := .venv-flax

# $(call fresh,DIRECTORY,PYTHON): an empty environment; $(call into,DIRECTORY): install there.
fresh = "$(2)" -m venv --clear --without-pip $(1)
into = $(PIP) --python $(1)/bin/python install -c constraints.txt

# --- what a person runs ---------------------------------------------------------------------------

.PHONY: demo
demo: $(DEMO) $(FLAX)/.ready ## train a classifier of handwritten digits; then one written for JAX, in both
	$(BIN)/python examples/digits/train.py
	$(FLAX)/bin/python examples/flax_digits/compare.py

# JAX and Dovetail beside each other, with the libraries of a program that was written for JAX.
$(FLAX)/.ready: $(VENV)/.base $(PROJECTS) examples/flax_digits/requirements.txt
	@echo '$(FLAX): dovetail, jax, flax, optax'
	@$(call fresh,$(FLAX),$(BIN)/python)
	@$(call into,$(FLAX)) hatchling editables -r examples/flax_digits/requirements.txt
	@$(call into,$(FLAX)) --no-build-isolation -e core -e '.[viz]'
	@touch $@

.PHONY: test
test: test-all test-first-calls test-core test-examples test-kernels test-smoke ## run every test that CI runs, a sample of each product

.PHONY: test-full
test-full: export DOVETAIL_TEST_FULL := 1
test-full: test ## the same with the products of the matrix in full

N ?= 1000
SEED ?= 0
.PHONY: fuzz
fuzz: $(TEST) ## try N random programs under random transformations (N=1000 SEED=0 WORKERS=2)
	@cd tests && ../$(BIN)/python -m fuzz --count $(N) --seed $(SEED) --workers $(WORKERS) --scripts ../build/fuzz

SECONDS ?= 120
.PHONY: torture
torture: $(TEST) ## attack it: interrupts, kills, threads, hostile files (SECONDS=120 SEED=0 AREAS="kills")
	@cd tests && ../$(BIN)/python -m torture --seconds $(SECONDS) --seed $(SEED) $(if $(AREAS),--only $(AREAS))

.PHONY: differential
differential: $(TEST) ## evaluate all public functions in JAX, too, and tell what differs (AREAS="lax" WRITE=--write)
	@peer=$$($(BIN)/python benchmarks/peer.py) && cd tests && \
	../$(BIN)/python -m differential --peer "$$peer" jax $(if $(AREAS),--areas $(AREAS)) $(WRITE)

# In an environment of its own below build/ecosystem, in which genuine JAX is, too.
.PHONY: ecosystem
ecosystem: wheels ## run other libraries' tests and programs, on JAX too (LIBRARIES="optax chex" ECOSYSTEM=--failures)
	@cd tests && ../$(BIN)/python -m ecosystem $(if $(LIBRARIES),--libraries $(LIBRARIES)) $(ECOSYSTEM)

.PHONY: lint
lint: $(LINT) ## check style, types and who imports whom
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/pyright
	PYTHONPATH=plugins/cpu_kernels $(BIN)/lint-imports --no-logo
	$(BIN)/python tools/check_circles.py
	$(BIN)/python tools/kernel_size.py
	$(BIN)/python tools/check_caches.py
	$(BIN)/python tools/check_words.py
	$(BIN)/python tools/check_door.py
	$(BIN)/python tools/check_manifests.py
	$(BIN)/python tools/check_typing.py
	$(BIN)/python tools/coverage_api.py --quiet

.PHONY: coverage-api
coverage-api: $(LINT) ## compare public names with JAX's (SHOW="jax.lax" says which of a module)
	@$(BIN)/python tools/coverage_api.py $(if $(SHOW),--show $(SHOW))

# Installed from wheels in an environment of its own, as a user has it and as its peer is installed.
.PHONY: bench
bench: wheels ## measure against JAX, both in turn (BENCH=--write renews benchmarks/RESULTS.md)
	@$(call fresh,.venv-bench,$(BIN)/python)
	@$(call into,.venv-bench) $(WHEELS)/*.whl
	.venv-bench/bin/python benchmarks/run.py $(BENCH)

# Hours the first time, then minutes; CONTRIBUTING.md says more. MUTATE="--packages ad" limits it.
.PHONY: mutate
mutate: $(MUTATION) ## change the sources at random and see whether tests notice (N=200 SEED=0)
	$(BIN)/python tools/mutate.py -n $(or $(N),200) --seed $(or $(SEED),0) $(MUTATE)

.PHONY: docs
docs: $(DOCS) ## build the documentation into build/docs
	@$(PIP) install --no-build-isolation --no-deps --upgrade --target build/examples \
		./examples/roofline ./examples/stochastic
	@echo 'docs/gallery: pictures'
	@PYTHONPATH=build/examples $(BIN)/python examples/roofline/transformer.py docs/gallery/roofline.svg
	@PYTHONPATH=build/examples $(BIN)/python examples/stochastic/digits.py docs/gallery/stochastic.svg
	$(BIN)/python -m sphinx --quiet docs build/docs
	@echo 'build/docs/index.html'

.PHONY: clean
clean: ## remove the environments and all that was built
	rm -rf .venv .venv-core .venv-examples .venv-kernels .venv-smoke .venv-bench .venv-peer build dist
	rm -rf .pytest_cache .ruff_cache .hypothesis .import_linter_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# --- the parts of `make test` ---------------------------------------------------------------------

.PHONY: test-all
test-all: $(TEST)
	$(BIN)/pytest -n $(WORKERS) --dist worksteal --ignore core/tests

# Eager operations as users call them: by NumPy first. Elsewhere tests call the compiled ones.
.PHONY: test-first-calls
test-first-calls: $(TEST)
	DOVETAIL_INTERPRET_FIRST_CALLS=1 $(BIN)/pytest -n $(WORKERS) --dist worksteal \
		plugins/numpy plugins/random

# What the other parts and `make bench` install: wheels, as a user gets them.
.PHONY: wheels
wheels: $(VENV)/.base
	@rm -rf $(WHEELS)
	@$(PIP) wheel --no-deps --no-build-isolation -w $(WHEELS) ./core .

# The kernel runs its own tests where nothing but the kernel is installed.
.PHONY: test-core
test-core: wheels
	@echo '.venv-core: dovetail-core alone'
	@$(call fresh,.venv-core,$(BIN)/python)
	@$(call into,.venv-core) "$$(echo $(WHEELS)/dovetail_core-*.whl)[test]"
	.venv-core/bin/pytest core/tests

# Plugins that are somebody else's: each is installed beside Dovetail as pip does it, without the
# others, and tested by its own tests.
THIRD_PARTIES := $(patsubst examples/%/pyproject.toml,%,$(wildcard examples/*/pyproject.toml))

.PHONY: test-examples
test-examples: $(THIRD_PARTIES:%=test-%)

.PHONY: $(THIRD_PARTIES:%=test-%) examples-environment
examples-environment: wheels
	@echo '.venv-examples: dovetail'
	@$(call fresh,.venv-examples,$(BIN)/python)
	@$(call into,.venv-examples) $(WHEELS)/*.whl "$$(echo $(WHEELS)/dovetail_core-*.whl)[test]"

$(THIRD_PARTIES:%=test-%): test-%: examples-environment
	@echo '.venv-examples: examples/$*'
	@$(call into,.venv-examples) './examples/$*[test]'
	.venv-examples/bin/pytest examples/$*/tests
	@$(PIP) --python .venv-examples/bin/python uninstall --yes \
		$$(sed -n 's/^name = "\(.*\)"$$/\1/p' examples/$*/pyproject.toml)

# The kernels are built, by zig's compiler where there is no other, and tested where they are installed.
KERNELS := build/kernels-wheel

.PHONY: kernels test-kernels
kernels: wheels
	@echo '.venv-kernels: dovetail, dovetail-cpu-kernels'
	@$(call fresh,.venv-kernels,$(BIN)/python)
	@$(call into,.venv-kernels) $(WHEELS)/*.whl "$$(echo $(WHEELS)/dovetail_core-*.whl)[test]" \
		cmake ninja pip pytest-xdist scikit-build-core
	@rm -rf $(KERNELS)
	@sh tools/build_kernels.sh "$(CURDIR)/.venv-kernels/bin/python" $(KERNELS)
	@$(call into,.venv-kernels) $(KERNELS)/*.whl

# Less than 15 minutes on an idle machine; TORCH names an interpreter that has PyTorch.
.PHONY: bench-kernels
bench-kernels: kernels ## measure the kernels for the CPU against XLA's own code, and draw it
	@$(call into,.venv-kernels) matplotlib
	.venv-kernels/bin/python benchmarks/cpu_kernels.py --svg docs/guides/cpu_kernels.svg --write \
		$(if $(TORCH),--torch $(TORCH))

test-kernels: kernels
	.venv-kernels/bin/pytest -n $(WORKERS) plugins/cpu_kernels/tests

# Some of the tests and programs of `make ecosystem`.
.PHONY: test-ecosystem
test-ecosystem: wheels
	@cd tests && ../$(BIN)/python -m ecosystem --sample

# The newest supported jaxlib needs Python 3.12, which a machine may or may not have.
.PHONY: test-smoke
test-smoke: wheels
	@python=$$(sh tools/find_python.sh 3.12) || \
		{ echo 'tests/smoke: not run, this machine has no Python 3.12'; exit 0; }; \
	echo ".venv-smoke: dovetail on $$("$$python" --version)"; \
	$(call fresh,.venv-smoke,$$python) && \
	$(call into,.venv-smoke) $(WHEELS)/*.whl "$$(echo $(WHEELS)/dovetail_core-*.whl)[test]" && \
	.venv-smoke/bin/pytest tests/smoke
