# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The names of mujoco.viewer, implemented by hrpsim's viewer in a browser."""

from __future__ import annotations

import contextlib
import sys
import time
from typing import Any

from hrpsim.bridges.mujoco.functions import mj_step
from hrpsim.bridges.mujoco.native import native_of, package
from hrpsim.common.errors import HrpsimError
from hrpsim.world.world import World

_FRAME = 1.0 / 40.0  # [s, wall]
_USER_GEOMS = 1000


class Handle:
    """The handle of `launch_passive`.

    Settings of camera, options and user geoms are accepted and have no effect.
    """

    def __init__(self, model: Any, data: Any) -> None:
        from hrpsim.viewer.session import Session, TimeAdvance
        from hrpsim.viewer.viewer import Viewer

        self._open, self._data, self._world = True, data, data.world
        world: World = data.world
        still = Session(world, TimeAdvance(world.time_step, lambda: None, rewinds=False))
        self._viewer = Viewer(world, session=still)
        self._next = 0.0  # time of the next picture [s, wall]
        self.cam, self.opt = package().MjvCamera(), package().MjvOption()
        self.perturb = package().MjvPerturb()
        self.user_scn = package().MjvScene(native_of(model), _USER_GEOMS)
        print(f"the robot is shown at {self._viewer.url}", file=sys.stderr, flush=True)

    def __enter__(self) -> Handle:
        return self

    def __exit__(self, *exception) -> None:
        self.close()

    def is_running(self) -> bool:
        """Return False after `close`, and True before.

        A closed browser page can be opened again.
        """
        return self._open

    def sync(self, state_only: bool = False) -> None:
        """Show the state of the last step or the last call of `mj_forward`.

        Scripts call `sync` at each step. A call is skipped if the last picture was drawn less than
        one frame period ago.
        """
        wall_time = time.monotonic()
        if wall_time >= self._next:
            self._next = wall_time + _FRAME
            if self._data.world is not self._world:  # new, as the script changed the model
                for name, robot in self._data.world.robots.items():
                    self._world.robots[name].q = robot.q
            self._viewer.show()

    def lock(self) -> contextlib.AbstractContextManager[None]:
        """Return a context that does nothing, because all calls are in one thread."""
        return contextlib.nullcontext()

    def close(self) -> None:
        """Close the page."""
        if self._open:
            self._open = False
            self._viewer.stop()


def launch_passive(model: Any, data: Any, **options: Any) -> Handle:
    """Show an MjData's world in a browser. Other options of MuJoCo's viewer have no effect."""
    return Handle(model, data)


def launch(model: Any = None, data: Any = None, *, loader: Any = None, **options: Any) -> None:
    """Step an MjData in real time and show the state, until interrupted.

    loader: a function that returns model and data. The result replaces `model` and `data`.
    """
    if loader is not None:
        model, data = loader()
    if data is None:
        raise HrpsimError("viewer.launch needs model and data, or a loader that returns both")
    with launch_passive(model, data) as viewer:
        begin = time.monotonic() - data.time
        while viewer.is_running():
            mj_step(model, data)
            viewer.sync()
            time.sleep(max(begin + data.time - time.monotonic(), 0.0))
