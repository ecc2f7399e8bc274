// SPDX-License-Identifier: Apache-2.0
import Glibc

/// The user for whom a reader is installed.
package struct ReaderOwner: Sendable, Hashable {
    /// The user's name; or the number, if the user has no name.
    package let name: String
    /// The user's number.
    package let user: UInt32
    /// The user's primary group.
    package let group: UInt32

    /// Finds a user.
    ///
    /// - Parameter text: the name or the number.
    /// - Throws: ``EmulationError`` when there is no such user, or when the name can't be a file name.
    package init(_ text: String) throws(EmulationError) {
        if let entry = unsafe getpwnam(text) {
            unsafe (user, group) = (entry.pointee.pw_uid, entry.pointee.pw_gid)
            name = text
        } else if let number = UInt32(text), String(number) == text, number != .max {
            user = number
            if let entry = unsafe getpwuid(number), let known = unsafe entry.pointee.pw_name {
                group = unsafe entry.pointee.pw_gid
                name = unsafe String(cString: known)
            } else {
                (group, name) = (number, text)
            }
        } else {
            throw EmulationError("There is no user \(text).")
        }
        guard Self.canBeFileName(name) else {
            throw EmulationError("The user's name \(name) can't be in a file name. Give the user's number.")
        }
    }

    /// Returns whether a file can have this name, and no program takes it for an option or a hidden file.
    static func canBeFileName(_ name: String) -> Bool {
        name.utf8.count <= 32 && name.first != "." && name.first != "-"
            && name.utf8.allSatisfy {
                UInt8(ascii: "a")...UInt8(ascii: "z") ~= $0 | 0x20 || UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0
                    || ".-_".utf8.contains($0)
            }
    }

    /// The user of this process.
    package static var current: ReaderOwner? { try? ReaderOwner(String(geteuid())) }

    /// The number of the group under which pcscd runs when it does not run as root; nil when there is no such group.
    package static func group(named name: String) -> UInt32? {
        guard let entry = unsafe getgrnam(name) else { return nil }
        return unsafe entry.pointee.gr_gid
    }
}
