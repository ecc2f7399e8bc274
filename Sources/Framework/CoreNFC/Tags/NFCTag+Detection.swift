// SPDX-License-Identifier: Apache-2.0
import Foundation
import NFCSessions
import TagProtocols

extension NFCTag {
    /// Creates the object for a tag, by what the tag reported during detection.
    ///
    /// - Parameters:
    ///   - surroundings: the tag's handle, and what its object needs.
    ///   - hasApplicationList: whether the app lists applications. If not, every card that is not a MIFARE card counts
    ///     as an ISO 7816 tag with no application selected.
    /// - Returns: nil for a tag that phones don't detect, such as a MIFARE Classic.
    package init?(_ surroundings: TagSurroundings, hasApplicationList: Bool) {
        let handle = surroundings.handle
        let hasApplication = handle.selectedApplication != nil || handle.supportsPACE
        switch handle.target {
        case .nfcA(let target) where target.isISODEP:
            self =
                hasApplication || !hasApplicationList && !target.isNXP
                ? .iso7816(DetectedISO7816Tag(surroundings)) : .miFare(DetectedMiFareTag(surroundings))
        case .nfcA(let target):
            guard target.isType2 else { return nil }
            self = .miFare(DetectedMiFareTag(surroundings))
        case .nfcB:
            guard hasApplication || !hasApplicationList else { return nil }
            self = .iso7816(DetectedISO7816Tag(surroundings))
        case .nfcF: self = .feliCa(DetectedFeliCaTag(surroundings))
        case .nfcV: self = .iso15693(DetectedISO15693Tag(surroundings))
        }
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

extension NFCReaderSession {
    /// What the object of a tag that the session found needs.
    func surroundings(of handle: ConnectableTag) -> TagSurroundings {
        TagSurroundings(
            handle: handle,
            channel: RuntimeCommandChannel(handle),
            session: self,
            queue: sessionQueue,
            configuration: configuration
        )
    }

    /// The tag that a handle stands for; nil for a tag that phones don't detect.
    func tag(for handle: ConnectableTag) -> NFCTag? {
        NFCTag(surroundings(of: handle), hasApplicationList: hasApplicationList)
    }
}
