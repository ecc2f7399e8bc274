// SPDX-License-Identifier: Apache-2.0
import TagLink
package import VirtualTags

/// A difference between two tags, or between a tag before and after a change.
package struct TagDifference: Sendable, Hashable {
    /// The part that differs, such as `uid`, `page 5` or a member of the JSON image.
    package var part: String
    /// The values: hex for bytes, otherwise as in the JSON image. Nil for a value that a new tag has too, or none.
    package var old: String?
    package var new: String?

    package init(_ part: String, _ old: String?, _ new: String?) {
        self.part = part
        self.old = old
        self.new = new
    }
}

extension TagContents {
    /// The name and the size in bytes of the units that the tag's memory is read in; nil for a tag without one memory.
    package var memoryUnit: (name: String, size: Int)? {
        switch self {
        case .type1: ("block", 8)
        case .type2: ("page", 4)
        case .type5(let contents): ("block", contents.product.blockSize)
        case .type3, .classic: ("block", 16)
        case .type4, .nfcA: nil
        }
    }

    /// Returns all differences to another tag, the memory unit by unit. The values of passwords and keys are hidden.
    package func differences(to other: TagContents) -> [TagDifference] {
        var result: [TagDifference] = []
        if model != other.model { result.append(TagDifference("product", model, other.model)) }
        if uid != other.uid { result.append(TagDifference("uid", uid.hexText(), other.uid.hexText())) }
        let (old, new) = (JSONImage.members(of: self), JSONImage.members(of: other))
        let names = old.map(\.0) + new.map(\.0).filter { name in !old.contains { $0.0 == name } }
        for name in names {
            let values = [old, new].map { members in members.first { $0.0 == name }?.1 }
            guard values[0] != values[1] else { continue }
            let texts = values.map { value in value.map { $0.filter { $0 != "\"" } } }
            if name == "memory_hex", let unit = memoryUnit, let first = texts[0], let second = texts[1] {
                result += Self.differences(first, second, unit)
            } else {
                result.append(TagDifference(name, texts[0], texts[1]))
            }
        }
        return result.map { difference in
            guard isSecret(difference.part) || other.isSecret(difference.part) else { return difference }
            return TagDifference(
                difference.part,
                difference.old.map { _ in "hidden" },
                difference.new.map { _ in "another" }
            )
        }
    }

    private func isSecret(_ part: String) -> Bool {
        if ["keys", "passwords", "st_passwords", "can"].contains(part) || part.hasSuffix("_key") { return true }
        return switch self {
        case .type2(let contents): contents.secretPages.contains { part == "page \($0)" }
        case .classic(let contents):
            (0..<contents.product.sectorCount).contains { part == "block \(ClassicProduct.trailer(ofSector: $0))" }
        // Their members have the keys too.
        default: ["applications", "systems"].contains(part) && holdsSecrets
        }
    }

    private static func differences(
        _ old: String,
        _ new: String,
        _ unit: (name: String, size: Int)
    ) -> [TagDifference] {
        let (old, new) = (Array(old), Array(new))
        return stride(from: 0, to: max(old.count, new.count), by: 2 * unit.size).compactMap { start in
            let values = [old, new].map { start < $0.count ? String($0[start...].prefix(2 * unit.size)) : nil }
            guard values[0] != values[1] else { return nil }
            return TagDifference("\(unit.name) \(start / 2 / unit.size)", values[0], values[1])
        }
    }
}
