// SPDX-License-Identifier: Apache-2.0

/// Finds files by paths as projects name them: with `..`, and in another case than on disk.
struct PathLookup: Sendable {
    private let exact: Set<String>
    private let folded: [String: String]
    private let sorted: [String]

    init(_ paths: [String]) {
        exact = Set(paths)
        sorted = paths
        folded = Dictionary(paths.map { ($0.lowercased(), $0) }, uniquingKeysWith: { first, _ in first })
    }

    /// The path of a file as it is on disk; nil when there is none.
    func find(_ path: String) -> String? {
        let path = Self.normal(path)
        return exact.contains(path) ? path : folded[path.lowercased()]
    }

    /// The files in a folder and those below it.
    func files(under folder: String) -> [String] {
        let folder = Self.normal(folder)
        guard !folder.isEmpty else { return sorted }
        let prefix = folder.lowercased() + "/"
        return sorted.filter { $0.count > prefix.count && $0.lowercased().hasPrefix(prefix) }
    }

    /// Without `.`, `..` and doubled slashes.
    static func normal(_ path: String) -> String {
        var parts: [Substring] = []
        for part in path.split(separator: "/") where part != "." {
            if part == "..", let last = parts.last, last != ".." { parts.removeLast() } else { parts.append(part) }
        }
        return parts.joined(separator: "/")
    }

    /// The folder of a file; empty for the project's own.
    static func folder(_ path: String) -> String {
        path.lastIndex(of: "/").map { String(path[..<$0]) } ?? ""
    }

    /// A path in a folder.
    static func join(_ folder: String, _ path: String) -> String {
        path.hasPrefix("/") ? path : normal(folder.isEmpty ? path : folder + "/" + path)
    }
}
