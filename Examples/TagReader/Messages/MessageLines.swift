// SPDX-License-Identifier: Apache-2.0
import CoreNFC

/// A message as lines of text, for both interfaces.
enum MessageLines {
    /// The message's row in the list: its number, how many records it has, and what the first one says.
    static func row(of message: NFCNDEFMessage, number: Int) -> String {
        "\(number)  \(RecordDetails.count(of: message))  \(RecordDetails.summary(of: message))"
    }

    /// All that can be said of the message.
    static func details(of message: NFCNDEFMessage, number: Int) -> [String] {
        var lines = ["Message \(number): \(RecordDetails.count(of: message)), \(message.length) bytes"]
        for (index, record) in message.records.enumerated() {
            let details = RecordDetails(record)
            lines += [
                "Record \(index + 1)",
                "  Format      \(details.format)",
                "  Type        \(details.type)",
                "  Identifier  \(details.identifier)",
                "  Payload     \(details.payload.first ?? "")",
            ]
            lines += details.payload.dropFirst().map { "              \($0)" }
        }
        return lines
    }
}
