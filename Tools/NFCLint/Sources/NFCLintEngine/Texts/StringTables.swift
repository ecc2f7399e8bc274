// SPDX-License-Identifier: Apache-2.0

/// The localized texts by key, in the app's development language.
public struct StringTable: Sendable {
    /// A text with its location.
    public struct Text: Sendable {
        /// The text.
        public var text: String
        /// The location of the text.
        public var place: Place
        /// The language, such as `pt-BR`; nil if unknown.
        public var language: String?
        /// The text in the other languages. Their own translations are empty.
        public var translations: [Text] = []
    }

    private(set) var texts: [String: Text] = [:]
    /// The keys by spelling: their letters and digits. Generated names keep only these.
    private var spelled: [String: String] = [:]

    /// The text of a key; nil if the key is missing.
    public subscript(_ key: String) -> Text? { texts[key] }

    /// Adds a text. The first text of a key is the one in the development language.
    mutating func add(_ key: String, _ text: String, _ place: Place, _ language: String?) {
        let new = Text(text: text, place: place, language: language)
        if let known = texts[key] {
            let isOther = language != nil && known.language != nil && known.language != language
            // Another table may use the key for another text.
            let isSameTable = place.path.split(separator: "/").last == known.place.path.split(separator: "/").last
            if isOther, isSameTable { texts[key]?.translations.append(new) }
            return
        }
        texts[key] = new
        spelled[Self.spelling(key)] = spelled[Self.spelling(key)] ?? key
    }

    /// The text that a generated name refers to: `L10n.Doors.openMessage` for `doors.open_message`.
    func text(named names: [String]) -> Text? { spelled[Self.spelling(names.joined())].flatMap { texts[$0] } }

    private static func spelling(_ key: String) -> String { key.lowercased().filter { $0.isLetter || $0.isNumber } }
}

/// Parses `.strings` and `.xcstrings` files.
struct StringTables {
    let files: any ProjectFiles
    let reader: ConfigReader

    /// The localization files among the files of a target.
    static func paths(_ paths: [String]) -> [String] {
        paths.filter { $0.hasSuffix(".strings") || $0.hasSuffix(".xcstrings") }
    }

    /// The texts in the given files. English comes first, because most apps are developed in English.
    func table(_ paths: [String]) -> StringTable {
        var table = StringTable()
        for path in paths.sorted(by: { (Self.rank($0), $0) < (Self.rank($1), $1) }) {
            guard let root = reader.read(path) else { continue }
            if path.hasSuffix(".xcstrings") {
                addCatalogue(root, path, to: &table)
            } else {
                let folder = path.split(separator: "/").dropLast().last ?? ""
                let language = folder.hasSuffix(".lproj") ? String(folder.dropLast(".lproj".count)) : nil
                for entry in root.entries ?? [] {
                    if let text = entry.value.string {
                        table.add(entry.key, text, Place(path, entry.value.position), language)
                    }
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
            let localizations = entry.value["localizations"]
            let value = localizations?[source]?["stringUnit"]?["value"]
            table.add(entry.key, value?.string ?? entry.key, Place(path, value?.position ?? entry.position), source)
            for other in localizations?.entries ?? [] where other.key != source {
                guard let value = other.value["stringUnit"]?["value"], let text = value.string else { continue }
                table.add(entry.key, text, Place(path, value.position), other.key)
            }
        }
    }
}
