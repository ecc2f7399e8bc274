// SPDX-License-Identifier: Apache-2.0
import Glibc
import LinuxSupport
import TagLink

/// A line to a chip. It carries whole frames to the chip, and bytes from it.
///
/// The methods block, so use them on a separate thread. Every wait has a time limit, and reads can be cancelled.
protocol ChipLine: AnyObject {
    /// The line's path, such as `/dev/ttyUSB0` or `/dev/i2c-1`.
    var path: String { get }
    var kind: ChipLineKind { get }
    /// The cancellation of the operation that is using the line. It ends the operation's reads.
    var cancellation: Cancellation? { get set }

    /// Sends a frame, to a chip that may be asleep if `wakes` is true. Throws `LinkError` with `readerUnavailable` when
    /// the line is gone, or does not accept the frame in time.
    func write(_ frame: [UInt8], wakes: Bool, before deadline: ContinuousClock.Instant) throws(LinkError)

    /// Waits for bytes. Returns the received bytes; empty when none arrive in time. Throws `LinkError` with
    /// `readerUnavailable` when the line is gone, or with `cancelled`.
    func read(before deadline: ContinuousClock.Instant?) throws(LinkError) -> [UInt8]
}

extension ChipLine {
    /// Discards received bytes from earlier requests.
    func discardInput() throws(LinkError) {
        // The number of attempts is limited, because a device may never stop sending.
        for _ in 0..<64 {
            guard !(try read(before: .now)).isEmpty else { return }
        }
    }
}

/// The host interfaces of a PN532 (PN532 user manual, 6.2).
package enum ChipLineKind: Sendable, CaseIterable {
    case serial, i2c, spi

    /// The chip's address on an I2C bus.
    static let address: CInt = 0x24

    /// Finds the kind of a line by the name of its device. The path may be a symbolic link.
    init(path: String) {
        let resolved = unsafe realpath(path, nil)
        defer { unsafe free(resolved) }
        let device = unsafe resolved.map { unsafe String(cString: $0) } ?? path
        let name = device.split(separator: "/").last ?? ""
        self = name.hasPrefix("i2c-") ? .i2c : name.hasPrefix("spidev") ? .spi : .serial
    }

    /// The device's type, its subsystem and the group of its users in Linux, and how to connect a board to it.
    fileprivate var words: (title: String, subsystem: String, group: String, wiring: String) {
        let switches = "and its switches or jumpers: the first"
        return switch self {
        case .serial:
            (
                "a serial line", "tty", "dialout",
                "(TX to RX and RX to TX) and its switches: both off for the serial interface, HSU."
            )
        case .i2c: ("an I2C bus", "i2c-dev", "i2c", "\(switches) on and the second off for I2C.")
        case .spi: ("an SPI bus", "spidev", "spi", "\(switches) off and the second on for SPI.")
        }
    }
}

/// The name of a chip's line: the path, and for a serial line optionally `@` and the speed.
struct ChipLineName: Sendable, Equatable {
    var path: String
    var speed = SerialSpeed.initial

    /// Parses a name. Throws `LinkError` with `unsupported` when the path is missing, or the chip does not support the
    /// speed.
    init(_ name: String) throws(LinkError) {
        path = name
        var bits: Int?
        // A path may itself contain an @. Only digits after the @ are a speed.
        if let at = name.lastIndex(of: "@"), name[at...].dropFirst().utf8.allSatisfy({ (0x30...0x39).contains($0) }) {
            bits = Int(name[name.index(after: at)...])
            if bits != nil { path = String(name[..<at]) }
        }
        guard !path.isEmpty else {
            throw LinkError(.unsupported, "Give the path of the PN532, for example pn532:/dev/ttyUSB0.")
        }
        guard let bits else { return }
        let kind = ChipLineKind(path: path)
        guard kind == .serial else {
            throw LinkError(.unsupported, "\(path) is \(kind.words.title), which has no baud rate: leave out @\(bits).")
        }
        guard let speed = SerialSpeed(rawValue: bits) else {
            throw LinkError(.unsupported, "A PN532 does not support \(bits) baud, only \(SerialSpeed.list).")
        }
        self.speed = speed
    }
}

/// The reasons why a line can't be used, as sentences that explain what to do.
enum ChipLineError {
    /// A file's group and the group's permission.
    struct Ownership: Sendable, Equatable {
        /// The name of the group, or its number if the name is unknown.
        var group: String
        var isGroupAllowed: Bool
    }

