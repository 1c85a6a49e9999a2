"""Reads what plots and verdicts need from a bag, ours or `ros2 bag record`'s. Needs no ROS."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
import yaml
from rosbags.highlevel import AnyReader
from rosbags.typesys import Stores, get_typestore

LOST_MESSAGES = "lost_messages"  # key in the custom data of metadata.yaml


class Wrenches(NamedTuple):
    """The messages of one wrench topic."""

    time: np.ndarray  # (n,) simulated time from the stamps [s]
    force: np.ndarray  # (n, 3) in the sensor frame [N]
    torque: np.ndarray  # (n, 3) in and about the sensor frame [Nm]


class BagError(ValueError):
    """A bag that lacks what is asked for."""


def message_counts(bag: Path) -> dict[str, int]:
    """Return the number of messages of each topic, as the bag's metadata.yaml tells."""
    return {
        entry["topic_metadata"]["name"]: entry["message_count"]
        for entry in _metadata(bag)["topics_with_message_count"]
    }


def lost_messages(bag: Path) -> dict[str, int | None]:
    """Return what the recorder noted as lost for each topic; empty for bags of other recorders."""
    return json.loads((_metadata(bag).get("custom_data") or {}).get(LOST_MESSAGES, "{}"))


def messages(bag: Path, topic: str) -> Iterator:
    """Yield the messages of `topic`, an absolute name or the end of one ("lfsensor").

    Raises BagError that names the topics there are.
    """
    with AnyReader([bag], default_typestore=get_typestore(Stores.ROS2_JAZZY)) as reader:
        wanted = "/" + topic.lstrip("/")
        connections = [c for c in reader.connections if c.topic.endswith(wanted)]
        if not connections:
            names = ", ".join(sorted(c.topic for c in reader.connections))
            raise BagError(f"{bag} has no topic {topic!r}; it has: {names}")
        for connection, _, data in reader.messages(connections=connections):
            yield reader.deserialize(data, connection.msgtype)


def wrenches(bag: Path, topic: str) -> Wrenches:
    """Return all messages of a geometry_msgs/WrenchStamped topic."""
    rows = [
        (seconds(m.header.stamp), *_xyz(m.wrench.force), *_xyz(m.wrench.torque))
        for m in messages(bag, topic)
    ]
    table = np.array(rows).reshape(-1, 7)
    return Wrenches(table[:, 0], table[:, 1:4], table[:, 4:])


def seconds(stamp) -> float:
    """Return a builtin_interfaces/Time in seconds."""
    return stamp.sec + 1e-9 * stamp.nanosec


def _metadata(bag: Path) -> dict:
    return yaml.safe_load((bag / "metadata.yaml").read_text())["rosbag2_bagfile_information"]


def _xyz(vector) -> tuple[float, float, float]:
    return vector.x, vector.y, vector.z
