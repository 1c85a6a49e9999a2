# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""docs/reference/ros says what the node does: topics, services and parameters."""

import re
from pathlib import Path

import pytest

from hrpsim.ros.base.parameters import SPECIFICATIONS

ROOT = Path(__file__).resolve().parents[2]
REFERENCE = ROOT / "docs" / "reference"
PAGES = [REFERENCE / "ros_interface.md", *sorted((REFERENCE / "ros").glob("*.md"))]
TEXT = "\n".join(page.read_text(encoding="utf-8") for page in PAGES)
# Beside what rclpy brings: a topic that only those have who have ros_gz_interfaces.
COMMON = {"/parameter_events", "/rosout", "/contacts"}
TYPE_NAMES = {float: "double", int: "integer", bool: "bool", str: "string", list: "string array"}


def table(title):
    """Return the rows of the first table below a heading, cells without backquotes."""
    section = TEXT.split(f"\n## {title}\n")[1].split("\n## ")[0]
    rows = [line for line in section.splitlines() if line.startswith("|")]
    return [
        [cell.strip().replace("`", "") for cell in row.strip("|").split("|")] for row in rows[2:]
    ]


@pytest.fixture(scope="module")
def graph(paused_simulation, module_listener):
    """The node of a listener that has discovered the simulation, and forgotten any before it."""
    node = module_listener.node
    published = {row[0].lstrip("/") for row in table("Published topics")}
    subscribed = {row[0].lstrip("/") for row in table("Subscribed topics")}
    services = {row[0].replace("~", "/hrpsim") for row in table("Services")}

    def is_discovered():
        return (
            all(len(node.get_publishers_info_by_topic(f"/{name}")) == 1 for name in published)
            and {f"/{name}" for name in published} <= set(module_listener.publishers_of("hrpsim"))
            and {f"/{name}" for name in subscribed} <= set(module_listener.subscribers_of("hrpsim"))
            and services <= set(dict(node.get_service_names_and_types()))
        )

    module_listener.wait_for(is_discovered, 60.0)  # or the tests tell what is missing
    return node


def test_published_topics(graph, module_listener):
    documented = {"/" + row[0].lstrip("/"): row[1] for row in table("Published topics")}
    found = module_listener.publishers_of("hrpsim")
    found = {t: types[0] for t, types in found.items() if t not in COMMON}
    assert documented == {t: kind for t, kind in found.items() if "/_action/" not in t}


def test_qualities_of_service(graph):
    for topic, _, _, _, quality in table("Published topics"):
        (offer,) = graph.get_publishers_info_by_topic("/" + topic.lstrip("/"))
        latched = offer.qos_profile.durability.name == "TRANSIENT_LOCAL"
        assert quality == ("latched" if latched else "reliable"), topic
        assert offer.qos_profile.reliability.name == "RELIABLE"


def test_subscribed_topics(graph, module_listener):
    documented = {"/" + row[0]: row[1] for row in table("Subscribed topics")}
    found = module_listener.subscribers_of("hrpsim")
    assert documented == {t: types[0] for t, types in found.items() if t not in COMMON}


def test_services(graph):
    documented = {row[0].replace("~", "/hrpsim") for row in table("Services")}
    found = dict(graph.get_service_names_and_types())
    assert documented == {s for s, types in found.items() if types == ["std_srvs/srv/Trigger"]}


def test_parameter_table():
    rows = {row[0]: row[1:] for row in table("Parameters")}
    assert list(rows) == list(SPECIFICATIONS)
    for name, specification in SPECIFICATIONS.items():
        kind, default, span, changes, meaning = rows[name]
        assert kind == TYPE_NAMES[type(specification.default)]
        assert default.strip("'") == plain(specification.default), name
        assert changes == ("no" if specification.read_only else "yes")
        if specification.lowest is not None:
            assert span == f"{specification.lowest:g} to {specification.highest:g}"
        elif specification.choices:
            assert span == ", ".join(filter(None, specification.choices))
        assert meaning == f"{specification.description}."


def test_declared_parameters_have_descriptions(graph, module_listener):
    from rcl_interfaces.srv import DescribeParameters

    names = list(SPECIFICATIONS)
    answer = module_listener.call(
        "/hrpsim/describe_parameters",
        DescribeParameters.Request(names=names),
        "rcl_interfaces/srv/DescribeParameters",
    )
    for specification, descriptor in zip(SPECIFICATIONS.values(), answer.descriptors):
        assert descriptor.description == specification.description
        assert descriptor.read_only == specification.read_only
        ranges = [*descriptor.floating_point_range, *descriptor.integer_range]
        assert bool(ranges) == (specification.lowest is not None)


def plain(default):
    return str(default).lower() if not isinstance(default, str) else default


def test_links_to_files_exist():
    for name in re.findall(r"(?:launch|config|docs)/[\w.]+\.\w+", TEXT):
        assert (ROOT / name).exists(), name


def test_every_page_is_found_from_the_index():
    index = PAGES[0].read_text(encoding="utf-8")
    for page in PAGES[1:]:
        assert re.search(rf"^ros/{page.stem}$", index, re.MULTILINE), page
