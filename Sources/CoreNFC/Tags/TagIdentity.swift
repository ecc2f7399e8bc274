// SPDX-License-Identifier: Apache-2.0
package import Dispatch
package import NFCRuntime
package import TagProtocols

/// Which of the four kinds a tag is, and what is known of it.
package enum TagIdentity: Sendable, Hashable {
    case iso7816(ISO7816Identity)
    case miFare(MiFareIdentity)
    case feliCa(FeliCaIdentity)
    case iso15693(ISO15693Identity)

    /// The identity of an NFC-A tag by what it said while it was activated; nil for one that phones don't detect, such
    /// as a MIFARE Classic.
    package init?(_ target: NFCATarget) {
        if target.isMIFAREClassic || target.isType1 || target.isNFCDEP && !target.isISODEP { return nil }
        if target.isISODEP {
            let family: NFCMiFareFamily = target.manufacturer == 0x04 ? .desfire : .unknown
            self = .miFare(MiFareIdentity(family: family, identifier: target.uid, takesISODEP: true))
        } else if target.isType2 {
            let family: NFCMiFareFamily = target.manufacturer == 0x04 ? .ultralight : .unknown
            self = .miFare(MiFareIdentity(family: family, identifier: target.uid, takesISODEP: false))
        } else {
            return nil
        }
    }

    /// The polling option that finds such a tag.
    var option: NFCTagReaderSession.PollingOption {
        switch self {
        case .iso7816, .miFare: .iso14443
        case .feliCa: .iso18092
        case .iso15693: .iso15693
        }
    }
}

extension NFCTag {
    /// Makes the object that stands for a tag.
    ///
    /// - Parameters:
    ///   - identity: what the tag is.
    ///   - detected: the session's handle of it.
    ///   - channel: the way for its commands.
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
        switch identity {
        case .iso7816(let identity):
            self = .iso7816(
                DetectedISO7816Tag(
                    identity,
                    detected: detected,
                    channel: channel,
                    session: session,
                    queue: queue,
                    configuration: configuration
                )
            )
        case .miFare(let identity):
            self = .miFare(
                DetectedMiFareTag(
                    identity,
                    detected: detected,
                    channel: channel,
                    session: session,
                    queue: queue,
                    configuration: configuration
                )
            )
        case .feliCa(let identity):
            self = .feliCa(
                DetectedFeliCaTag(
                    identity,
                    detected: detected,
                    channel: channel,
                    session: session,
                    queue: queue,
                    configuration: configuration
                )
            )
        case .iso15693(let identity):
            self = .iso15693(
                DetectedISO15693Tag(
                    identity,
                    detected: detected,
                    channel: channel,
                    session: session,
                    queue: queue
                )
            )
        }
    }
}

extension NFCReaderSession {
    /// The object that stands for a tag that the session found; nil for one that phones don't detect.
    func tag(for detected: DetectedTag) -> (tag: NFCTag, option: NFCTagReaderSession.PollingOption)? {
        guard let identity = TagIdentity(detected.target) else { return nil }
        let tag = NFCTag(
            identity,
            detected: detected,
            channel: RuntimeCommandChannel(detected),
            session: self,
            queue: sessionQueue,
            configuration: configuration
        )
        return (tag, identity.option)
    }
}
