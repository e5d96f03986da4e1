PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
INSTALLED := $(VENV)/.installed

.PHONY: test test-long check format docs bench model

test: check
	$(BIN)/pytest -n 2 -m "not long"

test-long: $(INSTALLED)
	$(BIN)/pytest -m long

check: $(INSTALLED)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: $(INSTALLED)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

docs: $(INSTALLED)
	$(BIN)/python docs/generate.py

bench: $(INSTALLED)
	@echo "bench needs BENCH_DIR (where results go) and BENCH_CORPORA (the folder of checked-out repositories)"
	@test -n "$(BENCH_DIR)" && test -n "$(BENCH_CORPORA)"
	BENCH_DIR="$(BENCH_DIR)" BENCH_CORPORA="$(BENCH_CORPORA)" $(BIN)/python -m evals

# Mining, training in its own environment with torch, scoring: the commands are in training/README.md.
model: $(INSTALLED)
	@echo "model needs DATA (the folder of mined pairs), and PYTHON with torch: see training/README.md"
	@test -n "$(DATA)"
	PYTHONPATH=src $(PYTHON) -m training.train --sources training/sources.json --data "$(DATA)" \
	  --out src/codefathom/providers/model
	$(BIN)/python -m training.evaluate --sources training/sources.json --data "$(DATA)"

# `pip install --group` needs pip 25.1.
$(INSTALLED): pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade "pip>=25.1"
	$(BIN)/python -m pip install --quiet -e . --group dev
	touch $@
