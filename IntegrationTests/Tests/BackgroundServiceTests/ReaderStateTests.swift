// SPDX-License-Identifier: Apache-2.0
import EmulationSupport
import Foundation
import Glibc
import PeerSupport
import Testing

extension BackgroundService {
    @Suite struct `The state of the reader` {
        /// Compares the status, its JSON and its exit status with the last line of the log.
        private func expectReading(_ isReading: Bool, _ desk: Desk, reader: String) async throws {
            let command = try await desk.nfc("background", "status")
            #expect(command.status == (isReading ? 0 : 3))
            #expect(command.lines.first == (isReading ? "Tags are read." : "Tags are not read."))
            #expect(command.lines.dropFirst().first?.contains(reader) == true, "\(command.lines)")
            let json = try await desk.nfc("background", "status", "--json")
            #expect(json.status == command.status && json.lines.count == 1)
            let object = try JSONSerialization.jsonObject(with: Data(json.lines.joined().utf8))
            let status = try #require(object as? [String: Any])
            #expect(status["reading"] as? Bool == isReading)
            #expect((status["reader"] as? String)?.contains(reader) == true)
            let conditions = try #require(status["conditions"] as? [[String: Any]])
            let unmet = conditions.filter { $0["met"] as? Bool == false }.compactMap { $0["condition"] as? String }
            #expect(unmet == (isReading ? [] : ["reader"]))
        }

        private func expectMissing(_ desk: Desk, _ reason: String) async throws {
            let event = try await desk.event("not-reading")
            #expect(event["obstacles"] == "unsupported")
            #expect(event["message"]?.contains(reason) == true, "\(event)")
            try await expectReading(false, desk, reader: reason)
        }

        @Test(.enabled(if: Program.areInstalled("pcscd"), "pcscd is not installed"))
        func `pcscd started and killed while the service runs: its reader is used, then reported as missing`()
            async throws
        {
            let tag = try await EmulatedTag(Samples.type2(), on: .reader(name: "Our Reader"))
            let daemon = try PCSCDaemon([tag.configuration])
            try await daemon.stop()
            let desk = try await Desk(variables: daemon.environment)
            try await desk.start("--reader", "pcsc", waitsFor: nil)
            try await expectMissing(desk, "pcscd is not running")
            try daemon.start()
            try await desk.event("reading")
            try await expectReading(true, desk, reader: "Our Reader")
            try await desk.event("shown")
            try await daemon.kill()
            try await expectMissing(desk, "pcscd is not running")
            try daemon.start()
            try await desk.event("reading")
            try await expectReading(true, desk, reader: "Our Reader")
            // The tag was on the reader all the time.
            #expect(try await desk.notifications().count == 1)
            _ = try await tag.stop()
        }

        @Test func `PN532 plugged in and pulled out while the service runs: used, then reported as missing`()
            async throws
        {
            let desk = try await Desk()
            let line = desk.folder.path + "/line"
            try await desk.start("--reader", "pn532:" + line, waitsFor: nil)
            try await expectMissing(desk, "line")
            let tag = try await EmulatedTag(Samples.type2(), on: .pn532)
            let path = try #require(tag.environment["LIBNFC_DEVICE"]?.split(separator: ":").last.map(String.init))
            try FileManager.default.createSymbolicLink(atPath: line, withDestinationPath: path)
            try await desk.event("reading")
            try await expectReading(true, desk, reader: "PN532 v1.6")
            try await desk.event("shown")
            try await tag.kill()
            try await expectMissing(desk, "line")
            let other = try await EmulatedTag(Samples.type2(), on: .pn532)
            let again = try #require(other.environment["LIBNFC_DEVICE"]?.split(separator: ":").last.map(String.init))
            try FileManager.default.removeItem(atPath: line)
            try FileManager.default.createSymbolicLink(atPath: line, withDestinationPath: again)
            try await desk.event("reading")
            try await expectReading(true, desk, reader: "PN532 v1.6")
            _ = try await other.stop()
        }

        @Test func `Serial line on which nothing answers: reported as missing`() async throws {
            let desk = try await Desk()
            var ends: (Int32, Int32) = (-1, -1)
            var name = [CChar](repeating: 0, count: 64)
            #expect(unsafe openpty(&ends.0, &ends.1, &name, nil, nil) == 0)
            defer {
                close(ends.0)
                close(ends.1)
            }
            let path = String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
            try await desk.start("--reader", "pn532:" + path, waitsFor: nil)
            try await expectMissing(desk, "No PN532 answers at \(path)")
        }

        @Test func `Reader while another obstacle keeps tags from being read: not reported as missing`() async throws {
            let desk = try await Desk()
            try await desk.start()
            try await desk.ask("login", ["IdleHint": true])
            #expect(try await desk.event("not-reading")["obstacles"] == "display-off")
            let command = try await desk.nfc("background", "status")
            #expect(command.status == 1)
            #expect(command.lines.dropFirst().first?.contains("virtual, when it was last asked.") == true)
            try await desk.ask("login", ["IdleHint": false])
            try await desk.event("reading")
            try await expectReading(true, desk, reader: "virtual")
        }

        @Test func `Folder of tags that is created late, created again, or contains a pipe: its tags are offered`()
            async throws
        {
            let desk = try await Desk()
            let tags = desk.folder.appending(path: "tags").path
            try FileManager.default.removeItem(atPath: tags)
            try await desk.start(waitsFor: nil)
            try await expectMissing(desk, "The folder of tags \(tags) is missing.")
            try FileManager.default.createDirectory(atPath: tags, withIntermediateDirectories: true)
            try await desk.event("reading")
            let made = unsafe mkfifo(tags + "/0.json", 0o600)
            #expect(made == 0)
            for number: UInt8 in 1...3 {
                try desk.bring("https://h\(number).example/", number: number)
                try await desk.event("shown")
                try FileManager.default.removeItem(atPath: tags)
                try FileManager.default.createDirectory(atPath: tags, withIntermediateDirectories: true)
            }
            #expect(try await desk.notifications().count == 3)
            #expect(desk.service?.output.contains("0.json is a pipe.") == true)
        }
    }
}
