# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Values that R1 and R2 fitted to real measurements, fold by fold.

`hrpsim reproduce R1 R2 --fit` fits again, and its notes have these numbers.
"""

from __future__ import annotations

from hrpsim.experiments.framework.fitting import Values

TOSSES: dict[str, list[Values]] = {
    "rigid": [
        {"friction": 0.17825, "inertia": 0.0011627, "height": -0.0018123, "restitution": 0.096685},
        {"friction": 0.17866, "inertia": 0.0011002, "height": -0.00058239, "restitution": 0.11167},
        {"friction": 0.17958, "inertia": 0.001088, "height": 0.00039683, "restitution": 0.093088},
        {"friction": 0.17751, "inertia": 0.0011743, "height": -0.00061572, "restitution": 0.14904},
    ],
    "compliant": [
        {
            "friction": 0.1777,
            "inertia": 0.00090736,
            "height": 0.0009566,
            "compliance": 2.0599e-06,
            "damping_time": 0.0012858,
        },
        {
            "friction": 0.17646,
            "inertia": 0.0010951,
            "height": -0.0008778,
            "compliance": 2.4137e-06,
            "damping_time": 0.0011414,
        },
        {
            "friction": 0.17592,
            "inertia": 0.00097204,
            "height": 7.4831e-05,
            "compliance": 1.3851e-05,
            "damping_time": 0.0035607,
        },
        {
            "friction": 0.17584,
            "inertia": 0.00086659,
            "height": -0.00033478,
            "compliance": 1.9917e-05,
            "damping_time": 0.0040697,
        },
    ],
    "mujoco": [
        {
            "friction": 0.1766,
            "inertia": 0.001087,
            "height": -0.0010939,
            "time_constant": 0.0032835,
            "damping_ratio": 0.94822,
            "impedance_ratio": 14.3,
        },
        {
            "friction": 0.17793,
            "inertia": 0.00093181,
            "height": -0.0012524,
            "time_constant": 0.002438,
            "damping_ratio": 1.3579,
            "impedance_ratio": 2.3721,
        },
        {
            "friction": 0.18099,
            "inertia": 0.00099093,
            "height": -0.0011765,
            "time_constant": 0.0025103,
            "damping_ratio": 1.3565,
            "impedance_ratio": 1.3551,
        },
        {
            "friction": 0.17729,
            "inertia": 0.0011336,
            "height": -0.00030711,
            "time_constant": 0.0041304,
            "damping_ratio": 1.0472,
            "impedance_ratio": 1.2312,
        },
    ],
}
LANDINGS: dict[str, list[Values]] = {
    "rigid": [
        {"friction": 0.11917, "stiffness": 0.61666, "damping": 1.513},
        {"friction": 0.101, "stiffness": 0.56947, "damping": 1.9423},
        {"friction": 0.1254, "stiffness": 0.53998, "damping": 1.9261},
        {"friction": 0.11929, "stiffness": 0.57808, "damping": 1.4243},
    ],
    "compliant": [
        {
            "friction": 0.21075,
            "stiffness": 0.66564,
            "damping": 1.9885,
            "compliance": 4.3005e-05,
            "damping_time": 0.0034848,
        },
        {
            "friction": 0.12381,
            "stiffness": 0.53441,
            "damping": 1.9197,
            "compliance": 1.6596e-06,
            "damping_time": 0.0067589,
        },
        {
            "friction": 0.1824,
            "stiffness": 0.63128,
            "damping": 1.8193,
            "compliance": 2.1582e-05,
            "damping_time": 0.0039618,
        },
        {
            "friction": 0.17656,
            "stiffness": 0.59153,
            "damping": 1.1208,
            "compliance": 2.0114e-05,
            "damping_time": 0.0061158,
        },
    ],
    "mujoco": [
        {
            "friction": 0.23868,
            "stiffness": 0.75374,
            "damping": 0.90038,
            "time_constant": 0.013493,
            "damping_ratio": 0.65972,
            "impedance_ratio": 55.169,
        },
        {
            "friction": 0.14493,
            "stiffness": 0.74441,
            "damping": 1.3013,
            "time_constant": 0.016756,
            "damping_ratio": 0.5159,
            "impedance_ratio": 15.362,
        },
        {
            "friction": 0.21138,
            "stiffness": 0.80581,
            "damping": 3.1042,
            "time_constant": 0.028883,
            "damping_ratio": 0.53687,
            "impedance_ratio": 3.778,
        },
        {
            "friction": 0.19952,
            "stiffness": 0.68943,
            "damping": 1.4852,
            "time_constant": 0.012204,
            "damping_ratio": 0.54433,
            "impedance_ratio": 11.214,
        },
    ],
}
