# The paper's POWR under every plausible combination of settings, the same at every scale.

UNIVERSES = STUDY.run_files(MULTIVERSE, finished=PARTIAL) if STUDY.multiverse else []


# What POWR is compared with: as this workflow makes it, else where it is there.
BASELINES = [
    path
    for path in (
        STUDY.results / f"{scale}/evaluations.csv"
        for scale in ("paper", "fixed-starts")
    )
    if path.exists()
]
if SCALE == "paper" and PARTIAL:
    BASELINES = [rules.aggregate.output.evaluations]
    if FIXED_RUNS:
        BASELINES += [rules.fixed_aggregate.output.evaluations]


# snakemake --cores 2 multiverse_runs
rule multiverse_runs:
    input:
        UNIVERSES,
    message:
        "{rule}: done"


use rule verb as multiverse_aggregate with:
    input:
        study=STUDY.path,
        runs=UNIVERSES,
        code=CODE,
    output:
        **{name: STUDY.results / f"multiverse/{name}.csv" for name in RUN_TABLES},
    log:
        LOGS / "multiverse/aggregate.log",
    params:
        command=["aggregate", *OF_STUDY, "--scale", MULTIVERSE, *PARTIALLY],


use rule verb as multiverse_tables with:
    input:
        study=STUDY.path,
        claims="claims.yaml",
        tables=rules.multiverse_aggregate.output,
        baselines=BASELINES,
        code=CODE,
    output:
        universes=STUDY.results / "multiverse/universes.csv",
        counts=STUDY.results / "multiverse/counts.csv",
        page=STUDY.results / "multiverse/multiverse.md",
    log:
        LOGS / "multiverse/tables.log",
    params:
        command=["multiverse", *OF_STUDY],
        content=content_of(STUDY.path, "claims.yaml"),


# snakemake --cores 2 multiverse
use rule verb as multiverse with:
    input:
        tables=rules.multiverse_tables.output,
        code=PLOTS,
    output:
        pdf="figures/multiverse.pdf",
        svg=report("figures/multiverse.svg", category="Figures"),
        png="figures/multiverse.png",
    log:
        LOGS / "multiverse/figure.log",
    params:
        command=[
            "figure",
            *OF_STUDY,
            "multiverse",
            "--scale",
            MULTIVERSE,
            "--out-dir",
            "figures",
        ],
