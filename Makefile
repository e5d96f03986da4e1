PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
INSTALLED := $(VENV)/.installed
WITH_RAY := $(VENV)/.with-ray
BENCH_VENV := .bench-venv
PEERS := $(BENCH_VENV)/.installed
PAGE := src/codefathom/server/static/index.html
CONFORMANCE := tests/server/conformance/node_modules/.package-lock.json
EXTENSION := editors/vscode/dist/extension.js
EXTENSION_SOURCES := $(wildcard editors/vscode/src/*.ts editors/vscode/*.json editors/vscode/media/*)
OPENID := tests/server/openid/node_modules/.package-lock.json
PAGE_SOURCES := $(shell find web -path web/node_modules -prune -o -type f -print 2>/dev/null)

.PHONY: editors/vscode test test-long test-cluster test-page-slowly test-llm test-trust mutants check format docs demo web screenshots model
.PHONY: dist recording plot try-container trial-team trial-vscode test-qdrant test-mcp test-openid
.PHONY: bench bench-agents bench-changes bench-scale bench-answers bench-serving bench-stores bench-worktrees bench-team bench-graph bench-fleet

# Else each of the processes that tests start compiles the program anew, where somebody has set this variable.
export PYTHONDONTWRITEBYTECODE :=

# Three workers on two cores: a test often waits for a process or a server of its own. Neighbours in a file stay together.
test: check $(PAGE) $(EXTENSION) $(CONFORMANCE) $(OPENID) $(if $(CI),$(WITH_RAY))
	$(BIN)/pytest -n 3 --dist worksteal -m "not long and not llm"

test-long: $(INSTALLED)
	$(BIN)/pytest -m long -o timeout=14400 -o faulthandler_timeout=15000

# A fleet on three nodes of Ray on this machine, of which actors, nodes and the gateway are killed. KILLS: 51, some 15 minutes.
test-cluster: $(WITH_RAY)
	$(BIN)/pytest tests/e2e/test_fleet_cluster.py -m "not long"
	$(BIN)/python -m evals.trials.fleet_kills --kills $(or $(KILLS),51)

# A team of 33 people: in Chromium, by HTTP and as agents, behind Caddy, with a real provider to sign in; writes pictures of it.
trial-team: $(PAGE) $(OPENID)
	$(BIN)/python -m evals.trials.team --readers $(or $(READERS),30) --pictures docs/screenshots

# The extension in VS Code's workbench, in Chromium; writes a picture. CODE_SERVER: a folder into which npm has installed code-server.
trial-vscode: $(EXTENSION)
	web/npm --prefix ../editors/vscode run --silent package
	$(BIN)/python -m evals.trials.vscode "$(CODE_SERVER)" --pictures docs/screenshots

# The page in a browser that is slower, with answers that come late: finds what depends on timing. A quarter of an hour.
test-page-slowly: $(PAGE)
	FATHOM_TEST_SLOWER=5 $(BIN)/pytest -n 2 tests/web

# The trials of docs/reliability.md in their long form: some hours.
test-trust: $(INSTALLED)
	$(BIN)/python -m evals.trials.repositories
	$(BIN)/python -m evals.damage --changes 1000
	$(BIN)/python -m evals.trials.kills --points 500
	$(BIN)/python -m evals.trials.crowd --processes 12 --minutes 10
	$(BIN)/python -m evals.trials.served --clients 8 --minutes 10
	$(BIN)/python -m evals.secrets
	$(BIN)/pytest tests/server/test_hostile_requests.py tests/e2e/test_terminal.py

# Also runs the tests that compare token counts with the libraries that give them.
test-llm: $(INSTALLED)
	$(BIN)/python -m pip install --quiet --group llm
	$(BIN)/pytest -m llm -o timeout=14400 -o faulthandler_timeout=15000
	$(BIN)/pytest tests/unit/answer/test_tokens.py

# Faults that no test notices (docs/mutants.md): make mutants MODULE=facts.paths SAMPLE=60 TESTS=tests/unit/facts
mutants: $(INSTALLED)
	$(BIN)/python -m pip install --quiet --group mutants
	nice $(BIN)/python -m evals.mutants $(or $(MODULE),$(error name a module, such as MODULE=facts.paths)) \
		$(if $(SAMPLE),--sample $(SAMPLE)) $(if $(TESTS),--tests $(TESTS))

# The official conformance suite of the Model Context Protocol against `fathom serve`; a part of `make test`.
test-mcp: $(CONFORMANCE)
	$(BIN)/pytest tests/server/test_mcp_conformance.py

# Signing in at a provider that others have written; a part of `make test`.
test-openid: $(OPENID)
	$(BIN)/pytest tests/server/test_real_provider.py

# The contract of stores on a real Qdrant server: that of compose.yaml, or the one that QDRANT_URL names.
test-qdrant: $(INSTALLED)
	$(if $(QDRANT_URL),,docker compose up -d --wait qdrant)
	QDRANT_URL="$(or $(QDRANT_URL),http://localhost:6333)" $(BIN)/pytest tests/contracts/test_qdrant_store.py

check: $(INSTALLED)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: $(INSTALLED)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

demo: $(INSTALLED)
	$(BIN)/fathom index
	$(BIN)/fathom search -n 3 "how are ignore rules applied"
	$(BIN)/fathom related src/codefathom/source/ignore.py

# The page of `fathom serve`, and its own checks.
web: $(PAGE)

# The extension for VS Code, and its own checks; docs/editors.md.
editors/vscode: $(EXTENSION)

# Pictures of each page in both themes, by the Chromium of this machine.
screenshots: $(PAGE)
	$(BIN)/python -m docs.screenshots

# What is published, with the page inside, and both files tried in environments of their own.
dist: $(PAGE)
	rm -rf dist
	$(BIN)/python -m pip install --quiet --group dist
	$(BIN)/python -m build --outdir dist
	$(BIN)/python -m twine check --strict dist/*
	$(BIN)/python -m evals.trials.distribution dist

# The steps of the Dockerfile in the place of an image; BASE is the root of a Debian system (debootstrap). Needs root.
try-container: dist
	$(BIN)/python -m evals.trials.container "$(BASE)"

# docs/recording.svg, from commands that are run, and docs/quality-and-time.svg, from the pages of benchmarks.
recording: $(INSTALLED)
	$(BIN)/python -m docs.recording

plot: $(INSTALLED)
	$(BIN)/python -m docs.plot

docs: web/node_modules/.package-lock.json
	$(BIN)/python docs/generate.py
	web/npm run --silent api

# BENCH_DIR: the annotated questions (../shared/bench). BENCH_CORPORA: the trees they are about (.bench-corpora).
# PEER_PYTHON: an interpreter with semble 0.7.0 and bm25s, to measure them in the same run; ripgrep is measured where it
# is installed. What is not there is named on the page. BENCH_CLONES: clones whose issues are asked, see evals/localize.py.
bench: $(INSTALLED)
	$(BIN)/python -m evals --peer-python "$(or $(PEER_PYTHON),$(BIN)/python)" $(if $(BENCH_CLONES),--clones "$(BENCH_CLONES)") \
		--page docs/benchmarks.md

# BENCH_CORPORA: more trees to take files from, beside the standard library and the installed packages (.bench-corpora).
# The trees stay in .bench-trees. SCALE: options such as `--only 'map|who calls' --files 1000`; see `python -m evals.scale --help`.
bench-scale: $(INSTALLED)
	$(BIN)/python -m evals.scale $(SCALE) --page docs/benchmarks-operations.md

# BENCH_CORPORA: the trees to take files from (.bench-corpora). The first index of 58,000 files takes many minutes.
bench-changes: $(INSTALLED)
	$(BIN)/python -m evals.taking_in --page docs/benchmarks-operations.md

# What agents pay for answers. BENCH_DIR, BENCH_CORPORA and PEER_PYTHON as above; without PEER_PYTHON semble is installed
# into an environment of its own.
bench-agents: $(INSTALLED) $(if $(PEER_PYTHON),,$(PEERS))
	$(BIN)/python -m pip install --quiet quicktok-v1
	$(BIN)/python -m evals.agents --peer-python "$(or $(PEER_PYTHON),$(BENCH_VENV)/bin/python)" --page docs/benchmarks-agents.md

bench-answers: $(INSTALLED)
	$(BIN)/python -m evals.answers --page docs/benchmarks-agents.md

# A server under load on loopback; --short is a look at it.
bench-serving: $(INSTALLED)
	$(BIN)/python -m evals.serving --page docs/benchmarks-operations.md

# BENCH_DIR and BENCH_CORPORA as above.
bench-worktrees: $(INSTALLED)
	$(BIN)/python -m evals.worktrees --page docs/benchmarks-operations.md
	$(BIN)/python -m evals.branches --page docs/benchmarks-operations.md

# SCIP_INDEXES: a folder with repositories and, beside each, its SCIP index; evals/compiler_edges.py says how to make them.
# CTAGS_REPOSITORIES: a folder with the trees of evals/definitions.tsv; Universal Ctags must be installed. BENCH_CORPORA as above.
# Each of the three may be left out.
bench-graph: $(INSTALLED)
	$(if $(SCIP_INDEXES),$(BIN)/python -m evals.compiler_edges --indexes "$(SCIP_INDEXES)" --page docs/benchmarks-agents.md)
	$(if $(CTAGS_REPOSITORIES),$(BIN)/python -m evals.definitions --repositories "$(CTAGS_REPOSITORIES)" --page docs/benchmarks-agents.md)
	$(if $(BENCH_CORPORA),$(BIN)/python -m evals.name_files --corpora "$(BENCH_CORPORA)" --page docs/benchmarks-agents.md)
	$(if $(BENCH_CORPORA),$(BIN)/python -m evals.breaks --corpora "$(BENCH_CORPORA)" --page docs/benchmarks-agents.md)

# BENCH_DIR and BENCH_CORPORA as above. What taking over an index of a team costs.
bench-team: $(INSTALLED)
	$(BIN)/python -m evals.team --page docs/benchmarks-operations.md

# BENCH_DIR and BENCH_CORPORA as above, for the ranking. A million rows take an hour and 12 GB of memory.
# FLEET: folders of repositories and options, such as `~/clones --most-bytes 14000000`; see `python -m evals.fleet --help`.
bench-fleet: $(INSTALLED)
	$(BIN)/python -m evals.fleet $(FLEET)

bench-stores: $(INSTALLED)
	$(BIN)/python -m evals.stores --rows 100000,1000000 --ranking faiss,faiss-cells,duckdb,postgres,postgres-hnsw,chroma,qdrant \
		--page docs/benchmarks-operations.md

# Mining, training in its own environment with torch, scoring: the commands are in training/README.md.
model: $(INSTALLED)
	@echo "model needs DATA (the folder of mined pairs), TEACHER and PYTHON with torch: see training/README.md"
	@test -n "$(DATA)" -a -n "$(TEACHER)"
	PYTHONPATH=src $(PYTHON) -m training.train --sources training/sources.json --data "$(DATA)" \
	  --teacher "$(TEACHER)" --out src/codefathom/providers/local/model
	$(BIN)/python -m training.evaluate --sources training/sources.json --data "$(DATA)"

$(PEERS):
	$(PYTHON) -m venv $(BENCH_VENV)
	$(BENCH_VENV)/bin/python -m pip install --quiet "semble==0.7.0"
	touch $@

# `pip install --group` needs pip 25.1.
$(INSTALLED): pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade "pip>=25.1"
	$(BIN)/python -m pip install --quiet -e . --group dev
	touch $@

# 285 MB. PyPI has no wheel of Ray for each Python; without it its tests are skipped.
$(WITH_RAY): $(INSTALLED)
	$(BIN)/python -m pip install --quiet --only-binary ray -e ".[cluster]" || echo "Ray cannot be installed for this Python"
	$(BIN)/python -m pip install --quiet -e ".[s3]" "moto[s3,server]>=5.2" || echo "the tests of buckets are skipped"
	touch $@

$(PAGE): web/node_modules/.package-lock.json $(PAGE_SOURCES)
	web/npm run --silent check
	web/npm test --silent
	web/npm run --silent build

$(EXTENSION): editors/vscode/node_modules/.package-lock.json $(EXTENSION_SOURCES)
	web/npm --prefix ../editors/vscode run --silent check
	FATHOM_PROGRAM=$(abspath $(BIN)/fathom) web/npm --prefix ../editors/vscode test --silent
	web/npm --prefix ../editors/vscode run --silent build

editors/vscode/node_modules/.package-lock.json: editors/vscode/package-lock.json | $(INSTALLED)
	web/npm --prefix ../editors/vscode ci --silent
	touch $@

# The suite needs a newer Node.js than the page.
$(CONFORMANCE): tests/server/conformance/package-lock.json | $(INSTALLED)
	LEAST_NODE=22 web/npm --prefix ../tests/server/conformance ci --silent
	touch $@

$(OPENID): tests/server/openid/package-lock.json | $(INSTALLED)
	web/npm --prefix ../tests/server/openid ci --silent
	touch $@

web/node_modules/.package-lock.json: web/package-lock.json | $(INSTALLED)
	web/npm ci --silent
	touch $@
