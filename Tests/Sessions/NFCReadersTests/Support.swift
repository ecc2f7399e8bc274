// SPDX-License-Identifier: Apache-2.0
import Foundation
import NFCReaders
import NFCSessions
import ProgramTesting
import TagImages
import TagLink
import TagProtocols
import Testing
import VirtualTags

/// A short message: the text "H".
let message: [UInt8] = [0xD1, 0x01, 0x04, 0x54, 0x02, 0x65, 0x6E, 0x48]

func uid(_ number: UInt8) -> [UInt8] { [4, 1, 2, 3, 4, 5, number] }

func ntag(_ number: UInt8) -> TagContents { .type2(Type2Contents(blank: .ntag213, uid: uid(number))) }

/// Why an environment has no reader; empty when it has one.
func reason(_ environment: NFCEnvironment) -> String {
    guard case .none(let reason) = environment.reader else { return "" }
    return reason
}

/// A folder of a test's own. Its path is short, so that it may have sockets.
final class Folder: Sendable {
    let path = "/tmp/ocn-\(UUID().uuidString.prefix(8))"

    init() throws {
        let attributes: [FileAttributeKey: Any] = [.posixPermissions: 0o700]
        try FileManager.default.createDirectory(
            atPath: path,
            withIntermediateDirectories: true,
            attributes: attributes
        )
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    /// Writes a file, and returns its path.
    @discardableResult func put(_ bytes: some Sequence<UInt8>, as name: String) throws -> String {
        try ProgramFile.write(Data(bytes), to: "\(path)/\(name)", mode: 0o644)
        return "\(path)/\(name)"
    }

    /// Writes the image of a tag.
    @discardableResult func put(_ contents: TagContents, as name: String) throws -> String {
        try put(try TagImage(contents).encoded(), as: name)
    }

    func bytes(_ name: String) throws -> [UInt8] {
        Array(try Data(contentsOf: URL(fileURLWithPath: "\(path)/\(name)")))
    }
}

extension ReaderSession {
    /// Runs a session until its end.
    ///
    /// - Parameter body: is given the tags that were found, and returns nil to have the session look for others.
    static func with<Value>(
        _ environment: NFCEnvironment,
        _ body: (ReaderSession, [ConnectableTag]) async throws -> Value?
    ) async throws -> Value {
        let session = try #require(ReaderSession(environment: environment))
        let (events, continuation) = AsyncStream.makeStream(of: ReaderSession.Event.self)
        session.observe { event in
            continuation.yield(event)
            if case .ended = event { continuation.finish() }
        }
        session.begin()
        var result: Result<Value, any Error>?
        for await event in events {
            switch event {
            case .detected(let tags):
                do {
                    guard let value = try await body(session, tags) else {
                        session.restartPolling(skippingReported: true)
                        continue
                    }
                    result = .success(value)
                } catch {
                    result = .failure(error)
                }
                session.invalidate()
            case .ended(.terminatedUnexpectedly(let reason)):
                result = result ?? .failure(LinkError(.readerUnavailable, reason))
            default: break
            }
        }
        return try #require(result).get()
    }

    /// Connects to a tag, and does something with its message.
    func use<Value: Sendable>(
        _ tag: ConnectableTag,
        _ body: @escaping @Sendable (any ForumTag) async throws(TagError) -> Value
    ) async throws -> Value {
        try await work(with: tag) { tag throws(TagError) in try await body(tag.ndef) }
    }
}
