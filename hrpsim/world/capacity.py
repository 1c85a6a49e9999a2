"""Making room: the arrays whose size depends on what touches grow between steps."""

from __future__ import annotations

import numpy as np

from hrpsim.constraints.rows import new_rows
from hrpsim.dynamics.response import new_ports
from hrpsim.world import status as ended
from hrpsim.world.scene import Scene


def enlarged(array: np.ndarray, size: int) -> np.ndarray:
    """Return a copy with room for `size` entries, the further ones zero."""
    larger = np.zeros((size, *array.shape[1:]), dtype=array.dtype)
    larger[: len(array)] = array
    return larger


def grow(scene: Scene, status: int) -> Scene:
    """Return the scene with twice the room that the step asked for; nothing else changes."""
    room = 2 * int(scene.tally["needed"][0])
    collision = scene.collision
    if status == ended.MORE_CANDIDATES:
        pairs = enlarged(collision.pairs, room)
        return scene._replace(collision=collision._replace(pairs=pairs))
    if status == ended.MORE_CONTACTS:
        collision = collision._replace(
            contacts=enlarged(collision.contacts, room),
            previous=enlarged(collision.previous, room),
        )
        return scene._replace(collision=collision)
    if status == ended.MORE_BLOCKS:
        ports = new_ports(len(scene.forest.bodies), len(scene.forest.dofs), room)
        return scene._replace(ports=ports)
    rows, responses = len(scene.rows.rows), len(scene.rows.response)
    if status == ended.MORE_ROWS:
        return scene._replace(rows=new_rows(room, responses))
    return scene._replace(rows=new_rows(rows, room))
