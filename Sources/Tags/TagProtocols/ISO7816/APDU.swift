// SPDX-License-Identifier: Apache-2.0
public import TagLink

extension APDULink {
    /// Sends a command. Follows status word 61xx with GET RESPONSE, and repeats the command with the corrected Le after
    /// 6Cxx (ISO/IEC 7816-4, 5.3.4). The returned response is complete and has a different status word.
    ///
    /// - Throws: ``TagError`` with `tagLost`, `badAnswer`, `unsupported`, `readerUnavailable`, `cancelled`.
    public func send(_ command: CommandAPDU) async throws(TagError) -> ResponseAPDU {
        // A response has at most 64 KB, the size of one extended response, and needs at most 512 GET RESPONSE.
        let (maximumRounds, maximumLength) = (512, 65536)
        var command = command
        var isCorrected = false
        var data: [UInt8] = []
        var rounds = 0
        while true {
            let bytes: [UInt8]
            do throws(LinkError) {
                bytes = try await transmit(command.bytes)
            } catch {
                throw TagError(link: error)
            }
            guard let response = ResponseAPDU(bytes) else {
                throw TagError(.badAnswer, "A response APDU has no status word (ISO/IEC 7816-4, 5.1).")
            }
            // Le of each command is corrected only once.
            if response.status.high == 0x6C, response.data.isEmpty, !isCorrected {
                isCorrected = true
                command.expectedLength = response.status.expectedLength
                continue
            }
            if rounds > 0, response.data.isEmpty, response.status.high == 0x61 {
                throw TagError(.badAnswer, "GET RESPONSE returned nothing, but data remain (ISO/IEC 7816-4, 5.3.4).")
            }
            data += response.data
            guard rounds < maximumRounds, rounds == 0 || data.count <= maximumLength else {
                throw TagError(.badAnswer, "GET RESPONSE never returns the last data (ISO/IEC 7816-4, 5.3.4).")
            }
            guard response.status.high == 0x61 else { return ResponseAPDU(data: data, status: response.status) }
            rounds += 1
            isCorrected = false
            let length = response.status.expectedLength
            command = CommandAPDU(command.instructionClass, 0xC0, 0x00, 0x00, expectedLength: length)
        }
    }
}

/// A command APDU (ISO/IEC 7816-4, 5.1).
public struct CommandAPDU: Sendable, Hashable {
    /// CLA.
    public var instructionClass: UInt8
    /// INS.
    public var instruction: UInt8
    /// P1.
    public var parameter1: UInt8
    /// P2.
    public var parameter2: UInt8
    /// The data field; empty when the command has no data. At most 65,535 bytes.
    public var data: [UInt8]
    /// Ne, the largest number of response bytes expected: 1 to 65,536; nil or 0 when no data are expected.
    public var expectedLength: Int?

    /// Creates a command; each argument is the property of that name.
    public init(
        _ instructionClass: UInt8,
        _ instruction: UInt8,
        _ parameter1: UInt8,
        _ parameter2: UInt8,
        data: [UInt8] = [],
        expectedLength: Int? = nil
    ) {
        precondition(data.count <= 65535, "a data field has at most 65,535 bytes")
        precondition((0...65536).contains(expectedLength ?? 0), "Ne is 0 to 65,536")
        self.instructionClass = instructionClass
        self.instruction = instruction
        self.parameter1 = parameter1
        self.parameter2 = parameter2
        self.data = data
        self.expectedLength = expectedLength == 0 ? nil : expectedLength
    }

    /// The command's bytes, with extended length fields only when short fields are too small.
    public var bytes: [UInt8] {
        var result = [instructionClass, instruction, parameter1, parameter2]
        let expected = expectedLength ?? 0
        if data.count > 255 || expected > 256 {
            result.append(0)
            if !data.isEmpty { result += UInt16(data.count).bigEndianBytes + data }
            if expected > 0 { result += UInt16(truncatingIfNeeded: expected).bigEndianBytes }
            return result
        }
        if !data.isEmpty { result += [UInt8(data.count)] + data }
        if expected > 0 { result.append(UInt8(expected & 0xFF)) }
        return result
    }

    /// Returns whether a command's bytes have extended length fields.
    static func isExtended(_ bytes: [UInt8]) -> Bool { bytes.count >= 7 && bytes[4] == 0 }
}

