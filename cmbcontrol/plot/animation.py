"""Animation files: GIF with one palette of exact colours, MP4 through ffmpeg."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import _check, _files
from .._interrupt import let_through
from .._progress import Progress, Reporter
from ..errors import InputError, MissingExtraError

__all__ = ["animation_path", "write_animation"]

Image = NDArray[np.uint8]

_SAMPLES = 4  # frames whose colours make the palette
_EXACT = 96  # colours of the palette that are kept as they are: flat ones, which cover most of a drawing
# Levels of 256: a colour that is nearer to one before it in the palette is that one. Pillow looks colours up in cells
# of 4 levels, by the entry that is nearest to a corner of the cell: within 3 sqrt(3) for one in it, so others stay off.
_NEAR = 10


def animation_path(path: str | Path, fps: float) -> Path:
    """Path of an animation, checked so that the file can be written there."""
    path = Path(path)
    _check.positive(fps, "fps")
    if path.suffix not in (".gif", ".mp4"):
        raise InputError(f"an animation is a .gif or .mp4 file, got {path.name!r}")
    if path.suffix == ".mp4":
        _ffmpeg(path)
    return path


def write_animation(
    path: Path,
    draw: Callable[[int], Image],
    count: int,
    fps: float,
    colors: Sequence[str],
    progress: Progress | None,
) -> Path:
    """Write an animation from a function that draws its frames (height, width, 3) by number.

    Parameters
    ----------
    path : Path
        From `animation_path`.
    draw : callable
        Number of a frame -> image; called in order, and before that for some frames, of which the palette is made.
    count : int
        Number of frames.
    fps : float
    colors : sequence of str
        Colours that a GIF must show exactly, ``"#RRGGBB"``.
    progress : bool or callable, optional
    """
    gif = path.suffix == ".gif"
    samples = [draw(i) for i in sorted({round(x) for x in np.linspace(0, count - 1, _SAMPLES)})] if gif else []
    with Reporter(progress or False, "animating") as reporter:

        def frames() -> Iterator[Image]:
            for i in range(count):
                let_through()
                yield draw(i)
                reporter.update((i + 1) / count)

        if gif:
            _write_gif(path, frames(), fps, _palette(samples, colors))
        else:
            _write_mp4(path, frames(), fps)
    return path


# -- GIF --------------------------------------------------------------------------------------------------


def _palette(samples: Sequence[Image], colors: Sequence[str]) -> Any:
    """Image with the palette that all frames share.

    First the required colours and those that cover most of the samples, unchanged; then the best ones for the rest,
    which are blends at edges and shades of solids. One entry of 256 stays free: it marks pixels that do not change
    from frame to frame.
    """
    from PIL import Image as Pillow

    counts: dict[tuple[int, int, int], int] = {}
    for sample in samples:
        for count, rgb in Pillow.fromarray(sample).getcolors(sample.shape[0] * sample.shape[1]):
            counts[rgb] = counts.get(rgb, 0) + count
    asked = [tuple(bytes.fromhex(color[1:])) for color in colors]
    most = sorted(counts, key=lambda rgb: -counts[rgb])
    exact = list(dict.fromkeys([(255, 255, 255), *asked, *most[:_EXACT]]))
    rest = np.array([rgb for rgb in most if rgb not in set(exact)], dtype=np.uint8).reshape(-1, 3)
    if len(rest) > 255:
        blends = Pillow.fromarray(rest[None]).quantize(255, Pillow.Quantize.MAXCOVERAGE)
        rest = np.array(blends.getpalette()).reshape(-1, 3)
    chosen = np.zeros((0, 3), dtype=np.int64)
    for rgb in np.concatenate([np.array(exact), rest]):
        if len(chosen) < 255 and (np.abs(chosen - rgb).max(axis=1) >= _NEAR).all():
            chosen = np.concatenate([chosen, [rgb]])
    palette = Pillow.new("P", (1, 1))
    palette.putpalette(chosen.astype(np.uint8).ravel().tolist())
    return palette


def _write_gif(path: Path, frames: Iterator[Image], fps: float, palette: Any) -> None:
    """Write a GIF; Pillow keeps only the pixels that change from frame to frame."""
    from PIL import Image as Pillow

    images = [Pillow.fromarray(frame).quantize(palette=palette, dither=Pillow.Dither.NONE) for frame in frames]
    content = BytesIO()
    duration = round(1000.0 / fps)
    # with the palette named, frames have none of their own; optimized, they leave out what did not change
    options = {"palette": bytes(palette.getpalette()), "optimize": True, "duration": duration, "loop": 0}
    images[0].save(content, format="GIF", save_all=True, append_images=images[1:], **options)
    _files.write(path, content.getvalue())


# -- MP4 --------------------------------------------------------------------------------------------------


def _ffmpeg(path: Path) -> str:
    """Path of ffmpeg, as in matplotlib's settings or on the PATH; raises an error where there is none."""
    from matplotlib.animation import FFMpegWriter

    if not FFMpegWriter.isAvailable():
        raise MissingExtraError(f"{path.name} needs ffmpeg, which is not on the path; install it, or write a .gif")
    return str(FFMpegWriter.bin_path())


def _write_mp4(path: Path, frames: Iterator[Image], fps: float) -> None:
    """Write frames through ffmpeg, in a format that all players can show (half colour resolution, even sizes)."""
    first = next(frames)
    height, width = (2 * ((n + 1) // 2) for n in first.shape[:2])
    command = [_ffmpeg(path), "-loglevel", "error", "-y", "-f", "rawvideo", "-pix_fmt", "rgb24"]
    command += ["-s", f"{width}x{height}", "-r", f"{fps:.9g}", "-i", "-", "-an"]
    command += ["-vf", "scale=out_color_matrix=bt709:out_range=tv", "-pix_fmt", "yuv420p"]
    command += ["-colorspace", "bt709", "-color_primaries", "bt709", "-color_trc", "bt709", "-color_range", "tv"]
    command += ["-movflags", "+faststart", "-f", "mp4"]
    with (
        _files.writing(path) as beside,
        subprocess.Popen([*command, str(beside)], stdin=subprocess.PIPE, stderr=subprocess.PIPE) as process,
    ):
        try:
            said = _fed(process, first, frames, (height, width))
        except BaseException:
            process.kill()
            with suppress(OSError):  # what is left to be written has no reader
                process.stdin.close()  # type: ignore[union-attr]
            raise
        if process.returncode:
            raise OSError(f"ffmpeg gave up on {path.name} ({said or f'status {process.returncode}'})")


def _fed(process: Any, first: Image, frames: Iterator[Image], shape: tuple[int, int]) -> str:
    """Messages of ffmpeg after it has got all frames."""

    def padded(frame: Image) -> bytes:
        whole = np.full((*shape, 3), 255, dtype=np.uint8)
        whole[: frame.shape[0], : frame.shape[1]] = frame
        return whole.tobytes()

    try:
        process.stdin.write(padded(first))
        for frame in frames:
            process.stdin.write(padded(frame))
    except BrokenPipeError:
        pass  # it has given up, and says why
    return process.communicate()[1].decode(errors="replace").strip()
