// SPDX-License-Identifier: Apache-2.0
import Glibc
import NFCRuntime
import NFCTestKit
import PCSCDriver
import ReaderEmulation
import VirtualTags

// Runs the conformance suite with the driver for PC/SC, on the emulated readers of a pcscd of its own, and prints a line
// a scenario: `passed`, `limited` or `failed`, the scenario, and why. The argument is a folder for sockets.
// Another one is a part of the names of the scenarios that are run.
guard (2...3).contains(CommandLine.arguments.count) else {
    print("usage: ConformanceProbe FOLDER [WORD]")
    exit(2)
}
exit(try await PCSCSetups(folder: CommandLine.arguments[1]).run(CommandLine.arguments.dropFirst(2).first ?? ""))
