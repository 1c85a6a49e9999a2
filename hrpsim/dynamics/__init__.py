# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Articulated-body and recursive Newton-Euler algorithms, derivatives, response, momentum.

Imports kinematics, spatial, model and compile.
"""

from typing import TYPE_CHECKING

from hrpsim.common.lazy_names import lazy_names

__all__ = [
    "center_of_mass",
    "centers_of_mass",
    "energy",
    "forward_dynamics",
    "forward_dynamics_derivatives",
    "inverse_dynamics",
    "inverse_dynamics_along",
    "inverse_dynamics_derivatives",
    "link_jacobian",
    "link_pose",
    "mass_matrix",
]

if TYPE_CHECKING:
    from hrpsim.derivatives.tangent import (
        forward_dynamics_derivatives,
        inverse_dynamics_derivatives,
    )
    from hrpsim.engine.dynamics.along_motion import centers_of_mass, inverse_dynamics_along
    from hrpsim.engine.dynamics.functions import (
        center_of_mass,
        energy,
        forward_dynamics,
        inverse_dynamics,
        link_jacobian,
        link_pose,
        mass_matrix,
    )
else:
    __getattr__, __dir__ = lazy_names(__name__)
