# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Compile an MJCF by MuJoCo in a separate process with limited resources, and read the result.

MuJoCo treats `nan` as a missing value, so the compiled model hides such numbers. The XML is read
here only to find these numbers. MuJoCo checks everything else.
"""

from __future__ import annotations

import itertools
import os
import re
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from lxml import etree

from hrpsim.common import limits
from hrpsim.common.errors import ModelError, shown_value
from hrpsim.common.file_names import exists, is_file, is_folder, resolved
from hrpsim.common.foreign.arrays import read_npz
from hrpsim.common.foreign.file_bytes import open_file, read_bytes, refuse_pointer
from hrpsim.common.foreign.json_text import parse_json
from hrpsim.common.foreign.xml_text import decoded_xml, xml_root
from hrpsim.model.readers.mjcf.compile_child import ARRAYS, NOT_INSTALLED, REFUSED
from hrpsim.model.readers.plausibility import radians_in_degrees
from hrpsim.model.readers.urdf.document import described

_NAN = re.compile(r"[+-]?nan(\(\w*\))?", re.IGNORECASE)
_NOT_FINITE = re.compile(rf"{_NAN.pattern}|[+-]?inf(inity)?", re.IGNORECASE)
# Attributes that hold names, words and files, or data for users' own programs.
_NO_NUMBERS = {
    *("name", "class", "childclass", "model", "prefix", "key", "plugin", "instance", "type"),
    *("body", "body1", "body2", "subtree1", "subtree2", "geom", "geom1", "geom2", "material"),
    *("joint", "joint1", "joint2", "jointinparent", "site", "site1", "site2", "refsite"),
    *("tendon", "tendon1", "tendon2", "actuator", "cranksite", "slidersite", "sidesite"),
    *("insidesite", "camera", "target", "mesh", "hfield", "texture", "objname", "refname", "node"),
    *("file", "fileback", "filedown", "filefront", "fileleft", "fileright", "fileup", "dir"),
    *("assetdir", "meshdir", "texturedir", "content_type", "user", "data", "value"),
}
_NAMING_FOLDERS = ("assetdir", "meshdir", "texturedir")
_NAMING_FILES = frozenset(
    ("file", "fileback", "filedown", "filefront", "fileleft", "fileright", "fileup")
)
_LEAST_TIME, _TIME_EACH = 5.0, 2e-6  # [s], and for each byte of the files
_LEAST_MEMORY, _COPIES = 1_200_000_000, 40  # [bytes], and for each byte of the files
_FILES = 1000  # that include each other
_CHILD = Path(__file__).with_name("compile_child.py")
_UNNAMED = "MuJoCo Model"  # what MuJoCo calls a model without a name
_LINE = re.compile(r"\s*\n\s*")


class MjcfSource:
    """The XML of an MJCF, and of all files that the MJCF includes or attaches.

    `path` is None if the MJCF was given as text.
    """

    def __init__(
        self, text: str, path: Path | None, assets: Mapping[str, bytes] | None = None
    ) -> None:
        self._files: list[tuple[str, etree._Element]] = []
        self._included: list[etree._Element] = []
        self._seen: set[Path | str] = set()
        self._assets = {Path(name).name: data for name, data in (assets or {}).items()}
        self._top = None if path is None else path.parent
        if path is None:
            self._add("<text>", text.encode("utf-8", "replace"), None, is_part=True)
        else:
            self._open(path, is_part=True)

    def refuse_no_numbers(self) -> None:
        """Raise ModelError for the first attribute with a NaN or a missing number.

        Bounds may be infinite.
        """
        for label, element in self._elements():
            for name, value in element.items():
                cause = "" if name in _NO_NUMBERS else _why_no_numbers(name, value.split())
                if cause:
                    path = filter(lambda node: node is not None, (element.getparent(), element))
                    where = " / ".join(map(described, path))
                    raise ModelError(f"{label}:{element.sourceline}: {where}: {name}: {cause}")

    def _elements(self) -> Iterator[tuple[str, Any]]:
        """Yield every element of the files, with the label of the file."""
        for label, root in self._files:
            for element in root.iter(etree.Element):
                yield label, element

    def files(self) -> list[Path] | None:
        """Return all files that MuJoCo reads, with meshes and textures, or None if one is missing.

        If several files match a name, all are returned.
        """
        paths, is_complete = self._named()
        return sorted(paths) if is_complete else None

    def size(self) -> int:
        """Return the total size of the files on disk [bytes].

        Raises ModelError for a pipe or a device, on which MuJoCo would wait.
        """
        return sum(path.stat().st_size for path in self._named()[0])

    def _named(self) -> tuple[set[Path], bool]:
        """Find the files that MuJoCo reads.

        Returns:
            (existing files, whether every name matches a file).
        """
        paths = {path for path in self._seen if isinstance(path, Path)}
        tops = {path.parent for path in paths} | {self._top or Path.cwd()}
        folders, names = self._names()
        is_complete = True
        for name in names:
            parts = itertools.product(tops, folders, (name, Path(name).name))
            fits = {top / folder / tail for top, folder, tail in parts}
            there = {path.resolve() for path in filter(self._is_file, fits)}
            is_complete = is_complete and bool(there)
            paths |= there
        return paths, is_complete

    def _names(self) -> tuple[set[str], set[str]]:
        """Return the folders named in <compiler>, and the file names in all elements."""
        folders, names = {""}, set[str]()
        for _, element in self._elements():
            if element.tag == "compiler":
                folders.update(element.get(name, "") for name in _NAMING_FOLDERS)
            names.update(map(element.attrib.get, _NAMING_FILES.intersection(element.attrib)))
        return folders, names - {""}

    @staticmethod
    def _is_file(path: Path) -> bool:
        try:
            if is_folder(path) or not exists(path):
                return False
            with open_file(path, ModelError, None, "MJCF: file"):
                return True
        except (OSError, ValueError) as cause:  # ValueError: a name with a null character
            if isinstance(cause, ModelError):
                raise
            return False

    def key_lengths(self) -> Iterator[tuple[str, int]]:
        """Yield (name, number of values in `qpos`) of each keyframe, without attached keyframes."""
        for root in self._included:
            for key in root.iterfind(".//keyframe/key"):
                count = len(key.get("qpos", "").split())
                if count:
                    yield key.get("name", ""), count

    def radians_in_degrees(self) -> Iterator[str]:
        """Yield the names of elements whose `euler` seems to be in radians in a file in degrees."""
        for root in self._included:
            compilers = [
                compiler.get("angle") for _, top in self._files for compiler in top.iter("compiler")
            ]
            if "radian" in compilers:
                return
            for element in root.iter(etree.Element):
                words = element.get("euler", "").split()
                if radians_in_degrees([float(word) for word in words]):
                    yield element.get("name", "")

    def _open(self, path: Path, is_part: bool) -> None:
        """Read an existing file once. MuJoCo reports errors of files."""
        try:
            where = resolved(path)
            if where in self._seen or len(self._seen) >= _FILES or not is_file(where):
                return
            self._seen.add(where)
            data = read_bytes(where, ModelError, "XML_SIZE")
        except (OSError, ValueError):  # ValueError: ModelError, too
            return
        self._add(str(path), data, path.parent, is_part)

    def _add(self, label: str, data: bytes, folder: Path | None, is_part: bool) -> None:
        try:
            text = decoded_xml(data, label, ModelError, "replace")
            root = xml_root(text, label, ModelError, recover=True)
        except ModelError:
            return
        self._files.append((label, root))
        if is_part:
            self._included.append(root)
        for element in root.iter("include", "model"):
            name = element.get("file", "")
            asset = Path(name).name
            if asset in self._assets and asset not in self._seen:
                self._seen.add(asset)
                self._add(asset, self._assets[asset], folder, element.tag == "include")
            for above in (folder, self._top):
                if name and above is not None:
                    self._open(above / name, is_part and element.tag == "include")


def _why_no_numbers(name: str, words: list[str]) -> str:
    """Return the reason why the words of an attribute are not numbers, or "". Ranges may be inf."""
    refused = _NAN if name.endswith("range") else _NOT_FINITE
    wrong = next(filter(refused.fullmatch, words), None)
    if wrong is not None:
        return f"{shown_value(wrong)} is not a finite number"
    return "" if words else "is empty"


class MjcfModel:
    """A compiled MJCF, with MuJoCo's arrays as attributes under their names in mjModel.

    An array that the installed version of MuJoCo does not have is None.
    """

    def __init__(
        self, label: str, head: dict[str, Any], arrays: dict[str, np.ndarray], source: MjcfSource
    ) -> None:
        self.label, self.source = label, source
        self.name: str = "" if head["name"] == _UNNAMED else head["name"]
        self.names: dict[str, list[str]] = head["names"]
        self.option: dict[str, Any] = head["option"]
        # Flags of <option> that differ from their defaults, except those that are obeyed.
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
        """Return one of mjModel's sizes, or 0 if this version of MuJoCo lacks the size."""
        return self._head.get(size, 0)

    def without_geoms(self) -> MjcfModel:
        """Return the same model with an empty list of geoms."""
        return MjcfModel(self.label, {**self._head, "ngeom": 0}, self._arrays, self.source)

    def kind(self, enum: str, number: int) -> str:
        """Return the name of a member of one of MuJoCo's enumerations, such as "HINGE"."""
        return self._kinds[enum].get(int(number), str(number))


