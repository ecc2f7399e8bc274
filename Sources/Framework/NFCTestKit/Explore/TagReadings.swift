// SPDX-License-Identifier: Apache-2.0
import NFCSessions
import TagLink
import TagProtocols
import VirtualTags

/// The NDEF contents of tags. Most runs of an exploration leave one of a few contents, so each of them is read only
/// once.
final class TagReadings: Sendable {
    typealias Reading = (access: NDEFDetection.Access, capacity: Int, message: [UInt8])

    /// Tag contents with a quick hash. The contents in an exploration mostly differ at the beginning of a memory.
    /// Hashing all of it would take longer than comparing it with the few that begin alike.
    private struct Key: Hashable {
        let contents: TagContents
        private let number: UInt64

        init(_ contents: TagContents) {
            self.contents = contents
            var number: UInt64 = 0
            for area in contents.areas.prefix(4) {
                for byte in area.bytes.prefix(64) { number = number &* 31 &+ UInt64(byte) }
            }
            self.number = number
        }

        static func == (one: Key, other: Key) -> Bool { one.number == other.number && one.contents == other.contents }

        func hash(into hasher: inout Hasher) { hasher.combine(number) }
    }

    private let known = Locked<[Key: Result<Reading, TagError>]>([:])
    private static let limit = 64

    func read(_ contents: TagContents) async throws(TagError) -> Reading {
        let key = Key(contents)
        if let result = known.withLock({ $0[key] }) { return try result.get() }
        let result: Result<Reading, TagError>
        do throws(TagError) {
            result = .success(try await contents.readNDEF())
        } catch {
            result = .failure(error)
        }
        known.withLock { known in
            if known.count < Self.limit { known[key] = result }
        }
        return try result.get()
    }
}
