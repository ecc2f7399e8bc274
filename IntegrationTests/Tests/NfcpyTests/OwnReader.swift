// SPDX-License-Identifier: Apache-2.0
import TagLink
import TagProtocols
import Testing
import VirtualTags

/// Our own reader, in the field that nfcpy reads.
struct OwnReader {
    let field: VirtualField

    /// Turns the field on, activates the tag, and works with it. The field is off afterwards.
    private func use<Result>(_ work: (any ForumTag) async throws -> Result) async throws -> Result {
        field.switchCarrier(false)
        field.switchCarrier(true)
        defer { field.switchCarrier(false) }
        return try await work(find())
    }

    /// The longest message that fits on the tag.
    func capacity() async throws -> Int {
        try await use { try await $0.detectNDEF().capacity }
    }

    /// Whether the tag is read-only.
    func isReadOnly() async throws -> Bool {
        try await use { try await $0.detectNDEF().access == .readOnly }
    }

    /// The message on the tag.
    func read() async throws -> [UInt8] {
        try await use { try await $0.readNDEF() }
    }

    /// Writes a message.
    func write(_ message: [UInt8]) async throws {
        try await use { try await $0.writeNDEF(message) }
    }

    private func find() async throws -> any ForumTag {
        let technology = try #require(field.tags.first).technology
        let link = try #require(field.link(for: technology))
        switch technology {
        case .nfcA:
            let target = try #require(try await NFCAActivation(link: link).activateAll(waking: true).first)
            if !target.isType1 { try await NFCAActivation(link: link).reactivate(target) }
            return try #require(makeForumTag(for: target, link: link))
        case .nfcB:
            let target = try #require(try await NFCBActivation(link: link).findAll(waking: true).first)
            return try #require(makeForumTag(for: target, link: link))
        case .nfcF:
            let target = try #require(try await NFCFPolling(link: link).poll(systemCode: 0x12FC).first).target
            return makeForumTag(for: target, link: link)
        case .nfcV:
            let target = try #require(try await NFCVInventory(link: link).findAll().first)
            return makeForumTag(for: target, link: link, isAlone: true)
        }
    }
}
