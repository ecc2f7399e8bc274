// SPDX-License-Identifier: Apache-2.0
import CLinuxSupport
import Foundation
import Glibc

/// Reads a file with security decisions, such as permissions. Only the user and root may change the file or its path.
public enum TrustedFile {
    /// Reads a file.
    ///
    /// - Throws: ``StorageError``, with code `unsafe` when it is not a regular file, or when another user can write the
    ///   file, or replace it, a folder above it or a symbolic link on the path.
    public static func read(_ path: String, limit: Int) throws(StorageError) -> [UInt8] {
        try read(path, limit: limit, owner: geteuid(), takesOwnGroups: true)
    }

    /// Reads a file of root or of the given user. Without `takesOwnGroups`, no group may write in its folders.
    package static func read(
        _ path: String,
        limit: Int,
        owner: UInt32?,
        takesOwnGroups: Bool
    ) throws(StorageError) -> [UInt8] {
        let found: ResolvedPath
        do throws(StorageError) {
            found = try ResolvedPath(path, .trusted(owner: owner, takesOwnGroups: takesOwnGroups))
        } catch  where error.code == .unsafe && FileStatus.ofTarget(path) == nil && errno == ENOENT {
            throw .system("\(path) can't be read", ENOENT)
        }
        guard let status = found.status else { throw .system("\(path) can't be read", ENOENT) }
        guard FileKind(status) == .regular else { throw .notRegular(path) }
        guard status.st_mode & 0o022 == 0 else { throw StorageError(.unsafe, "\(path) can be written by other users.") }
        let file = unsafe open(found.descriptorPath, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
        guard file >= 0 else { throw .system("\(path) can't be read") }
        return try InputFile(owning: file, name: path, limit: limit).readToEnd()
    }
}

/// The file that a path leads to, after a check that no other user could have chosen that file.
///
/// Each part of the path is opened in the folder before it, checked, and then used through its descriptor. So replacing
/// a part later has no effect.
package final class ResolvedPath: Sendable {
    /// Which parts of a path are refused, with code `unsafe`.
    package enum Rule: Sendable, Equatable {
        /// Each file, folder and symbolic link that root or the owner doesn't own, or that others can write. A sticky
        /// folder, such as `/tmp`, may be writable, because only an entry's owner can replace that entry. With
        /// `takesOwnGroups`, a group with the owner as its only member may write too, which is common (umask 002).
        case trusted(owner: UInt32?, takesOwnGroups: Bool)
        /// For a file that a person chose to write: another user's symbolic links, and another user's file in a sticky
        /// folder. The system itself refuses these only if `fs.protected_symlinks` and similar settings are on.
        case output
    }

    /// The folder that contains the file, after following all links. It is closed with this object.
    let folder: Int32
    let name: String
    let status: stat?
    /// The file, opened without reading or writing; -1 when it does not exist.
    private let file: Int32

    deinit { for descriptor in [folder, file] where descriptor >= 0 { close(descriptor) } }

    /// A path that opens exactly the file that was found.
    var descriptorPath: String { "/proc/self/fd/\(file)" }

    /// Follows a path. A relative path starts at the process's current folder. The last part may be missing. With
    /// `isPartial`, several parts at the end may be missing, and only the existing parts are checked.
    package init(_ path: String, _ rule: Rule, isPartial: Bool = false) throws(StorageError) {
        guard !path.utf8.contains(0) else { throw StorageError(.denied, "'\(path)' is not a path.") }
        var walk = Walk(rule: rule, isPartial: isPartial, path: path)
        do throws(StorageError) {
            if path.hasPrefix("/") {
                try walk.follow(path)
            } else {
                try walk.followRelative()
            }
        } catch {
            walk.close()
            throw error
        }
        (folder, name, file, status) = (walk.folder, walk.name, walk.file, walk.status)
    }

    private struct Walk {
        let rule: Rule
        let isPartial: Bool
        let path: String
        var folder: Int32 = -1
        var isSticky = false
        var name = ""
        var file: Int32 = -1
        var status: stat?
        /// The part of the path that was followed so far.
        var part = ""
        /// The names still to follow, in reverse order.
        var rest: [Substring] = []
        var links = 0
        /// The target of a link in `/proc`. The text of such a link may be out of date.
        var expected: stat?

        func close() { for descriptor in [folder, file] where descriptor >= 0 { _ = Glibc.close(descriptor) } }

        /// Follows the path from the current folder. What is trusted is checked from the root on; for output only the
        /// folder itself matters, which may have been deleted or lie below one that can't be searched.
        mutating func followRelative() throws(StorageError) {
            let current = FileManager.default.currentDirectoryPath
            guard rule == .output else {
                guard !current.isEmpty else { throw failure(ENOENT) }
                return try follow(current + "/" + path)
            }
            let start = unsafe Glibc.open(".", openPathOnly | O_DIRECTORY | O_CLOEXEC)
            guard start >= 0 else { throw failure(errno) }
            enter(start, try FileStatus.ofOpen(start, "."))
            part = current
            try follow(path)
        }

        mutating func follow(_ text: String) throws(StorageError) {
            try add(text)
            while let next = rest.popLast() {
                name = String(next)
                let node = unsafe openat(folder, name, openPathOnly | O_NOFOLLOW | O_CLOEXEC)
                guard node >= 0 else {
                    let isMissing = isPartial ? [ENOENT, ENOTDIR].contains(errno) : errno == ENOENT && rest.isEmpty
                    guard isMissing, expected == nil else { throw failure(errno) }
                    return
                }
                let found: stat
                do throws(StorageError) {
                    found = try FileStatus.ofOpen(node, path)
                    try check(found, node, part + "/" + name)
                    if FileKind(found) == .link {
                        try followLink(node, found)
                        _ = Glibc.close(node)
                        if file >= 0 { return }
                        continue
                    }
                } catch {
                    _ = Glibc.close(node)
                    throw error
                }
                guard !rest.isEmpty else {
                    (file, status) = (node, found)
                    if let expected, !FileStatus.areSameFile(expected, found) { throw failure(ENOENT) }
                    return
                }
                enter(node, found)
                part += "/" + name
            }
        }

        /// Adds the names of a path or of a link's text, and starts at the root if it is absolute.
        private mutating func add(_ text: String) throws(StorageError) {
            // A path that ends with a slash must lead to a folder.
            if text.hasSuffix("/") { rest.append(".") }
            rest += text.split(separator: "/").reversed()
            guard text.hasPrefix("/") else { return }
            let root = unsafe Glibc.open("/", openPathOnly | O_DIRECTORY | O_CLOEXEC)
            guard root >= 0 else { throw failure(errno) }
            let found = try FileStatus.ofOpen(root, "/")
            enter(root, found)
            part = ""
            try check(found, root, "/")
        }

        private mutating func enter(_ node: Int32, _ status: stat) {
            if folder >= 0 { _ = Glibc.close(folder) }
            folder = node
            isSticky = status.st_mode & 0o1000 != 0 && status.st_mode & 0o022 != 0
        }

        private mutating func followLink(_ link: Int32, _ linkStatus: stat) throws(StorageError) {
            links += 1
            guard links <= 40 else { throw .system("\(path) can't be used", ELOOP) }
            // In `/proc`, the text of a link to an open file, such as a pipe, may not be a path.
            if rule == .output, linkStatus.st_dev == FileStatus.ofTarget("/proc")?.st_dev {
                let target = unsafe openat(folder, name, openPathOnly | O_CLOEXEC)
                guard target >= 0 else { throw failure(errno) }
                let found = try FileStatus.ofOpen(target, path)
                if rest.isEmpty, ![.regular, .folder].contains(FileKind(found)) {
                    (file, status) = (target, found)
                    return
                }
                _ = Glibc.close(target)
                if rest.isEmpty { expected = found }
            }
            var text = [CChar](repeating: 0, count: Int(PATH_MAX))
            let count = unsafe readlinkat(link, "", &text, text.count)
            guard count > 0, let text = String(validating: text.prefix(count), as: UTF8.self) else {
                throw failure(EINVAL)
            }
            try add(text)
        }

        private func check(_ status: stat, _ node: Int32, _ part: String) throws(StorageError) {
            let kind = FileKind(status)
            let refusal = StorageError(.unsafe, "\(part) can be changed by another user.")
            switch rule {
            case .output:
                let isForeign = status.st_uid != 0 && status.st_uid != geteuid()
                if isForeign, kind == .link || isSticky && kind != .folder { throw refusal }
            case .trusted(let owner, let takesOwnGroups):
                guard status.st_uid == 0 || status.st_uid == owner else { throw refusal }
                // A link has no mode.
                guard kind != .link, status.st_mode & 0o1000 == 0 || kind != .folder else { return }
                // With an access control list, the group's bits stand for what anybody in the list may do.
                let hasList = unsafe getxattr("/proc/self/fd/\(node)", "system.posix_acl_access", nil, 0) >= 0
                let mayGroupWrite =
                    takesOwnGroups && !hasList && UserGroup(status.st_gid)?.hasOnly(status.st_uid) == true
                if status.st_mode & (mayGroupWrite ? 0o002 : 0o022) != 0 { throw refusal }
            }
        }

        private func failure(_ number: Int32) -> StorageError {
            guard rule == .output else { return .system("\(path) can't be read", number) }
            let isFolder = [ENOENT, ENOTDIR].contains(number) && !rest.isEmpty
            let what =
                isFolder ? "The folder \(PathParts(path)?.folder ?? path) can't be opened" : "\(path) can't be written"
            return .system(what, number)
        }
    }
}

package struct UserGroup: Sendable {
    package let name: String
    private let number: UInt32
    private let members: [String]

    package init?(_ number: UInt32) {
        var entry = unsafe group()
        var result: UnsafeMutablePointer<group>?
        var memory = [CChar](repeating: 0, count: 64 << 10)
        let found: (String, [String])? = unsafe memory.withUnsafeMutableBufferPointer { memory in
            let code = unsafe getgrgid_r(number, &entry, memory.baseAddress, memory.count, &result)
            guard code == 0, let result = unsafe result, let name = unsafe result.pointee.gr_name else { return nil }
            var members: [String] = []
            var next = unsafe result.pointee.gr_mem
            while let list = unsafe next, let member = unsafe list.pointee {
                unsafe members.append(String(cString: member))
                unsafe next = list + 1
            }
            return unsafe (String(cString: name), members)
        }
        guard let found else { return nil }
        (name, members) = found
        self.number = number
    }

    /// Whether this is a user's own group: it has the user's name and no other members, and is not the primary group
    /// of another user in `/etc/passwd`.
    func hasOnly(_ user: UInt32) -> Bool {
        let users =
            FileManager.default.contents(atPath: "/etc/passwd").map { String(decoding: $0, as: UTF8.self) } ?? ""
        let isFirstOfOthers = users.split(separator: "\n").contains { line in
            let fields = line.split(separator: ":", omittingEmptySubsequences: false)
            return fields.count > 3 && fields[3] == String(number) && fields[2] != String(user)
        }
        guard !isFirstOfOthers else { return false }
        var entry = unsafe passwd()
        var result: UnsafeMutablePointer<passwd>?
        var memory = [CChar](repeating: 0, count: 16 << 10)
        return unsafe memory.withUnsafeMutableBufferPointer { memory in
            guard let start = memory.baseAddress, unsafe getpwuid_r(user, &entry, start, memory.count, &result) == 0,
                let result = unsafe result, let owner = unsafe result.pointee.pw_name
            else { return false }
            return unsafe String(cString: owner) == name && members.allSatisfy { $0 == name }
        }
    }
}
