// SPDX-License-Identifier: Apache-2.0

/// The files of a project, from any source.
public protocol ProjectFiles: Sendable {
    /// The paths of all files that may matter, relative to the project's folder, in order.
    var paths: [String] { get }
    /// Links in the project to other files and folders of it, as relative paths.
    var links: [String: String] { get }
    /// The files and folders that exist but can't be read or listed.
    var unread: [UnreadFile] { get }
    /// The bytes of a file; nil when it is missing, too large, or can't be read.
    func bytes(_ path: String) -> [UInt8]?
}

extension ProjectFiles {
    /// No links.
    public var links: [String: String] { [:] }
    /// All was listed.
    public var unread: [UnreadFile] { [] }
}

/// Files in memory, for examples.
public struct MemoryFiles: ProjectFiles {
    private let files: [String: [UInt8]]

    /// Files with their texts.
    public init(_ files: [String: [UInt8]]) { self.files = files }

    /// The files of an example.
    public init(_ example: Example) {
        var files: [String: [UInt8]] = [:]
        for file in example.files { files[file.path, default: []] += Array(file.text.utf8) }
        self.files = files
    }

    /// The paths in order.
    public var paths: [String] { files.keys.sorted() }

    /// The bytes of a file.
    public func bytes(_ path: String) -> [UInt8]? { files[path] }
}
