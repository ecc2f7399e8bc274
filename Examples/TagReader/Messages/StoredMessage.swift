// SPDX-License-Identifier: Apache-2.0
import CoreNFC
import Foundation

/// A message as it is kept between runs.
struct StoredMessage: Codable, Sendable {
    /// A record as it is kept between runs.
    struct Record: Codable, Sendable, Equatable {
        var format: UInt8
        var type: Data
        var identifier: Data
        var payload: Data
    }

    /// The message's number, which it keeps as long as it is there. No other message ever gets it.
    var number: Int
    /// Whether it came while nobody could see it.
    var isNew: Bool
    /// Whether the file has it. One that could not be saved is in the list of this instance alone.
    var isSaved = true
    var records: [Record]

    private enum CodingKeys: String, CodingKey {
        case number
        case isNew = "new"
        case records
    }

    /// Makes a message to be kept. It has the number 0 until it is given one of the list's.
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

    /// Reads a message. An earlier app kept no numbers: those messages have the number 0 here.
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
