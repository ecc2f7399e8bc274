// SPDX-License-Identifier: Apache-2.0
import TagProtocols
import VirtualTags

/// What can be said of a tag's image: what the product is, how its memory is divided, what is locked, and what a reader
/// finds.
struct TagDescription {
    private let contents: TagContents
    private let report: TagReport
    private let error: TagError?

    init(contents: TagContents, report: TagReport, error: TagError?) {
        self.contents = contents
        self.report = report
        self.error = error
    }

    private var facts: [TagFact] {
        switch contents {
        case .type1(let contents): contents.facts
        case .type2(let contents): contents.facts
        case .type3(let contents): contents.facts
        case .type4(let contents): contents.facts
        case .type5(let contents): contents.facts
        case .classic(let contents): contents.facts
        case .nfcA(let contents): .answers(contents.atqa, contents.sak)
        }
    }

    func printJSON() {
        var writer = JSONWriter()
        writer.beginObject()
        writer.member("ok", true)
        if let type = contents.tagType { writer.member("tag_type", type) }
        writer.member("product", contents.product)
        writer.member("uid", hex: contents.uid)
        for fact in facts { writer.member(fact) }
        if let status = report.status { writer.member("status", status.rawValue) }
        if let capacity = report.capacity { writer.member("capacity", capacity) }
        if let message = report.message { writer.member("message_hex", hex: message) }
        if let error {
            writer.member("ndef_error", error.code.description)
            writer.member("message", error.reason)
        }
        writer.endObject()
        writer.printLine()
    }

    /// The description as people read it.
    var lines: [String] {
        var plain = report
        plain.cost = nil
        plain.activation = nil
        let type = contents.tagType.map { ", Type \($0)" } ?? ""
        var rows = [("Product", contents.product + type), ("UID", HexText.text(contents.uid))]
        rows += facts.compactMap(\.line).map { ($0.label, $0.text) }
        var lines = rows.map { label, text in
            label + String(repeating: " ", count: max(1, 11 - label.count)) + text
        }
        lines += plain.lines.dropFirst()
        if let error { lines.append(error.reason) }
        return lines
    }
}

extension [TagFact] {
    /// ATQA and SAK.
    static func answers(_ atqa: UInt16, _ sak: UInt8) -> [TagFact] {
        let octets = [UInt8(atqa >> 8), UInt8(atqa & 0xFF)]
        return [
            TagFact("Answers", "ATQA \(HexText.text(octets)), SAK \(HexText.text([sak]))"),
            TagFact("atqa", .octets(octets)), TagFact("sak", .octets([sak])),
        ]
    }
}
