# Variations of POWR's settings, whatever the scale.


rule ablation_tables:
    input:
        study="envs.yaml",
        runs=lambda wildcards: [
            Path("results", run.path)
            for _, run in variant_runs(STUDY, wildcards.ablation)
        ],
        code=CODE,
    output:
        runs="results/ablations/{ablation}.csv",
        curves="results/ablations/{ablation}_curves.csv",
    log:
        "logs/ablations/{ablation}.log",
    localrule: True
    conda:
        "../environment.yml"
    shell:
        "python -m suite ablation --ablation {wildcards.ablation:q} 2> {log:q}"


rule rank_error:
    input:
        study="envs.yaml",
        code=sorted([Path("suite/ablations/rank_error.py"), *Path("powr").glob("*.py")]),
    output:
        "results/ablations/rank_error.csv",
    log:
        "logs/ablations/rank_error.log",
    conda:
        "../environment.yml"
    shell:
        "python -m suite rank-error 2> {log:q}"


rule ablation_figure:
    input:
        tables=rules.ablation_tables.output,
        more=lambda wildcards: (
            rules.rank_error.output if wildcards.ablation == "rank" else []
        ),
        code=[*PLOTS, *sorted(Path("suite/plots/ablations").glob("*.py"))],
    output:
        pdf="figures/ablations/{ablation}.pdf",
        svg=report("figures/ablations/{ablation}.svg", category="Ablations"),
        png="figures/ablations/{ablation}.png",
    log:
        "logs/ablations/{ablation}_figure.log",
    localrule: True
    conda:
        "../environment.yml"
    params:
        folder=lambda wildcards, output: Path(output.pdf).parent,
    shell:
        "python -m suite figure {wildcards.ablation:q} --scale ablations"
        " --out-dir {params.folder:q} 2> {log:q}"


# snakemake --cores 2 ablations
rule ablations:
    input:
        tables=expand(rules.ablation_tables.output, ablation=STUDY.get("ablations", [])),
        rank_error=rules.rank_error.output,
        figures=expand(
            rules.ablation_figure.output, ablation=STUDY.get("ablations", [])
        ),
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
