// SPDX-License-Identifier: Apache-2.0

/// The plugins through which apps use Core NFC, found in the manifests of Flutter, React Native, Expo, Capacitor,
/// Cordova and CocoaPods.
struct Plugins: Sendable {
    /// The names of the files that are read.
    static let manifests: Set<String> = [
        "pubspec.yaml", "package.json", "app.json", "config.xml", "Podfile", "Podfile.lock", "app.config.js",
        "app.config.ts",
    ]
    private static let usage = "NFCReaderUsageDescription"

    /// Where manifests name plugins, with the folders of the manifests.
    private(set) var uses: [(folder: String, place: Place)] = []
    /// The apps without an Xcode project, which Expo and Cordova generate.
    private var generated: [Target] = []

    init(_ files: any ProjectFiles) {
        let filter = SourceFilter(names: ["nfc", "NFC"])
        let paths = files.paths.filter { Self.manifests.contains(Self.name($0)) }
        let using = Set(paths.filter { files.bytes($0).map(filter.matters) == true }.map(PathLookup.folder))
        let dynamic = Set(paths.filter { $0.contains("app.config.") }.map(PathLookup.folder))
        for path in paths {
            let folder = PathLookup.folder(path)
            // The app.json of an app that names its plugin in another file matters too.
            guard let bytes = files.bytes(path), filter.matters(bytes) || using.contains(folder) else { continue }
            let json = try? path.hasSuffix(".json") ? ConfigValue.json(bytes) : nil
            let named = json.map(Self.dependencies) ?? Self.lines(Self.name(path), TextLines.read(bytes))
            if let first = named.first(where: { Self.isForNFC($0.name) }) {
                uses.append((folder, Place(path, first.position)))
            }
            let isDynamic = dynamic.contains(folder)
            if let json, let app = Self.expo(path, json, isDynamic) { generated.append(app) }
            if path.hasSuffix("config.xml"), let app = Self.cordova(path, bytes) { generated.append(app) }
        }
    }

    private static func name(_ path: String) -> String { path.split(separator: "/").last.map(String.init) ?? path }

    /// Where a manifest names a plugin that an app uses; nil if it uses none.
    func use(_ target: Target) -> Place? {
        guard target.kind == .app || target.kind == .clip else { return nil }
        return uses.first { Self.isInside(target.place.path, $0.folder) }?.place
    }

    /// The apps that no Xcode project describes.
    ///
    /// - Parameter targets: the targets that were found.
    func apps(without targets: [Target]) -> [Target] {
        generated.filter { app in
            let folder = PathLookup.folder(app.place.path)
            return !targets.contains { $0.kind == .app && Self.isInside($0.place.path, folder) }
        }
    }

    private static func isInside(_ path: String, _ folder: String) -> Bool {
        folder.isEmpty || path.hasPrefix(folder + "/")
    }

    /// Whether a package is for Core NFC. Packages that emulate cards are for Android.
    private static func isForNFC(_ name: String) -> Bool {
        let words = name.lowercased().split { !$0.isLetter }
        let isMeant = name.contains("NFC") || words.contains { $0.hasPrefix("nfc") || $0.hasSuffix("nfc") }
        return isMeant && !words.contains { ["hce", "emulation"].contains($0) }
    }

    // MARK: Manifests

    private typealias Named = (name: String, position: Position)

    /// The packages in a `package.json`, and the plugins in an `app.json`.
    private static func dependencies(_ root: ConfigValue) -> [Named] {
        let plugins = (root["expo"] ?? root)["plugins"]?.array ?? []
        return (root["dependencies"]?.entries ?? []).map { ($0.key, $0.position) }
            + plugins.compactMap { value in (value.string ?? value.array?.first?.string).map { ($0, value.position) } }
    }

    /// The packages in a manifest with a package on each line.
    private static func lines(_ name: String, _ lines: [String]) -> [Named] {
        var section = ""
        return lines.enumerated().compactMap { number, line in
            let words = line.split { " \t'\"<>=,:".contains($0) }.map(String.init)
            if line.first?.isLetter == true { section = words.first ?? "" }
            let package: String? =
                switch (name, words.first) {
                case ("pubspec.yaml", let first): section == "dependencies" && line.hasPrefix("  ") ? first : nil
                case ("Podfile", "pod"), ("Podfile.lock", "-"): words.dropFirst().first
                case ("config.xml", "plugin"): words.firstIndex(of: "name").flatMap { words.dropFirst($0 + 1).first }
                default: nil
                }
            return package.map { ($0, Position(line: number + 1)) }
        }
    }

    // MARK: Generated apps

    private static func expo(_ path: String, _ root: ConfigValue, _ isDynamic: Bool) -> Target? {
        guard name(path) == "app.json", let app = root["expo"] else { return nil }
        let ios = app["ios"]
        let plugin = (app["plugins"]?.array ?? []).first { isForNFC($0.string ?? $0.array?.first?.string ?? "") }
        // The plugin and code in app.config may add keys.
        let isKnown = plugin == nil && !isDynamic
        var variant = Variant(isInfoKnown: isKnown, areEntitlementsKnown: isKnown)
        let empty = ConfigValue(.dictionary([]), ios?.position ?? app.position)
        variant.info = ConfigFile(path: path, root: ios?["infoPlist"] ?? empty)
        variant.entitlements = ios?["entitlements"].map { ConfigFile(path: path, root: $0) }
        if let text = plugin?.array?.dropFirst().first?["nfcPermission"], let value = text.string {
            variant.generatedInfo[usage] = Setting(value, Place(path, text.position))
        }
        let name = app["name"]?.string ?? "app"
        return Target(name: name, kind: .app, place: Place(path, app.position), variants: [variant], files: [])
    }

    private static func cordova(_ path: String, _ bytes: [UInt8]) -> Target? {
        let lines = TextLines.read(bytes)
        guard lines.contains(where: { $0.contains("<widget") }) else { return nil }
        var variant = Variant()
        if let key = lines.firstIndex(where: { $0.contains(usage) }),
            let number = lines[key...].prefix(4).firstIndex(where: { $0.contains("<string>") }),
            let start = lines[number].firstRange(of: "<string>")
        {
            let text = String(lines[number][start.upperBound...].prefix { $0 != "<" })
            variant.generatedInfo[usage] = Setting(text, Place(path, Position(line: number + 1)))
        }
        return Target(name: "app", kind: .app, place: Place(path), variants: [variant], files: [])
    }
}
