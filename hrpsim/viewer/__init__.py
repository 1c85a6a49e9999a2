# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Visualisation: the browser's page, films, arrows of forces.

Only this package imports viser.
"""

from typing import TYPE_CHECKING

from hrpsim.common.lazy_names import lazy_names

if TYPE_CHECKING:
    from hrpsim.viewer.film import make_film as make_film
    from hrpsim.viewer.viewer import Viewer as Viewer
else:
    __all__, __getattr__, __dir__ = lazy_names(__name__)
