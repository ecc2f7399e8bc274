// SPDX-License-Identifier: Apache-2.0
import TagLink
import TagProtocols

/// A card that a reader has found in its field and selected, and the link to it.
struct FieldCard: Sendable {
    /// The kind of the card, as found during activation.
    enum Kind: Sendable {
        case nfcA(NFCATarget)
        /// A Type 1 tag, which has no anticollision.
        case type1(NFCATarget, Type1Target)
        case nfcB(NFCBTarget)
        case nfcF(NFCFTarget)
        case nfcV(NFCVTarget)
    }

    let kind: Kind
    /// The link for frames to the card.
    let link: any FrameLink
    /// ISO-DEP, if the card supports it and the reader has started it.
    var isoDEP: ISODEP?

    /// The UID, PUPI or IDm.
    var identifier: [UInt8] {
        switch kind {
        case .nfcA(let target): target.uid
        case .type1(_, let target): target.uid
        case .nfcB(let target): target.identifier
        case .nfcF(let target): target.idm
        case .nfcV(let target): target.uid
        }
    }

    /// Whether this card may be another one, after that has lost its power.
    ///
    /// A UID of four bytes that begins with 08 is random, and so may be any PUPI: such a card takes another one each
    /// time it is powered (ISO/IEC 14443-3, 6.5.4 and 7.9.2).
    func mayBe(_ former: FieldCard) -> Bool {
        switch (kind, former.kind) {
        case (.nfcA(let now), .nfcA(let before)):
            now.uid == before.uid || [now.uid, before.uid].allSatisfy { $0.count == 4 && $0[0] == 0x08 }
        case (.nfcB, .nfcB): true
        case (.type1(_, let now), .type1(_, let before)): now.uid == before.uid
        case (.nfcF(let now), .nfcF(let before)): now.idm == before.idm
        case (.nfcV(let now), .nfcV(let before)): now.uid == before.uid
        default: false
        }
    }

    var technology: Technology { link.technology }

    /// Whether the card supports ISO-DEP, which the reader or its host may have started.
    var supportsISODEP: Bool { if case .nfcA(let target) = kind { target.isISODEP } else { isoDEP != nil } }

    /// Whether the card is a Type 1 tag.
    var isType1: Bool { if case .type1 = kind { true } else { false } }

    /// Checks whether the card is still present. It selects the card again if the check needs an activation.
    func isPresent() async -> Bool {
        if let isoDEP { return await isoDEP.isPresent() }
        switch kind {
        case .nfcA, .type1: return await select()
        case .nfcB(let target): return await hearsWakeUp(target)
        case .nfcF(let target):
            let answers = try? await NFCFPolling(link: link).poll(systemCode: target.systemCode ?? 0xFFFF)
            return answers?.contains { $0.target.idm == target.idm } ?? false
        case .nfcV(let target):
            let found = try? await NFCVInventory(link: link).findAll()
            return found?.contains { $0.uid == target.uid } ?? false
        }
    }

    /// Selects the card again after it left the selected state: after a refusal, or while another card was selected.
    ///
    /// - Returns: whether the card answered.
    @discardableResult
    func select() async -> Bool {
        switch kind {
        case .nfcA(let target):
            guard (try? await NFCAActivation(link: link).reactivate(target)) != nil else { return false }
            isoDEP?.wasActivated()
            return true
        case .type1(_, let target):
            _ = try? await NFCAActivation(link: link).activateAll(waking: true)
            return (try? await Type1Target.identify(link: link))?.uid == target.uid
        case .nfcB(let target):
            guard await hearsWakeUp(target) else { return false }
            isoDEP?.wasActivated()
            return true
        case .nfcF, .nfcV:
            return true
        }
    }

    private func hearsWakeUp(_ target: NFCBTarget) async -> Bool {
        let found = try? await NFCBActivation(link: link).findAll(waking: true)
        return found?.contains { $0.identifier == target.identifier } ?? false
    }

    /// Puts the card to sleep, so that the reader can select another one.
    func halt() async {
        if let isoDEP {
            try? await isoDEP.deselect()
            return
        }
        switch kind {
        case .nfcA: try? await NFCAActivation(link: link).halt()
        case .nfcB(let target): try? await NFCBActivation(link: link).halt(target)
        case .type1, .nfcF, .nfcV: break
        }
    }
}
