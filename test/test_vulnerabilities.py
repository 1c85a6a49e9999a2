# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The check of pinned versions against a database of advisories, without a network."""

import importlib.util
from pathlib import Path

import pytest

PATH = Path(__file__).resolve().parents[1] / "tools" / "vulnerabilities.py"
LOCK = "Some_Package==1.5 ; python_version < '3.11' \\\n    --hash=sha256:0\nother==2.0\n"
ADVISORY = """id: PYSEC-1
aliases: [CVE-1]
affected:
- package: {name: some-package, ecosystem: PyPI}
  ranges: [{type: ECOSYSTEM, events: [{introduced: "0"}, {fixed: "1.2"}, {introduced: "1.4"},
    %s]}]
"""


@pytest.fixture(scope="module")
def tool():
    specification = importlib.util.spec_from_file_location("vulnerabilities", PATH)
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    "bound, concerned",
    [
        ('{fixed: "1.5"}', False),
        ('{fixed: "1.5.1"}', True),
        ('{last_affected: "1.5"}', True),
        ('{last_affected: "1.4.9"}', False),
    ],
)
def test_a_pin_within_a_range_is_named(tool, tmp_path, bound, concerned):
    """Law: a version is concerned from "introduced" up to "fixed", or up to "last_affected"."""
    folder = tmp_path / "vulns" / "some-package"
    folder.mkdir(parents=True)
    (folder / "PYSEC-1.yaml").write_text(ADVISORY % bound)
    assert tool.pins(LOCK) == {"some-package": {"1.5"}, "other": {"2.0"}}
    found = list(tool.findings(tmp_path, tool.pins(LOCK)))
    assert found == (["some-package 1.5: PYSEC-1 (CVE-1)"] if concerned else [])


def test_what_is_no_database_is_said(tool, tmp_path, capsys):
    assert tool.main([str(tmp_path)]) == 2
    assert "advisory-database" in capsys.readouterr().out
