// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc

/// A program that was built with the tests, or one of the system's, run as a person or a script runs it.
package struct TestProgram: Sendable {
    /// What a run printed, and how it ended.
    package struct Outcome: Sendable {
        package var status: Int32
        package var output: String
        package var error: String

        /// The lines of standard output.
        package var lines: [String] { output.split(separator: "\n").map(String.init) }
        /// The lines of standard output as JSON objects.
        package var objects: [JSONLine] { lines.map(JSONLine.init) }

        /// A member of the first JSON object of standard output, see ``JSONLine``.
        package subscript(name: String) -> String? { objects.first?[name] }
    }

    /// Where the programs are: beside the tests.
    private static let folder = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
        .deletingLastPathComponent()

    package var name: String
    package var environment: [String: String]

    package init(_ name: String, _ environment: [String: String] = [:]) {
        self.name = name
        self.environment = environment
    }

    /// The program's path: beside the tests, or the system's.
    package var path: String {
        if name.hasPrefix("/") { return name }
        let own = Self.folder.appendingPathComponent(name).path
        return FileManager.default.isExecutableFile(atPath: own) ? own : "/usr/bin/\(name)"
    }

    /// All its variables. Tests use no reader, desktop or bus of this machine unless they set one.
    package var variables: [String: String] {
        var variables = ProcessInfo.processInfo.environment
        for key in variables.keys where key.hasPrefix("NFC_") || key.hasPrefix("TAGREADER_") { variables[key] = nil }
        for name in ["DISPLAY", "WAYLAND_DISPLAY"] { variables[name] = nil }
        variables["PCSCLITE_CSOCK_NAME"] = "/nonexistent/pcscd.comm"
        for name in ["DBUS_SESSION_BUS_ADDRESS", "DBUS_SYSTEM_BUS_ADDRESS"] { variables[name] = "unix:path=/nowhere" }
        return variables.merging(environment) { $1 }
    }

    /// The words before a program that take from root the right to write to every file. Nil if `setpriv` is missing.
    package static let underPermissions: [String]? = {
        guard geteuid() == 0 else { return [] }
        guard FileManager.default.isExecutableFile(atPath: "/usr/bin/setpriv") else { return nil }
        return ["/usr/bin/setpriv", "--bounding-set=-dac_override,-dac_read_search"]
    }()

    /// Runs the program without a terminal.
    package func run(_ arguments: String..., input: String = "") throws -> Outcome {
        try run(arguments, input: input)
    }

    /// Runs the program without a terminal.
    package func run(_ arguments: [String], input: String = "") throws -> Outcome {
        let scratch = try TestFolder()
        for (file, text) in [("in", input), ("out", ""), ("err", "")] { try scratch.write(file, text) }
        let end = try ProgramRun(path, arguments, environment: variables).run(
            input: scratch.path("in"),
            output: scratch.path("out"),
            error: scratch.path("err")
        )
        return Outcome(status: end.status, output: scratch.text("out"), error: scratch.text("err"))
    }
}

/// A line of JSON, whose members are read as text.
package struct JSONLine: Sendable, CustomStringConvertible {
    package let description: String

    package init(_ text: String) { description = text }

    /// A member: strings as they are, everything else as JSON without spaces. Nil if there is no such member, or no
    /// object.
    package subscript(name: String) -> String? {
        let object = try? JSONSerialization.jsonObject(with: Data(description.utf8)) as? [String: Any]
        guard let value = object?[name] else { return nil }
        if let text = value as? String { return text }
        let options: JSONSerialization.WritingOptions = [.fragmentsAllowed, .sortedKeys, .withoutEscapingSlashes]
        let data = try? JSONSerialization.data(withJSONObject: value, options: options)
        return data.map { String(decoding: $0, as: UTF8.self) }
    }
}
