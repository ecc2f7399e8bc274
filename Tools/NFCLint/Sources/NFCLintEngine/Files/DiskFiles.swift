// SPDX-License-Identifier: Apache-2.0
public import Foundation

/// The files of a project on disk.
///
/// Hidden folders, build folders and folders of package managers are skipped. Links to files are followed; links to
/// folders only if they stay in the project.
public struct DiskFiles: ProjectFiles {
    /// The maximum size of a file, in bytes.
    public static let largestFile = 8 << 20

    private let root: URL
    /// The paths in order.
    public let paths: [String]
    /// The links to other files and folders of the project.
    public let links: [String: String]
    /// Folders that can't be listed, and broken links.
    public let unread: [UnreadFile]
    private let sizes: [String: Int]

    /// Lists the files of a folder. A single file is a project of its own.
    ///
    /// - Parameters:
    ///   - root: the folder or the file, or a link to it.
    ///   - excluded: the prefixes of relative paths to skip.
    public init(root: URL, excluded: [String] = []) {
        let target = root.resolvingSymlinksInPath()
        let values = try? target.resourceValues(forKeys: [.isDirectoryKey, .isRegularFileKey, .fileSizeKey])
        guard values?.isDirectory == true else {
            let name = root.lastPathComponent
            self.root = root.deletingLastPathComponent()
            paths = [name]
            links = [:]
            // Devices and pipes can be endless, so read only regular files.
            let isFile = values?.isRegularFile == true
            let size = values?.fileSize ?? 0
            sizes = isFile ? [name: size] : [:]
            if !isFile {
                unread = [UnreadFile(Place(name), "This is not a regular file.")]
            } else if size > Self.largestFile || !FileManager.default.isReadableFile(atPath: target.path) {
                // The user named this file, so report the problem. In a folder, the rules decide which files matter.
                unread = [UnreadFile(Place(name), "The file can't be read, or is larger than 8 MB.")]
            } else {
                unread = []
            }
            return
        }
        self.root = target
        let listing = FolderListing(target, excluded: excluded)
        sizes = listing.sizes
        links = listing.links
        unread = listing.unread
        paths = listing.sizes.keys.sorted()
    }

    /// Reads a file.
    public func bytes(_ path: String) -> [UInt8]? {
        guard let size = sizes[path], size <= Self.largestFile else { return nil }
        return (try? Data(contentsOf: root.appendingPathComponent(path))).map(Array.init)
    }
}
