# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Articulated-body and recursive Newton-Euler algorithms, derivatives, response, momentum.

Imports kinematics, spatial, model and jit.
"""

from typing import TYPE_CHECKING

from hrpsim.lazy_names import lazy_names

if TYPE_CHECKING:
    from hrpsim.dynamics.along_motion import centers_of_mass as centers_of_mass
    from hrpsim.dynamics.along_motion import inverse_dynamics_along as inverse_dynamics_along
    from hrpsim.dynamics.functions import center_of_mass as center_of_mass
    from hrpsim.dynamics.functions import energy as energy
    from hrpsim.dynamics.functions import forward_dynamics as forward_dynamics
    from hrpsim.dynamics.functions import inverse_dynamics as inverse_dynamics
    from hrpsim.dynamics.functions import link_jacobian as link_jacobian
    from hrpsim.dynamics.functions import link_pose as link_pose
    from hrpsim.dynamics.functions import mass_matrix as mass_matrix
    from hrpsim.dynamics.tangent import forward_dynamics_derivatives as forward_dynamics_derivatives
    from hrpsim.dynamics.tangent import inverse_dynamics_derivatives as inverse_dynamics_derivatives
else:
    __all__, __getattr__, __dir__ = lazy_names(__name__)
