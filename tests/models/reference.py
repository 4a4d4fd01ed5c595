"""Decoders in float64, from a GGUF file to logits, beside what f32 arithmetic may make of them.

The forward pass follows the families' public definitions (docs/models.md), one step after another and without regard to speed.
Each value carries its spread: the standard deviation of an f32 evaluation in which every step rounds once. Roundings are taken
as independent and of mean 0 (Higham and Mary, A new approach to probabilistic rounding error analysis, 2019), each with the
greatest deviation that a rounding has (U of the value, which is sqrt(3) times the deviation of a uniform one), elementary functions
with the ULP that numerics.md allows; a sum of n terms rounds each of its partial sums. To first order, no constant is fitted. Where a
worst case would be added up instead, six layers of 64 elements give a bound above the logits themselves.
"""
import numpy as np

import gguf_file

U = 2.0 ** -24  # rounding to nearest f32, relative; an ULP is at most 2 U
DEVIATIONS = 6  # what is allowed


class Rounded:
    """Values in float64, and how f32 spreads around each."""

    def __init__(self, value, spread=0.0):
        self.value = np.asarray(value, np.float64)
        self.spread = np.broadcast_to(np.asarray(spread, np.float64), self.value.shape)

    @staticmethod
    def step(value, *spreads, units=1.0):
        """A result that rounds, by `units` of U, after what its operands bring."""
        return Rounded(value, np.sqrt(sum(s * s for s in spreads) + (units * U * value) ** 2))

    def __add__(self, other):
        other = rounded(other)
        return self.step(self.value + other.value, self.spread, other.spread)

    def __sub__(self, other):
        other = rounded(other)
        return self.step(self.value - other.value, self.spread, other.spread)

    def __mul__(self, other):
        other = rounded(other)
        return self.step(self.value * other.value, self.value * other.spread, other.value * self.spread)

    def __truediv__(self, other):
        other = rounded(other)
        value = self.value / other.value
        return self.step(value, self.spread / other.value, value * other.spread / other.value)

    def __getitem__(self, at):
        return Rounded(self.value[at], self.spread[at])

    def reshape(self, *shape):
        return Rounded(self.value.reshape(*shape), self.spread.reshape(*shape))

    def moved(self, *axes):
        return Rounded(self.value.transpose(*axes), self.spread.transpose(*axes))

    def exp(self):
        value = np.exp(self.value)
        return self.step(value, value * self.spread, units=4)

    def tanh(self):
        value = np.tanh(self.value)
        return self.step(value, (1 - value * value) * self.spread, units=4)

    def sqrt(self):
        value = np.sqrt(self.value)
        return self.step(value, self.spread / (2 * value))

    def sum(self):
        """Over the last axis, kept."""
        partial = U * np.cumsum(self.value, -1)
        return Rounded(self.value.sum(-1, keepdims=True), np.sqrt((self.spread ** 2 + partial ** 2).sum(-1, keepdims=True)))


def rounded(x):
    return x if isinstance(x, Rounded) else Rounded(x)


def product(a, b):
    """a[…,M,K] times b[…,K,N]."""
    a, b = rounded(a), rounded(b)
    partial = U * np.cumsum(a.value[..., :, None, :] * b.value.swapaxes(-1, -2)[..., None, :, :], -1)  # […,M,N,K]
    of_operands = a.value ** 2 @ b.spread ** 2 + a.spread ** 2 @ b.value ** 2
    return Rounded(a.value @ b.value, np.sqrt(of_operands + (partial ** 2).sum(-1)))


def joined(parts, axis):
    return Rounded(np.concatenate([p.value for p in parts], axis), np.concatenate([p.spread for p in parts], axis))


def rms_norm(x, gain, epsilon):
    mean = (x * x).sum() * np.float64(1 / x.value.shape[-1])
    return x * (Rounded(1.0) / (mean + epsilon).sqrt()) * gain


def sigmoid(x):
    return Rounded(1.0) / ((Rounded(0.0) - x).exp() + 1.0)


def silu(x):
    return x / ((Rounded(0.0) - x).exp() + 1.0)


def gelu_tanh(x):
    inner = (x + x * x * x * 0.044715) * np.sqrt(2 / np.pi)
    return x * 0.5 * (inner.tanh() + 1.0)


def softcap(x, cap):
    return (x / cap).tanh() * cap


def softmax(x):
    """Over the last axis, as its two parts. The greatest is taken away from both, so what it errs by cancels."""
    seen = ~np.isneginf(x.value)
    shifted = Rounded.step(np.where(seen, x.value - x.value.max(-1, keepdims=True), 0.0), np.where(seen, x.spread, 0.0)).exp()
    e = Rounded(np.where(seen, shifted.value, 0.0), np.where(seen, shifted.spread, 0.0))
    return e, e.sum()


