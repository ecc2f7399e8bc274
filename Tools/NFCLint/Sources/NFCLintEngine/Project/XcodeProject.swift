// SPDX-License-Identifier: Apache-2.0

/// Parses a `project.pbxproj`: its targets, their settings and their files.
struct XcodeProject {
    private let path: String
    private let lookup: PathLookup
    private let reader: ConfigReader
    private let objects: [String: ConfigValue]
    private let project: ConfigValue
    /// The folder that contains the `.xcodeproj`.
    private let folder: String
    /// The paths of file references, by object id.
    private var paths: [String: String] = [:]
    /// The folders whose files all belong to a target, by object id.
    private var folders: [String: String] = [:]
    private var collected: Set<String> = []

    init?(_ path: String, lookup: PathLookup, reader: ConfigReader) {
        guard let root = reader.read(path), let objects = root["objects"]?.entries else { return nil }
        self.path = path
        self.lookup = lookup
        self.reader = reader
        let objectsByID = Dictionary(objects.map { ($0.key, $0.value) }, uniquingKeysWith: { first, _ in first })
        self.objects = objectsByID
        guard let project = root["rootObject"]?.string.flatMap({ objectsByID[$0] }) else { return nil }
        self.project = project
        let home = PathLookup.folder(PathLookup.folder(path))
        folder = PathLookup.join(home, project["projectDirPath"]?.string ?? "")
        if let group = project["mainGroup"]?.string { collect(group, in: folder, depth: 0) }
    }

    private mutating func collect(_ id: String, in parent: String, depth: Int) {
        // A group has one parent, so skip groups that were already visited. This also stops at cycles.
        guard depth < 64, let object = objects[id], collected.insert(id).inserted else { return }
        let own = object["path"]?.string
        let base: String
        switch object["sourceTree"]?.string {
        case "SOURCE_ROOT": base = folder
        case "<group>", nil: base = parent
        default: base = parent
        }
        let place = own.map { PathLookup.join(base, $0) } ?? base
        switch object["isa"]?.string {
        case "PBXFileReference": paths[id] = place
        case "PBXFileSystemSynchronizedRootGroup": folders[id] = place
        default: for child in object["children"]?.strings ?? [] { collect(child, in: place, depth: depth + 1) }
        }
    }

    /// The targets that build a product.
    func targets() -> [Target] {
        (project["targets"]?.strings ?? []).compactMap { id in
            guard let object = objects[id], object["isa"]?.string == "PBXNativeTarget" else { return nil }
            return target(object)
        }
    }

    private func target(_ object: ConfigValue) -> Target {
        let name = object["name"]?.string ?? object["productName"]?.string ?? "target"
        var missing: [String] = []
        let settings = configurations(object, name)
        let type = object["productType"]?.string ?? ""
        var kind = Self.kind(type)
        if kind == .app, let first = settings.first?.settings, !Self.isForPhones(first) { kind = .other }
        if kind == .app, isForTests { kind = .test }
        let link = link(object)
        let variants = settings.map { name, settings in
            var variant = variant(name, settings, object.position, &missing)
            variant.link = settings.linksCoreNFCWeakly ? .weak : link
            return variant
        }
        return Target(
            name: name,
            kind: kind,
            place: Place(path, object.position),
            variants: variants.isEmpty ? [Variant()] : variants,
            files: sources(object),
            missing: Array(Set(missing)).sorted()
        )
    }

    /// Whether the project is for tests. Its app then only hosts the tests.
    private var isForTests: Bool {
        path.split(separator: "/").contains { $0.hasSuffix("Tests") || $0.hasSuffix("Tests.xcodeproj") }
    }

    private static func kind(_ type: String) -> TargetKind {
        if type.contains("application.on-demand-install-capable") { return .clip }
        if type.contains("watch") { return .other }
        if type.contains("app-extension") || type.contains("extensionkit-extension") { return .appExtension }
        if type.contains("test") { return .test }
        if type.hasSuffix(".application") { return .app }
        if type.contains("framework") || type.contains("library") { return .library }
        return .other
    }

    private static func isForPhones(_ settings: BuildSettings) -> Bool {
        if let platforms = settings.value("SUPPORTED_PLATFORMS"), !platforms.contains("$") {
            return platforms.contains("iphoneos")
        }
        guard let sdk = settings.value("SDKROOT"), !sdk.contains("$") else { return true }
        return sdk == "auto" || sdk.hasPrefix("iphoneos")
    }

    private func configurations(_ object: ConfigValue, _ name: String) -> [(name: String, settings: BuildSettings)] {
        func list(_ owner: ConfigValue) -> [(name: String, value: ConfigValue)] {
            let list = owner["buildConfigurationList"]?.string.flatMap { objects[$0] }
            return (list?["buildConfigurations"]?.strings ?? []).compactMap { id in
                objects[id].map { ($0["name"]?.string ?? "", $0) }
            }
        }
        let outer = list(project)
        return list(object).map { own in
            var settings = BuildSettings()
            let here = Place(path, object.position)
            settings.add([
                ("SRCROOT", folder, here), ("PROJECT_DIR", folder, here), ("TARGET_NAME", name, here),
                ("PRODUCT_NAME", name, here), ("CONFIGURATION", own.name, here),
                ("PROJECT_NAME", projectName, here),
            ])
            for value in outer where value.name == own.name { add(value.value, to: &settings) }
            add(own.value, to: &settings)
            return (own.name, settings)
        }
    }

