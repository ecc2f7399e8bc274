// SPDX-License-Identifier: Apache-2.0
package import Dispatch
import Foundation
package import NFCRuntime
import TagLink
import TagProtocols

/// Which of the four kinds a tag is, and its properties.
package enum TagIdentity: Sendable, Hashable {
    case iso7816(ISO7816Identity)
    case miFare(MiFareIdentity)
    case feliCa(FeliCaIdentity)
    case iso15693(ISO15693Identity)

    /// Identifies a tag by what it reported during detection; nil for a tag that phones don't detect, such as a MIFARE
    /// Classic.
    ///
    /// - Parameters:
    ///   - detected: the session's handle of the tag.
    ///   - hasApplicationList: whether the app lists applications. If not, every card that is not a MIFARE card counts
    ///     as an ISO 7816 tag with no application selected.
    package init?(_ detected: DetectedTag, hasApplicationList: Bool) {
        switch detected.target {
        case .nfcA(let target):
            guard let identity = Self.nfcA(target, detected, hasApplicationList) else { return nil }
            self = identity
        case .nfcB(let target):
            guard detected.selectedApplication != nil || detected.supportsPACE || !hasApplicationList else {
                return nil
            }
            let identity = ISO7816Identity(
                initialSelectedAID: detected.selectedApplication.map { Data($0).hex.uppercased() } ?? "",
                identifier: target.identifier,
                applicationData: target.applicationData,
                proprietaryApplicationDataCoding: target.hasProprietaryApplicationData,
                supportsPACE: detected.supportsPACE
            )
            self = .iso7816(identity)
        case .nfcF(let target):
            let code = target.systemCode ?? 0xFFFF
            self = .feliCa(FeliCaIdentity(systemCode: code.bigEndianOctets, idm: target.idm))
        case .nfcV(let target):
            self = .iso15693(ISO15693Identity(uid: target.uid))
        }
    }

    private static func nfcA(
        _ target: NFCATarget,
        _ detected: DetectedTag,
        _ hasApplicationList: Bool
    ) -> TagIdentity? {
        let historicalBytes = detected.answerToSelect?.historicalBytes
        let isNXP = target.manufacturer == 0x04
        if target.isISODEP {
            if detected.selectedApplication != nil || detected.supportsPACE || !hasApplicationList && !isNXP {
                return .iso7816(
                    ISO7816Identity(
                        initialSelectedAID: detected.selectedApplication.map { Data($0).hex.uppercased() } ?? "",
                        identifier: target.uid,
                        historicalBytes: historicalBytes,
                        supportsPACE: detected.supportsPACE
                    )
                )
            }
            // The historical bytes of a MIFARE Plus begin with the tag C1 05 (NXP AN10833).
            let isPlus = historicalBytes?.starts(with: [0xC1, 0x05]) == true
            let family: NFCMiFareFamily = isPlus ? .plus : isNXP ? .desfire : .unknown
            return .miFare(
                MiFareIdentity(
                    family: family,
                    identifier: target.uid,
                    historicalBytes: historicalBytes,
                    takesISODEP: true
                )
            )
        }
        guard target.isType2 else { return nil }
        let family: NFCMiFareFamily = isNXP ? .ultralight : .unknown
        return .miFare(MiFareIdentity(family: family, identifier: target.uid, takesISODEP: false))
    }

    /// The polling options that find such a tag; each of them is sufficient.
    var options: NFCTagReaderSession.PollingOption {
        switch self {
        case .iso7816: [.iso14443, .pace]
        case .miFare: .iso14443
        case .feliCa: .iso18092
        case .iso15693: .iso15693
        }
    }
}

extension NFCTag {
    /// Creates the object that stands for a tag.
    ///
    /// - Parameters:
    ///   - identity: what the tag is.
    ///   - detected: the session's handle of it.
    ///   - channel: the channel for its commands.
    ///   - session: the session that found it.
    ///   - queue: where completion handlers are called.
    ///   - configuration: what the app declares.
    package init(
        _ identity: TagIdentity,
        detected: DetectedTag,
        channel: any TagCommandChannel,
        session: NFCReaderSession?,
        queue: DispatchQueue,
        configuration: AppConfiguration = .current
    ) {
        let surroundings = TagSurroundings(
            detected: detected,
            channel: channel,
            session: session,
            queue: queue,
            configuration: configuration
        )
        switch identity {
        case .iso7816(let identity): self = .iso7816(DetectedISO7816Tag(identity, in: surroundings))
        case .miFare(let identity): self = .miFare(DetectedMiFareTag(identity, in: surroundings))
        case .feliCa(let identity): self = .feliCa(DetectedFeliCaTag(identity, in: surroundings))
        case .iso15693(let identity): self = .iso15693(DetectedISO15693Tag(identity, in: surroundings))
        }
    }
}

extension NFCReaderSession {
    /// The object for a tag that the session found; nil for a tag that phones don't detect.
    func tag(for detected: DetectedTag) -> (tag: NFCTag, options: NFCTagReaderSession.PollingOption)? {
        guard let identity = TagIdentity(detected, hasApplicationList: hasApplicationList) else { return nil }
        let tag = NFCTag(
            identity,
            detected: detected,
            channel: RuntimeCommandChannel(detected),
            session: self,
            queue: sessionQueue,
            configuration: configuration
        )
        return (tag, identity.options)
    }
}
