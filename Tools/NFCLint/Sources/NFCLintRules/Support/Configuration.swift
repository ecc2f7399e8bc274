// SPDX-License-Identifier: Apache-2.0
import NFCLintEngine

/// A value in a target's configuration, with its location.
struct Located {
    var value: ConfigValue
    /// The location of the key.
    var key: Place
    var path: String

    /// The location of a nested value.
    func place(_ value: ConfigValue) -> Place { Place(path, value.position) }
}

extension ConfigFile {
    func located(_ key: String) -> Located? {
        root.entry(key).map { Located(value: $0.value, key: place($0.position), path: path) }
    }
}

extension Variant {
    /// A value of the Info.plist, including values from build settings.
    func info(_ key: String) -> Located? {
        if let found = info?.located(key) { return found }
        return generatedInfo[key].map {
            Located(value: ConfigValue(.string($0.value), $0.place.position), key: $0.place, path: $0.place.path)
        }
    }

    /// A value of the entitlements.
    func entitlement(_ key: String) -> Located? { entitlements?.located(key) }

    /// The list of formats; nil if it is missing.
    var formats: Located? { entitlement(Keys.formats) }

    /// Where the Info.plist requires devices with NFC; nil if it does not.
    var requiredNFC: Place? {
        guard let list = info(Keys.capabilities) else { return nil }
        if let value = list.value.array?.first(where: { $0.string == "nfc" }) { return list.place(value) }
        let isNamed =
            list.value["nfc"]?.boolean == true
            || list.value.string?.split(separator: " ").contains("nfc") == true
        return isNamed ? list.key : nil
    }

    /// The texts in a list.
    static func texts(_ located: Located?) -> [String] { located?.value.array?.compactMap(\.string) ?? [] }
}

extension Unit {
    /// The app's build configurations; empty if it is not an app.
    var appVariants: [Variant] { isApp ? target.variants : [] }

    /// Calls `body` for each value of an Info.plist key, but only once for a text that several configurations share.
    func forEachInfo(_ key: String, _ body: (Located, Variant) -> Void) {
        var seen: Set<String> = []
        for variant in target.variants {
            guard let located = variant.info(key) else { continue }
            if let text = located.value.string, !seen.insert("\(located.path)\n\(text)").inserted { continue }
            body(located, variant)
        }
    }

    /// Calls `body` for each value of an entitlements key.
    func forEachEntitlement(_ key: String, _ body: (Located, Variant) -> Void) {
        for variant in target.variants {
            if let located = variant.entitlement(key) { body(located, variant) }
        }
    }

    /// An edit that adds keys to an XML property list; empty for other files.
    func inserting(_ text: String, into file: ConfigFile?) -> [Edit] {
        // If the key exists with a misspelled name, another finding fixes that.
        let isMisspelled =
            file?.root.entries?.contains { entry in
                Keys.all.contains { $0 != entry.key && entry.means($0) && text.contains("<key>\($0)</key>") }
            } == true
        guard let file, !isMisspelled, file.path.hasSuffix(".plist") || file.path.hasSuffix(".entitlements"),
            let range = file.root.range,
            let bytes = files.bytes(file.path), bytes.first(where: { $0 > 0x20 && $0 < 0x80 }) == 0x3C
        else {
            return []
        }
        let end = "</dict>".utf8.count
        guard range.count > end, range.upperBound <= bytes.count else {
            return [Edit(path: file.path, range: range, replacement: "<dict>\n\(text)</dict>")]
        }
        let offset = range.upperBound - end
        guard bytes[offset..<range.upperBound].elementsEqual("</dict>".utf8) else {
            return [Edit(path: file.path, range: range, replacement: "<dict>\n\(text)</dict>")]
        }
        return [Edit(path: file.path, range: offset..<offset, replacement: text)]
    }

    /// An edit that renames a key in an XML property list.
    func renaming(_ entry: ConfigValue.Entry, to key: String, in path: String) -> [Edit] {
        let open = Array("<key>".utf8)
        let close = Array("</key>".utf8)
        guard let start = entry.offset, let bytes = files.bytes(path), start + open.count <= bytes.count,
            bytes[start..<(start + open.count)].elementsEqual(open)
        else {
            return []
        }
        let inner = start + open.count
        guard let length = bytes[inner...].prefix(1000).firstRange(of: close)?.lowerBound else { return [] }
        return [Edit(path: path, range: inner..<length, replacement: key)]
    }

    /// An edit that replaces a value in an XML property list.
    func replacing(_ value: ConfigValue, with text: String, in path: String) -> [Edit] {
        guard let range = value.range, let bytes = files.bytes(path), range.upperBound <= bytes.count,
            bytes[range].first == 0x3C
        else {
            return []
        }
        return [Edit(path: path, range: range, replacement: text)]
    }

    /// An edit that removes a value and the whitespace before it.
    func removing(_ value: ConfigValue, in path: String) -> [Edit] {
        guard let range = value.range, let bytes = files.bytes(path), range.upperBound <= bytes.count,
            bytes[range].first == 0x3C
        else {
            return []
        }
        var start = range.lowerBound
        while start > 0, bytes[start - 1] == 0x20 || (0x09...0x0D).contains(bytes[start - 1]) { start -= 1 }
        return [Edit(path: path, range: start..<range.upperBound, replacement: "")]
    }
}

extension ConfigValue.Entry {
    /// Whether the entry's key equals another key, ignoring case and surrounding whitespace.
    func means(_ key: String) -> Bool { self.key.trimmingBlanks.lowercased() == key.lowercased() }
}
