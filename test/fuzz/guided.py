# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Coverage-guided fuzzing of a reader with atheris: guided.py KIND [-max_total_time=SECONDS].

KIND is one of the kinds in targets.py. Sound files of that kind are where it starts.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import atheris
from fuzz.corpus import seeds
from fuzz.targets import SUFFIXES, verdict

with atheris.instrument_imports(include=["hrpsim"]):
    pass


def main() -> None:
    """Fuzz the readers of one kind; the process ends at the first find."""
    kind, options = sys.argv[1], sys.argv[2:]
    folder = Path(tempfile.mkdtemp(prefix="guided_"))
    corpus = folder / "corpus"
    corpus.mkdir()
    path = folder / f"input{SUFFIXES[kind]}"
    for number, data in enumerate(seeds(kind)):
        (corpus / f"{number}").write_bytes(data)
        path.write_bytes(data)
        verdict(kind, path)  # what is imported and compiled at first is no hang

    def test_one_input(data: bytes) -> None:
        path.write_bytes(data)
        what = verdict(kind, path)
        if what not in ("read", "refused"):
            raise AssertionError(what)

    limits = ["-timeout=5", "-rss_limit_mb=2048", f"-artifact_prefix={folder}/"]
    atheris.Setup([sys.argv[0], *limits, *options, str(corpus)], test_one_input)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
