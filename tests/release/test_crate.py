"""The RO-Crate and the model cards of the shipped scale, and codecheck.yml."""

import argparse
import hashlib
import importlib.resources
import json
import re
import shutil
from pathlib import Path

import pandas as pd
import pytest
import requests
import yaml
from rocrate_validator import services
from rocrate_validator.utils.http import HttpRequester

from powr import POWR
from suite import config
from suite.claims import ledger
from suite.release import cards, crate

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "results/paper"


@pytest.fixture(scope="module")
def described():
    """The crate of the shipped runs, made now."""
    names = ("training_curves", "threshold_boxplots", "theory")
    options = argparse.Namespace(
        scale="paper",
        results=ROOT / "results",
        envs=ROOT / "envs.yaml",
        claims=ROOT / "claims.yaml",
        figures=[ROOT / "figures" / f"{name}.svg" for name in names],
    )
    return crate.describe(options)


@pytest.fixture(scope="module")
def entities(described):
    return {entity["@id"]: entity for entity in described["@graph"]}


@pytest.fixture
def context(monkeypatch):
    """The context of the specification, from the package rocrate: no test needs a network."""
    text = importlib.resources.files("rocrate").joinpath("data/ro-crate.jsonld").read_bytes()
    address = json.loads(text)["@id"]

    def get(self, url, **options):
        assert url == address, f"{url} is not in the crate's context"
        response = requests.Response()
        response.status_code, response._content = 200, text
        response.headers["Content-Type"] = "application/ld+json"
        return response

    monkeypatch.setattr(HttpRequester, "get", get, raising=False)


def faults(folder):
    """What the validator of RO-Crate 1.3 requires and does not find."""
    settings = {
        "rocrate_uri": str(folder),
        "profile_identifier": "ro-crate-1.3",
        "requirement_severity": "REQUIRED",
        "skip_availability_check": True,
        "offline": True,
    }
    return [issue.message for issue in services.validate(settings).get_issues()]


def is_left_out(entity):
    """Runs but for four of different kinds, and verdicts but for those on one environment."""
    kept = r"FrozenLake-v1/(powr|a2c|dqn-authors|rmax)/seed0-|^#verdict-.*frozenlake"
    return re.search("/seed|^#verdict-", entity["@id"]) and not re.search(kept, entity["@id"])


def thinned(entity):
    """The entity without links to what is left out."""
    return {
        key: [link for link in value if not is_left_out(link)] if isinstance(value, list) else value
        for key, value in entity.items()
    }


@pytest.mark.usefixtures("context")
class TestValidator:
    def test_the_shipped_crate_is_valid(self, tmp_path):
        """A part of it, since the validator takes minutes for all runs and verdicts."""
        shipped = json.loads((FOLDER / crate.NAME).read_text(encoding="utf-8"))
        thin = [thinned(entity) for entity in shipped["@graph"] if not is_left_out(entity)]
        assert 20 < len(thin) < len(shipped["@graph"])
        for entity in thin:
            if entity["@type"] == "File":
                (tmp_path / entity["@id"]).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(FOLDER / entity["@id"], tmp_path / entity["@id"])
        (tmp_path / crate.NAME).write_text(json.dumps({**shipped, "@graph": thin}))
        assert faults(tmp_path) == []

    def test_a_crate_without_a_licence_or_a_file_is_found_out(self, described, tmp_path):
        descriptor, root, *_ = described["@graph"]
        part = {"@id": "absent.csv", "@type": "File", "name": "a file that is not there"}
        root = {**root, "hasPart": [{"@id": "absent.csv"}], "mentions": []}
        graph = {**described, "@graph": [descriptor, {**root, "license": ""}, part]}
        (tmp_path / crate.NAME).write_text(json.dumps(graph))
        assert len(faults(tmp_path)) >= 1


class TestCrate:
    def test_every_verdict_leads_to_rule_runs_code_and_figures(self, entities):
        document = ledger.load(ROOT / "claims.yaml")
        table = pd.read_csv(FOLDER / "claims.csv", keep_default_na=False)
        made_by = {
            result["@id"]: entity["instrument"]["@id"]
            for entity in entities.values()
            if entity["@type"] == "CreateAction"
            for result in entity["result"]
        }
        for claim, against, _ in ledger.questions(document):
            rows = table[(table["id"] == claim["id"]) & (table["against"] == against)]
            suffix = f"-{against}" if against else ""
            verdict = entities[f"#verdict-{claim['id']}{suffix}"]
            rating = entities[verdict["reviewRating"]["@id"]]
            assert rating["ratingValue"] == rows["verdict"].iloc[0]
            assert claim["rule"] == entities[verdict["measurementTechnique"]["@id"]]["name"]
            based = {link["@id"] for link in verdict["isBasedOn"]} - {"claims.csv"}
            named = {file for files in rows["run_files"] for file in files.split()}
            if named:
                assert based == {file.removeprefix("paper/") for file in named}
            for run in based:
                commit = entities[made_by[run]]["version"]
                recorded = json.loads((FOLDER / run).with_suffix(".json").read_text())
                assert recorded["provenance"]["git"]["commit"] == commit
            assert verdict["associatedMedia"]
            assert all(link["@id"] in entities for link in verdict["associatedMedia"])

    def test_files_are_there_with_their_digests(self, entities):
        files = [entity for entity in entities.values() if entity["@type"] == "File"]
        assert {link["@id"] for link in entities["./"]["hasPart"]} == {f["@id"] for f in files}
        for file in files:
            content = (FOLDER / file["@id"]).read_bytes()
            assert hashlib.sha256(content).hexdigest() == file["sha256"]

    def test_every_link_leads_to_an_entity(self, described, entities):
        linked = set(re.findall(r'"@id": "([^"]+)"', json.dumps(described)))
        assert linked - set(entities) == {crate.SPECIFICATION}


class TestCards:
    def test_every_agent_is_on_the_card_beside_it(self):
        study = config.load(ROOT / "envs.yaml")
        written = cards.write(study, "paper", ROOT / "results")
        agents = list(FOLDER.glob("*/*/*.npz"))
        assert {path.parent for path in written} == {path.parent for path in agents}
        for agent in agents:
            card = written[agent.with_name(cards.CARD)]
            digest = hashlib.sha256(agent.read_bytes()).hexdigest()
            assert f"{digest}  {agent.name}" in card
            last = pd.read_csv(agent.with_suffix(".csv")).iloc[-1]
            seed = agent.name.partition("-")[0].removeprefix("seed")
            returned = cards.spread(last["mean"], last["std"])
            assert f"| {seed} | [{agent.name}]({agent.name}) | {returned} |" in card

    def test_the_head_is_yaml_and_the_example_runs(self):
        path = next(FOLDER.glob("*/powr/README.md"))
        _, head, _ = path.read_text(encoding="utf-8").split("---\n", 2)
        (model,) = yaml.safe_load(head)["model-index"]
        assert model["results"][0]["metrics"][0]["type"] == "mean_reward"
        name = re.search(r'POWR.load\("(.*)"\)', path.read_text(encoding="utf-8")).group(1)
        assert POWR.load(path.with_name(name)).num_timesteps > 0


def test_codecheck_lists_files_that_are_shipped():
    document = yaml.safe_load((ROOT / "codecheck.yml").read_text(encoding="utf-8"))
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert document["paper"]["reference"] == citation["preferred-citation"]["url"]
    for entry in document["manifest"]:
        assert (ROOT / entry["file"]).is_file()
        assert entry["comment"]
