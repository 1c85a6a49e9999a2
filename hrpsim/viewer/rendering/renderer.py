# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Pictures from MuJoCo's OpenGL renderer, off screen by EGL: no display, no GPU needed.

A camera looks along the x axis of its frame. The y axis points left and the z axis up, as for
bodies (REP 103). In images, u increases to the right and v downwards, and pixel centres have
integer coordinates. The optical axis is at ((width - 1) / 2, (height - 1) / 2). Pixels are square.
"""

import math
import weakref
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from hrpsim.common.errors import HrpsimError
from hrpsim.model.shapes.geometry import Box, Capsule, Cylinder, Geometry, Mesh, Plane, Sphere
from hrpsim.model.shapes.placement import Placement, quaternion_of
from hrpsim.model.shapes.terrain import HeightField

_CURE = (
    "pictures need MuJoCo and EGL: pip install 'hrpsim[camera]', on Debian or Ubuntu also "
    "sudo apt install libegl1 libgl1-mesa-dri"
)
_SUN = np.array([-0.3, 0.4, -1.0])  # direction of the light
_LAMP, _LIT_AT = 8.0, 3.0  # distances: light to lit point, lit point to camera [m]
_SHADED = 6.0  # half width of the region with shadows [m]
_ARROW, _ARROW_WIDTH = np.array([0.9, 0.24, 0.16, 1.0], dtype=np.float32), 0.012  # [m]
_SKY, _HORIZON = (0.62, 0.74, 0.88), (0.97, 0.98, 1.0)
_TILES = (1.0, 1.0, 1.0), (0.86, 0.87, 0.89)
_LEAST_GEOMS = 1000
# MuJoCo's cameras look along -z with y up, and ours along x with z up.
_LOOKS = np.array([[0.0, 0.0, -1.0], [-1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])


class RendererError(HrpsimError, RuntimeError):
    """Raised if pictures cannot be made on this machine.

    The message has the cause and the remedy.
    """


class Drawn(NamedTuple):
    """A geometry that is drawn, in the frame of a link."""

    geometry: Geometry
    link: int  # index of the link's pose
    placement: Placement
    color: tuple[int, int, int]  # from 0 to 255


class Lens(NamedTuple):
    """The optics of a camera."""

    width: int  # [pixels]
    height: int
    fov: float  # horizontal field of view [rad]
    near: float  # least visible distance [m]
    far: float  # largest visible distance [m]

    @property
    def focal_length(self) -> float:
        """Focal length [pixels]."""
        return 0.5 * self.width / math.tan(0.5 * self.fov)

    @property
    def matrix(self) -> np.ndarray:
        """The camera matrix K (3, 3): pixel u v 1 = K (x right, y down, z ahead) / z."""
        f = self.focal_length
        u, v = 0.5 * (self.width - 1), 0.5 * (self.height - 1)
        return np.array([[f, 0.0, u], [0.0, f, v], [0.0, 0.0, 1.0]])

    @property
    def rays(self) -> np.ndarray:
        """Points of all pixels at a depth of 1 m, in the camera's frame (height, width, 3) [m]."""
        K, (v, u) = self.matrix, np.mgrid[: self.height, : self.width]
        right, down = (u - K[0, 2]) / K[0, 0], (v - K[1, 2]) / K[1, 1]
        return np.stack([np.ones_like(right), -right, -down], axis=-1)


class Picture(NamedTuple):
    """The images of one view. An image that was not requested is None."""

    color: np.ndarray | None  # (height, width, 3) uint8, red green blue
    depth: np.ndarray | None  # (height, width) float32, along the optical axis [m], inf: no surface
    segmentation: np.ndarray | None  # (height, width) int32, index of the link, -1 without a link


