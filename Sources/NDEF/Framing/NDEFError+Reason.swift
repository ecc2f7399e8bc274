// SPDX-License-Identifier: Apache-2.0

extension NDEFError {
    /// What is wrong, as a sentence for people.
    public var reason: String {
        switch code.kind {
        case .emptyInput: "There is no message: the input is empty."
        case .truncatedHeader: "The input ends at octet \(offset), within the header of record \(record)."
        case .truncatedBody: "The input ends at octet \(offset), before record \(record) is complete."
        case .missingMessageBegin: "The first record does not have the Message Begin flag."
        case .unexpectedMessageBegin: "Record \(record), at octet \(offset), has the Message Begin flag again."
        case .missingMessageEnd: "The input ends at octet \(offset) and no record has the Message End flag."
        case .trailingData: "The message ends at octet \(offset), and more octets follow."
        case .emptyRecordNotEmpty: "Record \(record) is declared empty, and has a type, an identifier or a payload."
        case .typeNotAllowed: "Record \(record) has a type, which its type name format forbids."
        case .unexpectedUnchanged: "Record \(record) has the format of a later chunk, and no chunk comes before it."
        case .chunkWithMessageEnd:
            "A chunk of record \(record), at octet \(offset), ends the message, yet more should follow."
        case .chunkWithIdentifier: "A later chunk of record \(record), at octet \(offset), has an identifier."
        case .chunkWithoutType: "The first chunk of record \(record) has no type."
        case .chunkInterrupted: "A record begins at octet \(offset), where the next chunk of record \(record) should."
        case .typeTooLong: "The type of record \(record) is longer than 255 octets."
        case .identifierTooLong: "The identifier of record \(record) is longer than 255 octets."
        case .payloadTooLong: "The payload of record \(record) is longer than 4294967295 octets; write it in chunks."
        case .invalidChunkSize: "A chunk must have room for one octet or more."
        case .noRecords: "A message must have one record or more."
        }
    }
}
