// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import ProgramTesting
import TestThreads
import Testing

@testable import LinkDelivery  // makes findings
@testable import nfc  // the program has no public interface

/// What `nfc background status` and `doctor` say of the service's answers.
struct ServiceAnswerTests {
    private func status(_ members: String, _ conditions: String...) throws -> ServiceStatus {
        let list = conditions.joined(separator: ",")
        return try #require(ServiceStatus(#"{"waiting":3,"conditions":[\#(list)],\#(members)}"#))
    }

    private static let reads = #""reading":true,"locked":false"#
    private static let camera = #"{"condition":"camera","met":false,"source":"It is used."}"#
    private static let reader = #"{"condition":"reader","met":false,"source":"It is gone."}"#
    private static let display = #"{"condition":"display","met":true,"source":"It is on."}"#

    @Test func `nfc background status: lines for reading, obstacles, lock, silent programs and an unwritable inbox`()
        throws
    {
        let inbox = "In the inbox: 3. See: nfc inbox list"
        #expect(try status(Self.reads).lines == ["Tags are read.", inbox])
        let locked = try status(#""reading":false,"locked":true"#, Self.display, Self.reader)
        #expect(
            locked.lines == [
                "Tags are not read.", "  fine  display         It is on.", "  no    reader          It is gone.",
                "The screen is locked. Links open when it is unlocked.", inbox,
            ]
        )
        #expect(locked.reader?.source == "It is gone." && !locked.hasReader)
        let members = #","silent_login":true,"silent_savers":["a.b"],"inbox_problem":"It is full.""#
        let silent = try status(#""reading":true,"locked":true"# + members)
        #expect(silent.silent == ["logind", "a.b"] && silent.hasReader)
        #expect(
            silent.lines == [
                "Tags are read.",
                "The screen counts as locked, because logind, a.b does not answer. Links open when it answers.", inbox,
                "nfcd can't save what it reads: It is full. nfcd tries again by itself.",
            ]
        )
    }

    @Test func `nfc background doctor: each answer or failure of the service becomes a finding with its fix`()
        async throws
    {
        let noBus = BackgroundDoctorCommand.service(.failure(CommandFailure(.refused, "no-bus", "It is so.")))
        #expect(noBus.state == .fails && noBus.fix == "See the result of the bus check.")
        let silent = BackgroundDoctorCommand.service(.failure(CommandFailure(.refused, "no-answer", "It is so.")))
        #expect(silent.fix == "systemctl --user restart nfcd")
        #expect(BackgroundDoctorCommand.service(.success(nil)).state == .fails)
        // The reader has a finding of its own.
        let gone = try status(#""reading":false,"locked":false"#, Self.reader, Self.display)
        #expect(
            BackgroundDoctorCommand.service(.success(gone)) == Finding("service", .works, "nfcd runs. In the inbox: 3.")
        )
        let reader = await BackgroundDoctorCommand.reader(gone)
        #expect(reader.state == .fails && reader.text == "It is gone." && reader.fix?.contains("nfc readers") == true)
        let used = BackgroundDoctorCommand.service(.success(try status(Self.reads, Self.camera)))
        #expect(used.state == .limited && used.fix == nil && used.text.hasSuffix("because of camera: It is used."))
        let full = try status(Self.reads + #","inbox_problem":"It is full.""#)
        #expect(BackgroundDoctorCommand.service(.success(full)).state == .fails)
    }
}

/// `nfc background doctor` on a user's machine.
@Suite(.ownThreads) struct DoctorTests {
    @Test func `nfc background doctor without bus, reader and browser: each is a finding with its fix`() throws {
        let user = try User()
        // An app that can't be started comes before one that can.
        try user.program("fox")
        try user.entry("gone", "Name=Gone", "Exec=/nowhere/gone %u")
        try user.entry("fox", "Name=Fox", "Exec=\(user.folder.path("bin/fox")) %u")
        let types = ["https=gone.desktop;fox.desktop", "tel=gone.desktop"].map { "x-scheme-handler/\($0)\n" }
        try user.folder.write("config/mimeapps.list", "[Default Applications]\n" + types.joined())
        try user.folder.write("data/nfc/apps/org.example.Bad.json", "{")
        var environment = user.nfc.environment
        environment["PATH"] = "/nowhere"
        let outcome = try TestProgram("nfc", environment).run("background", "doctor", "--json")
        #expect(outcome.status == 1)
        let found = outcome.objects.map { object in
            let name = [object["check"], object["subject"]].compactMap { $0 == "null" ? nil : $0 }
            return (name.joined(separator: " "), object)
        }
        let findings = Dictionary(found) { first, _ in first }
        #expect(findings.count == found.count, "A finding is there twice.")
        let states = findings.mapValues { $0["state"] ?? "" }
        let bad = "app \(user.folder.path("data/nfc/apps/org.example.Bad.json"))"
        for name in ["service", "reader", "bus", "association good.site.example", "scheme http", bad] {
            #expect(states[name] == "fails" && findings[name]?["ok"] == "false", "\(name)")
        }
        for scheme in ["tel", "mailto", "sms", "geo", "facetime", "facetime-audio", "x-hm"] {
            #expect(states["scheme \(scheme)"] == "limited", "\(scheme)")
        }
        #expect(states["scheme https"] == "works")
        #expect(findings["scheme https"]?["message"]?.hasPrefix("Fox opens it (") == true)
        #expect(findings["bus"]?["fix"]?.contains("dbus-run-session") == true)
        #expect(findings["reader"]?["fix"]?.contains("pcscd") == true)
        let fetch = "nfc links fetch --force good.site.example"
        #expect(findings["association good.site.example"]?["fix"] == fetch)
        // What would be on the bus is not known.
        #expect(states["notifications"] == nil && states["lock"] == nil)
        let lines = try user.nfc.run("background", "doctor").lines
        #expect(lines.contains { $0.hasPrefix("no    bus: ") } && lines.contains("      \(fetch)"))
        for (name, object) in found where object["state"] == "works" { #expect(object["fix"] == "null", "\(name)") }
    }

    @Test func `nfc background doctor: asks the reader that NFC_READER names, and records nothing`() throws {
        let folder = try TestFolder()
        for (reader, state) in [("virtual", "works"), ("none", "fails")] {
            let user = try User(["NFC_READER": reader, "NFC_RECORD": folder.path("record")])
            let objects = try user.nfc.run("background", "doctor", "--json").objects
            #expect(objects.first { $0["check"] == "reader" }?["state"] == state)
            #expect(!folder.has("record"))
        }
    }
}

/// Programs that hang. A command that asks one ends with a sentence.
@Suite(.ownThreads) struct HangingTests {
    /// A socket that listens, but never accepts.
    private final class HangingSocket {
        private let folder: TestFolder
        private let descriptor: Int32
        var path: String { folder.path("s") }

