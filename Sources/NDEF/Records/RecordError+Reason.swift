// SPDX-License-Identifier: Apache-2.0

extension RecordError {
    /// What is wrong, as a sentence for people.
    public var reason: String {
        switch code.kind {
        case .inner(let code): "The message in the payload is damaged (\(code))."
        case .uriCount(let count): "A smart poster has exactly one URI; this one has \(count)."
        case .named(let name):
            switch name {
            case .wrongType: "The record is of another type."
            case .emptyPayload: "The payload is empty."
            case .tooShort: "The payload is too short."
            case .badEncoding: "The text is not in the encoding that it should be in."
            case .controlCharacter: "The URI has a control character."
            case .languageOverrun: "The language code runs past the end of the payload."
            case .actionLength: "The action is not one octet."
            case .sizeLength: "The size is not four octets."
            case .carrierEmpty: "An alternative carrier record is empty."
            case .carrierTrailing: "Octets follow the last reference of an alternative carrier record."
            case .referenceOverrun: "A reference runs past the end of the handover record."
            case .errorLength: "The error data do not have the length that goes with the reason."
            case .collisionLength: "The collision resolution number is missing or is not two octets."
            case .outOfBandOverrun: "The out-of-band data say that they are longer than the payload."
            case .outOfBandTrailing: "Octets follow the out-of-band data."
            case .attributeOverrun: "An element runs past the end of what it is in."
            case .signatureOverrun: "The signature runs past the end of the payload."
            case .certificateOverrun: "A certificate runs past the end of the payload."
            case .missingElement: "An element that must be there is missing."
            case .valueTooLong: "A value is longer than its length field can say."
            }
        }
    }
}
