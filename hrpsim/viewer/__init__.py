# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Visualisation in a browser, films, and arrows of forces.

Only this package imports viser.
"""

from typing import TYPE_CHECKING

from hrpsim.common.lazy_names import lazy_names

__all__ = ["Viewer", "make_film"]

if TYPE_CHECKING:
    from hrpsim.viewer.film import make_film
    from hrpsim.viewer.viewer import Viewer
else:
    __getattr__, __dir__ = lazy_names(__name__)
