#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks which target imports which, and draws the house from the manifest and the imports.

Usage: dev/house.py check     fails where a target imports what its room may not, declares what it does not import, and where a
                              drawing is not up to date. SwiftPM checks that a target declares what it imports (dev/check).
       dev/house.py draw      writes the drawings: the rooms in CONTRIBUTING.md, and what each target imports in Sources/README.md

The folder of a target names its room: Sources/ROOM/TARGET. Each file has to name its licence. Packages for iPhones may use this one
on Linux alone.
"""
import json
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent

# What each room may import, from the roof down: its own targets where it names itself.
ROOMS = {
    "Tools": {"Framework", "Background", "Sessions", "Readers", "VirtualTags", "Tags", "Support"},
    "Framework": {"Framework", "Background", "Sessions", "VirtualTags", "Tags", "Support"},
    "Background": {"Background", "Tags", "Support"},
    "Sessions": {"Sessions", "Readers", "VirtualTags", "Tags", "Support"},
    "Readers": {"Tags", "Support"},
    "VirtualTags": {"VirtualTags", "Tags", "Support"},
    "Tags": {"Tags", "Support"},
    "Support": {"Support"},
}
# Targets that may import less than their room: targets, or all of a room.
NARROWER = {
    # A session knows no reader and no virtual tag.
    "NFCSessions": {"Tags", "Support"},
    # Rules without input or output.
    "BackgroundTagReading": {"NDEF", "UniversalLinks", "TextSafety"},
    "UniversalLinks": {"TextSafety"},
    # The tag's side knows nothing of the reader's side.
    "VirtualTags": {"CardCryptography", "NDEF", "TagLink", "TagProducts"},
    "TagProducts": {"TagLink"},
}
# Who may import a reader's driver. Everybody else asks its registry of readers.
REGISTRY = "NFCReaders"

# What comes with the compiler.
SYSTEM = {"Swift", "Synchronization", "Dispatch", "Glibc", "Testing", "XCTest", "Foundation", "FoundationEssentials",
          "FoundationXML"}
# A tag, a message or a cipher is a matter of bytes: these targets do without the operating system. TagLink has a lock of Glibc's.
PURE = {"NDEF", "TagLink", "TagProducts", "TagProtocols", "VirtualTags", "TextSafety", "CardCryptography"}
ALLOWED_IN_PURE = {"TagLink": {"Glibc", "Synchronization"}}

# The nested packages and the samples, which are no part of the house: what each may import besides Foundation.
OTHERS = {
    "Tools/NFCLint/Sources/NFCLintEngine": {"SwiftOperators", "SwiftParser", "SwiftSyntax", "TextSafety"},
    "Tools/NFCLint/Sources/NFCLintRules": {"NDEF", "NFCLintEngine", "SwiftSyntax", "UniversalLinks"},
    "Tools/NFCLint/Sources/nfc-lint": {"ArgumentParser", "LinuxSupport", "NFCLintEngine", "NFCLintRules"},
    "Simulator/Sources/SimulatorModel": {
        "BackgroundTagReading", "Dispatch", "Glibc", "NDEF", "NFCSessions", "TagImages", "TagLink", "TagProtocols", "TagTrace",
        "UniversalLinks", "VirtualTags", "TextSafety",
    },
    "Simulator/Sources/SimulatorServer": {
        "BackgroundTagReading", "Dispatch", "FlyingFox", "FlyingSocks", "Glibc", "LinuxSupport", "SimulatorModel",
        "UniversalLinks",
    },
    "Simulator/Sources/nfc-simulator": {
        "ArgumentParser", "Dispatch", "Glibc", "LinuxSupport", "SimulatorModel", "SimulatorServer", "TagImages",
    },
    "Fleet/Sources/FleetModel": {
        "BackgroundTagReading", "CSodium", "NDEF", "TOMLKit", "TagLink", "TagProtocols", "UniversalLinks", "TextSafety",
    },
    "Fleet/Sources/FleetSpool": {"Dispatch", "FleetModel", "GRDB", "Glibc", "LinuxSupport"},
    "Fleet/Sources/FleetMQTT": {"CEpoll", "CMosquitto", "CSocketState", "Dispatch", "FleetModel", "Glibc", "LinuxSupport"},
    "Fleet/Sources/FleetAgent": {
        "BackgroundTagReading", "Dispatch", "FleetMQTT", "FleetModel", "FleetSpool", "Glibc", "NFCReaders", "NFCSessions",
        "LinuxSupport", "TagLink", "TagProtocols", "TextSafety", "UniversalLinks",
    },
    "Fleet/Sources/nfc-agent": {
        "ArgumentParser", "Dispatch", "FleetAgent", "FleetMQTT", "FleetModel", "FleetSpool", "LinuxSupport", "TextSafety",
    },
    "Fleet/Sources/nfc-fleet": {
        "ArgumentParser", "Dispatch", "FleetMQTT", "FleetModel", "Glibc", "NDEF", "LinuxSupport", "TagImages",
        "Synchronization", "VirtualTags", "TextSafety",
    },
    # What an app on a phone could import, and what a text interface needs.
    "Examples/TagReader": {"CoreNFC", "Glibc", "PhoneScreens", "UserActivityReceiving", "TextSafety"},
    "Examples/FirstScan": {"CoreNFC"},
    # Packages for iPhones: nothing that Apple's platforms do not have.
    "Examples/TestingYourApp/Sources/FixedTicketApp": {"CoreNFC"},
    "Examples/TestingYourApp/Sources/TicketApp": {"CoreNFC"},
    "Examples/TestingYourApp/Sources/CardReader": {"CoreNFC", "PhoneScreens"},
    "Recorder/Sources": {"CoreNFC", "NFCRecorder", "SwiftUI"},
}
# The packages for iPhones, which use this one on Linux alone.
IPHONE = ["Examples/TestingYourApp", "Recorder"]

IMPORT = re.compile(r"^\s*(?:@\w+(?:\([^)]*\))?\s+)*(?:public |package |internal |private |fileprivate )?"
                    r"import (?:struct |class |enum |func |var |let |protocol |typealias )?(\w+)", re.MULTILINE)
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
        self.rooms = {room: sorted(name for name, target in self.targets.items()
                                   if target["path"].startswith(f"Sources/{room}/")) for room in ROOMS}
        self.room_of = {name: room for room, names in self.rooms.items() for name in names}
        self.imports = {name: imports(ROOT / target["path"] / source for source in sorted(target["sources"])
                                      if source.endswith(".swift")) for name, target in self.targets.items()}

    def declared(self, name):
        target = self.targets[name]
        return set(target.get("target_dependencies", [])) | set(target.get("product_dependencies", []))

    def is_swift(self, name):
        return self.targets[name]["module_type"] == "SwiftTarget"

    def problems(self):
        for name, target in self.targets.items():
            if target["path"].startswith("Sources/") and name not in self.room_of:
                yield f"{name}: {target['path']} is in no room. The rooms are {', '.join(ROOMS)}."
            if self.is_swift(name):
                yield from self.manifest_problems(name)
            if name in self.room_of:
                yield from self.import_problems(name)

    def manifest_problems(self, name):
        for module in sorted(self.declared(name) - set(self.imports[name])):
            # Programs that tests start, C code that is linked alone, and test targets that are run beside others.
            other = self.targets.get(module)
            if other and (other["type"] == "executable" or not self.is_swift(module)):
                continue
            yield f"Package.swift: {name} names {module}, which no file of {self.targets[name]['path']} imports."

    def import_problems(self, name):
        allowed = NARROWER.get(name, ROOMS[self.room_of[name]])
        for module, file in self.imports[name].items():
            room = self.room_of.get(module)
            if room and module not in allowed and room not in allowed:
                yield f"{file}: {name} may not import {module}, by the table in dev/house.py."
            if room and module.endswith("Driver") and name != REGISTRY:
                yield f"{file}: {name} imports {module}; ask the registry of readers in {REGISTRY}."
            if module in SYSTEM and name in PURE and module not in ALLOWED_IN_PURE.get(name, set()):
                yield f"{file}: {name} does without {module}."

    def rooms_drawn(self):
        """The rooms from the roof down, each with its targets."""
        return ["```", *(f"{room:<13}{'  '.join(names)}" for room, names in self.rooms.items()), "```"]

    def imports_drawn(self):
        """What each target imports of the house."""
        rows = ["| room | target | imports |", "|---|---|---|"]
        for room, names in self.rooms.items():
            for name in names:
                below = sorted(f"`{module}`" for module in self.imports[name] if module in self.room_of and module != name)
                rows.append(f"| {room} | `{name}` | {', '.join(below) or 'nothing'} |")
        return rows

    def pages(self):
        """The pages with a drawing, each with its text as it should be."""
        drawings = {"CONTRIBUTING.md": self.rooms_drawn(), "Sources/README.md": self.imports_drawn()}
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
    for folder in ["Sources", "Tests", "Examples", "IntegrationTests/Sources", "IntegrationTests/Tests", "Recorder", "Tools"]:
        for path in swift_files(folder):
            lines = path.read_text().splitlines()
            # A manifest begins with the version of its tools.
            if lines[path.name == "Package.swift":][:1] != [LICENCE]:
                yield f"{path.relative_to(ROOT)}: the first line is not '{LICENCE}'."


def iphone_problems():
    """Where Xcode would build a product of this package for an iPhone: it skips those whose condition names only Linux."""
    for package in IPHONE:
        # A manifest asks with os(Linux) which machine reads it. It is read here as on a Mac.
        with tempfile.TemporaryDirectory() as folder:
            text = (ROOT / package / "Package.swift").read_text()
            (pathlib.Path(folder) / "Package.swift").write_text(text.replace("os(Linux)", "os(macOS)"))
            read = subprocess.run(["swift", "package", "--package-path", folder, "dump-package"], check=True,
                                  capture_output=True, text=True)
        for target in json.loads(read.stdout)["targets"]:
            for name, _, _, condition in (found["product"] for found in target["dependencies"] if "product" in found):
                if (condition or {}).get("platformNames") != ["linux"]:
                    yield f"{package}/Package.swift: {target['name']} needs {name} on iPhones. Add the condition for Linux."
        for path in swift_files(f"{package}/Tests") if package.startswith("Examples") else []:
            if re.match(r"(//.*\n)*#if canImport\(NFCTestKit\)\n", path.read_text()) is None:
                yield f"{path.relative_to(ROOT)}: begin with '#if canImport(NFCTestKit)', because a Mac has no test kit."


def main():
    house = House()
    if sys.argv[1:] == ["draw"]:
        for page, _, drawn in house.pages():
            (ROOT / page).write_text(drawn)
    elif sys.argv[1:] == ["check"]:
        problems = sorted([*house.problems(), *file_problems(), *iphone_problems()])
        problems += [f"{page}: the drawing of the house is not up to date. Run: dev/house.py draw"
                     for page, text, drawn in house.pages() if text != drawn]
        for problem in problems:
            print(problem, file=sys.stderr)
        sys.exit(1 if problems else 0)
    else:
        sys.exit(__doc__)


main()
