// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestThreads
import Testing
import UserBus

/// What the service saves of a tag, and what becomes of it when it can't.
@Suite(.ownThreads, .enabled(if: Bus.isInstalled, "dbus-daemon is not installed"), .timeLimit(.minutes(5)))
struct `The inbox of the service` {
    private let tags: ScratchFolder
    private let images: Images

    init() throws {
        tags = try ScratchFolder()
        images = try Images()
    }

    /// Brings a tag to the reader.
    private func bring(_ image: String, _ name: String) throws {
        try FileManager.default.copyItem(atPath: image, toPath: tags.path(name))
    }

    /// The entries, as another program lists them.
    private func entries(_ service: RunningNfcd) throws -> [[String: Any]] {
        try service.user.nfc.run("inbox", "list", "--json").objects()
    }

    @Test func `An entry has the time when its tag came`() throws {
        let service = try RunningNfcd(["--json", "--log-content", "--tags", tags.path("")])
        #expect(service.prints(#""event":"reading""#), "\(service.log)")
        let start = Int(Date().timeIntervalSince1970 * 1000)
        try bring(try images.poster(), "poster.nfc")
        #expect(service.prints(#""event":"arrived""#), "\(service.log)")
        let end = Int(Date().timeIntervalSince1970 * 1000)
        let times = try entries(service).compactMap { $0["received_ms"] as? Int }
        #expect(times.count == 1 && times.allSatisfy { (start...end).contains($0) }, "\(times)")
        let arrived = try #require(try service.objects().first { $0["event"] as? String == "arrived" })
        #expect(try entries(service).first?["id"] as? String == arrived["id"] as? String)
        let time = try #require((arrived["ms"] as? String).flatMap { Double($0) })
        #expect(time >= 0 && time < 120_000)
        let message = try #require(arrived["message"] as? String)
        // A virtual tag may answer sooner than its airtime, which is therefore no part of the time.
        let airtime = try #require(arrived["air_ms"] as? String)
        let text = "A tag was read: \(arrived["ms"] as? String ?? "") ms. The airtime is \(airtime) ms. "
        #expect(message.hasPrefix(text) && message.contains("example.com"), "\(message)")
        #expect(service.end() == 0)
    }

    @Test func `How long a tag took is told with its first notification alone`() throws {
        // No program opens the link.
        let service = try RunningNfcd(
            ["--json", "--tags", tags.path("")],
            environment: ["NFC_READER": "virtual", "PATH": "/nowhere"]
        )
        #expect(service.prints(#""event":"reading""#), "\(service.log)")
        try bring(try images.poster(), "poster.nfc")
        #expect(service.prints(#""event":"arrived""#), "\(service.log)")
        let id = try #require(try entries(service).first?["id"] as? String)
        #expect(try open(id, service) == [.string("opening")])
        #expect(service.prints(#""event":"not-delivered""#), "\(service.log)")
        #expect(service.end() == 0)
        let events = try service.objects().compactMap { $0["event"] as? String }
        #expect(events.count { $0 == "arrived" } == 1)
        #expect(events.filter { ["not-delivered", "stays"].contains($0) } == ["not-delivered", "stays"])
    }

    /// Asks the service to open an entry.
    private func open(_ id: String, _ service: RunningNfcd) throws -> [BusValue] {
        let address = service.user.nfc.environment["DBUS_SESSION_BUS_ADDRESS"]
        let call = BusCall(RunningNfcd.object, "Open", [.string(id)])
        return try BusConnection(.user, address: address).ask(call, within: 30)
    }

    /// The superuser may write to every folder, unless this is taken away.
    private static let wrapper =
        geteuid() == 0 ? ["/usr/bin/setpriv", "--bounding-set=-dac_override,-dac_read_search"] : []
    private static let canLose = wrapper.first.map(FileManager.default.isExecutableFile(atPath:)) ?? true

