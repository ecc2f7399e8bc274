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

        @Test func `nfc demo: removes what a killed demo left, and leaves a running demo alone`() async throws {
            let other = try place.demo("--terminal")
            try await other.line(with: "Press Return")
            let kept = try place.folders()
            let killed = try place.demo("--terminal")
            try await killed.line(with: "Press Return")
            // The process that would end its programs is killed first.
            let watchers = try Place.processes {
                $0.ppid == killed.identifier && $0.words.contains { $0.contains("--take-away") }
            }
            #expect(watchers.count == 1)
            for watcher in watchers { kill(watcher, SIGKILL) }
            killed.send(signal: SIGKILL)
            #expect(try await killed.end() == -SIGKILL)
            let left = try #require(Set(try place.folders()).subtracting(kept).first)
            #expect(try place.programs(of: left).count == 2)
            let next = try place.demo("--terminal", "--yes", "--json")
            #expect(try await next.end() == 0)
            #expect(try steps(next).prefix(2) == ["leftovers", "place"])
            #expect(next.output.contains(left))
            #expect(try place.folders() == kept)
            #expect(try place.programs(of: left).isEmpty)
            other.say("")
            #expect(try await other.end() == 0)
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

    /// The command lines of the programs of a demonstration, or of all demonstrations if none is named.
    func programs(of demonstration: String? = nil) throws -> [String] {
        let mark = "NFC_DEMO=\(demonstration ?? folder.path)"
        return try Self.processes { process in
            process.variables.contains { $0 == mark || demonstration == nil && $0.hasPrefix(mark + "/") }
        }.compactMap { Process($0)?.words.joined(separator: " ") }
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
        let ppid: Int32
        let words: [String]
        let variables: [String]

        init?(_ number: Int32) {
            func read(_ name: String) -> String? {
                FileManager.default.contents(atPath: "/proc/\(number)/\(name)").map {
                    String(decoding: $0, as: UTF8.self)
                }
            }
            let fields = read("stat")?.split(separator: ")").last?.split(separator: " ")
            guard let fields, fields.count > 1, let ppid = Int32(fields[1]), let words = read("cmdline") else {
                return nil
            }
            self.ppid = ppid
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
