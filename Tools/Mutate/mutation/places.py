# SPDX-License-Identifier: Apache-2.0
"""The places where bugs can be planted, as find-places reports them, and a sample of them."""
import dataclasses
import hashlib
import json
import math
import subprocess

NUMBER = "\x01"
# The weight of a kind in a file. Bugs that ordinary tests miss come first.
KINDS = {
    "branch": 2.0, "exit": 1.6, "synchronization": 1.6, "order": 1.4, "statement": 1.4, "comparison": 1.3, "condition": 1.0,
    "bits": 1.2, "range": 1.2, "logic": 1.2, "result": 1.0, "fallback": 1.0, "arithmetic": 1.0, "member": 0.9,
    "arguments": 0.9, "element": 1.0, "literal": 1.0,
}


class ReasonMissing(Exception):
    """Comments that skip a place and give no reason."""


@dataclasses.dataclass(frozen=True)
class Place:
    file: str
    kind: str
    line: int
    start: int
    end: int
    replacement: str
    before: str
    after: str
    statementStart: int
    declarationStart: int
    declarationEnd: int
    weight: float

    @property
    def key(self):
        """The key of the place in an unchanged file."""
        return (self.file, self.start, self.end, self.replacement)

    def collides(self, other):
        """Whether the two can't be planted in one build."""
        if self.file != other.file:
            return False
        if self.statementStart == other.statementStart:
            return True
        return self.start < other.end and other.start < self.end or self.start == other.start

    def diff(self):
        after = self.after or "(nothing)"
        return f"{self.file}:{self.line}: {self.kind}\n    - {self.before[:300]}\n    + {after[:300]}"


def find(finder, root, files):
    """The places by file, and the number of places that comments skip."""
    said = subprocess.run([finder], cwd=root, input="".join(f"{file}\n" for file in files), check=True,
                          capture_output=True, text=True).stdout
    places, skipped, bare = {}, 0, []
    for line in said.splitlines():
        found = json.loads(line)
        skipped += found["skipped"]
        bare += [f"{found['file']}:{number}" for number in found["skips_without_reason"]]
        places[found["file"]] = [Place(file=found["file"], **place) for place in found["places"]]
    if bare:
        raise ReasonMissing("write '// mutate: equivalent, because REASON': " + ", ".join(bare))
    return places, skipped


def drawn(places, seed):
    """Draws all places in an order that spreads the first of them over files and kinds.

    The chance of each hangs on the seed and its own text alone: when a place comes or goes, most of the others stay.
    """
    def patience(weight, *words):
        """A random waiting time: the time to an event that happens `weight` times per second."""
        digest = hashlib.sha256("\0".join(map(str, (seed, *words))).encode()).digest()
        return -math.log((int.from_bytes(digest[:7], "big") + 0.5) / 2 ** 56) / weight

    left, seen = {}, {}
    for file, found in sorted(places.items()):
        for place in found:
            words = (file, place.kind, place.before, place.after)
            seen[words] = seen.get(words, 0) + 1
            left.setdefault(file, {}).setdefault(place.kind, []).append(
                (patience(place.weight, *words, seen[words]), place.start, place.end, place.replacement, place))
    for kinds in left.values():
        for some in kinds.values():
            some.sort(key=lambda entry: entry[:4], reverse=True)
    # Long files come earlier, but not in proportion to their length.
    files = {file: patience(math.sqrt(sum(map(len, kinds.values()))), file) for file, kinds in left.items()}
    turns, taken = {}, {}
    while left:
        # A file or kind that had its turn waits longer.
        file = min(left, key=lambda name: files[name] * (1 + turns.get(name, 0)) ** 2)
        kind = min(left[file], key=lambda name: patience(KINDS.get(name, 1), file, name) * (1 + taken.get(name, 0))
                   * (1 + taken.get((file, name), 0)) ** 2)
        turns[file] = turns.get(file, 0) + 1
        for name in (kind, (file, kind)):
            taken[name] = taken.get(name, 0) + 1
        place = left[file][kind].pop()[-1]
        if not left[file][kind]:
            del left[file][kind]
            if not left[file]:
                del left[file]
        yield place
