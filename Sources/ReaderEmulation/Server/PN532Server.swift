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

    // TIOCSPTLCK and TIOCGPTN of asm-generic/ioctls.h, whose macros Swift does not see.
    private static let unlock: UInt = 0x4004_5431
    private static let getNumber: UInt = 0x8004_5430

    /// Makes a pseudo-terminal and the link. A link that is there already is replaced, any other file is not.
    init(link: String) throws(EmulationError) {
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
        let count = unsafe target.withUnsafeMutableBytes { memory in
            guard let first = memory.baseAddress else { return 0 }
            return unsafe readlink(link, first, memory.count)
        }
        if count > 0, String(decoding: target.prefix(count), as: UTF8.self) == name { _ = unsafe unlink(link) }
        close(terminal)
    }
}
