// SPDX-License-Identifier: Apache-2.0
import Foundation

/// The rates, for people and for programs.
struct Report {
    var ours: [Measurement]
    var theirs: [Measurement]
    var messageCount: Int
    var bytes: Int

    /// A table of rates, with those of ndeflib if they were measured.
    var table: String {
        let average = String(format: "%.1f", Double(bytes) / Double(messageCount))
        var text = "\(messageCount) messages, \(average) bytes on average; messages per second, best round (median)\n\n"
        for one in ours {
            text += one.title.padding(toLength: 34, withPad: " ", startingAt: 0)
            text += Self.rate(one.best) + "  (" + Self.rate(one.median) + ")"
            if let other = peer(one) {
                text += "   ndeflib \(Self.rate(other.best))  \(String(format: "%.0f", one.best / other.best)) times"
            }
            text += "\n"
        }
        return text
    }

    /// One JSON object per line.
    var json: String {
        ours.map { one in
            var line = #"{"name":"\#(one.name)","messages_per_second":\#(Int(one.best)),"median":\#(Int(one.median))"#
            if let other = peer(one) {
                line += #","peer":"ndeflib","peer_messages_per_second":\#(Int(other.best))"#
                line += String(format: #","ratio":%.1f"#, one.best / other.best)
            }
            return line + "}\n"
        }.joined()
    }

    private func peer(_ one: Measurement) -> Measurement? {
        let names = ["parse_owned": "parse", "decode_typed": "decode_typed", "encode_fresh": "encode"]
        return theirs.first { $0.name == names[one.name] }
    }

    private static func rate(_ rate: Double) -> String {
        let text = rate >= 1e6 ? String(format: "%.2f M", rate / 1e6) : String(format: "%.1f k", rate / 1e3)
        return String(repeating: " ", count: max(0, 9 - text.count)) + text
    }
}
