# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Each release of Fast DDS is given profiles that it can read, by the variable that it reads."""

from pathlib import Path
from xml.etree import ElementTree

import pytest

from hrpsim import share_path
from hrpsim.ros.base.domain import profiles_variable

VARIABLES = {
    "fastrtps": "FASTRTPS_DEFAULT_PROFILES_FILE",
    "fastdds": "FASTDDS_DEFAULT_PROFILES_FILE",
}


def install(prefix: Path, release: str) -> str:
    """Lay out a prefix whose middleware is built on `release`; return the file of its rclpy."""
    share = prefix / "share" / "rmw_fastrtps_shared_cpp"
    share.mkdir(parents=True)
    (share / "package.xml").write_text(
        f"<package><name>rmw_fastrtps_shared_cpp</name><build_depend>{release}</build_depend></package>"
    )
    return str(prefix / "lib" / "python3.12" / "site-packages" / "rclpy" / "__init__.py")


@pytest.mark.parametrize("release", VARIABLES)
def test_the_middleware_beside_rclpy_tells_the_release(tmp_path, release):
    found = profiles_variable(install(tmp_path, release), {})
    assert set(found) == {VARIABLES[release]}
    assert Path(found[VARIABLES[release]]).is_file()


@pytest.mark.parametrize("release", VARIABLES)
def test_a_middleware_of_another_prefix_is_found(tmp_path, release):
    """As in a workspace whose packages are installed apart."""
    install(tmp_path / "rmw", release)
    environment = {"AMENT_PREFIX_PATH": f"{tmp_path / 'none'}:{tmp_path / 'rmw'}"}
    assert set(profiles_variable(str(tmp_path / "rclpy.py"), environment)) == {VARIABLES[release]}


@pytest.mark.parametrize("named", VARIABLES.values())
def test_profiles_that_the_user_names_stay(tmp_path, named):
    assert profiles_variable(install(tmp_path, "fastdds"), {named: "/mine.xml"}) == {}


def test_another_middleware_is_given_nothing(tmp_path):
    assert profiles_variable(str(tmp_path / "rclpy.py"), {}) == {}


@pytest.mark.parametrize("text", ["", "no XML", "<package>"])
def test_a_description_that_cannot_be_read_tells_no_release(tmp_path, text):
    rclpy_file = install(tmp_path, "fastdds")
    next(tmp_path.rglob("package.xml")).write_text(text)
    assert profiles_variable(rclpy_file, {}) == {}


def test_both_profiles_say_the_same():
    """Release 3 writes names with underscores; what they hold is alike."""

    def told(name: str) -> list[tuple[str, str]]:
        elements = ElementTree.parse(share_path(f"config/{name}")).getroot().iter()
        return [
            (element.tag.split("}")[1].replace("_", "").lower(), (element.text or "").strip())
            for element in elements
        ]

    assert told("fastdds_profiles.xml") == told("fastdds_3_profiles.xml")
