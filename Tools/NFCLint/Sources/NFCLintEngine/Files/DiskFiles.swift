// SPDX-License-Identifier: Apache-2.0
public import Foundation

/// The files of a folder on disk.
///
/// Some folders are left out: hidden ones, build folders, and folders of package managers. Links to files are followed, and
/// links to folders if they stay in the project.
public struct DiskFiles: ProjectFiles {
    /// The largest file that is read.
    public static let largestFile = 8 << 20

    private let root: URL
    /// The paths in order.
    public let paths: [String]
    /// Links to other files and folders of the project.
    public let links: [String: String]
    /// Folders that can't be listed, and links that lead nowhere.
    public let unread: [UnreadFile]
    private let sizes: [String: Int]

    /// Lists the files of a folder; a file alone is a project of one.
    ///
    /// - Parameters:
    ///   - root: the folder or the file, also by a link.
    ///   - excluded: beginnings of relative paths that are left out.
    public init(root: URL, excluded: [String] = []) {
        let target = root.resolvingSymlinksInPath()
        let values = try? target.resourceValues(forKeys: [.isDirectoryKey, .isRegularFileKey, .fileSizeKey])
        guard values?.isDirectory == true else {
            let name = root.lastPathComponent
            self.root = root.deletingLastPathComponent()
            paths = [name]
            links = [:]
            // A device or a pipe may have no end.
            let isFile = values?.isRegularFile == true
            let size = values?.fileSize ?? 0
            sizes = isFile ? [name: size] : [:]
            if !isFile {
                unread = [UnreadFile(Place(name), "This is no ordinary file.")]
            } else if size > Self.largestFile || !FileManager.default.isReadableFile(atPath: target.path) {
                // It was named, so it matters whatever it is. In a folder, rules decide which files do.
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

    /// The bytes of a file.
    public func bytes(_ path: String) -> [UInt8]? {
        guard let size = sizes[path], size <= Self.largestFile else { return nil }
        return (try? Data(contentsOf: root.appendingPathComponent(path))).map(Array.init)
    }
}
