"""A llama2.c checkpoint and its vocabulary as one GGUF file, and the text of recorded token ids.

    llama2c_to_gguf.py MODEL.bin VOCABULARY.bin IDS.txt OUT.gguf OUT.txt
"""
import struct
import sys

U32, I32, F32, BOOL, STRING, ARRAY = 4, 5, 6, 7, 8, 9


def string(chars):
    return struct.pack("<Q", len(chars)) + chars


def key(name, kind, value):
    return string(name.encode()) + struct.pack("<I", kind) + value


def array(kind, items):
    return struct.pack("<IQ", kind, len(items)) + b"".join(items)


def read_vocabulary(path):
    data, at, pieces, scores = open(path, "rb").read(), 4, [], []
    while at < len(data):
        score, length = struct.unpack_from("<fi", data, at)
        pieces.append(data[at + 8:at + 8 + length])
        scores.append(score)
        at += 8 + length
    return pieces, scores


def byte_of(piece):
    return bytes([int(piece[3:5], 16)]) if len(piece) == 6 and piece.startswith(b"<0x") else None


def text_of(ids, pieces):
    out, before = b"", 1
    for token in ids:
        if token == 1:
            break
        piece = pieces[token]
        if before == 1 and piece.startswith(b" "):
            piece = piece[1:]
        out += byte_of(piece) or piece
        before = token
    return out + b"\n"


def main(model, vocabulary, recorded, out_model, out_text):
    data = open(model, "rb").read()
    dim, hidden, layers, heads, kv_heads, vocab, context = struct.unpack_from("<7i", data)
    kv_dim = dim * kv_heads // heads
    pieces, scores = read_vocabulary(vocabulary)
    tensors, at = [], 28
    kinds = [("attn_norm", dim, 1), ("attn_q", dim, dim), ("attn_k", dim, kv_dim), ("attn_v", dim, kv_dim), ("attn_output", dim, dim),
             ("ffn_norm", dim, 1), ("ffn_gate", dim, hidden), ("ffn_down", hidden, dim), ("ffn_up", dim, hidden)]  # columns, rows

    def take(name, columns, rows):
        nonlocal at
        size = 4 * columns * rows
        tensors.append((name, [columns] if rows == 1 else [columns, rows], data[at:at + size]))
        at += size

    take("token_embd.weight", dim, vocab)
    for kind, columns, rows in kinds:
        for layer in range(layers):
            take(f"blk.{layer}.{kind}.weight", columns, rows)
    take("output_norm.weight", dim, 1)

    def u32(name, value):
        return key("llama." + name, U32, struct.pack("<I", value))

    spelt = [piece if byte_of(piece) else piece.replace(b" ", "\u2581".encode()) for piece in pieces]
    types = [2 if i == 0 else 3 if i < 3 else 6 if byte_of(piece) else 1 for i, piece in enumerate(pieces)]
    keys = [
        key("general.architecture", STRING, string(b"llama")),
        u32("context_length", context), u32("embedding_length", dim), u32("block_count", layers), u32("feed_forward_length", hidden),
        u32("attention.head_count", heads), u32("attention.head_count_kv", kv_heads), u32("rope.dimension_count", dim // heads),
        key("llama.attention.layer_norm_rms_epsilon", F32, struct.pack("<f", 1e-5)),
        key("tokenizer.ggml.model", STRING, string(b"llama")),
        key("tokenizer.ggml.tokens", ARRAY, array(STRING, [string(piece) for piece in spelt])),
        key("tokenizer.ggml.scores", ARRAY, array(F32, [struct.pack("<f", s) for s in scores])),
        key("tokenizer.ggml.token_type", ARRAY, array(I32, [struct.pack("<i", t) for t in types])),
        key("tokenizer.ggml.bos_token_id", U32, struct.pack("<I", 1)), key("tokenizer.ggml.eos_token_id", U32, struct.pack("<I", 2)),
        key("tokenizer.ggml.unknown_token_id", U32, struct.pack("<I", 0)),
    ]
    head, offset = b"GGUF" + struct.pack("<IQQ", 3, len(tensors), len(keys)) + b"".join(keys), 0
    for name, extents, content in tensors:
        head += string(name.encode()) + struct.pack(f"<I{len(extents)}QIQ", len(extents), *extents, 0, offset)
        offset += (len(content) + 31) // 32 * 32
    padded = lambda content: content + bytes(-len(content) % 32)
    with open(out_model, "wb") as f:
        f.write(padded(head) + b"".join(padded(content) for _, _, content in tensors))
    with open(out_text, "wb") as f:
        f.write(text_of([int(word) for word in open(recorded).read().split()], pieces))


if __name__ == "__main__":
    main(*sys.argv[1:])
