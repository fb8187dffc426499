# Podium's commands; `make help` lists them. Every path here is relative, so a checkout whose path has a space works.

.DEFAULT_GOAL := help
.PHONY: help setup setup-dev demo test test-rest test-torch test-faults test-all lint screenshots bench bench-gpu dist pin-images clean
.DELETE_ON_ERROR:
# The tests start Python a thousand times; told to keep no bytecode, each start would compile all modules anew.
unexport PYTHONDONTWRITEBYTECODE

PY := .venv/bin/python
PIP := $(PY) -m pip --disable-pip-version-check install --quiet --constraint constraints.txt
# By a plain path, not by an import hook that every Python of every test would load.
EDITABLE := --config-settings editable_mode=compat --editable

PORT ?= 8000
SANDBOX ?= bubblewrap
DEMO_EXIT ?=
COMPUTE_EVAL ?=
OUT ?=
OPTIONS ?=
SHOTS ?= var/screenshots

help: ## List the commands
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "  make %-11s %s\n", $$1, $$2}' Makefile

setup: .venv/.installed ## Make the environment in .venv (with `podium` in .venv/bin)

setup-dev: .venv/.installed-dev ## The same, with what test, lint and bench need

demo: .venv/.installed ## Run the whole product on this machine: PORT=8000, SANDBOX=unconfined, DEMO_EXIT=1
	@exec env PORT="$(PORT)" PODIUM_SANDBOX="$(SANDBOX)" DEMO_EXIT="$(DEMO_EXIT)" $(PY) -m demo

test: .venv/.installed-dev ## Run the tests that need nothing but this checkout: minutes, on SQLite
	@exec sh scripts/pytest.sh -n 3 --dist loadfile --no-loadscope-reorder -m "not rest and not faults"

test-rest: .venv/.installed-dev ## Run the others: toolkits, brokers, PostgreSQL, Docker, further looks at pages
	@exec sh scripts/test_rest.sh

test-torch: .venv/.installed-dev ## Run the tests of torch problems: torch in the environment, a GPU for some of them
	@exec $(PY) -m pytest -rs tests/formats/functions tests/agent/functions tests/examples -k "torch or gpu"

test-faults: .venv/.installed-dev ## Run 1,000 evaluations while everything fails, an upgrade and a Slurm cluster: as root
	@exec $(PY) -m pytest -m faults tests/faults tests/e2e

test-all: test test-rest ## Run both

lint: .venv/.installed-dev ## Check style, types, layers, layout, regular expressions, migrations and deployment settings
	@exec sh scripts/lint.sh

screenshots: .venv/.installed-dev ## Look at all pages, light, dark and 390 px wide, and take pictures: SHOTS=folder
	@mkdir -p "$(SHOTS)" && env PODIUM_SCREENSHOTS="$$(cd "$(SHOTS)" && pwd)" PODIUM_REQUIRE=chromium \
		$(PY) -m pytest -n 2 --dist loadfile -m "" tests/web/*/*browser*.py && $(PY) -m tests.web.looked_at
	@echo "The pictures are in $(SHOTS)."

bench: .venv/.installed-dev ## Measure what Podium promises
	@exec $(PY) -m benchmarks

bench-gpu: .venv/.installed-dev ## Measure `podium evaluate` on a GPU: COMPUTE_EVAL=checkout OUT=folder OPTIONS="--seeds 2026,77"
	@exec $(PY) -m benchmarks.compute_eval_gpu --compute-eval "$(COMPUTE_EVAL)" --out "$(OUT)" $(OPTIONS)

dist: ## Make the wheel and the source archive in dist/, with tools of the network's package index
	@exec sh deploy/dist.sh

pin-images: .venv/.installed ## Write the digests of all base images to deploy/compose.pins.yaml, asked of their registries
	@exec $(PY) deploy/pin_images.py

clean: ## Remove .venv, var and build products
	rm -rf .venv var build dist podium.egg-info .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis

.venv/bin/python:
	@python=$$(sh scripts/prerequisites.sh) && echo "Making .venv with $$python …" && "$$python" -m venv .venv

.venv/.installed: pyproject.toml constraints.txt | .venv/bin/python
	@sh scripts/prerequisites.sh >/dev/null
	@echo "Installing Podium (site and node) …"
	@$(PIP) $(EDITABLE) '.[site,node]'
	@touch .venv/.installed

.venv/.installed-dev: .venv/.installed
	@echo "Installing the tools for tests and checks …"
	@$(PIP) $(EDITABLE) '.[site,node,dev]'
	@touch .venv/.installed-dev
