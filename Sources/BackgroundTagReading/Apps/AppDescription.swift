// SPDX-License-Identifier: Apache-2.0
import Foundation
public import UniversalLinks

/// The file that makes a desktop entry an app that tags can open, `nfc/apps/NAME.json` in a folder for data:
///
/// ```json
/// {
///   "app_id": "ABCDE12345.org.example.reader",
///   "associated_domains": ["applinks:example.org", "applinks:*.example.org?mode=developer"]
/// }
/// ```
///
/// `NAME` is that of the desktop entry, `NAME.desktop`. Other keys are ignored.
public struct AppDescription: Sendable, Hashable {
    /// The largest file that is read, in octets.
    public static let maximumSize = 64 << 10
    /// The most entries of associated domains that count.
    public static let maximumDomains = 100

    /// The application identifier.
    public var id: String
    /// The entries that can be read.
    public var associatedDomains: [AssociatedDomain]
    /// What is ignored, as sentences for people.
    public var remarks: [String]

    /// Why a file is none.
    public struct Problem: Error, Sendable, Hashable {
        /// A sentence for people.
        public var reason: String

        /// Creates a problem.
        public init(reason: String) { self.reason = reason }
    }

    private struct Content: Decodable {
        var app_id: String
        var associated_domains: [String]
    }

    /// Reads a file.
    ///
    /// - Parameter octets: its octets.
    /// - Throws: ``Problem``.
    public init(parsing octets: [UInt8]) throws(Problem) {
        guard octets.count <= Self.maximumSize else {
            throw Problem(reason: "The file is larger than \(Self.maximumSize) octets.")
        }
        let content: Content
        do {
            content = try JSONDecoder().decode(Content.self, from: Data(octets))
        } catch {
            throw Problem(reason: "The file is no JSON object with app_id and associated_domains.")
        }
        guard Self.isIdentifier(content.app_id) else {
            throw Problem(reason: "app_id has to be a prefix, a period and a bundle identifier of ASCII.")
        }
        id = content.app_id
        associatedDomains = []
        remarks = []
        for entry in content.associated_domains.prefix(Self.maximumDomains) {
            if let domain = AssociatedDomain(entry), let name = HostName.ascii(domain.domain),
                let ascii = AssociatedDomain(Self.entry(domain, name))
            {
                associatedDomains.append(ascii)
            } else {
                remarks.append("The entry \"\(DisplayText.plain(entry, limit: 80))\" can't be read and is ignored.")
            }
        }
        if content.associated_domains.count > Self.maximumDomains {
            remarks.append("Only the first \(Self.maximumDomains) associated domains count.")
        }
    }

    private static func entry(_ domain: AssociatedDomain, _ name: String) -> String {
        let mode = domain.mode.map { "?mode=\($0.rawValue)" } ?? ""
        return "\(domain.service):\(domain.isWildcard ? "*." : "")\(name)\(mode)"
    }

    /// Whether a text is an application identifier, such as `ABCDE12345.org.example.reader`.
    static func isIdentifier(_ text: String) -> Bool {
        let labels = text.split(separator: ".", omittingEmptySubsequences: false)
        return text.utf8.count <= 255 && labels.count >= 2
            && labels.allSatisfy { label in
                !label.isEmpty
                    && label.utf8.allSatisfy { octet in
                        switch octet {
                        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x5F: true
                        default: false
                        }
                    }
            }
    }
}
