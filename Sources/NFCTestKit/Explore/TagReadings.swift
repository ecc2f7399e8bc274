// SPDX-License-Identifier: Apache-2.0
import NFCRuntime
import TagLink
import TagProtocols
import VirtualTags

/// What tags hold for NDEF. Most runs of an exploration leave one of a few contents, and each is read once.
final class TagReadings: Sendable {
    typealias Reading = (access: NDEFDetection.Access, capacity: Int, message: [UInt8])

    private let known = Locked<[TagContents: Result<Reading, TagError>]>([:])
    private static let limit = 64

    func read(_ contents: TagContents) async throws(TagError) -> Reading {
        if let result = known.withLock({ $0[contents] }) { return try result.get() }
        let result: Result<Reading, TagError>
        do throws(TagError) {
            result = .success(try await TagDesk.read(contents))
        } catch {
            result = .failure(error)
        }
        known.withLock { known in
            if known.count < Self.limit { known[contents] = result }
        }
        return try result.get()
    }
}
