// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import NFCReaders
import NFCSessions
import TagImages
import TagLink
import TagProtocols
import TextSafety
import VirtualTags

/// `nfc tag info`.
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
              nfc tag info --image card.nfc
              nfc tag info --reader pcsc
              nfc tag info --image hf-mfu-04A1B2C3D4E580-dump.bin
              nfc tag info --image images.jsonl --id t2t-09 --json

            Exit status: 0 when the tag was found, with or without NDEF, 1 when the
            image is invalid, the tag left, or no tag came, 2 for wrong usage, 3
            without a reader, 130 when cancelled.
            """
    )

    @OptionGroup var place: TagPlaceOptions

    @Flag(help: "Print one JSON object.")
    var json = false

    func run() async throws {
        let description = try await reportingFailure(json: json, describe)
        if json {
            description.printJSON()
        } else {
            for line in description.lines { printLine(line) }
        }
    }

    private func describe() async throws(CommandFailure) -> TagDescription {
        switch try place.open() {
        case .image(let file):
            let (report, error) = try await TagBench.survey(file.makeTag(), file.contents)
            let remarks = file.remarks.filter { $0.kind != .leftOut }
            return TagDescription(contents: file.contents, report: report, error: error, remarks: remarks)
        case .reader(let environment):
            let inspection = try await TagSession(
                environment: environment,
                prompt: "Hold a tag near the reader.",
                seconds: place.timeout?.value,
                plan: .everyTag
            ).withOneTag(doneMessage: "The tag was read.") { session, tag throws(CommandFailure) in
                try await session.work(with: tag) { tag throws(TagError) in try await tag.inspect() }
            }
            return TagDescription(inspection)
        }
    }
}

/// The description of a tag: the product, the parts of its memory, the locks, and what a reader finds.
struct TagDescription {
    private let report: TagReport
    private let error: TagError?
    /// The number of the tag type, from the reader or the image.
    private let type: Int?
    private let facts: [TagFact]
    /// Remarks on parts of an image that the tag does not show; empty for a tag on a reader.
    private let remarks: [TagImageRemark]

    /// Describes an image.
    init(contents: TagContents, report: TagReport, error: TagError?, remarks: [TagImageRemark]) {
        self.remarks = remarks
        self.report = report
        self.error = error
        type = contents.tagType
        facts = contents.facts()
    }

    /// Describes a tag on a reader.
    init(_ inspection: TagInspection) {
        remarks = []
        report = TagReport(inspection.findings)
        error = inspection.findings.survey.error
        type = report.type?.rawValue
        facts = inspection.facts
    }

    func printJSON() {
        var writer = JSONWriter()
        writer.beginObject()
        writer.member("ok", true)
        writer.member("tag_type", type)
        writer.member("product", report.product)
        if report.uid.isEmpty { writer.member(null: "uid") } else { writer.member("uid", hex: report.uid) }
        for fact in facts { writer.member(fact) }
        writer.member("status", report.status?.rawValue)
        writer.member("capacity", report.capacity)
        if let message = report.message {
            writer.member("message_hex", hex: message)
        } else {
            writer.member(null: "message_hex")
        }
        let failure = report.failure(error)
        writer.member("ndef_error", failure?.name)
        writer.member("offset", failure?.offset)
        writer.member("message", failure == nil ? nil : error?.reason ?? failure?.message)
        writer.member(remarks: remarks)
        writer.endObject()
        writer.printLine()
    }

    /// The description for people.
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
    /// The facts about a tag with this content.
    ///
    /// - Parameter unknown: what the tag did not report. There are no facts about it.
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
    /// ATQA and SAK.
    static func answers(_ atqa: UInt16, _ sak: UInt8) -> [TagFact] {
        let bytes = atqa.bigEndianBytes
        return [
            TagFact("Answers", "ATQA \(HexText.text(bytes)), SAK \(HexText.text([sak]))"),
            TagFact("atqa", .bytes(bytes)), TagFact("sak", .bytes([sak])),
        ]
    }

    /// The data that a Type B card sends during activation.
    static func answers(applicationData: [UInt8], protocolInfo: [UInt8]) -> [TagFact] {
        let (data, info) = (HexText.text(applicationData), HexText.text(protocolInfo))
        return [
            TagFact("ATQB", "application data \(data), protocol \(info)"),
            TagFact("application_data", .bytes(applicationData)), TagFact("protocol_info", .bytes(protocolInfo)),
        ]
    }
}
