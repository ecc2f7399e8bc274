// SPDX-License-Identifier: Apache-2.0
public import TagLink

/// A virtual MIFARE Classic, which can be found and told apart, and not read.
///
/// ```swift
/// let card = ClassicTag(ClassicContents(blank: .classic1K, uid: [0x9C, 0x0C, 0x37, 0x01]))
/// ```
///
/// Its cipher, Crypto-1, is not modelled: phones' Core NFC can't authenticate, so nothing behind the authentication can
/// be reached. The card is activated with its UID, ATQA and SAK; it answers an authentication (60, 61) with a nonce and
/// then falls silent, as it does when the reader's answer is wrong; it refuses every other command.
public final class ClassicTag: VirtualTag {
    /// What the card keeps.
    public let contents: ClassicContents
    private let silicon: Locked<ClassicSilicon>

    /// Creates a card.
    ///
    /// - Parameter contents: what it holds. A UID that has not 4, 7 or 10 octets is a mistake of the caller.
    public init(_ contents: ClassicContents) {
        precondition([4, 7, 10].contains(contents.uid.count), "a UID of NFC-A has 4, 7 or 10 octets")
        self.contents = contents
        silicon = Locked(ClassicSilicon(contents))
    }

    public var technology: Technology { .nfcA }

    public var identifier: [UInt8] { contents.uid }

    public func answer(_ request: Frame, disturbance: Disturbance?) -> TagAnswer? {
        silicon.withLock { $0.receive(request, disturbance: disturbance) }
    }

    public func losePower() {
        silicon.withLock { $0.losePower() }
    }
}
