// SPDX-License-Identifier: Apache-2.0
import TagLink
import TagProtocols

/// Activates tags for programs that send commands instead of frames.
final class CardCommands: Sendable {
    private let reader: PhoneReader
    /// The card that receives commands. Reset to nil after a failed exchange.
    private let card = Locked<ISODEP?>(nil)

    init(_ reader: PhoneReader) { self.reader = reader }

    /// Sends a command to the first card that supports ISO-DEP.
    func transmit(_ command: [UInt8]) throws(SimulatorFailure) -> [UInt8] {
        do throws(LinkError) {
            let activeCard = card.withLock { $0 }
            return try immediately { [self] () throws(LinkError) in
                let card: ISODEP
                if let activeCard { card = activeCard } else { card = try await firstCard() }
                do throws(LinkError) {
                    let answer = try await card.transmit(command)
                    self.card.withLock { $0 = card }
                    return answer
                } catch {
                    self.card.withLock { $0 = nil }
                    throw error
                }
            }
        } catch {
            throw SimulatorFailure(error)
        }
    }

    /// The tags near the phone, with the data from their activation.
    func poll() throws(SimulatorFailure) -> [JSON] {
        card.withLock { $0 = nil }
        do throws(LinkError) {
            return try immediately { [self] () throws(LinkError) in try await found() }
        } catch {
            throw SimulatorFailure(error)
        }
    }

    private func start() async throws(LinkError) {
        try await reader.setCarrier(false)
        try await reader.setCarrier(true)
    }

    private func firstCard() async throws(LinkError) -> ISODEP {
        try await start()
        if let link = reader.link(for: .nfcA) {
            let targets = try? await NFCAActivation(link: link).activateAll()
            // Activation leaves the last target selected, so an earlier card must be reactivated.
            if let target = targets?.last(where: { $0.hasISODEP }) {
                if target != targets?.last { try? await NFCAActivation(link: link).reactivate(target) }
                let card = ISODEP(link: link)
                try await card.activate()
                return card
            }
        }
        if let link = reader.link(for: .nfcB),
            let target = try? await NFCBActivation(link: link).findAll().last, target.isISODEP
        {
            let card = ISODEP(link: link, opening: .attribute(target))
            try await card.activate()
            return card
        }
        throw LinkError(
            .tagRemoved,
            "No card with ISO-DEP is near the phone. Bring one near, and send the command again."
        )
    }

    private func found() async throws(LinkError) -> [JSON] {
        try await start()
        var tags: [JSON] = []
        if let link = reader.link(for: .nfcA), let targets = try? await NFCAActivation(link: link).activateAll() {
            for target in targets {
                tags.append([
                    "technology": "nfc-a", "uid": .string(target.uid.hex), "sak": JSON(target.sak.map(Int.init)),
                    "atqa": .int(Int(target.atqa)), "iso_dep": .bool(target.hasISODEP),
                ])
            }
        }
        if let link = reader.link(for: .nfcB), let targets = try? await NFCBActivation(link: link).findAll() {
            for target in targets {
                tags.append([
                    "technology": "nfc-b", "uid": .string(target.identifier.hex), "iso_dep": .bool(target.isISODEP),
                ])
            }
        }
        if let link = reader.link(for: .nfcF),
            let answers = try? await NFCFPolling(link: link).poll(systemCode: NFCFTarget.anySystemCode)
        {
            for answer in answers {
                tags.append([
                    "technology": "nfc-f", "uid": .string(answer.target.idm.hex), "pmm": .string(answer.target.pmm.hex),
                ])
            }
        }
        if let link = reader.link(for: .nfcV), let targets = try? await NFCVInventory(link: link).findAll() {
            for target in targets {
                tags.append(["technology": "nfc-v", "uid": .string(target.uid.hex), "dsfid": .int(Int(target.dsfid))])
            }
        }
        return tags
    }
}

extension NFCATarget {
    /// Whether the tag supports ISO-DEP (ISO/IEC 14443-3, 6.5.3.4).
    fileprivate var hasISODEP: Bool { sak.map { $0 & 0x20 != 0 } == true }
}
