// SPDX-License-Identifier: Apache-2.0
import CoreNFC
import Foundation

/// A saved message.
struct StoredMessage: Codable, Sendable {
    /// A saved record.
    struct Record: Codable, Sendable, Equatable {
        var format: UInt8
        var type: Data
        var identifier: Data
        var payload: Data
    }

    /// The message's number. It never changes, and no other message ever gets it.
    var number: Int
    /// Whether it came while nobody could see it.
    var isNew: Bool
    /// Whether the message is in the file. An unsaved message is only in the list of this instance.
    var isSaved = true
    var records: [Record]

    private enum CodingKeys: String, CodingKey {
        case number
        case isNew = "new"
        case records
    }

    /// Makes a message to save. It has the number 0 until the list gives it one.
    init(_ message: NFCNDEFMessage, isNew: Bool = false) {
        number = 0
        self.isNew = isNew
        records = message.records.map { record in
            Record(
                format: record.typeNameFormat.rawValue,
                type: record.type,
                identifier: record.identifier,
                payload: record.payload
            )
        }
    }

    /// Reads a message. An earlier app saved no numbers; such messages have the number 0 here.
    init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        number = try values.decodeIfPresent(Int.self, forKey: .number) ?? 0
        isNew = try values.decodeIfPresent(Bool.self, forKey: .isNew) ?? false
        records = try values.decode([Record].self, forKey: .records)
    }

    func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encode(number, forKey: .number)
        if isNew { try values.encode(true, forKey: .isNew) }
        try values.encode(records, forKey: .records)
    }

    /// The message, to show or to write.
    var message: NFCNDEFMessage {
        NFCNDEFMessage(
            records: records.map { record in
                NFCNDEFPayload(
                    format: NFCTypeNameFormat(rawValue: record.format) ?? .unknown,
                    type: record.type,
                    identifier: record.identifier,
                    payload: record.payload
                )
            }
        )
    }
}
