// SPDX-License-Identifier: Apache-2.0
import TagLink
import TagProtocols

/// A card that a reader has found in its field and selected, with the way to talk to it.
struct FieldCard: Sendable {
    /// What the card is, as its activation found it.
    enum Kind: Sendable {
        case nfcA(NFCATarget)
        /// A Type 1 tag, which has no anticollision.
        case type1(NFCATarget, Type1Target)
        case nfcB(NFCBTarget)
        case nfcF(NFCFTarget)
        case nfcV(NFCVTarget)
    }

    let kind: Kind
    /// Frames to the card.
    let link: any FrameLink
    /// ISO-DEP, where the card speaks it and the reader has begun it.
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

    /// Whether a card that had this identifier before it lost its power may be this one.
    ///
    /// A UID of four octets that begins with 08 is a random one, and so may be any PUPI: a card takes another each time
    /// that it comes to power (ISO/IEC 14443-3, 6.5.4 and 7.9.2).
    func mayBe(_ former: [UInt8]) -> Bool {
        switch kind {
        case .nfcA: identifier == former || [identifier, former].allSatisfy { $0.count == 4 && $0[0] == 0x08 }
        case .nfcB: former.count == 4
        case .type1, .nfcF, .nfcV: identifier == former
        }
    }

    var technology: Technology { link.technology }

    /// Finds out whether the card is still there. It is selected anew where that takes an activation.
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

    /// Selects the card again after it has fallen back: after a refusal, or while another one was selected.
    ///
    /// - Returns: whether it answered.
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

    /// Sends the card to sleep, so that another one can be talked to.
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
