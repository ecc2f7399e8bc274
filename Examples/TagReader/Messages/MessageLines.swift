// SPDX-License-Identifier: Apache-2.0
import CoreNFC
import TextSafety

/// A message as lines of text, for both interfaces. Invisible characters in the text of a card are escaped.
enum MessageLines {
    /// A line: a label and a value.
    struct Line {
        /// The label at the beginning of the line, in its own columns.
        var label: String
        var value: String

        init(label: String, value: String) {
            self.label = label
            self.value = VisibleText.escaped(value)
        }

        var text: String { label + value }

        /// The line for a terminal. If it is too long it is broken, and the continuation is indented.
        func wrapped(columns: Int) -> [String] {
            let width = Lines.width(label)
            // In a narrow window the value starts below its label.
            guard columns >= width + 12 || value.isEmpty || width <= 4 else {
                return [Lines.cut(label, columns: columns)]
                    + Lines.wrapped(value, columns: columns - 4).map { "    " + $0 }
            }
            let indent = String(repeating: " ", count: width)
            let lines = Lines.wrapped(value, columns: columns - width)
            return lines.enumerated().map { ($0 == 0 ? label : indent) + $1 }
        }
    }

    /// The message's row in the list: its number, the number of records, and the content of the first one.
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

    /// The details of the message, with its heading first.
    static func details(of message: NFCNDEFMessage, number: Int) -> [Line] {
        [Line(label: "", value: heading(of: message, number: number))] + records(of: message)
    }

    /// The details of the message's records.
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
