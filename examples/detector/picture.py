"""Draws scenes with their boxes and those that were found, as an SVG file that holds the images as PNG."""

import base64
import struct
import zlib

import torch
from torch import Tensor

from qten_gen import Ragged

from .data import KINDS
from .model import Found, Scene

COLOURS = ("#d62828", "#1d4ed8", "#15803d")
SCALE, GAP, COLUMNS = 4, 24, 4


def picture(scenes: Scene, found: Ragged[Found]) -> str:
    """The scenes in rows of four: true boxes dashed, found boxes with kind and score."""
    side = SCALE * scenes.image.shape[-1]
    rows = -(-len(scenes) // COLUMNS)
    width, height = COLUMNS * (side + GAP) + GAP, rows * (side + GAP) + GAP + 24
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif" font-size="13">',
        f'<rect width="{width}" height="{height}" fill="#1b1f27"/>',
    ]
    for number, (scene, finds) in enumerate(zip(scenes, found, strict=True)):
        row, column = divmod(number, COLUMNS)
        lines.append(f'<g transform="translate({GAP + column * (side + GAP)} {GAP + row * (side + GAP)})">')
        data = base64.b64encode(png(scene.image)).decode()
        lines.append(
            f'<image width="{side}" height="{side}" style="image-rendering:pixelated" href="data:image/png;base64,{data}"/>'
        )
        for box in scene.objects.rows.boxes:
            lines.append(rectangle(box, 'stroke="white" stroke-dasharray="5 4"'))
        for one in finds.rows:
            text, colour = f"{KINDS[one.labels]} {one.scores:.0%}", COLOURS[one.labels]
            x, y = (SCALE * one.boxes[:2]).round().int().tolist()
            lines.append(rectangle(one.boxes, f'stroke="{colour}" stroke-width="2"'))
            lines.append(f'<rect x="{x - 1}" y="{y - 18}" width="{8 * len(text) + 6}" height="18" fill="{colour}"/>')
            lines.append(f'<text x="{x + 4}" y="{y - 4}" fill="white">{text}</text>')
        lines.append("</g>")
    lines.append(f'<text x="{GAP}" y="{height - 14}" fill="white">dashed: true boxes; coloured: found boxes</text>')
    return "\n".join([*lines, "</svg>\n"])


def rectangle(box: Tensor, style: str) -> str:
    x, y, right, bottom = (SCALE * box).round().int().tolist()
    return f'<rect x="{x}" y="{y}" width="{right - x}" height="{bottom - y}" fill="none" {style}/>'


def png(image: Tensor) -> bytes:
    """An image of shape `(3, height, width)` with values from 0 to 1, as a PNG file."""
    height, width = image.shape[1:]
    pixels = (255 * image).round().to(torch.uint8).permute(1, 2, 0).reshape(height, -1)
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    lines = b"".join(b"\0" + bytes(line.tolist()) for line in pixels)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(lines)) + chunk(b"IEND", b"")


def chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
