// SPDX-License-Identifier: Apache-2.0
import CoreNFC
import VisibleText

/// A message as lines of text, for both interfaces. What nobody sees in the words of a card is escaped.
enum MessageLines {
    /// A line: what it is about, and what it says of that.
    struct Line {
        /// Stands at the line's beginning, in columns of its own.
        var label: String
        var value: String

        init(label: String, value: String) {
            self.label = label
            self.value = VisibleText.escaped(value)
        }

        var text: String { label + value }

        /// The line for a terminal, broken where it is too long; what goes on is indented.
        func wrapped(columns: Int) -> [String] {
            let width = Lines.width(label)
            // In a narrow window the value begins below its label.
            guard columns >= width + 12 || value.isEmpty || width <= 4 else {
                return [Lines.cut(label, columns: columns)]
                    + Lines.wrapped(value, columns: columns - 4).map { "    " + $0 }
            }
            let indent = String(repeating: " ", count: width)
            let lines = Lines.wrapped(value, columns: columns - width)
            return lines.enumerated().map { ($0 == 0 ? label : indent) + $1 }
        }
    }

    /// The message's row in the list: its number, how many records it has, and what the first one says.
    ///
    /// - Parameter width: the columns of the number.
    static func row(of message: StoredMessage, width: Int = 0) -> String {
        let number = String(message.number)
        let space = String(repeating: " ", count: max(width - number.count, 0))
        let content = message.message
        let mark = (message.isNew ? "new  " : "") + (message.isSaved ? "" : "not saved  ")
        let summary = VisibleText.escaped(RecordDetails.summary(of: content))
        return "\(space)\(number)  \(mark)\(RecordDetails.count(of: content))  \(summary)"
    }

    /// The heading over a message's records.
    static func heading(of message: NFCNDEFMessage, number: Int) -> String {
        "Message \(number): \(RecordDetails.count(of: message)), \(message.length) bytes"
    }

    /// All that can be said of the message, its heading first.
    static func details(of message: NFCNDEFMessage, number: Int) -> [Line] {
        [Line(label: "", value: heading(of: message, number: number))] + records(of: message)
    }

    /// All that can be said of the message's records.
    static func records(of message: NFCNDEFMessage) -> [Line] {
        message.records.enumerated().flatMap { index, record in
            let details = RecordDetails(record)
            let lines = [
                Line(label: "", value: "Record \(index + 1)"),
                Line(label: "  Format      ", value: details.format),
                Line(label: "  Type        ", value: details.type),
                Line(label: "  Identifier  ", value: details.identifier),
                Line(label: "  Payload     ", value: details.payload.first ?? ""),
            ]
            return lines + details.payload.dropFirst().map { Line(label: "              ", value: $0) }
        }
    }
}
