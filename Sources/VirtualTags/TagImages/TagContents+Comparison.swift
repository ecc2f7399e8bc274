// SPDX-License-Identifier: Apache-2.0
import TagLink
import VirtualTags

extension TagContents {
    /// Returns the same contents with everything that the format can't store replaced: missing pages are like those of
    /// a new tag, and the remains of older messages are removed if the format has no place for them.
    func completed(for format: TagImage.Format) -> TagContents {
        switch self {
        case .type2(let contents): return .type2(contents.completed)
        case .type4(var contents):
            guard format == .flipper, case .ndef(let files) = contents.kind else { return self }
            contents.kind = .ndef(files: FlipperTagDump.withoutRemains(files))
            return .type4(contents)
        default: return self
        }
    }
}

extension TagContents {
    /// The contradictions between the identifier that the tag sends and its memory, and within its memory, as sentences.
    var contradictions: [String] {
        switch self {
        case .type2(let contents): contents.contradictions
        case .classic(let contents): contents.contradictions
        case .type3(.liteS(let contents)): contents.contradictions
        case .type4(let contents): contents.contradictions
        case .type1, .type3, .type5, .nfcA: []
        }
    }

    /// The parts of the tag's memory that are missing in the image, as sentences.
    var missingParts: [String] {
        switch self {
        case .type2(let contents): contents.missingParts
        case .classic(let contents): contents.missingParts
        case .type4(let contents): contents.missingParts
        case .nfcA: ["The image has no more of the tag than its activation."]
        case .type1, .type3, .type5: []
        }
    }

    fileprivate static func sentence(_ header: [UInt8], _ memory: [UInt8], in place: String) -> String {
        "The tag's UID is \(header.hexText()), and \(place) \(memory.hexText()). "
            + "Correct one of them: on a real tag they are the same."
    }
}

extension Type2Contents {
    fileprivate var contradictions: [String] {
        guard memory.count >= 12 else { return [] }
        let inMemory = product.uid(inMemory: memory)
        let other = inMemory == uid ? [] : [TagContents.sentence(uid, inMemory, in: "pages 0 to 2 hold")]
        return other + tooLargeArea
    }

    /// The sentence about a capability container with a data area that the product does not have.
    private var tooLargeArea: [String] {
        guard memory.count >= 16, memory[12] == 0xE1 else { return [] }
        let (area, size) = (Int(memory[14]) * 8, product.userPages.count * 4)
        guard area > size else { return [] }
        return [
            "The capability container gives a data area of \(area) bytes, and \(product) has \(size). "
                + "Correct it: readers refuse longer messages, or write where the tag has its locks."
        ]
    }

    fileprivate var missingParts: [String] {
        let pages = memory.count / 4
        let end = product.userPages.upperBound + 1
        guard pages < end else { return [] }
        return ["The image has \(pages) of the \(product.pageCount) pages; the others are as delivered."]
    }
}

extension ClassicContents {
    fileprivate var contradictions: [String] {
        guard [4, 7].contains(uid.count), !(0..<uid.count).contains(where: unknownBytes.contains) else { return [] }
        let inMemory = Array(memory.prefix(uid.count))
        return inMemory == uid ? [] : [TagContents.sentence(uid, inMemory, in: "block 0 begins with")]
    }

    fileprivate var missingParts: [String] {
        guard !unknownBytes.isEmpty else { return [] }
        let blocks = Set(unknownBytes.map { $0 / 16 })
        let sectors = Set(blocks.map { $0 < 128 ? $0 / 4 : 32 + ($0 - 128) / 16 })
        return [
            "\(unknownBytes.count) bytes in \(sectors.count) sectors were not read; the virtual tag has zeros there."
        ]
    }
}

extension FeliCaLiteSContents {
    fileprivate var contradictions: [String] {
        let expected = idm + pmm
        guard let deviceIdentifier, deviceIdentifier != expected else { return [] }
        let (header, block) = (expected.hexText(), deviceIdentifier.hexText())
        return [
            "IDm and PMm are \(header), and block 83 (D_ID) holds \(block). "
                + "Correct one of them: on a real tag they are the same."
        ]
    }
}

extension Type4Contents {
    fileprivate var missingParts: [String] {
        let text: String
        switch kind {
        case .unspecified: text = "The image has no more of the card than its activation."
        case .version(let contents):
            text =
                "The image has the activation and the version of this \(contents.chip), and no files or blocks of it: "
                + "the virtual tag answers GET VERSION alone."
        case .emv:
            text =
                "The image has no track 2, no certificates and no keys of this payment card: the virtual tag shows its "
                + "application, and makes no payment."
        case .ndef, .desfire, .ntag424, .emrtd: return []
        }
        return [text]
    }

    fileprivate var contradictions: [String] {
        let uid = identifier
        let version: [UInt8]
        switch kind {
        case .desfire(let contents): version = contents.version
        case .ntag424(let contents): version = contents.version
        case .version(let contents): version = contents.version
        case .ndef, .emrtd, .emv, .unspecified: return []
        }
        // A card with a random UID also hides its own one in the version: zeros.
        let own = Array(version.dropFirst(14).prefix(7))
        guard uid.count == 7, own.count == 7, own.contains(where: { $0 != 0 }), own != uid else { return [] }
        return [TagContents.sentence(uid, own, in: "GET VERSION answers")]
    }
}