def read_mjcf(text: str, path: Path | None) -> MjcfModel:
    """Return the compiled model of an MJCF: a file, or `text` if `path` is None.

    Raises ModelError if the MJCF is invalid, if MuJoCo is not installed, or if MuJoCo crashes.
    """
    label = "<text>" if path is None else str(path)
    mjcf_source = MjcfSource(text, path)
    mjcf_source.refuse_no_numbers()
    with tempfile.TemporaryDirectory(prefix="hrpsim-mjcf-") as folder:
        source = Path(folder) / "model.xml"
        if path is None:
            source.write_text(text, encoding="utf-8")
        else:
            source = path.absolute()
        output = Path(folder) / "model.npz"
        _compile(source, output, label)
        names = ("head", *ARRAYS)
        arrays = read_npz(output, ModelError, "DECODER_RESULT", names, "biuf")
    return MjcfModel(label, parse_json(arrays.pop("head").tobytes()), arrays, mjcf_source)


def _why_refused(source: Path, output: Path) -> str:
    """Return MuJoCo's reason for refusing a file.

    Raises ModelError for a file that Git LFS or git-annex has not fetched.
    """
    reason = Path(f"{output}.error").read_text(encoding="utf-8", errors="replace")
    if reason.startswith("XML parse error"):
        reason = _why_no_xml(source) or reason
    for name in re.findall(r"'([^']+)'", reason):
        if os.path.isfile(name):
            with open_file(Path(name), ModelError, "MESH_SIZE") as file:
                refuse_pointer(Path(name), file.read(100), ModelError)
    return reason


