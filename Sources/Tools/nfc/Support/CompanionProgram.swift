// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Foundation
import LinuxSupport

/// A program of a nested package, which a command becomes. It has the dependencies that would make the tools slow to build.
struct CompanionProgram {
    /// The program's name, such as `nfc-lint`.
    var name: String
    /// The folder of its package in a clone.
    var package: String
    /// The name of the error when the program is missing.
    var missing: String

    /// Becomes the program, which gets all options but `--version`: that is the one of `nfc`, as after every command.
    ///
    /// - Parameter options: the words after the command.
    func run(_ options: [String]) async throws -> Never {
        if options.filter({ $0 != "--json" }) == ["--version"] {
            throw CleanExit.message(NFCCommand.configuration.version)
        }
        do throws(CommandFailure) {
            throw CommandProcess.become(try path(), options)
        } catch {
            try error.report(json: options.contains("--json"))
        }
    }

    /// The program's path: beside this program, where its package is built in the same clone, or in PATH.
    private func path() throws(CommandFailure) -> String {
        let path = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin"
        let beside = ProgramPath.ownFolder.map { ["\($0)/\(name)"] } ?? []
        guard let found = (beside + inClone).first(where: ProgramPath.isProgram) ?? ProgramPath.find(name, in: path)
        else {
            throw CommandFailure(
                .refused,
                missing,
                """
                There is no \(name) beside nfc or in PATH. Build it in a clone: swift build -c release --package-path \
                \(package)
                """
            )
        }
        return found
    }

    /// Where the package manager puts the program if this one is built in a clone, in the same configuration first.
    private var inClone: [String] {
        guard let folder = ProgramPath.ownFolder, let build = folder.range(of: "/.build/") else { return [] }
        let root = folder[..<build.lowerBound]
        let configurations = folder.hasSuffix("/release") ? ["release", "debug"] : ["debug", "release"]
        return configurations.map { "\(root)/\(package)/.build/\($0)/\(name)" }
    }
}
