# The paper's POWR in every plausible universe, the same at every scale.

UNIVERSES = [
    Path("results", run.path)
    for variant in (universes(STUDY) if "multiverse" in STUDY else [])
    for run in variant.runs
]
if PARTIAL:
    UNIVERSES = [path for path in UNIVERSES if path.exists()]


# snakemake --cores 2 multiverse_runs
rule multiverse_runs:
    input:
        UNIVERSES,
    localrule: True
    message:
        "{rule}: done"


rule multiverse_tables:
    input:
        study="envs.yaml",
        claims="claims.yaml",
        runs=UNIVERSES,
        baselines="results/paper/runs.csv",
        template="suite/multiverse/page.md.in",
        code=CODE,
    output:
        universes="results/multiverse/universes.csv",
        shares="results/multiverse/shares.csv",
        page="results/multiverse/multiverse.md",
    log:
        "logs/multiverse/tables.log",
    localrule: True
    conda:
        "../environment.yml"
    params:
        partial="--partial" if PARTIAL else "",
    message:
        "{rule}: {output[0]}"
    shell:
        "python -m suite multiverse {params.partial} 2> {log:q}"


# snakemake --cores 2 multiverse
rule multiverse:
    input:
        tables=rules.multiverse_tables.output,
        code=PLOTS,
    output:
        pdf="figures/multiverse.pdf",
        svg=report("figures/multiverse.svg", category="Figures"),
        png="figures/multiverse.png",
    log:
        "logs/multiverse/figure.log",
    localrule: True
    conda:
        "../environment.yml"
    params:
        folder=lambda wildcards, output: Path(output.pdf).parent,
    message:
        "{rule}: {output[0]}"
    shell:
        "python -m suite figure multiverse --scale multiverse --out-dir {params.folder:q} 2> {log:q}"