def _compile(source: Path, output: Path, label: str) -> None:
    """Compile an MJCF within the time and memory that the files may need."""
    size = MjcfSource("", source).size()
    time = min(limits.MJCF_TIME, _LEAST_TIME + _TIME_EACH * size)
    memory = min(limits.MJCF_MEMORY, _LEAST_MEMORY + _COPIES * size)
    command = [sys.executable, str(_CHILD), str(source), str(output), str(time), str(memory)]
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
            f"{label}: MuJoCo did not compile the file within {limits.MJCF_WAIT:g} s (limit "
            "MJCF_WAIT in hrpsim.common.limits)"
        ) from None
    except (OSError, ValueError) as cause:
        raise ModelError(f"{label}: no process could be started for MuJoCo: {cause}") from cause
    if child.returncode == 0:
        return
    ends = {
        -signal.SIGPROF: f"MuJoCo did not compile it in {time:.3g} s of the processor's time"
        " (MJCF_TIME)",
        NOT_INSTALLED: "MJCF is read by MuJoCo's own parser, which is not installed: pip install"
        " mujoco, or hrpsim[mjcf]. Or give a URDF",
    }
    if child.returncode in ends:
        raise ModelError(f"{label}: {ends[child.returncode]}")
    if child.returncode == REFUSED:
        reason = _why_refused(source, output)
        raise ModelError(f"{label}: MuJoCo rejects the file: {_one_line(reason)}")
    last = child.stderr.decode(errors="replace").strip().rpartition("\n")[2][:300]
    raise ModelError(
        f"{label}: MuJoCo's parser ended with status {child.returncode} ({last or 'no message'}). "
        "The file is damaged, or needs more memory than the limit MJCF_MEMORY in "
        "hrpsim.common.limits"
    )


def _why_no_xml(source: Path) -> str:
    """Return line and cause of a syntax error, which MuJoCo reports only as a number."""
    try:
        data = read_bytes(source, ModelError, "XML_SIZE")
        xml_root(decoded_xml(data, source, ModelError), source, ModelError)
    except ModelError as cause:
        return str(cause).removeprefix(f"{source}:")
    return ""


def _one_line(reason: str) -> str:
    """Return MuJoCo's message in one line, without the name of the temporary file."""
    text = _LINE.sub("; ", reason.strip())
    return re.sub(r"/\S*hrpsim-mjcf-\w+/", "", text)
