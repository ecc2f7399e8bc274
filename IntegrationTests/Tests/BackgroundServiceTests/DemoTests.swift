// SPDX-License-Identifier: Apache-2.0
import EmulationSupport
import Foundation
import PeerSupport
import Testing

extension BackgroundService {
    /// `nfc demo`, as a person runs it.
    @Suite struct Demonstration {
        private let place = Place()

        /// The names of the printed steps, or of the failure.
        private func steps(_ program: TalkingProgram) throws -> [String] {
            try program.output.split(separator: "\n").map { line in
                let object = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
                return object?["step"] as? String ?? object?["error"] as? String ?? ""
            }
        }

        @Test func `nfc demo without a desktop: every step from the service to the message in the app`() async throws {
            let demo = try place.demo("--yes", "--json")
            #expect(try await demo.end() == 0)
            #expect(
                try steps(demo) == [
                    "place", "app", "no-desktop", "service", "tag", "notification", "click", "app-opened", "end",
                ]
            )
            #expect(demo.output.contains("Payload     Link: https://tagreader.example/welcome"))
            #expect(try place.folders().isEmpty && place.programs().isEmpty)
        }

        @Test func `nfc demo that is killed at any time: its programs and folders are removed`() async throws {
            // While the service waits for the click, and while the app runs.
            let waiting = try place.demo("--terminal")
            try await waiting.line(with: "Press Return")
            #expect(try place.programs().count == 2)
            waiting.send(signal: SIGKILL)
            #expect(try await waiting.end() == -SIGKILL)
            try await place.untilEmpty()
            let clicked = try place.demo("--terminal")
            try await clicked.line(with: "Press Return")
            clicked.say("")
            try await place.wait("the app") { try place.programs().contains { $0.contains("TagReader") } }
            clicked.send(signal: SIGKILL)
            #expect(try await clicked.end() == -SIGKILL)
            try await place.untilEmpty()
        }
    }
}

/// A test's own folder for temporary files, with the demonstrations in it.
private final class Place: Sendable {
    let folder = URL(fileURLWithPath: "/tmp/demo-\(UUID().uuidString.prefix(8))")

    init() { try? FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true) }

    deinit { try? FileManager.default.removeItem(at: folder) }

    /// Starts a demonstration, where there is no desktop unless the variables name one.
    func demo(_ arguments: String..., variables: [String: String] = [:]) throws -> TalkingProgram {
        let none = [
            "TMPDIR": folder.path, "DBUS_SESSION_BUS_ADDRESS": "unix:path=/nowhere", "DISPLAY": "",
            "DBUS_SYSTEM_BUS_ADDRESS": "unix:path=/nowhere", "WAYLAND_DISPLAY": "", "TERM": "dumb",
        ]
        return try TalkingProgram(
            Desk.programs.appending(path: "nfc").path,
            ["demo"] + arguments,
            environment: none.merging(variables) { $1 }
        )
    }

    /// The paths of the demonstrations' folders.
    func folders() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder.path).filter { $0.hasPrefix("nfc-demo.") }.sorted()
            .map { "\(folder.path)/\($0)" }
    }

    /// The command lines of the programs of the demonstrations.
    func programs() throws -> [String] {
        let mark = "NFC_DEMO=\(folder.path)/"
        return try Self.processes { process in process.variables.contains { $0.hasPrefix(mark) } }.compactMap {
            Process($0)?.words.joined(separator: " ")
        }
    }

    /// Waits until no demonstration has left anything.
    func untilEmpty() async throws {
        try await wait("everything to be gone") { try folders().isEmpty && programs().isEmpty }
    }

    func wait(_ what: String, _ isSo: () throws -> Bool) async throws {
        let end = ContinuousClock.now + .seconds(40)
        while try !isSo() {
            guard ContinuousClock.now < end else {
                throw PeerError("\(what): not in 40 seconds. \(try folders()) \(try programs())")
            }
            try await Task.sleep(for: .milliseconds(5))
        }
    }

    /// A process as proc(5) shows it.
    struct Process {
        let words: [String]
        let variables: [String]

        init?(_ number: Int32) {
            func read(_ name: String) -> String? {
                FileManager.default.contents(atPath: "/proc/\(number)/\(name)").map {
                    String(decoding: $0, as: UTF8.self)
                }
            }
            guard let words = read("cmdline") else { return nil }
            self.words = words.split(separator: "\0").map(String.init)
            variables = (read("environ") ?? "").split(separator: "\0").map(String.init)
        }
    }

    /// The identifiers of the matching processes.
    static func processes(_ isMeant: (Process) -> Bool) throws -> [Int32] {
        try FileManager.default.contentsOfDirectory(atPath: "/proc").compactMap(Int32.init).filter { number in
            Process(number).map(isMeant) ?? false
        }
    }
}