class Renderer:
    """Draw geometries with one lens. A renderer must be used in the thread that made it.

    Call `close` to free the memory before the renderer is deleted.

    Raises RendererError if MuJoCo or EGL is missing.
    """

    def __init__(self, drawn: Sequence[Drawn], lens: Lens) -> None:
        self.lens, self._drawn = lens, tuple(drawn)
        try:
            import mujoco
            from mujoco.egl import GLContext

            self._mujoco: Any = mujoco
            self._gl = GLContext(lens.width, lens.height)
        except Exception as error:  # a missing library raises various exceptions
            raise RendererError(f"{_CURE} ({type(error).__name__}: {error})") from error
        self._model = self._compiled()
        self._data = mujoco.MjData(self._model)
        most = max(_LEAST_GEOMS, 2 * len(self._drawn))
        self._scene = mujoco.MjvScene(self._model, most)
        # The context is current only during use, because garbage collection may free it in any
        # thread.
        with self._gl.as_current():
            scale = mujoco.mjtFontScale.mjFONTSCALE_100.value
            self._context = mujoco.MjrContext(self._model, scale)
            mujoco.mjr_setBuffer(mujoco.mjtFramebuffer.mjFB_OFFSCREEN.value, self._context)
        self._context.readDepthMap = mujoco.mjtDepthMap.mjDEPTH_ZEROFAR
        # MuJoCo frees its memory in the current context, which may be of another renderer.
        self.close = weakref.finalize(self, _free, self._context, self._gl)
        self.close.atexit = False
        self._rect = mujoco.MjrRect(0, 0, lens.width, lens.height)
        self._camera = mujoco.MjvCamera()
        self._camera.type = mujoco.mjtCamera.mjCAMERA_FIXED
        self._camera.fixedcamid = 0
        self._links = np.array([d.link for d in self._drawn], dtype=np.int32)

    def render(
        self,
        positions: np.ndarray,
        orientations: np.ndarray,
        camera: Placement,
        images: Iterable[str] = ("color",),
        without: Iterable[int] = (),
        arrows: Sequence[np.ndarray] = (),
        shadows: bool = False,
    ) -> Picture:
        """Return a picture.

        Args:
            positions: positions of all links (k, 3) [m].
            orientations: quaternions x y z w of all links (k, 4).
            camera: rotation (3, 3) and position (3,) [m] of the camera in the world.
            images: some of IMAGES.
            without: indices of links that are not drawn.
            arrows: start and tip of each arrow (2, 3) [m], drawn in red, but not in depth and
                segmentation.
            shadows: whether to draw shadows. Colour images with shadows take several times as long.
        """
        data, scene = self._data, self._scene
        hidden, requested = np.isin(self._links, list(without)), tuple(images)
        data.mocap_pos[0], data.mocap_quat[0] = camera.p, _wxyz(quaternion_of(camera.R @ _LOOKS))
        data.mocap_pos[1] = camera.p + _LIT_AT * camera.R[:, 0] - _LAMP * _SUN
        if self._links.size:
            data.mocap_pos[2:] = positions[self._links]
            data.mocap_quat[2:] = orientations[self._links][:, [3, 0, 1, 2]]
        self._mujoco.mj_kinematics(self._model, data)
        self._mujoco.mj_camlight(self._model, data)
        self._model.geom_group[:] = np.where(hidden, 5, 0)  # this group is not drawn
        option, everything = self._mujoco.MjvOption(), self._mujoco.mjtCatBit.mjCAT_ALL.value
        self._mujoco.mjv_updateScene(
            self._model, data, option, None, self._camera, everything, scene
        )
        kinds = self._mujoco.mjtRndFlag
        scene.flags[kinds.mjRND_SHADOW.value] = shadows
        scene.flags[kinds.mjRND_HAZE.value] = True
        with self._gl.as_current():
            return self._draw(requested, arrows)

    def _draw(self, wanted: tuple[str, ...], arrows: Sequence[np.ndarray]) -> Picture:
        scene, kinds = self._scene, self._mujoco.mjtRndFlag
        size = self.lens.height, self.lens.width
        color = depth = segmentation = None
        if "color" in wanted:
            drawn = scene.ngeom
            for arrow in arrows:
                self._add_arrow(*arrow)
            color = self._pixels(np.empty((*size, 3), dtype=np.uint8), None)
            scene.ngeom = drawn
        if "depth" in wanted or "segmentation" in wanted:
            flags = scene.flags.copy()
            scene.flags[[kinds.mjRND_SEGMENT.value, kinds.mjRND_IDCOLOR.value]] = True
            ids = np.empty((*size, 3), dtype=np.uint8) if "segmentation" in wanted else None
            nearness = np.empty(size, dtype=np.float32) if "depth" in wanted else None
            self._pixels(ids, nearness)
            scene.flags[:] = flags
            segmentation = None if ids is None else self._links_of(ids)
            depth = None if nearness is None else self._depth(nearness)
        return Picture(color, depth, segmentation)

    def _add_arrow(self, start: np.ndarray, tip: np.ndarray) -> None:
        """Add an arrow to the scene if there is room."""
        mujoco, scene = self._mujoco, self._scene
        if scene.ngeom < scene.maxgeom:
            geom, kind = scene.geoms[scene.ngeom], mujoco.mjtGeom.mjGEOM_ARROW
            mujoco.mjv_initGeom(geom, kind, np.zeros(3), np.zeros(3), np.eye(3).ravel(), _ARROW)
            mujoco.mjv_connector(geom, kind, _ARROW_WIDTH, start, tip)
            scene.ngeom += 1

    def _pixels(self, color, nearness):
        """Draw the scene, and copy the pixels to the arrays. The top row comes first."""
        self._mujoco.mjr_render(self._rect, self._scene, self._context)
        self._mujoco.mjr_readPixels(color, nearness, self._rect, self._context)
        for image in (color, nearness):
            if image is not None:
                image[:] = image[::-1].copy()
        return color

    def _links_of(self, ids: np.ndarray) -> np.ndarray:
        """Return the index of the link drawn at each pixel.

        ids: colours that encode the indices of geoms in the scene.
        """
        number = ids.astype(np.int32) @ np.array([1, 1 << 8, 1 << 16], dtype=np.int32)
        geoms = self._scene.geoms[: self._scene.ngeom]
        links = np.full(self._scene.ngeom + 1, -1, dtype=np.int32)
        for geom in geoms:
            if geom.segid >= 0 and geom.objtype == self._mujoco.mjtObj.mjOBJ_GEOM:
                links[geom.segid + 1] = self._links[geom.objid]
        return links[number]

    def _depth(self, nearness: np.ndarray) -> np.ndarray:
        """Convert OpenGL's depth to distances along the optical axis [m].

        OpenGL's depth is 1 at `near` and 0 at `far`. The result is 0 for pixels without a geometry.
        """
        near, far = np.float32(self.lens.near), np.float32(self.lens.far)
        depth = near * far / (near + nearness * (far - near))
        depth[nearness == 0.0] = np.inf
        return depth

    def _compiled(self):
        """Compile MuJoCo's model with a mocap body for the camera and for each geometry."""
        mujoco, lens = self._mujoco, self.lens
        spec = mujoco.MjSpec()
        spec.stat.extent = 1.0
        spec.compiler.balanceinertia = True  # flat meshes are drawn, and forces do not move them
        spec.visual.map.znear, spec.visual.map.zfar = lens.near, lens.far
        spec.visual.quality.offsamples = 0  # four samples take three times as long
        spec.visual.global_.offwidth, spec.visual.global_.offheight = lens.width, lens.height
        spec.visual.map.haze, spec.visual.rgba.haze = 0.4, [*_HORIZON, 1.0]
        spec.visual.headlight.ambient, spec.visual.headlight.diffuse = [0.5] * 3, [0.4] * 3
        spec.visual.headlight.specular = [0.0] * 3
        as_fine_as_the_picture = 1 << (lens.width - 1).bit_length()
        spec.visual.map.shadowclip, spec.visual.quality.shadowsize = _SHADED, as_fine_as_the_picture
        sky = spec.add_texture(type=mujoco.mjtTexture.mjTEXTURE_SKYBOX, width=64, height=384)
        sky.builtin, sky.rgb1, sky.rgb2 = mujoco.mjtBuiltin.mjBUILTIN_GRADIENT, _SKY, _HORIZON
        tiles = spec.add_texture(name="tiles", type=mujoco.mjtTexture.mjTEXTURE_2D)
        tiles.builtin, tiles.width, tiles.height = mujoco.mjtBuiltin.mjBUILTIN_CHECKER, 256, 256
        tiles.rgb1, tiles.rgb2 = _TILES
        ground = spec.add_material(name="ground", texuniform=True, texrepeat=[0.5, 0.5])
        ground.textures[mujoco.mjtTextureRole.mjTEXROLE_RGB] = "tiles"
        fov = 2.0 * math.degrees(math.atan(0.5 * lens.height / lens.focal_length))
        spec.worldbody.add_body(name="camera", mocap=True).add_camera(fovy=fov)
        spec.worldbody.add_body(name="light", mocap=True).add_light(
            type=mujoco.mjtLightType.mjLIGHT_DIRECTIONAL, dir=_SUN, castshadow=True,
            diffuse=[0.5] * 3, specular=[0.1] * 3,
        )  # fmt: skip
        for k, drawn in enumerate(self._drawn):
            body = spec.worldbody.add_body(mocap=True)
            body.add_geom(
                pos=drawn.placement.p, quat=_wxyz(quaternion_of(drawn.placement.R)), contype=0,
                conaffinity=0, rgba=[*(c / 255.0 for c in drawn.color), 1.0],
                **self._geometry(spec, f"mesh{k}", drawn.geometry),
            )  # fmt: skip
        return spec.compile()

    def _geometry(self, spec, name: str, geometry: Geometry) -> dict[str, Any]:
        """Return type and size of a geom. Add a mesh as an asset with the given name."""
        kinds = self._mujoco.mjtGeom
        if isinstance(geometry, Plane):
            return {"type": kinds.mjGEOM_PLANE, "size": [0.0, 0.0, 1.0], "material": "ground"}
        if isinstance(geometry, Sphere):
            return {"type": kinds.mjGEOM_SPHERE, "size": [geometry.radius, 0.0, 0.0]}
        if isinstance(geometry, Box):
            return {"type": kinds.mjGEOM_BOX, "size": [0.5 * x for x in geometry.lengths]}
        if isinstance(geometry, (Capsule, Cylinder)):
            round_ends = isinstance(geometry, Capsule)
            kind = kinds.mjGEOM_CAPSULE if round_ends else kinds.mjGEOM_CYLINDER
            return {"type": kind, "size": [geometry.radius, 0.5 * geometry.length, 0.0]}
        assert isinstance(geometry, Mesh)
        if isinstance(geometry, HeightField):
            geometry = geometry.thinned()
        corners, faces = geometry.vertices, geometry.triangles
        sides = corners[faces]
        areas = np.cross(sides[:, 1] - sides[:, 0], sides[:, 2] - sides[:, 0])
        faces = faces[areas.any(axis=1)]
        corners = np.concatenate([corners, corners[: max(0, 4 - len(corners))]])  # MuJoCo's fewest
        mesh = spec.add_mesh(name=name, inertia=self._mujoco.mjtMeshInertia.mjMESH_INERTIA_SHELL)
        mesh.uservert, mesh.userface = corners.ravel().tolist(), faces.ravel().tolist()
        return {"type": kinds.mjGEOM_MESH, "meshname": name}


def _free(context, gl) -> None:
    """Free the memory of the OpenGL context."""
    with gl.as_current():
        context.free()
    gl.free()


def _wxyz(quaternion) -> np.ndarray:
    return np.asarray(quaternion)[[3, 0, 1, 2]]
