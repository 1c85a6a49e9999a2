"""How far a point is from a solid's surface."""

from __future__ import annotations

from hrpsim.jit.compiled import inner_kernel


@inner_kernel
def squared_to_triangle(polyhedra, triangle, x, y, z):
    """Return the squared distance of a point from a triangle [m^2]."""
    face = polyhedra.triangles[triangle]
    n, corner = face.normal, polyhedra.vertices[face.vertices[0]].position
    height = (x - corner[0]) * n[0] + (y - corner[1]) * n[1] + (z - corner[2]) * n[2]
    beside = False
    least = height * height
    for k in range(3):
        corner, out = polyhedra.vertices[face.vertices[k]].position, face.outward[k]
        dx, dy, dz = x - corner[0], y - corner[1], z - corner[2]
        if dx * out[0] + dy * out[1] + dz * out[2] <= 0.0:
            continue
        edge = polyhedra.edges[face.edges[k]]
        s, d = edge.start, edge.direction
        dx, dy, dz = x - s[0], y - s[1], z - s[2]
        along = min(max(dx * d[0] + dy * d[1] + dz * d[2], 0.0), edge.length)
        dx, dy, dz = dx - along * d[0], dy - along * d[1], dz - along * d[2]
        squared = dx * dx + dy * dy + dz * dz
        least = min(least, squared) if beside else squared
        beside = True
    return least


@inner_kernel
def is_near_surface(polyhedra, solid, x, y, z, distance, stack):
    """Return whether a point in a solid's frame is nearer to its surface than a distance [m].

    `stack` (STACK_DEPTH,) is work.
    """
    stack[0] = polyhedra.solids[solid].root
    waiting = 1
    while waiting > 0:
        waiting -= 1
        node = polyhedra.nodes[stack[waiting]]
        c, h = node.center, node.half
        if (
            abs(x - c[0]) > h[0] + distance
            or abs(y - c[1]) > h[1] + distance
            or abs(z - c[2]) > h[2] + distance
        ):
            continue
        if node.child >= 0:
            stack[waiting], stack[waiting + 1] = node.child, node.child + 1
            waiting += 2
        elif squared_to_triangle(polyhedra, node.triangle, x, y, z) < distance * distance:
            return True
    return False
