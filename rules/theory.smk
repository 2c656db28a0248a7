# The paper's theorems by numbers, the same at every scale.


rule theory_tables:
    input:
        code=[path for path in CODE if "theory" in path.parts or "powr" in path.parts],
    output:
        inexact_pmd="results/theory/inexact_pmd.csv",
        estimation="results/theory/estimation.csv",
        exponents="results/theory/exponents.csv",
        compatibility="results/theory/compatibility.csv",
    log:
        "logs/theory/tables.log",
    conda:
        "../environment.yml"
    params:
        folder=lambda wildcards, output: Path(output.estimation).parent,
    message:
        "{rule}: {output[0]}"
    shell:
        "python -m suite theory --out-dir {params.folder:q} 2> {log:q}"


# snakemake --cores 1 theory
rule theory:
    input:
        tables=rules.theory_tables.output,
        code=PLOTS,
    output:
        pdf="figures/theory.pdf",
        svg=report("figures/theory.svg", category="Figures"),
        png="figures/theory.png",
    log:
        "logs/theory/figure.log",
    localrule: True
    conda:
        "../environment.yml"
    params:
        folder=lambda wildcards, output: Path(output.pdf).parent,
    message:
        "{rule}: {output[0]}"
    shell:
        "python -m suite figure theory --scale theory --out-dir {params.folder:q} 2> {log:q}"
