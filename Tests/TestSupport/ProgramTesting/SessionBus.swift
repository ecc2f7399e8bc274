// SPDX-License-Identifier: Apache-2.0
import Foundation

/// A dbus-daemon for one test. It ends with this object.
package final class SessionBus {
    /// Whether the program is installed.
    package static let isInstalled = FileManager.default.isExecutableFile(atPath: "/usr/bin/dbus-daemon")

    private let folder: TestFolder
    private let process = Process()
    /// Stays open for programs that the bus starts.
    private let output = Pipe()
    /// The address, in the format of `DBUS_SESSION_BUS_ADDRESS`.
    package let address: String

    package init() throws {
        folder = try TestFolder()
        // It lets every program send everything to everybody, so that only the code under test protects itself.
        let configuration = """
            <!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN" \
            "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
            <busconfig><type>session</type><listen>unix:path=\(folder.path("bus"))</listen>
            <servicedir>\(folder.path("services"))</servicedir><auth>EXTERNAL</auth>
            <policy context="default"><allow user="*"/><allow own="*"/><allow eavesdrop="true"/>
            <allow send_destination="*" eavesdrop="true"/></policy></busconfig>
            """
        try folder.makeFolder("services")
        try folder.write("bus.conf", configuration)
        process.executableURL = URL(fileURLWithPath: "/usr/bin/dbus-daemon")
        process.arguments = ["--nofork", "--config-file=\(folder.path("bus.conf"))", "--print-address"]
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        try process.run()
        address = String(decoding: output.fileHandleForReading.availableData, as: UTF8.self)
            .trimmingCharacters(in: .whitespacesAndNewlines)
    }

    deinit {
        end()
        process.waitUntilExit()
    }

    /// The path of its socket.
    package var socket: String { folder.path("bus") }

    /// Has it start a program for a name that nobody owns.
    package func install(_ name: String, program: String) throws {
        try folder.write("services/\(name).service", "[D-BUS Service]\nName=\(name)\nExec=\(program)\n")
    }

    /// Stops it, so that it does not answer.
    package func stop() { kill(process.processIdentifier, SIGSTOP) }

    /// Continues it.
    package func goOn() { kill(process.processIdentifier, SIGCONT) }

    package func end() { kill(process.processIdentifier, SIGKILL) }
}
