// SPDX-License-Identifier: Apache-2.0
import NFCReaders
import NFCSessions
import TagLink
import TagProtocols
import TextSafety
import VirtualTags

/// A fact about a tag: a line for people, a JSON member for programs, or both.
struct TagFact {
    /// The label and the text of the line; nil for a fact for programs alone.
    private(set) var line: (label: String, text: String)?
    /// The member of the object; empty for a fact for people alone.
    private(set) var member: JSONObject = [:]

    init(_ label: String, _ text: String, _ key: String, _ value: any JSONValue) {
        line = (label, text)
        member.append(key, value)
    }

    init(_ label: String, _ text: String) { line = (label, text) }

    init(_ key: String, value: any JSONValue) { member.append(key, value) }

    init(_ label: String, _ key: String, hex bytes: some Sequence<UInt8>) {
        let text = bytes.hexText()
        self.init(label, text, key, text)
    }
}

extension TagFact {
    static func map(_ unit: String, _ regions: [(ClosedRange<Int>, String)]) -> TagFact {
        let lines = regions.map { range, name in
            let place =
                range.count == 1 ? "\(unit) \(range.lowerBound)" : "\(unit)s \(range.lowerBound)-\(range.upperBound)"
            return "\(place) \(name)"
        }
        let objects = regions.map { range, name -> JSONObject in
            ["unit": unit, "first": range.lowerBound, "last": range.upperBound, "what": name]
        }
        return TagFact("Map", lines.joined(separator: "; "), "map", objects)
    }

    /// Numbers for people: `4-15, 20`.
    static func ranges(_ numbers: [Int]) -> String {
        var parts: [ClosedRange<Int>] = []
        for number in numbers.sorted() {
            if let last = parts.last, last.upperBound + 1 == number {
                parts[parts.count - 1] = last.lowerBound...number
            } else {
                parts.append(number...number)
            }
        }
        return parts.map { $0.count == 1 ? "\($0.lowerBound)" : "\($0.lowerBound)-\($0.upperBound)" }
            .joined(separator: ", ")
    }

    /// Numbered things: `block 3`, or `blocks 3-5, 8`.
    static func numbered(_ numbers: [Int], _ thing: String) -> String {
        "\(thing)\(numbers.count == 1 ? "" : "s") \(ranges(numbers))"
    }

    /// What is read-only of numbered things: `none`, `block 3 is read-only`, or `blocks 3-5, 8 are read-only`.
    static func readOnly(_ numbers: [Int], _ thing: String) -> String {
        numbers.isEmpty ? "none" : "\(numbered(numbers, thing)) \(numbers.count == 1 ? "is" : "are") read-only"
    }
}

extension TagInspection {
    /// The facts about a tag on a reader: from its whole memory if it could be read, otherwise from single answers.
    var facts: [TagFact] {
        if let contents { return contents.facts(without: unknown) }
        var facts = activationFacts
        if let card { facts += card.facts }
        if let vicinity { facts += vicinity.facts }
        return facts
    }

    private var activationFacts: [TagFact] {
        switch target {
        case .nfcA(let target):
            guard reportsActivationData, let sak = target.sak else { return [] }
            return .answers(target.atqa, sak)
        case .nfcB(let target):
            return reportsActivationData
                ? .answers(applicationData: target.applicationData, protocolInfo: target.protocolInfo) : []
        case .nfcF(let target):
            // A reader that does not report the PMm has all ones in its place.
            guard target.pmm.contains(where: { $0 != 0xFF }) else { return [] }
            let system = target.systemCode.map { $0.bigEndianBytes }
            return [TagFact("PMm", "pmm", hex: target.pmm)]
                + (system.map { [TagFact("System", "system", hex: $0)] } ?? [])
        case .nfcV(let target):
            return target.manufacturerName.map { [TagFact("Maker", $0, "manufacturer", $0)] } ?? []
        }
    }
}

extension TagInspection.Card {
    fileprivate var facts: [TagFact] {
        var facts: [TagFact] = []
        if let answerToSelect { facts.append(TagFact("ATS", "ats", hex: answerToSelect)) }
        if let version { facts.append(TagFact("Version", "version_hex", hex: version)) }
        if let file = container {
            let note = "reading \(Self.access(file.readAccess)), writing \(Self.access(file.writeAccess))"
            facts += Type4Contents.fileFacts([(Type4Contents.text(file.messageFile), file.fileSize, note)])
        }
        return facts
    }

    /// An access byte of the capability container (NFC Forum T4T 1.2, 4.3).
    private static func access(_ byte: UInt8) -> String {
        switch byte {
        case 0x00: "free"
        case 0xFF: "closed"
        default: "by rule \([byte].hexText())"
        }
    }
}

extension TagInspection.Vicinity {
    fileprivate var facts: [TagFact] {
        var facts: [TagFact] = []
        if let count = system?.blockCount, let size = system?.blockSize ?? blockSize {
            facts += TagFact.vicinityMemory(blockCount: count, blockSize: size)
        } else if let blockSize {
            facts.append(TagFact("Memory", "blocks of \(blockSize) bytes", "block_size", blockSize))
        }
        if let lockedBlocks { facts.append(.lockedBlocks(lockedBlocks)) }
        if let afi = system?.afi { facts.append(TagFact("AFI", "afi", hex: [afi])) }
        if let dsfid = system?.dsfid { facts.append(TagFact("DSFID", "dsfid", hex: [dsfid])) }
        if let reference = system?.icReference { facts.append(.icReference(reference)) }
        if let counter { facts.append(TagFact("Counter", String(counter), "counter", Int(counter))) }
        if let signature { facts.append(TagFact("Signature", "signature_hex", hex: signature)) }
        if let capabilityContainer { facts.append(TagFact("CC", "cc_hex", hex: capabilityContainer)) }
        return facts
    }
}
