# Three commands do everything, set-up included: `make figures`, `make quick` and `make test`.

PYTHON ?= $(shell command -v python3.11 || command -v python3)
CORES ?= $(shell env -u OMP_NUM_THREADS nproc 2>/dev/null || sysctl -n hw.ncpu)
BIN := .venv/bin
READY := .venv/.ready
DOCS_READY := .venv/.ready-docs
SCALE ?= quick

.DEFAULT_GOAL := help
.PHONY: help setup figures quick paper ship verify theory ablations multiverse test workflow-test lint report report-test docs docs-test sample-efficiency unseen bench faults slurm-test release-check clean

help: ## list the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-18s %s\n", $$1, $$2}'

setup: $(READY) ## create .venv with the pinned versions of requirements.txt, and powr itself

$(READY): requirements.txt pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(0 if sys.version_info[:2] == (3, 11) else f"Python 3.11 is needed, {sys.executable} is {sys.version.split()[0]}: install it or say make PYTHON=/path/to/python3.11")'
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --requirement requirements.txt
	$(BIN)/python -m pip install --quiet --no-deps --no-build-isolation --editable .
	@touch $@

# Of the shipped runs of the multiverse, where there are any.
MULTIVERSE = $(if $(wildcard results/multiverse/*/*/*.csv),multiverse)

figures: $(READY) ## all tables and figures from the shipped runs, without training
	$(if $(MULTIVERSE),$(BIN)/snakemake --cores $(CORES) --config partial=true -- multiverse)
	$(BIN)/snakemake --cores $(CORES) --config partial=true -- all
	@printf '\nFigures:  %s\nTables:   %s\nVerdicts: %s\nReport:   %s\n' "figures/*.pdf, *.svg, *.png" \
		results/paper/summary.md results/paper/claims.md results/paper/report.html

quick: $(READY) ## figures, verdicts and report from scratch, at a small scale
	$(BIN)/snakemake --cores $(CORES) --config scale=quick
	@cat results/quick/summary.md
	@printf '\nFigures: %s\n         %s\nReport:  %s\n' results/quick/figures/training_curves.pdf \
		results/quick/figures/threshold_boxplots.pdf results/quick/report.html

paper: $(READY) ## the replication: trains missing runs, then makes figures, verdicts, report
	$(BIN)/snakemake --cores $(CORES)

ship: $(READY) ## after new paper-scale runs: their figures, verdicts, parts of the README, manifest
	$(if $(MULTIVERSE),$(BIN)/snakemake --cores $(CORES) --config partial=true --forcerun aggregate multiverse_tables -- multiverse)
	$(BIN)/snakemake --cores $(CORES) --config partial=true --forcerun aggregate claims cost -- all gifs
	$(BIN)/python -m suite readme
	$(BIN)/python -m suite manifest

verify: $(READY) ## make what is shipped again and train cheap runs again, and compare
	$(BIN)/python -m suite verify --cores $(CORES)

theory: $(READY) ## the paper's theorems by numbers: results/theory/*.csv and figures/theory.pdf
	$(BIN)/snakemake --cores 1 theory

ablations: $(READY) ## OptimisticPOWR's choices undone, its planner replaced: docs/ablations.md
	$(BIN)/snakemake --cores $(CORES) ablations

multiverse: $(READY) ## POWR under every plausible setting: results/multiverse, figures/multiverse.pdf
	$(BIN)/snakemake --cores $(CORES) multiverse
	@sed -n 3p results/multiverse/multiverse.md

test: $(READY) lint ## the tests, the smoke workflow among them
	$(BIN)/python -m pytest --numprocesses $(CORES) --dist worksteal

workflow-test: $(READY) ## the longer tests of the workflow: what it trains again, on any machine
	$(BIN)/python -m pytest --numprocesses $(CORES) --dist worksteal -m workflow tests/workflow

lint: $(READY) ## ruff, mypy, snakefmt, and whether lock, pyproject.toml and environment.yml agree
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/snakefmt --check Snakefile rules
	$(BIN)/python -m pytest --quiet -m repository tests/test_supply_chain.py

report: $(READY) ## train what is missing at SCALE (quick), then write results/SCALE/report.html
	$(BIN)/snakemake --cores $(CORES) --config scale=$(SCALE) -- results/$(SCALE)/report.html

report-test: $(READY) ## open a report in headless Chromium (needs Debian's package chromium)
	$(BIN)/python -m pytest -m browser

docs: $(DOCS_READY) ## the documentation site, its tutorial executed: site/index.html
	NO_MKDOCS_2_WARNING=1 OMP_NUM_THREADS=1 $(BIN)/python -m mkdocs build --strict

docs-test: $(DOCS_READY) ## build the site strictly and open it in headless Chromium
	$(BIN)/python -m pytest -m docs tests/docs

$(DOCS_READY): requirements-docs.txt $(READY)
	$(BIN)/python -m pip install --quiet --requirement requirements-docs.txt --constraint requirements.txt
	@touch $@

sample-efficiency: $(READY) ## OptimisticPOWR and its rivals: one table, figures/sample_efficiency.pdf
	$(BIN)/snakemake --cores $(CORES) --config scale=sample-efficiency -- results/sample-efficiency/runs.csv
	$(BIN)/python -m benchmarks.sample_efficiency | tee results/sample-efficiency/table.md

unseen: $(READY) ## the same on environments that nothing was developed on, then the table
	$(BIN)/snakemake --cores $(CORES) --config scale=unseen -- results/unseen/runs.csv
	$(BIN)/snakemake --cores $(CORES) --config scale=boxes -- results/boxes/runs.csv
	if $(BIN)/python -c "import Box2D"; then $(BIN)/snakemake --cores $(CORES) --config scale=lander -- results/lander/runs.csv; fi
	$(BIN)/python -m benchmarks.sample_efficiency | tee results/sample-efficiency/table.md

bench: $(READY) ## speed and growth of the solver: tables in benchmarks/results
	$(BIN)/python -m benchmarks.speed

faults: $(READY) ## kill, fill and corrupt a running workflow; needs root for the full disk
	$(BIN)/python -m pytest -m faults

slurm-test: $(READY) ## the smoke scale on a one-node Slurm (needs Debian's slurm-wlm and munge)
	$(BIN)/python -m pytest -m slurm

release-check: $(READY) ## build the wheel and use it from an empty environment
	rm -rf build/release
	$(PYTHON) -m venv build/release/venv
	$(BIN)/python -m pip wheel --quiet --no-deps --wheel-dir build/release .
	build/release/venv/bin/python -m pip install --quiet build/release/*.whl
	cd build/release && venv/bin/python -c "from powr import POWR, OptimisticPOWR; print(*(agent('FrozenLake-v1', seed=0).learn(500) for agent in (POWR, OptimisticPOWR)))"
	cd build/release && venv/bin/python -m powr train --env FrozenLake-v1 --env-kwargs is_slippery=false --timesteps 500 --save agent.npz
	cd build/release && venv/bin/python -m powr evaluate agent.npz

clean: ## remove the virtual environment, the site and caches (results stay)
	rm -rf .venv site .pytest_cache .ruff_cache .mypy_cache .hypothesis
