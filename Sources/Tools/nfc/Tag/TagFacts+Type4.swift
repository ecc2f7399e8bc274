// SPDX-License-Identifier: Apache-2.0
import TagLink
import VirtualTags

extension Type4Contents {
    /// The facts about a Type 4 tag.
    var facts: [TagFact] {
        frontEndFacts + cardFacts
    }

    private var frontEndFacts: [TagFact] {
        switch frontEnd {
        case .nfcA(_, let atqa, let sak, let ats):
            return .answers(atqa, sak) + [TagFact("ATS", "ats", hex: ats)]
        case .nfcB(_, let data, let info): return .answers(applicationData: data, protocolInfo: info)
        }
    }

    private var cardFacts: [TagFact] {
        switch kind {
        case .unspecified:
            return [TagFact("Card", "only its activation is known")]
        case .version(let contents):
            return [
                TagFact(
                    "Card",
                    "\(contents.chip), of which only the version is known",
                    "chip",
                    .text(contents.chip)
                ),
                TagFact("Version", "version_hex", hex: contents.version),
            ]
        case .emv(let contents): return contents.facts
        case .emrtd(let contents):
            let zone = contents.zone.lines.joined(separator: " ")
            let files = contents.files.sorted { $0.key < $1.key }.map {
                (Self.text($0.key), $0.value.count, nil as String?)
            }
            return [TagFact("Zone", zone, "mrz", .text(contents.zone.lines.joined()))] + Self.fileFacts(files)
        case .ndef(let files):
            let sorted = files.sorted { $0.key < $1.key }
            return Self.fileFacts(
                sorted.map { file in
                    (Self.text(file.key), file.value.count, file.key == 0xE103 ? "capability container" : nil)
                }
            )
        case .ntag424(let contents):
            var facts = [
                TagFact("Version", "version_hex", hex: contents.version),
                TagFact(
                    "Counter",
                    "\(contents.readCounter) readings",
                    "read_counter",
                    .number(Int(contents.readCounter))
                ),
            ]
            facts += Self.fileFacts(
                contents.files.map { file in
                    (Self.text(file.isoIdentifier), file.data.count, Self.rights(file.accessRights))
                }
            )
            return facts
        case .desfire(let contents):
            return Self.facts(of: contents)
        }
    }

    private static func facts(of contents: DESFireContents) -> [TagFact] {
        var facts = [
            TagFact("Version", "version_hex", hex: contents.version),
            TagFact("Memory", "\(contents.freeMemory) bytes free", "free_memory", .number(contents.freeMemory)),
        ]
        let configuration = contents.configuration
        if configuration.usesRandomUID {
            facts.append(TagFact("Random", "another UID in each field", "random_uid", .flag(true)))
        }
        if configuration.isFormatDisabled {
            facts.append(TagFact("Format", "refused for good", "format_disabled", .flag(true)))
        }
        var objects: [[TagFact.Member]] = []
        for application in contents.applications {
            let identifier = (0..<3).map { UInt8(truncatingIfNeeded: application.identifier >> (16 - 8 * $0)) }
            let files = application.files.map { file in
                let size: String
                switch file.kind {
                case .standard(let data): size = "\(data.count) bytes"
                case .backup(let data): size = "\(data.count) bytes with backup"
                case .value(_, _, let current, _): size = "value \(current)"
                case .linearRecords(let length, let maximum, let records),
                    .cyclicRecords(let length, let maximum, let records):
                    size = "\(records.count / max(1, length)) of \(maximum) records of \(length) bytes"
                }
                objects.append([
                    TagFact.Member("application", .bytes(identifier)),
                    TagFact.Member("file", .number(Int(file.number))),
                    TagFact.Member("content", .text(size)), TagFact.Member("rights", .text(rights(file.accessRights))),
                ])
                return "file \(file.number): \(size), \(rights(file.accessRights))"
            }
            let keys = application.keyCount & 0x0F
            let text = files.isEmpty ? "no files" : files.joined(separator: "; ")
            facts.append(TagFact("App", "\(HexText.text(identifier)), \(RecordText.count(Int(keys), "key")): \(text)"))
        }
        return facts + [TagFact("files", .objects(objects))]
    }

    /// The files of a card.
    static func fileFacts(_ files: [(name: String, size: Int, note: String?)]) -> [TagFact] {
        let texts = files.map { "\($0.name) with \($0.size) bytes" + ($0.note.map { " (\($0))" } ?? "") }
        let objects = files.map { file in
            var members: [TagFact.Member] = [
                TagFact.Member("file", .text(file.name)), TagFact.Member("size", .number(file.size)),
            ]
            if let note = file.note { members.append(TagFact.Member("note", .text(note))) }
            return members
        }
        return [TagFact("Files", texts.joined(separator: "; "), "files", .objects(objects))]
    }

    /// Who may read and write.
    private static func rights(_ rights: FileAccessRights) -> String {
        func who(_ right: FileAccessRights.Right) -> String {
            let holders = [right, .readWrite].map(rights.holder)
            if holders.contains(.everybody) { return "free" }
            let keys = holders.compactMap { if case .key(let number) = $0 { number } else { nil } }
            let names = Set(keys).sorted().map { String($0) }
            return names.isEmpty ? "closed" : "with key " + names.joined(separator: " or ")
        }
        return "reading \(who(.read)), writing \(who(.write))"
    }

    /// A file's identifier.
    static func text(_ number: UInt16) -> String { HexText.text(number.bigEndianBytes) }
}

extension EMVContents {
    /// The facts about a payment card. Only the last digits of the card's number are shown.
    fileprivate var facts: [TagFact] {
        let digits = HexText.text(accountNumber).filter(\.isNumber)
        let label = [label, name].first { !$0.isEmpty } ?? "no label"
        return [
            TagFact("Application", "\(HexText.text(applicationIdentifier)), \(label)"),
            TagFact("aid", .bytes(applicationIdentifier)), TagFact("label", .text(label)),
            TagFact("Number", "ends in \(digits.suffix(4))", "last_digits", .text(String(digits.suffix(4)))),
        ]
    }
}
