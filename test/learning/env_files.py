# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Configurations with the tags and entries that Isaac Lab and mjlab write (params/env.yaml)."""

ISAAC_LAB = """\
viewer:
  eye: !!python/tuple [7.5, 7.5, 7.5]
  origin_type: world
sim:
  device: cuda:0
  dt: 0.004
  render_interval: 4
  gravity: !!python/tuple [0.0, 0.0, -9.81]
  physx:
    solver_type: 1
  physics_material:
    func: isaaclab.sim.spawners.materials.physics_materials:spawn_rigid_body_material
    static_friction: 1.0
    dynamic_friction: 1.0
    restitution: 0.0
    friction_combine_mode: multiply
seed: 42
decimation: 5
episode_length_s: 12.0
is_finite_horizon: false
scene:
  num_envs: 4096
  robot:
    class_type: isaaclab.assets.articulation.articulation:Articulation
    prim_path: /World/envs/env_.*/Robot
    spawn:
      func: isaaclab.sim.spawners.from_files.from_files:spawn_from_usd
      visible: true
      rigid_props:
        kinematic_enabled: null
        disable_gravity: false
        linear_damping: 0.0
        max_depenetration_velocity: 1.0
      articulation_props:
        enabled_self_collisions: true
        solver_position_iteration_count: 8
      usd_path: robot.usd
    init_state:
      pos: !!python/tuple
      - 0.0
      - 0.0
      - 0.23
      rot: !!python/tuple
      - 0.8
      - 0.0
      - 0.0
      - 0.6
      lin_vel: !!python/tuple [0.0, 0.0, 0.0]
      joint_pos:
        F._hip: 0.1
        R._hip: -0.2
      joint_vel:
        .*: 0.0
    soft_joint_pos_limit_factor: 0.9
    actuators:
      front:
        class_type: isaaclab.actuators.actuator_pd:DCMotor
        joint_names_expr:
        - F.*
        effort_limit: 6.0
        effort_limit_sim: null
        velocity_limit: null
        saturation_effort: null
        stiffness: 60.0
        damping: 2.0
        armature: 0.01
        friction: 0.0
      rear:
        class_type: isaaclab.actuators.actuator_pd:ImplicitActuator
        joint_names_expr:
        - R.*
        effort_limit: null
        effort_limit_sim: 9.0
        velocity_limit_sim: 8.0
        stiffness:
          .*L_.*: 50.0
          RR_.*: 55.0
        damping:
          .*_hip: 1.5
        armature: null
  terrain:
    prim_path: /World/ground
    terrain_type: plane
    terrain_generator: null
  contact_forces:
    prim_path: /World/envs/env_.*/Robot/.*
    update_period: 0.004
    history_length: 3
    track_air_time: true
    force_threshold: 1.0
observations:
  policy:
    concatenate_terms: true
    concatenate_dim: -1
    enable_corruption: true
    history_length: null
    flatten_history_dim: true
    base_ang_vel:
      func: isaaclab.envs.mdp.observations:base_ang_vel
      params: {}
      modifiers: null
      noise:
        func: isaaclab.utils.noise.noise_model:uniform_noise
        operation: add
        n_min: -0.2
        n_max: 0.2
      clip: null
      scale: !!python/tuple [0.25, 0.25, 0.25]
      history_length: 0
    projected_gravity:
      func: isaaclab.envs.mdp.observations:projected_gravity
      params: {}
      noise: !!python/object:isaaclab.utils.noise.noise_cfg.UniformNoiseCfg
        n_min: -0.05
        n_max: 0.05
      clip: !!python/tuple
      - -1.0
      - 1.0
      scale: null
      history_length: 3
    velocity_commands:
      func: isaaclab.envs.mdp.observations:generated_commands
      params:
        command_name: base_velocity
      scale: null
    joint_pos:
      func: isaaclab.envs.mdp.observations:joint_pos_rel
      params:
        asset_cfg:
          name: robot
          joint_names:
          - F.*
          joint_ids: !!python/object/apply:builtins.slice
          - null
          - null
          - null
          preserve_order: false
    actions:
      func: isaaclab.envs.mdp.observations:last_action
      params: {}
actions:
  joint_pos:
    class_type: isaaclab.envs.mdp.actions.joint_actions:JointPositionAction
    asset_name: robot
    debug_vis: false
    clip: null
    joint_names:
    - .*
    scale: 0.25
    offset: 0.0
    preserve_order: false
    use_default_offset: true
commands:
  base_velocity:
    class_type: isaaclab.envs.mdp.commands.velocity_command:UniformVelocityCommand
    resampling_time_range: !!python/tuple
    - 10.0
    - 10.0
    asset_name: robot
    heading_command: true
    heading_control_stiffness: 0.5
    rel_standing_envs: 0.02
    rel_heading_envs: 1.0
    ranges:
      lin_vel_x: !!python/tuple [-1.0, 1.0]
      lin_vel_y: !!python/tuple [-0.5, 0.5]
      ang_vel_z: !!python/tuple [-1.0, 1.0]
      heading: !!python/tuple [-3.14, 3.14]
rewards:
  track_lin_vel_xy_exp:
    func: isaaclab.envs.mdp.rewards:track_lin_vel_xy_exp
    params:
      command_name: base_velocity
      std: 0.5
    weight: 1.5
  feet_air_time:
    func: isaaclab_tasks.manager_based.locomotion.velocity.mdp.rewards:feet_air_time
    params:
      sensor_cfg:
        name: contact_forces
        body_names: .*_foot
      command_name: base_velocity
      threshold: 0.5
    weight: 0.25
  smoothness:
    func: mine.rewards:smoothness
    params: {}
    weight: -1.0
terminations:
  time_out:
    func: isaaclab.envs.mdp.terminations:time_out
    params: {}
    time_out: true
  base_contact:
    func: isaaclab.envs.mdp.terminations:illegal_contact
    params:
      sensor_cfg:
        name: contact_forces
        body_names: body
      threshold: 1.0
    time_out: false
events:
  reset_base:
    func: isaaclab.envs.mdp.events:reset_root_state_uniform
    params:
      pose_range:
        yaw: !!python/tuple [-3.14, 3.14]
      velocity_range: {}
    mode: reset
    interval_range_s: null
  push_robot:
    func: isaaclab.envs.mdp.events:push_by_setting_velocity
    params:
      velocity_range:
        x: !!python/tuple [-0.5, 0.5]
    mode: interval
    interval_range_s: !!python/tuple
    - 10.0
    - 15.0
curriculum:
  terrain_levels:
    func: isaaclab_tasks.manager_based.locomotion.velocity.mdp.curriculums:terrain_levels_vel
    params: {}
  weight:
    func: isaaclab.envs.mdp.curriculums:modify_reward_weight
    params:
      term_name: feet_air_time
      weight: 0.5
      num_steps: 100
"""

