// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Glibc
package import TagLink

/// A PN532 that other programs reach over a pseudo-terminal, as they would over a serial adapter.
package final class PN532Server: Sendable {
    private enum Event: Sendable {
        case octets([UInt8])
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

    /// Makes the line, with a link to it at a path.
    ///
    /// - Parameters:
    ///   - path: the link's path.
    ///   - field: the field of the chip.
    ///   - place: where it is a card for another reader.
    ///   - onExchange: takes each command with its answer.
    /// - Throws: ``EmulationError`` when no terminal or link can be made.
    package init(
        path: String,
        field: any FieldDriver,
        place: (any CardPlace)? = nil,
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
            onOctets: { continuation.yield(.octets($0)) },
            onEnd: { continuation.finish() }
        )
        close = { terminal.remove() }
    }

    /// Begins to answer hosts, until ``stop()``, or until the terminal fails.
    ///
    /// - Returns: the work, which ends after ``stop()``.
    package func start() -> Task<Void, Never> {
        Task(executorPreference: executor) { await self.run() }
    }

    private func run() async {
        var device = device
        for await event in events {
            let send = { (octets: [UInt8]) in _ = self.channel.send(octets) }
            switch event {
            case .octets(let octets): await device.receive(octets, send: send)
            case .presence: await device.presenceChanged(send: send)
            }
        }
        device.powerOff()
        channel.close()
        close()
    }

    /// Ends the work of ``start()``, which then takes the link away.
    package func stop() {
        continuation.finish()
        // What is still to be answered is not waited for.
        channel.close()
    }
}

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

    // TIOCSPTLCK and TIOCGPTN of asm-generic/ioctls.h, and F_OFD_SETLK of asm-generic/fcntl.h, which Swift does not see.
    private static let unlock: UInt = 0x4004_5431
    private static let getNumber: UInt = 0x8004_5430
    private static let setLock: Int32 = 37

    /// Makes a pseudo-terminal and the link. A link that an emulation left behind is replaced: one to a pseudo-terminal,
    /// which no emulation holds any more. Any other file or link is not touched.
    init(link: String) throws(EmulationError) {
        // Asked first: a link that was left behind may lead to the terminal that is made now.
        try Self.checkPlace(link)
        let controller = unsafe open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC)
        guard controller >= 0 else { throw .system("No pseudo-terminal can be made") }
        var number: CInt = 0
        var lock: CInt = 0
        guard unsafe ioctl(controller, Self.unlock, &lock) == 0, unsafe ioctl(controller, Self.getNumber, &number) == 0
        else {
            close(controller)
            throw .system("No pseudo-terminal can be made")
        }
        let name = "/dev/pts/\(number)"
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
        // Looked at again, so that what was put there meanwhile is kept.
        if let target = Self.target(of: link), Self.isTerminal(target) { _ = unsafe unlink(link) }
        guard unsafe symlink(name, link) == 0 else { throw .system("\(link) can't be made") }
    }

    /// Throws unless there is nothing at the link's path, or a link that an emulation left behind.
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

    /// Where a link leads, as it is written in it; nil where there is no link.
    private static func target(of link: String) -> String? {
        var target = [UInt8](repeating: 0, count: 256)
        let count = unsafe target.withUnsafeMutableBytes { memory in
            guard let first = memory.baseAddress else { return -1 }
            return unsafe readlink(link, first, memory.count)
        }
        guard count > 0, count < target.count else { return nil }
        return String(decoding: target.prefix(count), as: UTF8.self)
    }

    /// Whether a link's target is a pseudo-terminal, such as `/dev/pts/3`, as in every link that is made here.
    private static func isTerminal(_ target: String) -> Bool {
        let folder = "/dev/pts/"
        let number = target.utf8.dropFirst(folder.utf8.count)
        return target.hasPrefix(folder) && !number.isEmpty && number.allSatisfy { (0x30...0x39).contains($0) }
    }

    /// Locks a byte of a terminal, as a sign to other emulations that somebody answers at its other end. The lock ends with
    /// the descriptor. Programs that use the line lock it by flock(2), which is another kind of lock.
    ///
    /// The byte depends on the link: where one was left behind, its terminal may be that of another link by now.
    ///
    /// - Returns: false when another emulation has the lock.
    private static func takeLock(_ terminal: Int32, of link: String) -> Bool {
        var lock = flock()
        lock.l_type = Int16(F_WRLCK)
        lock.l_whence = Int16(SEEK_SET)
        lock.l_start = Int(position(of: link))
        lock.l_len = 1
        return unsafe fcntl(terminal, setLock, &lock) == 0 || errno != EAGAIN && errno != EACCES
    }

    /// Whether a link leads to the terminal of an emulation that goes on.
    private static func isInUse(_ link: String) -> Bool {
        // One that is open for a single program can't be opened: it is in use.
        let terminal = unsafe open(link, O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK)
        guard terminal >= 0 else { return errno == EBUSY }
        defer { close(terminal) }
        return isatty(terminal) == 1 && !takeLock(terminal, of: link)
    }

    /// A number for a link, the same however its path is written: FNV-1a over its folder's number and its name.
    private static func position(of link: String) -> UInt64 {
        let slash = link.lastIndex(of: "/")
        let folder = slash.map { link[...$0] } ?? "."
        var status = stat()
        _ = unsafe stat(String(folder), &status)
        let name = slash.map { link[link.index(after: $0)...] } ?? link[...]
        let octets = [UInt8](bigEndian: Int(truncatingIfNeeded: status.st_ino), count: 8) + name.utf8
        return octets.reduce(0xCBF2_9CE4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 } >> 2
    }

    /// Takes the link away, if it is still ours, and closes the terminal's other end. Ours belongs to whoever reads it.
    func remove() {
        if Self.target(of: link) == name { _ = unsafe unlink(link) }
        close(terminal)
    }
}