    private var projectName: String {
        let package = PathLookup.folder(path).split(separator: "/").last ?? ""
        return String(package.split(separator: ".").first ?? "")
    }

    private func add(_ configuration: ConfigValue, to settings: inout BuildSettings) {
        if let id = configuration["baseConfigurationReference"]?.string, let file = paths[id] {
            settings.add(ConfigurationFile(reader: reader, lookup: lookup).settings(file))
        } else if let name = configuration["baseConfigurationReferenceRelativePath"]?.string,
            let anchor = configuration["baseConfigurationReferenceAnchor"]?.string.flatMap({ folders[$0] })
        {
            settings.add(ConfigurationFile(reader: reader, lookup: lookup).settings(PathLookup.join(anchor, name)))
        }
        let entries = configuration["buildSettings"]?.entries ?? []
        settings.add(
            entries.map { ($0.key, $0.value.strings.joined(separator: " "), Place(path, $0.position)) }
        )
    }

    private func variant(
        _ name: String,
        _ settings: BuildSettings,
        _ position: Position,
        _ missing: inout [String]
    ) -> Variant {
        var variant = Variant(name: name, isRelease: !name.lowercased().contains("debug"))
        if let team = settings.value("DEVELOPMENT_TEAM"), let bundle = settings.value("PRODUCT_BUNDLE_IDENTIFIER"),
            !team.isEmpty, !bundle.contains("$"), !team.contains("$")
        {
            variant.identifier = "\(team).\(bundle)"
        }
        variant.minimum = settings.value("IPHONEOS_DEPLOYMENT_TARGET").flatMap { Version($0) }
        variant.isInfoKnown = true
        if let named = settings.value("INFOPLIST_FILE"), !named.isEmpty {
            variant.info = file(named)
            variant.isInfoKnown = variant.info != nil
            if variant.info == nil { missing.append("The Info.plist \(named) was not found or can't be read.") }
        }
        let prefix = "INFOPLIST_KEY_"
        for key in settings.keys where key.hasPrefix(prefix) {
            variant.generatedInfo[String(key.dropFirst(prefix.count))] = settings.setting(key)
        }
        variant.areEntitlementsKnown = true
        if let named = settings.value("CODE_SIGN_ENTITLEMENTS"), !named.isEmpty {
            variant.entitlements = file(named)
            variant.areEntitlementsKnown = variant.entitlements != nil
            if variant.entitlements == nil {
                missing.append("The entitlements \(named) were not found or can't be read.")
            }
        }
        return variant
    }

    private func file(_ name: String) -> ConfigFile? {
        let path = name.hasPrefix("/") ? String(name.dropFirst()) : PathLookup.join(folder, name)
        // The path may already contain the folder that SRCROOT stands for.
        guard let found = lookup.find(path) ?? lookup.find(name) else { return nil }
        return reader.read(found).map { ConfigFile(path: found, root: $0) }
    }

    /// How the build phases of a target link Core NFC.
    private func link(_ object: ConfigValue) -> FrameworkLink {
        for phase in (object["buildPhases"]?.strings ?? []).compactMap({ objects[$0] }) {
            guard phase["isa"]?.string == "PBXFrameworksBuildPhase" else { continue }
            for file in (phase["files"]?.strings ?? []).compactMap({ objects[$0] }) {
                let path = file["fileRef"]?.string.flatMap { objects[$0] }?["path"]?.string
                guard path?.split(separator: "/").last == "CoreNFC.framework" else { continue }
                let isWeak = file["settings"]?["ATTRIBUTES"]?.strings.contains("Weak") == true
                return isWeak ? .weak : .required(Place(self.path, file.position))
            }
        }
        return .automatic
    }

    private func sources(_ object: ConfigValue) -> [String] {
        var result: Set<String> = []
        for phase in (object["buildPhases"]?.strings ?? []).compactMap({ objects[$0] }) {
            let isa = phase["isa"]?.string
            guard isa == "PBXSourcesBuildPhase" || isa == "PBXResourcesBuildPhase" else { continue }
            for reference in (phase["files"]?.strings ?? []).compactMap({ objects[$0]?["fileRef"]?.string }) {
                for path in referenced(reference) { if let found = lookup.find(path) { result.insert(found) } }
            }
        }
        for id in object["fileSystemSynchronizedGroups"]?.strings ?? [] {
            guard let folder = folders[id] else { continue }
            let exceptions = exceptions(id, target: object)
            result.formUnion(lookup.files(under: folder).filter { !exceptions.contains($0) })
        }
        return result.sorted()
    }

    /// The files of a reference: the file itself, or its language variants.
    private func referenced(_ id: String) -> [String] {
        if let path = paths[id] { return [path] }
        return (objects[id]?["children"]?.strings ?? []).compactMap { paths[$0] }
    }

    /// The files in a synchronized folder that the target excludes.
    private func exceptions(_ id: String, target: ConfigValue) -> Set<String> {
        var result: Set<String> = []
        for set in (objects[id]?["exceptions"]?.strings ?? []).compactMap({ objects[$0] }) {
            guard let owner = set["target"]?.string.flatMap({ objects[$0] }), owner.position == target.position else {
                continue
            }
            for name in set["membershipExceptions"]?.strings ?? [] {
                if let found = lookup.find(PathLookup.join(folders[id] ?? "", name)) { result.insert(found) }
            }
        }
        return result
    }
}
