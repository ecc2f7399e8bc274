// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import PeerSupport
import Testing

extension BackgroundService {
    @Suite struct `The conditions of background reading` {
        /// Waits until tags are not read for one reason, and compares the status with it.
        private func expectObstacle(_ obstacle: String, _ condition: String, _ desk: Desk) async throws {
            #expect(try await desk.event("not-reading")["obstacles"] == obstacle)
            let status = try #require(try await desk.ask("status") as? [String: Any])
            let conditions = try #require(status["conditions"] as? [[String: Any]])
            let unmet = conditions.filter { $0["met"] as? Bool == false }.compactMap { $0["condition"] as? String }
            #expect(unmet == [condition])
            let command = try await desk.nfc("background", "status")
            #expect(command.status == 1)
            #expect(command.lines.first == "Tags are not read.")
        }

        @Test func `Service with --reader none: reads nothing, and its status says why`() async throws {
            let desk = try await Desk()
            try await desk.start("--reader", "none", waitsFor: "not-reading")
            let status = try #require(try await desk.ask("status") as? [String: Any])
            #expect(status["reading"] as? Bool == false)
            let lines = try await desk.nfc("background", "status").lines
            #expect(lines.dropFirst().first?.contains("--reader is \"none\"") == true)
        }

        @Test func `Tag that left before or while the display was off: offered again on return`() async throws {
            let desk = try await Desk()
            try await desk.start()
            try desk.bring("https://b.example/1")
            try await desk.event("shown")
            // The tag leaves, and much later the display goes off and on. Then the tag leaves while the display is off.
            for isTakenInTheDark in [false, true] {
                if !isTakenInTheDark {
                    try desk.takeAway()
                    try await Task.sleep(for: .milliseconds(1500))
                }
                try await desk.ask("login", ["IdleHint": true])
                try await desk.event("not-reading")
                if isTakenInTheDark {
                    try desk.takeAway()
                    try await Task.sleep(for: .milliseconds(300))
                }
                try await desk.ask("login", ["IdleHint": false])
                try await desk.event("reading")
                try desk.bring("https://b.example/1")
                try await desk.event("shown")
            }
            #expect(try await desk.notifications().count == 3)
        }

        @Test func `Tag that stays while the display is off: not offered again`() async throws {
            let desk = try await Desk()
            try await desk.start()
            try desk.bring("https://b.example/1")
            try await desk.event("shown")
            try await desk.ask("login", ["IdleHint": true])
            try await desk.event("not-reading")
            try await desk.ask("login", ["IdleHint": false])
            try await desk.event("reading")
            // Another tag shows that the field was checked.
            try desk.bring("https://b.example/2", number: 2)
            try await desk.event("shown")
            #expect(try await desk.notifications().count == 2)
        }

        @Test func `Before the first unlock of this boot: tags are not read`() async throws {
            let desk = try await Desk()
            try await desk.ask("login", ["LockedHint": true])
            try await desk.start(waitsFor: nil)
            try await expectObstacle("never-unlocked", "unlocked-once", desk)
            try await desk.ask("login", ["LockedHint": false])
            try await desk.event("reading")
            try await desk.kill()
            try await desk.ask("login", ["LockedHint": true])
            try await desk.start()
            try await desk.kill()
            // The system was restarted.
            try desk.write("machine/proc/sys/kernel/random/boot_id", "boot-2\n")
            try await desk.start(waitsFor: "not-reading")
        }

        @Test func `Display off by logind, by the compositor, or in sleep: tags are not read`() async throws {
            let desk = try await Desk()
            try await desk.start()
            try await desk.ask("login", ["IdleHint": true])
            try await expectObstacle("display-off", "display", desk)
            // A compositor reports more.
            try await desk.ask("display_on_bus")
            try await desk.event("reading")
            try await desk.ask("display", 3)
            try await expectObstacle("display-off", "display", desk)
            try await desk.ask("display", 0)
            try await desk.event("reading")
            try await desk.ask("sleep", true)
            try await expectObstacle("display-off", "display", desk)
            try await desk.ask("sleep", false)
            try await desk.event("reading")
        }

