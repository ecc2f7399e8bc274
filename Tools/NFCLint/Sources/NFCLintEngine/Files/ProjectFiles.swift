// SPDX-License-Identifier: Apache-2.0

/// The files of a project, independent of where they are stored.
public protocol ProjectFiles: Sendable {
    /// The paths of all files that may matter, relative to the project's folder, in order.
    var paths: [String] { get }
    /// The links to other files and folders of the project, as relative paths.
    var links: [String: String] { get }
    /// The files and folders that exist but can't be read or listed.
    var unread: [UnreadFile] { get }
    /// Reads a file; nil if it is missing, too large or unreadable.
    func bytes(_ path: String) -> [UInt8]?
}

extension ProjectFiles {
    /// No links by default.
    public var links: [String: String] { [:] }
    /// No unread files by default.
    public var unread: [UnreadFile] { [] }
}

/// Files in memory, used for examples.
public struct MemoryFiles: ProjectFiles {
    private let files: [String: [UInt8]]

    /// Creates files from their contents, by path.
    public init(_ files: [String: [UInt8]]) { self.files = files }

    /// Creates the files of an example.
    public init(_ example: Example) {
        var files: [String: [UInt8]] = [:]
        for file in example.files { files[file.path, default: []] += Array(file.text.utf8) }
        self.files = files
    }

    /// The paths in order.
    public var paths: [String] { files.keys.sorted() }

    /// Returns the contents of a file.
    public func bytes(_ path: String) -> [UInt8]? { files[path] }
}
