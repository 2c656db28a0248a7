# The paper's theorems by numbers, the same at every scale.


use rule verb as theory_tables with:
    input:
        code=[path for path in CODE if "theory" in path.parts or "powr" in path.parts],
    output:
        inexact_pmd="results/theory/inexact_pmd.csv",
        estimation="results/theory/estimation.csv",
        exponents="results/theory/exponents.csv",
        compatibility="results/theory/compatibility.csv",
    log:
        LOGS / "theory/tables.log",
    params:
        command=["theory", "--out-dir", "results/theory"],
        content=[],  # the study does not touch theorems


# snakemake --cores 1 theory
use rule verb as theory with:
    input:
        tables=rules.theory_tables.output,
        code=PLOTS,
    output:
        pdf="figures/theory.pdf",
        svg=report("figures/theory.svg", category="Figures"),
        png="figures/theory.png",
    log:
        LOGS / "theory/figure.log",
    params:
        command=[
            "figure",
            *OF_STUDY,
            "theory",
            "--scale",
            "theory",
            "--out-dir",
            "figures",
        ],
