# The paper's figures and verdicts: train -> aggregate -> figures, claims, cost -> report.
#
#   snakemake --cores 8                          the paper scale
#   snakemake --cores 8 --config scale=quick     another scale of envs.yaml
#   snakemake --cores 8 --config partial=true    no training, the figures of the runs there are
#
# A run file's name carries the digest of the run's settings, so a run is finished if the file of
# that name is there, whatever the times of files say. Stale files have other names.

import os
import re
import sys
from pathlib import Path

from snakemake.utils import min_version, validate

from suite.config import load, runs, variant_runs
from suite.failures import last_words

min_version("9.0")
validate(config, "schemas/workflow.schema.json")

# Jobs run with the Python that runs snakemake, also where its environment is not activated.
os.environ.update(PATH=f"{Path(sys.executable).parent}:{os.environ.get('PATH')}")

SCALE = config["scale"]
RESULTS = f"results/{SCALE}"
FIGURES = "figures" if SCALE == "paper" else f"{RESULTS}/figures"

PARTIAL = str(config["partial"]).lower() == "true"
STUDY = load("envs.yaml")
RUNS = [Path("results", run.path) for run in runs(STUDY, SCALE)]
if PARTIAL:
    RUNS = [path for path in RUNS if path.exists()]

# Names of the algorithms whose runs leave a trained agent beside them.
POWR = "|".join(
    re.escape(name)
    for name, entry in STUDY["algorithms"].items()
    if entry["class"] == "powr"
)

# Those of seed 0 are shown in pictures.
AGENTS = {
    run.environment: Path("results", run.path).with_suffix(".npz")
    for run in runs(STUDY, SCALE)
    if run.algorithm == "powr" and run.seed == 0
}
if PARTIAL:
    AGENTS = {env: path for env, path in AGENTS.items() if path.exists()}

# The suite, and powr, with which it computes exact returns and checks theorems.
CODE = sorted([*Path("suite").rglob("*.py"), *Path("powr").glob("*.py")])


wildcard_constraints:
    seed=r"\d+",
    digest="[0-9a-f]{12}",
    study="[a-z]+",


onerror:
    print(last_words(Path(log[0]).read_text()), file=sys.stderr)


rule all:
    input:
        runs=RUNS,
        summary=f"{RESULTS}/summary.md",
        training_curves=f"{FIGURES}/training_curves.pdf",
        threshold_boxplots=f"{FIGURES}/threshold_boxplots.pdf",
        claims=f"{RESULTS}/claims.md",
        cost=f"{RESULTS}/cost.csv",
        report=f"{RESULTS}/report.html",
    localrule: True


rule train:
    input:
        study=ancient("envs.yaml"),
    output:
        csv="results/{scale}/{env}/{algorithm}/seed{seed}-{digest}.csv",
        json="results/{scale}/{env}/{algorithm}/seed{seed}-{digest}.json",
    log:
        "logs/{scale}/{env}/{algorithm}/seed{seed}-{digest}.log",
    benchmark:
        "results/{scale}/{env}/{algorithm}/seed{seed}-{digest}.benchmark.tsv"
    wildcard_constraints:
        algorithm=f"(?!({POWR})/)[^/]+",
    # Seed 0 of everything comes before seed 1 of anything.
    priority: lambda wildcards: -int(wildcards.seed)
    conda:
        "environment.yml"
    threads: 1
    # Twice what was measured at the paper scale: 0.42 GB, and 152 minutes on a core that was shared.
    resources:
        mem_mb=1000,
        runtime=300,
    shell:
        "python -m suite.run --scale {wildcards.scale:q} --env {wildcards.env:q}"
        " --algorithm {wildcards.algorithm:q} --seed {wildcards.seed} --envs {input.study:q}"
        " --out {output.csv:q} 2> {log:q}"


use rule train as train_powr with:
    output:
        csv="results/{scale}/{env}/{algorithm}/seed{seed}-{digest}.csv",
        json="results/{scale}/{env}/{algorithm}/seed{seed}-{digest}.json",
        agent="results/{scale}/{env}/{algorithm}/seed{seed}-{digest}.npz",
    wildcard_constraints:
        algorithm=POWR,
    # MountainCar-v0 holds 0.8 GB, and takes some minutes.
    resources:
        mem_mb=2000,
        runtime=60,


