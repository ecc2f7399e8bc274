// SPDX-License-Identifier: Apache-2.0
import TagLink
import TagProtocols

/// A card that a reader has found and selected, with the link to that card.
struct FieldCard: Sendable {
    /// The kind of the card, as found during activation.
    enum Kind: Sendable {
        case nfcA(NFCATarget)
        case type1(NFCATarget, Type1Target)
        case nfcB(NFCBTarget)
        case nfcF(NFCFTarget)
        case nfcV(NFCVTarget)
    }

    let kind: Kind
    let link: any FrameLink
    /// ISO-DEP, if the card supports it and the reader has started it.
    var isoDEP: ISODEP?
    let classic = ClassicCommands()

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

    /// Returns whether this card may be the former card, after that card has lost its power.
    ///
    /// A UID of four bytes that begins with 08 is random, and any PUPI may be random. Such a card changes its
    /// identifier each time it is powered (ISO/IEC 14443-3, 6.5.4 and 7.9.2).
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

    /// Whether the card supports ISO-DEP. The reader or its host may have started ISO-DEP.
    var supportsISODEP: Bool { if case .nfcA(let target) = kind { target.isISODEP } else { isoDEP != nil } }

    var isClassic: Bool { if case .nfcA(let target) = kind { target.isMIFAREClassic } else { false } }

    var isType1: Bool { if case .type1 = kind { true } else { false } }

    /// Checks whether the card is still present. Selects the card again if the check needs an activation.
    func isPresent() async -> Bool {
        if let isoDEP { return await isoDEP.isPresent() }
        switch kind {
        case .nfcA:
            // The host still needs an authentication, which the check ends.
            let authentication = classic.authentication
            guard await select() else { return false }
            if let authentication { _ = try? await classic.execute(authentication, over: link) }
            return true
        case .type1: return await select()
        case .nfcB(let target): return await answersWakeUp(target)
        case .nfcF(let target):
            let answers = try? await NFCFPolling(link: link).poll(systemCode: target.systemCode ?? 0xFFFF)
            return answers?.contains { $0.target.idm == target.idm } ?? false
        case .nfcV(let target):
            let found = try? await NFCVInventory(link: link).findAll()
            return found?.contains { $0.uid == target.uid } ?? false
        }
    }

    /// Selects the card again after a refusal, or after another card was selected. Returns whether the card answered.
    @discardableResult
    func select() async -> Bool {
        switch kind {
        case .nfcA(let target):
            guard (try? await NFCAActivation(link: link).reactivate(target)) != nil else { return false }
            isoDEP?.wasActivated()
            classic.wasActivated()
            return true
        case .type1(_, let target):
            _ = try? await NFCAActivation(link: link).activateAll(waking: true)
            return (try? await Type1Target.identify(link: link))?.uid == target.uid
        case .nfcB(let target):
            guard await answersWakeUp(target) else { return false }
            isoDEP?.wasActivated()
            return true
        case .nfcF, .nfcV:
            return true
        }
    }

    private func answersWakeUp(_ target: NFCBTarget) async -> Bool {
        let found = try? await NFCBActivation(link: link).findAll(waking: true)
        return found?.contains { $0.identifier == target.identifier } ?? false
    }

    /// Halts the card, so that the reader can select another card.
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

/// Finds cards in a field, like a reader's own firmware.
struct CardFinder: Sendable {
    let field: any FieldDriver

    /// Returns the first card found, selected. ISO-DEP is started if the card supports it.
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

    /// Finds NFC-A cards with anticollision, or the card with a given UID. The last card is selected. `beginsISODEP`
    /// decides whether RATS is sent.
    func findNFCA(uid: [UInt8]? = nil, limit: Int, beginsISODEP: Bool) async -> [FieldCard] {
        guard let link = field.link(for: .nfcA) else { return [] }
        let activation = NFCAActivation(link: link)
        var targets: [NFCATarget] = []
        if let uid {
            // If several cards are halted, anticollision finds only one of them.
            if let target = try? await activation.activate(uid: uid) { targets = [target] }
        } else {
            // A card in the state ACTIVE treats the first request as an error, and answers the second request.
            for _ in 0..<2 where targets.isEmpty {
                targets = (try? await activation.activateAll(waking: true, limit: limit)) ?? []
            }
            targets.removeAll { $0.sak == nil }
        }
        let cards = targets.map { target in
            FieldCard(
                kind: .nfcA(target),
                link: link,
                isoDEP: target.isISODEP && beginsISODEP ? ISODEP(link: link) : nil
            )
        }
        return await activatingLast(cards)
    }

