"""Robots, bodies, connections, hinges, materials and rules as users hold them."""
