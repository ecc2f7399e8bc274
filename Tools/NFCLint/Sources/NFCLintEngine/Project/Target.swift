// SPDX-License-Identifier: Apache-2.0

/// The kind of product that a target builds.
public enum TargetKind: String, Sendable {
    /// An iOS app.
    case app
    /// An App Clip.
    case clip
    /// An extension of an app.
    case appExtension = "extension"
    /// A library or framework.
    case library
    /// Tests.
    case test
    /// Files that belong to no target.
    case loose
    /// A target for other platforms, such as a watch app.
    case other
}

/// A build setting of a target, with its location.
public struct Setting: Sendable {
    /// The value. Its variables are resolved as far as possible.
    public var value: String
    /// The location of the setting.
    public var place: Place

    init(_ value: String, _ place: Place) {
        self.value = value
        self.place = place
    }
}

/// How a target links Core NFC.
public enum FrameworkLink: Sendable {
    /// Not known.
    case unknown
    /// By `import CoreNFC` alone, so that it has to exist at launch.
    case automatic
    /// It may be missing at launch ("Optional" in Xcode).
    case weak
    /// The project names it at this place, and it has to exist at launch.
    case required(Place)
}

/// A build configuration of a target, such as Debug or Release.
public struct Variant: Sendable {
    /// The configuration's name; empty if there is only one.
    public var name: String
    /// The Info.plist, if there is one.
    public var info: ConfigFile?
    /// The keys of the Info.plist that are generated from `INFOPLIST_KEY_…` settings.
    public var generatedInfo: [String: Setting]
    /// Whether all parts of the Info.plist were found and read.
    public var isInfoKnown: Bool
    /// The entitlements, if there are any.
    public var entitlements: ConfigFile?
    /// Whether it is known which entitlements the target has, including none.
    public var areEntitlementsKnown: Bool
    /// The minimum version of iOS; nil if unknown.
    public var minimum: Version?
    /// The app's identifier, including the team prefix; nil if unknown.
    public var identifier: String?
    /// Whether this configuration is released to users.
    public var isRelease: Bool
    /// How the target links Core NFC.
    public var link = FrameworkLink.unknown

    init(
        name: String = "",
        info: ConfigFile? = nil,
        generatedInfo: [String: Setting] = [:],
        isInfoKnown: Bool = false,
        entitlements: ConfigFile? = nil,
        areEntitlementsKnown: Bool = false,
        minimum: Version? = nil,
        isRelease: Bool = true
    ) {
        self.name = name
        self.info = info
        self.generatedInfo = generatedInfo
        self.isInfoKnown = isInfoKnown
        self.entitlements = entitlements
        self.areEntitlementsKnown = areEntitlementsKnown
        self.minimum = minimum
        self.isRelease = isRelease
    }
}

/// A product that is built from a project's files.
public struct Target: Sendable {
    /// The target's name.
    public var name: String
    /// The kind of product.
    public var kind: TargetKind
    /// The location of the target's description.
    public var place: Place
    /// The build configurations, at least one.
    public var variants: [Variant]
    /// The paths of the sources and texts, in order.
    public var files: [String]
    /// Sentences about files that could not be found.
    public var missing: [String]

    init(
        name: String,
        kind: TargetKind,
        place: Place,
        variants: [Variant],
        files: [String],
        missing: [String] = []
    ) {
        self.name = name
        self.kind = kind
        self.place = place
        self.variants = variants
        self.files = files
        self.missing = missing
    }

    /// The module name used in imports.
    var module: String { String(name.map { $0.isLetter || $0.isNumber ? $0 : "_" }) }
}