/// A response APDU (ISO/IEC 7816-4, 5.1).
public struct ResponseAPDU: Sendable, Hashable {
    /// The data field.
    public var data: [UInt8]
    /// The status word.
    public var status: StatusWord

    /// Creates a response.
    public init(data: [UInt8] = [], status: StatusWord) {
        self.data = data
        self.status = status
    }

    /// Reads a response APDU.
    ///
    /// - Parameter bytes: the whole response.
    /// - Returns: nil for fewer than two bytes.
    public init?(_ bytes: [UInt8]) {
        guard bytes.count >= 2 else { return nil }
        self.data = Array(bytes.dropLast(2))
        self.status = StatusWord(rawValue: UInt16(high: bytes[bytes.count - 2], low: bytes[bytes.count - 1]))
    }
}

/// A status word, SW1 and SW2 (ISO/IEC 7816-4, 5.6).
public struct StatusWord: RawRepresentable, Sendable, Hashable, CustomStringConvertible {
    /// SW1 in the high byte, SW2 in the low byte.
    public var rawValue: UInt16

    /// Creates a status word.
    public init(rawValue: UInt16) { self.rawValue = rawValue }

    /// 9000: success.
    public static let success = StatusWord(rawValue: 0x9000)
    /// 6282: the end of the file was reached before Ne bytes.
    public static let endOfFile = StatusWord(rawValue: 0x6282)
    /// 6982: the security status does not allow the command.
    public static let securityStatusNotSatisfied = StatusWord(rawValue: 0x6982)

    /// SW1.
    public var high: UInt8 { UInt8(rawValue >> 8) }
    /// SW2.
    public var low: UInt8 { UInt8(rawValue & 0xFF) }

    /// The length given by SW2 of 61xx or 6Cxx; 00 stands for 256.
    var expectedLength: Int { low == 0 ? 256 : Int(low) }

    /// Whether the command was executed, with or without a warning (61xx, 62xx, 63xx, 9000).
    public var isSuccessOrWarning: Bool { self == .success || (0x61...0x63).contains(high) }

    /// Four upper-case hexadecimal digits.
    public var description: String { rawValue.hexText(digits: 4) }
}

/// The commands for applications and transparent files (ISO/IEC 7816-4, 11.2 and 11.3; NFC Forum T4T 1.2, 5).
extension CommandAPDU {
    /// The largest offset that fits in P1 and P2 of READ BINARY and UPDATE BINARY.
    public static let maximumShortOffset = 0x7FFF
    /// The largest offset that fits in an offset data object with three bytes.
    public static let maximumOffset = 0xFF_FFFF

    /// SELECT by DF name, the application identifier of 5 to 16 bytes. Le may request the file control information (NFC
    /// Forum T4T 1.2, 5.5).
    public static func select(application name: [UInt8], expectsTemplate: Bool = true) -> CommandAPDU {
        CommandAPDU(0x00, 0xA4, 0x04, 0x00, data: name, expectedLength: expectsTemplate ? 256 : nil)
    }

    /// SELECT by file identifier. P2 = 0C omits the file control information; mapping version 1.0 needs 00.
    public static func select(file: UInt16, parameter2: UInt8 = 0x0C) -> CommandAPDU {
        CommandAPDU(0x00, 0xA4, 0x00, parameter2, data: file.bigEndianBytes)
    }

    /// READ BINARY of the selected file: 1 to 65,536 bytes from an offset of 0 to FFFFFF.
    ///
    /// Up to offset 7FFF, P1 and P2 contain the offset. For higher offsets the instruction is B1 with an offset data
    /// object (54). Its answer wraps the data in a discretionary data object (53), whose tag and length count toward
    /// `count`; see ``discretionaryData(_:)``.
    public static func readBinary(offset: Int, count: Int) -> CommandAPDU {
        guard offset > maximumShortOffset else {
            return CommandAPDU(0x00, 0xB0, UInt8(offset >> 8), UInt8(offset & 0xFF), expectedLength: count)
        }
        let expected = count + discretionaryOverhead(count)
        return CommandAPDU(0x00, 0xB1, 0x00, 0x00, data: offsetDataObject(offset), expectedLength: expected)
    }

