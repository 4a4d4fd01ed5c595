"""Each family's small decoder through poot, against float64: `check_families.py MODEL_LOGITS host|vulkan FOLDER [WHICH…]`.

WHICH is a family, a format of weights (`f32`, `q8_0`), or both as `llama-q8_0`; without one, every family in each format.

Logits of every position must lie within DEVIATIONS times the spread that reference.py derives from f32 rounding, when all
tokens are read in one piece; read one at a time, and unfused, they must have the same bits. And, on the host, each feature of
a family is left out of the reference once: the comparison must notice by far. Ends with `N passed, N failed`.
"""
import subprocess
import sys

import numpy as np

import make_family_gguf
from reference import DEVIATIONS, Decoder

TOKENS = [1] + [(37 * i + 11) % make_family_gguf.VOCABULARY for i in range(1, 25)]
EVERY = ["rotation", "pair order", "epsilon"]
FEATURES = {
    "llama": ["frequency divisors", "own head"],
    "mixtral": ["normalised experts", "last expert"],
    "qwen2": ["biases", "frequency scaling", "magnitude"],
    "qwen3": ["head norms"],
    "gemma2": ["attention cap", "logit cap", "window", "gelu", "post norms", "embedding scale"],
    "gemma3": ["head norms", "window", "sliding base", "frequency scaling", "gelu", "post norms", "embedding scale"],
    "phi3": ["frequency divisors", "magnitude", "window"],
    "qwen2moe": ["biases", "normalised experts", "last expert", "shared expert"],
    "qwen3moe": ["head norms", "normalised experts", "last expert"],
}
BY_FAR = 20


def chosen(which):
    """Pairs of family and format, in the order of the families."""
    every = [(family, kind) for family in make_family_gguf.FAMILIES for kind in ("f32", "q8_0")]
    unknown = [w for w in which if not any(w in (family, kind, f"{family}-{kind}") for family, kind in every)]
    if unknown:
        sys.exit(f"check_families.py: {unknown[0]} is no family, format, or FAMILY-FORMAT")
    return [(family, kind) for family, kind in every if not which or {family, kind, f"{family}-{kind}"} & set(which)]


def main(program, device, folder, which):
    counts = [0, 0]

    def check(name, holds):
        counts[not holds] += 1
        if not holds:
            print(f"FAIL {name}")

    for family, kind in chosen(which):
        path, out = f"{folder}/{family}-{kind}.gguf", f"{folder}/{family}-{kind}.logits"
        make_family_gguf.write(family, kind, path)
        run = subprocess.run([program, device, path, out, *map(str, TOKENS)], capture_output=True, text=True)
        if run.returncode:
            check(f"{family} {kind}: {run.stderr.strip()}", False)
            continue
        whole, single, unfused = np.fromfile(out, "<f4").reshape(3, len(TOKENS), -1)
        expected = Decoder(path).logits(TOKENS)
        distance, bound = np.abs(whole - expected.value), DEVIATIONS * expected.spread
        worst = (distance / bound).max()
        print(f"{family:9} {kind:5} |logit| to {np.abs(expected.value).max():.2f}, bound to {bound.max():.1e}, "
              f"error to {distance.max():.1e}, {worst:.3f} of the bound")
        check(f"{family} {kind}: a logit is {worst:.1f} times the bound away", worst <= 1)
        check(f"{family} {kind}: reading one token at a time gives other bits", whole.tobytes() == single.tobytes())
        check(f"{family} {kind}: unfused gives other bits", whole.tobytes() == unfused.tobytes())
        if kind == "q8_0" or device != "host":
            continue
        for feature in EVERY + FEATURES[family]:
            altered = Decoder(path, [feature]).logits(TOKENS)
            times = (np.abs(whole - altered.value) / (DEVIATIONS * altered.spread)).max()
            check(f"{family}: without {feature}, logits are only {times:.1f} bounds away", times >= BY_FAR)
    print(f"{counts[0]} passed, {counts[1]} failed")
    return counts[1] != 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:4], sys.argv[4:]))
