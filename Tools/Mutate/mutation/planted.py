# SPDX-License-Identifier: Apache-2.0
"""A source file with bugs planted in it, each behind its switch, and which of them the compiler complains about."""
from .places import NUMBER

LEFT_OUT = ("exit", "statement", "synchronization")

# Declared in the file itself, so that neither its module nor its imports change.
SWITCH = """
@_silgen_name("mutate_is_on") nonisolated private func __mutantIsOn(_ number: Int32) -> Bool
nonisolated private func __mutantFlips(_ number: Int32, _ value: Bool) -> Bool { value != __mutantIsOn(number) }
nonisolated private func __mutantHolds(_ number: Int32, _ value: Bool) -> Bool {
    let isOn = __mutantIsOn(number)
    return value || isOn
}
nonisolated private func __mutantFails(_ number: Int32, _ value: Bool) -> Bool {
    let isOn = __mutantIsOn(number)
    return value && !isOn
}
nonisolated private func __mutantLessens<Value: Strideable>(_ number: Int32, _ value: Value) -> Value
where Value.Stride: SignedInteger {
    __mutantIsOn(number) ? value.advanced(by: -1) : value
}
"""


class PlantedFile:
    def __init__(self, source, numbered):
        """source: the bytes of the file; numbered: pairs of a number and a place, which do not collide."""
        self.numbered = sorted(numbered, key=lambda pair: pair[1].start)
        parts, position, length = [], 0, 0
        # Where each planted piece lies in the new text.
        self.pieces = []
        for number, place in self.numbered:
            piece = place.replacement.replace(NUMBER, str(number)).encode()
            before = source[position:place.start]
            length += len(before)
            self.pieces.append((length, length + len(piece), number, place))
            length += len(piece)
            parts += [before, piece]
            position = place.end
        parts += [source[position:], SWITCH.encode()]
        self.text = b"".join(parts)

    def blamed(self, line, column):
        """The numbers of the mutants that an error at a line and column, from 1, is about."""
        lines = self.text.split(b"\n")
        offset = sum(len(text) + 1 for text in lines[:line - 1]) + column - 1
        shift = 0
        for start, end, number, place in self.pieces:
            if start <= offset < end:
                return {number}
            if offset >= end:
                shift += (end - start) - (place.end - place.start)
        original = offset - shift
        near = {number for number, place in self.numbered
                if place.declarationStart <= original < place.declarationEnd}
        # What leaves a path without an end, or a variable without a value, is a statement that is left out.
        likely = {number for number, place in self.numbered if number in near and place.kind in LEFT_OUT}
        return likely or near or {number for number, _ in self.numbered}
