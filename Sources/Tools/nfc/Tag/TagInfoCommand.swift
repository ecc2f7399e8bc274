// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import NFCReaders
import NFCSessions
import TagImages
import TagLink
import TagProtocols
import TextSafety
import VirtualTags

struct TagInfoCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "info",
        abstract: "Describe a tag, on a reader or in an image: product, memory, locks and NDEF.",
        discussion: """
            For a tag of any type, it prints the product, the parts of the memory, the
            locks, the counters, and what a reader finds. For a tag on a reader, it
            reports only what the tag and the reader expose: GET_VERSION, signature,
            counters, lock bits, system information. Unknown values are left out. If an
            image contradicts itself or lacks a part of the tag, a note on standard
            error says so, and so does "remarks" of --json.

            Examples:
              nfc tag info card.nfc
              nfc tag info --reader pcsc
              nfc tag info hf-mfu-04A1B2C3D4E580-dump.bin
              nfc tag info images.jsonl --id t2t-09 --json

            Exit status: 0 when the tag was found, with or without NDEF, 1 when the
            image is invalid, the tag left, or no tag was found, 2 for wrong usage, 3
            without a reader, 130 when cancelled.
            """
    )

    @OptionGroup var source: TagSourceOptions

    @OptionGroup var keys: ClassicKeyOptions

    @Flag(help: "Print one JSON object.")
    var json = false

    func run() async throws {
        let opening = try keys.opening()
        let description: TagDescription
        switch try source.open() {
        case .image(let file):
            let (report, error) = try await ImageTagRunner.read(file.makeTag(), file.contents, unlock: opening)
            let remarks = file.remarks.filter { $0.kind != .leftOut }
            description = TagDescription(contents: file.contents, report: report, error: error, remarks: remarks)
        case .reader(let session):
            let inspection = try await session.withOneTag(doneMessage: "The tag was read.") { tag throws(TagError) in
                try await tag.open(opening)
                return try await tag.inspect()
            }
            description = TagDescription(inspection, on: session.environment)
        }
        printResult(json: json, description.object, description.lines)
    }
}

/// A description of a tag: its product, memory layout, locks, and what a reader finds.
struct TagDescription {
    private var report: TagReport
    private let error: TagError?
    private let type: Int?
    private let facts: [TagFact]
    /// Remarks about contradictions and missing data in an image; empty for a tag on a reader.
    private let remarks: [TagImageRemark]

    init(contents: TagContents, report: TagReport, error: TagError?, remarks: [TagImageRemark]) {
        self.remarks = remarks
        self.report = report
        self.report.obey(contents.writeBarrier)
        self.error = error
        type = contents.tagType
        facts = contents.facts()
    }

    init(_ inspection: TagInspection, on environment: NFCEnvironment) {
        remarks = []
        report = TagReport(inspection.findings, on: environment)
        error = inspection.findings.ndefStatus.error
        type = report.type?.rawValue
        facts = inspection.facts
        if !inspection.unknown.contains(.memory) { report.obey(inspection.contents?.writeBarrier) }
    }

    var object: JSONObject {
        let failure = report.failure(error)
        let start: JSONObject = [
            "ok": true, "reader": report.reader, "tag_type": type, "product": report.product,
            "uid": report.uid.isEmpty ? nil : report.uid.hexText(),
        ]
        return facts.reduce(start) { $0 + $1.member } + [
            "status": report.status?.rawValue, "capacity": report.capacity,
            "message_hex": report.message?.hexText(), "ndef_error": failure?.name, "offset": failure?.offset,
            "message": failure == nil ? nil : error?.reason ?? failure?.message,
            "remarks": remarks.map(\.object),
        ]
    }

    var lines: [String] {
        var plain = report
        plain.showsCost = false
        let kind = [report.product ?? "not known", type.map { "Type \($0)" }].compactMap { $0 }.joined(separator: ", ")
        var rows = [("Product", kind), ("UID", report.uidText)]
        rows += facts.compactMap(\.line).map { ($0.label, $0.text) }
        var lines = rows.map { label, text in
            label + String(repeating: " ", count: max(1, 11 - label.count)) + text
        }
        lines += plain.lines.dropFirst()
        if let error { lines.append(error.reason) }
        return lines
    }
}

extension TagContents {
    /// The facts about a tag with these contents, except those that the tag did not report.
    func facts(without unknown: Set<TagInspection.Unknown> = []) -> [TagFact] {
        switch self {
        case .type1(let contents): contents.facts
        case .type2(let contents): contents.facts(without: unknown)
        case .type3(let contents): contents.facts(without: unknown)
        case .type4(let contents): contents.facts
        case .type5(let contents): contents.facts
        case .classic(let contents): contents.facts
        case .nfcA(let contents): .answers(contents.atqa, contents.sak)
        }
    }
}

extension [TagFact] {
    static func answers(_ atqa: UInt16, _ sak: UInt8) -> [TagFact] {
        let bytes = atqa.bigEndianBytes
        return [
            TagFact("Answers", "ATQA \(bytes.hexText()), SAK \([sak].hexText())"),
            TagFact("atqa", value: bytes.hexText()), TagFact("sak", value: [sak].hexText()),
        ]
    }

    /// The data that a Type B card sends during activation.
    static func answers(applicationData: [UInt8], protocolInfo: [UInt8]) -> [TagFact] {
        let (data, info) = (applicationData.hexText(), protocolInfo.hexText())
        return [
            TagFact("ATQB", "application data \(data), protocol \(info)"),
            TagFact("application_data", value: applicationData.hexText()),
            TagFact("protocol_info", value: protocolInfo.hexText()),
        ]
    }
}
