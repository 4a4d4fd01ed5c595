"""GGUF files in NumPy: written with f32 and Q8_0 tensors, and read again in float64. Layout: ggml's docs/gguf.md, version 3."""
import struct

import numpy as np

U32, F32, BOOL, STRING, ARRAY, I32 = 4, 6, 7, 8, 9, 5
ALIGNMENT = 32


def _string(chars):
    data = chars.encode()
    return struct.pack("<Q", len(data)) + data


def _value(value):
    """A value type and the bytes of the value."""
    if isinstance(value, bool):
        return BOOL, struct.pack("<B", value)
    if isinstance(value, int):
        return U32, struct.pack("<I", value)
    if isinstance(value, np.int32):
        return I32, struct.pack("<i", value)
    if isinstance(value, float):
        return F32, struct.pack("<f", value)
    if isinstance(value, str):
        return STRING, _string(value)
    items = [_value(item) for item in value]
    return ARRAY, struct.pack("<IQ", items[0][0], len(items)) + b"".join(data for _, data in items)


def _q8_0(x):
    """Blocks of 32 along the last axis: an f16 scale, the greatest magnitude over 127, and 32 bytes."""
    blocks = x.reshape(-1, 32)
    scale = (np.abs(blocks).max(-1) / 127).astype(np.float16)
    steps = np.where(scale == 0, 1, scale).astype(np.float32)
    quants = np.clip(np.rint(blocks / steps[:, None]), -127, 127).astype(np.int8)
    return np.concatenate([scale[:, None].view(np.uint8), quants.view(np.uint8)], -1).tobytes()


def write(path, keys, tensors):
    """keys: names to Python values; tensors: names to (array f32, packed). Packed ones are stored as Q8_0."""
    head = b"GGUF" + struct.pack("<IQQ", 3, len(tensors), len(keys))
    for name, value in keys.items():
        kind, data = _value(value)
        head += _string(name) + struct.pack("<I", kind) + data
    contents, offset = [], 0
    for name, (array, packed) in tensors.items():
        data = _q8_0(array) if packed else array.astype("<f4").tobytes()
        head += _string(name) + struct.pack(f"<I{array.ndim}QIQ", array.ndim, *array.shape[::-1], 8 if packed else 0, offset)
        data += bytes(-len(data) % ALIGNMENT)
        contents.append(data)
        offset += len(data)
    with open(path, "wb") as f:
        f.write(head + bytes(-len(head) % ALIGNMENT) + b"".join(contents))


class _Reader:
    def __init__(self, data):
        self.data, self.at = data, 0

    def take(self, form):
        values = struct.unpack_from("<" + form, self.data, self.at)
        self.at += struct.calcsize("<" + form)
        return values[0] if len(values) == 1 else values

    def string(self):
        size = self.take("Q")
        self.at += size
        return self.data[self.at - size:self.at].decode()

    def value(self, kind):
        if kind == STRING:
            return self.string()
        if kind == ARRAY:
            item, count = self.take("IQ")
            return [self.value(item) for _ in range(count)]
        return self.take({U32: "I", I32: "i", F32: "f", BOOL: "?"}[kind])


def read(path):
    """The keys and the tensors of a file; tensors in float64, exact."""
    with open(path, "rb") as f:
        r = _Reader(f.read())
    magic, version, tensor_count, key_count = r.take("4sIQQ")
    assert magic == b"GGUF" and version == 3, path
    keys = {}
    for _ in range(key_count):
        name = r.string()
        keys[name] = r.value(r.take("I"))
    places = []
    for _ in range(tensor_count):
        name = r.string()
        rank = r.take("I")
        shape = [r.take("Q") for _ in range(rank)][::-1]
        places.append((name, shape, *r.take("IQ")))
    start, tensors = -(-r.at // ALIGNMENT) * ALIGNMENT, {}
    for name, shape, kind, offset in places:
        count = int(np.prod(shape))
        if kind == 0:
            x = np.frombuffer(r.data, "<f4", count, start + offset).astype(np.float64)
        else:
            assert kind == 8, f"{path}: {name} is of type {kind}"
            blocks = np.frombuffer(r.data, np.uint8, count // 32 * 34, start + offset).reshape(-1, 34)
            scale = blocks[:, :2].copy().view("<f2").astype(np.float64)
            x = scale * blocks[:, 2:].copy().view(np.int8)
        tensors[name] = x.reshape(shape)
    return keys, tensors
