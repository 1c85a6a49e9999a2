"""The arrays of a scene, its islands, limits and how a step can end."""
