// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import NFCReaders
import NFCRuntime
import TagLink
import TestThreads
import Testing

/// Checks what a process reads of its variables. Each test asks a process of its own.
@Suite(.timeLimit(.minutes(1))) struct `The variables of a process` {
    @Test(.ownThreads) func `name nothing where they are unset or empty`() async {
        await #expect(processExitsWith: .success) {
            let names = ["NFC_READER", "NFC_TAGS", "NFC_TAGS_SAVE", "NFC_CARD_READER", "NFC_RECORD"]
            for name in names { _ = unsafe unsetenv(name) }
            #expect(ReaderConfiguration.ofProcess == ReaderConfiguration())
            for name in names { _ = unsafe setenv(name, "", 1) }
            // An empty list of images is a field without tags.
            #expect(ReaderConfiguration.ofProcess == ReaderConfiguration(tags: ""))
            _ = unsafe setenv("NFC_READER", "virtual", 1)
            #expect(NFCEnvironment.process.driver?.name == "virtual")
            #expect(NFCEnvironment.process.cardPort == nil && NFCEnvironment.process.recorder == nil)
        }
    }

    @Test(.ownThreads) func `name the reader, its images, the recording and the reader of cards`() async {
        await #expect(processExitsWith: .success) {
            let values = [
                ("NFC_READER", "pn532:/dev/ttyS7"), ("NFC_TAGS", "a.json,b.json"), ("NFC_CARD_READER", "pcsc"),
                ("NFC_RECORD", "a.jsonl"),
            ]
            for (name, value) in values { _ = unsafe setenv(name, value, 1) }
            for (value, saves) in [("1", true), ("yes", true), ("0", false), ("", false)] {
                _ = unsafe setenv("NFC_TAGS_SAVE", value, 1)
                let expected = ReaderConfiguration(
                    reader: "pn532:/dev/ttyS7",
                    tags: "a.json,b.json",
                    savesTags: saves,
                    cardReader: "pcsc",
                    recording: "a.jsonl"
                )
                #expect(ReaderConfiguration.ofProcess == expected, "\(value)")
            }
        }
    }

    @Test(.ownThreads) func `make the environment of sessions outside of tests`() async {
        await #expect(processExitsWith: .success) {
            _ = unsafe setenv("NFC_READER", "none", 1)
            #expect(reason(NFCEnvironment.process) == "NFC_READER is none, so there is no reader.")
            #expect(NFCEnvironment.current === NFCEnvironment.process)
            let test = NFCEnvironment(ReaderConfiguration(reader: "none"))
            NFCEnvironment.$scoped.withValue(test) { #expect(NFCEnvironment.current === test) }
        }
    }

    @Test(.ownThreads) func `choose the sheet of a simulator only where none is named`() async {
        await #expect(processExitsWith: .success) {
            let configuration = ReaderConfiguration(reader: "simulator:/tmp/ocn-nowhere/socket")
            _ = unsafe setenv("NFC_SHEET", "none", 1)
            #expect(NFCEnvironment(configuration).sheet is HiddenSheet)
            _ = unsafe unsetenv("NFC_SHEET")
            let environment = NFCEnvironment(configuration)
            // The phone of a simulator gives turns itself.
            #expect(environment.gate != nil)
            let sheet = environment.sheet
            #expect(!(sheet is HiddenSheet) && !(sheet is PlainTextSheet) && !(sheet is TerminalSheet))
        }
    }

    // MARK: The phone of a simulator

    @Test(.ownThreads) func `make the process an app on a simulator's phone, and on no other reader`() async throws {
        let path = NSTemporaryDirectory() + "phone-\(UUID().uuidString.prefix(8)).jsonl"
        await #expect(processExitsWith: .success) { [path = path as String] in
            _ = unsafe setenv("NFC_RECORD", path, 1)
            for name in [nil, "", "virtual", "none", "other"] {
                if let name { _ = unsafe setenv("NFC_READER", name, 1) } else { _ = unsafe unsetenv("NFC_READER") }
                #expect(SimulatorPhone.ofProcess == nil, "\(name ?? "nil")")
            }
        }
        // To ask for the phone opens no reader, and begins no recording.
        #expect(!FileManager.default.fileExists(atPath: path))
        for name in ["simulator", "simulator:/tmp/ocn-nowhere/socket"] {
            await #expect(processExitsWith: .success) { [name = name as String] in
                _ = unsafe setenv("NFC_READER", name, 1)
                let phone = try #require(SimulatorPhone.ofProcess)
                #expect(phone === NFCEnvironment.process.host && phone === SimulatorPhone.ofProcess)
            }
        }
    }

    // MARK: The service's gate

    @Test(.ownThreads) func `name the folder of the service's gate, if it is a whole path`() async {
        await #expect(processExitsWith: .success) {
            let usual = "/run/user/\(geteuid())"
            let values = [
                (nil, usual), ("", usual), ("run/x", usual), ("run/", usual), ("/run/x", "/run/x"), ("/", "/"),
            ]
            for (value, folder) in values as [(String?, String)] {
                if let value {
                    _ = unsafe setenv("XDG_RUNTIME_DIR", value, 1)
                } else {
                    _ = unsafe unsetenv("XDG_RUNTIME_DIR")
                }
                #expect(ReaderGate.ofUser.path == folder + "/nfc/background", "\(value ?? "nil")")
            }
        }
    }

    // MARK: A recording

    @Test(.ownThreads) func `may name a recording, and where an app departs from it is on standard error, once`()
        async throws
    {
        let path = NSTemporaryDirectory() + "replay-\(UUID().uuidString.prefix(8)).jsonl"
        defer { try? FileManager.default.removeItem(atPath: path) }
        // A recording in which nothing was done.
        let recorded = NFCEnvironment(ReaderConfiguration(reader: "virtual", recording: path))
        #expect(recorded.recordingError == nil)
        let end = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
            [path = path as String] in
            _ = unsafe setenv("NFC_READER", "replay:\(path)", 1)
            guard case .field(let field) = NFCEnvironment.process.reader else { exit(1) }
            for _ in 0..<2 {
                await #expect(throws: LinkError.self) { try await field.setCarrier(true) }
            }
        }
        let text = String(decoding: end?.standardErrorContent ?? [], as: UTF8.self)
        #expect(text.ranges(of: "NFC_READER: ").count == 1, "\(text)")
    }

    // MARK: A folder of images

    @Test(.ownThreads) func `may name a folder of images, whose faults an app reads on standard error`() async throws {
        let folder = NSTemporaryDirectory() + "process-\(UUID().uuidString.prefix(8))"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try Data("hello".utf8).write(to: URL(fileURLWithPath: folder + "/bad\u{1B}.json"))
        let end = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
            [folder = folder as String] in
            let configuration = ReaderConfiguration(reader: "virtual", tags: folder)
            let environment = NFCEnvironment(configuration)
            #expect(environment.driver?.name == "virtual" && environment.tagFileError == nil)
            let notices = Locked<[String]>([])
            let service = NFCEnvironment.background(configuration) { text in notices.withLock { $0.append(text) } }
            #expect(service.driver?.name == "virtual")
            let texts = notices.withLock { $0 }
            #expect(texts.count == 1 && texts.first?.hasPrefix("NFC_TAGS: \(folder)/bad") == true)
        }
        let text = String(decoding: end?.standardErrorContent ?? [], as: UTF8.self)
        // The app's environment alone writes it.
        #expect(text.ranges(of: "NFC_TAGS: \(folder)/bad\\u{1b}.json").count == 1, "\(text)")
    }
}

/// Why an environment has no reader; nil when it has one.
private func reason(_ environment: NFCEnvironment) -> String? {
    guard case .none(let reason) = environment.reader else { return nil }
    return reason
}
