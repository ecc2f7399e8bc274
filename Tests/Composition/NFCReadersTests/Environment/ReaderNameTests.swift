// SPDX-License-Identifier: Apache-2.0
import Foundation
import NFCReaders
import NFCRuntime
import TagLink
import TagTrace
import Testing
import VirtualTags

/// Checks the readers that names select, and the messages for invalid names.
@Suite(.timeLimit(.minutes(1))) struct `Names of readers` {
    private static func reason(_ environment: NFCEnvironment) -> String? {
        guard case .none(let reason) = environment.reader else { return nil }
        return reason
    }

    @Test(arguments: [
        ("none", "NFC_READER is none, so there is no reader."),
        ("none:x", "There is no reader \"none:x\"; use virtual, pcsc, pn532:PATH, simulator, replay:FILE or none."),
        (
            "virtual:x",
            "There is no reader \"virtual:x\"; use virtual, pcsc, pn532:PATH, simulator, replay:FILE or none."
        ),
        ("VIRTUAL", "There is no reader \"VIRTUAL\"; use virtual, pcsc, pn532:PATH, simulator, replay:FILE or none."),
        (
            "a\u{1B}b",
            "There is no reader \"a\\u{1b}b\"; use virtual, pcsc, pn532:PATH, simulator, replay:FILE or none."
        ),
        (":", "There is no reader \":\"; use virtual, pcsc, pn532:PATH, simulator, replay:FILE or none."),
        ("replay", "Name the recording: replay:FILE."), ("replay:", "Name the recording: replay:FILE."),
        ("simulator:", "Name the simulator's socket: simulator:PATH, or simulator for your own."),
    ])
    func `An invalid name of a reader is reported`(name: String, reason: String) {
        let environment = NFCEnvironment(ReaderConfiguration(reader: name))
        #expect(Self.reason(environment) == reason)
        #expect(environment.driver == nil && environment.gate == nil)
        #expect(environment.recordingError == nil && environment.tagFileError == nil)
        #expect(ReaderSession(environment: environment) == nil)
    }

    @Test func `What names the reader and the images is called what it is`() {
        var configuration = ReaderConfiguration(reader: "none")
        configuration.readerSource = "--reader"
        #expect(Self.reason(NFCEnvironment(configuration)) == "--reader is none, so there is no reader.")
        configuration.reader = "virtual"
        configuration.tags = "/nonexistent.json"
        configuration.tagsSource = "--tags"
        #expect(Self.reason(NFCEnvironment(configuration))?.hasPrefix("--tags: ") == true)
    }

    @Test func `The virtual reader is one whose frames are all sent, and asks the service for the reader`() {
        let environment = NFCEnvironment(ReaderConfiguration(reader: "virtual"))
        guard case .field = environment.reader else { return #expect(Bool(false)) }
        #expect(environment.driver?.name == "virtual")
        #expect(environment.gate as? ReaderGate == .ofUser)
        #expect(environment.cardPort == nil && environment.recorder == nil)
        // Where only images are named, they are for the virtual reader.
        let images = NFCEnvironment(ReaderConfiguration(tags: "/nonexistent.json"))
        #expect(images.tagFileError?.code == .unreadable)
    }

    @Test func `A PN532 needs its line when a session begins, and is where apps are cards`() {
        let environment = NFCEnvironment(ReaderConfiguration(reader: "pn532:/dev/ttyUSB9"))
        guard case .discovering = environment.reader else { return #expect(Bool(false)) }
        #expect(environment.cardPort is PN532CardPort)
        #expect(environment.gate as? ReaderGate == .ofUser)
        for name in ["pn532", "pn532:", "pn532:/dev/ttyUSB0@12"] {
            let environment = NFCEnvironment(ReaderConfiguration(reader: name))
            #expect(Self.reason(environment)?.isEmpty == false, "\(name)")
            #expect(environment.cardPort == nil)
        }
    }

    @Test func `Where apps are cards may be named beside any reader`() {
        for (name, isThere) in [("pcsc", true), ("pcsc:/tmp/x/reader.sock", true), ("other", false), ("", false)] {
            let environment = NFCEnvironment(ReaderConfiguration(reader: "none", cardReader: name))
            #expect((environment.cardPort != nil) == isThere, "\(name)")
            // What is named comes before what the reader itself can be.
            let chip = NFCEnvironment(ReaderConfiguration(reader: "pn532:/dev/ttyUSB9", cardReader: name))
            #expect(chip.cardPort != nil && (chip.cardPort is PN532CardPort) == !isThere, "\(name)")
        }
    }

    @Test func `A recording that can't be used or made gives no reader`() throws {
        let folder = NSTemporaryDirectory() + "readers-\(UUID().uuidString.prefix(8))"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let missing = NFCEnvironment(ReaderConfiguration(reader: "replay:\(folder)/none.jsonl"))
        #expect(missing.recordingError?.code == .unreadable)
        #expect(Self.reason(missing) == missing.recordingError?.reason)
        let unmade = NFCEnvironment(ReaderConfiguration(reader: "virtual", recording: folder + "/no/a.jsonl"))
        #expect(unmade.recordingError?.code == .unwritable && unmade.driver == nil && unmade.recorder == nil)
        // On a full disk not even the first line is written.
        let full = NFCEnvironment(ReaderConfiguration(reader: "virtual", recording: "/dev/full"))
        #expect(full.recordingError != nil && full.driver == nil)
        // Where there is no reader, there is nothing to record.
        let none = NFCEnvironment(ReaderConfiguration(reader: "none", recording: folder + "/none.jsonl"))
        #expect(none.recordingError == nil && !FileManager.default.fileExists(atPath: folder + "/none.jsonl"))
        let made = NFCEnvironment(ReaderConfiguration(reader: "virtual", recording: folder + "/a.jsonl"))
        #expect(made.recorder?.path == folder + "/a.jsonl" && made.recordingError == nil)
        // It serves as a reader, which the service has no use for.
        let replay = NFCEnvironment(ReaderConfiguration(reader: "replay:\(folder)/a.jsonl"))
        #expect(replay.replay?.recording.readerName == "virtual" && replay.gate == nil)
        #expect(made.replay == nil)
        // What is recorded stays what it is.
        #expect(made.driver.flatMap { ReaderKind.of($0) }?.scheme == "virtual")
        let again = NFCEnvironment(
            ReaderConfiguration(reader: "replay:\(folder)/a.jsonl", recording: folder + "/b.jsonl")
        )
        #expect(again.recorder?.path == folder + "/b.jsonl" && again.replay?.recording.readerName == "virtual")
    }

    @Test func `A recording is not replaced by that of its own replay`() throws {
        let folder = NSTemporaryDirectory() + "readers-\(UUID().uuidString.prefix(8))"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let path = folder + "/a.jsonl"
        _ = NFCEnvironment(ReaderConfiguration(reader: "virtual", recording: path))
        let before = try Data(contentsOf: URL(fileURLWithPath: path))
        try FileManager.default.createSymbolicLink(atPath: folder + "/link", withDestinationPath: path)
        for other in [path, folder + "/link"] {
            let replay = NFCEnvironment(ReaderConfiguration(reader: "replay:\(path)", recording: other))
            #expect(replay.recordingError?.code == .unwritable && replay.driver == nil && replay.recorder == nil)
            #expect(Self.reason(replay) == "\(other) is the recording that is replayed. Record in another file.")
        }
        #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == before && !before.isEmpty)
    }

    // MARK: The service

    private static let use = "Use virtual, pcsc, pcsc:NAME, pn532:PATH, simulator, simulator:PATH or replay:FILE."
    private static let lasting = "Use pcsc, pcsc:NAME or pn532:PATH."

    @Test func `The service takes a reader that may come later`() {
        func problems(_ reader: String?) -> (service: String?, background: String?) {
            let configuration = ReaderConfiguration(reader: reader)
            return (configuration.serviceProblem, configuration.backgroundProblem)
        }
        for reader in [nil, "pcsc", "pcsc:ACS", "pn532:/dev/ttyUSB0", "pn532:/dev/ttyUSB0@9600"] {
            #expect(problems(reader) == (nil, nil), "\(reader ?? "none")")
        }
        for reader in ["virtual", "none", "replay:a.jsonl"] {
            let name = reader.prefix { $0 != ":" }
            let (service, background) = problems(reader)
            #expect(
                service
                    == "The reader \"\(name)\" finds no tags for a service. \(Self.lasting) For trials: nfc background run --tags FOLDER"
            )
            #expect(background == nil)
        }
        #expect(
            problems("pcsc:") == (
                "The reader \"pcsc:\" has no name. \(Self.lasting)", "The reader \"pcsc:\" has no name. \(Self.use)"
            )
        )
        for reader in ["web", "PCSC", "", "virtual:x", "replay:", "pn532:", "none:"] {
            #expect(problems(reader).background == "There is no reader \"\(reader)\". \(Self.use)", "\(reader)")
            #expect(problems(reader).service != nil)
        }
        #expect(problems("web").service == "There is no reader \"web\". \(Self.lasting)")
        for reader in ["pn532", "pn532:tty"] {
            #expect(
                problems(reader).service
                    == "A PN532 needs the whole path of its serial line. Use pn532:/dev/ttyUSB0, for instance."
            )
        }
        #expect(problems("pn532:/dev/ttyUSB0@12").background?.isEmpty == false)
    }

    @Test(
        arguments: [
            ("pn532:/dev/ttyUSB0", "/dev/ttyUSB0"), ("pn532:/dev/ttyUSB0@115200", "/dev/ttyUSB0"),
            (
                "pn532:/dev/serial/by-path/pci-0000:00:14.0-usb-0:1:1.0",
                "/dev/serial/by-path/pci-0000:00:14.0-usb-0:1:1.0"
            ),
            ("pcsc", nil), ("pn532", nil), ("pn532:", nil), (nil, nil),
        ] as [(String?, String?)]
    )
    func `A PN532 has a serial line`(reader: String?, line: String?) {
        #expect(ReaderConfiguration(reader: reader).serialLine == line)
    }

    @Test func `In the background there is a reader of PC/SC, or the one that is named, and no demonstration tag`()
        throws
    {
        func made(_ reader: String?, tags: String? = nil) -> NFCEnvironment {
            NFCEnvironment.background(ReaderConfiguration(reader: reader, tags: tags)) { _ in }
        }
        for reader in [nil, "pcsc", "pcsc:ACS"] {
            guard case .discovering = made(reader).reader else { return #expect(Bool(false), "\(reader ?? "")") }
        }
        guard case .field(let field) = made("virtual").reader else { return #expect(Bool(false)) }
        #expect((field as? VirtualField)?.arrival(of: [0x04, 0x68, 0x95, 0x71, 0xFA, 0x5C, 0x64]) == nil)
        for reader in ["pcsc:", "web", "none", "virtual:x", "virtual:", "none:x", "pn532", "simulator:", "replay"] {
            #expect(Self.reason(made(reader)) != nil, "\(reader)")
        }
        #expect(made(nil, tags: "/nonexistent.json").tagFileError?.code == .unreadable)
        #expect(made("replay:/nonexistent").recordingError?.code == .unreadable)
        // It does not ask a service for the reader.
        #expect(made(nil).gate == nil && made("virtual").gate == nil)
    }

    @Test func `A folder of images need not be there yet`() async throws {
        let folder = NSTemporaryDirectory() + "readers-\(UUID().uuidString.prefix(8))"
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let notices = Locked<[String]>([])
        let environment = NFCEnvironment.background(ReaderConfiguration(tags: folder)) { text in
            notices.withLock { $0.append(text) }
        }
        let driver = try #require(environment.driver)
        let error = await #expect(throws: LinkError.self) { try await driver.prepare() }
        #expect(error?.code == .readerUnavailable)
        #expect(error?.reason == "NFC_TAGS: The folder of tags \(folder) is missing. Make it, or name another.")
        #expect(
            notices.withLock { $0 } == ["NFC_TAGS: The folder \(folder) is not there. Its tags are near when it is."]
        )
        let (changes, continuation) = AsyncStream.makeStream(of: Void.self)
        let observation = driver.observePresence { continuation.yield() }
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        for await _ in changes { break }
        try await driver.prepare()
        withExtendedLifetime(observation) {}
    }
}
