// SPDX-License-Identifier: Apache-2.0
import NFCReaders
import NFCSessions
import TagLink
import TagProtocols
import VirtualTags

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
            return target.manufacturerName.map { [TagFact("Maker", $0, "manufacturer", .text($0))] } ?? []
        }
    }
}

extension TagInspection.Card {
    fileprivate var facts: [TagFact] {
        var facts: [TagFact] = []
        if let answerToSelect { facts.append(TagFact("ATS", "ats", hex: answerToSelect)) }
        if let version { facts.append(TagFact("Version", "version_hex", hex: version)) }
        if let file = messageFile {
            let note = "reading \(Self.access(file.readAccess)), writing \(Self.access(file.writeAccess))"
            facts += Type4Contents.fileFacts([(Type4Contents.text(file.identifier), file.size, note)])
        }
        return facts
    }

    /// An access byte of the capability container (NFC Forum T4T 1.2, 4.3).
    private static func access(_ byte: UInt8) -> String {
        switch byte {
        case 0x00: "free"
        case 0xFF: "closed"
        default: "by rule \(HexText.text([byte]))"
        }
    }
}

extension TagInspection.Vicinity {
    fileprivate var facts: [TagFact] {
        var facts: [TagFact] = []
        if let count = system?.blockCount, let size = system?.blockSize ?? blockSize {
            facts += TagFact.vicinityMemory(blockCount: count, blockSize: size)
        } else if let blockSize {
            facts.append(TagFact("Memory", "blocks of \(blockSize) bytes", "block_size", .number(blockSize)))
        }
        if let lockedBlocks { facts.append(.lockedBlocks(lockedBlocks)) }
        if let afi = system?.afi { facts.append(TagFact("AFI", "afi", hex: [afi])) }
        if let dsfid = system?.dsfid { facts.append(TagFact("DSFID", "dsfid", hex: [dsfid])) }
        if let reference = system?.icReference { facts.append(.icReference(reference)) }
        if let counter { facts.append(TagFact("Counter", String(counter), "counter", .number(Int(counter)))) }
        if let signature { facts.append(TagFact("Signature", "signature_hex", hex: signature)) }
        if let capabilityContainer { facts.append(TagFact("CC", "cc_hex", hex: capabilityContainer)) }
        return facts
    }
}
