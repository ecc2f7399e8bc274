// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestThreads
import Testing

/// What the service finds on a machine of a test's own: displays, and files in its inbox that are none of its entries.
@Suite(.ownThreads, .enabled(if: Bus.isInstalled, "dbus-daemon is not installed"), .timeLimit(.minutes(5)))
struct `The machine of the service` {
    private let machine: ScratchFolder

    init() throws { machine = try ScratchFolder() }

    /// Connects a display, or changes its state.
    private func display(_ name: String, _ status: String, _ power: String) throws {
        let folder = machine.path("sys/class/drm/\(name)")
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        for (file, text) in [("status", status), ("dpms", power)] {
            try Data("\(text)\n".utf8).write(to: URL(fileURLWithPath: "\(folder)/\(file)"))
        }
    }

    private var environment: [String: String] { ["NFC_READER": "virtual", "NFC_SYSTEM_ROOT": machine.path("")] }

    @Test(
        arguments: [
            ([("connected", "Off")], false), ([("connected", "Off"), ("connected", "On")], true),
            ([("disconnected", "On"), ("connected", "Off")], false), ([("disconnected", "Off")], true),
            ([("connected", "Standby")], false),
        ] as [([(String, String)], Bool)]
    )
    func `Tags are read while one of the connected displays is on`(displays: [(String, String)], isRead: Bool) throws {
        for (index, (status, power)) in displays.enumerated() { try display("card0-DP-\(index)", status, power) }
        let service = try RunningNfcd(environment: environment)
        #expect(service.prints(isRead ? #""event":"reading""# : #""event":"not-reading""#), "\(service.log)")
        #expect(service.log.contains(#""obstacles":"display-off""#) != isRead)
        #expect(service.end() == 0)
    }

    @Test func `A tag that comes when its display has gone off without a word is left alone`() throws {
        let (tags, images) = (try ScratchFolder(), try Images())
        try display("card0-DP-1", "connected", "On")
        let service = try RunningNfcd(["--json", "--tags", tags.path("")], environment: environment)
        #expect(service.prints(#""event":"reading""#), "\(service.log)")
        try display("card0-DP-1", "connected", "Off")
        try FileManager.default.copyItem(atPath: try images.poster(), toPath: tags.path("poster.nfc"))
        #expect(service.prints(#""event":"not-eligible""#), "\(service.log)")
        #expect(service.log.contains(#""obstacles":"display-off""#))
        #expect(service.end() == 0)
        #expect(!service.log.contains(#""event":"arrived""#))
    }

    /// Whether the status says that a program has a camera open.
    private func isCameraOpen(_ service: RunningNfcd) throws -> Bool {
        let status = try #require(try service.user.nfc.run("background", "status", "--json").objects().first)
        let conditions = try #require(status["conditions"] as? [[String: Any]])
        return conditions.contains { $0["condition"] as? String == "camera" && $0["met"] as? Bool == false }
    }