rule aggregate:
    input:
        study="envs.yaml",
        runs=RUNS,
        code=CODE,
    output:
        curves=f"{RESULTS}/curves.csv",
        thresholds=f"{RESULTS}/thresholds.csv",
        summary=f"{RESULTS}/summary.csv",
        page=f"{RESULTS}/summary.md",
    log:
        f"logs/{SCALE}/aggregate.log",
    localrule: True
    conda:
        "environment.yml"
    params:
        scale=SCALE,
        partial="--partial" if PARTIAL else "",
    shell:
        "python -m suite.aggregate --scale {params.scale:q} {params.partial} 2> {log:q}"


rule training_curves:
    input:
        tables=rules.aggregate.output,
        code=sorted(Path("figures").glob("*.py")),
    output:
        pdf=f"{FIGURES}/training_curves.pdf",
        svg=report(f"{FIGURES}/training_curves.svg", category="Figures"),
        png=f"{FIGURES}/training_curves.png",
    log:
        f"logs/{SCALE}/training_curves.log",
    localrule: True
    conda:
        "environment.yml"
    params:
        scale=SCALE,
        folder=lambda wildcards, output: Path(output.pdf).parent,
    shell:
        "python -m figures.curves --scale {params.scale:q} --out-dir {params.folder:q} 2> {log:q}"


rule threshold_boxplots:
    input:
        tables=rules.aggregate.output,
        code=sorted(Path("figures").glob("*.py")),
    output:
        pdf=f"{FIGURES}/threshold_boxplots.pdf",
        svg=report(f"{FIGURES}/threshold_boxplots.svg", category="Figures"),
        png=f"{FIGURES}/threshold_boxplots.png",
    log:
        f"logs/{SCALE}/threshold_boxplots.log",
    localrule: True
    conda:
        "environment.yml"
    params:
        scale=SCALE,
        folder=lambda wildcards, output: Path(output.pdf).parent,
    shell:
        "python -m figures.thresholds --scale {params.scale:q} --out-dir {params.folder:q} 2> {log:q}"


rule gif:
    input:
        agent=lambda wildcards: AGENTS[wildcards.env],
    output:
        f"{FIGURES}/{{env}}.gif",
    log:
        f"logs/{SCALE}/{{env}}.gif.log",
    wildcard_constraints:
        env="|".join(map(re.escape, AGENTS)),
    localrule: True
    conda:
        "environment.yml"
    shell:
        "python -m powr render {input.agent:q} --out {output:q} > {log:q} 2>&1"


# An episode of a trained agent of each environment: snakemake --cores 1 gifs
rule gifs:
    input:
        expand(rules.gif.output, env=AGENTS),
    localrule: True


rule theory_tables:
    input:
        code=sorted([*Path("suite/theory").glob("*.py"), *Path("powr").glob("*.py")]),
    output:
        inexact_pmd="results/theory/inexact_pmd.csv",
        estimation="results/theory/estimation.csv",
        exponents="results/theory/exponents.csv",
        compatibility="results/theory/compatibility.csv",
    log:
        "logs/theory/tables.log",
    conda:
        "environment.yml"
    params:
        folder=lambda wildcards, output: Path(output.estimation).parent,
    shell:
        "python -m suite.theory --out-dir {params.folder:q} 2> {log:q}"


# The paper's theorems by numbers, whatever the scale: snakemake --cores 1 theory
rule theory:
    input:
        tables=rules.theory_tables.output,
        code=sorted(Path("figures").glob("*.py")),
    output:
        pdf="figures/theory.pdf",
        svg=report("figures/theory.svg", category="Figures"),
        png="figures/theory.png",
    log:
        "logs/theory/figure.log",
    localrule: True
    conda:
        "environment.yml"
    params:
        folder=lambda wildcards, output: Path(output.pdf).parent,
    shell:
        "python -m figures.theory --scale theory --out-dir {params.folder:q} 2> {log:q}"


