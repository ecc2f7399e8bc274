// SPDX-License-Identifier: Apache-2.0

/// Texts by key, in the language in which an app is developed.
public struct StringTable: Sendable {
    /// A text, and its place.
    public struct Text: Sendable {
        /// The text.
        public var text: String
        /// Where it stands.
        public var place: Place
    }

    private(set) var texts: [String: Text] = [:]
    /// The texts by the letters and digits of their keys, as generated names have them.
    private var spelled: [String: Text] = [:]

    /// The text of a key; nil when no file has it.
    public subscript(_ key: String) -> Text? { texts[key] }

    mutating func add(_ key: String, _ text: String, _ place: Place) {
        guard texts[key] == nil else { return }
        texts[key] = Text(text: text, place: place)
        spelled[Self.spelling(key)] = spelled[Self.spelling(key)] ?? texts[key]
    }

    /// The text that a generated name means: `L10n.Doors.openMessage` for `doors.open_message`.
    func text(named names: [String]) -> Text? { spelled[Self.spelling(names.joined())] }

    private static func spelling(_ key: String) -> String { key.lowercased().filter { $0.isLetter || $0.isNumber } }
}

/// Reads `.strings` and `.xcstrings`.
struct StringTables {
    let files: any ProjectFiles
    let reader: ConfigReader

    /// The files with texts among those of a target.
    static func paths(_ paths: [String]) -> [String] {
        paths.filter { $0.hasSuffix(".strings") || $0.hasSuffix(".xcstrings") }
    }

    /// The texts of files, with English first, because most apps are developed in English.
    func table(_ paths: [String]) -> StringTable {
        var table = StringTable()
        for path in paths.sorted(by: { (Self.rank($0), $0) < (Self.rank($1), $1) }) {
            guard let root = reader.read(path) else { continue }
            if path.hasSuffix(".xcstrings") {
                addCatalogue(root, path, to: &table)
            } else {
                for entry in root.entries ?? [] {
                    if let text = entry.value.string { table.add(entry.key, text, Place(path, entry.value.position)) }
                }
            }
        }
        return table
    }

    private static func rank(_ path: String) -> Int {
        if path.contains("InfoPlist") { return 9 }
        if path.contains("en.lproj/") { return 0 }
        if path.contains("Base.lproj/") { return 1 }
        return path.contains("en-") ? 2 : 3
    }

    private func addCatalogue(_ root: ConfigValue, _ path: String, to table: inout StringTable) {
        let source = root["sourceLanguage"]?.string ?? "en"
        for entry in root["strings"]?.entries ?? [] {
            let unit = entry.value["localizations"]?[source]?["stringUnit"]
            let value = unit?["value"]
            table.add(
                entry.key,
                value?.string ?? entry.key,
                Place(path, value?.position ?? entry.position)
            )
        }
    }
}
