// SPDX-License-Identifier: Apache-2.0

/// The plugins through which apps use Core NFC, found in the manifests of Flutter, React Native, Expo, Capacitor,
/// Cordova and CocoaPods.
struct Plugins: Sendable {
    /// The names of the files that are read.
    static let manifests: Set<String> = [
        "pubspec.yaml", "package.json", "app.json", "config.xml", "plugin.xml", "Podfile", "Podfile.lock",
        "app.config.js", "app.config.ts",
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
            if path.hasSuffix("plugin.xml"), let app = Self.cordovaPlugin(path, bytes, files.paths) {
                generated.append(app)
            }
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

    /// An app with what a Cordova plugin adds to it: its sources, and values of the Info.plist and the entitlements.
    private static func cordovaPlugin(_ path: String, _ bytes: [UInt8], _ paths: [String]) -> Target? {
        // The patterns would take long on a huge file.
        guard bytes.count < 64 << 10 else { return nil }
        let text = String(decoding: bytes, as: UTF8.self)
        guard let start = text.firstRange(of: #/<platform[^>]*name="ios"[^>]*>/#), text.utf8.count == bytes.count,
            let name = text.firstMatch(of: #/<plugin[^>]*\sid="(?<name>[^"]+)"/#)?.name
        else { return nil }
        let element = #/<config-file\b[^>]*>(?<value>.*?)</config-file>/#.dotMatchesNewlines()
        let values = text[start.upperBound...].matches(of: element).compactMap { match in
            mark("parent", match.0).map {
                (key: $0, file: mark("target", match.0) ?? "", tag: match.0, value: match.value)
            }
        }
        // A property list of the same length with only these values, so that their positions stay.
        func list(_ isWanted: (_ key: String, _ file: String) -> Bool) -> ConfigFile? {
            var result = bytes.map { $0 == 0x0A ? $0 : 0x20 }
            func put(_ part: some StringProtocol, _ index: String.Index) {
                let offset = text.utf8.distance(from: text.startIndex, to: index)
                result.replaceSubrange(offset..<(offset + part.utf8.count), with: part.utf8)
            }
            put("<plist version=\"1.0\"><dict>", text.startIndex)
            var keys: Set<String> = []
            for (key, file, tag, value) in values where isWanted(key, file) && keys.insert(key).inserted {
                put("<key>\(key)</key>", tag.startIndex)
                put(value, value.startIndex)
            }
            let root = keys.isEmpty ? nil : try? ConfigFile.propertyList(result + "</dict></plist>".utf8)
            return root.map { ConfigFile(path: path, root: $0) }
        }
        var variant = Variant(info: list { $1.hasSuffix("Info.plist") && $0 != usage })
        variant.entitlements = list { $0.hasPrefix("com.apple.developer.") && !$1.hasSuffix("Info.plist") }
        variant.areEntitlementsKnown = variant.entitlements != nil
        if let given = values.first(where: { $0.key == usage })?.value {
            // The text is in the value, or the default of a preference that the value names.
            let name = given.firstMatch(of: #/\$(?<name>\w+)/#)?.name
            let preset = text.matches(of: #/<preference\b[^>]*>/#).map(\.0).first { tag in
                name.map { mark("name", tag) == String($0) } == true
            }
            let own = name == nil ? given.firstMatch(of: #/<string>(?<text>[^<]*)/#).map { String($0.text) } : nil
            if let value = own ?? preset.flatMap({ mark("default", $0) }) {
                let line = 1 + text[..<(preset ?? given).startIndex].count { $0.isNewline }
                variant.generatedInfo[usage] = Setting(value, Place(path, Position(line: line)))
            }
        }
        let folder = PathLookup.folder(path)
        let sources = text.matches(of: #/<(source|header)-file\b[^>]*>/#).compactMap { mark("src", $0.0) }
        let files = Set(sources.map { PathLookup.join(folder, $0) })
        let own = paths.filter(files.contains)
        return Target(name: String(name), kind: .app, place: Place(path), variants: [variant], files: own)
    }

    /// The value of an attribute in an XML tag.
    private static func mark(_ name: String, _ tag: Substring) -> String? {
        let tag = String(tag.map { $0.isWhitespace ? " " : $0 })
        guard let start = tag.firstRange(of: " \(name)=\"") else { return nil }
        return String(tag[start.upperBound...].prefix { $0 != "\"" })
    }
}
