# What a scale says to machines: model cards of its agents, and an RO-Crate of everything.


rule model_cards:
    input:
        study="envs.yaml",
        runs=RUNS,
        template="suite/release/card.md.j2",
        code=CODE,
    output:
        cards=sorted(
            {
                path.with_name("README.md")
                for path in RUNS
                if saves_agent(STUDY["algorithms"][path.parent.name]["class"])
            }
        ),
    log:
        f"logs/{SCALE}/model_cards.log",
    localrule: True
    conda:
        "../environment.yml"
    params:
        scale=SCALE,
    message:
        "{rule}: {output[0]}"
    shell:
        "python -m suite cards --scale {params.scale:q} 2> {log:q}"


rule crate:
    input:
        study="envs.yaml",
        claims="claims.yaml",
        runs=RUNS,
        tables=[*rules.aggregate.output, *rules.claims.output, *rules.cost.output],
        cards=rules.model_cards.output.cards,
        page=rules.report.output.page,
        code=CODE,
    output:
        f"{RESULTS}/ro-crate-metadata.json",
    log:
        f"logs/{SCALE}/crate.log",
    localrule: True
    conda:
        "../environment.yml"
    params:
        scale=SCALE,
    message:
        "{rule}: {output[0]}"
    shell:
        "python -m suite crate --scale {params.scale:q} 2> {log:q}"
