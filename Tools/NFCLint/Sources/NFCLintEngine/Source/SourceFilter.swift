// SPDX-License-Identifier: Apache-2.0

/// Decides which files to parse: those that mention Core NFC or the APIs for receiving links.
struct SourceFilter: Sendable {
    /// The search words, by their first byte.
    private let words: [[[UInt8]]]

    /// - Parameter names: additional names of types and helpers to search for.
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
    }

    func matters(_ bytes: [UInt8]) -> Bool {
        let count = bytes.count
        for index in bytes.indices {
            let list = words[Int(bytes[index])]
            guard !list.isEmpty else { continue }
            for word in list where index + word.count <= count {
                var step = 1
                while step < word.count, bytes[index + step] == word[step] { step += 1 }
                if step == word.count { return true }
            }
        }
        return false
    }
}
