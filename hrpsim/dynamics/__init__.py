# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Articulated-body and recursive Newton-Euler algorithms, derivatives, response, momentum.

Imports kinematics, spatial, model and jit.
"""

from typing import TYPE_CHECKING

from hrpsim.common.lazy_names import lazy_names

if TYPE_CHECKING:
    from hrpsim.derivatives.tangent import (
        forward_dynamics_derivatives as forward_dynamics_derivatives,
    )
    from hrpsim.derivatives.tangent import (
        inverse_dynamics_derivatives as inverse_dynamics_derivatives,
    )
    from hrpsim.engine.dynamics.along_motion import centers_of_mass as centers_of_mass
    from hrpsim.engine.dynamics.along_motion import inverse_dynamics_along as inverse_dynamics_along
    from hrpsim.engine.dynamics.functions import center_of_mass as center_of_mass
    from hrpsim.engine.dynamics.functions import energy as energy
    from hrpsim.engine.dynamics.functions import forward_dynamics as forward_dynamics
    from hrpsim.engine.dynamics.functions import inverse_dynamics as inverse_dynamics
    from hrpsim.engine.dynamics.functions import link_jacobian as link_jacobian
    from hrpsim.engine.dynamics.functions import link_pose as link_pose
    from hrpsim.engine.dynamics.functions import mass_matrix as mass_matrix
else:
    __all__, __getattr__, __dir__ = lazy_names(__name__)
