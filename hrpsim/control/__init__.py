"""Controllers, motions, walking patterns and balance; this folder joins them to a walk.

Imports the world to run controllers in it; knows nothing of ROS.
"""
