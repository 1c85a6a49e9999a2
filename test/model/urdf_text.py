# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Parts of small URDFs, and where the bodies that they make stand."""


def joint(name: str, kind: str, parent: str, child: str, inside: str = "") -> str:
    """Return the text of a joint; `inside` are its further elements."""
    return (
        f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>'
        f"{inside}</joint>"
    )


def robot(*parts: str) -> str:
    """Return a URDF of these links and joints."""
    return f'<robot name="r">{"".join(parts)}</robot>'


def zero_posture(model):
    """R_world_body and p_world of each body with every joint at zero, as System reads."""
    placed = []
    for i, parent in enumerate(model.system.parent):
        R, p = model.system.placement_R[i], model.system.placement_p[i]
        if parent >= 0:
            R, p = placed[parent][0] @ R, placed[parent][0] @ p + placed[parent][1]
        placed.append((R, p))
    return placed
