// SPDX-License-Identifier: Apache-2.0

/// The kind of a record, derived only from its type name format and its type.
public enum RecordKind: String, Sendable, Hashable, CaseIterable {
    case empty
    case uri
    case text
    case smartPoster = "smartposter"
    case media = "mime"
    case absoluteURI = "absolute-uri"
    case external
    case androidApplication = "android-application"
    case handoverSelect = "handover-select"
    case handoverRequest = "handover-request"
    case handoverMediation = "handover-mediation"
    case handoverInitiate = "handover-initiate"
    case handoverCarrier = "handover-carrier"
    case bluetoothEasyPairing = "bluetooth-ep"
    case bluetoothLowEnergy = "bluetooth-le"
    case wifi = "wifi-wsc"
    case signature
    case deviceInformation = "device-information"
    /// An NFC Forum type that has no meaning on its own, or that this module doesn't know.
    case wellKnown = "well-known"
    /// The format is `unknown` or a reserved one.
    case unknown
}
