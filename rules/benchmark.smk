# The paper's benchmark at one scale: train -> aggregate -> figures, claims -> report.


# A cluster gets training and the theorems alone.
localrules:
    all,
    aggregate,
    figure,
    gif,
    gifs,
    fixed_aggregate,
    claims,
    report,
    readme,
    multiverse_tables,
    multiverse_aggregate,
    multiverse_runs,
    multiverse,
    theory,


# What all other rules but training share: a verb of the suite with its options.
rule verb:
    log:
        LOGS / "verb.log",
    conda:
        "../environment.yml"
    params:
        command=["--help"],
        content=content_of(STUDY.path),
    message:
        "{rule}: {output[0]}"
    shell:
        "python -m suite {params.command:q} 2> {log:q}"


rule train:
    input:
        study=ancient(STUDY.path),
    output:
        csv=STUDY.results / "{scale}/{env}/{algorithm}/seed{seed}-{digest}.csv",
        json=STUDY.results / "{scale}/{env}/{algorithm}/seed{seed}-{digest}.json",
    log:
        LOGS / "{scale}/{env}/{algorithm}/seed{seed}-{digest}.log",
    # Seed 0 of everything comes before seed 1 of anything.
    priority: lambda wildcards: -int(wildcards.seed)
    conda:
        "../environment.yml"
    threads: 1
    # Twice what was measured at the paper scale: 0.7 GB, and 152 minutes on a core that was shared.
    resources:
        mem_mb=1400,
        runtime=300,
    params:
        varied=lambda wildcards: STUDY.varied.get(
            (wildcards.scale, wildcards.digest), "{}"
        ),
    message:
        "{rule}: {wildcards.algorithm} on {wildcards.env}, seed {wildcards.seed}"
    shell:
        "python -m suite run --scale {wildcards.scale:q} --env {wildcards.env:q}"
        " --algorithm {wildcards.algorithm:q} --seed {wildcards.seed} --envs {input.study:q}"
        " --varied {params.varied:q} --out {output.csv:q} 2> {log:q}"


use rule verb as aggregate with:
    input:
        study=STUDY.path,
        runs=RUNS,
        code=CODE,
    output:
        **{name: RESULTS / f"{name}.csv" for name in TABLES},
        page=RESULTS / "summary.md",
    log:
        LOGS / f"{SCALE}/aggregate.log",
    params:
        command=["aggregate", *OF_STUDY, "--scale", SCALE, *PARTIALLY],


# The name of a figure with the settings of the paper's authors ends in _authors.
use rule verb as figure with:
    input:
        study=STUDY.path,
        tables=rules.aggregate.output,
        code=PLOTS,
    output:
        pdf=FIGURES / "{name}{authors}.pdf",
        svg=report(FIGURES / "{name}{authors}.svg", category="Figures"),
        png=FIGURES / "{name}{authors}.png",
    log:
        LOGS / f"{SCALE}/{{name}}{{authors}}.log",
    wildcard_constraints:
        name="|".join([*SHOWN, *ANSWER]),
        authors="(_authors)?",
    params:
        command=lambda wildcards: [
            *(
                "figure",
                wildcards.name,
                *OF_STUDY,
                "--scale",
                SCALE,
                "--out-dir",
                str(FIGURES),
            ),
            *(["--authors"] if wildcards.authors else []),
        ],


rule gif:
    input:
        agent=lambda wildcards: AGENTS[wildcards.env].with_suffix(".csv"),
    output:
        FIGURES / "{env}.gif",
    log:
        LOGS / f"{SCALE}/{{env}}.gif.log",
    wildcard_constraints:
        env="|".join(map(re.escape, AGENTS)),
    conda:
        "../environment.yml"
    params:
        agent=lambda wildcards: AGENTS[wildcards.env],
    message:
        "{rule}: {output[0]}"
    shell:
        "python -m powr render {params.agent:q} --out {output:q} > {log:q} 2>&1"


# An episode of a trained agent of each environment: snakemake --cores 1 gifs
rule gifs:
    input:
        expand(rules.gif.output, env=AGENTS),
    message:
        "{rule}: done"


# What the paper scale is judged together with: the runs with fixed starts.
FIXED = "fixed-starts"
IS_JUDGED_WITH_FIXED = SCALE == "paper" and FIXED in STUDY.scales
FIXED_RUNS = STUDY.run_files(FIXED, finished=PARTIAL) if IS_JUDGED_WITH_FIXED else []


use rule verb as fixed_aggregate with:
    input:
        study=STUDY.path,
        runs=FIXED_RUNS,
        code=CODE,
    output:
        **{name: STUDY.results / f"{FIXED}/{name}.csv" for name in TABLES},
        page=STUDY.results / f"{FIXED}/summary.md",
    log:
        LOGS / f"{FIXED}/aggregate.log",
    params:
        command=["aggregate", *OF_STUDY, "--scale", FIXED, *PARTIALLY],


use rule verb as claims with:
    input:
        study=STUDY.path,
        claims="claims.yaml",
        deviations="deviations.yaml",
        tables=[
            *rules.aggregate.output,
            *(rules.fixed_aggregate.output if FIXED_RUNS else []),
        ],
        code=CODE,
    output:
        **{name: RESULTS / f"{name}.csv" for name in VERDICTS},
        page=RESULTS / "claims.md",
    log:
        LOGS / f"{SCALE}/claims.log",
    params:
        command=["claims", *OF_STUDY, "--scale", SCALE],
        content=content_of(STUDY.path, "claims.yaml", "deviations.yaml"),


# Figures of other scales are shown as they are shipped, and not made again for the report: but for
# that of the multiverse without training, which `make figures` draws in the same call.
DRAWN_TOO = (
    ["figures/multiverse.svg"]
    if SCALE == "paper"
    and PARTIAL
    and STUDY.multiverse
    and STUDY.run_files(MULTIVERSE, finished=True)
    else []
)
MORE_FIGURES = [
    path
    for path in ("figures/theory.svg", "figures/multiverse.svg")
    if SCALE == "paper" and (Path(path).exists() or path in DRAWN_TOO)
]


use rule verb as report with:
    input:
        study=STUDY.path,
        claims="claims.yaml",
        deviations="deviations.yaml",
        tables=[*rules.claims.input.tables, *rules.claims.output],
        figures=expand(rules.figure.output.svg, name=SHOWN, authors=""),
        drawn=DRAWN_TOO,
        page=sorted(Path("suite/report").glob("*.[jc]*")),
        code=CODE,
    output:
        page=report(RESULTS / "report.html", category="Verdicts"),
    log:
        LOGS / f"{SCALE}/report.log",
    params:
        command=lambda wildcards, input: [
            *("report", *OF_STUDY, "--scale", SCALE),
            *("--figures", *input.figures, *MORE_FIGURES),
        ],
        content=content_of(STUDY.path, "claims.yaml", "deviations.yaml"),


# The generated parts of the README: snakemake --cores 1 readme
use rule verb as readme with:
    input:
        study=STUDY.path,
        claims="claims.yaml",
        tables=[
            f"results/paper/{name}.csv"
            for name in ("cells", "comparisons", "sentences", "ranking", "summary")
        ],
        code=CODE,
    output:
        update("README.md"),
    log:
        LOGS / "readme.log",
    params:
        command=["readme"],
        content=content_of(STUDY.path, "claims.yaml"),
