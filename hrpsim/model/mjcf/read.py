# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Lets MuJoCo compile an MJCF in a bounded process of its own, and reads back what it made."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from hrpsim import limits
from hrpsim.errors import ModelError
from hrpsim.model.mjcf.source import MjcfSource

_CHILD = Path(__file__).with_name("compile_child.py")
_NOT_INSTALLED, _REFUSED = 3, 4
_UNNAMED = "MuJoCo Model"  # what MuJoCo calls a model without a name
_LINE = re.compile(r"\s*\n\s*")


class MjcfModel:
    """A compiled MJCF: MuJoCo's arrays by their names in mjModel, `names`, `option`, `enums`.

    An array that the installed version of MuJoCo does not have is None.
    """

    def __init__(
        self,
        label: str,
        head: dict[str, Any],
        arrays: dict[str, np.ndarray],
        source: MjcfSource,
    ):
        self.label, self.source = label, source
        self.name: str = "" if head["name"] == _UNNAMED else head["name"]
        self.names: dict[str, list[str]] = head["names"]
        self.option: dict[str, Any] = head["option"]
        # Flags of <option> that are not what they are by default, but for those that are obeyed.
        self.disabled_flags: list[str] = head["disabled"]
        self.enabled_flags: list[str] = head["enabled"]
        self._enums: dict[str, dict[str, int]] = head["enums"]
        self._kinds = {kind: {n: k for k, n in e.items()} for kind, e in self._enums.items()}
        self._head, self._arrays = head, arrays

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        if name.startswith("n") and name in self._head:
            return self._head[name]
        return self._arrays.get(name)

    def count(self, size: str) -> int:
        """Return one of mjModel's sizes, 0 where this version has none such."""
        return self._head.get(size, 0)

    def kind(self, enum: str, number: int) -> str:
        """Return the name of a member of one of MuJoCo's enumerations, such as "HINGE"."""
        return self._kinds[enum].get(int(number), str(number))


def read_mjcf(text: str, path: Path | None) -> MjcfModel:
    """Return the compiled model of an MJCF: a file, or `text` where `path` is None.

    ModelError where it is not sound, where MuJoCo is not installed, and where MuJoCo dies of it.
    """
    label = "<text>" if path is None else str(path)
    said = MjcfSource(text, path)
    said.refuse_no_numbers()
    with tempfile.TemporaryDirectory(prefix="hrpsim-mjcf-") as folder:
        source = Path(folder) / "model.xml"
        if path is None:
            source.write_text(text, encoding="utf-8")
        else:
            source = path.absolute()
        output = Path(folder) / "model.npz"
        _compile(source, output, label)
        with np.load(output, allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
    return MjcfModel(label, json.loads(arrays.pop("head").tobytes()), arrays, said)


def _compile(source: Path, output: Path, label: str) -> None:
    time = str(limits.MJCF_TIME)
    command = [sys.executable, str(_CHILD), str(source), str(output), time]
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    try:
        child = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            cwd=output.parent,
            env=environment,
            timeout=limits.MJCF_WAIT,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise ModelError(
            f"{label}: MuJoCo did not compile it within {limits.MJCF_WAIT:g} s (MJCF_WAIT)"
        ) from None
    except (OSError, ValueError) as cause:
        raise ModelError(f"{label}: no process could be started for MuJoCo: {cause}") from cause
    if child.returncode == 0:
        return
    if child.returncode == -signal.SIGPROF:
        raise ModelError(
            f"{label}: MuJoCo did not compile it in {limits.MJCF_TIME:g} s of the processor's time"
            " (MJCF_TIME)"
        )
    if child.returncode == _NOT_INSTALLED:
        raise ModelError(
            f"{label}: MJCF is read by MuJoCo's own parser, which is not installed: pip install"
            " mujoco, or hrpsim[mjcf]; or give a URDF"
        )
    if child.returncode == _REFUSED:
        reason = Path(f"{output}.error").read_text(encoding="utf-8", errors="replace")
        if reason.startswith("XML parse error"):
            reason = _why_no_xml(source) or reason
        raise ModelError(f"{label}: MuJoCo refuses it: {_one_line(reason)}")
    last = child.stderr.decode(errors="replace").strip().rpartition("\n")[2][:300]
    raise ModelError(
        f"{label}: MuJoCo's parser ended with status {child.returncode} ({last or 'no message'}):"
        " the file is damaged, or too large for its limits of memory and time"
    )


def _why_no_xml(source: Path) -> str:
    """Return line and cause of a syntax error, which MuJoCo tells as a number alone."""
    from lxml import etree

    try:
        etree.parse(str(source), etree.XMLParser(resolve_entities=False, no_network=True))
    except (etree.XMLSyntaxError, OSError) as cause:
        return f"XML syntax error: {cause.args[0] if cause.args else cause}"
    return ""


def _one_line(reason: str) -> str:
    """Return MuJoCo's message in one line, the temporary file's name left out."""
    text = _LINE.sub("; ", reason.strip())
    return re.sub(r"/\S*hrpsim-mjcf-\w+/", "", text)
