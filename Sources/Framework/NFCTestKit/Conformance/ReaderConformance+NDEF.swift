// SPDX-License-Identifier: Apache-2.0
import NFCSessions
import TagLink
import TagProtocols
import VirtualTags

extension ReaderConformance {
    static let message: [UInt8] = [0xD1, 0x01, 0x10, 0x55, 0x04] + Array("example.com/one".utf8)
    static let longMessage: [UInt8] = [0xD1, 0x01, 0x55, 0x55, 0x04] + [UInt8](repeating: 0x61, count: 84)

    private typealias Body = @Sendable (ConformanceTag, ConformanceStage) async throws -> Void

    private static let uses: [(name: String, body: Body)] = [
        ("is found, with status and capacity", find),
        ("is written, checked and read", write),
        ("is locked, and can't be changed afterwards", lock),
        ("is reported as unformatted", unformatted),
        ("is lost during a write, and not damaged", lose),
        ("is found again, and another one after it", repoll),
        ("is noticed when it leaves, even without a command", leave),
        ("arrives after the session has started", arriveLate),
    ]

    static func scenarios(of tag: ConformanceTag) -> [Scenario] {
        uses.map { use in Scenario("\(tag.name): \(use.name)", needs: tag.needs) { try await use.body(tag, $0) } }
    }

    @Sendable private static func find(_ tag: ConformanceTag, _ stage: ConformanceStage) async throws {
        stage.setup.field.bring(try tag.make())
        let found = try await stage.scanOne()
        try stage.expect(found.target.technology == tag.technology, "The tag was found in \(found.target.technology).")
        try stage.expect(found.target.identifier == tag.identifier, "The UID was read as \(found.target.identifier).")
        try await stage.connect(to: found)
        let type = try await stage.perform(on: found) { $0.type?.rawValue ?? 0 }
        let detection = try await stage.detect(on: found)
        try stage.expect(type == tag.type, "The tag was reported as a Type \(type) tag.")
        try stage.expect(detection.access == .readWrite, "The tag is writable, but reported as read-only.")
        let capacity = detection.capacity
        try stage.expect(capacity == tag.capacity, "The capacity is \(tag.capacity) bytes, not \(capacity).")
    }

    @Sendable private static func write(_ tag: ConformanceTag, _ stage: ConformanceStage) async throws {
        stage.setup.field.bring(try tag.make())
        for message in [message, longMessage, []] {
            let found = try await stage.connectOne()
            try await stage.write(message, to: found)
            try await stage.perform(on: found) { tag throws(TagError) in try await tag.checkNDEF(message) }
            let read = try await stage.read(from: stage.connectOne())
            try stage.expect(
                read == message,
                "\(message.count) bytes were written, but \(read.count) different ones were read."
            )
        }
        let tooLong = [UInt8](repeating: 0, count: tag.capacity + 1)
        let code = await stage.error(on: try await stage.connectOne()) { tag throws(TagError) in
            _ = try await tag.detectNDEF()
            try await tag.writeNDEF(tooLong)
        }
        try stage.expect(code == .messageTooLong, "Writing a message that does not fit ended with \(words(for: code)).")
    }

    @Sendable private static func lock(_ tag: ConformanceTag, _ stage: ConformanceStage) async throws {
        stage.setup.field.bring(try tag.make())
        let found = try await stage.connectOne()
        try await stage.write(message, to: found)
        let failure = await stage.error(on: found) { tag throws(TagError) in try await tag.lock() }
        let again = try await stage.connectOne()
        let detection = try await stage.detect(on: again)
        if !tag.canLock {
            try stage.expect(failure == .keyNeeded, "A lock that needs a key ended with \(words(for: failure)).")
            return try stage.expect(detection.access == .readWrite, "A failed lock has locked the tag.")
        }
        try stage.expect(detection.access == .readOnly, "The tag is locked, but reported as writable.")
        try stage.expect(failure == nil, "The lock succeeded on the tag, but ended with \(words(for: failure)).")
        let code = await stage.error(on: again) { tag throws(TagError) in try await tag.writeNDEF(longMessage) }
        try stage.expect(code == .readOnly, "A write to a locked tag ended with \(words(for: code)).")
        let read = try await stage.read(from: again)
        try stage.expect(read == message, "The message of a locked tag has changed.")
    }

