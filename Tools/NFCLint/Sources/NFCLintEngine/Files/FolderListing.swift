// SPDX-License-Identifier: Apache-2.0
import Foundation

/// Lists the files in a folder that may matter, with their sizes.
struct FolderListing {
    /// The sizes of files, by relative path.
    private(set) var sizes: [String: Int] = [:]
    /// Links to files and folders that are listed under another path.
    private(set) var links: [String: String] = [:]
    /// The files and folders that exist but can't be read or listed.
    private(set) var unread: [UnreadFile] = []

    private static let skipped: Set<String> = [
        "Pods", "Carthage", "DerivedData", "node_modules", "build", "Build", "SourcePackages", "checkouts", "vendor",
    ]
    private static let skippedEndings = [
        ".xcassets", ".framework", ".xcframework", ".bundle", ".docc", ".lproj.bak", ".app",
    ]
    private static let endings: Set<String> = [
        "swift", "m", "mm", "h", "plist", "entitlements", "pbxproj", "xcconfig", "strings", "xcstrings", "yml", "yaml",
        "json", "podspec",
        "nfc", "ndef", "",
    ]
    private static let keys: [URLResourceKey] = [
        .isDirectoryKey, .isRegularFileKey, .isSymbolicLinkKey, .fileSizeKey,
    ]

    /// - Parameters:
    ///   - root: the folder, without links in its path.
    ///   - excluded: the prefixes of relative paths to skip.
    init(_ root: URL, excluded: [String]) {
        let prefix = root.path.hasSuffix("/") ? root.path : root.path + "/"
        var open = [""]
        var found: [(path: String, target: URL)] = []
        while let folder = open.popLast() {
            let place = folder.isEmpty ? root : root.appendingPathComponent(folder)
            guard let names = try? FileManager.default.contentsOfDirectory(atPath: place.path) else {
                unread.append(UnreadFile(Place(folder.isEmpty ? "." : folder), "The folder can't be read."))
                continue
            }
            for name in names {
                let path = folder.isEmpty ? name : folder + "/" + name
                let url = place.appendingPathComponent(name)
                let isExcluded = excluded.contains { path == $0 || path.hasPrefix($0.hasSuffix("/") ? $0 : $0 + "/") }
                guard !isExcluded, let values = try? url.resourceValues(forKeys: Set(Self.keys)) else { continue }
                if values.isSymbolicLink == true {
                    if !Self.isSkipped(name) { found.append((path, url.resolvingSymlinksInPath())) }
                } else if values.isDirectory == true {
                    if !Self.isSkipped(name) { open.append(path) }
                } else if Self.matters(name) {
                    add(path, url, values)
                }
            }
        }
        for link in found.sorted(by: { $0.path < $1.path }) { follow(link.path, to: link.target, prefix) }
    }

    private mutating func add(_ path: String, _ url: URL, _ values: URLResourceValues) {
        if values.isRegularFile == true {
            sizes[path] = values.fileSize ?? 0
            if !FileManager.default.isReadableFile(atPath: url.path) {
                unread.append(UnreadFile(Place(path), "The file can't be read."))
            }
        } else {
            unread.append(UnreadFile(Place(path), "This is not a regular file."))
        }
    }

    /// Follows a link. Folders outside the project are skipped, so that the search can't loop.
    private mutating func follow(_ path: String, to target: URL, _ prefix: String) {
        let inner = target.path.hasPrefix(prefix) ? String(target.path.dropFirst(prefix.count)) : nil
        let values = try? target.resourceValues(forKeys: Set(Self.keys))
        if values?.isDirectory == true {
            if let inner { links[path] = inner }
        } else if let inner, sizes[inner] != nil {
            links[path] = inner
        } else if Self.matters(path.split(separator: "/").last.map(String.init) ?? path) {
            if let values {
                add(path, target, values)
            } else {
                unread.append(UnreadFile(Place(path), "The link's target does not exist."))
            }
        }
    }

    private static func isSkipped(_ name: String) -> Bool {
        // This hidden folder contains association files.
        if name == ".well-known" { return false }
        return name.hasPrefix(".") || skipped.contains(name) || skippedEndings.contains(where: name.hasSuffix)
    }

    private static func matters(_ name: String) -> Bool {
        if Plugins.manifests.contains(name) { return true }
        let parts = name.split(separator: ".", omittingEmptySubsequences: false)
        let ending = parts.count > 1 ? parts.last.map { $0.lowercased() } ?? "" : ""
        guard endings.contains(ending) else { return false }
        return ending != "" || name == "apple-app-site-association"
    }
}
