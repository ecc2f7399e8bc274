// SPDX-License-Identifier: Apache-2.0
import Foundation

/// The actions on programs and on the simulator itself.
extension SimulatorState {
    mutating func performOnAll(_ name: String, _ action: JSON) throws(SimulatorFailure) -> JSON? {
        switch name {
        case "state": return ["state": json]
        case "start_app":
            let app: PhoneApp
            if let id = action["app"]?.string {
                app = try apps.find(id)
            } else if let command = action["command"]?.string, !command.isEmpty, command.utf8.count <= 4096 {
                app = try apps.add(command: command, name: Self.name(ofCommand: command))
            } else {
                throw .invalid(
                    "Give either \"command\", the program to start with its arguments, or \"app\", an app on the phone."
                )
            }
            guard let command = app.command else {
                throw SimulatorFailure(
                    "not-started-here",
                    "The command of this app is unknown. Start it where you started it before."
                )
            }
            if !app.isRunning { effects.append(.startApp(app.id, command: command)) }
            touch(.apps)
            return ["app": .string(app.id)]
        case "stop_app":
            let app = try apps.find(action["app"]?.string)
            guard app.isStartedHere else {
                throw SimulatorFailure(
                    "not-started-here",
                    "The simulator did not start this program. End it where you started it."
                )
            }
            effects.append(.stopApp(app.id))
            return ["app": .string(app.id)]
        case "remove_app":
            let app = try apps.find(action["app"]?.string)
            guard !app.isRunning, app.description == nil else {
                throw SimulatorFailure(
                    "app-in-use",
                    "Only a program that does not run and is not installed can be removed."
                )
            }
            apps.remove(app.id)
            waitingLinks[app.id] = nil
            if phone.front == app.id { phone.front = nil }
            touch(.apps)
            touch(.phone)
            return [:]
        case "save":
            return [
                "name": "drawer.simulator.json", "type": "application/json",
                "base64": .string(Data(saved.bytes).base64EncodedString()),
            ]
        case "open":
            let file = try file(action)
            let contents = try Self.contents(of: file)
            if action["check"]?.bool != true { try open(file, contents) }
            return ["tags": .int(contents.tags.count)]
        case "quit":
            effects.append(.quit)
            return [:]
        default: return nil
        }
    }

    /// The name of the program that a command starts: NAME in `swift run NAME`, otherwise the file's name.
    static func name(ofCommand command: String) -> String {
        let words = command.split(separator: " ")
        let names = words.filter { !$0.hasPrefix("-") && !$0.contains("=") }
        var program = names.first
        if names.count > 1, names[0] == "swift", names[1] == "run" { program = names.count > 2 ? names[2] : names[1] }
        return program?.split(separator: "/").last.map(String.init) ?? "App"
    }

    /// The file that an action includes, either as JSON or as Base64.
    private func file(_ action: JSON) throws(SimulatorFailure) -> JSON {
        if let file = action["file"] { return file }
        guard let data = Data(base64Encoded: action["base64"]?.string ?? ""), let file = try? JSON(parsing: data) else {
            throw SimulatorFailure("unknown-file", "This is not a simulator file. \"save\" creates one.")
        }
        return file
    }

    // MARK: The whole state

    /// The whole state, as sent to a page that has just connected.
    var json: JSON {
        .object(Dictionary(uniqueKeysWithValues: Part.allCases.map { ($0.rawValue, json(of: $0)) }))
    }

    func json(of part: Part) -> JSON {
        switch part {
        case .phone: phone.json
        case .tags: tagList
        case .apps: apps.json
        case .switches: switches.json
        case .sessions: .array(sessions.map(\.json))
        case .notifications: .array(background.notifications.map(\.json))
        case .summary: summary
        case .storage: ["problem": JSON(storageProblem)]
        }
    }
}
