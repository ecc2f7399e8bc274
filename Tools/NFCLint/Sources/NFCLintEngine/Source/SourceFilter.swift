// SPDX-License-Identifier: Apache-2.0

/// Decides which files to parse: those that name Core NFC, or the APIs by which apps receive links.
struct SourceFilter: Sendable {
    /// The words by their first byte.
    private let words: [[[UInt8]]]

    /// - Parameter names: types and helpers that other files may use.
    init(names: [String]) { self.init(words: names) }

    /// - Parameter modules: modules of the project, whose imports are followed.
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
