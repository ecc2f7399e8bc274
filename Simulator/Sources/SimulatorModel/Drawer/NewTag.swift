// SPDX-License-Identifier: Apache-2.0
import TagImages
import TagLink
import TagProtocols
import VirtualTags

/// Creates the tag that an action describes.
enum NewTag {
    /// The products available for new tags, as listed on the page.
    static var products: JSON {
        let products = TagProduct.all.map { product -> JSON in
            let contents = product.blank()
            let summary = NDEFSummary(of: contents)
            return [
                "name": .string(product.name), "tag_type": JSON(product.tagType),
                "capacity": JSON(summary.capacity), "holds_ndef": .bool(summary.status != .notNDEF),
                "sizes": product.sizes.map { [.int($0.lowerBound), .int($0.upperBound)] } ?? nil,
                "technology": .string(contents.makeTag().technology.name),
                "phone_can": PhoneLimits.reason(contents).map { ["reason": .string($0)] } ?? true,
            ]
        }
        let document: JSON = [
            "name": "eMRTD", "tag_type": 4, "capacity": nil, "holds_ndef": false, "sizes": nil,
            "technology": "nfc-a", "phone_can": true,
        ]
        return .array(products + [document])
    }

    /// The contents of a new tag.
    static func contents(_ action: JSON) throws(SimulatorFailure) -> TagContents {
        let name = action["product"]?.string ?? "NTAG215"
        if let zone = action["mrz"]?.string { return try document(zone) }
        guard name.lowercased() != "emrtd" else {
            throw .invalid("A travel document needs its machine readable zone: \"mrz\".")
        }
        guard let product = TagProduct(named: name) else {
            throw SimulatorFailure("no-such-product", "No product has this name. \"products\" lists them.")
        }
        let contents = product.blank(uid: try uid(action, product), size: try size(action, product))
        guard let message = try MessageRequest.message(of: action), !message.isEmpty else { return contents }
        return try written(message, on: contents)
    }

    /// Returns the contents after a reader has written a message to the tag.
    static func written(_ message: [UInt8], on contents: TagContents) throws(SimulatorFailure) -> TagContents {
        do throws(TagError) {
            guard let editor = VirtualTagEditor(contents) else {
                throw TagError(.unsupported, "No reader can detect this tag.")
            }
            try editor.write(message)
            return editor.contents ?? contents
        } catch {
            throw SimulatorFailure("\(error.code)", error.reason)
        }
    }

    private static func uid(_ action: JSON, _ product: TagProduct) throws(SimulatorFailure) -> [UInt8]? {
        guard let text = action["uid"]?.string else { return nil }
        guard let uid = [UInt8](hex: text), product.identifierLengths.contains(uid.count) else {
            let lengths = product.identifierLengths.map(String.init).joined(separator: " or ")
            throw .invalid("The UID of this product must have \(lengths) bytes in hexadecimal digits.")
        }
        return uid
    }

    private static func size(_ action: JSON, _ product: TagProduct) throws(SimulatorFailure) -> Int? {
        guard let value = action["size"], !value.isNull else { return nil }
        guard let sizes = product.sizes else { throw .invalid("A \(product.name) has a fixed size.") }
        guard let size = value.int, sizes.contains(size) else {
            throw .invalid("The size must be a number from \(sizes.lowerBound) to \(sizes.upperBound).")
        }
        return size
    }

    /// A travel document with the data that its machine readable zone determines.
    private static func document(_ text: String) throws(SimulatorFailure) -> TagContents {
        guard text.utf8.count <= 200 else {
            throw .invalid("A machine readable zone has two lines of up to 44 characters, or three of 30.")
        }
        do throws(EMRTDError) {
            let zone = try MachineReadableZone(text.uppercased())
            let contents = try EMRTDContents(zone, signer: .test)
            // A 4-byte UID that begins with 08 is random: it changes at each power-up (ISO/IEC 14443-3, 6.5.4).
            let uid = [0x08] + (0..<3).map { _ in UInt8.random(in: 0...255) }
            return .type4(Type4Contents(frontEnd: .emrtd(uid: uid), kind: .emrtd(contents)))
        } catch {
            throw SimulatorFailure("bad-mrz", error.reason)
        }
    }
}

extension String {
    /// Converts camel case to words with hyphens: `readerUnavailable` becomes `reader-unavailable`.
    package var kebab: String {
        var result = ""
        for character in self {
            if character.isUppercase {
                if !result.isEmpty { result += "-" }
                result += character.lowercased()
            } else {
                result.append(character)
            }
        }
        return result
    }
}
