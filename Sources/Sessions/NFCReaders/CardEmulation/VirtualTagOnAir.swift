// SPDX-License-Identifier: Apache-2.0
import NFCSessions
import PN532Driver
package import TagLink
package import VirtualTags

/// A virtual tag that a real PN532 shows to phones and other readers, as an ISO/IEC 14443-4 Type A card.
package final class VirtualTagOnAir: Sendable {
    /// The chip's name, such as `PN532 v1.6 (/dev/ttyUSB0)`.
    package let name: String
    private let port: PN532CardPort
    private let card: AnsweringCard

    /// Wakes the chip, and shows the tag until ``end()``.
    ///
    /// - Parameters:
    ///   - line: the chip's line, as for the reader `pn532:LINE`.
    ///   - onCommand: called with each command of a reader and its answer, on any thread.
    ///   - onFailure: called with the reason when the chip can't be used any more, on any thread.
    /// - Throws: `LinkError` with `readerUnavailable`, `unsupported` or `cancelled`.
    package init(
        _ tag: VirtualType4Tag,
        on line: String,
        onCommand: @escaping @Sendable (_ command: [UInt8], _ answer: [UInt8]) -> Void,
        onFailure: @escaping @Sendable (LinkError) -> Void
    ) async throws(LinkError) {
        // So that a missing chip is reported before the tag is said to be shown.
        let reader = try PN532Reader(line)
        try await reader.prepare()
        await reader.release()
        name = reader.name
        port = PN532CardPort(try PN532Card(line), identity: Self.identity(of: tag), onFailure: onFailure)
        card = AnsweringCard(tag, onCommand)
        _ = port.attach(card)
        port.setEmulating(true)
    }

    /// Stops showing the tag, and closes the line.
    package func end() async {
        port.detach(card)
        await port.finish()
    }

    /// What the chip lets a card choose: three bytes of a random UID, and the historical bytes.
    private static func identity(of tag: VirtualType4Tag) -> PN532Card.Identity {
        guard case .nfcA(let uid, _, _, let ats) = tag.frontEnd else { return PN532Card.Identity() }
        let isRandom = uid.count == 4 && uid[0] == 0x08
        // T0 announces TA, TB and TC by its bits 5 to 7 (ISO/IEC 14443-4, 5.2.3).
        let interfaceBytes = ats.count > 1 ? (ats[1] & 0x70).nonzeroBitCount : 0
        return PN532Card.Identity(
            uid: isRandom ? Array(uid.dropFirst()) : nil,
            historicalBytes: Array(ats.dropFirst(2 + interfaceBytes).prefix(15))
        )
    }
}

/// Answers a reader's commands with a virtual tag's card.
private final class AnsweringCard: EmulatedCard {
    private let tag: VirtualType4Tag
    private let onCommand: @Sendable ([UInt8], [UInt8]) -> Void

    init(_ tag: VirtualType4Tag, _ onCommand: @escaping @Sendable ([UInt8], [UInt8]) -> Void) {
        self.tag = tag
        self.onCommand = onCommand
    }

    func readerDetected() { tag.losePower() }

    func received(_ apdu: [UInt8], respond: @escaping @Sendable ([UInt8]) -> Void) {
        let answer = tag.process(apdu)
        respond(answer)
        onCommand(apdu, answer)
    }

    func readerDeselected() { tag.losePower() }
}
