// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import NFCReaders
import NFCSessions
import NFCTestKit
import SimulatorTesting
import TagLink
import TestThreads
import Testing
import VirtualTags

/// What a process reads of its variables, each test in a process of its own; and the phone of a simulator.
@Suite(.timeLimit(.minutes(1))) struct ProcessEnvironmentTests {
    /// Sets variables, or unsets them.
    @Sendable private static func set(_ values: [String: String?]) {
        for (name, value) in values {
            if let value { _ = unsafe setenv(name, value, 1) } else { _ = unsafe unsetenv(name) }
        }
    }

    @Test(.ownThreads)
    func `NFC_READER, NFC_TAGS, NFC_TAGS_SAVE, NFC_CARD_READER and NFC_RECORD: each sets its configuration`() async {
        await #expect(processExitsWith: .success) {
            let names = ["NFC_READER", "NFC_TAGS", "NFC_TAGS_SAVE", "NFC_CARD_READER", "NFC_RECORD"]
            for name in names { Self.set([name: nil]) }
            #expect(ReaderConfiguration.ofProcess == ReaderConfiguration())
            for name in names { Self.set([name: ""]) }
            // An empty list of images is a field without tags.
            #expect(ReaderConfiguration.ofProcess == ReaderConfiguration(tags: ""))
            Self.set(["NFC_READER": "virtual", "NFC_TAGS": "a,b", "NFC_CARD_READER": "pcsc", "NFC_RECORD": "a.jsonl"])
            for (value, saves) in [("1", true), ("yes", true), ("0", false), ("", false)] {
                Self.set(["NFC_TAGS_SAVE": value])
                let expected = ReaderConfiguration(
                    reader: "virtual",
                    tags: "a,b",
                    savesTags: saves,
                    cardReader: "pcsc",
                    recording: "a.jsonl"
                )
                #expect(ReaderConfiguration.ofProcess == expected, "\(value)")
            }
        }
    }

    @Test(.ownThreads) func `environment of the process: used outside of tests, with the reader of NFC_READER`() async {
        await #expect(processExitsWith: .success) {
            Self.set(["NFC_READER": "none"])
            #expect(reason(NFCEnvironment.process) == #"NFC_READER is "none", so no reader is used."#)
            #expect(NFCEnvironment.current === NFCEnvironment.process)
            let test = NFCEnvironment(ReaderConfiguration(reader: "none"))
            NFCEnvironment.$scoped.withValue(test) { #expect(NFCEnvironment.current === test) }
        }
    }

    @Test(.ownThreads) func `environment of a test process: no reader by default, with a reason that names withField`()
        async
    {
        await #expect(processExitsWith: .success) {
            Self.set(["NFC_READER": nil, "NFC_TAGS": nil])
            #expect(reason(NFCEnvironment.process).contains("Call the code inside withField of NFCTestKit"))
        }
    }

    @Test(.ownThreads)
    func `reader gate: in XDG_RUNTIME_DIR if that is an absolute path, else in the user's folder of /run/user`() async {
        await #expect(processExitsWith: .success) {
            let usual = "/run/user/\(geteuid())"
            let rows: [(String?, String)] = [
                (nil, usual), ("", usual), ("run/x", usual), ("run/", usual), ("/run/x", "/run/x"), ("/", "/"),
            ]
            for (value, folder) in rows {
                Self.set(["XDG_RUNTIME_DIR": value])
                #expect(ReaderGate.ofUser.path == folder + "/nfc/background", "\(value ?? "nil")")
            }
        }
    }

    @Test(.ownThreads) func `NFC_READER=replay: the first exchange that differs is reported on standard error, once`()
        async throws
    {
        let folder = try Folder()
        let path = folder.path + "/a.jsonl"
        // A recording in which nothing was done.
        _ = NFCEnvironment(ReaderConfiguration(reader: "virtual", recording: path))
        let end = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
            [path = path as String] in
            Self.set(["NFC_READER": "replay:\(path)"])
            guard case .field(let field) = NFCEnvironment.process.reader else { exit(1) }
            for _ in 0..<2 { await #expect(throws: LinkError.self) { try await field.setCarrier(true) } }
        }
        let text = String(decoding: end?.standardErrorContent ?? [], as: UTF8.self)
        #expect(text.ranges(of: "NFC_READER: ").count == 1, "\(text)")
    }

    @Test(.ownThreads) func `NFC_READER=virtual, damaged file in the folder of NFC_TAGS: reported on standard error`()
        async throws
    {
        let folder = try Folder()
        try folder.put("hello".utf8, as: "bad\u{1B}.json")
        let end = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
            [folder = folder.path as String] in
            let configuration = ReaderConfiguration(reader: "virtual", tags: folder)
            let environment = NFCEnvironment(configuration)
            #expect(environment.driver?.name == "virtual" && environment.tagFileError == nil)
            let notices = Locked<[String]>([])
            _ = NFCEnvironment.background(configuration) { text in notices.withLock { $0.append(text) } }
            #expect(notices.withLock { $0.map { $0.hasPrefix("NFC_TAGS: \(folder)/bad") } } == [true])
        }
        let text = String(decoding: end?.standardErrorContent ?? [], as: UTF8.self)
        // The service's environment writes nothing.
        #expect(text.ranges(of: "NFC_TAGS: \(folder.path)/bad\\u{1b}.json").count == 1, "\(text)")
    }

    // MARK: The phone of a simulator

    @Test(.ownThreads)
    func `NFC_READER=simulator: the process is an app on the simulator's phone; with other readers it is not`()
        async throws
    {
        let folder = try Folder()
        await #expect(processExitsWith: .success) { [path = folder.path as String] in
            Self.set(["NFC_RECORD": path + "/a.jsonl", "NFC_SHEET": "none"])
            for name in [nil, "", "virtual", "none", "other"] as [String?] {
                Self.set(["NFC_READER": name])
                #expect(SimulatorPhone.ofProcess == nil, "\(name ?? "nil")")
            }
            // To ask for the phone opens no reader, and begins no recording.
            #expect(!FileManager.default.fileExists(atPath: path + "/a.jsonl"))
            Self.set(["NFC_READER": "simulator:\(path)/nowhere"])
            let phone = try #require(SimulatorPhone.ofProcess)
            #expect(phone === NFCEnvironment.process.host && NFCEnvironment.process.gate != nil)
            #expect(NFCEnvironment.process.sheet is HiddenSheet)
        }
    }

    /// A simulator with a tag, and the environment of its reader.
    private static func phone(_ switches: String = "", grants: Bool = false) throws -> (
        simulator: FakeSimulator, NFCEnvironment
    ) {
        let field = VirtualField()
        field.bring(VirtualType2Tag(.ntag213, uid: [0x04, 1, 2, 3, 4, 5, 6]))
        let simulator = FakeSimulator { _, request in
            if request["hello"] != nil { return ["\(FakeSimulator.greeting.dropLast())\(switches)}"] }
            guard request["do"] as? String == "claim" else { return FakeSimulator.answers(to: request, from: field) }
            return grants ? [#"{"id":\#(request["id"] ?? 0),"granted":true}"#] : []
        }
        let made = ResolvedReader(simulator.reader)
        let environment = NFCEnvironment(
            reader: made.reader,
            clock: ManualClock(),
            sheet: try #require(made.sheet),
            belongsToTest: true,
            gate: made.gate,
            host: made.host
        )
        return (simulator, environment)
    }

    @Test func `app on the simulator's phone: its events and screen reach the simulator, whose links reach the app`()
        async throws
    {
        let (simulator, environment) = try Self.phone(grants: true)
        let found = try await ReaderSession.with(environment) { _, tags in tags.count }
        #expect(found == 1)
        let phone = try #require(environment.host as? SimulatorPhone)
        let (links, opened) = AsyncStream.makeStream(of: String.self)
        phone.onLink { opened.yield("\($0) \($1) \($2)") }
        simulator.push(#"{"event":"link","activity_type":"T","url":"https://a.example/","message_hex":"d101"}"#)
        #expect(await links.first { _ in true } == "T https://a.example/ [209, 1]")
        phone.note(.began("NFCNDEFReaderSession"), of: 3)
        phone.note(.callback(name: "didDetect", detail: "1 tag"), of: 4)
        phone.note(.ended("It is over."), of: 3)
        phone.show(#"{"title":"One","items":[]}"#)
        while !simulator.lines.contains(where: { $0.contains(#""screen":{"title":"One","items":[]}"#) }) {
            try await Task.sleep(for: .milliseconds(2))
        }
        let notes = [
            #""do":"release"}"#,
            #""kind":"session","session":3,"name":"begin","detail":"NFCNDEFReaderSession"}"#,
            #""kind":"callback","session":4,"name":"didDetect","detail":"1 tag"}"#,
            #""kind":"session","session":3,"name":"invalidate","detail":"It is over."}"#,
        ]
        let lines = simulator.lines
        #expect(notes.allSatisfy { note in lines.contains { $0.hasSuffix(note) } }, "\(lines)")
    }

    @Test func `simulator that ends: a waiting claim returns nil`() async throws {
        let (simulator, environment) = try Self.phone()
        async let claim = environment.gate?.claim(for: .session, clock: environment.clock)
        while !simulator.lines.contains(where: { $0.contains("\"claim\"") }) { await Task.yield() }
        simulator.end()
        #expect(await claim == nil)
    }

    @Test(
        arguments: [
            ("", []), (#","usage_text":false"#, [.usageText]),
            (#","radio":false,"busy":true,"entitlement":false"#, [.radio, .freeReader, .entitlement]),
        ] as [(String, SessionNeeds)]
    ) func `simulator's greeting: its switches for radio, busy, entitlement and usage text are withheld from sessions`(
        switches: String,
        needs: SessionNeeds
    ) throws {
        let (simulator, environment) = try Self.phone(switches)
        #expect(environment.host?.withheld == needs)
        withExtendedLifetime(simulator) {}
    }
}
