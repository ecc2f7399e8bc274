// SPDX-License-Identifier: Apache-2.0
package import ReaderEmulation
import TagLink
package import VirtualTags

/// Puts a card that another host emulates into a reader's virtual field.
package final class VirtualFieldCardSlot: CardSlot {
    private let field: VirtualField
    private let seconds: Int
    private let tag = Locked<HostedCardTag?>(nil)

    /// Creates an empty slot.
    ///
    /// - Parameter seconds: how long the card's host may take to answer. Readers wait 5 seconds at most.
    package init(_ field: VirtualField, answersWithin seconds: Int = 5) {
        self.field = field
        self.seconds = seconds
    }

    package func bring(_ card: HostedCard) {
        remove()
        card.allow(seconds: seconds)
        let new = HostedCardTag(card)
        tag.withLock { $0 = new }
        field.bring(new)
    }

    package func remove() {
        if let old = tag.withLock({ $0.take() }) { field.remove(old) }
    }
}

/// A card in a virtual field that another host emulates. The card handles activation and blocks like a Type 4 tag, and
/// passes commands to its host.
private final class HostedCardTag: VirtualTag {
    private let host: HostedCard
    private let tag: VirtualType4Tag

    init(_ host: HostedCard) {
        self.host = host
        let identity = host.identity
        tag = VirtualType4Tag(
            card: HostedCardProxy(host: host),
            frontEnd: .nfcA(
                uid: identity.uid,
                atqa: identity.atqa,
                sak: identity.sak,
                ats: identity.answerToSelect
            ),
            // The host has chosen the UID.
            changesRandomUID: false
        )
    }

    var technology: Technology { .nfcA }
    var identifier: [UInt8] { host.identity.uid }

    func answer(_ request: Frame, injectedFault: InjectedFault?) -> TagAnswer? {
        guard host.isListening, let answer = tag.answer(request, injectedFault: injectedFault), host.isListening else {
            return nil
        }
        switch request.bytes.first {
        case 0xE0: host.activated()
        // S(DESELECT), without and with a CID.
        case 0xC2, 0xCA: host.deselected()
        default: break
        }
        return answer
    }

    func losePower() {
        tag.losePower()
        host.lostField()
    }
}

private struct HostedCardProxy: Card {
    let host: HostedCard

    func process(_ message: [UInt8], tear: TornWrite?) -> CardAnswer {
        // If the host does not answer, nothing is sent.
        CardAnswer(host.respond(to: message) ?? [])
    }

    func losePower() {}
}
