#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that each target imports only what the design lets it, and that each file names its licence.

The targets below CoreNFC do without Foundation; drivers and tag protocols know nothing of each other; the sample app
imports what an app on a phone could import, and what its text interface needs.
"""
import pathlib
import re
import sys

# What comes with the compiler and is not Foundation.
SYSTEM = {"Swift", "Synchronization", "Dispatch", "Glibc"}
ALLOWED = {
    "Sources/NDEF": set(),
    "Sources/TagLink": {"Glibc"},
    "Sources/VisibleText": set(),
    "Sources/SystemLibrary": {"CSystemCalls", "Dispatch", "Glibc", "Synchronization"},
    "Sources/CardCryptography": {"SystemLibrary"},
    "Sources/UniversalLinks": {"Foundation"},
    "Sources/BackgroundTagReading": {"Foundation", "NDEF", "TagLink", "UniversalLinks", "VisibleText"},
    "Sources/PrivateStorage": {"CSystemCalls", "Glibc", "SystemLibrary"},
    "Sources/BackgroundStorage": {"BackgroundTagReading", "Glibc", "PrivateStorage", "SystemLibrary"},
    "Sources/LinkFetching": {
        "Dispatch", "Foundation", "Glibc", "PrivateStorage", "SystemLibrary", "UniversalLinks",
    },
    "Sources/nfcd": {
        "BackgroundStorage", "BackgroundTagReading", "Dispatch", "Foundation", "Glibc", "LinkDelivery", "LinkFetching", "NFCRuntime",
        "PrivateStorage", "SystemLibrary", "UserBus", "VisibleText",
    },
    "Sources/UserBus": {"BackgroundTagReading", "Glibc", "PrivateStorage", "SystemLibrary"},
    "Sources/LinkDelivery": {
        "BackgroundStorage", "BackgroundTagReading", "Dispatch", "Foundation", "Glibc", "LinkFetching", "PrivateStorage",
        "SystemLibrary", "UserBus",
    },
    "Sources/TagProtocols": {"CardCryptography", "NDEF", "TagLink"},
    "Sources/VirtualTags": {"CardCryptography", "NDEF", "TagLink", "VisibleText"},
    "Sources/PCSCDriver": {"SystemLibrary", "TagLink", "Glibc"},
    "Sources/PN532Driver": {"SystemLibrary", "TagLink", "Dispatch", "Glibc"},
    "Sources/ReaderEmulation": {"CSystemCalls", "PrivateStorage", "SystemLibrary", "TagLink", "TagProtocols"} | SYSTEM,
    "Sources/NFCRuntime": {
        "PCSCDriver", "PN532Driver", "PrivateStorage", "ReaderEmulation", "SystemLibrary", "TagLink", "TagProtocols",
        "VirtualTags", "VisibleText",
    } | SYSTEM,
    "Sources/CoreNFC": {
        "NDEF", "TagLink", "NFCRuntime", "PrivateStorage", "TagProtocols", "VisibleText", "Foundation",
    } | SYSTEM,
    "Sources/UserActivityReceiving": {"BackgroundTagReading", "CoreNFC", "Dispatch", "Foundation", "UserBus"},
    "Sources/NFCTestKit": {
        "Foundation", "NDEF", "TagLink", "TagProtocols", "VirtualTags", "NFCRuntime", "PrivateStorage", "Testing",
    } | SYSTEM,
    "Tools/NFCLint/Sources/NFCLintEngine": {"Foundation", "SwiftOperators", "SwiftParser", "SwiftSyntax"},
    "Tools/NFCLint/Sources/NFCLintRules": {"Foundation", "NDEF", "NFCLintEngine", "SwiftSyntax", "UniversalLinks"},
    "Tools/NFCLint/Sources/nfc-lint": {"ArgumentParser", "Foundation", "NFCLintEngine", "NFCLintRules"},
    "Examples/TagReader": {
        "CoreNFC", "Foundation", "Glibc", "Synchronization", "UserActivityReceiving", "VisibleText",
    },
    "Examples/FirstScan": {"CoreNFC", "Foundation"},
}
IMPORT = re.compile(r"^\s*(?:@\w+(?:\([^)]*\))?\s+)*(?:public |package |internal |private |fileprivate )?"
                    r"import (?:struct |class |enum |func |var |let |protocol |typealias )?(\w+)", re.MULTILINE)
LICENCE = "// SPDX-License-Identifier: Apache-2.0"


def main():
    root = pathlib.Path(__file__).resolve().parent.parent
    problems = []
    for folder, allowed in ALLOWED.items():
        for path in sorted((root / folder).rglob("*.swift")):
            for module in IMPORT.findall(path.read_text()):
                if module not in allowed:
                    problems.append(f"{path.relative_to(root)}: {folder} may not import {module}.")
    for folder in ["Sources", "Tests", "Examples", "IntegrationTests/Sources", "IntegrationTests/Tests",
                   "Tools/NFCLint"]:
        for path in sorted((root / folder).rglob("*.swift")):
            if ".build" in path.parts:
                continue
            lines = path.read_text().splitlines()
            # A manifest begins with the version of its tools.
            if lines[path.name == "Package.swift":][:1] != [LICENCE]:
                problems.append(f"{path.relative_to(root)}: the first line is not '{LICENCE}'.")
            if len(lines) > 400:
                problems.append(f"{path.relative_to(root)}: {len(lines)} lines; look for the second concern.")
    for problem in problems:
        print(problem, file=sys.stderr)
    sys.exit(1 if problems else 0)


main()
