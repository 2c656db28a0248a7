# Each of POWR's choices undone alone, whatever the scale.


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
        "results/ablations/ablations.csv",
    log:
        "logs/ablations/table.log",
    localrule: True
    conda:
        "../environment.yml"
    shell:
        "python -m suite ablations 2> {log:q}"


rule ablation_figure:
    input:
        table=rules.ablation_table.output,
        code=PLOTS,
    output:
        pdf="figures/ablations/choices.pdf",
        svg=report("figures/ablations/choices.svg", category="Ablations"),
        png="figures/ablations/choices.png",
    log:
        "logs/ablations/figure.log",
    localrule: True
    conda:
        "../environment.yml"
    params:
        folder=lambda wildcards, output: Path(output.pdf).parent,
    shell:
        "python -m suite figure choices --scale ablations --out-dir {params.folder:q} 2> {log:q}"


# snakemake --cores 2 ablations
rule ablations:
    input:
        table=rules.ablation_table.output,
        figure=rules.ablation_figure.output,
        template="suite/ablations/page.md.j2",
        code=CODE,
    output:
        page="docs/ablations.md",
    log:
        "logs/ablations/page.log",
    localrule: True
    conda:
        "../environment.yml"
    shell:
        "python -m suite ablations-page --out {output.page:q} 2> {log:q}"
