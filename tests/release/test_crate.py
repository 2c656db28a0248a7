"""The RO-Crate and the model cards of the shipped scale."""

import argparse
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
from suite.release import cards, crate

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "results/paper"


@pytest.fixture(scope="module")
def described():
    """The crate of the shipped runs, made now."""
    files = {"envs": ROOT / "envs.yaml", "claims": ROOT / "claims.yaml"}
    options = argparse.Namespace(scale="paper", results=ROOT / "results", **files)
    return crate.describe(options)


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
    def test_the_crate_is_valid(self, described, tmp_path):
        """A part of it, since the validator takes minutes for all runs and verdicts."""
        thin = [thinned(entity) for entity in described["@graph"] if not is_left_out(entity)]
        assert 20 < len(thin) < len(described["@graph"])
        for entity in thin:
            if entity["@type"] == "File":
                (tmp_path / entity["@id"]).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(FOLDER / entity["@id"], tmp_path / entity["@id"])
        (tmp_path / crate.NAME).write_text(json.dumps({**described, "@graph": thin}))
        assert faults(tmp_path) == []

    def test_a_crate_without_a_licence_or_a_file_is_found_out(self, described, tmp_path):
        descriptor, root, *_ = described["@graph"]
        part = {"@id": "absent.csv", "@type": "File", "name": "a file that is not there"}
        root = {**root, "hasPart": [{"@id": "absent.csv"}], "mentions": []}
        graph = {**described, "@graph": [descriptor, {**root, "license": ""}, part]}
        (tmp_path / crate.NAME).write_text(json.dumps(graph))
        assert len(faults(tmp_path)) >= 1


def test_every_verdict_leads_to_runs_and_code(described):
    entities = {entity["@id"]: entity for entity in described["@graph"]}
    made_by = {
        result["@id"]: entity["instrument"]["@id"]
        for entity in entities.values()
        if entity["@type"] == "CreateAction"
        for result in entity["result"]
    }
    verdicts = [entity for entity in entities.values() if entity["@type"] == "ClaimReview"]
    table = pd.read_csv(FOLDER / "claims.csv", keep_default_na=False)
    assert len(verdicts) == len(table.drop_duplicates(["id", "against"]))
    for (claim, against), rows in table.groupby(["id", "against"]):
        verdict = entities[f"#verdict-{claim}" + (f"-{against}" if against else "")]
        assert verdict["reviewBody"].startswith(rows["verdict"].iloc[0])
        based = {link["@id"] for link in verdict["isBasedOn"]} - {"claims.csv"}
        named = {file for files in rows["run_files"] for file in files.split()}
        if named:
            assert based == {file.removeprefix("paper/") for file in named}
        for run in based:
            recorded = json.loads((FOLDER / run).with_suffix(".json").read_text())
            commit = entities[made_by[run]]["version"]
            assert recorded["provenance"]["git"]["commit"] == commit
    parts = {link["@id"] for link in entities["./"]["hasPart"]}
    assert all((FOLDER / path).is_file() for path in parts)
    linked = set(re.findall(r'"@id": "([^"]+)"', json.dumps(described)))
    assert linked - set(entities) == {crate.SPECIFICATION}


def test_every_agent_is_on_the_card_beside_it():
    written = cards.write(config.load(ROOT / "envs.yaml"), "paper", ROOT / "results")
    agents = list(FOLDER.glob("*/*/*.npz"))
    assert {path.parent for path in written} == {path.parent for path in agents}
    for agent in agents:
        card = written[agent.with_name(cards.CARD)]
        last = pd.read_csv(agent.with_suffix(".csv")).iloc[-1]
        returned = cards.spread(last["mean"], last["std"])
        assert f"| [{agent.name}]({agent.name}) | {returned} |" in card
    path = next(FOLDER.glob("*/powr/README.md"))
    _, head, text = written[path].split("---\n", 2)
    (model,) = yaml.safe_load(head)["model-index"]
    assert model["results"][0]["metrics"][0]["type"] == "mean_reward"
    name = re.search(r'POWR.load\("(.*)"\)', text).group(1)
    assert POWR.load(path.with_name(name)).num_timesteps > 0
