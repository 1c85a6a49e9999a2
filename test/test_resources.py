# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""hrpsim finds the files it ships, from a checkout and from every kind of installation."""

import importlib.util
import shutil
from pathlib import Path

import pytest

from hrpsim.common import resources


def test_checkout_root():
    assert (resources.share_path() / "package.xml").is_file()
    assert resources.share_path("package.xml").is_absolute()


@pytest.mark.parametrize(
    ("code", "share"),
    [
        ("lib/python3.12/site-packages", "share/hrpsim"),  # pip, venv, --user, colcon
        ("local/lib/python3.11/dist-packages", "local/share/hrpsim"),  # Debian's pip
        ("target", "target/share/hrpsim"),  # pip --target
    ],
)
def test_installed(tmp_path, code, share):
    package = tmp_path / code / "hrpsim"
    package.mkdir(parents=True)
    (package / "common").mkdir()
    shutil.copy(resources.__file__, package / "common")
    installed = load(package / "common" / "resources.py")
    with pytest.raises(FileNotFoundError, match="without its shared files"):
        installed.share_path()
    (tmp_path / share / "config").mkdir(parents=True)
    (tmp_path / share / "package.xml").touch()
    (tmp_path / share / "config" / "demo.yaml").touch()
    assert installed.share_path("config/demo.yaml") == tmp_path / share / "config" / "demo.yaml"
    with pytest.raises(FileNotFoundError, match=r"no\.yaml does not .* Entries of .*: demo\.yaml"):
        installed.share_path("config/no.yaml")


def load(path: Path):
    spec = importlib.util.spec_from_file_location("installed_resources", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