    /// Activates the last card, the only one that is selected. Others get RATS or ATTRIB when they are selected.
    private func activatingLast(_ cards: [FieldCard]) async -> [FieldCard] {
        guard let isoDEP = cards.last?.isoDEP, (try? await isoDEP.activate()) == nil else { return cards }
        return Array(cards.dropLast())
    }

    /// Finds a Type 1 tag, which answers REQA and RID.
    func findType1() async -> FieldCard? {
        guard let link = field.link(for: .nfcA),
            let target = try? await NFCAActivation(link: link).activateAll(waking: true).first, target.isType1,
            let tag = try? await Type1Target.identify(link: link)
        else { return nil }
        return FieldCard(kind: .type1(target, tag), link: link)
    }

    /// Finds NFC-B cards of a family (AFI; 0 for all). ATTRIB selects the last card, with the CID if supported.
    func findNFCB(applicationFamily: UInt8 = 0, limit: Int, cid: UInt8? = nil) async -> [FieldCard] {
        guard let link = field.link(for: .nfcB) else { return [] }
        let targets =
            (try? await NFCBActivation(link: link)
                .findAll(applicationFamily: applicationFamily, waking: true, limit: limit)) ?? []
        let cards = targets.map { target in
            FieldCard(
                kind: .nfcB(target),
                link: link,
                isoDEP: target.isISODEP
                    ? ISODEP(link: link, opening: .attribute(target), cid: target.supportsCID ? cid : nil) : nil
            )
        }
        return await activatingLast(cards)
    }

    /// Finds a FeliCa card of any system, or of the NDEF system if the card only answers to that system.
    func findNFCF() async -> FieldCard? {
        guard let link = field.link(for: .nfcF) else { return nil }
        for code in [NFCFTarget.anySystemCode, NFCFTarget.ndefSystemCode] {
            if let answer = try? await NFCFPolling(link: link).poll(systemCode: code).first {
                return FieldCard(kind: .nfcF(answer.target), link: link)
            }
        }
        return nil
    }

    func findNFCV() async -> FieldCard? {
        guard let link = field.link(for: .nfcV),
            let target = try? await NFCVInventory(link: link).findAll(limit: 1).first
        else { return nil }
        return FieldCard(kind: .nfcV(target), link: link)
    }
}

/// Sends frames for a host that chooses who handles the checksums.
extension FrameLink {
    /// Sends at least one byte and waits for the answer. Fewer than 8 bits in the last byte exclude a checksum.
    /// Otherwise `appends` and `removes` decide whether the reader handles the checksums of request and answer.
    func transceive(
        raw bytes: [UInt8],
        bitsOfLastByte: Int = 8,
        appends: Bool,
        removes: Bool,
        timeout: Airtime
    ) async throws(LinkError) -> Frame {
        guard bitsOfLastByte == 8 else {
            let frame = Frame(bits: bytes, validBitsInLastByte: bitsOfLastByte)
            return try await transceive(frame, timeout: timeout)
        }
        // The link handles both checksums or none. If the host wants only one of them, this function handles it.
        if appends == removes {
            return try await transceive(Frame(bytes, checksum: appends ? .automatic : .none), timeout: timeout)
        }
        let sent = appends ? bytes + technology.checksum(bytes) : bytes
        var answer = try await transceive(Frame(sent, checksum: .none), timeout: timeout)
        if removes, answer.validBitsInLastByte == 8, answer.bytes.count > 2 {
            let payload = Array(answer.bytes.dropLast(2))
            guard technology.checksum(payload) == Array(answer.bytes.suffix(2)) else {
                throw LinkError(.transmission, "The answer's checksum is wrong.")
            }
            answer.bytes = payload
        }
        return answer
    }
}
