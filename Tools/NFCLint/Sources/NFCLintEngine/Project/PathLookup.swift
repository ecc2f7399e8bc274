// SPDX-License-Identifier: Apache-2.0

/// Finds files by the paths used in projects, which may contain `..` or differ in case from the disk.
struct PathLookup: Sendable {
    private let exact: Set<String>
    private let folded: [String: String]
    private let sorted: [String]
    private let links: [String: String]

    /// - Parameters:
    ///   - paths: the paths of all files.
    ///   - links: alternative paths of files and folders.
    init(_ paths: [String], links: [String: String] = [:]) {
        self.links = links
        exact = Set(paths)
        sorted = paths
        folded = Dictionary(paths.map { ($0.lowercased(), $0) }, uniquingKeysWith: { first, _ in first })
    }

    /// The path of a file, spelled as on disk; nil if there is no such file.
    func find(_ path: String) -> String? {
        let path = followed(Self.normal(path))
        return exact.contains(path) ? path : folded[path.lowercased()]
    }

    /// The files in a folder and its subfolders.
    func files(under folder: String) -> [String] {
        let folder = followed(Self.normal(folder))
        guard !folder.isEmpty else { return sorted }
        let prefix = folder.lowercased() + "/"
        return sorted.filter { $0.count > prefix.count && $0.lowercased().hasPrefix(prefix) }
    }

    /// Resolves links in a path. A cycle of links ends after 16 steps.
    private func followed(_ path: String) -> String {
        var path = path
        for _ in 0..<16 where !links.isEmpty {
            var parts = path.split(separator: "/")[...]
            while !parts.isEmpty, links[parts.joined(separator: "/")] == nil { parts.removeLast() }
            guard let target = links[parts.joined(separator: "/")] else { return path }
            path = Self.normal(target + path.dropFirst(parts.joined(separator: "/").count))
        }
        return path
    }

    /// Removes `.`, `..` and duplicate slashes from a path.
    static func normal(_ path: String) -> String {
        var parts: [Substring] = []
        for part in path.split(separator: "/") where part != "." {
            if part == "..", let last = parts.last, last != ".." { parts.removeLast() } else { parts.append(part) }
        }
        return parts.joined(separator: "/")
    }

    /// The folder of a file; empty for the project's root folder.
    static func folder(_ path: String) -> String {
        path.lastIndex(of: "/").map { String(path[..<$0]) } ?? ""
    }

    /// Joins a folder and a path.
    static func join(_ folder: String, _ path: String) -> String {
        path.hasPrefix("/") ? path : normal(folder.isEmpty ? path : folder + "/" + path)
    }
}
