# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The page of the scene's arrays, made from their declarations and from the stages' source.

cd test && python -m step.scene_page > ../docs/reference/scene.md
"""

from step.effects import STAGES, arrays, effects_of

from hrpsim.engine.compile.fields import Axis, Life, declared_fields
from hrpsim.engine.step.arrays import Scene

HEAD = """# The arrays of a scene

A scene holds everything that a compiled step reads and writes, as one named tuple of arrays
(`engine.step.arrays.Scene`). This page is made from their declarations and from the source of
the stages: `cd test && python -m step.scene_page > ../docs/reference/scene.md`. To add an array,
add its declaration. Allocation, growth, snapshots, removal, sleep, pickling and this page follow
from it.

How long an array lasts:
"""
LIVES = {
    Life.CONSTANT: "says what is in the world; made with the scene",
    Life.STATE: "what the next step depends on; snapshots have it",
    Life.RESULT: "what a step found; readers ask for it until the next one",
    Life.WORK: "written in every step before it is read; worlds of a batch share it",
    Life.CACHE: "follows from the state; a step need not write it again",
    Life.PROCESS: "addresses in this process",
}


def shape_of(field) -> str:
    """Return "body, 3" for an array (n, 3) with an entry for each body."""
    return ", ".join(axis.value if isinstance(axis, Axis) else str(axis) for axis in field.shape)


def stages_by_array(kind: str) -> dict[str, list[str]]:
    """Return the stages that read, or that write, each array."""
    found: dict[str, list[str]] = {}
    for stage, module in STAGES.items():
        for name in arrays(getattr(effects_of(f"hrpsim.engine.step.{module}", stage), kind)):
            found.setdefault(name, []).append(stage)
    return found


def page() -> str:
    """Return the page as text."""
    lines = [HEAD, *(f"- *{life.value}*: {meaning}" for life, meaning in LIVES.items()), ""]
    lines += ["| array | entries | lasts | what it is |", "| --- | --- | --- | --- |"]
    for path, field in declared_fields(Scene):
        lines.append(f"| `{path}` | {shape_of(field)} | {field.life.value} | {field.meaning} |")
    lines += ["", "## The stages", "", "In the order in which a step calls them."]
    writes = stages_by_array("writes")
    lines += ["", "| array | written by |", "| --- | --- |"]
    for path, _ in declared_fields(Scene):
        if path in writes:
            lines.append(f"| `{path}` | {', '.join(writes[path])} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    print(page(), end="")
