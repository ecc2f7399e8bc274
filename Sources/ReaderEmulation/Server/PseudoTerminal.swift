// SPDX-License-Identifier: Apache-2.0
import Glibc

/// A pseudo-terminal that other programs take for a serial line, with a link to it at a path of the person's choice.
struct PseudoTerminal {
    /// Our end.
    let controller: Int32
    /// The other end. It is kept open, so that ours does not fail when a program closes it.
    let terminal: Int32
    /// The terminal's own name, such as `/dev/pts/3`.
    let name: String
    /// The link to it.
    let link: String

    /// Makes a pseudo-terminal and the link. A link that is there already is replaced, any other file is not.
    init(link: String) throws(EmulationError) {
        let controller = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC)
        guard controller >= 0 else { throw .system("No pseudo-terminal can be made") }
        var name = [CChar](repeating: 0, count: 128)
        guard grantpt(controller) == 0, unlockpt(controller) == 0,
            unsafe ptsname_r(controller, &name, name.count) == 0
        else {
            close(controller)
            throw .system("No pseudo-terminal can be made")
        }
        let terminal = unsafe open(name, O_RDWR | O_NOCTTY | O_CLOEXEC)
        guard terminal >= 0 else {
            close(controller)
            throw .system("The pseudo-terminal can't be opened")
        }
        var settings = termios()
        _ = unsafe tcgetattr(terminal, &settings)
        unsafe cfmakeraw(&settings)
        _ = unsafe tcsetattr(terminal, TCSANOW, &settings)
        self.controller = controller
        self.terminal = terminal
        let octets = name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
        self.name = String(decoding: octets, as: UTF8.self)
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
        var status = stat()
        if unsafe lstat(link, &status) == 0 {
            guard status.st_mode & S_IFMT == S_IFLNK else {
                throw EmulationError("\(link) is a file already. Give another path for the serial line.")
            }
            _ = unsafe unlink(link)
        }
        guard unsafe symlink(name, link) == 0 else { throw .system("\(link) can't be made") }
    }

    /// Takes the link away, if it is still ours, and closes the terminal's other end. Ours belongs to whoever reads it.
    func remove() {
        var target = [UInt8](repeating: 0, count: 256)
        let count = unsafe target.withUnsafeMutableBytes { unsafe readlink(link, $0.baseAddress, $0.count) }
        if count > 0, String(decoding: target.prefix(count), as: UTF8.self) == name { _ = unsafe unlink(link) }
        close(terminal)
    }
}