        @Test func `While a program has a camera open tags are not read`() async throws {
            let desk = try await Desk()
            try desk.write("machine/dev/video0", "")
            try await desk.start()
            let path = desk.folder.appending(path: "machine/dev/video0").path
            let camera = try #require(FileHandle(forReadingAtPath: path))
            try await expectObstacle("camera", "camera", desk)
            try camera.close()
            try await desk.event("reading")
            // A camera that is plugged in later also counts.
            try desk.write("machine/dev/video1", "")
            _ = try await desk.ask("status")
            try await desk.wait("the second camera is known") {
                guard let other = FileHandle(forReadingAtPath: desk.folder.path + "/machine/dev/video1") else {
                    return false
                }
                defer { try? other.close() }
                usleep(300_000)
                return (desk.service?.output.components(separatedBy: "\"obstacles\":\"camera\"").count ?? 0) >= 3
            }
        }

        @Test func `In airplane mode tags are not read`() async throws {
            let desk = try await Desk()
            let path = desk.folder.appending(path: "machine/dev/rfkill").path
            let made = unsafe mkfifo(path, 0o600)
            #expect(made == 0)
            let descriptor = unsafe open(path, O_RDWR)
            let switches = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
            // Two radios come, then both are blocked, and one no longer is.
            switches.write(Data([0, 0, 0, 0, 1, 0, 0, 0]))
            switches.write(Data([1, 0, 0, 0, 2, 0, 1, 0]))
            try await desk.start()
            switches.write(Data([0, 0, 0, 0, 1, 2, 0, 1]))
            try await expectObstacle("airplane-mode", "airplane-mode", desk)
            switches.write(Data([1, 0, 0, 0, 2, 2, 0, 0]))
            try await desk.event("reading")
        }

        @Test func `An app's session gets the reader at once, and the service gets the reader back after the session`()
            async throws
        {
            let desk = try await Desk()
            try await desk.start()
            try desk.bring("https://b.example/1")
            try await desk.event("shown")
            let scan = try await desk.nfc("scan", "--tags", desk.folder.path + "/tags", "--json")
            #expect(scan.status == 0, "\(scan.lines)")
            #expect(try await desk.event("not-reading")["obstacles"] == "reader-session")
            try await desk.event("reading")
            // The tag was on the reader all the time.
            _ = try await desk.ask("status")
            #expect(try await desk.notifications().count == 1)
        }

        @Test func `Tag that an app's session has read: not offered after the session while it stays`()
            async throws
        {
            let desk = try await Desk()
            try await desk.start()
            // The tag comes while the session has the reader, so the service has never seen it. The session continues for
            // a while, so that both notice the file: each has its own field here.
            let path = Desk.programs.appending(path: "nfc").path
            let arguments = ["scan", "--many", "--timeout", "1.5", "--tags", desk.folder.path + "/tags", "--json"]
            let app = try TalkingProgram(path, arguments, environment: desk.environment)
            try await desk.event("not-reading")
            try desk.bring("https://b.example/1")
            #expect(try await app.end() == 0, "\(app.output)")
            #expect(app.output.contains("b.example/1"))
            try await desk.event("reading")
            // Another tag shows that the field was checked.
            try desk.bring("https://b.example/2", number: 2)
            try await desk.event("shown")
            #expect(try await desk.notifications().count == 1)
            // When the tag comes again, it is offered.
            try desk.takeAway()
            try await Task.sleep(for: .milliseconds(1500))
            try desk.bring("https://b.example/1")
            try await desk.event("shown")
            #expect(try await desk.notifications().count == 2)
        }

        @Test func `Reader gate: grants the reader within 2 s, and the service gets the reader back from a killed app`()
            async throws
        {
            let desk = try await Desk()
            try await desk.start()
            for (purpose, obstacle) in [("R", "reader-session"), ("C", "wallet")] {
                let script = """
                    import socket
                    gate = socket.socket(socket.AF_UNIX)
                    gate.connect('\(desk.folder.path)/run/nfc/background')
                    gate.send(b'\(purpose)')
                    print('answer', gate.recv(1), flush=True)
                    input()
                    """
                let app = try TalkingProgram("/usr/bin/python3", ["-c", script])
                try await app.line(with: "answer b'Y'", within: .seconds(2))
                #expect(try await desk.event("not-reading")["obstacles"] == obstacle)
                app.send(signal: SIGKILL)
                try await desk.event("reading")
            }
        }

        @Test func `Second service: ends, and the first one continues`() async throws {
            let desk = try await Desk()
            try await desk.start()
            let second = try TalkingProgram(
                Desk.programs.appending(path: "nfcd").path,
                ["--json", "--tags", desk.folder.path + "/tags"],
                environment: desk.environment
            )
            try await second.line(with: "nfcd is already running.")
            #expect(try await second.end() == 1)
            try desk.bring("https://b.example/1")
            try await desk.event("shown")
        }
    }
}
