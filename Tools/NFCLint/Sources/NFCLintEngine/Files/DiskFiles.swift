// SPDX-License-Identifier: Apache-2.0
public import Foundation

/// The files of a folder on disk.
///
/// Folders of others are left out: those that begin with a full stop, build folders, and where package managers keep what they
/// fetched. Links are not followed, so that no circle is.
public struct DiskFiles: ProjectFiles {
    /// The largest file that is read.
    public static let largestFile = 8 << 20

    private static let skipped: Set<String> = [
        "Pods", "Carthage", "DerivedData", "node_modules", "build", "Build", "SourcePackages", "checkouts", "vendor",
    ]
    private static let skippedEndings = [
        ".xcassets", ".framework", ".xcframework", ".bundle", ".docc", ".lproj.bak", ".app",
    ]
    private static let endings: Set<String> = [
        "swift", "m", "mm", "h", "plist", "entitlements", "pbxproj", "xcconfig", "strings", "xcstrings", "yml", "yaml",
        "json",
        "nfc", "ndef", "",
    ]

    private let root: URL
    /// The paths in order.
    public let paths: [String]
    private let sizes: [String: Int]

    /// Lists the files of a folder; a file alone is a project of one.
    ///
    /// - Parameters:
    ///   - root: the folder or the file.
    ///   - excluded: beginnings of relative paths that are left out.
    public init(root: URL, excluded: [String] = []) {
        let isFolder = try? root.resourceValues(forKeys: [.isDirectoryKey]).isDirectory
        guard isFolder == true else {
            self.root = root.deletingLastPathComponent()
            let size = try? FileManager.default.attributesOfItem(atPath: root.path)[.size] as? Int
            paths = [root.lastPathComponent]
            sizes = [root.lastPathComponent: size ?? 0]
            return
        }
        self.root = root
        var found: [String: Int] = [:]
        let keys: [URLResourceKey] = [.isDirectoryKey, .isRegularFileKey, .fileSizeKey]
        let walk = FileManager.default.enumerator(at: root, includingPropertiesForKeys: keys, options: [])
        let prefix = root.standardizedFileURL.path
        while let url = walk?.nextObject() as? URL {
            let name = url.lastPathComponent
            let values = try? url.resourceValues(forKeys: Set(keys))
            var path = url.standardizedFileURL.path
            if path.hasPrefix(prefix) { path = String(path.dropFirst(prefix.count).drop { $0 == "/" }) }
            let isExcluded = excluded.contains { path == $0 || path.hasPrefix($0.hasSuffix("/") ? $0 : $0 + "/") }
            if values?.isDirectory == true {
                let isSkipped =
                    name.hasPrefix(".") || Self.skipped.contains(name)
                    || Self.skippedEndings.contains(where: name.hasSuffix)
                if isSkipped || isExcluded { walk?.skipDescendants() }
            } else if values?.isRegularFile == true, !isExcluded, Self.matters(name) {
                found[path] = values?.fileSize ?? 0
            }
        }
        sizes = found
        paths = found.keys.sorted()
    }

    private static func matters(_ name: String) -> Bool {
        let parts = name.split(separator: ".", omittingEmptySubsequences: false)
        let ending = parts.count > 1 ? parts.last.map { $0.lowercased() } ?? "" : ""
        guard endings.contains(ending) else { return false }
        return ending != "" || name == "apple-app-site-association"
    }

    /// Whether a file is there, but too large to be read.
    public func isTooLarge(_ path: String) -> Bool { (sizes[path] ?? 0) > Self.largestFile }

    /// The bytes of a file.
    public func bytes(_ path: String) -> [UInt8]? {
        guard let size = sizes[path], size <= Self.largestFile else { return nil }
        return (try? Data(contentsOf: root.appendingPathComponent(path))).map(Array.init)
    }
}
