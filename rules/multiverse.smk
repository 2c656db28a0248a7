# The paper's POWR in every plausible universe, the same at every scale.

UNIVERSES = STUDY.run_files(MULTIVERSE, finished=PARTIAL) if STUDY.multiverse else []


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
        baselines=[
            STUDY.results / f"paper/{name}.csv" for name in (*RUN_TABLES, "summary")
        ],
        template="suite/multiverse/page.md.in",
        code=CODE,
    output:
        universes=STUDY.results / "multiverse/universes.csv",
        shares=STUDY.results / "multiverse/shares.csv",
        page=STUDY.results / "multiverse/multiverse.md",
    log:
        LOGS / "multiverse/tables.log",
    params:
        command=["multiverse", *OF_STUDY],


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