    @Test(.enabled(if: canLose, "setpriv is not installed"))
    func `What the disk does not take is reported once, and saved when the disk takes it again`() throws {
        let service = try RunningNfcd(["--json", "--tags", tags.path("")], under: Self.wrapper)
        #expect(service.prints(#""event":"reading""#), "\(service.log)")
        let inbox = service.user.scratch.path("state/nfc/inbox")
        func allow(_ mode: Int) throws {
            try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: inbox)
        }
        func problem() throws -> String? {
            let status = try #require(try service.user.nfc.run("background", "status", "--json").objects().first)
            return status["inbox_problem"] as? String
        }
        func failures() throws -> Int { try service.objects().filter { $0["error"] as? String == "inbox" }.count }
        #expect(try problem() == nil)
        try allow(0o500)
        try bring(try images.poster(), "poster.nfc")
        #expect(service.prints(#""event":"not-kept""#), "\(service.log)")
        #expect(try failures() == 1)
        #expect(try problem()?.isEmpty == false)
        try bring(try images.locked(), "locked.nfc")
        #expect(service.prints(#""event":"not-kept""#, times: 2), "\(service.log)")
        #expect(try failures() == 1 && entries(service).isEmpty)
        // Both wait, though none of them is on the disk.
        let status = try #require(try service.user.nfc.run("background", "status", "--json").objects().first)
        #expect(status["waiting"] as? Int == 2)
        try allow(0o700)
        #expect(service.prints(#""event":"kept""#, times: 2), "\(service.log)")
        #expect(try entries(service).count == 2 && problem() == nil)
        #expect(!service.log.contains("example.com"))
        #expect(service.end() == 0)
    }

    #if DEBUG
        @Test func `A service that is killed when it is about to show a link leaves it in the inbox`() throws {
            let service = try RunningNfcd(environment: ["NFC_READER": "virtual", "NFC_DIE_AT": "before-announcing"]) {
                _ = try $0.add("https://b.example/1")
            }
            // Without a desktop it would say that it can't be shown.
            #expect(!service.prints(#""event":"not-shown""#), "\(service.log)")
            let left = try entries(service)
            #expect(left.count == 1 && left.first?["announced"] as? Bool == false)
        }

        @Test func `A service that is killed when it is about to show a link has told how long its tag took`() throws {
            let service = try RunningNfcd(
                ["--json", "--tags", tags.path("")],
                environment: ["NFC_READER": "virtual", "NFC_DIE_AT": "before-announcing"]
            )
            #expect(service.prints(#""event":"reading""#), "\(service.log)")
            try bring(try images.poster(), "poster.nfc")
            #expect(service.prints(#""event":"arrived""#), "\(service.log)")
            #expect(try entries(service).count == 1)
        }

        @Test(arguments: [("before-storing", 0), ("stored", 1)])
        func `A service that is killed while it stores a link has it whole or not at all`(step: String, count: Int)
            throws
        {
            let service = try RunningNfcd(
                ["--json", "--tags", tags.path("")],
                environment: ["NFC_READER": "virtual", "NFC_DIE_AT": step]
            )
            #expect(service.prints(#""event":"reading""#), "\(service.log)")
            try bring(try images.poster(), "poster.nfc")
            #expect(!service.prints(#""event":"arrived""#), "\(service.log)")
            #expect(try entries(service).count == count)
        }

        @Test(arguments: ["delivering", "delivered"])
        func `A service that is killed while it opens a link leaves it in the inbox`(step: String) throws {
            let environment = ["NFC_READER": "virtual", "NFC_DIE_AT": step, "PATH": "/nowhere"]
            let service = try RunningNfcd(environment: environment) { _ = try $0.add("https://b.example/1") }
            #expect(service.prints(#""event":"reading""#), "\(service.log)")
            let id = try #require(try entries(service).first?["id"] as? String)
            // The service may be gone before it answers.
            _ = try? open(id, service)
            #expect(!service.prints(#""event":"not-delivered""#), "\(service.log)")
            #expect(try entries(service).count == 1)
        }
    #endif
}
