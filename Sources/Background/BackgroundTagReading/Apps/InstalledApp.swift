// SPDX-License-Identifier: Apache-2.0
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
