// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Glibc
import LinuxSupport
package import TagLink

/// A PN532 that other programs use over a pseudo-terminal, like one on a serial adapter.
package final class PN532Server: Sendable {
    private enum Event: Sendable {
        case bytes([UInt8])
        case presence
    }

    /// The terminal's own name, such as `/dev/pts/3`.
    package let terminalName: String

    private let executor = ServerExecutor(label: "PN532Server")
    private let channel: DescriptorChannel
    private let events: AsyncStream<Event>
    private let continuation: AsyncStream<Event>.Continuation
    private let presence: PresenceObservation?
    private let device: PN532SerialDevice
    private let close: @Sendable () -> Void

    /// Creates the line, with a symbolic link to it.
    ///
    /// - Parameters:
    ///   - path: the link's path.
    ///   - field: the chip's field.
    ///   - place: the field in which it is a card for another reader.
    ///   - onExchange: receives each command with its answer.
    /// - Throws: ``EmulationError`` when the terminal or the link can't be created.
    package init(
        path: String,
        field: any FieldDriver,
        place: (any CardSlot)? = nil,
        onExchange: (@Sendable (Exchange) -> Void)? = nil
    ) throws(EmulationError) {
        let terminal = try PseudoTerminal(link: path)
        terminalName = terminal.name
        let (events, continuation) = AsyncStream.makeStream(of: Event.self)
        self.events = events
        self.continuation = continuation
        device = PN532SerialDevice(
            field: field,
            place: place,
            onTargetChange: { continuation.yield(.presence) },
            onExchange: onExchange
        )
        presence = field.observePresence { continuation.yield(.presence) }
        channel = DescriptorChannel(
            terminal.controller,
            queue: executor.queue,
            onBytes: { continuation.yield(.bytes($0)) },
            onEnd: { continuation.finish() }
        )
        close = { terminal.remove() }
    }

    /// Starts to answer hosts, until ``stop()``, or until the terminal fails.
    ///
    /// - Returns: the task, which ends after ``stop()``.
    package func start() -> Task<Void, Never> {
        Task(executorPreference: executor) { await self.run() }
    }

    private func run() async {
        var device = device
        for await event in events {
            let send = { (bytes: [UInt8]) in _ = self.channel.send(bytes) }
            switch event {
            case .bytes(let bytes): await device.receive(bytes, send: send)
            case .presence: await device.presenceChanged(send: send)
            }
        }
        await device.powerOff()
        channel.close()
        close()
    }

    /// Ends the task of ``start()``, which then removes the link.
    package func stop() {
        continuation.finish()
        // Does not wait for pending answers.
        channel.close()
    }
}

/// A pseudo-terminal that other programs use as a serial line, with a link to it at a path that the user chooses.
struct PseudoTerminal {
    /// This program's end.
    let controller: Int32
    /// The other end. It stays open, so that this program's end does not fail when a host closes it.
    let terminal: Int32
    /// The terminal's own name, such as `/dev/pts/3`.
    let name: String
    /// The link to it.
    let link: String

    // TIOCSPTLCK and TIOCGPTN of asm-generic/ioctls.h, and F_OFD_SETLK of asm-generic/fcntl.h, which Swift does not see.
    private static let unlock: UInt = 0x4004_5431
    private static let getNumber: UInt = 0x8004_5430
    private static let setLock: Int32 = 37

    /// Creates a pseudo-terminal and the link. A link that an earlier emulation left behind is replaced: a link to a
    /// pseudo-terminal that no emulation uses any more. Any other file or link stays unchanged.
    init(link: String) throws(EmulationError) {
        // Checked first, because a link that was left behind may lead to the terminal that is created now.
        try Self.checkPlace(link)
        let controller = unsafe open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC)
        guard controller >= 0 else { throw .system("No pseudo-terminal can be made") }
        var number: CUnsignedInt = 0
        var lock: CInt = 0
        guard unsafe ioctl(controller, Self.unlock, &lock) == 0, unsafe ioctl(controller, Self.getNumber, &number) == 0
        else {
            close(controller)
            throw .system("No pseudo-terminal can be made")
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
        _ = Self.takeLock(terminal, of: link)
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
        guard unsafe symlink(name, link) == 0 else { throw .system("\(link) can't be made") }
    }

    /// Throws unless the link's path is free, or has a link that an emulation left behind.
    private static func checkPlace(_ link: String) throws(EmulationError) {
        var status = stat()
        guard unsafe lstat(link, &status) == 0 else { return }
        guard status.st_mode & S_IFMT == S_IFLNK else {
            throw EmulationError("\(link) is a file already. Give another path for the serial line.")
        }
        guard let target = target(of: link), isTerminal(target) else {
            throw EmulationError("\(link) is a link to something else already. Give another path for the serial line.")
        }
        guard !isInUse(link) else {
            throw EmulationError("Another program is the PN532 at \(link) already. Stop it, or give another path.")
        }
    }

    /// The target of a link, as written in it; nil when there is no link.
    private static func target(of link: String) -> String? {
        unsafe SymbolicLink.target(of: link).map { String(decoding: $0, as: UTF8.self) }
    }

    /// The name of a pseudo-terminal, such as `/dev/pts/3`.
    private static func terminalName(_ number: CUnsignedInt) -> String { "/dev/pts/\(number)" }

    /// Whether a link's target is the name of a pseudo-terminal, as all links that this program creates have it.
    private static func isTerminal(_ target: String) -> Bool {
        CUnsignedInt(target.drop { !$0.isNumber }).map { terminalName($0) == target } ?? false
    }

    /// Locks a byte of a terminal, to show other emulations that its other end is in use. Closing the descriptor
    /// removes the lock. Programs that use the line lock it with flock(2), which is a different kind of lock.
    ///
    /// The byte depends on the link: if a link was left behind, its terminal may now belong to another link.
    ///
    /// - Returns: false when another emulation has the lock.
    private static func takeLock(_ terminal: Int32, of link: String) -> Bool {
        var lock = flock()
        lock.l_type = Int16(F_WRLCK)
        lock.l_whence = Int16(SEEK_SET)
        lock.l_start = Int(position(of: link))
        lock.l_len = 1
        return unsafe fcntl(terminal, setLock, &lock) == 0 || errno != EAGAIN
    }

    /// Whether a link leads to the terminal of a running emulation.
    private static func isInUse(_ link: String) -> Bool {
        // A terminal that a program has opened exclusively can't be opened: it is in use.
        let terminal = unsafe open(link, O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK)
        guard terminal >= 0 else { return errno == EBUSY }
        defer { close(terminal) }
        return isatty(terminal) == 1 && !takeLock(terminal, of: link)
    }

    /// A number for a link that does not depend on how its path is written: FNV-1a over its folder's number and its
    /// name.
    private static func position(of link: String) -> UInt64 {
        let slash = link.lastIndex(of: "/")
        let folder = slash.map { link[...$0] } ?? "."
        var status = stat()
        _ = unsafe stat(String(folder), &status)
        let name = slash.map { link[link.index(after: $0)...] } ?? link[...]
        let bytes = [UInt8](bigEndian: Int(truncatingIfNeeded: status.st_ino), count: 8) + name.utf8
        let hash: UInt64 = bytes.reduce(0xCBF2_9CE4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
        return hash >> 2
    }

    /// Removes the link if it is still this one, and closes the terminal's other end. The reader of this program's end
    /// closes that.
    func remove() {
        if Self.target(of: link) == name { _ = unsafe unlink(link) }
        close(terminal)
    }
}
