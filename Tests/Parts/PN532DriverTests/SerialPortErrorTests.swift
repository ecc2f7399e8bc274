// SPDX-License-Identifier: Apache-2.0
import Glibc
import TagLink
import Testing

@testable import PN532Driver

/// Checks the messages for a line that can't be used.
struct SerialPortErrorTests {
    private static func reason(_ code: Int32, group: String? = nil, isAllowed: Bool = true) -> String {
        let ownership = group.map { SerialPortError.Ownership(group: $0, isGroupAllowed: isAllowed) }
        return SerialPortError.reason(path: "/dev/ttyUSB0", code: code, ownership: ownership)
    }

    @Test("Without permission the group to join is named")
    func group() {
        #expect(Self.reason(EACCES, group: "dialout").contains("sudo usermod -aG dialout \"$USER\""))
        #expect(Self.reason(EACCES, group: "uucp").contains("the group uucp"))
    }

    @Test("Where no group may use it, the udev rule is named")
    func rule() {
        for reason in [
            Self.reason(EACCES, group: "root"), Self.reason(EACCES, group: "dialout", isAllowed: false),
            Self.reason(EACCES),
        ] {
            #expect(reason.contains(#"KERNEL=="ttyUSB*", GROUP="dialout""#), "\(reason)")
            #expect(reason.contains("/etc/udev/rules.d/"))
        }
    }

    @Test("Other reasons say what to do", arguments: [ENOENT, EBUSY, EWOULDBLOCK, ENXIO, ENOTTY, EINVAL])
    func others(code: Int32) {
        #expect(Self.reason(code).contains("/dev/ttyUSB0"))
    }

    @Test("Behind an @ that no line has in its name, a speed is missing")
    func speed() {
        let reason = { SerialPortError.reason(path: $0, code: ENOENT, ownership: nil) }
        #expect(reason("/dev/ttyUSB0@x").contains(#""x" is no speed of a PN532: behind @ comes one of 9600, 19200"#))
        #expect(!reason("/dev/a@b/ttyUSB0").contains("speed"))
        #expect(reason("/dev/a@b/ttyUSB0@x").contains(#""x" is no speed"#))
    }

    @Test("What is no serial line, or not there, is refused")
    func notALine() async throws {
        for (path, text) in [("/dev/null", "not a serial"), ("/dev/ttyUSB99", "Plug"), ("/", "not a serial")] {
            let reader = try PN532Reader(path)
            let error = await #expect(throws: LinkError.self) { try await reader.prepare() }
            #expect(error?.code == .readerUnavailable)
            #expect(error?.reason.contains(text) == true)
        }
    }

    @Test("A line is named by its path, and its speed where it has one")
    func names() throws {
        #expect(try SerialLineName("/dev/ttyUSB0").speed == .baud115200)
        let fast = try SerialLineName("/dev/ttyUSB0@921600")
        #expect(fast.path == "/dev/ttyUSB0")
        #expect(fast.speed == .baud921600)
        #expect(try SerialLineName("/dev/odd@name").path == "/dev/odd@name")
        let both = try SerialLineName("/dev/odd@name@9600")
        #expect(both.path == "/dev/odd@name" && both.speed == .baud9600)
        #expect(throws: LinkError(.unsupported, "")) { try SerialLineName("/dev/ttyUSB0@1234") }
        #expect(throws: LinkError(.unsupported, "")) { try SerialLineName("") }
        #expect(throws: LinkError(.unsupported, "")) { try SerialLineName("@115200") }
    }

    @Test(
        "What is wrong with a line is a sentence for people",
        arguments: [
            (ENOENT, "There is no /dev/ttyUSB0. Plug"), (ENOTDIR, "There is no /dev/ttyUSB0. Plug"),
            (EPERM, "You may not use /dev/ttyUSB0. Add the udev rule"),
            (EBUSY, "/dev/ttyUSB0 is in use by another program."),
            (EWOULDBLOCK, "/dev/ttyUSB0 is in use by another program."),
            (ENXIO, "There is no device behind /dev/ttyUSB0."), (ENODEV, "There is no device behind /dev/ttyUSB0."),
            (EIO, "There is no device behind /dev/ttyUSB0."), (ENOTTY, "/dev/ttyUSB0 is not a serial line."),
            (EISDIR, "/dev/ttyUSB0 is not a serial line."), (EINVAL, "/dev/ttyUSB0 can't be used: Invalid argument."),
        ] as [(Int32, String)]
    )
    func sentences(code: Int32, start: String) {
        #expect(Self.reason(code).hasPrefix(start))
    }

    @Test("A line's kernel name has a star for its number")
    func kernelNames() {
        func rule(_ path: String) -> String { SerialPortError.reason(path: path, code: EACCES, ownership: nil) }
        #expect(rule("/dev/ttyACM12").contains(#"KERNEL=="ttyACM*""#))
        #expect(rule("/dev/serial").contains(#"KERNEL=="serial*""#))
        #expect(rule("/dev/tty4port7").contains(#"KERNEL=="tty4port*""#))
    }

    @Test(
        "Whose a file is comes with its group's name, and whether the group may read and write",
        arguments: [
            (0o660, true), (0o640, false), (0o620, false), (0o600, false), (0o666, true), (0o606, false),
        ] as [(mode_t, Bool)]
    )
    func ownership(mode: mode_t, isAllowed: Bool) throws {
        let path = "/tmp/pn532-owner-\(UInt64.random(in: 0...UInt64.max))"
        let descriptor = unsafe open(path, O_CREAT | O_RDWR | O_EXCL, 0o600)
        try #require(descriptor >= 0)
        defer {
            close(descriptor)
            _ = unsafe unlink(path)
        }
        try #require(fchmod(descriptor, mode) == 0)
        guard let group = unsafe getgrgid(getegid()) else { return }
        let name = unsafe String(cString: group.pointee.gr_name)
        #expect(
            SerialPortError.ownership(of: path) == SerialPortError.Ownership(group: name, isGroupAllowed: isAllowed)
        )
        // A group without a name is its number.
        if geteuid() == 0, fchown(descriptor, 0, 54321) == 0 {
            #expect(SerialPortError.ownership(of: path)?.group == "54321")
        }
        #expect(SerialPortError.ownership(of: path + "-absent") == nil)
    }
}
