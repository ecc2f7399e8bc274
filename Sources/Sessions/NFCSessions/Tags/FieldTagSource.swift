// SPDX-License-Identifier: Apache-2.0
import TagLink
import TagProtocols

/// The tags in the field of a reader whose host sends every frame.
final class FieldTagSource: TagSource {
    private let driver: any FieldDriver
    private let carrierIsOn = Locked(false)

    init(driver: any FieldDriver) {
        self.driver = driver
    }

    func find(_ plan: PollingPlan) async throws(TagError) -> (tags: [ActivatedTag], selected: ActivatedTag?) {
        if carrierIsOn.withLock({ $0 }) { try await setCarrier(false) }
        try await setCarrier(true)
        return try await FieldTagFinder(driver: driver, plan: plan).find()
    }

    func wake(_ tag: ActivatedTag) async throws(TagError) {
        if let link = tag.link {
            switch tag.target {
            case .nfcA(let target) where target.isType1:
                // There is no anticollision: every command carries the UID.
                break
            case .nfcA(let target):
                try await NFCAActivation(link: link).reactivate(target)
            case .nfcB(let target):
                let present = try await NFCBActivation(link: link).findAll(waking: true)
                guard present.contains(where: { $0.identifier == target.identifier }) else {
                    throw TagError(.tagLost, "The card does not answer any more.")
                }
            case .nfcF, .nfcV:
                // Every command carries the identifier.
                break
            }
        }
        await tag.wasActivated()
    }

    func letGo(of tag: ActivatedTag) async throws(TagError) {
        if let card = tag.card as? ISODEP {
            // If the card does not answer the deselection, the activation of the other tag has to be enough.
            try? await card.deselect()
        }
        // Any unknown command deselects the tag; HLTA is the regular way.
        if case .nfcA = tag.target, let link = tag.link { try await NFCAActivation(link: link).halt() }
    }

    func checkPresence(_ tag: ActivatedTag) async -> Bool {
        switch tag.target {
        case .nfcA(let target) where !target.isISODEP && !target.isType1:
            // The tag went to sleep when it refused the command. Activating it wakes it again.
            guard let link = tag.link, (try? await NFCAActivation(link: link).reactivate(target)) != nil else {
                return false
            }
            tag.forumTag?.wasActivated()
            return true
        case .nfcA where tag.card != nil, .nfcB:
            return false
        default:
            return await tag.forumTag?.isPresent() == true
        }
    }

    func isPresent(_ tag: ActivatedTag) async -> Bool {
        if let isPresent = await tag.isPresent() { return isPresent }
        return (try? await wake(tag)) != nil
    }

    /// A field driver notices the cancellation of the task.
    func interrupt() {}

    func shutDown() async {
        // If the reader can't even turn its field off, there is nothing else to do.
        if carrierIsOn.withLock({ $0 }) { try? await setCarrier(false) }
    }

    private func setCarrier(_ isOn: Bool) async throws(TagError) {
        do {
            try await driver.setCarrier(isOn)
            carrierIsOn.withLock { $0 = isOn }
        } catch {
            throw TagError(.readerUnavailable, error.reason, link: error)
        }
    }
}
