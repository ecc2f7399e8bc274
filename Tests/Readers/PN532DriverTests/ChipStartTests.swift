// SPDX-License-Identifier: Apache-2.0
import ChipTesting
import Foundation
import Glibc
import TagLink
import Testing

@testable import PN532Driver  // speeds, line names and reasons are internal

/// The serial line and how a chip is started on it, from any state.
@Suite(.timeLimit(.minutes(5))) struct ChipStartTests {
    /// A chip whose answers may depend on how its line is set.
    private static func chip(
        _ responder: @escaping @Sendable (ScriptedChip, UInt8) -> ScriptedChip.Reply?
    ) throws -> ScriptedChip {
        let itself = Locked<ScriptedChip?>(nil)
        let chip = try ScriptedChip { code, _ in itself.withLock { $0 }.flatMap { responder($0, code) } }
        itself.withLock { $0 = chip }
        return chip
    }

    // MARK: The line

    @Test func `line settings: raw, 8 bits, no parity, one stop bit, 115,200 baud`() async throws {
        try await withReader("") { chip, reader in
            try await reader.prepare()
            let settings = chip.lineSettings
            #expect(settings.c_ospeed == speed_t(B115200) && settings.c_ispeed == speed_t(B115200))
            #expect(settings.c_cflag & tcflag_t(CSIZE) == tcflag_t(CS8))
            #expect(
                settings.c_cflag & tcflag_t(PARENB | CSTOPB | HUPCL) == 0 && settings.c_cflag & tcflag_t(CRTSCTS) == 0
            )
            #expect(settings.c_cflag & tcflag_t(CREAD | CLOCAL) == tcflag_t(CREAD | CLOCAL))
            #expect(settings.c_lflag & tcflag_t(ICANON | ECHO | ISIG) == 0)
            #expect(settings.c_iflag & tcflag_t(ICRNL | IXON) == 0 && settings.c_oflag & tcflag_t(OPOST) == 0)
            #expect(chip.log() == ScriptedChip.start)
        }
    }

    @Test func `line name: a path, and its speed behind @; I2C and SPI have none`() throws {
        let names: [(String, String?, SerialSpeed)] = [
            ("/dev/ttyUSB0", "/dev/ttyUSB0", .baud115200), ("/dev/ttyUSB0@921600", "/dev/ttyUSB0", .baud921600),
            ("/dev/odd@name", "/dev/odd@name", .baud115200), ("/dev/odd@name@9600", "/dev/odd@name", .baud9600),
            ("/dev/ttyUSB0@1234", nil, .initial), ("", nil, .initial), ("@115200", nil, .initial),
            ("/dev/i2c-1@115200", nil, .initial), ("/dev/spidev0.0@9600", nil, .initial),
        ]
        for (text, path, speed) in names {
            do throws(LinkError) {
                let name = try ChipLineName(text)
                #expect(name.path == path && name.speed == speed, "\(text)")
            } catch { #expect(path == nil && error.code == .unsupported, "\(text)") }
        }
    }

    @Test(arguments: zip(SerialSpeed.allCases, [B9600, B19200, B38400, B57600, B115200, B230400, B460800, B921600]))
    func `speed: set at the chip and the line when opened, and set back when released`(
        speed: SerialSpeed,
        code: Int32
    ) async throws {
        let number = UInt8(try #require(SerialSpeed.allCases.firstIndex(of: speed)))
        let chip = try ScriptedChip(script: "")
        defer { chip.end() }
        let reader = try PN532Reader("\(chip.path)@\(speed.rawValue)", limits: .patient)
        try await reader.prepare()
        #expect(chip.lineSettings.c_ospeed == speed_t(code))
        // The chip changes its speed when its answer is acknowledged, and is asked whether it did. A terminal drops what
        // its other end has not read when its settings change, so that the acknowledgement may be lost here.
        func log() -> [String] { chip.log().filter { $0 != "ACK" } }
        let change = speed == .initial ? [] : ["10 " + [number].hexText(), "02"]
        #expect(log() == ScriptedChip.start + change)
        // No acknowledgement goes before what it acknowledges.
        #expect(chip.log().starts(with: ScriptedChip.start + change.prefix(1)))
        await reader.release()
        #expect(chip.lineSettings.c_ospeed == speed_t(B115200))
        #expect(log() == ScriptedChip.start + change + ["32 0100"] + (speed == .initial ? [] : ["10 04", "02"]))
    }

    // MARK: The chip

    @Test(arguments: [460800, 115200, 9600])
    func `chip left at 460,800 baud: found if that rate is wanted, otherwise readerUnavailable`(speed: Int) async throws
    {
        // What is sent at another speed is nothing that the chip understands.
        let chip = try Self.chip { chip, _ in
            chip.lineSettings.c_ospeed == speed_t(B460800)
                ? nil : .unacknowledged([0x00, 0x00, 0xFF, 0x01, 0xFF, 0x7F, 0x81, 0x00])
        }
        defer { chip.end() }
        let reader = try PN532Reader("\(chip.path)@\(speed)", limits: .patient)
        let woken = [String](repeating: "14 011400", count: 3)
        let result = await code { try await reader.prepare() }
        #expect(result == (speed == 460800 ? nil : .readerUnavailable))
        let log = [460800: woken + ScriptedChip.start, 115200: woken, 9600: woken + woken]
        #expect(chip.log() == log[speed])
    }

    @Test(arguments: 0...3)
    func `damaged GetFirmwareVersion answer: two NACKs for each of three commands, then readerUnavailable`(times: Int)
        async throws
    {
        let good = ScriptedChip.frame(0x02, [0x32, 1, 6, 7])
        var damaged = good
        damaged[8] ^= 1
        let (bad, asked) = (damaged, Locked(0))
        let chip = try Self.chip { chip, code in
            guard code == 0x02 else { return nil }
            let isBad = asked.withLock { count in
                count += 1
                return count <= times
            }
            chip.repeats(isBad ? bad : good)
            return .bytes(isBad ? bad : good)
        }
        defer { chip.end() }
        let reader = try PN532Reader(chip.path, limits: .patient)
        let result = await code { try await reader.prepare() }
        #expect(result == (times < 3 ? nil : .readerUnavailable))
        let each = [[String]](repeating: ["02", "NACK", "NACK"], count: times).joined()
        let rest = times < 3 ? Array(ScriptedChip.start.dropFirst()) : []
        #expect(chip.log().filter { $0 != "ACK" } == ["14 011400"] + each + rest)
    }

    @Test
    func
        `firmware answer: a PN532's gives name and version; another chip or a short answer is readerUnavailable`()
        async throws
    {
        let answers: [(String, LinkError.Code?)] = [
            ("32 01 04 00", nil), ("32 01 04 07 09", nil), ("32 01 04", .readerUnavailable),
            ("31 01 04 07", .readerUnavailable), ("33 01 00 07", .readerUnavailable), ("", .readerUnavailable),
        ]
        for (answer, expected) in answers {
            try await withReader("02: \(answer)") { chip, reader in
                #expect(!reader.wasAvailable && reader.name == "PN532 (\(chip.path))")
                let result = await code { try await reader.prepare() }
                #expect(result == expected && reader.wasAvailable == (expected == nil), "\(answer)")
                #expect(reader.name == (expected == nil ? "PN532 v1.4 (\(chip.path))" : "PN532 (\(chip.path))"))
            }
        }
        // A setting that the chip refuses makes it unusable, not absent.
        try await withReader("12: error") { _, reader in
            #expect(await code { try await reader.prepare() } == .unsupported)
        }
    }

    // MARK: Lines that can't be used

    private static func folder() throws -> String {
        let path = "/tmp/pn532-\(UInt64.random(in: 0...UInt64.max))"
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
        return path
    }

    @Test func `kind of a line: from the name of its device, to which a link may lead`() throws {
        let folder = try Self.folder()
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let (device, link) = (folder + "/i2c-1", folder + "/nfc")
        try Data().write(to: URL(fileURLWithPath: device))
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: device)
        let rows: [(String, ChipLineKind)] = [
            ("/dev/i2c-99", .i2c), ("/dev/spidev9.1", .spi), ("/dev/ttyAMA0", .serial), (link, .i2c), ("", .serial),
        ]
        for (path, kind) in rows { #expect(ChipLineKind(path: path) == kind, "\(path)") }
    }

    @Test(arguments: [ChipLineKind.i2c, .spi])
    func `bus that is absent, is a file, or has no chip: readerUnavailable, and the reason says what to do`(
        kind: ChipLineKind
    ) async throws {
        // As in linux/spi/spidev.h.
        #expect(
            MemoryLayout<SystemBus.Message>.size == 32 && MemoryLayout<SystemBus.Message>.offset(of: \.holding) == 24
        )
        let (name, title, group) = kind == .i2c ? ("i2c-1", "I2C", "i2c") : ("spidev0.0", "SPI", "spi")
        let folder = try Self.folder()
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let path = folder + "/" + name
        func reason(_ open: @escaping BusOpener = SystemBus.init) async throws -> String {
            let reader = try PN532Reader(path, limits: HostLimits(), openBus: open)
            do throws(LinkError) { try await reader.prepare() } catch {
                #expect(error.code == .readerUnavailable)
                return error.reason
            }
            return ""
        }
        #expect(try await reason().contains("raspi-config"))
        try Data().write(to: URL(fileURLWithPath: path))
        #expect(try await reason() == "\(path) is not an \(title) bus.")
        // Nobody acknowledges the address, or the line floats.
        let model = BusModel(kind) { _ in }
        if kind == .i2c { model.fail(EREMOTEIO) }
        let absent = try await reason { _, _ in model }
        #expect(absent.contains("for \(title).") && absent.contains("address 0x24") == (kind == .i2c))
        #expect(Self.reason(EACCES, path, kind, group: group).contains("usermod -aG \(group) "))
        #expect(Self.reason(EACCES, path, kind, group: "root").contains("groupadd -f \(group);"))
        #expect(Self.reason(EBUSY, path, kind).contains(kind == .i2c ? "modprobe -r pn533_i2c" : "another program"))
    }

    private static func reason(
        _ code: Int32,
        _ path: String = "/dev/ttyUSB0",
        _ kind: ChipLineKind = .serial,
        group: String? = nil,
        isAllowed: Bool = true
    )
        -> String
    {
        let ownership = group.map { ChipLineError.Ownership(group: $0, isGroupAllowed: isAllowed) }
        return ChipLineError.reason(kind, path: path, code: code, ownership: ownership)
    }

    @Test func `line that can't be opened: the reason names the line and what to do`() async throws {
        let reasons: [([Int32], String)] = [
            ([ENOENT, ENOTDIR], "Plug"), ([EBUSY, EWOULDBLOCK], "in use"), ([ENXIO, ENODEV, EIO], "adapter"),
            ([ENOTTY, EISDIR], "not a serial line"), ([EINVAL], "Invalid argument"), ([EPERM, EACCES], "udev rule"),
        ]
        for (codes, words) in reasons {
            for code in codes {
                #expect(Self.reason(code).contains(words) && Self.reason(code).contains("/dev/ttyUSB0"), "\(code)")
            }
        }
        // Without permission: the group to join, or where no group may use the line, the udev rule.
        #expect(Self.reason(EACCES, group: "dialout").contains("sudo usermod -aG dialout \"$USER\""))
        #expect(Self.reason(EACCES, group: "uucp").contains("the group uucp"))
        for (group, isAllowed) in [("root", true), ("dialout", false)] {
            #expect(Self.reason(EACCES, group: group, isAllowed: isAllowed).contains("/etc/udev/rules.d/"))
        }
        #expect(Self.reason(EACCES, "/dev/ttyACM12").contains("KERNEL==\"ttyACM*\""))
        // Behind an @ that no line has in its name, a speed is missing.
        #expect(Self.reason(ENOENT, "/dev/ttyUSB0@x").contains("\"x\" is not a baud rate"))
        for path in ["/dev/null", "/dev/ttyUSB99", "/"] {
            let reader = try PN532Reader(path)
            #expect(await code { try await reader.prepare() } == .readerUnavailable, "\(path)")
        }
    }

    @Test(
        arguments: [(0o660, true), (0o640, false), (0o620, false), (0o666, true), (0o606, false)] as [(mode_t, Bool)]
    )
    func `ownership of a line: its group's name, and whether the mode lets the group read and write`(
        mode: mode_t,
        isAllowed: Bool
    ) throws {
        let path = "/tmp/pn532-owner-\(UInt64.random(in: 0...UInt64.max))"
        let descriptor = unsafe open(path, O_CREAT | O_RDWR | O_EXCL, 0o600)
        try #require(descriptor >= 0 && fchmod(descriptor, mode) == 0)
        defer {
            close(descriptor)
            _ = unsafe unlink(path)
        }
        let name = unsafe getgrgid(getegid()).map { unsafe String(cString: $0.pointee.gr_name) } ?? "\(getegid())"
        let expected = ChipLineError.Ownership(group: name, isGroupAllowed: isAllowed)
        #expect(ChipLineError.ownership(of: path) == expected)
        #expect(ChipLineError.ownership(of: path + "-absent") == nil)
    }
}
