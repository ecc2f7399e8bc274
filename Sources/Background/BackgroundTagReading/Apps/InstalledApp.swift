// SPDX-License-Identifier: Apache-2.0
import Foundation
public import UniversalLinks

/// An app that links can open: a desktop entry, with the data that an iOS app has in its entitlements.
public struct InstalledApp: Sendable, Hashable {
    /// The application identifier: a prefix and a bundle identifier, such as `ABCDE12345.org.example.reader`.
    public var id: String
    /// The app's name as shown to people.
    public var name: String
    /// The name of the desktop entry without `.desktop`. If D-Bus starts the app, it is the bus name.
    public var desktopID: String
    /// The entries of the app's associated domains.
    public var associatedDomains: [AssociatedDomain]
    /// The invalid entries, as written. They have no effect.
    public var ignoredDomains: [String]
    /// The custom schemes of the desktop entry's `MimeType`, in lower case.
    public var schemes: [String]
    /// Whether D-Bus starts the app.
    public var isBusActivated: Bool

    /// Creates an app.
    public init(
        id: String,
        name: String,
        desktopID: String,
        associatedDomains: [AssociatedDomain],
        ignoredDomains: [String] = [],
        schemes: [String] = [],
        isBusActivated: Bool = false
    ) {
        self.id = id
        self.name = name
        self.desktopID = desktopID
        self.associatedDomains = associatedDomains
        self.ignoredDomains = ignoredDomains
        self.schemes = schemes
        self.isBusActivated = isBusActivated
    }

    /// The domains whose association files the app needs, without duplicates, in the app's order.
    public var linkedDomains: [String] {
        var seen: Set<String> = []
        return associatedDomains.filter { $0.service == "applinks" }.map(\.domain).filter { seen.insert($0).inserted }
    }

    /// Returns the app's entry that applies to a host: the longest one that is for it.
    public func entry(for host: String) -> AssociatedDomain? {
        AssociatedDomain.applying(associatedDomains.map(\.entry), host: host)
    }
}

/// The file that lets tags open the app of a desktop entry: `nfc/apps/NAME.json` in a data folder.
///
/// ```json
/// {
///   "app_id": "ABCDE12345.org.example.reader",
///   "associated_domains": ["applinks:example.org", "applinks:*.example.org?mode=developer"]
/// }
/// ```
///
/// `NAME` is the name of the desktop entry, `NAME.desktop`. Other keys are ignored.
public struct AppDescription: Sendable, Hashable {
    /// The largest file that is read, in bytes.
    public static let maximumSize = 64 << 10
    /// The most associated domains that are used.
    public static let maximumDomains = 100

    /// The application identifier.
    public var id: String
    /// The valid entries.
    public var associatedDomains: [AssociatedDomain]
    /// The invalid entries, as written.
    public var ignoredDomains: [String]
    /// What is ignored, as sentences.
    public var remarks: [String]

    /// Why a file is not valid.
    public struct Problem: Error, Sendable, Hashable {
        /// A sentence that explains the problem.
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
    /// - Parameter bytes: the file's bytes.
    /// - Throws: ``Problem``.
    public init(parsing bytes: [UInt8]) throws(Problem) {
        guard bytes.count <= Self.maximumSize else {
            throw Problem(reason: "The file is larger than \(Self.maximumSize) bytes.")
        }
        let content: Content
        do {
            content = try JSONDecoder().decode(Content.self, from: Data(bytes))
        } catch {
            throw Problem(reason: "The file is no JSON object with app_id and associated_domains.")
        }
        guard Self.isIdentifier(content.app_id) else {
            throw Problem(
                reason: "app_id has to be a prefix, a period and a bundle identifier of ASCII letters, digits, - and _."
            )
        }
        id = content.app_id
        associatedDomains = []
        ignoredDomains = []
        remarks = []
        for entry in content.associated_domains.prefix(Self.maximumDomains) {
            if let domain = AssociatedDomain(entry), let ascii = AssociatedDomain(Self.entry(domain)) {
                associatedDomains.append(ascii)
            } else {
                ignoredDomains.append(entry)
                let shown = DisplayText.plain(entry, limit: 80)
                remarks.append("The entry \"\(shown)\" is ignored: \(Self.fault(of: entry))")
            }
        }
        if content.associated_domains.count > Self.maximumDomains {
            remarks.append("Only the first \(Self.maximumDomains) associated domains count.")
        }
    }

    /// Returns why an entry is invalid, and what to write instead.
    private static func fault(of entry: String) -> String {
        let parts = entry.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, !parts[0].isEmpty else {
            return "write a service before it, as in applinks:example.org."
        }
        let (service, rest) = (DisplayText.plain(String(parts[0]), limit: 60), parts[1])
        if service.lowercased() == "http" || service.lowercased() == "https" {
            return "it is a URL; write a service and the domain alone, as in applinks:example.org."
        }
        let name = rest.prefix { $0 != "?" }
        if rest.contains("://") { return "write the domain without its scheme, as in \(service):example.org." }
        if let problem = Self.domainProblem(name), problem != .notAName {
            return "\"\(DisplayText.plain(String(name), limit: 60))\" \(problem.description)"
        }
        if name.contains("/") { return "write the domain without a path. The association file says which paths count." }
        if name.contains(":") { return "write the domain without a port." }
        if name.isEmpty { return "it has no domain." }
        if name.contains(where: \.isWhitespace) { return "it has a blank." }
        if name.contains("*"), !(name.hasPrefix("*.") && !name.dropFirst(2).contains("*")) {
            return "a wildcard stands first and alone, as in \(service):*.example.org."
        }
        if rest.contains("?") { return "its mode is not developer, managed or developer+managed." }
        return "\"\(DisplayText.plain(String(name), limit: 60))\" can't be the name of a domain."
    }

    /// Returns why a name, with or without wildcard, is not a valid domain; nil for a valid one.
    private static func domainProblem(_ name: Substring) -> HostName.DomainProblem? {
        do throws(HostName.DomainProblem) {
            _ = try HostName.domain(String(name.hasPrefix("*.") ? name.dropFirst(2) : name))
            return nil
        } catch {
            return error
        }
    }

    private static func entry(_ domain: AssociatedDomain) -> String {
        let mode = domain.mode.map { "?mode=\($0.rawValue)" } ?? ""
        return "\(domain.service):\(domain.isWildcard ? "*." : "")\(domain.domain)\(mode)"
    }

    /// Returns whether a string is an application identifier as in an association file, such as
    /// `ABCDE12345.org.example.reader`, and has at most 255 bytes.
    public static func isIdentifier(_ text: String) -> Bool {
        text.utf8.count <= 255 && AssociationFile.isIdentifier(text)
    }
}
