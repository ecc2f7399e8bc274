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
    /// A UID of four bytes that begins with 08 is a random one, and so may be any PUPI: a card takes another each time
    /// that it comes to power (ISO/IEC 14443-3, 6.5.4 and 7.9.2).
    func mayBe(_ former: [UInt8]) -> Bool {
        switch kind {
        case .nfcA: identifier == former || [identifier, former].allSatisfy { $0.count == 4 && $0[0] == 0x08 }
        case .nfcB: former.count == 4
        case .type1, .nfcF, .nfcV: identifier == former
        }
    }

    var technology: Technology { link.technology }

    /// Whether the card is a Type 1 tag.
    var isType1: Bool { if case .type1 = kind { true } else { false } }

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

/// Looks for cards in a field, as a reader's own firmware does.
struct CardFinder: Sendable {
    let field: any FieldDriver

    /// The first card that is found, selected, with ISO-DEP begun where it speaks it.
    ///
    /// - Parameter technologies: what to look for, in this order.
    func findOne(_ technologies: [Technology]) async -> FieldCard? {
        for technology in technologies {
            switch technology {
            case .nfcA:
                if let card = await findNFCA(limit: 1, beginsISODEP: true).first { return card }
                if let card = await findType1() { return card }
            case .nfcB: if let card = await findNFCB(limit: 1).first { return card }
            case .nfcF: if let card = await findNFCF() { return card }
            case .nfcV: if let card = await findNFCV() { return card }
            }
        }
        return nil
    }

    /// NFC-A cards with anticollision; the last one is selected.
    ///
    /// - Parameters:
    ///   - uid: the UID of the card that is meant; nil for any.
    ///   - limit: the most cards.
    ///   - beginsISODEP: sends RATS to a card that speaks ISO-DEP.
    func findNFCA(uid: [UInt8]? = nil, limit: Int, beginsISODEP: Bool) async -> [FieldCard] {
        guard let link = field.link(for: .nfcA) else { return [] }
        let activation = NFCAActivation(link: link)
        var targets: [NFCATarget] = []
        // A card that is ACTIVE takes the first request for an error, and answers the second.
        for _ in 0..<2 where targets.isEmpty {
            targets = (try? await activation.activateAll(waking: true, limit: uid == nil ? limit : 16)) ?? []
        }
        targets.removeAll { $0.sak == nil }
        if let uid {
            targets.removeAll { $0.uid != uid }
            guard let target = targets.first, (try? await activation.reactivate(target)) != nil else { return [] }
        }
        var cards = targets.map { target in
            FieldCard(
                kind: .nfcA(target),
                link: link,
                isoDEP: target.isISODEP && beginsISODEP ? ISODEP(link: link) : nil
            )
        }
        // One card at a time is selected: the others hear RATS when it is their turn.
        if let last = cards.indices.last, let isoDEP = cards[last].isoDEP {
            if (try? await isoDEP.activate()) == nil { cards.remove(at: last) }
        }
        return cards
    }

    /// A Type 1 tag, which answers REQA and RID.
    func findType1() async -> FieldCard? {
        guard let link = field.link(for: .nfcA),
            let target = try? await NFCAActivation(link: link).activateAll(waking: true).first, target.isType1,
            let tag = try? await Type1Target.identify(link: link)
        else { return nil }
        return FieldCard(kind: .type1(target, tag), link: link)
    }

    /// NFC-B cards; the last one is selected by ATTRIB.
    ///
    /// - Parameters:
    ///   - applicationFamily: the AFI of the cards that are meant; 0 for all.
    ///   - limit: the most cards.
    ///   - cid: the CID for a card that takes one; nil for none.
    func findNFCB(applicationFamily: UInt8 = 0, limit: Int, cid: UInt8? = nil) async -> [FieldCard] {
        guard let link = field.link(for: .nfcB) else { return [] }
        let targets =
            (try? await NFCBActivation(link: link)
                .findAll(applicationFamily: applicationFamily, waking: true, limit: limit)) ?? []
        var cards = targets.map { target in
            FieldCard(
                kind: .nfcB(target),
                link: link,
                isoDEP: target.isISODEP
                    ? ISODEP(link: link, opening: .attribute(target), cid: target.supportsCID ? cid : nil) : nil
            )
        }
        if let last = cards.indices.last, let isoDEP = cards[last].isoDEP {
            if (try? await isoDEP.activate()) == nil { cards.remove(at: last) }
        }
        return cards
    }

    /// A FeliCa card of any system, or of NDEF's where it answers that alone.
    func findNFCF() async -> FieldCard? {
        guard let link = field.link(for: .nfcF) else { return nil }
        for code in [NFCFTarget.anySystemCode, NFCFTarget.ndefSystemCode] {
            if let answer = try? await NFCFPolling(link: link).poll(systemCode: code).first {
                return FieldCard(kind: .nfcF(answer.target), link: link)
            }
        }
        return nil
    }

    /// An ISO/IEC 15693 tag.
    func findNFCV() async -> FieldCard? {
        guard let link = field.link(for: .nfcV),
            let target = try? await NFCVInventory(link: link).findAll(limit: 1).first
        else { return nil }
        return FieldCard(kind: .nfcV(target), link: link)
    }
}
