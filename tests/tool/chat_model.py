"""A small random llama with a chat template and byte pairs: a GGUF file for the tests of the command line.

    chat_model.py TEMPLATE OUT.gguf
"""
import pathlib
import sys

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "models"))
import gguf_file  # noqa: E402
import make_family_gguf  # noqa: E402

keys, tensors = make_family_gguf.make("llama")
control = ["<s>", "<|im_start|>", "<|im_end|>"]
pieces = control + ["\u010a", "\u0120", "ab"] + [chr(c) for c in range(0x21, 0x7b)]  # a line break, a space, and most of ASCII
keys.update({"tokenizer.ggml.model": "gpt2", "tokenizer.ggml.pre": "qwen2", "tokenizer.ggml.tokens": pieces, "tokenizer.ggml.merges": ["a b"],
             "tokenizer.ggml.bos_token_id": 0, "tokenizer.ggml.eos_token_id": 2, "tokenizer.chat_template": sys.argv[1]})
keys["tokenizer.ggml.token_type"] = [np.int32(3 if p in control else 1) for p in pieces]
gguf_file.write(sys.argv[2], keys, tensors)
