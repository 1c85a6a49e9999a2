"""The ROS 2 face of hrpsim: node, controller, recorder, demo. Only here is rclpy imported."""
