# SPDX-License-Identifier: Apache-2.0
"""Checks that each Swift block in the README, the first pages and the pages about the test kit is code that is compiled and run.

A block must be in a Swift file of Examples/TestingYourApp, line by line. Indentation, empty lines and imports don't count, and a
line with only '…' matches any number of lines. The package manager must be able to read a whole manifest.

A command in the README that is followed by a block of output is run, and has to print that; '…' matches any text.
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGES = [
    ROOT / "README.md",
    *sorted((ROOT / "Documentation/Start").glob("*.md")),
    ROOT / "Sources/Framework/NFCTestKit/Documentation.docc/NFCTestKit.md",
    *(ROOT / f"Documentation/HowTo/{name}.md"
      for name in ("ConfigurationFaultsAndTraces", "TagsOfATest", "TestAnXcodeProject", "TestingYourApp")),
]
CODE = ROOT / "Examples/TestingYourApp"
COMMAND = re.compile(r"^```sh\n((?:(?!^```).)*)^```\n\n```\n(.*?)^```", re.MULTILINE | re.DOTALL)
BLOCK = re.compile(r"^```swift\n(.*?)^```", re.MULTILINE | re.DOTALL)


def lines(text):
    stripped = (line.strip() for line in text.splitlines())
    return [line for line in stripped if line and not line.startswith("import ")]


def pieces(block):
    """The parts of a block between '…' lines."""
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


def is_manifest(block):
    """Whether the package manager can read a block as a manifest."""
    with tempfile.TemporaryDirectory() as folder:
        (pathlib.Path(folder) / "Package.swift").write_text(block)
        command = ["swift", "package", "--package-path", folder, "dump-package"]
        return subprocess.run(command, stdout=subprocess.DEVNULL, check=False).returncode == 0


def unlike(command, output):
    """What a command prints, if that is not the expected output."""
    pattern = ".*".join(re.escape(part) for part in output.split("…"))
    # With no message of an earlier run.
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(command, shell=True, cwd=ROOT, capture_output=True, text=True, timeout=300, check=False,
                              env={**os.environ, "XDG_STATE_HOME": folder, "XDG_DATA_HOME": folder})
    return None if re.fullmatch(pattern, done.stdout, re.DOTALL) else done.stdout + done.stderr


def main():
    files = [lines(path.read_text()) for path in sorted(CODE.rglob("*.swift")) if ".build" not in path.parts]
    problems, count = [], 0
    for page in PAGES:
        text = page.read_text()
        for match in BLOCK.finditer(text):
            count += 1
            number = text.count("\n", 0, match.start()) + 1
            if match[1].startswith("// swift-tools-version"):
                if not is_manifest(match[1]):
                    problems.append(f"{page.relative_to(ROOT)}:{number}: the package manager does not read this manifest.")
            elif not is_held(match[1], files):
                problems.append(f"{page.relative_to(ROOT)}:{number}: no Swift file of {CODE.relative_to(ROOT)} has this block.")
    commands = COMMAND.findall((ROOT / "README.md").read_text())
    for command, output in commands:
        if printed := unlike(command, output):
            problems.append(f"README.md: the command does not print what the page says.\n{command}\n{printed}")
    if not commands:
        problems.append("README.md has no command with its output.")
    if count == 0:
        problems.append("No page has a block of Swift: are the pages elsewhere?")
    for problem in problems:
        print(problem, file=sys.stderr)
    sys.exit(1 if problems else 0)


main()
