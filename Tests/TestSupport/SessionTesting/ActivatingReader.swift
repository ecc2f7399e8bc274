// SPDX-License-Identifier: Apache-2.0
package import TagLink
import TagProtocols
package import VirtualTags

/// A reader over a virtual field. It finds and activates tags itself, and sends no activation frames for the caller.
package final class ActivatingReader: DiscoveringDriver {
    package let name = "model"
    package let technologies = Set(Technology.allCases)
    private let field: VirtualField
    package var statistics: LinkStatistics { field.statistics }

    package init(_ field: VirtualField) { self.field = field }

    package func observePresence(_ handler: @escaping @Sendable () -> Void) -> PresenceObservation? {
        field.observePresence(handler)
    }

    package func discover(
        _ technologies: Set<Technology>,
        systemCodes: [UInt16]
    ) async throws(LinkError) -> [DiscoveredTag] {
        try await field.setCarrier(true)
        do throws(TagError) {
            return try await found(systemCodes)
        } catch {
            throw LinkError(.transmission, error.reason)
        }
    }

    private func found(_ systemCodes: [UInt16]) async throws(TagError) -> [DiscoveredTag] {
        var found: [DiscoveredTag] = []
        if let link = field.link(for: .nfcA) {
            for target in try await NFCAActivation(link: link).activateAll() {
                let own = OwnLink(link, nfcA: target)
                let identity = DiscoveredTag.Identity.nfcA(atqa: target.atqa, sak: target.sak, uid: target.uid)
                found.append(DiscoveredTag(identity: identity, port: .frames(own)))
            }
        }
        if let link = field.link(for: .nfcF) {
            for answer in try await NFCFPolling(link: link).poll(systemCode: systemCodes.first ?? 0xFFFF) {
                let target = answer.target
                let identity = DiscoveredTag.Identity.nfcF(
                    idm: target.idm,
                    pmm: target.pmm,
                    systemCode: target.systemCode
                )
                found.append(DiscoveredTag(identity: identity, port: .frames(OwnLink(link))))
            }
        }
        if let link = field.link(for: .nfcV) {
            for target in try await NFCVInventory(link: link).findAll() {
                let identity = DiscoveredTag.Identity.nfcV(uid: target.uid, dsfid: target.dsfid)
                found.append(DiscoveredTag(identity: identity, port: .frames(OwnLink(link))))
            }
        }
        return found
    }

    package func select(_ tag: DiscoveredTag) async throws(LinkError) {
        if case .frames(let link) = tag.port { try await link.reactivate() }
    }

    package func release() async {
        try? await field.setCarrier(false)
    }
}

/// The link to one tag.
private final class OwnLink: SelfActivatingLink {
    private let link: any FrameLink
    private let target: NFCATarget?
    var technology: Technology { link.technology }
    var maximumFrameLength: Int { link.maximumFrameLength }
    var statistics: LinkStatistics { link.statistics }

    init(_ link: any FrameLink, nfcA target: NFCATarget? = nil) {
        self.link = link
        self.target = target
    }

    func transceive(_ frame: Frame, timeout: Airtime) async throws(LinkError) -> Frame {
        if technology == .nfcA, frame.bitCount == 7 {
            throw LinkError(.unsupported, "This reader selects its tags by itself.")
        }
        return try await link.transceive(frame, timeout: timeout)
    }

    func reactivate() async throws(LinkError) {
        guard let target else { return }
        do throws(TagError) {
            try await NFCAActivation(link: link).reactivate(target)
        } catch {
            throw LinkError(.timeout, error.reason)
        }
    }
}
