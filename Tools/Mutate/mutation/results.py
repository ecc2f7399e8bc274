# SPDX-License-Identifier: Apache-2.0
"""What is known of mutants already, in a file to which each result is added as it comes, and the reports."""
import json
import os

KILLED = ("killed", "timed out")
STATUSES = ("killed", "timed out", "survived", "not reached", "not built")


class Results:
    """One object a line: a mutant, what became of it, and of which sources and tests that holds."""

    def __init__(self, path):
        self.path = path
        self.lines = []
        if path.exists():
            for line in path.read_text().splitlines():
                try:
                    self.lines.append(json.loads(line))
                except ValueError:
                    # The end of a line that was being written when the program was ended.
                    continue

    def known(self, target, source_hash, test_hash):
        """The results by key of the place that hold still: a kill as long as the source is the same, the rest while the
        tests are the same too."""
        found = {}
        for line in self.lines:
            if line["target"] == target and line["source"] == source_hash:
                key = (line["file"], line["start"], line["end"], line["replacement"])
                if line["status"] in KILLED + ("not built",) or line["tests"] == test_hash:
                    found[key] = line
                else:
                    found.pop(key, None)
        return found

    def add(self, line):
        self.lines.append(line)
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with open(self.path, "a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")
            file.flush()
            os.fsync(file.fileno())


def line(target, seed, source_hash, test_hash, place, status, by, seconds):
    return {"target": target, "seed": seed, "source": source_hash, "tests": test_hash, "file": place.file, "line": place.line,
            "kind": place.kind, "start": place.start, "end": place.end, "replacement": place.replacement,
            "before": place.before, "after": place.after, "status": status, "by": by, "seconds": round(seconds, 2)}


def summary(target, lines):
    """The counts of a target and its score in percent: None where nothing was planted."""
    counts = {status: sum(line["status"] == status for line in lines) for status in STATUSES}
    planted = sum(counts.values()) - counts["not built"]
    killed = counts["killed"] + counts["timed out"]
    return {"target": target, "planted": planted, **{status.replace(" ", "_"): count for status, count in counts.items()},
            "score": round(100 * killed / planted, 1) if planted else None}


def _difference(line):
    return (f"{line['file']}:{line['line']}: {line['kind']}\n"
            f"    - {line['before'][:400]}\n    + {line['after'][:400] or '(nothing)'}")


def text(target, lines):
    """The report of a target for people."""
    counts = summary(target, lines)
    score = "nothing planted" if counts["score"] is None else f"{counts['score']} %"
    parts = [f"{target}: {counts['planted']} planted, {counts['killed']} killed, {counts['timed_out']} timed out, "
             f"{counts['survived']} survived, {counts['not_reached']} not reached, {counts['not_built']} not built: {score}"]
    for status, title in (("survived", "Survived"), ("not reached", "Not reached by a test")):
        some = sorted((line for line in lines if line["status"] == status), key=lambda line: (line["file"], line["line"]))
        if some:
            parts.append(f"\n  {title}:")
            parts += ["  " + _difference(line).replace("\n", "\n  ") for line in some]
    some = [line for line in lines if line["status"] in KILLED]
    if some:
        parts.append("\n  Noticed:")
        parts += [f"  {line['file']}:{line['line']}: {line['kind']}, by {line['by']}" for line in some]
    return "\n".join(parts)
