// SPDX-License-Identifier: Apache-2.0
import BackgroundTagReading
import UniversalLinks

/// An app on the phone: installed, started by the simulator, or connected by itself.
struct PhoneApp: Sendable {
    let id: String
    var name: String
    /// The command that starts the app; nil for a program that was started elsewhere.
    var command: String?
    /// The app's description for background reading; nil if unknown.
    var description: InstalledApp?
    var pid: Int32?
    var isRunning = false
    /// Whether the simulator started the running program.
    var isStartedHere = false
    /// The connection numbers of the app's programs.
    var clients: Set<Int> = []
    private(set) var output: [String] = []
    /// The screen that the app describes; if nil, the phone shows the app's name and output.
    var screen: JSON?

    init(id: String, name: String, command: String? = nil, description: InstalledApp? = nil) {
        self.id = id
        self.name = name
        self.command = command
        self.description = description
    }

    mutating func print(_ line: String) {
        output.append(DisplayText.plain(line, limit: Limits.outputLine))
        if output.count > Limits.output { output.removeFirst(output.count - Limits.output) }
    }

    var json: JSON {
        [
            "id": .string(id), "name": .string(name), "pid": JSON(pid.map(Int.init)), "running": .bool(isRunning),
            "connected": .bool(!clients.isEmpty), "command": JSON(command), "installed": .bool(description != nil),
            "associated_domains": .array(description?.associatedDomains.map { .string($0.entry) } ?? []),
            "schemes": .array(description?.schemes.map { JSON.string($0) } ?? []),
            "output": .array(output.map { JSON.string($0) }), "screen": screen ?? nil,
        ]
    }
}
