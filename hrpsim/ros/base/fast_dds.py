# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Which settings Fast DDS takes: release 3 (ROS 2 Kilted and later) names both of them anew."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from xml.etree import ElementTree

from hrpsim.resources import share_path

_MIDDLEWARE = "share/rmw_fastrtps_shared_cpp/package.xml"
_RELEASE_2 = ("FASTRTPS_DEFAULT_PROFILES_FILE", "config/fastdds_profiles.xml")
_RELEASE_3 = ("FASTDDS_DEFAULT_PROFILES_FILE", "config/fastdds_3_profiles.xml")


def profiles_variable(rclpy_file: str, environment: Mapping[str, str]) -> dict[str, str]:
    """Return the variable that gives Fast DDS our profiles, or none where one names others.

    rclpy_file: a file of rclpy; the package of the middleware is looked for in the prefixes above
    it, then in those of AMENT_PREFIX_PATH. What its package.xml depends on tells the release.
    """
    if any(environment.get(variable) for variable, _ in (_RELEASE_2, _RELEASE_3)):
        return {}
    prefixes = [*Path(rclpy_file).parents]
    prefixes += map(Path, filter(None, environment.get("AMENT_PREFIX_PATH", "").split(os.pathsep)))
    described = next((path for p in prefixes if (path := p / _MIDDLEWARE).is_file()), None)
    if described is None:
        return {}
    depends = {str(element.text).strip() for element in ElementTree.parse(described).getroot()}
    variable, profiles = _RELEASE_3 if "fastdds" in depends else _RELEASE_2
    return {variable: str(share_path(profiles))}
