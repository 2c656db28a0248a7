# Each of OptimisticPOWR's choices undone alone, and its planner replaced.


rule ablation_table:
    input:
        study="envs.yaml",
        runs=sorted(
            {
                Path("results", run.path)
                for ablation in STUDY.get("ablations", [])
                for _, run in variant_runs(STUDY, ablation)
            }
        ),
        code=CODE,
    output:
        choices="results/ablations/ablations.csv",
        planners="results/ablations/planners.csv",
    log:
        "logs/ablations/table.log",
    localrule: True
    conda:
        "../environment.yml"
    message:
        "{rule}: {output[0]}"
    shell:
        "python -m suite ablations 2> {log:q}"


rule ablation_figure:
    input:
        tables=rules.ablation_table.output,
        code=PLOTS,
    output:
        pdf="figures/ablations/{figure}.pdf",
        svg=report("figures/ablations/{figure}.svg", category="Ablations"),
        png="figures/ablations/{figure}.png",
    log:
        "logs/ablations/{figure}.log",
    localrule: True
    conda:
        "../environment.yml"
    params:
        folder=lambda wildcards, output: Path(output.pdf).parent,
    message:
        "{rule}: {output[0]}"
    shell:
        "python -m suite figure {wildcards.figure:q} --scale ablations --out-dir {params.folder:q} 2> {log:q}"


# snakemake --cores 2 ablations
rule ablations:
    input:
        tables=rules.ablation_table.output,
        figures=expand(rules.ablation_figure.output, figure=["choices", "planners"]),
        template="suite/ablations/page.md.j2",
        code=CODE,
    output:
        page="docs/ablations.md",
    log:
        "logs/ablations/page.log",
    localrule: True
    conda:
        "../environment.yml"
    message:
        "{rule}: {output[0]}"
    shell:
        "python -m suite ablations-page --out {output.page:q} 2> {log:q}"