    /// UPDATE BINARY of the selected file. For offsets above 7FFF, up to FFFFFF, the instruction is D7 with data
    /// objects.
    public static func updateBinary(offset: Int, data: [UInt8]) -> CommandAPDU {
        guard offset > maximumShortOffset else {
            return CommandAPDU(0x00, 0xD6, UInt8(offset >> 8), UInt8(offset & 0xFF), data: data)
        }
        let objects = offsetDataObject(offset) + DataObject(0x53, data).bytes
        return CommandAPDU(0x00, 0xD7, 0x00, 0x00, data: objects)
    }

    /// Returns 54 03 followed by the offset, as in mapping version 3.
    static func offsetDataObject(_ offset: Int) -> [UInt8] {
        [0x54, 0x03] + [UInt8](bigEndian: offset, count: 3)
    }

    /// Returns the size of the tag and length fields of a data object with `count` bytes of data.
    static func discretionaryOverhead(_ count: Int) -> Int { 1 + DataObject.lengthField(count).count }

    /// Extracts the data from the answer to a READ BINARY with instruction B1: 53, a length and that many bytes. Nil
    /// for anything else.
    public static func discretionaryData(_ bytes: [UInt8]) -> [UInt8]? {
        var rest = bytes[...]
        guard let object = DataObject(takingFrom: &rest), object.tag == 0x53, rest.isEmpty else { return nil }
        return object.value
    }
}

/// EF.CardAccess: the file in which a travel document lists the protocols for opening it, such as PACE (ICAO Doc
/// 9303-11; BSI TR-03110-3). No key is needed to read the file.
public struct CardAccess: Sendable, Hashable {
    /// The encoded object identifiers of the listed protocols, in order.
    public let protocols: [[UInt8]]

    /// The file identifier, in the master file.
    static let identifier: UInt16 = 0x011C
    /// The size limit for reading this file. Real documents stay below it.
    static let maximumLength = 1024
    /// 0.4.0.127.0.7.2.2.4, the prefix of all PACE variants.
    private static let pace: [UInt8] = [0x04, 0x00, 0x7F, 0x00, 0x07, 0x02, 0x02, 0x04]

    /// Reads the file: a SET of SEQUENCEs, each of which starts with an object identifier.
    ///
    /// - Parameter bytes: the file. Bytes after the set are ignored.
    /// - Returns: nil for any other content.
    public init?(_ bytes: [UInt8]) {
        var rest = bytes[...]
        guard let set = DataObject(takingFrom: &rest), set.tag == 0x31, let entries = DataObject.sequence(set.value)
        else { return nil }
        protocols = entries.compactMap { entry in
            var fields = entry.value[...]
            guard entry.tag == 0x30, let name = DataObject(takingFrom: &fields), name.tag == 0x06 else { return nil }
            return name.value.isEmpty ? nil : name.value
        }
        guard protocols.count == entries.count else { return nil }
    }

    /// Whether the document supports PACE: it lists a variant with a mapping and a cipher. Domain parameters alone
    /// don't count.
    public var supportsPACE: Bool {
        protocols.contains { $0.starts(with: Self.pace) && $0.count == Self.pace.count + 2 }
    }

    /// Returns the length of the whole file, from its first bytes; nil when these are too few or don't start a SET.
    static func length(of start: [UInt8]) -> Int? {
        start.first == 0x31 ? DataObject.length(start) : nil
    }
}

extension APDULink {
    /// Reads EF.CardAccess. Call this before any other selection, while the master file is still current. The file
    /// stays selected.
    ///
    /// - Returns: nil if the card lacks the file, or the file has other content.
    /// - Throws: ``TagError`` with `tagLost`, `badAnswer`, `unsupported`, `readerUnavailable`, `cancelled`.
    public func readCardAccess() async throws(TagError) -> CardAccess? {
        let name = CardAccess.identifier.bigEndianBytes
        // P1 = 02: a file in the current directory; P2 = 0C: no file control information.
        guard try await send(CommandAPDU(0x00, 0xA4, 0x02, 0x0C, data: name)).status == .success else { return nil }
        var bytes: [UInt8] = []
        repeat {
            let answer = try await send(.readBinary(offset: bytes.count, count: 256))
            guard answer.status.isSuccessOrWarning, !answer.data.isEmpty else { return nil }
            bytes += answer.data
            guard let length = CardAccess.length(of: bytes), length <= CardAccess.maximumLength else { return nil }
            if bytes.count >= length { return CardAccess(bytes) }
        } while true
    }
}
