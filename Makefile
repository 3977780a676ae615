# Two commands: `make up` and `make test`. Everything else is for working on the project itself; `make` lists it.
BIN := .venv/bin
DOCS_PORT ?= 8000
STORM := samples/scenarios/telco/alert_storm.md
PYTEST := $(BIN)/pytest --dist loadfile --no-loadscope-reorder # a module's servers are started once
export PYTHONDONTWRITEBYTECODE := # what is compiled is kept: tests start hundreds of programs that would compile it again
PURE := steps sources services evaluation contributions app/client app/evaluating app/grounding app/language app/network app/answering/planning
ifndef KB_STAGING  # the samples come with questions, and with a network
export KB_EVALUATION ?= samples/evaluation
ifeq ($(shell grep -Es '^ *(export +)?KB_(STAGING|SCENARIOS?)=' .env),)
SAMPLE_NETWORK := yes
endif
endif

.PHONY: help up check test test-all test-tools lint-and-types lint format types coverage docs docs-serve
.PHONY: lock licences settings pictures icons home wheel clean

help: ## these lines
	@sed -nE 's/^([a-z-]+):[^#]*## (.*)/make \1 \2/p' $(MAKEFILE_LIST) | awk '{printf "%s %-11s", $$1, $$2; $$1 = $$2 = ""; print}'

up: ## ingest samples/staging (or KB_STAGING) through Dagster, measure it, ask it something, serve chat page, API and Dagster UI
	@scripts/setup.sh requirements.lock
	@[ -z "$(SAMPLE_NETWORK)" ] || $(BIN)/kb scenario load --no-ingest >/dev/null || true  # says why
	@$(BIN)/kb ingest || [ $$? -eq 1 ]  # 1: some articles failed, the others can be asked about
	@$(BIN)/kb evaluate || true  # says why: there may be no questions, or it finds less than before
	@$(BIN)/kb ask "How do I create a webhook?" || true  # says why: an empty folder leaves nothing to find
	@[ -z "$(SAMPLE_NETWORK)" ] || { $(BIN)/kb investigate --brief - <$(STORM) && \
		echo "(the whole report: $(BIN)/kb investigate - <$(STORM))"; } || true
	@$(BIN)/kb serve

check: ## lint, format, types, and the quick tests of what needs no server: while you work
	@scripts/setup.sh requirements-dev.lock
	@$(MAKE) --no-print-directory lint types
	$(PYTEST) -n 2 -m "not slow and not rare" $(PURE:%=kb_pipeline_tests/%)

test: ## lint, types, and the tests: unit, contract, integration, browser
	@scripts/setup.sh requirements-dev.lock
	@$(MAKE) --no-print-directory --jobs 2 --output-sync lint-and-types test-tools
	$(PYTEST) -n 3 -m "not rare"  # one more than cores: many wait for a server

test-all: ## as `make test`, and what is rare and long: before a release
	@scripts/setup.sh requirements-dev.lock
	@$(MAKE) --no-print-directory --jobs 2 --output-sync lint-and-types test-tools
	@scripts/mediawiki.sh
	@scripts/dokuwiki.sh
	@scripts/dovecot.sh
	$(PYTEST) -n 3 --record-seconds

test-tools:
	@scripts/browser.sh
	@scripts/postgres.sh
	@scripts/node.sh
	@scripts/compose.sh

lint-and-types: lint types

lint:
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

format: ## let ruff mend what it can
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

types:
	$(BIN)/mypy

coverage: ## which lines the tests run, in htmlcov/ (of a part: TESTS=kb_pipeline_tests/steps)
	@scripts/setup.sh requirements-dev.lock
	@$(MAKE) --no-print-directory test-tools
	$(PYTEST) -n 2 --hypothesis-profile=ci --cov --cov-report=term:skip-covered --cov-report=html $(TESTS)  # measured code is too slow for deadlines

docs: ## the documentation as a site, in .site/html; a broken link fails
	@scripts/setup.sh requirements-dev.lock
	$(BIN)/python -m kb_pipeline_tests.docs_site

docs-serve: docs ## the same on 127.0.0.1 (DOCS_PORT=8000)
	$(BIN)/python -m http.server --bind 127.0.0.1 --directory .site/html $(DOCS_PORT)

lock: ## pin all packages again
	@scripts/setup.sh requirements-dev.lock
	PATH="$(CURDIR)/$(BIN):$$PATH" scripts/lock.sh
	@scripts/setup.sh requirements-dev.lock
	@$(MAKE) --no-print-directory licences

licences: ## write THIRD_PARTY.md and sbom.cdx.json from the lock files
	$(BIN)/python -m kb_pipeline_tests.licences
	$(BIN)/python -m kb_pipeline_tests.sbom

settings: ## write docs/settings.md from the settings classes and .env.example
	$(BIN)/python -m kb_pipeline_tests.settings_reference

pictures: ## make docs/pictures anew, with the sample articles and Chromium
	@scripts/setup.sh requirements-dev.lock
	@scripts/browser.sh
	$(BIN)/python scripts/pictures.py

icons: ## cut the fonts of the chat page to the icons and letters that it shows first
	$(BIN)/python -m kb_pipeline_tests.page_fonts

home: ## keep a small home as this version makes it, once per release: the next one must take it over
	$(BIN)/python -m kb_pipeline_tests.kept_homes

wheel: ## what users can install, in dist/
	@scripts/setup.sh requirements-dev.lock
	$(BIN)/uv build --quiet --wheel --no-build-isolation --out-dir dist .

clean: ## forget the environment and everything that was made
	rm -rf .venv .kb
