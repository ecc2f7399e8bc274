// SPDX-License-Identifier: Apache-2.0
import Glibc
import TagLink

/// Why a serial line can't be used, as sentences that say what to do.
enum SerialPortError {
    /// The group of a file and its permission, from the file's status.
    struct Ownership: Sendable, Equatable {
        /// The name of its group, or its number.
        var group: String
        /// Whether the group may read and write.
        var isGroupAllowed: Bool
    }

    /// The sentence for a failure to open a line.
    ///
    /// - Parameters:
    ///   - path: the line's path.
    ///   - code: `errno`.
    ///   - ownership: the file's group and permission, if known.
    static func reason(path: String, code: Int32, ownership: Ownership?) -> String {
        switch code {
        case ENOENT, ENOTDIR:
            if let at = path.lastIndex(of: "@"), !path[at...].contains("/") {
                return """
                    There is no \(path), and \"\(path[path.index(after: at)...])\" is no speed of a PN532: behind @ comes \
                    one of \(SerialSpeed.list).
                    """
            }
            return """
                There is no \(path). Plug the PN532's serial adapter in; the names of those that are there are in \
                /dev/serial/by-id.
                """
        case EACCES, EPERM:
            guard let ownership, ownership.isGroupAllowed, ownership.group != "root" else {
                return """
                    You may not use \(path). Add the udev rule SUBSYSTEM=="tty", KERNEL=="\(kernelName(path))", \
                    GROUP="dialout", MODE="0660" to /etc/udev/rules.d/60-pn532.rules, plug the adapter in again, and \
                    join the group with: sudo usermod -aG dialout "$USER". Log in again afterwards.
                    """
            }
            return """
                You may not use \(path): it belongs to the group \(ownership.group). Join it with: sudo usermod -aG \
                \(ownership.group) "$USER". Log in again afterwards.
                """
        case EBUSY, EWOULDBLOCK: return "\(path) is in use by another program. End that program first."
        case ENXIO, ENODEV, EIO: return "There is no device behind \(path). Plug the adapter in again."
        case ENOTTY, EISDIR: return "\(path) is not a serial line."
        default: return "\(path) can't be used: \(unsafe String(cString: strerror(code)))."
        }
    }

    /// The pattern with which udev selects lines of a kind: `ttyUSB*` for `/dev/ttyUSB0`.
    private static func kernelName(_ path: String) -> String {
        var name = path.split(separator: "/").last.map(String.init) ?? path
        while let last = name.last, last.isNumber { name.removeLast() }
        return name + "*"
    }

    /// Looks up a file's group and permission.
    static func ownership(of path: String) -> Ownership? {
        var status = stat()
        guard unsafe stat(path, &status) == 0 else { return nil }
        var entry = unsafe group()
        var result: UnsafeMutablePointer<group>?
        var memory = [CChar](repeating: 0, count: 16384)
        var name = String(status.st_gid)
        let code = unsafe memory.withUnsafeMutableBufferPointer { memory in
            unsafe getgrgid_r(status.st_gid, &entry, memory.baseAddress, memory.count, &result)
        }
        if code == 0, let result = unsafe result, let found = unsafe result.pointee.gr_name {
            // The text is in `memory`, which is still valid.
            name = unsafe String(cString: found)
        }
        return Ownership(group: name, isGroupAllowed: status.st_mode & 0o060 == 0o060)
    }

    /// The error of a line that has disappeared.
    static func gone(_ path: String) -> LinkError {
        LinkError(.readerUnavailable, "The PN532 at \(path) is gone. Plug its adapter in again.")
    }

    static let cancelled = LinkError(.cancelled, "The operation was cancelled.")
}