rule study_tables:
    input:
        study="envs.yaml",
        runs=lambda wildcards: [
            Path("results", run.path)
            for _, run in variant_runs(STUDY, wildcards.study)
        ],
        code=CODE,
    output:
        runs="results/studies/{study}.csv",
        curves="results/studies/{study}_curves.csv",
    log:
        "logs/studies/{study}.log",
    localrule: True
    conda:
        "environment.yml"
    shell:
        "python -m suite.studies --study {wildcards.study:q} 2> {log:q}"


rule rank_error:
    input:
        study="envs.yaml",
        code=sorted([Path("suite/studies/rank_error.py"), *Path("powr").glob("*.py")]),
    output:
        "results/studies/rank_error.csv",
    log:
        "logs/studies/rank_error.log",
    conda:
        "environment.yml"
    shell:
        "python -m suite.studies.rank_error 2> {log:q}"


rule study_figure:
    input:
        tables=rules.study_tables.output,
        more=lambda wildcards: (
            rules.rank_error.output if wildcards.study == "rank" else []
        ),
        code=sorted(Path("figures").rglob("*.py")),
    output:
        pdf="figures/studies/{study}.pdf",
        svg=report("figures/studies/{study}.svg", category="Studies"),
        png="figures/studies/{study}.png",
    log:
        "logs/studies/{study}_figure.log",
    localrule: True
    conda:
        "environment.yml"
    params:
        folder=lambda wildcards, output: Path(output.pdf).parent,
    shell:
        "python -m figures.studies.{wildcards.study:q} --scale studies"
        " --out-dir {params.folder:q} 2> {log:q}"


# What POWR's choices matter, whatever the scale: snakemake --cores 2 studies
rule studies:
    input:
        tables=expand(rules.study_tables.output, study=STUDY.get("studies", [])),
        rank_error=rules.rank_error.output,
        figures=expand(rules.study_figure.output, study=STUDY.get("studies", [])),
        template="suite/studies/page.md.j2",
        code=CODE,
    output:
        page="docs/studies.md",
    log:
        "logs/studies/page.log",
    localrule: True
    conda:
        "environment.yml"
    shell:
        "python -m suite.studies.page --out {output.page:q} 2> {log:q}"


rule claims:
    input:
        study="envs.yaml",
        claims="claims.yaml",
        deviations="deviations.yaml",
        runs=RUNS,
        code=CODE,
    output:
        table=f"{RESULTS}/claims.csv",
        page=f"{RESULTS}/claims.md",
    log:
        f"logs/{SCALE}/claims.log",
    localrule: True
    conda:
        "environment.yml"
    params:
        scale=SCALE,
        partial="--partial" if PARTIAL else "",
    shell:
        "python -m suite.claims --scale {params.scale:q} {params.partial} 2> {log:q}"


rule cost:
    input:
        study="envs.yaml",
        runs=RUNS,
        code=CODE,
    output:
        table=f"{RESULTS}/cost.csv",
    log:
        f"logs/{SCALE}/cost.log",
    localrule: True
    conda:
        "environment.yml"
    params:
        scale=SCALE,
    shell:
        "python -m suite.cost --scale {params.scale:q} 2> {log:q}"


rule report:
    input:
        study="envs.yaml",
        claims="claims.yaml",
        deviations="deviations.yaml",
        runs=RUNS,
        tables=[*rules.aggregate.output, *rules.claims.output, *rules.cost.output],
        figures=[rules.training_curves.output.svg, rules.threshold_boxplots.output.svg],
        template=["suite/report.html.j2", "suite/report.css"],
        code=CODE,
    output:
        page=report(f"{RESULTS}/report.html", category="Verdicts"),
    log:
        f"logs/{SCALE}/report.log",
    localrule: True
    conda:
        "environment.yml"
    params:
        scale=SCALE,
        figures=lambda wildcards, input: Path(input.figures[0]).parent,
    shell:
        "python -m suite.report --scale {params.scale:q} --figures {params.figures:q} 2> {log:q}"
