// SPDX-License-Identifier: Apache-2.0

/// Decides which files to parse: those that mention Core NFC or the APIs for receiving links.
struct SourceFilter: Sendable {
    /// The search words, by their first byte.
    private let words: [[[UInt8]]]
    /// Whether a word begins with a byte.
    private let starts: [Bool]

    /// - Parameter names: other words to search for.
    init(names: [String]) { self.init(words: names) }

    /// - Parameter modules: modules of the project. Files that import them are parsed too.
    init(modules: [String]) {
        let texts =
            [
                "NFC", "UserActivit", "alertMessage", "@main", "UIApplicationMain", "onOpenURL", "CardSession",
                "WindowSceneDelegate",
            ] + modules.map { "import \($0)" }
        self.init(words: texts)
    }

    private init(words texts: [String]) {
        var words: [[[UInt8]]] = Array(repeating: [], count: 256)
        for text in texts { words[Int(text.utf8.first ?? 0)].append(Array(text.utf8)) }
        self.words = words
        starts = words.map { !$0.isEmpty }
    }

    func matters(_ bytes: [UInt8]) -> Bool {
        let count = bytes.count
        for index in bytes.indices {
            let first = Int(bytes[index])
            guard starts[first] else { continue }
            for word in words[first] where index + word.count <= count {
                var step = 1
                while step < word.count, bytes[index + step] == word[step] { step += 1 }
                if step == word.count { return true }
            }
        }
        return false
    }

    /// The modules that a Swift file imports, found without parsing it.
    static func imports(_ bytes: [UInt8]) -> Set<String> {
        let mark = Array("import ".utf8)
        var result: Set<String> = []
        for line in bytes.split(separator: 0x0A) {
            let start = line.prefix(60)
            let place = start.indices.first { start[$0] == mark[0] && start[$0...].starts(with: mark) }
            guard let place else { continue }
            let rest = String(decoding: line[(place + mark.count)...].prefix(100), as: UTF8.self)
            let names = rest.split { !($0.isLetter || $0.isNumber || $0 == "_") }.prefix(2)
            // `import struct Foundation.Data` names the module after the kind.
            result.formUnion(names.map(String.init))
        }
        return result
    }
}

/// Finds files that mention any of some names. The time doesn't depend on the number of names.
struct NameFilter: Sendable {
    private let hashes: Set<UInt64>

    init(_ names: some Sequence<String>) { hashes = Set(names.map { $0.utf8.reduce(Self.start, Self.add) }) }

    /// Whether a file mentions a name. Two names with the same hash only cause a file to be parsed needlessly.
    func matters(_ bytes: [UInt8]) -> Bool {
        var hash = Self.start
        for byte in bytes {
            if SourceShape.isName(byte) {
                hash = Self.add(hash, byte)
            } else if hash != Self.start {
                if hashes.contains(hash) { return true }
                hash = Self.start
            }
        }
        return hashes.contains(hash)
    }

    // FNV-1a
    private static let start: UInt64 = 0xCBF2_9CE4_8422_2325
    private static func add(_ hash: UInt64, _ byte: UInt8) -> UInt64 { (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
}
