// SPDX-License-Identifier: Apache-2.0
import Foundation
public import UniversalLinks

/// An app that links can open: a desktop entry, and the data that an iOS app has in its entitlements.
public struct InstalledApp: Sendable, Hashable {
    /// The application identifier: a prefix and a bundle identifier, such as `ABCDE12345.org.example.reader`.
    public var id: String
    /// The app's name as shown to people.
    public var name: String
    /// The name of the desktop entry without `.desktop`. If D-Bus starts the app, this is also the bus name.
    public var desktopID: String
    /// The entries of the app's associated domains.
    public var associatedDomains: [AssociatedDomain]
    /// The invalid associated domains, as written. They have no effect.
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

    /// The domains whose association files the app needs, in the app's order and without duplicates.
    public var linkedDomains: [String] {
        var seen: Set<String> = []
        return associatedDomains.filter { $0.service == "applinks" }.map(\.domain).filter { seen.insert($0).inserted }
    }

    /// Returns the app's longest entry that applies to a host.
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
    /// The maximum size of a file in bytes.
    public static let maximumSize = 64 << 10
    /// The maximum number of associated domains. Others are ignored.
    public static let maximumDomains = 100

    /// The application identifier.
    public var id: String
    /// The valid entries.
    public var associatedDomains: [AssociatedDomain]
    /// The invalid entries, as written.
    public var ignoredDomains: [String]
    /// The reasons why entries are ignored, as sentences.
    public var remarks: [String]

    private struct Content: Decodable {
        var app_id: String
        var associated_domains: [String]
    }

    /// Reads a file. Throws ``AppError``.
    public init(parsing bytes: [UInt8]) throws(AppError) {
        guard bytes.count <= Self.maximumSize else {
            throw AppError("The file is larger than \(Self.maximumSize) bytes.")
        }
        let content: Content
        do {
            content = try JSONDecoder().decode(Content.self, from: Data(bytes))
        } catch {
            throw AppError("The file is not a JSON object with app_id and associated_domains.")
        }
        guard Self.isIdentifier(content.app_id) else {
            throw AppError(
                "app_id must be a prefix, a period and a bundle identifier of ASCII letters, digits, - and _."
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
                let fault = AssociatedDomain.check([entry]).first { $0.severity == .error }
                let reason = DisplayText.plain(fault?.message ?? "\"\(entry)\" is invalid.", limit: 300)
                remarks.append(reason + " The entry is ignored.")
            }
        }
        if content.associated_domains.count > Self.maximumDomains {
            remarks.append("Only the first \(Self.maximumDomains) associated domains are used.")
        }
    }

    private static func entry(_ domain: AssociatedDomain) -> String {
        let mode = domain.mode.map { "?mode=\($0.rawValue)" } ?? ""
        return "\(domain.service):\(domain.isWildcard ? "*." : "")\(domain.domain)\(mode)"
    }

    /// Returns whether a string is a valid application identifier for an association file, such as
    /// `ABCDE12345.org.example.reader`, of at most 255 bytes.
    public static func isIdentifier(_ text: String) -> Bool {
        text.utf8.count <= 255 && AssociationFile.isIdentifier(text)
    }
}

/// The reason why an app's description, desktop entry, command or data are invalid.
public struct AppError: Error, Sendable, Hashable {
    /// A sentence that explains the error.
    public let reason: String
    /// Whether the error is a command with more than one placeholder for a link.
    public let isAmbiguous: Bool

    /// Creates an error.
    public init(_ reason: String, isAmbiguous: Bool = false) {
        self.reason = reason
        self.isAmbiguous = isAmbiguous
    }
}
