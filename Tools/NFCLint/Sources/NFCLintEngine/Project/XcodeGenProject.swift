// SPDX-License-Identifier: Apache-2.0

/// Parses an XcodeGen project description, without its advanced features.
struct XcodeGenProject {
    let path: String
    let lookup: PathLookup
    let reader: ConfigReader

    /// The targets; nil if the file is not a project description.
    func targets() -> [Target]? {
        guard let root = reader.read(path), let targets = root["targets"]?.entries else { return nil }
        return targets.map { target($0, root) }
    }

    private var folder: String { PathLookup.folder(path) }

    private func target(_ entry: ConfigValue.Entry, _ root: ConfigValue) -> Target {
        let value = entry.value
        var settings = BuildSettings()
        for source in [root["settings"], root["settings"]?["base"], value["settings"], value["settings"]?["base"]] {
            let pairs = (source?.entries ?? []).compactMap { pair in
                pair.value.scalar.map { (pair.key, $0, Place(path, pair.position)) }
            }
            settings.add(pairs)
        }
        for name in value["configFiles"]?.entries?.compactMap(\.value.string) ?? [] {
            let file = ConfigurationFile(reader: reader, lookup: lookup)
            settings.add(file.settings(PathLookup.join(folder, name)))
        }
        var missing: [String] = []
        var variant = Variant(isInfoKnown: true, areEntitlementsKnown: true)
        variant.minimum = minimum(value, root) ?? settings.value("IPHONEOS_DEPLOYMENT_TARGET").flatMap { Version($0) }
        let sources = sources(value["sources"])
        let named = value["info"]?["path"]?.string ?? settings.value("INFOPLIST_FILE")
        // Without a named file, XcodeGen uses an Info.plist among the sources.
        let found = sources.first { $0.hasSuffix("/Info.plist") || $0 == "Info.plist" }
        variant.info = file(named, adding: value["info"]?["properties"])
        if named == nil, let found, let root = reader.read(found) { variant.info = ConfigFile(path: found, root: root) }
        let info = named ?? found
        if variant.info == nil, let info {
            variant.isInfoKnown = false
            missing.append("The Info.plist \(info) was not found or can't be read.")
        }
        let prefix = "INFOPLIST_KEY_"
        for key in settings.keys where key.hasPrefix(prefix) {
            variant.generatedInfo[String(key.dropFirst(prefix.count))] = settings.setting(key)
        }
        let entitlements =
            value["entitlements"]?["path"]?.string ?? settings.value("CODE_SIGN_ENTITLEMENTS")
        variant.entitlements = file(entitlements, adding: value["entitlements"]?["properties"])
        if variant.entitlements == nil, let entitlements {
            variant.areEntitlementsKnown = false
            missing.append("The entitlements \(entitlements) were not found or can't be read.")
        }
        let link = value["dependencies"]?.array?.first { $0["sdk"]?.string == "CoreNFC.framework" }
        let isWeak = settings.linksCoreNFCWeakly || link?["weak"]?.boolean == true
        variant.link = isWeak ? .weak : link.map { .required(Place(path, $0.position)) } ?? .automatic
        return Target(
            name: entry.key,
            kind: kind(value),
            place: Place(path, entry.position),
            variants: [variant],
            files: sources,
            missing: missing
        )
    }

    /// The property list that XcodeGen generates from the given properties; without them, the file itself.
    private func file(_ name: String?, adding properties: ConfigValue?) -> ConfigFile? {
        let found = name.flatMap { lookup.find(PathLookup.join(folder, $0)) }
        let read = found.flatMap { reader.read($0) }
        guard let added = properties?.entries else {
            guard let found, let read else { return nil }
            return ConfigFile(path: found, root: read)
        }
        // XcodeGen writes the file from these properties only. The file on disk is its previous output.
        return ConfigFile(path: path, root: ConfigValue(.dictionary(added), properties?.position ?? Position()))
    }

    private func minimum(_ value: ConfigValue, _ root: ConfigValue) -> Version? {
        let own = value["deploymentTarget"]
        let shared = root["options"]?["deploymentTarget"]?["iOS"]?.scalar
        return (own?.scalar ?? own?["iOS"]?.scalar ?? shared).flatMap { Version($0) }
    }

    private func kind(_ value: ConfigValue) -> TargetKind {
        let type = value["type"]?.string ?? ""
        let platforms = value["platform"]?.strings ?? []
        if !platforms.isEmpty, !platforms.contains("iOS"), !platforms.contains("auto") { return .other }
        if type.contains("on-demand") { return .clip }
        if type.contains("extension") { return .appExtension }
        if type.contains("test") { return .test }
        if type == "application" { return .app }
        return type.contains("framework") || type.contains("library") ? .library : .other
    }

    private func sources(_ value: ConfigValue?) -> [String] {
        var result: Set<String> = []
        let paths = value?.array?.compactMap { $0.string ?? $0["path"]?.string } ?? value?.strings ?? []
        for name in paths {
            let path = PathLookup.join(folder, name)
            if let file = lookup.find(path) { result.insert(file) }
            result.formUnion(lookup.files(under: path))
        }
        return result.sorted()
    }
}
