# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The files of the repository, for tests that look at all of them."""

import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def committed_files() -> list[Path]:
    """Return the files that git tracks; where there is no git, those that are not products."""
    git = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=False)
    if git.returncode == 0:
        return [ROOT / name for name in git.stdout.decode().split("\0") if (ROOT / name).is_file()]
    products = {".venv", "build", "install", "log", "output", "dist"}
    return [
        path
        for path in ROOT.rglob("*")
        if path.is_file()
        and not products & set(path.relative_to(ROOT).parts)
        and "__pycache__" not in path.parts
        and not any(part.startswith(".") and part != ".ci" for part in path.relative_to(ROOT).parts)
    ]