    /// Makes a camera, and opens it for this process alone.
    private func openCamera() throws -> FileHandle {
        let descriptor = unsafe open(machine.path("dev/video0"), O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        try #require(descriptor >= 0)
        return FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
    }

    @Test func `While a program has a camera open tags are not read, and the camera may come later`() throws {
        try FileManager.default.createDirectory(atPath: machine.path("dev"), withIntermediateDirectories: false)
        let service = try RunningNfcd(environment: environment)
        #expect(service.prints(#""event":"reading""#), "\(service.log)")
        let camera = try openCamera()
        #expect(service.prints(#""obstacles":"camera""#), "\(service.log)")
        try camera.close()
        #expect(service.prints(#""event":"reading""#, times: 2), "\(service.log)")
        #expect(service.end() == 0)
    }

    @Test func `The log says once that tags are not read, whatever else comes to keep them from being read`() throws {
        try FileManager.default.createDirectory(atPath: machine.path("dev"), withIntermediateDirectories: false)
        try display("card0-DP-1", "connected", "Off")
        let service = try RunningNfcd(environment: environment)
        #expect(service.prints(#""obstacles":"display-off""#), "\(service.log)")
        let camera = try openCamera()
        try waitWhile(!isCameraOpen(service))
        #expect(try isCameraOpen(service))
        let states = try service.objects().filter { $0["event"] as? String == "not-reading" }
        #expect(states.compactMap { $0["obstacles"] as? String } == ["display-off"])
        #expect(service.end() == 0)
        try camera.close()
    }

    @Test func `In airplane mode tags are not read, by the radios that it began with and by what becomes of them`()
        throws
    {
        try FileManager.default.createDirectory(atPath: machine.path("dev"), withIntermediateDirectories: false)
        let path = machine.path("dev/rfkill")
        try #require(unsafe mkfifo(path, 0o600) == 0)
        let descriptor = unsafe open(path, O_RDWR | O_CLOEXEC)
        try #require(descriptor >= 0)
        let radios = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        // A radio comes, and another one that is blocked.
        radios.write(Data([0, 0, 0, 0, 1, 0, 0, 0]))
        radios.write(Data([1, 0, 0, 0, 2, 0, 1, 0]))
        let service = try RunningNfcd(environment: environment)
        #expect(service.prints(#""event":"reading""#), "\(service.log)")
        // A change that changes nothing for tags is not told.
        radios.write(Data([1, 0, 0, 0, 2, 2, 0, 1]))
        radios.write(Data([0, 0, 0, 0, 1, 2, 0, 1]))
        #expect(service.prints(#""obstacles":"airplane-mode""#), "\(service.log)")
        radios.write(Data([1, 0, 0, 0, 2, 2, 0, 0]))
        #expect(service.prints(#""event":"reading""#, times: 2), "\(service.log)")
        radios.write(Data([0, 0, 0, 0, 1, 2, 0, 1, 1, 0, 0, 0, 2, 2, 1, 0]))
        #expect(service.prints(#""obstacles":"airplane-mode""#, times: 2), "\(service.log)")
        // Without the device that reports them the radios count as on.
        try radios.close()
        #expect(service.prints(#""event":"reading""#, times: 3), "\(service.log)")
        #expect(service.end() == 0)
        #expect(try service.objects().count { $0["event"] as? String == "reading" } == 3)
    }

    @Test func `Why there is no reader is told once, whatever else keeps tags from being read meanwhile`() throws {
        try FileManager.default.createDirectory(atPath: machine.path("dev"), withIntermediateDirectories: false)
        let service = try RunningNfcd(["--json", "--reader", "none"], environment: environment)
        #expect(service.prints("Tags are not read. --reader is none, so there is no reader."), "\(service.log)")
        let camera = try openCamera()
        try waitWhile(!isCameraOpen(service))
        #expect(try isCameraOpen(service))
        try camera.close()
        try waitWhile(isCameraOpen(service))
        #expect(service.end() == 0)
        #expect(try service.objects().count { $0["event"] as? String == "not-reading" } == 1)
    }

    @Test func `A tag that comes while tags are not looked for is read when they are`() throws {
        let (tags, images) = (try ScratchFolder(), try Images())
        try FileManager.default.createDirectory(atPath: machine.path("dev"), withIntermediateDirectories: false)
        let service = try RunningNfcd(["--json", "--tags", tags.path("")], environment: environment)
        #expect(service.prints(#""event":"reading""#), "\(service.log)")
        let camera = try openCamera()
        #expect(service.prints(#""obstacles":"camera""#), "\(service.log)")
        try FileManager.default.copyItem(atPath: try images.poster(), toPath: tags.path("poster.nfc"))
        try camera.close()
        #expect(service.prints(#""event":"arrived""#), "\(service.log)")
        #expect(service.end() == 0)
        #expect(!service.log.contains(#""event":"not-eligible""#))
    }

    @Test func `A reader that goes while tags are not looked for is not taken to be there when they are`() throws {
        let place = try ScratchFolder()
        let tags = place.path("tags")
        try FileManager.default.createDirectory(atPath: tags, withIntermediateDirectories: false)
        try FileManager.default.createDirectory(atPath: machine.path("dev"), withIntermediateDirectories: false)
        let service = try RunningNfcd(["--json", "--tags", tags], environment: environment)
        #expect(service.prints(#""event":"reading""#), "\(service.log)")
        let camera = try openCamera()
        #expect(service.prints(#""obstacles":"camera""#), "\(service.log)")
        try FileManager.default.removeItem(atPath: tags)
        try camera.close()
        #expect(service.prints(#""event":"not-reading""#, times: 2), "\(service.log)")
        #expect(service.end() == 0)
        #expect(try service.objects().count { $0["event"] as? String == "reading" } == 1)
    }

    @Test(arguments: [(10, nil), (12, "So are 2 more. nfc inbox clear --damaged removes them.")] as [(Int, String?)])
    func `Ten damaged files of the inbox are named, and the others are counted`(count: Int, more: String?) throws {
        let service = try RunningNfcd { user in
            for number in 0..<count { try user.write("state/nfc/inbox/junk\(number)", "x", mode: 0o600) }
        }
        #expect(service.prints(#""event":"reading""#), "\(service.log)")
        let messages = try service.objects().filter { $0["event"] as? String == "damaged" }
            .compactMap { $0["message"] as? String }
        #expect(messages.filter { $0.contains("is damaged or not an entry") }.count == 10)
        // The first ten in the order of their names.
        #expect(messages.contains { $0.contains("The file junk9 of") } == (count == 10))
        #expect(messages.filter { $0.hasPrefix("So are") } == [more].compactMap { $0 })
        #expect(service.end() == 0)
    }

    @Test func `It ends when the bus has gone, and says so`() throws {
        let service = try RunningNfcd()
        #expect(service.prints(#""event":"reading""#), "\(service.log)")
        service.endBus()
        #expect(service.prints(#""error":"no-bus""#), "\(service.log)")
        #expect(service.end() == 1)
        #expect(!service.log.contains(#""event":"ended""#))
    }

    @Test func `It ends in order when it is interrupted, too`() throws {
        let service = try RunningNfcd()
        #expect(service.prints(#""event":"reading""#), "\(service.log)")
        kill(service.identifier, SIGINT)
        #expect(service.prints(#""event":"ended""#), "\(service.log)")
        #expect(service.end() == 0)
    }
}

@Suite(.ownThreads) struct `The log of the service` {
    @Test func `It has the time of each line, except in the journal, which has its own`() throws {
        let user = try User()
        let nfcd = Command(name: "nfcd").path
        let words = ["-u", "JOURNAL_STREAM", "-u", "INVOCATION_ID", "TZ=UTC", nfcd]
        let begin = Date()
        let alone = try Command(name: "/usr/bin/env", environment: user.nfc.environment).run(words)
        let reason = /There is no bus of the user: .+\n/
        #expect(alone.status == 1)
        let line = try #require(alone.error.wholeMatch(of: /(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d) (.+\n)/))
        #expect(line.2.wholeMatch(of: reason) != nil)
        func text(_ time: Date) -> String { String(time.formatted(.iso8601).replacing("T", with: " ").dropLast()) }
        #expect((text(begin)...text(Date())).contains(String(line.1)))
        let journal = try Command(name: "/usr/bin/env", environment: user.nfc.environment)
            .run(["JOURNAL_STREAM=8:12345", nfcd])
        #expect(journal.error.wholeMatch(of: reason) != nil, "\(journal.error)")
    }
}
