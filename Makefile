# Three commands do everything, set-up included: `make figures`, `make quick` and `make test`.

PYTHON ?= $(shell command -v python3.11 || command -v python3 || echo absent)
CORES ?= $(shell env -u OMP_NUM_THREADS nproc 2>/dev/null || sysctl -n hw.ncpu)
BIN := .venv/bin
READY := .venv/.ready
DOCS_READY := .venv/.ready-docs
FAULTS := faults or workflow

# Where HOME cannot be written to, as in containers with --user, caches are in the project.
ifndef XDG_CACHE_HOME
ifneq ($(shell test -w "$$HOME" && echo yes),yes)
export XDG_CACHE_HOME := $(CURDIR)/.snakemake/cache
endif
endif
# It hides `suite` from `python -m suite`.
unexport PYTHONSAFEPATH

.DEFAULT_GOAL := help
.PHONY: help setup figures quick paper verify test lint extension-test report-test docs docs-test faults slurm-test

help: ## list the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-18s %s\n", $$1, $$2}'

setup: $(READY) ## create .venv with the pinned versions of requirements.txt, and powr itself

$(READY): requirements.txt pyproject.toml
	@command -v $(PYTHON) >/dev/null || { echo 'No Python found: install Python 3.11 or say make PYTHON=/path/to/python3.11' >&2; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(0 if sys.version_info[:2] == (3, 11) else f"Python 3.11 is needed, {sys.executable} is {sys.version.split()[0]}: install it or say make PYTHON=/path/to/python3.11")'
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --requirement requirements.txt
	$(BIN)/python -m pip install --quiet --no-deps --no-build-isolation --editable .
	@touch $@

# Products are made whenever asked: in an unpacked archive all file times may be equal.
figures: $(READY) ## all tables, figures and pages from the shipped runs, without training
	$(BIN)/snakemake --cores $(CORES) --config partial=true --forcerun aggregate fixed_aggregate multiverse_aggregate -- all multiverse readme
	@printf '\nFigures:  %s\nTables:   %s\nVerdicts: %s\nReport:   %s\n' "figures/*.pdf, *.svg, *.png" \
		results/paper/summary.md results/paper/claims.md results/paper/report.html

quick: $(READY) ## figures, verdicts and report from scratch, at a small scale
	$(BIN)/snakemake --cores $(CORES) --config scale=quick
	@cat results/quick/summary.md
	@printf '\nFigures: %s\n         %s\nReport:  %s\n' results/quick/figures/training_curves.pdf \
		results/quick/figures/threshold_boxplots.pdf results/quick/report.html

paper: $(READY) ## the replication: trains missing runs, then makes figures, verdicts, report
	$(BIN)/snakemake --cores $(CORES)

verify: $(READY) ## make what is shipped again and train cheap runs again, and compare
	$(BIN)/python -m suite verify --cores $(CORES)

test: $(READY) lint ## the tests, the smoke workflow among them
	$(BIN)/python -m pytest --numprocesses $(CORES) --dist worksteal

extension-test: $(READY) ## the tests of the extension
	$(BIN)/python -m pytest --numprocesses $(CORES) --dist worksteal extension/tests

lint: $(READY) ## ruff, mypy, snakefmt, and whether lock, pyproject.toml and environment.yml agree
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/snakefmt --check Snakefile rules
	$(BIN)/python -m pytest --quiet -m repository tests/test_supply_chain.py

report-test: $(READY) ## open a report in headless Chromium (needs Debian's package chromium)
	$(BIN)/python -m pytest -m browser

docs: $(DOCS_READY) ## the documentation site, its tutorial executed: site/index.html
	NO_MKDOCS_2_WARNING=1 OMP_NUM_THREADS=1 $(BIN)/python -m mkdocs build --strict

docs-test: $(DOCS_READY) ## build the site strictly and open it in headless Chromium
	$(BIN)/python -m pytest -m docs tests/docs

$(DOCS_READY): requirements-docs.txt $(READY)
	$(BIN)/python -m pip install --quiet --requirement requirements-docs.txt --constraint requirements.txt
	@touch $@

faults: $(READY) ## kill, fill and corrupt a running workflow, and what it trains again; needs root
	$(BIN)/python -m pytest --numprocesses $(CORES) --dist loadfile -m "$(FAULTS)" tests/faults tests/workflow

slurm-test: $(READY) ## the smoke scale on a one-node Slurm (needs Debian's slurm-wlm and munge)
	$(BIN)/python -m pytest -m slurm
