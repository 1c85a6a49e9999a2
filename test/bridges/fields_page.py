# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The page of MuJoCo's fields, made from the tables that the bridge obeys.

cd test && python -m bridges.fields_page > ../docs/reference/mujoco_fields.md
"""

from hrpsim.bridges.mujoco import fields
from hrpsim.bridges.mujoco.fields import Need, Use

HEAD = """# Fields of MuJoCo's structures

`hrpsim.bridges.mujoco` simulates each field, or raises an error that names the field. This page is
made from the tables that the code obeys: `cd test && python -m bridges.fields_page >
../docs/reference/mujoco_fields.md`. A star stands for any letters. A field that the tables lack
fails a test.

Writes act by any path: attributes, slices, in-place operators, `np.copyto`, kept views, and named
views such as `model.joint("j").damping`. hrpsim compares the memory of the followed fields with the
last known values before each step. A changed field gives a new world with the same state, which
takes as long as loading the model. Masses, inertias, damping, armature, dry friction and stiffness
need no new world, nor does `opt.gravity`. Arrays of the other fields are read only.
"""


def listed(names) -> str:
    """Return names and patterns as code."""
    texts = [name.replace(".*", "*").replace("[a-zA-Z_0-9]+", "*") for name in names]
    return ", ".join(f"`{text}`" for text in texts).replace("|", "\\|")


def rows(uses) -> list[str]:
    """Return the rows of a table of uses and names."""
    lines = ["| fields | what reading and writing do |", "| --- | --- |"]
    return lines + [f"| {listed(names)} | {use.value} |" for use, names in uses]


def page() -> str:
    """Return the page as text."""
    model = [(Use.FOLLOWED, sorted(fields.FOLLOWED)), *fields.PATTERNS]
    option = [(use, names.split()) for use, names in fields.OPTION.items()]
    data = [(need, names.split()) for need, names in fields.DATA.items()]
    lines = [HEAD, "## MjModel", "", *rows(model), ""]
    lines += ["## MjOption", "", *rows(option), ""]
    lines += [f"Followed bits of the flags: {listed(fields.FLAGS_FOLLOWED.split())}.", ""]
    lines += [f"Bits without effect: {listed(fields.FLAGS_OF_ACCURACY.split())}.", ""]
    lines += ["Other bits raise an error.", "", "## MjStatistic and MjVisual", ""]
    lines += [f"{listed(fields.SHOWN.split())}: {Use.SHOWN.value}.", ""]
    lines += ["## MjData", "", *rows(data), ""]
    lines += [f"After `mj_makeConstraint`: {listed(sorted(fields.CONSTRAINED))}.", ""]
    lines += [f"Reading and writing raise: {listed(fields.DATA_REFUSED)}.", ""]
    assert set(Need) == set(fields.DATA)
    return "\n".join(lines)


if __name__ == "__main__":
    print(page(), end="")