        init(backlog: Int32) throws {
            folder = try TestFolder()
            descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
            var address = sockaddr_un()
            address.sun_family = sa_family_t(AF_UNIX)
            unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: Array(path.utf8)) }
            let status = unsafe withUnsafePointer(to: &address) { pointer in
                unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    unsafe bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
                }
            }
            try #require(status == 0 && listen(descriptor, backlog) == 0)
        }

        deinit { close(descriptor) }
    }

    @Test func `nfc with a hanging pcscd: status 3 and what to restart`() throws {
        let hanging = try HangingSocket(backlog: 16)
        // The queue of its connections is full after the first.
        let full = try HangingSocket(backlog: 0)
        let scan = ["scan", "--timeout", "0.2"]
        let rows: [(path: String, words: [String])] = [
            (hanging.path, scan), (hanging.path, ["tag", "read", "--timeout", "1", "--reader", "pcsc"]),
            (full.path, scan), (full.path, scan),
        ]
        DispatchQueue.concurrentPerform(iterations: rows.count) { index in
            let nfc = TestProgram("nfc", ["PCSCLITE_CSOCK_NAME": rows[index].path])
            let outcome = try? nfc.run(rows[index].words + ["--json"])
            #expect(outcome?.status == 3 && outcome?.output.contains("systemctl restart pcscd") == true)
        }
    }

    @Test(.enabled(if: SessionBus.isInstalled, "dbus-daemon is not installed"))
    func `nfc with a session bus that hangs: status 1 with the reason, and no link opens`() throws {
        let bus = try SessionBus()
        let user = try User(["DBUS_SESSION_BUS_ADDRESS": bus.address])
        try user.add()
        try user.program("xdg-open")
        bus.stop()
        let rows = [["background", "status"], ["inbox", "open"]]
        DispatchQueue.concurrentPerform(iterations: rows.count) { index in
            let outcome = try? user.nfc.run(rows[index])
            #expect(outcome?.status == 1 && outcome?.error.contains("The session bus does not answer.") == true)
        }
        #expect(user.opened.isEmpty && user.inbox.count == 1)
    }
}
