# The paper's benchmark at one scale: train -> aggregate -> figures, claims, cost -> report.


rule train:
    input:
        study=ancient("envs.yaml"),
    output:
        csv="results/{scale}/{env}/{algorithm}/seed{seed}-{digest}.csv",
        json="results/{scale}/{env}/{algorithm}/seed{seed}-{digest}.json",
    log:
        "logs/{scale}/{env}/{algorithm}/seed{seed}-{digest}.log",
    wildcard_constraints:
        algorithm=f"(?!({SAVES_AGENT})/)[^/]+",
    # Seed 0 of everything comes before seed 1 of anything.
    priority: lambda wildcards: -int(wildcards.seed)
    conda:
        "../environment.yml"
    threads: 1
    # Twice what was measured at the paper scale: 0.68 GB, and 152 minutes on a core that was shared.
    resources:
        mem_mb=1400,
        runtime=300,
    message:
        "{rule}: {wildcards.algorithm} on {wildcards.env}, seed {wildcards.seed}"
    shell:
        "python -m suite run --scale {wildcards.scale:q} --env {wildcards.env:q}"
        " --algorithm {wildcards.algorithm:q} --seed {wildcards.seed} --envs {input.study:q}"
        " --out {output.csv:q} 2> {log:q}"


use rule train as train_agent with:
    output:
        csv="results/{scale}/{env}/{algorithm}/seed{seed}-{digest}.csv",
        json="results/{scale}/{env}/{algorithm}/seed{seed}-{digest}.json",
        agent="results/{scale}/{env}/{algorithm}/seed{seed}-{digest}.npz",
    wildcard_constraints:
        algorithm=SAVES_AGENT,
    # POWR on MountainCar-v0 holds 0.7 GB and takes two minutes.
    resources:
        mem_mb=2000,
        runtime=60,


rule aggregate:
    input:
        study="envs.yaml",
        runs=RUNS,
        code=CODE,
    output:
        arrivals=f"{RESULTS}/runs.csv",
        curves=f"{RESULTS}/curves.csv",
        summary=f"{RESULTS}/summary.csv",
        page=f"{RESULTS}/summary.md",
    log:
        f"logs/{SCALE}/aggregate.log",
    localrule: True
    conda:
        "../environment.yml"
    params:
        scale=SCALE,
        partial="--partial" if PARTIAL else "",
    message:
        "{rule}: {output[0]}"
    shell:
        "python -m suite aggregate --scale {params.scale:q} {params.partial} 2> {log:q}"


# The name of a figure with the settings of the paper's authors ends in _authors.
rule figure:
    input:
        tables=lambda wildcards: (
            rules.ladder_table.output
            if wildcards.name == "ladder"
            else rules.aggregate.output
        ),
        code=PLOTS,
    output:
        pdf=f"{FIGURES}/{{name}}{{authors}}.pdf",
        svg=report(f"{FIGURES}/{{name}}{{authors}}.svg", category="Figures"),
        png=f"{FIGURES}/{{name}}{{authors}}.png",
    log:
        f"logs/{SCALE}/{{name}}{{authors}}.log",
    wildcard_constraints:
        name="|".join(SHOWN),
        authors="(_authors)?",
    localrule: True
    conda:
        "../environment.yml"
    params:
        scale=SCALE,
        folder=lambda wildcards, output: Path(output.pdf).parent,
        authors=lambda wildcards: ["--authors"] if wildcards.authors else [],
    message:
        "{rule}: {output[0]}"
    shell:
        "python -m suite figure {wildcards.name:q} {params.authors:q} --scale {params.scale:q}"
        " --out-dir {params.folder:q} 2> {log:q}"


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
        "../environment.yml"
    message:
        "{rule}: {output[0]}"
    shell:
        "python -m powr render {input.agent:q} --out {output:q} > {log:q} 2>&1"


# An episode of a trained agent of each environment: snakemake --cores 1 gifs
rule gifs:
    input:
        expand(rules.gif.output, env=AGENTS),
    localrule: True
    message:
        "{rule}: done"


rule claims:
    input:
        study="envs.yaml",
        claims="claims.yaml",
        deviations="deviations.yaml",
        runs=RUNS,
        arrivals=rules.aggregate.output.arrivals,
        template="suite/claims/page.md.j2",
        code=CODE,
    output:
        table=f"{RESULTS}/claims.csv",
        page=f"{RESULTS}/claims.md",
    log:
        f"logs/{SCALE}/claims.log",
    localrule: True
    conda:
        "../environment.yml"
    params:
        scale=SCALE,
        partial="--partial" if PARTIAL else "",
    message:
        "{rule}: {output[0]}"
    shell:
        "python -m suite claims --scale {params.scale:q} {params.partial} 2> {log:q}"


rule cost:
    input:
        study="envs.yaml",
        runs=RUNS,
        arrivals=rules.aggregate.output.arrivals,
        code=CODE,
    output:
        table=f"{RESULTS}/cost.csv",
    log:
        f"logs/{SCALE}/cost.log",
    localrule: True
    conda:
        "../environment.yml"
    params:
        verb="cost",
        scale=SCALE,
    message:
        "{rule}: {output[0]}"
    shell:
        "python -m suite {params.verb:q} --scale {params.scale:q} 2> {log:q}"


use rule cost as ladder_table with:
    output:
        table=f"{RESULTS}/ladder.csv",
    log:
        f"logs/{SCALE}/ladder_table.log",
    localrule: True
    params:
        verb="ladder",
        scale=SCALE,


# Figures of other scales are shown as they are shipped, and not made again for the report.
MORE_FIGURES = [
    path
    for path in ("figures/theory.svg", "figures/multiverse.svg")
    if SCALE == "paper" and Path(path).exists()
]
REPORT_FILES = sorted(
    path
    for path in Path("suite/report").rglob("*")
    if path.suffix in {".j2", ".css", ".js"}
)


rule report:
    input:
        study="envs.yaml",
        claims="claims.yaml",
        deviations="deviations.yaml",
        runs=RUNS,
        tables=[*rules.aggregate.output, *rules.claims.output, *rules.cost.output],
        figures=expand(rules.figure.output.svg, name=SHOWN, authors=""),
        page=REPORT_FILES,
        code=CODE,
    output:
        page=report(f"{RESULTS}/report.html", category="Verdicts"),
    log:
        f"logs/{SCALE}/report.log",
    localrule: True
    conda:
        "../environment.yml"
    params:
        scale=SCALE,
        more=MORE_FIGURES,
    message:
        "{rule}: {output[0]}"
    shell:
        "python -m suite report --scale {params.scale:q}"
        " --figures {input.figures:q} {params.more:q} 2> {log:q}"
