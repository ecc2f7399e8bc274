// SPDX-License-Identifier: Apache-2.0
import Foundation

/// Converts host names to ASCII. That form is used for lookups, and can't be confused with another name.
public enum HostName {
    /// The maximum length of an ASCII name in bytes, without a final dot (RFC 1035, 2.3.4).
    public static let maximumLength = 253

    /// Converts a name, or an IPv4 address with four decimal numbers, to ASCII in lower case without a final dot (RFC
    /// 5891): `bücher.example` becomes `xn--bcher-kva.example`. Nil when the name is invalid. Addresses in old
    /// notations, such as `0x7f.1`, are invalid, because programs interpret them differently.
    public static func ascii(_ name: String) -> String? {
        guard name.utf8.count <= 1024 else { return nil }
        let folded = name.precomposedStringWithCompatibilityMapping.lowercased()
            .precomposedStringWithCompatibilityMapping
            .replacing("\u{3002}", with: ".")
        var parts = folded.split(separator: ".", omittingEmptySubsequences: false)
        if parts.count > 1, parts.last?.isEmpty == true { parts.removeLast() }
        var labels: [String] = []
        for part in parts {
            guard let label = label(part) else { return nil }
            labels.append(label)
        }
        let result = labels.joined(separator: ".")
        guard !result.isEmpty, result.utf8.count <= maximumLength else { return nil }
        if let last = labels.last, isNumber(last), !isAddress(labels) { return nil }
        return result
    }

    /// The reason why a name can't be the domain of an association file.
    public enum DomainProblem: Error, Sendable, Hashable, CustomStringConvertible {
        /// The name is an address, or looks like one.
        case address
        /// The name has no dot, like the names in a local network.
        case singleLabel
        case notAName

        /// The problem and what to write instead, to end a sentence with.
        public var description: String {
            switch self {
            case .address: "is an address. Write the name of the domain, such as example.org."
            case .singleLabel: "has no dot, so it isn't an internet domain. Write a name such as example.org."
            case .notAName: "can't be the name of a domain. Write a name such as example.org."
            }
        }
    }

    /// Converts the domain of an association file to ASCII, like ``ascii(_:)``. Because sites have certificates for
    /// internet names, an address or a name without a dot is invalid. So is a label that begins or ends with a hyphen
    /// (RFC 1123, 2.1), although browsers open such hosts. Throws ``DomainProblem``.
    public static func domain(_ name: String) throws(DomainProblem) -> String {
        if name.hasPrefix("[") || name.allSatisfy({ $0.isHexDigit || $0 == ":" }) && name.contains(":") {
            throw .address
        }
        guard let ascii = ascii(name) else {
            let last = name.split(separator: ".").last.map { $0.lowercased() } ?? ""
            throw !last.isEmpty && isNumber(last) ? .address : .notAName
        }
        let labels = ascii.split(separator: ".").map(String.init)
        if isAddress(labels) { throw .address }
        guard !labels.contains(where: hasOuterHyphen) else { throw .notAName }
        guard labels.count > 1 else { throw .singleLabel }
        return ascii
    }

    private static func label(_ text: Substring) -> String? {
        guard !text.isEmpty, text.utf8.count <= 256 else { return nil }
        var isASCII = true
        for scalar in text.unicodeScalars {
            if scalar.isASCII {
                switch scalar {
                case "a"..."z", "0"..."9", "-", "_": continue
                default: return nil
                }
            }
            isASCII = false
            switch scalar.properties.generalCategory {
            case .lowercaseLetter, .modifierLetter, .otherLetter, .nonspacingMark, .spacingMark, .decimalNumber:
                continue
            default: return nil
            }
        }
        // Some hosts have two hyphens in the same place as `xn--`, such as r3---sn.example.
        if isASCII { return text.utf8.count <= 63 ? String(text) : nil }
        // If IDNA does not allow a label (RFC 5891, 5.4), Foundation returns it with percent escapes.
        var components = URLComponents()
        components.host = String(text)
        guard let encoded = components.encodedHost, !encoded.contains("%") else { return nil }
        return encoded
    }

    private static func hasOuterHyphen(_ label: String) -> Bool {
        label.utf8.first == 0x2D || label.utf8.last == 0x2D
    }

    /// Returns whether programs interpret a name that ends in this label as an IPv4 address (WHATWG URL, 3.5).
    private static func isNumber(_ label: String) -> Bool {
        if label.hasPrefix("0x") { return label.dropFirst(2).allSatisfy(\.isHexDigit) }
        return label.utf8.allSatisfy { (0x30...0x39).contains($0) }
    }

    private static func isAddress(_ labels: [String]) -> Bool {
        labels.count == 4 && labels.allSatisfy { UInt8($0).map(String.init) == $0 }
    }
}
