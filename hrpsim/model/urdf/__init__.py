"""Reading URDF, SRDF and xacro, and finding the files that they name."""
