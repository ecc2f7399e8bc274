# SPDX-License-Identifier: Apache-2.0
"""Checks that each block of Swift in the test kit's pages is code that is compiled and run.

A block has to be in a Swift file of Examples/TestingYourApp, line by line: indentation, empty lines and imports don't count, and a line
with '…' alone stands for any number of lines.
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGES = ROOT / "Sources/NFCTestKit/Documentation.docc"
CODE = ROOT / "Examples/TestingYourApp"
BLOCK = re.compile(r"^```swift\n(.*?)^```", re.MULTILINE | re.DOTALL)


def lines(text):
    stripped = (line.strip() for line in text.splitlines())
    return [line for line in stripped if line and not line.startswith("import ")]


def pieces(block):
    """The parts of a block between lines that are left out."""
    found = [[]]
    for line in lines(block):
        if line == "…":
            found.append([])
        else:
            found[-1].append(line)
    return [piece for piece in found if piece]


def is_held(block, files):
    def holds(code):
        start = 0
        for piece in pieces(block):
            places = [at for at in range(start, len(code) - len(piece) + 1) if code[at:at + len(piece)] == piece]
            if not places:
                return False
            start = places[0] + len(piece)
        return True
    return any(holds(code) for code in files)


def main():
    files = [lines(path.read_text()) for path in sorted(CODE.rglob("*.swift")) if ".build" not in path.parts]
    problems, count = [], 0
    for page in sorted(PAGES.glob("*.md")):
        text = page.read_text()
        for match in BLOCK.finditer(text):
            count += 1
            if not is_held(match[1], files):
                number = text.count("\n", 0, match.start()) + 1
                problems.append(f"{page.relative_to(ROOT)}:{number}: no Swift file of {CODE.relative_to(ROOT)} has this block.")
    if count == 0:
        problems.append("No page has a block of Swift: are the pages elsewhere?")
    for problem in problems:
        print(problem, file=sys.stderr)
    sys.exit(1 if problems else 0)


main()
