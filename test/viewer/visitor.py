# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""A visitor of a viewer's page without a browser: uses elements and keys, and has a camera."""

import contextlib
from types import SimpleNamespace

import numpy as np


class Visitor:
    """Does to the elements of a viewer's page what viser does for a page."""

    def __init__(self, viewer):
        self._viewer = viewer
        self.client = SimpleNamespace(
            camera=SimpleNamespace(
                position=np.array([3.0, 0.0, 1.0]),
                look_at=np.zeros(3),
                up_direction=np.array([0.0, 0.0, 1.0]),
            ),
            atomic=contextlib.nullcontext,
        )

    def use(self, element, value=True):
        """Give an element a value, and let the viewer carry out what was asked."""
        element._impl.value = value
        for callback in element._impl.update_cb:
            callback(SimpleNamespace(client=self.client, target=element))
        self._viewer.controls.process_requests()

    def press(self, key):
        """Press a key of the page."""
        for callback in self._viewer.controls.keyboard.commands[key]._impl.trigger_cb:
            callback(SimpleNamespace(client=self.client))
        self._viewer.controls.process_requests()

    def look(self):
        """Let the viewer show one frame, with all texts."""
        self._viewer.controls._last_text = 0.0
        self._viewer.show()
