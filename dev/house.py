#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks which target imports which, and draws the house from the manifest and the imports.

Usage: dev/house.py check     fails where a target imports upwards, declares what it does not import, or declares a type whose
                              name another target uses, and where a drawing is not up to date. SwiftPM checks that a target
                              declares what it imports (dev/check).
       dev/house.py draw      writes the drawings: the floors in CONTRIBUTING.md, and what each target imports in the README
                              of its floor

The folder of a target names its floor: Sources/FLOOR/TARGET. Each file has to name its licence.
"""
import json
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent

# From the roof down. A target imports from its own floor and from those below it.
FLOORS = ["Tools", "Framework", "Background", "Composition", "Parts", "Tags", "Contract", "Support"]

# The three groups of the floor Parts never import each other: a session knows no reader, a reader no virtual tag, and a virtual tag
# no session. Two readers don't know each other either.
SESSIONS = {"NFCRuntime"}
VIRTUAL = {"VirtualTags", "VirtualCards", "TagImages"}
EMULATION = {"ReaderEmulation", "CIFDHandler"}

# Who may import a reader. Everybody else asks the registry of readers. A reader's target in Parts ends in Driver.
REGISTRY = "NFCReaders"

# What comes with the compiler.
FOUNDATION = {"Foundation", "FoundationXML"}
SYSTEM = {"Swift", "Synchronization", "Dispatch", "Glibc", "Testing", "XCTest"}
# A tag, a message or a cipher is a matter of bytes: these targets do without the operating system.
PURE = {"NDEF", "VisibleText", "CardCryptography", "TagProtocols", "VirtualTags", "VirtualCards"}

# The nested packages and the samples, which are no part of the house: what each may import besides Foundation.
OTHERS = {
    "Tools/NFCLint/Sources/NFCLintEngine": {"SwiftOperators", "SwiftParser", "SwiftSyntax", "VisibleText"},
    "Tools/NFCLint/Sources/NFCLintRules": {"NDEF", "NFCLintEngine", "SwiftSyntax", "UniversalLinks"},
    "Tools/NFCLint/Sources/nfc-lint": {"ArgumentParser", "NFCLintEngine", "NFCLintRules"},
    "Simulator/Sources/SimulatorModel": {
        "BackgroundTagReading", "Dispatch", "Glibc", "NDEF", "NFCRuntime", "TagImages", "TagLink", "TagProtocols", "TagTrace",
        "UniversalLinks", "VirtualCards", "VirtualTags", "VisibleText",
    },
    "Simulator/Sources/SimulatorServer": {
        "BackgroundTagReading", "Dispatch", "FlyingFox", "FlyingSocks", "Glibc", "PrivateStorage", "SimulatorModel",
        "UniversalLinks",
    },
    "Simulator/Sources/nfc-simulator": {
        "ArgumentParser", "Dispatch", "Glibc", "PrivateStorage", "SimulatorModel", "SimulatorServer",
    },
    "Fleet/Sources/FleetModel": {
        "BackgroundTagReading", "Crypto", "NDEF", "TOMLKit", "TagLink", "TagProtocols", "UniversalLinks", "VisibleText",
    },
    "Fleet/Sources/FleetSpool": {"Dispatch", "FleetModel", "GRDB", "Glibc", "PrivateStorage"},
    "Fleet/Sources/FleetMQTT": {"CEpoll", "CMosquitto", "CMosquittoInput", "Dispatch", "FleetModel", "Glibc", "PrivateStorage"},
    "Fleet/Sources/FleetAgent": {
        "BackgroundTagReading", "Dispatch", "FleetMQTT", "FleetModel", "FleetSpool", "Glibc", "NFCReaders", "NFCRuntime",
        "PrivateStorage", "TagLink", "TagProtocols", "UniversalLinks",
    },
    "Fleet/Sources/nfc-agent": {
        "ArgumentParser", "Dispatch", "FleetAgent", "FleetMQTT", "FleetModel", "FleetSpool", "PrivateStorage", "VisibleText",
    },
    "Fleet/Sources/nfc-fleet": {
        "ArgumentParser", "Crypto", "Dispatch", "FleetMQTT", "FleetModel", "Glibc", "NDEF", "PrivateStorage", "TagImages",
        "VirtualTags", "VisibleText",
    },
    # What an app on a phone could import, and what a text interface needs.
    "Examples/TagReader": {"CoreNFC", "Glibc", "PhoneScreens", "Synchronization", "UserActivityReceiving", "VisibleText"},
    "Examples/FirstScan": {"CoreNFC"},
}

IMPORT = re.compile(r"^\s*(?:@\w+(?:\([^)]*\))?\s+)*(?:public |package |internal |private |fileprivate )?"
                    r"import (?:struct |class |enum |func |var |let |protocol |typealias )?(\w+)", re.MULTILINE)
# A type at the top level of a file. One that is private to its file disturbs nobody.
TYPE = re.compile(r"^(?:@\w+(?:\([^)]*\))? +)*(?:(?:public|package|internal|open|final|indirect|nonisolated|distributed) +)*"
                  r"(?:struct|class|enum|actor|protocol|typealias) +(\w+)", re.MULTILINE)
LICENCE = "// SPDX-License-Identifier: Apache-2.0"
BEGIN, END = "<!-- dev/house.py draws this -->", "<!-- end of the drawing -->"


def swift_files(folder):
    return [path for path in sorted((ROOT / folder).rglob("*.swift")) if ".build" not in path.parts]


def imports(files):
    """The modules that some files import, each with the first file that does."""
    found = {}
    for path in files:
        for module in IMPORT.findall(path.read_text()):
            found.setdefault(module, path.relative_to(ROOT))
    return found


class House:
    def __init__(self):
        described = subprocess.run(["swift", "package", "describe", "--type", "json"], cwd=ROOT, check=True,
                                   capture_output=True, text=True).stdout
        self.targets = {target["name"]: target for target in json.loads(described)["targets"]}
        self.floors = {floor: sorted(name for name, target in self.targets.items()
                                     if target["path"].startswith(f"Sources/{floor}/")) for floor in FLOORS}
        self.floor_of = {name: floor for floor, names in self.floors.items() for name in names}
        self.readers = {name for name in self.floors["Parts"] if name.endswith("Driver")}
        self.groups = [SESSIONS, VIRTUAL, EMULATION, *({name} for name in self.readers)]
        self.imports = {name: imports(ROOT / target["path"] / source for source in sorted(target["sources"])
                                      if source.endswith(".swift")) for name, target in self.targets.items()}

    def declared(self, name):
        target = self.targets[name]
        return set(target.get("target_dependencies", [])) | set(target.get("product_dependencies", []))

    def is_swift(self, name):
        return self.targets[name]["module_type"] == "SwiftTarget"

    def problems(self):
        for name, target in self.targets.items():
            if target["path"].startswith("Sources/") and name not in self.floor_of:
                yield f"{name}: {target['path']} is on no floor. The floors are {', '.join(FLOORS)}."
            if self.is_swift(name):
                yield from self.manifest_problems(name)
            if name in self.floor_of:
                yield from self.floor_problems(name)

    def manifest_problems(self, name):
        for module in sorted(self.declared(name) - set(self.imports[name])):
            # Programs that tests start, C code that is linked alone, and test targets that are run beside others.
            other = self.targets.get(module)
            if other and (other["type"] == "executable" or not self.is_swift(module)):
                continue
            yield f"Package.swift: {name} names {module}, which no file of {self.targets[name]['path']} imports."

    def floor_problems(self, name):
        floor = FLOORS.index(self.floor_of[name])
        group = next((group for group in self.groups if name in group), None)
        allowed = set() if name in PURE else set(SYSTEM)
        if floor <= FLOORS.index("Composition"):
            allowed |= FOUNDATION
        for module, file in self.imports[name].items():
            if module in self.floor_of:
                if FLOORS.index(self.floor_of[module]) < floor:
                    yield f"{file}: {name} ({self.floor_of[name]}) imports {module}, which is above it."
                other = next((group for group in self.groups if module in group), None)
                if group and other and group is not other:
                    yield f"{file}: {name} and {module} are parts that don't know each other."
                if module in self.readers and name != REGISTRY:
                    yield f"{file}: {name} imports {module}; ask the registry of readers in {REGISTRY}."
            elif module in SYSTEM | FOUNDATION and module not in allowed:
                yield f"{file}: {name} does without {module}."

    def name_problems(self):
        """A name means one type in all targets, so that an import never changes what it means."""
        declared = {}
        for name in sorted(self.floor_of):
            for path in swift_files(self.targets[name]["path"]):
                for type_name in TYPE.findall(path.read_text()):
                    declared.setdefault(type_name, {}).setdefault(name, path.relative_to(ROOT))
        for type_name, files in sorted(declared.items()):
            if len(files) > 1:
                yield f"{type_name} is a type in several targets: {', '.join(map(str, files.values()))}."

    def floors_drawn(self):
        """The floors from the roof down, each with its targets."""
        rows = [f"{floor:<13}{'  '.join(self.floors[floor])}" for floor in FLOORS if self.floors[floor]]
        return ["```", *rows, "```"]

    def imports_drawn(self, floor):
        """What each target of a floor imports of the house."""
        rows = ["| target | imports |", "|---|---|"]
        for name in self.floors[floor]:
            below = sorted(f"`{module}`" for module in self.imports[name] if module in self.floor_of and module != name)
            rows.append(f"| `{name}` | {', '.join(below) or 'nothing'} |")
        return rows

    def pages(self):
        """The pages with a drawing, each with its text as it should be."""
        drawings = {"CONTRIBUTING.md": self.floors_drawn()}
        drawings |= {f"Sources/{floor}/README.md": self.imports_drawn(floor) for floor in FLOORS if self.floors[floor]}
        for page, rows in drawings.items():
            text = (ROOT / page).read_text()
            before, begin, rest = text.partition(BEGIN)
            _, end, after = rest.partition(END)
            if not begin or not end:
                sys.exit(f"{page}: the lines '{BEGIN}' and '{END}' are missing; the drawing goes between them.")
            yield page, text, before + "\n".join([BEGIN, "", *rows, "", END]) + after


def file_problems():
    for folder in OTHERS:
        for module, file in imports(swift_files(folder)).items():
            if module not in OTHERS[folder] | {"Foundation"}:
                yield f"{file}: {folder} may not import {module}."
    for folder in ["Sources", "Tests", "Examples", "IntegrationTests/Sources", "IntegrationTests/Tests", "Tools"]:
        for path in swift_files(folder):
            lines = path.read_text().splitlines()
            # A manifest begins with the version of its tools.
            if lines[path.name == "Package.swift":][:1] != [LICENCE]:
                yield f"{path.relative_to(ROOT)}: the first line is not '{LICENCE}'."


def main():
    house = House()
    if sys.argv[1:] == ["draw"]:
        for page, _, drawn in house.pages():
            (ROOT / page).write_text(drawn)
    elif sys.argv[1:] == ["check"]:
        problems = sorted([*house.problems(), *house.name_problems(), *file_problems()])
        problems += [f"{page}: the drawing of the house is not up to date. Run: dev/house.py draw"
                     for page, text, drawn in house.pages() if text != drawn]
        for problem in problems:
            print(problem, file=sys.stderr)
        sys.exit(1 if problems else 0)
    else:
        sys.exit(__doc__)


main()
