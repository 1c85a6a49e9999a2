# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Values that R1 and R2 fitted to real measurements, by fold.

`hrpsim reproduce R1 R2 --fit` repeats the fits, and its notes have these numbers.
"""

from evidence.experiments.framework.fitting import Values


def folds(names: str, *rows: tuple[float, ...]) -> list[Values]:
    """Return the values of each fold by name. names: separated by blanks."""
    return [dict(zip(names.split(), row, strict=True)) for row in rows]


TOSSES = {
    "rigid": folds(
        "friction inertia height restitution",
        (0.17825, 0.0011627, -0.0018123, 0.096685),
        (0.17866, 0.0011002, -0.00058239, 0.11167),
        (0.17958, 0.001088, 0.00039683, 0.093088),
        (0.17751, 0.0011743, -0.00061572, 0.14904),
    ),
    "compliant": folds(
        "friction inertia height compliance damping_time",
        (0.1777, 0.00090736, 0.0009566, 2.0599e-06, 0.0012858),
        (0.17646, 0.0010951, -0.0008778, 2.4137e-06, 0.0011414),
        (0.17592, 0.00097204, 7.4831e-05, 1.3851e-05, 0.0035607),
        (0.17584, 0.00086659, -0.00033478, 1.9917e-05, 0.0040697),
    ),
    "mujoco": folds(
        "friction inertia height time_constant damping_ratio impedance_ratio",
        (0.1766, 0.001087, -0.0010939, 0.0032835, 0.94822, 14.3),
        (0.17793, 0.00093181, -0.0012524, 0.002438, 1.3579, 2.3721),
        (0.18099, 0.00099093, -0.0011765, 0.0025103, 1.3565, 1.3551),
        (0.17729, 0.0011336, -0.00030711, 0.0041304, 1.0472, 1.2312),
    ),
}
LANDINGS = {
    "rigid": folds(
        "friction stiffness damping",
        (0.11917, 0.61666, 1.513),
        (0.101, 0.56947, 1.9423),
        (0.1254, 0.53998, 1.9261),
        (0.11929, 0.57808, 1.4243),
    ),
    "compliant": folds(
        "friction stiffness damping compliance damping_time",
        (0.21075, 0.66564, 1.9885, 4.3005e-05, 0.0034848),
        (0.12381, 0.53441, 1.9197, 1.6596e-06, 0.0067589),
        (0.1824, 0.63128, 1.8193, 2.1582e-05, 0.0039618),
        (0.17656, 0.59153, 1.1208, 2.0114e-05, 0.0061158),
    ),
    "mujoco": folds(
        "friction stiffness damping time_constant damping_ratio impedance_ratio",
        (0.23868, 0.75374, 0.90038, 0.013493, 0.65972, 55.169),
        (0.14493, 0.74441, 1.3013, 0.016756, 0.5159, 15.362),
        (0.21138, 0.80581, 3.1042, 0.028883, 0.53687, 3.778),
        (0.19952, 0.68943, 1.4852, 0.012204, 0.54433, 11.214),
    ),
}
