# SPDX-License-Identifier: Apache-2.0
"""Makes pictures of windows small: at most 256 colors, and as few bytes as zlib finds."""
import collections
import pathlib
import struct
import sys
import zlib

SIGNATURE = b"\x89PNG\r\n\x1a\n"
COLORS = 256


def small(picture):
    """A PNG of a browser with a palette. Its pixels differ little from what they were."""
    width, height, rows = decode(picture)
    counts = collections.Counter(pixel for row in rows for pixel in row)
    palette, index = quantize(counts)
    lines = b"".join(b"\0" + bytes(index[pixel] for pixel in row) for row in rows)
    return SIGNATURE + b"".join(chunk(*part) for part in [
        (b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0)), (b"PLTE", b"".join(palette)),
        (b"IDAT", zlib.compress(lines, 9)), (b"IEND", b"")])


def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def decode(picture):
    """The rows of a picture with 8 bits a channel, without transparency: lists of three bytes a pixel (ISO 15948)."""
    assert picture.startswith(SIGNATURE)
    place, data, header = 8, b"", None
    while place < len(picture):
        size, kind = struct.unpack(">I4s", picture[place:place + 8])
        content = picture[place + 8:place + 8 + size]
        if kind == b"IHDR":
            header = struct.unpack(">IIBBBBB", content)
        elif kind == b"IDAT":
            data += content
        place += size + 12
    width, height, depth, color, _, _, interlace = header
    assert depth == 8 and color in (2, 6) and interlace == 0, header
    step = 3 if color == 2 else 4
    data, above, rows = zlib.decompress(data), bytes(width * step), []
    for number in range(height):
        start = number * (width * step + 1)
        above = unfilter(data[start], bytearray(data[start + 1:start + 1 + width * step]), above, step)
        rows.append([bytes(above[at:at + 3]) for at in range(0, width * step, step)])
    return width, height, rows


def unfilter(kind, line, above, step):
    if kind == 1:
        for at in range(step, len(line)):
            line[at] = (line[at] + line[at - step]) & 255
    elif kind == 2:
        for at, value in enumerate(above):
            line[at] = (line[at] + value) & 255
    elif kind == 3:
        for at, value in enumerate(above):
            line[at] = (line[at] + (((line[at - step] if at >= step else 0) + value) >> 1)) & 255
    elif kind == 4:
        for at, up in enumerate(above):
            left, corner = (line[at - step], above[at - step]) if at >= step else (0, 0)
            far = (abs(up - corner), abs(left - corner), abs(left + up - 2 * corner))
            line[at] = (line[at] + (left if far[0] <= far[1] and far[0] <= far[2] else up if far[1] <= far[2] else corner)) & 255
    return line


def quantize(counts):
    """A palette, and the place of each color in it: the median cut."""
    def weigh(box):
        return max(spread(box)) * sum(counts[color] for color in box) ** 0.5 if len(box) > 1 else 0

    boxes = [(weigh(box), box) for box in [list(counts)]]
    while len(boxes) < COLORS:
        number = max(range(len(boxes)), key=lambda place: boxes[place][0])
        weight, widest = boxes.pop(number)
        if weight == 0:
            boxes.append((weight, widest))
            break
        spreads = spread(widest)
        channel = spreads.index(max(spreads))
        widest.sort(key=lambda color: color[channel])
        half, seen = sum(counts[color] for color in widest) / 2, 0
        for place, color in enumerate(widest[:-1], 1):
            seen += counts[color]
            if seen >= half:
                break
        boxes += [(weigh(part), part) for part in (widest[:place], widest[place:])]
    # The color that most pixels of a box have, so that areas keep theirs.
    palette = [max(box, key=lambda color: counts[color]) for _, box in boxes]
    return palette, {color: number for number, (_, box) in enumerate(boxes) for color in box}


def spread(box):
    return [max(color[channel] for color in box) - min(color[channel] for color in box) for channel in range(3)]


if __name__ == "__main__":
    for path in map(pathlib.Path, sys.argv[1:]):
        path.write_bytes(small(path.read_bytes()))
