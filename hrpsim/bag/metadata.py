# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The contents of a bag's metadata.yaml. Needs no ROS."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hrpsim.bag.checksums import CHECKSUMS, is_intact
from hrpsim.common.errors import HrpsimError, one_line
from hrpsim.common.foreign.file_bytes import read_bytes
from hrpsim.common.foreign.json_text import parse_json
from hrpsim.common.foreign.yaml_text import read_yaml

_SHOWN = 200  # largest number of characters of another error in a message
LOST_MESSAGES = "lost_messages"  # key in the custom data of metadata.yaml


class BagError(HrpsimError, ValueError):
    """Raised for a bag that cannot be read or lacks the requested data."""


class Metadata:
    """The contents of metadata.yaml. `damage` is the reason if there are no contents."""

    def __init__(self, bag: Path) -> None:
        self.damage = ""
        self.checksums: dict[str, str] = {}  # of files by name
        self._content: dict[str, Any] = {}
        path = bag / "metadata.yaml"
        if not path.is_file():
            self.damage = (
                "the recording was not closed: there is no metadata.yaml" if bag.is_dir() else ""
            )
            return
        try:
            intact = is_intact(read_bytes(path, BagError, "YAML_SIZE"))
            content = dict(read_yaml(path, BagError).data["rosbag2_bagfile_information"])
        except (OSError, ValueError, KeyError, TypeError) as error:
            self.damage = f"metadata.yaml is damaged ({one_line(error, _SHOWN)})"
            return
        custom = content.get("custom_data")
        noted = custom.get(CHECKSUMS) if isinstance(custom, dict) else None
        if intact is False or (noted is not None and not intact):
            self.damage = "metadata.yaml is damaged (its checksum does not match)"
            return
        self._content = content
        if isinstance(noted, str):
            file, _, digits = noted.rpartition(" ")
            self.checksums = {file: digits}

    def counts(self) -> dict[str, int] | None:
        """Return the number of messages of each topic, or None if unknown."""
        try:
            return {
                str(entry["topic_metadata"]["name"]): int(entry["message_count"])
                for entry in self._content["topics_with_message_count"]
            }
        except (KeyError, TypeError, ValueError, OverflowError):
            return None

    def losses(self) -> dict[str, int | None]:
        """Return the lost messages of each topic, as noted by the recorder.

        Empty without a note.
        """
        try:
            return dict(parse_json(self._content["custom_data"][LOST_MESSAGES]))
        except (KeyError, TypeError, ValueError):
            return {}

    def files(self) -> list[str]:
        """Return the names of the bag's files."""
        names = self._content.get("relative_file_paths")
        if not isinstance(names, list):
            return []
        return [Path(name).name for name in names if isinstance(name, str) and "\0" not in name]
