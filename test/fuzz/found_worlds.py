# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Worlds that random search found and shrunk, by their fault: calls for `random_worlds.build`.

Long ones lie in the folder found/, a call a line.
"""

from __future__ import annotations

import json
from pathlib import Path

ARM = (
    '<robot name="r"><link name="l0"><inertial><origin xyz="-0.314479128 -0.091365963 0.0'
    '155685332"/><mass value="0.191261226"/><inertia ixx="0.0462185996" iyy="0.0462185996'
    '" izz="0.0687658637" ixy="0" ixz="0" iyz="0"/></inertial><collision><geometry><box s'
    'ize="0.207818995 0.217009762 0.229019862"/></geometry></collision></link><link name='
    '"l1"><inertial><origin xyz="0.0165317823 -0.0229292053 0.0218663401"/><mass value="0'
    '.763245718"/><inertia ixx="0.000473752164" iyy="0.000473752164" izz="0.00065979541" '
    'ixy="0" ixz="0" iyz="0"/></inertial><collision><geometry><box size="0.00348921264 0.'
    '0137685865 0.0145288526"/></geometry></collision></link><link name="l2"><inertial><o'
    'rigin xyz="0.0498073 0.0122472159 -0.0470833682"/><mass value="0.876948693"/><inerti'
    'a ixx="0.00901824959" iyy="0.00901824959" izz="0.00482402185" ixy="0" ixz="0" iyz="0'
    '"/></inertial><collision><geometry><box size="0.0524968957 0.0652751586 0.046925202"'
    '/></geometry></collision></link><link name="l3"><inertial><origin xyz="-0.0017673347'
    '8 0.0156049172 0.0155995263"/><mass value="0.261535965"/><inertia ixx="0.00037099708'
    '5" iyy="0.000370997085" izz="0.000632115858" ixy="0" ixz="0" iyz="0"/></inertial><co'
    'llision><geometry><box size="0.0141888057 0.0173072799 0.0180510115"/></geometry></c'
    'ollision></link><link name="l4"><inertial><origin xyz="0.142114698 0.123618438 -0.10'
    '5131084"/><mass value="1.19941134"/><inertia ixx="0.0416713552" iyy="0.0416713552" i'
    'zz="0.0485148595" ixy="0" ixz="0" iyz="0"/></inertial><collision><geometry><box size'
    '="0.121250093 0.038186069 0.0958935285"/></geometry></collision></link><joint name="'
    'j1" type="prismatic"><parent link="l0"/><child link="l1"/><origin xyz="0.0165317823 '
    '-0.0229292053 0.0218663401"/><axis xyz="0.626455 -0.760863 0.658325"/><limit lower="'
    '-0.19286414895905835" upper="0.7496970543247609" effort="16.327" velocity="10"/><dyn'
    'amics damping="0" friction="0.0164748"/></joint><joint name="j2" type="fixed"><paren'
    't link="l0"/><child link="l2"/><origin xyz="0.0498073 0.0122472159 -0.0470833682"/><'
    'axis xyz="0.973969 0.886277 -0.787162"/><limit lower="-0.020776720814673633" upper="'
    '0.04972707499975293" effort="263.303" velocity="10"/><dynamics damping="0.0911724" f'
    'riction="0"/></joint><joint name="j3" type="fixed"><parent link="l1"/><child link="l'
    '3"/><origin xyz="-0.00176733478 0.0156049172 0.0155995263"/><axis xyz="0.376967 -0.5'
    '48352 0.082052"/><limit lower="-0.4623389272109806" upper="0.568400537339861" effort'
    '="221.812" velocity="10"/><dynamics damping="0.0528167" friction="0"/></joint><joint'
    ' name="j4" type="continuous"><parent link="l3"/><child link="l4"/><origin xyz="0.142'
    '114698 0.123618438 -0.105131084"/><axis xyz="-0.429758 -2.044012 -1.174184"/><limit '
    'lower="-0.296480738796729" upper="0.037988413093512086" effort="21.6399" velocity="1'
    '0"/><dynamics damping="0" friction="0"/></joint></robot>'
)

FOUND = {
    "direct rows that were left to the iteration before a stage of rk4": [
        (
            "world",
            {
                "time_step": 0.007297729774082787,
                "integrator": "rk4",
                "continuous": True,
                "friction_model": "pyramid",
                "impact_law": "sequential",
                "stop": "residual",
                "position_projection": True,
                "sleeping": False,
                "solver": "direct",
            },
        ),
        ("ground", {"height": -0.5150739763484331}),
        (
            "robot",
            {
                "urdf": ARM,
                **{
                    "base": "fixed",
                    "self_collision": False,
                    "height": 0.8219690400853765,
                    "rate": 0.0,
                    "kp": 0.0,
                },
            },
        ),
        (
            "body",
            {
                "shape": ("Compound", 0.03869981277207562, 0.21051226868872921),
                "mass": 3.0916234857854263,
                "position": [0.8062961007476046, 0.4107305902825198, 0.11359138289502546],
                "orientation": [
                    0.8955052871719901,
                    1.062403036252895,
                    0.3335368956090091,
                    -0.6956752205414924,
                ],
                "velocity": [-0.0, -16.0084348715558, -0.0],
                "angular_velocity": [-7.682436554617313, 1.5811334999726723, -15.161885580422009],
            },
        ),
        (
            "body",
            {
                "shape": ("Box", [0.33185032845349544, 0.05489020708321342, 0.07252477608376383]),
                "mass": 0.16578012775765372,
                "position": [-0.5629175246781439, 0.4997858396097974, -0.8877584128814144],
                "orientation": [
                    0.36289185837834215,
                    -0.9568585620842089,
                    1.318214156244772,
                    -0.3439796124759582,
                ],
                "velocity": [0.0, 0.0, 0.0],
                "angular_velocity": [1.0410336501710848, -2.3456798982168383, -1.2862007924923062],
            },
        ),
        ("connection", {"a": 2, "b": -1, "kind": "slider"}),
    ]
}

for _path in sorted((Path(__file__).parent / "found").glob("*.json")):
    FOUND[_path.stem.replace("_", " ")] = json.loads(_path.read_text(encoding="utf-8"))
