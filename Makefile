# Every target works as the only command on a machine that has Python 3.11 or newer and make.
# Choose an interpreter with `make PYTHON=python3.13 test`, another environment with `make VENV=...`.

PYTHON ?= $(shell for python in python3 python3.14 python3.13 python3.12 python3.11; do \
	$$python -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && { echo $$python; break; }; done)
VENV ?= .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --quiet --disable-pip-version-check
EXAMPLE ?= fixtures/clusters/research-fleet

.DEFAULT_GOAL := help
.PHONY: help demo demo-simulate test lint format docs bench judge corpus fuzz clean

help: ## this list
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 20

demo: $(VENV)/.installed ## check the example cluster, which is wrong on purpose
	@$(BIN)/qcheck check $(EXAMPLE) || test $$? -eq 1

demo-simulate: $(VENV)/.installed ## three scenarios: an owner takes its quota back; a large job waits for small ones, on Kueue and KAI
	@for story in reserved-and-borrowed one-large-job kai-large-job; do \
		$(BIN)/qcheck simulate fixtures/scenarios/$$story/scenario.yaml --in fixtures/scenarios/$$story || exit; done

test: $(VENV)/.installed-dev ## all tests, the slow ones too
	$(BIN)/python -m pytest -n auto

lint: $(VENV)/.installed-dev ## style, types and who may import whom
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo

format: $(VENV)/.installed-dev ## rewrite the code in the house style
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

docs: $(VENV)/.installed-docs ## rebuild what is generated in docs/, and the documentation site in site/
	$(BIN)/python docs/build.py
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet

bench: $(VENV)/.installed-dev ## measure speed, as ratios to known programs
	$(BIN)/python tests/bench.py

judge: $(VENV)/.installed-dev ## compare with recordings of real schedulers; RECORDINGS=DIR for others than those beside the project
	$(BIN)/python tests/judge.py $(RECORDINGS)

corpus: $(VENV)/.installed-dev ## check real manifests and print findings by rule, for triage; CORPUS="DIR ..." for repositories
	$(BIN)/python tests/corpus.py $(CORPUS)

fuzz: $(VENV)/.installed-fuzz ## feed qcheck broken input; FUZZ=100000 for more of it
	$(BIN)/python tests/fuzz.py $(FUZZ)

clean: ## remove the environment and what the tools leave behind
	rm -rf $(VENV) dist site .mypy_cache .pytest_cache .ruff_cache .hypothesis .import_linter_cache

$(VENV)/.created:
	@test -n "$(PYTHON)" || { echo "no Python 3.11 or newer found: install one, or name it with make PYTHON=..." >&2; exit 1; }
	@$(PYTHON) -m venv $(VENV) || { echo "$(PYTHON) cannot create environments: on Debian and Ubuntu, apt install python3-venv" >&2; exit 1; }
	@touch $@

$(VENV)/.installed: $(VENV)/.created pyproject.toml
	$(PIP) install --editable .
	@touch $@

# Dependency groups need pip 25.1, which older interpreters do not bring along.
$(VENV)/.installed-dev: $(VENV)/.installed
	$(PIP) install --upgrade 'pip>=25.1'
	$(PIP) install --group dev
	@touch $@

$(VENV)/.installed-docs: $(VENV)/.installed-dev
	$(PIP) install --group docs
	@touch $@

$(VENV)/.installed-fuzz: $(VENV)/.installed-dev
	$(PIP) install --group fuzz
	@touch $@
