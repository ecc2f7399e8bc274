// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import LinuxSupport

/// A pseudo-terminal that other programs use as a serial line, with a symbolic link at a path that the user chooses.
struct PseudoTerminal {
    /// The end for this program.
    let controller: Int32
    /// The end for the host. It stays open, so that this program's end does not fail when a host closes the line.
    let terminal: Int32
    let name: String
    let link: String

    // TIOCSPTLCK and TIOCGPTN from asm-generic/ioctls.h, and F_OFD_SETLK from asm-generic/fcntl.h. Swift lacks them.
    private static let unlock: UInt = 0x4004_5431
    private static let getNumber: UInt = 0x8004_5430
    private static let setLock: Int32 = 37

    /// Creates a pseudo-terminal and the link. A link to a pseudo-terminal that is no longer in use, left behind by an
    /// earlier emulation, is replaced. Any other file or link is kept.
    init(link: String) throws(EmulationError) {
        // Checked first, because a link that was left behind may lead to the terminal that is created next.
        try Self.checkPath(link)
        let controller = unsafe open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC)
        guard controller >= 0 else { throw .system("A pseudo-terminal can't be created") }
        var number: CUnsignedInt = 0
        var lock: CInt = 0
        guard unsafe ioctl(controller, Self.unlock, &lock) == 0, unsafe ioctl(controller, Self.getNumber, &number) == 0
        else {
            close(controller)
            throw .system("A pseudo-terminal can't be created")
        }
        let name = Self.terminalName(number)
        let terminal = unsafe open(name, O_RDWR | O_NOCTTY | O_CLOEXEC)
        guard terminal >= 0 else {
            close(controller)
            throw .system("The pseudo-terminal can't be opened")
        }
        var settings = termios()
        _ = unsafe tcgetattr(terminal, &settings)
        unsafe cfmakeraw(&settings)
        _ = unsafe tcsetattr(terminal, TCSANOW, &settings)
        _ = Self.takeLock(terminal)
        self.controller = controller
        self.terminal = terminal
        self.name = name
        self.link = link
        do throws(EmulationError) {
            try makeLink()
        } catch {
            close(controller)
            close(terminal)
            throw error
        }
    }

    private func makeLink() throws(EmulationError) {
        // Checked again, so that a file that was created meanwhile is kept.
        if let target = Self.target(of: link), Self.isTerminal(target) { _ = unsafe unlink(link) }
        guard unsafe symlink(name, link) == 0 else { throw .system("\(link) can't be created") }
    }

    /// Throws unless the link's path is free, or contains a link that an emulation left behind.
    private static func checkPath(_ link: String) throws(EmulationError) {
        var status = stat()
        guard unsafe lstat(link, &status) == 0 else { return }
        guard status.st_mode & S_IFMT == S_IFLNK else {
            throw EmulationError("\(link) is already a file. Choose another path for the serial line.")
        }
        guard let target = target(of: link), isTerminal(target) else {
            throw EmulationError("\(link) already links to something else. Choose another path for the serial line.")
        }
        guard !isInUse(link) else {
            throw EmulationError(
                "Another program already emulates the PN532 at \(link). Stop it, or choose another path."
            )
        }
    }

    /// Returns the target of a link as written; nil when there is no link.
    private static func target(of link: String) -> String? {
        try? FileManager.default.destinationOfSymbolicLink(atPath: link)
    }

    /// Returns the name of a pseudo-terminal, such as `/dev/pts/3`.
    private static func terminalName(_ number: CUnsignedInt) -> String { "/dev/pts/\(number)" }

    /// Returns whether a link's target is the name of a pseudo-terminal, as in all links by this program.
    private static func isTerminal(_ target: String) -> Bool {
        CUnsignedInt(target.drop { !$0.isNumber }).map { terminalName($0) == target } ?? false
    }

    /// Locks a terminal, to show other emulations that it is in use. Closing the descriptor removes the lock. Programs
    /// that use the line lock it with flock(2), which is independent of this lock. Returns false when another emulation
    /// has the lock.
    private static func takeLock(_ terminal: Int32) -> Bool {
        var lock = flock()
        lock.l_type = Int16(F_WRLCK)
        lock.l_whence = Int16(SEEK_SET)
        return unsafe fcntl(terminal, setLock, &lock) == 0 || errno != EAGAIN
    }

    /// Returns whether a link leads to the terminal of a running emulation.
    private static func isInUse(_ link: String) -> Bool {
        // If a program has opened the terminal exclusively, opening it again fails with EBUSY.
        let terminal = unsafe open(link, O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK)
        guard terminal >= 0 else { return errno == EBUSY }
        defer { close(terminal) }
        guard isatty(terminal) == 1, !takeLock(terminal) else { return false }
        // A terminal that is younger than the link only has the same number as the terminal that the link was made for.
        var (linkStatus, terminalStatus) = (stat(), stat())
        guard unsafe lstat(link, &linkStatus) == 0, unsafe fstat(terminal, &terminalStatus) == 0 else { return true }
        let (linkTime, terminalTime) = (linkStatus.st_ctim, terminalStatus.st_ctim)
        return (linkTime.tv_sec, linkTime.tv_nsec) >= (terminalTime.tv_sec, terminalTime.tv_nsec)
    }

    /// Removes the link if it still leads to this terminal, and closes the host's end. ``DescriptorChannel`` closes the
    /// other end.
    func remove() {
        if Self.target(of: link) == name { _ = unsafe unlink(link) }
        close(terminal)
    }
}

/// nfcpy's name for a PN532 on a serial line, such as `tty:USB0:pn532` (nfcpy 1.0.4, `nfc.clf.transport.TTY.find`).
package struct NfcpyPath {
    /// The name, for `nfc.ContactlessFrontend`.
    package let text: String

    /// Finds nfcpy's name for a line.
    ///
    /// For four kinds of lines, this is the kind and number, such as USB0 for /dev/ttyUSB0; else the file name.
    ///
    /// - Returns: nil for lines that nfcpy can't name: only files in /dev itself, of ASCII letters, digits and hyphens.
    package init?(line: String) {
        guard line.hasPrefix("/dev/") else { return nil }
        let name = line.dropFirst(5)
        let isPlain = name.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-") }
        guard !name.isEmpty, isPlain else { return nil }
        if name.hasPrefix("tty"), Self.isNumbered(name.dropFirst(3)) {
            text = "tty:\(name.dropFirst(3)):pn532"
            return
        }
        // nfcpy would use a different file for these names.
        let isTaken = Self.isNumbered(name) || Self.kinds.contains { $0 == name } || name.hasPrefix("usbserial")
        guard !isTaken else { return nil }
        text = "tty:\(name):pn532"
    }

    private static let kinds = ["S", "ACM", "AMA", "USB"]

    /// Returns whether a name consists of a kind and a number.
    private static func isNumbered(_ name: Substring) -> Bool {
        kinds.contains { kind in
            let number = name.dropFirst(kind.count)
            return name.hasPrefix(kind) && !number.isEmpty && number.allSatisfy(\.isNumber)
        }
    }
}