class Decoder:
    """`without`: features that are left out, to see that a comparison notices each."""

    def __init__(self, path, without=()):
        keys, self.tensors = gguf_file.read(path)
        self.family = keys["general.architecture"]
        self.keys = {name.removeprefix(self.family + "."): value for name, value in keys.items()}
        self.without = without
        key = self.keys.get
        self.epsilon = key("attention.layer_norm_rms_epsilon") if "epsilon" not in without else 1e-6
        self.heads, self.kv_heads = key("attention.head_count"), key("attention.head_count_kv")
        self.width = key("embedding_length")
        self.head = key("attention.key_length", self.width // self.heads)
        self.gemma = self.family.startswith("gemma")
        self.adjacent = (self.family == "llama") != ("pair order" in without)

    def has(self, feature):
        return feature not in self.without

    def weight(self, name):
        return self.tensors[name + ".weight"]

    def project(self, x, name):
        y = product(x, self.weight(name).T)
        bias = self.tensors.get(name + ".bias")
        return y + bias if bias is not None and self.has("biases") else y

    # ---- positions ----
    def slides(self, layer):
        period = {"gemma2": 2, "gemma3": 6, "phi3": None}.get(self.family, 1)
        return bool(self.keys.get("attention.sliding_window")) and (period is None or layer % period != period - 1)

    def frequencies(self, sliding):
        """Of each pair, and the magnitude of what turns."""
        turned = self.keys.get("rope.dimension_count", self.head)
        pairs = np.arange(turned // 2)
        base = self.keys.get("rope.freq_base", 10000.0)
        if self.family == "gemma3" and sliding and self.has("sliding base"):
            base = 10000.0
        frequency = base ** (-2.0 * pairs / turned)
        magnitude = self.keys.get("rope.scaling.attn_factor", 1.0) if self.has("magnitude") else 1.0
        if self.family == "gemma3" and sliding:
            return Rounded(frequency, 10 * U * frequency), magnitude
        kind, factor = self.keys.get("rope.scaling.type"), self.keys.get("rope.scaling.factor", 1.0)
        if kind == "linear" and self.has("frequency scaling"):
            frequency = frequency / factor
        if kind == "yarn" and self.has("frequency scaling"):
            original = self.keys["rope.scaling.original_context_length"]
            place = lambda turns: turned * np.log(original / (turns * 2 * np.pi)) / (2 * np.log(base))
            low, high = max(0, np.floor(place(32.0))), min(turned - 1, np.ceil(place(1.0)))
            slow = np.clip((pairs - low) / max(0.001, high - low), 0, 1)
            frequency = frequency * (1 - slow) + frequency / factor * slow
            magnitude *= 0.1 * np.log(factor) + 1 if self.has("magnitude") else 1.0
        divisors = self.tensors.get("rope_freqs.weight")
        if divisors is None and "rope_factors_long.weight" in self.tensors:
            exceeds = self.keys["context_length"] > self.keys["rope.scaling.original_context_length"]
            divisors = self.tensors[f"rope_factors_{'long' if exceeds else 'short'}.weight"]
        if divisors is not None and self.has("frequency divisors"):
            frequency = frequency / divisors
        return Rounded(frequency, 12 * U * frequency), magnitude  # pow errs by 4 ULP, then four roundings

    def turn(self, x, sliding):
        """x[H,T,D]"""
        if not self.has("rotation"):
            return x
        frequency, magnitude = self.frequencies(sliding)
        angle = Rounded(np.arange(x.value.shape[1])[:, None]) * frequency
        cos = Rounded(np.cos(angle.value), angle.spread + 4 * U) * magnitude
        sin = Rounded(np.sin(angle.value), angle.spread + 4 * U) * magnitude
        pairs = frequency.value.shape[0]
        if self.adjacent:
            a, b = x[..., 0:2 * pairs:2], x[..., 1:2 * pairs:2]
        else:
            a, b = x[..., :pairs], x[..., pairs:2 * pairs]
        first, second = a * cos - b * sin, b * cos + a * sin
        if self.adjacent:
            both = Rounded(np.stack([first.value, second.value], -1), np.stack([first.spread, second.spread], -1))
            turned = both.reshape(*x.value.shape[:-1], 2 * pairs)
        else:
            turned = joined([first, second], -1)
        return joined([turned, x[..., 2 * pairs:]], -1)

    # ---- layers ----
    def split_heads(self, x, heads, norm, layer):
        apart = x.reshape(x.value.shape[0], heads, -1)
        gain = self.tensors.get(f"blk.{layer}.{norm}.weight")
        if gain is not None and self.has("head norms"):
            apart = rms_norm(apart, gain, self.epsilon)
        return apart.moved(1, 0, 2)

    def attention(self, h, layer):
        blk, tokens = f"blk.{layer}.", h.value.shape[0]
        if self.family == "phi3":
            whole = self.project(h, blk + "attn_qkv")
            q, k, v = (whole[:, a:b] for a, b in self.runs(self.heads * self.head, *[self.kv_heads * self.head] * 2))
        else:
            q, k, v = (self.project(h, blk + "attn_" + name) for name in "qkv")
        sliding = self.slides(layer)
        q = self.turn(self.split_heads(q, self.heads, "attn_q_norm", layer), sliding)
        k = self.turn(self.split_heads(k, self.kv_heads, "attn_k_norm", layer), sliding)
        v = self.split_heads(v, self.kv_heads, "", layer)
        group = self.heads // self.kv_heads
        of = np.arange(self.heads) // group
        scores = product(q, k[of].moved(0, 2, 1)) * (self.head ** -0.5)
        if self.keys.get("attn_logit_softcapping") and self.has("attention cap"):
            scores = softcap(scores, self.keys["attn_logit_softcapping"])
        query, key = np.arange(tokens)[:, None], np.arange(tokens)[None, :]
        seen = key <= query
        if sliding and self.has("window"):
            seen &= query - key < self.keys["attention.sliding_window"]
        masked = Rounded(np.where(seen, scores.value, -np.inf), scores.spread)
        weights, total = softmax(masked)
        mixed = product(weights, v[of]) / total
        return self.project(mixed.moved(1, 0, 2).reshape(tokens, -1), blk + "attn_output")

    @staticmethod
    def runs(*sizes):
        ends = np.cumsum(sizes)
        return [(end - size, end) for size, end in zip(sizes, ends)]

    def gate(self, x):
        return gelu_tanh(x) if self.gemma and self.has("gelu") else silu(x)

    def dense(self, h, gate, up, down):
        return product(self.gate(product(h, gate.T)) * product(h, up.T), down.T)

    def routed(self, h, blk):
        scores, total = softmax(product(h, self.weight(blk + "ffn_gate_inp").T))
        probability = scores / total
        used = self.keys["expert_used_count"] - (not self.has("last expert"))
        normalised = (self.family != "qwen2moe") == self.has("normalised experts")
        rows = []
        for t in range(h.value.shape[0]):
            order = np.argsort(-probability.value[t], kind="stable")
            last, next_ = order[used - 1], order[used]
            gap = probability.value[t, last] - probability.value[t, next_]
            assert gap > DEVIATIONS * (probability.spread[t, last] + probability.spread[t, next_]), "experts are too close to tell: take another seed"
            share = probability[t, order[:used]]
            if normalised:
                share = share / share.sum()
            row = Rounded(np.zeros((1, self.width)))
            for i, e in enumerate(order[:used]):
                gate, up, down = (self.weight(blk + f"ffn_{name}_exps")[e] for name in ("gate", "up", "down"))
                row = row + self.dense(h[t:t + 1], gate, up, down) * share[i]
            rows.append(row)
        y = joined(rows, 0)
        if self.family == "qwen2moe" and self.has("shared expert"):
            open_ = sigmoid(product(h, self.weight(blk + "ffn_gate_inp_shexp")[:, None]))
            y = y + self.dense(h, *(self.weight(blk + f"ffn_{name}_shexp") for name in ("gate", "up", "down"))) * open_
        return y

    def feed_forward(self, h, layer):
        blk = f"blk.{layer}."
        if "expert_count" in self.keys:
            return self.routed(h, blk)
        if self.family == "phi3":
            gate, up = np.split(self.weight(blk + "ffn_up"), 2)
        else:
            gate, up = self.weight(blk + "ffn_gate"), self.weight(blk + "ffn_up")
        return self.dense(h, gate, up, self.weight(blk + "ffn_down"))

    def post_norm(self, x, name):
        return rms_norm(x, self.weight(name), self.epsilon) if self.gemma and self.has("post norms") else x

    def logits(self, tokens):
        """[T, V]"""
        x = Rounded(self.weight("token_embd")[tokens])
        if self.gemma and self.has("embedding scale"):
            x = x * Rounded(np.sqrt(self.width), U * np.sqrt(self.width))
        for layer in range(self.keys["block_count"]):
            blk = f"blk.{layer}."
            attended = self.attention(rms_norm(x, self.weight(blk + "attn_norm"), self.epsilon), layer)
            x = x + self.post_norm(attended, blk + "post_attention_norm")
            fed = self.feed_forward(rms_norm(x, self.weight(blk + "ffn_norm"), self.epsilon), layer)
            x = x + self.post_norm(fed, blk + "post_ffw_norm")
        x = rms_norm(x, self.weight("output_norm"), self.epsilon)
        head = self.tensors.get("output.weight")
        y = product(x, (head if head is not None and self.has("own head") else self.weight("token_embd")).T)
        if self.keys.get("final_logit_softcapping") and self.has("logit cap"):
            y = softcap(y, self.keys["final_logit_softcapping"])
        return y
