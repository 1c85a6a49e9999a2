# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Find the entries of an Isaac Lab or mjlab configuration that hrpsim does not simulate."""

from __future__ import annotations

import re
from typing import Any

from hrpsim.learning.section import Section

# Entries that change no motion of the robot: pictures, files, memory, and the other solver.
WITHOUT_EFFECT = tuple(
    map(
        re.compile,
        (
            r"viewer\..*|ui_window_class_type|xr\b.*|teleop_devices\b.*|sim\.render\w*(\..*)?",
            r"(.*\.)?(debug_vis|visible|semantic_tags|viz\b.*|\w*visual\w*\b.*)",
            r"scene\.\w*light\..*|rerender_on_reset|num_rerenders_on_reset|wait_for_textures",
            r"(.*\.)?(\w*prim_path\w*|usd_path|copy_from_source|variants)|scene\.\w+\.class_type",
            r"recorders\..*|log_dir|export_io_descriptors|io_descriptors_output_dir",
            r"scene\.robot\.(spawn\.func|joint_sdk_names|actuator_value_resolution_debug_print)",
            r"seed|is_finite_horizon|auto_reset|scene\.(terrain\.)?(num_envs|env_spacing|extent)",
            r"scene\.(lazy_sensor_update|replicate_physics|filter_collisions|clone_in_fabric)",
            r"sim\.(device|use_fabric|enable_scene_query_support|create_stage_in_memory)",
            r"sim\.(logging_level|save_logs_to_file|log_dir|nconmax|njmax|ls_parallel|physx\..*)",
            r"sim\.(contact_sensor_maxmatch|nan_guard\..*)",
            r"sim\.mujoco\.(\w*iterations|\w*tolerance|solver|cone|jacobian|impratio|integrator)",
            r"scene\.robot\.spawn\.(activate_contact_sensors|\w+\.solver_\w+_count)",
            r"scene\.robot\.spawn\.\w+\.(sleep_threshold|stabilization_threshold)",
            r"scene\.robot\.spawn\.rigid_props\.(max_\w+|retain_accelerations)",
            r"scene\.\w+\.(update_period|track_\w+|max_contact_data_count_per_prim)",
            r".*physics_material\.(func|\w+_combine_mode|improve_patch_friction)",
            r".*\.(noise\.func|sensor_cfg\.name)",
        ),
    )
)
# Entries with the value that hrpsim always has.
_ZERO = 0, [0, 0, 0]
SAME = tuple(
    (re.compile(pattern), values)
    for pattern, values in (
        (r"actions\.\w+\.use_default_offset", (True,)),
        (r".*_ids", ("slice(None, None, None)",)),
        (r"observations\.\w+\.concatenate_terms|.*\.flatten_history_dim", (True,)),
        (r"observations\.\w+\.concatenate_dim", (-1,)),
        (r".*\.noise\.operation", ("add",)),
        (r".*\.(preserve_order|is_global_time)", (False,)),
        (r".*\.(asset_cfg\.name|asset_name)", ("robot",)),
        (r".*\.(history_length|min_step_count_between_reset)", (0, 1)),
        (r"scene\.\w+\.force_threshold", (1,)),
        (r"sim\.(mujoco\.)?gravity", ([0, 0, -9.81],)),
        (r".*\.init_state\.(lin_vel|ang_vel|joint_vel\..*)", _ZERO),
        (r".*actuators.*\.(min_delay|max_delay|delay_\w+|\w*friction\w*|viscous_damping)", _ZERO),
        (r".*actuators.*\.delay_per_env_phase", (True,)),
        (r".*actuators.*\.transmission_type", ("joint",)),
        (r"scene\.terrain\.terrain_type", ("plane",)),
        (r".*\.collision_group", (0, -1)),
        (r".*physics_material\.(static_friction|dynamic_friction)", (1,)),
        (r".*physics_material\.(restitution|compliant_\w+)", _ZERO),
        (r"scene\.robot\.spawn\.rigid_props\.(disable_gravity|\w+_damping)", (False, 0)),
    )
)


def entries_left_out(file: Section) -> list[str]:
    """Return the paths of unread entries that would change the simulation.

    If no entry of a section was read, only the path of the section is returned.
    """
    places = [place for place, value in file.unread() if not _is_harmless(place, value)]
    read = {start for place in file.read() for start in _starts(place)}
    first_place: dict[str, str] = {}
    alone: dict[str, bool] = {}
    for place in places:
        section = next((start for start in _starts(place) if start not in read), place)
        alone[section] = section not in first_place
        first_place.setdefault(section, place)
    return [place if alone[section] else section for section, place in first_place.items()]


def _is_harmless(place: str, value: Any) -> bool:
    if any(pattern.fullmatch(place) for pattern in WITHOUT_EFFECT):
        return True
    return any(pattern.fullmatch(place) and value in values for pattern, values in SAME)


def _starts(place: str) -> list[str]:
    """Return the paths of the enclosing sections, outermost first, and the path of the entry."""
    ends = [match.start() for match in re.finditer(r"[.\[]", place)]
    return [*(place[:end] for end in ends), place]
