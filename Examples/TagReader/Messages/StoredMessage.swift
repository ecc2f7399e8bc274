// SPDX-License-Identifier: Apache-2.0
import CoreNFC
import Foundation

/// A message as it is kept between runs.
struct StoredMessage: Codable, Sendable {
    /// A record as it is kept between runs.
    struct Record: Codable, Sendable {
        var format: UInt8
        var type: Data
        var identifier: Data
        var payload: Data
    }

    var records: [Record]

    init(_ message: NFCNDEFMessage) {
        records = message.records.map { record in
            Record(
                format: record.typeNameFormat.rawValue,
                type: record.type,
                identifier: record.identifier,
                payload: record.payload
            )
        }
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
