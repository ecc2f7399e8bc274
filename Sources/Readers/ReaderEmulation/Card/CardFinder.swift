// SPDX-License-Identifier: Apache-2.0
import TagLink
import TagProtocols

/// Finds cards in a field, like a reader's own firmware.
struct CardFinder: Sendable {
    let field: any FieldDriver

    /// The first card found, selected; with ISO-DEP started if the card supports it.
    ///
    /// - Parameters:
    ///   - technologies: the technologies to poll for, in order.
    ///   - beginsISODEP: whether to send RATS to an NFC-A card that supports ISO-DEP.
    func findOne(_ technologies: [Technology], beginsISODEP: Bool = true) async -> FieldCard? {
        for technology in technologies {
            switch technology {
            case .nfcA:
                if let card = await findNFCA(limit: 1, beginsISODEP: beginsISODEP).first { return card }
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
    ///   - uid: the UID of the only wanted card, which is then selected by it; nil for any.
    ///   - limit: the maximum number of cards.
    ///   - beginsISODEP: whether to send RATS to a card that supports ISO-DEP.
    func findNFCA(uid: [UInt8]? = nil, limit: Int, beginsISODEP: Bool) async -> [FieldCard] {
        guard let link = field.link(for: .nfcA) else { return [] }
        let activation = NFCAActivation(link: link)
        var targets: [NFCATarget] = []
        if let uid {
            // Anticollision finds only one of several halted cards.
            if let target = try? await activation.activate(uid: uid) { targets = [target] }
        } else {
            // A card in the state ACTIVE treats the first request as an error, and answers the second.
            for _ in 0..<2 where targets.isEmpty {
                targets = (try? await activation.activateAll(waking: true, limit: limit)) ?? []
            }
            targets.removeAll { $0.sak == nil }
        }
        var cards = targets.map { target in
            FieldCard(
                kind: .nfcA(target),
                link: link,
                isoDEP: target.isISODEP && beginsISODEP ? ISODEP(link: link) : nil
            )
        }
        // Only one card is selected at a time. The others receive RATS when they are selected.
        if let last = cards.indices.last, let isoDEP = cards[last].isoDEP {
            if (try? await isoDEP.activate()) == nil { cards.remove(at: last) }
        }
        return cards
    }

    /// A Type 1 tag. It answers REQA and RID.
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
    ///   - applicationFamily: the AFI of the wanted cards; 0 for all.
    ///   - limit: the maximum number of cards.
    ///   - cid: the CID for a card that supports one; nil for none.
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

    /// A FeliCa card of any system; or of the NDEF system, if it answers only that.
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
