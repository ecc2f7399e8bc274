// SPDX-License-Identifier: Apache-2.0
import BackgroundTagReading
import UniversalLinks

/// An app on the phone: an installed one, a program that the simulator has started, or one that has connected.
struct PhoneApp: Sendable {
    let id: String
    var name: String
    /// The command that starts it; nil for a program that was started elsewhere.
    var command: String?
    /// The description, as background reading has it; nil without one.
    var description: InstalledApp?
    var pid: Int32?
    var isRunning = false
    /// Whether the simulator has started the program that is running.
    var isStartedHere = false
    /// The connections of its programs.
    var clients: Set<Int> = []
    private(set) var output: [String] = []
    /// What it shows; nil for an app that shows its name and output.
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
            "connected": .bool(!clients.isEmpty), "command": JSON(command),
            "associated_domains": .array(description?.associatedDomains.map { .string($0.entry) } ?? []),
            "schemes": .array(description?.schemes.map { JSON.string($0) } ?? []),
            "output": .array(output.map { JSON.string($0) }), "screen": screen ?? nil,
        ]
    }
}
