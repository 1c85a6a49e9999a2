# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Configurations with the tags and entries that Isaac Lab and mjlab write (params/env.yaml)."""

ISAAC_LAB = """\
sim:
  dt: 0.004
  render_interval: 4
decimation: 5
episode_length_s: 12.0
is_finite_horizon: false
scene:
  num_envs: 4096
  robot:
    class_type: isaaclab.assets.articulation.articulation:Articulation
    init_state:
      pos: !!python/tuple
      - 0.0
      - 0.0
      - 0.23
      rot: !!python/tuple
      - 1.0
      - 0.0
      - 0.0
      - 0.0
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
        effort_limit: 20.0
        stiffness: 60.0
        damping: 2.0
        armature: 0.01
        friction: null
      rear:
        class_type: isaaclab.actuators.actuator_pd:ImplicitActuator
        joint_names_expr:
        - R.*
        stiffness:
          RL_.*: 50.0
          RR_.*: 55.0
        damping:
          .*R._hip: 1.5
        armature: null
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
