# The paper's POWR in every plausible universe, whatever the scale.

UNIVERSES = [
    Path("results", run.path)
    for variant in (universes(STUDY) if "multiverse" in STUDY else [])
    for run in variant.runs
]


# snakemake --cores 2 multiverse_runs
rule multiverse_runs:
    input:
        UNIVERSES,
    localrule: True
    message:
        "{rule}: done"
