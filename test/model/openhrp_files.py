# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""One small robot in VRML97, in Choreonoid's YAML and in URDF."""

PROTOS = """PROTO Joint [ exposedField SFVec3f translation 0 0 0
 exposedField MFNode children [] field SFString jointType "" exposedField SFString jointAxis "Z"
 exposedField MFFloat ulimit [] exposedField SFFloat gearRatio 1 eventIn MFNode addChildren ]
{ Transform { translation IS translation children IS children } }
PROTO Segment [ exposedField SFFloat mass 0 exposedField MFNode children [ ] ]
{ Group { children IS children } }
"""
WRL = (
    "#VRML V2.0 utf8\n"
    + PROTOS
    + """NavigationInfo { type ["EXAMINE", "ANY"] headlight TRUE }  # a comment
DEF Biped Humanoid {
 humanoidBody [
  DEF WAIST Joint { jointType "free" translation 0 0 0.8
   children [
    DEF BODY Segment { mass 5 centerOfMass 0.01 0 0.1 momentsOfInertia [0.1 0 0 0 0.2 0 0 0 0.15]
     children [
      DEF gyro Gyro { translation 0 0 0.1 }
      DEF accel AccelerationSensor { }
      DEF eye VisionSensor { }
      DEF Skin Shape { appearance Appearance { material Material { diffuseColor 1 0 0 } }
       geometry IndexedFaceSet { coord Coordinate { point [0 0 0, 0.2 0 0, 0.2 0.2 0, 0 0 0.2] }
        coordIndex [0 2 1 -1, 0 1 3 -1, 1 2 3 -1, 0 3 2 -1] } }
     ] }
    DEF HIP Joint { jointType "rotate" jointAxis "Y" jointId 1 translation 0 0.1 -0.05
     rotation 0 0 1 0.3 ulimit [1.5] llimit [-1] uvlimit [6] lvlimit [-6]
     rotorInertia 0.0002 gearRatio 50 climit [4] torqueConst 0.1
     children [
      Transform { translation 0.02 0 0 children [
       DEF THIGH Segment { mass 2 centerOfMass 0 0 -0.15
        momentsOfInertia [0.03 0 0 0 0.03 0 0 0 0.01]
        children [ Transform { translation 0 0 -0.15 rotation 1 0 0 1.5707963267948966
         children Shape { geometry Cylinder { radius 0.05 height 0.3 } } } ] } ] }
      CylinderSensorY { maxAngle 1.5 children [
      Segment { mass 0.5 centerOfMass 0 0.05 0 momentsOfInertia [0.001 0 0 0 0.001 0 0 0 0.001] }
      DEF FOOT Joint { jointType "slide" jointAxis 0 0 1 jointId 0 translation 0 0 -0.35
       children [
        DEF SOLE Segment { mass 1 momentsOfInertia [0.01 0 0 0 0.01 0 0 0 0.01]
         children [ Inline { url "sole.wrl" }
          DEF foot_sensor ForceSensor { translation 0 0 -0.02 rotation 1 0 0 3.141592653589793 } ] }
       ] } ] }
     ] }
   ] }
 ]
}
"""
)
SOLE = "#VRML V2.0 utf8\nShape { geometry Box { size 0.2 0.1 0.04 } }\n"
BODY = """format: ChoreonoidBody
formatVersion: 1.0
angleUnit: degree
name: Biped
rootLink: WAIST
standardPose: [ 0.05, -30 ]
links:
  - name: WAIST
    jointType: free
    translation: [ 0, 0, 0.8 ]
    centerOfMass: [ 0.01, 0, 0.1 ]
    mass: 5
    inertia: [ 0.1, 0, 0, 0, 0.2, 0, 0, 0, 0.15 ]
    elements:
      - { type: RateGyroSensor, name: gyro, translation: [ 0, 0, 0.1 ] }
      - { type: AccelerationSensor, name: accel }
      - { type: Camera, name: eye }
      - type: Shape
        geometry:
          type: IndexedFaceSet
          vertices: [ 0, 0, 0, 0.2, 0, 0, 0.2, 0.2, 0, 0, 0, 0.2 ]
          faces: [ 0, 2, 1, -1, 0, 1, 3, -1, 1, 2, 3, -1, 0, 3, 2, -1 ]
        appearance: &red { material: { diffuse: [ 1, 0, 0 ] } }
  - name: HIP
    parent: WAIST
    translation: [ 0, 0.1, -0.05 ]
    rotation: [ 0, 0, 1, 17.188733853924695 ]
    joint_type: revolute
    joint_axis: Y
    joint_id: 1
    joint_range: [ -57.29577951308232, 85.94366926962348 ]
    max_joint_velocity: 343.7746770784939
    max_joint_effort: 20
    rotor_inertia: 2.0e-4
    gear_ratio: 50
    child_links: [ FOOT ]
    mass: 0.5
    center_of_mass: [ 0, 0.05, 0 ]
    inertia: [ 0.001, 0, 0, 0.001, 0, 0.001 ]
    elements:
      Transform:
        translation: [ 0.02, 0, 0 ]
        elements:
          - type: RigidBody
            mass: 2
            center_of_mass: [ 0, 0, -0.15 ]
            inertia: [ 0.03, 0, 0, 0, 0.03, 0, 0, 0, 0.01 ]
          - type: Transform
            translation: [ 0, 0, -0.15 ]
            rotation: [ [ 0, 1, 0, 0 ], [ 1, 0, 0, 90 ] ]
            elements:
              Shape: { geometry: { type: Cylinder, radius: 0.05, height: 0.3 }, appearance: *red }
  - name: FOOT
    jointType: slide
    jointAxis: [ 0, 0, 1 ]
    jointId: 0
    translation: [ 0, 0, -0.35 ]
    mass: 1
    inertia: [ 0.01, 0, 0, 0, 0.01, 0, 0, 0, 0.01 ]
    elements:
      - type: Visual
        elements: { Resource: { uri: sole.wrl } }
      - type: Collision
        shape: { geometry: { type: Box, size: [ 0.2, 0.1, 0.04 ] } }
      - { type: ForceSensor, name: foot_sensor, translation: [ 0, 0, -0.02 ],
          rotation: [ 1, 0, 0, 180 ] }
"""
URDF = """<robot name="Biped">
<link name="WAIST"><inertial><origin xyz="0.01 0 0.1"/><mass value="5"/>
<inertia ixx="0.1" iyy="0.2" izz="0.15" ixy="0" ixz="0" iyz="0"/></inertial></link>
<link name="HIP"/>
<link name="thigh"><inertial><origin xyz="0 0 -0.15"/><mass value="2"/>
<inertia ixx="0.03" iyy="0.03" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial></link>
<link name="knob"><inertial><origin xyz="0 0.05 0"/><mass value="0.5"/>
<inertia ixx="0.001" iyy="0.001" izz="0.001" ixy="0" ixz="0" iyz="0"/></inertial></link>
<link name="FOOT"><inertial><mass value="1"/>
<inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="HIP" type="revolute"><origin xyz="0 0.1 -0.05" rpy="0 0 0.3"/><parent link="WAIST"/>
<child link="HIP"/><axis xyz="0 1 0"/><limit lower="-1" upper="1.5" effort="20" velocity="6"/>
</joint>
<joint name="t" type="fixed"><origin xyz="0.02 0 0"/><parent link="HIP"/>
<child link="thigh"/></joint>
<joint name="k" type="fixed"><parent link="HIP"/><child link="knob"/></joint>
<joint name="FOOT" type="prismatic"><origin xyz="0 0 -0.35"/><parent link="HIP"/>
<child link="FOOT"/><axis xyz="0 0 1"/><limit lower="-1e9" upper="1e9" effort="0" velocity="0"/>
</joint><hrpsim reference="HIP"><rotor inertia="0.0002" gear_ratio="50"/></hrpsim></robot>
"""


def write_robot(folder, kind):
    """Write the robot and the shape that it names; return its path."""
    (folder / "sole.wrl").write_text(SOLE)
    path = folder / f"biped.{kind}"
    path.write_text({"wrl": WRL, "body": BODY, "urdf": URDF}[kind])
    return path
