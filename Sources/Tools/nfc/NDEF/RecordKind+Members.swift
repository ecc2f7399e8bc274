// SPDX-License-Identifier: Apache-2.0
import NDEF

extension RecordKind {
    /// The keys that a `decoded` object of the kind can have beside `kind`. `payload_hex` is among them where the content
    /// does not contain the payload.
    var members: [String] {
        switch self {
        case .empty: []
        case .uri: ["uri", "prefix", "rfu_prefix"]
        case .text: ["text", "language", "encoding"]
        case .smartPoster: ["uri", "titles", "icons", "action", "size", "type"]
        case .media, .external: ["type", "payload_hex"]
        case .absoluteURI: ["uri", "payload_hex"]
        case .androidApplication: ["package"]
        case .handoverSelect, .handoverRequest, .handoverMediation, .handoverInitiate:
            ["version", "carriers", "random", "error_reason", "error_data_hex"]
        case .handoverCarrier: ["ctf", "carrier_type", "data_hex"]
        case .bluetoothEasyPairing: ["address", "eir"]
        case .bluetoothLowEnergy: ["ad"]
        case .wifi: ["attributes", "credentials"]
        case .signature:
            [
                "version", "uri_present", "signature_type", "hash_type", "signature_hex", "cert_format", "certs_hex",
                "cert_uri",
            ]
        case .deviceInformation: ["elements"]
        case .wellKnown: ["type_hex", "payload_hex"]
        case .unknown: ["payload_hex"]
        }
    }
}