    @Sendable private static func unformatted(_ tag: ConformanceTag, _ stage: ConformanceStage) async throws {
        stage.setup.field.bring(try tag.makeUnformatted())
        let found = try await stage.connectOne()
        let code = await stage.error(on: found) { tag throws(TagError) in try await tag.detectNDEF() }
        let codes: [TagError.Code] = [.noCapabilityContainer, .badVersion, .badChecksum, .noMessageTLV]
        let isExpected = code.map(codes.contains) == true
        try stage.expect(isExpected, "Reading an unformatted tag ended with \(words(for: code)).")
    }

    @Sendable private static func lose(_ tag: ConformanceTag, _ stage: ConformanceStage) async throws {
        let virtual = try tag.make()
        stage.setup.field.bring(virtual)
        let found = try await stage.connectOne()
        try await stage.write(message, to: found)
        stage.setup.field.arm(.tear(afterWrite: 1))
        let code = await stage.error(on: found) { tag throws(TagError) in try await tag.writeNDEF(longMessage) }
        try stage.expect(code == .tagLost, "Taking the tag away ended with \(words(for: code)).")
        try stage.expect(!found.isAvailable, "A lost tag is still available.")
        stage.setup.field.arm(FaultPlan())
        stage.setup.field.bring(virtual)
        let again = try await stage.connectOne()
        let read = try? await stage.read(from: again)
        // A Type 3 tag reports that a write was interrupted, and can be written again.
        let isWhole = read.map { [[], message, longMessage].contains($0) } ?? (tag.type == 3)
        try stage.expect(isWhole, "A tag that was lost during a write is damaged.")
        try await stage.perform(on: again) { tag throws(TagError) in try await tag.writeNDEF(longMessage) }
        // The current session may return cached data, so a new session reads the tag.
        let rewritten = try await stage.read(from: stage.connectOne())
        try stage.expect(rewritten == longMessage, "A tag that was lost during a write can no longer be written.")
    }

    @Sendable private static func repoll(_ tag: ConformanceTag, _ stage: ConformanceStage) async throws {
        let first = try tag.make()
        stage.setup.field.bring(first)
        let found = try await stage.scanOne()
        stage.restartPolling()
        let again = try stage.one(of: try await stage.nextTags())
        try stage.expect(!found.isAvailable, "A tag of an earlier search is still available.")
        try stage.expect(again.target.identifier == found.target.identifier, "The same tag has another UID.")
        stage.setup.field.remove(first)
        let other = try tag.make(last: 0x77)
        stage.restartPolling()
        stage.setup.field.bring(other)
        let next = try stage.one(of: try await stage.nextTags())
        try stage.expect(next.target.identifier != found.target.identifier, "Another tag has the UID of the first.")
    }

    @Sendable private static func leave(_ tag: ConformanceTag, _ stage: ConformanceStage) async throws {
        let virtual = try tag.make()
        stage.setup.field.bring(virtual)
        let found = try await stage.scanOne()
        try stage.expect(found.isNear, "A tag that was just found is not available.")
        try await stage.connect(to: found)
        _ = try await stage.detect(on: found)
        for _ in 0..<3 {
            try await stage.connect(to: found)
            try stage.expect(found.isNear, "A tag in the field is no longer available.")
        }
        stage.setup.field.remove(virtual)
        try await stage.connectUntilLost(found)
        try stage.expect(!found.isNear, "A tag that has left is still available.")
        stage.setup.field.bring(virtual)
        stage.restartPolling()
        let again = try stage.one(of: try await stage.nextTags())
        try await stage.connect(to: again)
        try stage.expect(again.isNear && !found.isNear, "A tag that came back is not reported as a new tag.")
    }

    @Sendable private static func arriveLate(_ tag: ConformanceTag, _ stage: ConformanceStage) async throws {
        let looks = stage.setup.field.statistics.exchanges
        async let scan = stage.scanOne()
        let end = ContinuousClock.now + .seconds(2)
        // After this loop, the reader has polled an empty field or is waiting for an event.
        while stage.setup.field.statistics.exchanges == looks, ContinuousClock.now < end {
            try await Task.sleep(for: .milliseconds(1))
        }
        stage.setup.field.bring(try tag.make())
        let found = try await scan
        try stage.expect(found.target.identifier == tag.identifier, "The UID was read as \(found.target.identifier).")
    }

    private static func words(for code: TagError.Code?) -> String { code.map { "\($0)" } ?? "no error" }
}