MJLAB = """\
decimation: 4
episode_length_s: 20.0
sim:
  nconmax: 140000
  mujoco:
    timestep: 0.005
    iterations: 10
scene:
  num_envs: 1
  entities:
    robot:
      init_state:
        pos: !!python/tuple [0.0, 0.0, 0.23]
        joint_pos: {.*_hip: 0.1}
      articulation:
        actuators: !!python/tuple
        - joint_names_expr: [.*_hip]
          effort_limit: 20.0
          stiffness: 60.0
          damping: 2.0
          armature: 0.005
        soft_joint_pos_limit_factor: 0.9
observations:
  policy:
    base_lin_vel:
      func: !!python/name:mjlab.envs.mdp.observations.base_lin_vel ''
      params: {}
      noise: {n_min: -0.1, n_max: 0.1, operation: add}
      history_length: 0
    joint_vel:
      func: !!python/name:mjlab.envs.mdp.observations.joint_vel_rel ''
      params: {}
    enable_corruption: true
    history_length: null
actions:
  joint_pos:
    class_type: !!python/name:mjlab.envs.mdp.actions.joint_actions.JointPositionAction ''
    asset_name: robot
    actuator_names: [.*]
    scale: {F.*: 0.4, R.*: 0.5}
    offset: 0.0
    use_default_offset: true
commands:
  twist:
    class_type: !!python/name:mjlab.tasks.velocity.mdp.velocity_command.UniformVelocityCommand ''
    resampling_time_range: !!python/tuple [3.0, 8.0]
    heading_command: false
    ranges:
      lin_vel_x: !!python/tuple [-1.0, 1.0]
      lin_vel_y: !!python/tuple [-0.5, 0.5]
      ang_vel_z: !!python/tuple [-1.0, 1.0]
      heading: null
rewards:
  pose:
    func: !!python/name:mjlab.envs.mdp.rewards.posture ''
    params:
      std: {.*_hip: 0.3}
    weight: 1.0
"""
