// SPDX-License-Identifier: Apache-2.0
import Foundation

/// Converts host names to the ASCII form that is used for lookups and can't be mistaken for another name.
public enum HostName {
    /// The most bytes of a name in ASCII, without a dot at the end (RFC 1035, 2.3.4).
    public static let maximumLength = 253

    /// Converts a name, or an IPv4 address with four decimal numbers, to ASCII (RFC 5891), such as `bücher.example` to
    /// `xn--bcher-kva.example`, in lower case and without a dot at the end; nil when it is not valid. Addresses in old
    /// notations, such as `0x7f.1`, are not valid, because programs read them differently.
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

    /// Why a name can't be the domain of an association file.
    public enum DomainProblem: Error, Sendable, Hashable, CustomStringConvertible {
        /// The name is an address, or looks like one.
        case address
        /// The name has no dot, like the names in a local network.
        case singleLabel
        case notAName

        /// The problem and what to write instead, as the end of a sentence.
        public var description: String {
            switch self {
            case .address: "is an address. Write the name of the domain, such as example.org."
            case .singleLabel: "has no dot, so it isn't an internet domain. Write a name such as example.org."
            case .notAName: "can't be the name of a domain. Write a name such as example.org."
            }
        }
    }

    /// Converts the domain of an association file to ASCII, as ``ascii(_:)`` does. Sites have certificates for internet
    /// names, so an address or a name without a dot is not valid. No label begins or ends with a hyphen (RFC 1123,
    /// 2.1), although browsers open links of such hosts. Throws ``DomainProblem``.
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
        // Hosts with two hyphens where `xn--` has them exist, such as r3---sn.example.
        if isASCII { return text.utf8.count <= 63 ? String(text) : nil }
        guard isConverted(text) else { return nil }
        let encoded = Punycode.encode(text.unicodeScalars)
        return encoded.utf8.count <= 59 ? "xn--" + encoded : nil
    }

    /// Returns whether a label that is not ASCII may be converted (RFC 5891, 5.4): it has no hyphen at its ends, not two
    /// hyphens where `xn--` has them, and does not begin with a mark that belongs to a letter.
    private static func isConverted(_ label: Substring) -> Bool {
        let scalars = Array(label.unicodeScalars)
        let isMark =
            switch scalars[0].properties.generalCategory {
            case .nonspacingMark, .spacingMark: true
            default: false
            }
        return !isMark && !hasOuterHyphen(String(label)) && scalars.dropFirst(2).prefix(2) != ["-", "-"]
    }

    private static func hasOuterHyphen(_ label: String) -> Bool {
        label.utf8.first == 0x2D || label.utf8.last == 0x2D
    }

    /// Returns whether programs read a name that ends in this label as an IPv4 address (WHATWG URL, 3.5).
    private static func isNumber(_ label: String) -> Bool {
        if label.hasPrefix("0x") { return label.dropFirst(2).allSatisfy(\.isHexDigit) }
        return label.utf8.allSatisfy { (0x30...0x39).contains($0) }
    }

    private static func isAddress(_ labels: [String]) -> Bool {
        labels.count == 4 && labels.allSatisfy { UInt8($0).map(String.init) == $0 }
    }
}

/// Encodes names with other characters than ASCII in ASCII (RFC 3492).
enum Punycode {
    private static let base: UInt32 = 36
    private static let minimum: UInt32 = 1
    private static let maximum: UInt32 = 26
    private static let skew: UInt32 = 38
    private static let damp: UInt32 = 700

    /// Encodes a label of at most 256 scalars, so that no number gets too large. The result is without `xn--`.
    static func encode(_ label: Substring.UnicodeScalarView) -> String {
        let scalars = label.map(\.value)
        var output = scalars.filter { $0 < 0x80 }.map { UInt8($0) }
        let basicCount = UInt32(output.count)
        var handled = basicCount
        if basicCount > 0 { output.append(0x2D) }
        var next: UInt32 = 0x80
        var delta: UInt32 = 0
        var bias: UInt32 = 72
        while let smallest = scalars.filter({ $0 >= next }).min() {
            delta += (smallest - next) * (handled + 1)
            next = smallest
            for scalar in scalars {
                if scalar < next { delta += 1 }
                guard scalar == next else { continue }
                append(delta, bias: bias, to: &output)
                bias = adapt(delta, count: handled + 1, isFirst: handled == basicCount)
                delta = 0
                handled += 1
            }
            delta += 1
            next += 1
        }
        return String(decoding: output, as: UTF8.self)
    }

    /// Writes a number of variable length, the lowest digit first.
    private static func append(_ delta: UInt32, bias: UInt32, to output: inout [UInt8]) {
        var rest = delta
        var position = base
        while true {
            let threshold = position <= bias ? minimum : min(position - bias, maximum)
            guard rest >= threshold else { break }
            output.append(digit(threshold + (rest - threshold) % (base - threshold)))
            rest = (rest - threshold) / (base - threshold)
            position += base
        }
        output.append(digit(rest))
    }

    private static func digit(_ value: UInt32) -> UInt8 {
        UInt8(value < 26 ? 0x61 + value : 0x30 + value - 26)
    }

    private static func adapt(_ delta: UInt32, count: UInt32, isFirst: Bool) -> UInt32 {
        var delta = isFirst ? delta / damp : delta / 2
        delta += delta / count
        var result: UInt32 = 0
        while delta > (base - minimum) * maximum / 2 {
            delta /= base - minimum
            result += base
        }
        return result + (base - minimum + 1) * delta / (delta + skew)
    }
}
