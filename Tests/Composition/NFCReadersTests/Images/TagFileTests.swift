// SPDX-License-Identifier: Apache-2.0
import Foundation
import NFCReaders
import NFCRuntime
import NFCTestKit
import SessionTesting
import TagImages
import TagLink
import TagProtocols
import Testing
import VirtualCards
import VirtualTags

/// Checks the image files whose tags are near the virtual reader of a process.
@Suite(.timeLimit(.minutes(1))) struct `Image files of the virtual reader` {
    private static let message: [UInt8] = [0xD1, 0x01, 0x04, 0x54, 0x02, 0x65, 0x6E, 0x48]

    /// A folder of a test's own.
    private final class Folder {
        let path = NSTemporaryDirectory() + "images-\(UUID().uuidString.prefix(8))"

        init() throws { try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true) }

        deinit { try? FileManager.default.removeItem(atPath: path) }

        @discardableResult
        func put(_ bytes: [UInt8], as name: String) throws -> String {
            try Data(bytes).write(to: URL(fileURLWithPath: "\(path)/\(name)"))
            return "\(path)/\(name)"
        }

        func put(_ contents: TagContents, as name: String) throws -> String {
            try put(try TagImage(contents).encoded(), as: name)
        }

        func bytes(_ name: String) throws -> [UInt8] {
            Array(try Data(contentsOf: URL(fileURLWithPath: "\(path)/\(name)")))
        }

        /// The number of a file on its disk: another one when the file was written again.
        func number(_ name: String) throws -> Int? {
            try FileManager.default.attributesOfItem(atPath: "\(path)/\(name)")[.systemFileNumber] as? Int
        }
    }

    private static func ntag(_ number: UInt8) -> TagContents {
        .type2(Type2Contents(blank: .ntag213, uid: [4, 1, 2, 3, 4, 5, number]))
    }

    private static func environment(_ tags: String?, saves: Bool = false) -> NFCEnvironment {
        NFCEnvironment(ReaderConfiguration(reader: "virtual", tags: tags, savesTags: saves))
    }

    /// Runs a session that connects to the tag with an identifier, and reads or writes it.
    private static func session(
        _ environment: NFCEnvironment,
        writing message: [UInt8]? = nil,
        to identifier: [UInt8]? = nil
    ) async throws -> [[UInt8]] {
        let session = try #require(ReaderSession(environment: environment))
        let (events, continuation) = AsyncStream.makeStream(of: ReaderSession.Event.self)
        session.observe { event in
            continuation.yield(event)
            if case .ended = event { continuation.finish() }
        }
        session.begin()
        var identifiers: [[UInt8]] = []
        for await case .detected(let tags) in events {
            identifiers = tags.map(\.target.identifier)
            if let message, let tag = tags.first(where: { $0.target.identifier == identifier }) {
                _ = await session.connects(to: tag)
                let written: Result<Void, CommandError> = await handedOver { done in
                    session.perform(
                        on: tag,
                        { tag throws(TagError) in
                            _ = try await tag.detectNDEF()
                            try await tag.writeNDEF(message)
                        },
                        completion: done
                    )
                }
                try written.get()
            }
            session.invalidate()
        }
        return identifiers
    }

    @Test func `Each file that is named is near, and a file that has changed is written after the session`()
        async throws
    {
        let folder = try Folder()
        let paths = try (1...3).map { try folder.put(Self.ntag($0), as: "\($0).json") }
        let environment = Self.environment(paths.joined(separator: ","), saves: true)
        #expect(environment.tagFileError == nil)
        let before = try (1...3).map { try folder.number("\($0).json") }
        let uid: [UInt8] = [4, 1, 2, 3, 4, 5, 2]
        let near = try await Self.session(environment, writing: Self.message, to: uid)
        #expect(Set(near) == Set((1...3).map { [4, 1, 2, 3, 4, 5, $0] }))
        let image = try TagImage(parsing: try folder.bytes("2.json"))
        let written = try await TagDesk.read(image.contents).message
        #expect(written == Self.message)
        // What has not changed is not written again, and neither is it after a session that wrote nothing.
        let after = try (1...3).map { try folder.number("\($0).json") }
        #expect(after[0] == before[0] && after[1] != before[1] && after[2] == before[2])
        _ = try await Self.session(environment)
        #expect(try folder.number("2.json") == after[1])
        _ = try await Self.session(environment, writing: [], to: uid)
        #expect(try folder.number("2.json") != after[1])
        #expect(environment.tagSaver?.failure == nil)
    }

    @Test func `Without the wish to save a file stays as it is`() async throws {
        let folder = try Folder()
        let path = try folder.put(Self.ntag(1), as: "1.json")
        let before = try folder.bytes("1.json")
        let environment = Self.environment(path)
        #expect(environment.tagSaver == nil)
        _ = try await Self.session(environment, writing: Self.message, to: [4, 1, 2, 3, 4, 5, 1])
        #expect(try folder.bytes("1.json") == before)
    }

    @Test func `A file with keys or passwords is for its owner alone, and another one for all`() async throws {
        let folder = try Folder()
        var secret = Type2Contents(blank: .ntag213, uid: [4, 1, 2, 3, 4, 5, 1])
        secret.memory.replaceSubrange(0x2B * 4..<0x2C * 4, with: [1, 2, 3, 4])
        let paths = [
            try folder.put(.type2(secret), as: "secret.json"), try folder.put(Self.ntag(2), as: "open.json"),
        ]
        let environment = Self.environment(paths.joined(separator: ","), saves: true)
        // A file that is there keeps its mode.
        for path in paths { try FileManager.default.removeItem(atPath: path) }
        for number: UInt8 in 1...2 {
            _ = try await Self.session(environment, writing: Self.message, to: [4, 1, 2, 3, 4, 5, number])
        }
        let modes = try ["secret.json", "open.json"].map {
            try FileManager.default.attributesOfItem(atPath: "\(folder.path)/\($0)")[.posixPermissions] as? Int
        }
        #expect(modes[0] == 0o600)
        #expect(modes[1].map { $0 & 0o444 } == 0o444)
    }

    @Test func `A file that can't be written is reported, and the others are still written`() async throws {
        let folder = try Folder()
        try FileManager.default.createDirectory(atPath: folder.path + "/gone", withIntermediateDirectories: true)
        let paths = [
            try folder.put(Self.ntag(1), as: "gone/1.json"), try folder.put(Self.ntag(2), as: "2.json"),
        ]
        let environment = Self.environment(paths.joined(separator: ","), saves: true)
        try FileManager.default.removeItem(atPath: folder.path + "/gone")
        for number: UInt8 in 1...2 {
            _ = try await Self.session(environment, writing: Self.message, to: [4, 1, 2, 3, 4, 5, number])
        }
        #expect(environment.tagSaver?.failure?.code == .unwritable)
        #expect(environment.tagSaver?.failure?.reason.contains(folder.path + "/gone") == true)
        #expect(
            try await TagDesk.read(try TagImage(parsing: try folder.bytes("2.json")).contents).message == Self.message
        )
        // When it can be written again, it is, and nothing is wrong any more.
        try FileManager.default.createDirectory(atPath: folder.path + "/gone", withIntermediateDirectories: true)
        _ = try await Self.session(environment)
        #expect(environment.tagSaver?.failure == nil)
        #expect(try !folder.bytes("gone/1.json").isEmpty)
    }

    private static func reason(_ environment: NFCEnvironment) -> String? {
        guard case .none(let reason) = environment.reader else { return nil }
        return reason
    }

    @Test func `A file that can't be used gives no reader, and a reason that names it`() throws {
        let folder = try Folder()
        let good = try folder.put(Self.ntag(1), as: "1.json")
        let missing = folder.path + "/missing.json"
        let cases: [(String, String, TagFileError.Code)] = [
            (missing, missing, .unreadable),
            (good + "," + missing, missing, .unreadable),
            (folder.path + "/\u{FFFD}.json", "is not UTF-8. Rename the file.", .unreadable),
            (try folder.put(Array("hello".utf8), as: "text.json"), "text.json: ", .image(.unknownFormat)),
            (
                try folder.put(
                    Array("Filetype: Flipper NFC device\nVersion: 4\nDevice type: NTAG/Ultralight\n?".utf8),
                    as: "a.nfc"
                ),
                "a.nfc, line 4: ", .image(.malformed)
            ),
            (
                try folder.put([UInt8](repeating: 0x20, count: TagImage.maximumSize + 1), as: "large.json"),
                "large.json", .image(.tooLarge)
            ),
            (
                try folder.put([UInt8](repeating: 0x20, count: TagImage.maximumSize + 1), as: "\u{FFFD}.nfc"),
                ".nfc", .image(.tooLarge)
            ),
        ]
        for (tags, part, code) in cases {
            let environment = Self.environment(tags)
            #expect(environment.tagFileError?.code == code, "\(environment.tagFileError?.description ?? "none")")
            let reason = try #require(Self.reason(environment))
            #expect(reason.hasPrefix("NFC_TAGS: ") && reason.contains(part), "\(reason)")
            if part == missing { #expect(!reason.contains("UTF-8"), "\(reason)") }
            #expect(environment.tagFileError.map { reason.hasSuffix($0.reason) } == true)
        }
    }

    @Test func `Without a name there is the demonstration tag, which is not saved`() async throws {
        let environment = Self.environment(nil, saves: true)
        #expect(environment.tagSaver == nil)
        #expect(try await Self.session(environment) == [[0x04, 0x68, 0x95, 0x71, 0xFA, 0x5C, 0x64]])
    }

    @Test func `Errors are equal by their codes, and say them`() throws {
        let folder = try Folder()
        let errors = [Self.environment(folder.path + "/a.json"), Self.environment(folder.path + "/b.json")]
            .compactMap(\.tagFileError)
        #expect(errors.count == 2 && errors[0] == errors[1] && Set(errors).count == 1)
        #expect(errors[0].reason != errors[1].reason)
        #expect(errors[0].description.hasPrefix("unreadable-file: "))
        #expect(TagFileError.Code.image(.malformed).description == TagImageError.Code.malformed.description)
    }
}
