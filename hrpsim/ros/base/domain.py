# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Environment variables that configure DDS.

Private ROS domains isolate processes on this machine from all others. The module also sets the
profiles of Fast DDS. Release 3 of Fast DDS (ROS 2 Kilted and later) renamed the variable and the
settings.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Mapping
from pathlib import Path
from xml.etree import ElementTree

from hrpsim.common.resources import share_path

# The ports that DDS derives from a domain (RTPS 2.2, section 9.6.1.1).
_BASE_PORT = 7400
_PORTS_PER_DOMAIN = 250
_RESERVATION = 249  # no participant of the domain uses its last port
_DOMAINS = range(1, 102)  # higher domains use ports that Linux assigns to clients

_MIDDLEWARE = "share/rmw_fastrtps_shared_cpp/package.xml"
_RELEASE_2 = ("FASTRTPS_DEFAULT_PROFILES_FILE", "config/fastdds_profiles.xml")
_RELEASE_3 = ("FASTDDS_DEFAULT_PROFILES_FILE", "config/fastdds_3_profiles.xml")


class PrivateDomain:
    """A ROS domain id that no other `PrivateDomain` on this machine has, until `release`.

    A bound socket reserves the id, so a process that dies releases the id. Domains in which a DDS
    participant already listens are skipped.
    """

    def __init__(self) -> None:
        for offset in range(len(_DOMAINS)):
            self.domain_id = _DOMAINS[(os.getpid() + offset) % len(_DOMAINS)]
            if holder := _reserve(self.domain_id):
                self._holder = holder
                return
        raise RuntimeError("no free ROS domain id between 1 and 101")

    def environment(self) -> dict[str, str]:
        """Return a copy of this process's environment that confines ROS to the domain."""
        return {
            **os.environ,
            "ROS_DOMAIN_ID": str(self.domain_id),
            "ROS_AUTOMATIC_DISCOVERY_RANGE": "LOCALHOST",
        }

    def release(self) -> None:
        """Release the id."""
        self._holder.close()

    def __enter__(self) -> PrivateDomain:
        return self

    def __exit__(self, *exception) -> None:
        self.release()


def _reserve(domain_id: int) -> socket.socket | None:
    base = _BASE_PORT + _PORTS_PER_DOMAIN * domain_id
    holder = _bound("127.0.0.1", base + _RESERVATION)
    if holder and any(_is_taken(base + offset) for offset in (0, 1, 10, 11)):
        holder.close()
        return None
    return holder


def _is_taken(port: int) -> bool:
    if probe := _bound("0.0.0.0", port):
        probe.close()
    return probe is None


def _bound(address: str, port: int) -> socket.socket | None:
    bound = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    try:
        bound.bind((address, port))
    except OSError:
        bound.close()
        return None
    return bound


def profiles_variable(rclpy_file: str, environment: Mapping[str, str]) -> dict[str, str]:
    """Return the name of the environment variable for hrpsim's Fast DDS profiles.

    The result is empty if the user has set such a variable, or if the release is unknown. The
    dependencies in the package.xml of the middleware determine the release.

    rclpy_file: a file of rclpy. The package of the middleware is searched in the prefixes above
    this file, then in the prefixes of AMENT_PREFIX_PATH.
    """
    if any(environment.get(variable) for variable, _ in (_RELEASE_2, _RELEASE_3)):
        return {}
    prefixes = [*Path(rclpy_file).parents]
    prefixes += map(Path, filter(None, environment.get("AMENT_PREFIX_PATH", "").split(os.pathsep)))
    described = next((path for p in prefixes if (path := p / _MIDDLEWARE).is_file()), None)
    if described is None:
        return {}
    try:
        depends = {str(element.text).strip() for element in ElementTree.parse(described).getroot()}
    except (OSError, ElementTree.ParseError):
        return {}
    variable, profiles = _RELEASE_3 if "fastdds" in depends else _RELEASE_2
    return {variable: str(share_path(profiles))}
