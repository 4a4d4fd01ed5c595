"""A small decoder of a family as a GGUF file, with random weights that are always the same.

    make_family_gguf.py FAMILY f32|q8_0 OUT.gguf

Names of keys and tensors, and what a converter has done to weights, as docs/models.md says. Sizes are small, and windows,
caps and factors stronger than in real models, so that each of them moves the logits.
"""
import sys
import zlib

import numpy as np

import gguf_file

WIDTH, HIDDEN, HEADS, KV_HEADS, HEAD_WIDTH, VOCABULARY, CONTEXT = 64, 96, 4, 2, 16, 96, 64
FAMILIES = ["llama", "mixtral", "qwen2", "qwen3", "gemma2", "gemma3", "phi3", "qwen2moe", "qwen3moe"]


def normal(name, shape, scale, mean=0.0):
    rng = np.random.Generator(np.random.PCG64(zlib.crc32(name.encode())))
    return (mean + scale * rng.standard_normal(shape)).astype(np.float32)


def make(family):
    """Keys, and tensors by name."""
    architecture = "llama" if family == "mixtral" else family
    gemma, routed = family.startswith("gemma"), family in ("mixtral", "qwen2moe", "qwen3moe")
    layers = 6 if family == "gemma3" else 2
    heads, head = (3, 24) if family == "qwen3" else (HEADS, HEAD_WIDTH)  # heads of a stated width that is not width / heads
    kv_heads = 1 if family == "qwen3" else KV_HEADS
    turned = 12 if family == "phi3" else head
    own = {"context_length": CONTEXT, "embedding_length": WIDTH, "block_count": layers, "feed_forward_length": HIDDEN,
           "attention.head_count": heads, "attention.head_count_kv": kv_heads, "attention.layer_norm_rms_epsilon": 1e-2,
           "rope.freq_base": 1000.0, "rope.dimension_count": turned}
    tensors = {}

    def matrix(name, shape, scale=0.05):
        tensors[name] = (normal(name, shape, scale), True)

    def vector(name, size, scale=0.2, mean=1.0):
        tensors[name] = (normal(name, size, scale, mean), False)

    if family == "llama":  # factors as of Llama 3, and a head of its own
        tensors["rope_freqs.weight"] = (np.linspace(1, 8, turned // 2, dtype=np.float32), False)
        matrix("output.weight", (VOCABULARY, WIDTH))
    if family == "qwen2":
        own.update({"rope.scaling.type": "yarn", "rope.scaling.factor": 4.0, "rope.scaling.original_context_length": 32})
    if family == "qwen3":
        own.update({"attention.key_length": head, "attention.value_length": head})
    if gemma:
        own["attention.sliding_window"] = 7
    if family == "gemma2":
        own.update({"attn_logit_softcapping": 1.5, "final_logit_softcapping": 3.0})
    if family == "gemma3":
        own.update({"rope.scaling.type": "linear", "rope.scaling.factor": 8.0, "rope.freq_base": 1e6})
    if family == "phi3":
        own.update({"rope.scaling.original_context_length": 32, "rope.scaling.attn_factor": 1.19, "attention.sliding_window": 9})
        tensors["rope_factors_long.weight"] = (np.linspace(1, 4, turned // 2, dtype=np.float32), False)
        tensors["rope_factors_short.weight"] = (np.ones(turned // 2, np.float32), False)
    experts, expert_hidden = 8, 32 if family != "mixtral" else HIDDEN
    if routed:
        own.update({"expert_count": experts, "expert_used_count": 3})
    if family in ("qwen2moe", "qwen3moe"):
        own["expert_feed_forward_length"] = expert_hidden
    if family == "qwen2moe":
        own["expert_shared_feed_forward_length"] = 64

    matrix("token_embd.weight", (VOCABULARY, WIDTH), 0.125 if gemma else 1.0)
    vector("output_norm.weight", WIDTH)
    for layer in range(layers):
        blk = f"blk.{layer}."
        q, kv = heads * head, kv_heads * head
        vector(blk + "attn_norm.weight", WIDTH)
        if family == "phi3":
            matrix(blk + "attn_qkv.weight", (q + 2 * kv, WIDTH), 0.12)
            matrix(blk + "ffn_up.weight", (2 * HIDDEN, WIDTH), 0.1)
        else:
            matrix(blk + "attn_q.weight", (q, WIDTH), 0.12)
            matrix(blk + "attn_k.weight", (kv, WIDTH), 0.12)
            matrix(blk + "attn_v.weight", (kv, WIDTH), 0.12)
        if family.startswith("qwen2"):
            for name, size in (("q", q), ("k", kv), ("v", kv)):
                vector(blk + f"attn_{name}.bias", size, 0.5, 0.0)
        if family in ("qwen3", "qwen3moe", "gemma3"):
            vector(blk + "attn_q_norm.weight", head)
            vector(blk + "attn_k_norm.weight", head)
        matrix(blk + "attn_output.weight", (WIDTH, q))
        if gemma:
            vector(blk + "post_attention_norm.weight", WIDTH)
            vector(blk + "post_ffw_norm.weight", WIDTH)
        vector(blk + "ffn_norm.weight", WIDTH)
        if routed:
            tensors[blk + "ffn_gate_inp.weight"] = (normal(blk + "ffn_gate_inp", (experts, WIDTH), 0.15), False)
            matrix(blk + "ffn_gate_exps.weight", (experts, expert_hidden, WIDTH), 0.1)
            matrix(blk + "ffn_up_exps.weight", (experts, expert_hidden, WIDTH), 0.1)
            matrix(blk + "ffn_down_exps.weight", (experts, WIDTH, expert_hidden))
        elif family == "phi3":
            matrix(blk + "ffn_down.weight", (WIDTH, HIDDEN))
        else:
            matrix(blk + "ffn_gate.weight", (HIDDEN, WIDTH), 0.1)
            matrix(blk + "ffn_up.weight", (HIDDEN, WIDTH), 0.1)
            matrix(blk + "ffn_down.weight", (WIDTH, HIDDEN))
        if family == "qwen2moe":
            vector(blk + "ffn_gate_inp_shexp.weight", WIDTH, 0.2, 0.0)
            matrix(blk + "ffn_gate_shexp.weight", (64, WIDTH), 0.1)
            matrix(blk + "ffn_up_shexp.weight", (64, WIDTH), 0.1)
            matrix(blk + "ffn_down_shexp.weight", (WIDTH, 64))
    keys = {"general.architecture": architecture, "general.name": f"random {family}"}
    keys.update({f"{architecture}.{name}": value for name, value in own.items()})
    return keys, tensors


def write(family, kind, path):
    keys, tensors = make(family)
    # What is packed is a matrix whose rows are whole blocks.
    gguf_file.write(path, keys, {name: (x, packed and kind == "q8_0" and x.shape[-1] % 32 == 0) for name, (x, packed) in tensors.items()})


if __name__ == "__main__":
    if len(sys.argv) != 4 or sys.argv[1] not in FAMILIES or sys.argv[2] not in ("f32", "q8_0"):
        sys.exit(__doc__ + "\nFamilies: " + " ".join(FAMILIES))
    write(*sys.argv[1:])
