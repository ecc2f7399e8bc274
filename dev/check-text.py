#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the texts of the project: no paths of a person's machine, no open tasks, no crashes on input.

Reads the files that git knows. A rule that does not apply is named in a comment on the line: 'allow: RULE'.
"""
import pathlib
import re
import subprocess
import sys

RULES = {
    "machine-path": re.compile(r"/(?:work|root|home/\w+|Users/\w+)/"),
    "left-to-do": re.compile(r"\b(?:TODO|FIXME|XXX|HACK)\b"),
    "tracker": re.compile(r"\b(?:issue|ticket|PR) ?#?\d+\b|\bvibe|\bAI[- ]generated", re.IGNORECASE),
}
# In Swift sources of libraries and commands, not of tests.
SWIFT_RULES = {
    "crash": re.compile(r"\btry!|\bas!|\bfatalError\("),
    "unchecked": re.compile(r"^(?!.*//).*nonisolated\(unsafe\)"),
    # ThreadSanitizer does not recognize its locks on Linux. Use `Locked` instead.
    "unseen-lock": re.compile(r"^(?!\s*//).*\bMutex[(<]"),
}
# The examples of its rules show other projects' code.
ENGINE = "Tools/NFCLint/Sources/NFCLintEngine/"
SKIPPED = {"dev/check-text.py", "LICENSE"}
TEXT = {"", ".swift", ".md", ".py", ".sh", ".json", ".jsonl", ".nfc", ".txt", ".yml", ".resolved"}


def main():
    root = pathlib.Path(__file__).resolve().parent.parent
    names = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=root, check=True,
                           capture_output=True, text=True).stdout.split("\n")
    problems = []
    for name in sorted(filter(None, names)):
        path = root / name
        if name in SKIPPED or path.suffix not in TEXT or not path.is_file():
            continue
        rules = dict(RULES)
        if path.suffix == ".swift" and name.startswith(("Sources/", "Examples/", "Simulator/Sources/", ENGINE)):
            rules |= SWIFT_RULES
        for number, line in enumerate(path.read_text(errors="replace").splitlines(), 1):
            for rule, pattern in rules.items():
                if pattern.search(line) and f"allow: {rule}" not in line:
                    problems.append(f"{name}:{number}: {rule}: {line.strip()[:100]}")
    for problem in problems:
        print(problem, file=sys.stderr)
    sys.exit(1 if problems else 0)


main()
