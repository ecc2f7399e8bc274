// SPDX-License-Identifier: Apache-2.0
import Foundation
import NFCReaders
import NFCSessions
import SessionTesting
import TagLink
import TagTrace
import Testing
import VirtualTags

/// The readers that names select, their kinds, and what is said of invalid names.
@Suite(.timeLimit(.minutes(1))) struct ReaderNameTests {
    private static func environment(_ reader: String?) -> NFCEnvironment {
        NFCEnvironment(ReaderConfiguration(reader: reader))
    }

    // MARK: Sessions

    private static let all = "use virtual, pcsc, pn532:PATH, simulator, replay:FILE or none."

    @Test(
        arguments: [
            ("none", "NFC_READER is \"none\", so no reader is used."),
            ("none:x", "The reader \"none:x\" is unknown; \(all)"),
            ("a\u{1B}b", "The reader \"a\\u{1b}b\" is unknown; \(all)"), ("VIRTUAL", nil), (":", nil),
            ("virtual:x", nil),
            ("replay", nil), ("replay:", nil), ("simulator:", nil), ("pn532", nil), ("pn532:", nil),
            ("pn532:/dev/ttyUSB0@12", nil),
        ] as [(String, String?)]
    ) func `invalid reader name: there is no reader, and the reason says why`(name: String, words: String?) {
        let environment = Self.environment(name)
        #expect(words == nil ? !reason(environment).isEmpty : reason(environment) == words)
        #expect(environment.driver == nil && environment.gate == nil && environment.cardPort == nil)
        #expect(environment.recordingError == nil && environment.tagFileError == nil)
        #expect(ReaderSession(environment: environment) == nil)
    }

    @Test func `reason for no reader: names the option or variable that is wrong`() {
        var configuration = ReaderConfiguration(reader: "none")
        configuration.readerSource = "--reader"
        #expect(reason(NFCEnvironment(configuration)) == "--reader is \"none\", so no reader is used.")
        configuration.reader = "virtual"
        configuration.tags = "/nonexistent.json"
        configuration.tagsSource = "--tags"
        #expect(reason(NFCEnvironment(configuration)).hasPrefix("--tags: "))
    }

    @Test func `valid reader name: gives a driver, gate and card port of the kind that is named`() throws {
        let rows: [(name: String, scheme: String, hasGate: Bool, isCard: Bool)] = [
            ("virtual", "virtual", true, false), ("pn532:/dev/ttyUSB9", "pn532", true, true),
            ("simulator:/nowhere", "simulator", false, false),
        ]
        for (name, scheme, hasGate, isCard) in rows {
            let environment = Self.environment(name)
            let driver = try #require(environment.driver)
            #expect(ReaderKind.all.filter { $0.owns(driver) }.map(\.scheme) == [scheme])
            #expect((environment.gate as? ReaderGate == .ofUser) == hasGate && environment.gate != nil)
            #expect((environment.cardPort is PN532CardPort) == isCard && environment.recorder == nil)
        }
        // Where only images are named, they are for the virtual reader.
        #expect(NFCEnvironment(ReaderConfiguration(tags: "/nonexistent.json")).tagFileError?.code == .unreadable)
    }

    @Test(arguments: [("pcsc", true), ("pcsc:/tmp/x/reader.sock", true), ("other", false), ("", false)])
    func `reader for cards: takes precedence over the named reader`(name: String, exists: Bool) {
        let environment = NFCEnvironment(ReaderConfiguration(reader: "none", cardReader: name))
        #expect((environment.cardPort != nil) == exists)
        let chip = NFCEnvironment(ReaderConfiguration(reader: "pn532:/dev/ttyUSB9", cardReader: name))
        #expect(chip.cardPort != nil && (chip.cardPort is PN532CardPort) == !exists)
    }

    // MARK: Recordings

    @Test func `recording: made along with a reader, replayed as a reader, and never replayed into its own file`()
        throws
    {
        let folder = try Folder()
        func environment(_ reader: String, _ recording: String? = nil) -> NFCEnvironment {
            NFCEnvironment(ReaderConfiguration(reader: reader, recording: recording))
        }
        let missing = environment("replay:\(folder.path)/none.jsonl")
        #expect(missing.recordingError?.code == .unreadable && reason(missing) == missing.recordingError?.reason)
        // On a full disk not even the first line is written.
        for path in [folder.path + "/no/a.jsonl", "/dev/full"] {
            let unmade = environment("virtual", path)
            #expect(unmade.recordingError != nil && unmade.driver == nil && unmade.recorder == nil, "\(path)")
        }
        // Where there is no reader, there is nothing to record.
        let none = environment("none", folder.path + "/none.jsonl")
        #expect(none.recordingError == nil && !FileManager.default.fileExists(atPath: folder.path + "/none.jsonl"))
        let path = folder.path + "/a.jsonl"
        let made = environment("virtual", path)
        #expect(made.recorder?.path == path && made.recordingError == nil && made.replay == nil)
        #expect(made.driver.flatMap { ReaderKind.of($0) }?.scheme == "virtual")
        // It may be recorded again, but not in its own place.
        let again = environment("replay:\(path)", folder.path + "/b.jsonl")
        #expect(again.recorder?.path == folder.path + "/b.jsonl" && again.replay?.recording.readerName == "virtual")
        let before = try folder.bytes("a.jsonl")
        try FileManager.default.createSymbolicLink(atPath: folder.path + "/link", withDestinationPath: path)
        for other in [path, folder.path + "/link"] {
            let replay = environment("replay:\(path)", other)
            #expect(replay.recordingError?.code == .unwritable && replay.driver == nil && replay.recorder == nil)
            #expect(reason(replay).hasPrefix(other))
        }
        #expect(try folder.bytes("a.jsonl") == before && !before.isEmpty)
    }

    // MARK: The service

    @Test func `reader for the service or background reading: refused where it can never find a tag`() {
        let rows: [(reader: String?, service: Bool, background: Bool)] = [
            (nil, true, true), ("pcsc", true, true), ("pcsc:ACS", true, true), ("pn532:/dev/ttyUSB0", true, true),
            ("pn532:/dev/ttyUSB0@9600", true, true), ("virtual", false, true), ("replay:a.jsonl", false, true),
            ("none", false, true), ("pcsc:", false, false), ("web", false, false), ("PCSC", false, false),
            ("", false, false), ("pn532", false, false), ("pn532:", false, false),
        ]
        for row in rows {
            let configuration = ReaderConfiguration(reader: row.reader)
            #expect((configuration.serviceProblem == nil) == row.service, "\(row)")
            #expect((configuration.backgroundProblem == nil) == row.background, "\(row)")
        }
    }

    @Test(
        arguments: [
            ("pn532:/dev/ttyUSB0", "/dev/ttyUSB0"), ("pn532:/dev/ttyUSB0@115200", "/dev/ttyUSB0"),
            ("pn532:/dev/serial/by-path/pci-0:0-usb-0:1:1.0", "/dev/serial/by-path/pci-0:0-usb-0:1:1.0"), ("pcsc", nil),
            ("pn532", nil), ("pn532:", nil), (nil, nil),
        ] as [(String?, String?)]
    ) func `PN532 reader name: serialLine is the path of its device, without the speed`(reader: String?, line: String?)
    {
        #expect(ReaderConfiguration(reader: reader).serialLine == line)
    }

    @Test func `background reading: its readers may be absent at first, have no gate, and a virtual field is empty`() {
        func made(_ reader: String?, tags: String? = nil) -> NFCEnvironment {
            NFCEnvironment.background(ReaderConfiguration(reader: reader, tags: tags)) { _ in }
        }
        for (reader, name) in [(nil, "PC/SC"), ("pcsc", "PC/SC"), ("pcsc:ACS", "ACS")] as [(String?, String)] {
            #expect(made(reader).driver?.name == name && made(reader).gate == nil)
        }
        let field = made("virtual").driver as? VirtualField
        #expect(field?.tags.isEmpty == true && made("virtual").gate == nil)
        for reader in ["pcsc:", "web", "none", "virtual:x", "virtual:", "none:x", "pn532", "simulator:", "replay"] {
            #expect(!reason(made(reader)).isEmpty, "\(reader)")
        }
        #expect(made(nil, tags: "/nonexistent.json").tagFileError?.code == .unreadable)
        #expect(made("replay:/nonexistent").recordingError?.code == .unreadable)
    }

    // MARK: Kinds

    @Test
    func `reader kinds: each has its own scheme; usage texts list the names for sessions, trials and the service`() {
        #expect(Set(ReaderKind.all.map(\.scheme)).count == ReaderKind.all.count)
        for kind in ReaderKind.all {
            for form in kind.forms { #expect(ReaderKind.named(ReaderName(form))?.scheme == kind.scheme) }
        }
        #expect(ReaderKind.usage(for: .sessions) == "virtual, pcsc[:NAME], pn532:PATH, simulator[:PATH] or replay:FILE")
        #expect(ReaderKind.usage(for: .trials) == "virtual, pcsc[:NAME] or pn532:PATH")
        #expect(ReaderKind.usage(for: .service) == "pcsc[:NAME] or pn532:PATH")
        let rows: [(String, String, String?)] = [
            ("pcsc", "pcsc", nil), ("pcsc:", "pcsc", ""), ("pcsc:A:B", "pcsc", "A:B"), ("", "", nil), (":", "", ""),
        ]
        for (text, scheme, rest) in rows {
            #expect(ReaderName(text).scheme == scheme && ReaderName(text).rest == rest, "\(text)")
        }
    }

    @Test func `inventory: lists the reader in use once, and the other readers unless the user named one`() async throws
    {
        let driver = try #require(Self.environment("pn532:/dev/no-such-line").driver)
        for isAlone in [true, false] {
            let own = await ReaderInventory(using: VirtualField(), isAlone: isAlone, askingReaders: false)
            #expect(own.used.kind == "virtual" && own.used.technologies == Set(Technology.allCases))
            #expect(!own.others.contains { $0.kind == "virtual" } && (own.others.isEmpty || !isAlone))
            let chip = await ReaderInventory(using: driver, isAlone: isAlone, askingReaders: false)
            // What is not found on the machine is described by its kind.
            #expect(chip.used.name == driver.name && chip.used.kind == "pn532" && !chip.used.capabilities.isEmpty)
            #expect(chip.used.calls?.isEmpty == false && chip.others.last?.kind == (isAlone ? nil : "virtual"))
        }
        // A driver of no kind is reported by itself.
        let reader = ActivatingReader(VirtualField())
        let model = await ReaderInventory(using: reader, among: [.virtual], isAlone: false, askingReaders: false)
        #expect(model.used.kind == nil && model.others.map(\.name) == ["virtual"])
    }

}