    /// The error for a line that can't be opened or used, from the code of the system call that failed.
    static func unusable(_ kind: ChipLineKind, _ path: String, _ code: Int32) -> LinkError {
        LinkError(.readerUnavailable, reason(kind, path: path, code: code, ownership: ownership(of: path)))
    }

    /// Explains a failure to open a line.
    static func reason(_ kind: ChipLineKind, path: String, code: Int32, ownership: Ownership?) -> String {
        let (title, subsystem, defaultGroup, _) = kind.words
        switch (code, kind) {
        case (ENOENT, .serial), (ENOTDIR, _):
            if let at = path.lastIndex(of: "@"), !path[at...].contains("/") {
                return """
                    \(path) does not exist, and \"\(path[path.index(after: at)...])\" is not a baud rate that a PN532 \
                    supports. Put one of these after @: \(SerialSpeed.list).
                    """
            }
            return """
                \(path) does not exist. Plug in the PN532's serial adapter. Connected adapters are listed in /dev/serial/by-id.
                """
        case (ENOENT, .i2c), (ENOENT, .spi):
            let (setting, module, example) =
                kind == .i2c ? ("i2c_arm", "i2c-dev", "/dev/i2c-1") : ("spi", "spidev", "/dev/spidev0.0")
            return """
                \(path) does not exist. On a Raspberry Pi, the bus is \(example). Switch it on with sudo raspi-config, or \
                with dtparam=\(setting)=on in config.txt and a restart. If it is still missing: sudo modprobe \(module)
                """
        case (EACCES, _), (EPERM, _):
            guard let ownership, ownership.isGroupAllowed, ownership.group != "root" else {
                let (again, create) =
                    kind == .serial ? (", plug the adapter in again", "") : ("", "sudo groupadd -f \(defaultGroup); ")
                return """
                    You have no permission to use \(path). Add the udev rule SUBSYSTEM=="\(subsystem)", \
                    KERNEL=="\(kernelName(path))", GROUP="\(defaultGroup)", MODE="0660" to \
                    /etc/udev/rules.d/60-pn532.rules\(again), and join the group with: \(create)sudo usermod \
                    -aG \(defaultGroup) "$USER". \(kind == .serial ? "Log in again" : "Restart the machine") afterwards.
                    """
            }
            return """
                You have no permission to use \(path): it belongs to the group \(ownership.group). Join the group \
                with: sudo usermod -aG \(ownership.group) "$USER". Log in again afterwards.
                """
        case (EBUSY, .i2c):
            return "A driver of the kernel uses the PN532 on \(path). Unload it: sudo modprobe -r pn533_i2c"
        case (EBUSY, _), (EWOULDBLOCK, _): return "\(path) is in use by another program. End that program first."
        case (ENXIO, .serial), (ENODEV, .serial), (EIO, .serial):
            return "No device is connected to \(path). Plug the adapter in again."
        case (ENOTTY, _), (EISDIR, _): return "\(path) is not \(title)."
        default: return "\(path) can't be used: \(unsafe String(cString: strerror(code)))."
        }
    }

    /// Returns the pattern with which udev selects similar lines: `ttyUSB*` for `/dev/ttyUSB0`.
    private static func kernelName(_ path: String) -> String {
        var name = path.split(separator: "/").last.map(String.init) ?? path
        while let last = name.last, last.isNumber { name.removeLast() }
        return name + "*"
    }

    static func ownership(of path: String) -> Ownership? {
        var status = stat()
        guard unsafe stat(path, &status) == 0 else { return nil }
        let name = UserGroup(status.st_gid)?.name ?? String(status.st_gid)
        return Ownership(group: name, isGroupAllowed: status.st_mode & 0o060 == 0o060)
    }

    /// The error for a line on which nothing answers.
    static func noChip(_ kind: ChipLineKind, _ path: String) -> LinkError {
        let address = kind == .i2c ? ", address 0x24" : ""
        return LinkError(
            .readerUnavailable,
            "No PN532 answers at \(path)\(address). Check its wiring \(kind.words.wiring)"
        )
    }

    static func gone(_ path: String) -> LinkError {
        LinkError(.readerUnavailable, "The PN532 at \(path) is gone. Plug its adapter in again.")
    }

    static let cancelled = LinkError(.cancelled, "The operation was cancelled.")
}
