// SPDX-License-Identifier: Apache-2.0

/// What a target makes.
public enum TargetKind: String, Sendable {
    /// An app for phones.
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
    /// A target that is not for phones, such as a watch app.
    case other
}

/// A setting of a target, and its place.
public struct Setting: Sendable {
    /// The value, with its variables resolved as far as they are known.
    public var value: String
    /// Where it stands.
    public var place: Place

    init(_ value: String, _ place: Place) {
        self.value = value
        self.place = place
    }
}

/// A build configuration of a target, such as Debug or Release.
public struct Variant: Sendable {
    /// The configuration's name; empty if there is only one.
    public var name: String
    /// The Info.plist, if there is one.
    public var info: ConfigFile?
    /// Keys of the Info.plist that are made from settings, `INFOPLIST_KEY_…`.
    public var generatedInfo: [String: Setting]
    /// Whether all that makes up the Info.plist was found and read.
    public var isInfoKnown: Bool
    /// The entitlements, if there are any.
    public var entitlements: ConfigFile?
    /// Whether the target's entitlements are known, also to be none.
    public var areEntitlementsKnown: Bool
    /// The least version of iOS; nil when unknown.
    public var minimum: Version?
    /// The app's identifier with the team's prefix; nil when it is not known.
    public var identifier: String?
    /// Whether this is how users get it.
    public var isRelease: Bool

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
    /// Its name.
    public var name: String
    /// What it makes.
    public var kind: TargetKind
    /// The file that describes it, and the place in the file.
    public var place: Place
    /// Its build configurations; at least one.
    public var variants: [Variant]
    /// The paths of its sources and texts, in order.
    public var files: [String]
    /// What could not be found, as sentences.
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

    /// The name by which sources import it.
    var module: String { String(name.map { $0.isLetter || $0.isNumber ? $0 : "_" }) }
}
