"""Templates, and the page of one text whose values fill them.

Template syntax: {key} a value, {C:key} capitalised, {a:key} after its article, {A:key} both; [x|y|z] a weighted
choice; (?x) text kept one time in three. Brackets nest.
"""
import functools
import random
import re

import words


def parse(text, i=0, stop=""):
    """Template text -> list of str | ('var', modifier, key) | ('alt', [node lists]) | ('opt', nodes)."""
    out, buf = [], []

    def flush():
        if buf:
            out.append("".join(buf))
            buf.clear()

    while i < len(text) and text[i] not in stop:
        c = text[i]
        if c == "{":
            flush()
            j = text.index("}", i)
            modifier, _, key = text[i + 1:j].rpartition(":")
            out.append(("var", modifier, key))
            i = j + 1
        elif c == "[":
            flush()
            options = []
            while text[i] != "]":
                nodes, i = parse(text, i + 1, "|]")
                options.append(nodes)
            out.append(("alt", options))
            i += 1
        elif text.startswith("(?", i):
            flush()
            nodes, i = parse(text, i + 2, ")")
            out.append(("opt", nodes))
            i += 1
        else:
            buf.append(c)
            i += 1
    flush()
    return out, i


parsed = functools.lru_cache(maxsize=None)(lambda text: parse(text)[0])


def article(word):
    return ("an " if word[0] in "aeiou" else "a ") + word


def pick(rng, options, lean=1.0):
    options = list(options)
    return rng.choices(options, [(i + 1) ** -lean for i in range(len(options))])[0]


@functools.lru_cache(maxsize=None)
def favourites(options, key):
    """The same options in an order of key's own: who likes what."""
    options = list(options)
    random.Random(key).shuffle(options)
    return options


class Page:
    """The values of one text, and the writer of its sentences."""

    def __init__(self, rng, lean=1.0):
        self.rng, self.lean, self.v, self.text = rng, lean, {}, ""
        self.names, self.kinds = set(), set()

    def pick(self, options, key=None):
        return pick(self.rng, favourites(tuple(options), key) if key else options, self.lean)

    def being(self, slot):
        """Fills {slot}, its kind, home, gait and pronouns. Whom one meets depends on who one is."""
        while True:
            she = self.rng.random() < 0.6
            name = self.pick(words.SHE if she else words.HE, self.v.get("n"))
            kind = self.pick(words.KINDS, name[0])
            if name not in self.names and kind not in self.kinds:
                break
        self.names.add(name)
        self.kinds.add(kind)
        he, him, his = ("she", "her", "her") if she else ("he", "him", "his")
        v, s = self.v, slot if slot != "n" else ""
        v[slot], v[slot + "kind"] = name, kind
        v[slot + "home"], v[slot + "went"] = words.KINDS[kind]
        v[s + "he"], v[s + "him"], v[s + "his"] = he, him, his
        v[(s + "he").capitalize() if s else "He"] = he.capitalize()
        v[(s + "his").capitalize() if s else "His"] = his.capitalize()

    def place(self, slot, only=None):
        while True:
            place = only or self.pick(words.PLACES)
            if place not in self.kinds:
                break
            only = None
        self.kinds.add(place)
        self.v[slot], self.v["at" + slot] = "the " + place, words.PLACES[place] + " the " + place

    def weather(self, season=None):
        self.v["season"] = season or self.pick(words.WEATHER)
        self.v["weather"] = self.pick(words.WEATHER[self.v["season"]])
        self.v["notice"] = words.WEATHER[self.v["season"]][self.v["weather"]]

    def object(self, how):
        noun, adjectives = self.pick(words.OBJECTS[how], self.v["nkind"])
        self.v["obj"], self.v["adj"] = noun, self.pick(adjectives.split())

    def expand(self, nodes):
        out = []
        for node in nodes:
            if isinstance(node, str):
                out.append(node)
            elif node[0] == "var":
                value = self.v[node[2]]
                value = self.expand(parsed(value)) if "{" in value else value
                value = article(value) if node[1] in ("a", "A") else value
                out.append(value[0].upper() + value[1:] if node[1] in ("A", "C") else value)
            elif node[0] == "alt":
                out.append(self.expand(pick(self.rng, node[1], self.lean)))
            elif self.rng.random() < 1 / 3:
                out.append(self.expand(node[1]))
        return "".join(out)

    def say(self, *sentences):
        for sentence in sentences:
            piece = re.sub(" +", " ", self.expand(parsed(sentence))).strip()
            if piece:
                self.text += ("" if not self.text or self.text.endswith("\n") else " ") + piece

    def paragraph(self):
        self.text += "\n"
