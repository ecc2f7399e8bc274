// SPDX-License-Identifier: Apache-2.0
public import TagLink

/// The NDEF tag application of a generic Type 4 tag (NFC Forum T4T 1.2, 5): a capability container, an NDEF file, and
/// any other files.
///
/// The capability container controls the application. READ BINARY and UPDATE BINARY follow its MLe and MLc, and the
/// access rights in its file control TLVs. Mapping version 3 also has B1 and D7 with offset data objects.
public struct NDEFApplication: CardApplication {
    /// A mapping version.
    public enum Mapping: UInt8, Sendable, Hashable, CaseIterable {
        /// Mapping 1.0: the application name ends in 00.
        case version1 = 0x10
        /// Mapping 2.0.
        case version2 = 0x20
        /// Mapping 3.0, with 4-byte file sizes and ENLEN.
        case version3 = 0x30
    }

    /// The identifier of the capability container.
    public static let capabilityContainer: UInt16 = 0xE103
    /// The number of bytes that are programmed at a time.
    public static let programmingUnit = 64

    /// The files, by identifier.
    public var files: [UInt16: [UInt8]]
    /// Whether a reader may update the capability container, which makes the tag read-only.
    public var isCapabilityContainerWritable: Bool
    /// The time for programming one unit.
    public var programmingTime = Airtime.milliseconds(5)

    // Volatile state.
    private var current: UInt16?
    private var container: VirtualCapabilityContainer?

    /// Creates an application with the given files, including the capability container E103.
    public init(files: [UInt16: [UInt8]], isCapabilityContainerWritable: Bool = true) {
        self.files = files
        self.isCapabilityContainerWritable = isCapabilityContainerWritable
    }

    /// Creates an empty application. `size` is that of the NDEF file with its length field. The limits are MLe and MLc.
    public init(
        mapping: Mapping = .version2,
        size: Int = 2048,
        maximumRead: UInt16 = 0xFF,
        maximumWrite: UInt16 = 0xFF
    ) {
        let identifier: [UInt8] = [0xE1, 0x04]
        let sizeBytes = [UInt8](bigEndian: size, count: 4)
        var container: [UInt8] = [0, 0, mapping.rawValue]
        container += maximumRead.bigEndianBytes
        container += maximumWrite.bigEndianBytes
        container +=
            mapping == .version3
            ? [0x06, 0x08] + identifier + sizeBytes + [0, 0]
            : [0x04, 0x06] + identifier + sizeBytes.suffix(2) + [0, 0]
        container[1] = UInt8(container.count)
        self.init(files: [
            Self.capabilityContainer: container,
            0xE104: Array(repeating: 0, count: size),
        ])
    }

    public var names: [[UInt8]] {
        let isFirst = files[Self.capabilityContainer].flatMap(VirtualCapabilityContainer.init)?.majorVersion == 1
        return [[0xD2, 0x76, 0x00, 0x00, 0x85, 0x01, isFirst ? 0x00 : 0x01]]
    }

    public mutating func deselect() {
        current = nil
        container = nil
    }

    public mutating func select(_ command: CardCommand) -> CardAnswer {
        current = nil
        container = files[Self.capabilityContainer].flatMap(VirtualCapabilityContainer.init)
        return CardAnswer(status: .success)
    }

    public mutating func process(_ command: CardCommand, tear: TornWrite?) -> CardAnswer {
        CardAnswer { () throws(CardStatus) in try execute(command, tear) }
    }

    private mutating func execute(_ command: CardCommand, _ tear: TornWrite?) throws(CardStatus) -> CardAnswer {
        guard command.cla == 0x00 else { throw .unknownClass }
        switch command.ins {
        case 0xA4: return try selectFile(command)
        case 0xB0: return try readBinary(command)
        case 0xD6: return try updateBinary(command, tear)
        case 0xB1 where container?.majorVersion == 3: return try readBinaryObject(command)
        case 0xD7 where container?.majorVersion == 3: return try updateBinaryObject(command, tear)
        default: throw .unknownInstruction
        }
    }

    /// SELECT by file identifier (NFC Forum T4T 1.2, 5.4.2). P2 is 0C, or 00 in mapping 1.0.
    private mutating func selectFile(_ command: CardCommand) throws(CardStatus) -> CardAnswer {
        guard command.p1 == 0x00, command.p2 & 0xF3 == 0 else { throw .wrongParameters }
        guard command.data.count == 2 else { throw .wrongLength }
        let identifier = UInt16(high: command.data[0], low: command.data[1])
        guard files[identifier] != nil else { throw .notFound }
        current = identifier
        return CardAnswer(status: .success)
    }

    // MARK: Offsets in P1 and P2

    private func readBinary(_ command: CardCommand) throws(CardStatus) -> CardAnswer {
        guard command.p1 < 0x80 else { throw .wrongParameters }
        guard command.data.isEmpty, let expected = command.expectedLength else { throw .wrongLength }
        return try read(at: Int(command.parameters), expected, takesAll: command.requestsAll)
    }

    private mutating func updateBinary(_ command: CardCommand, _ tear: TornWrite?) throws(CardStatus) -> CardAnswer {
        guard command.p1 < 0x80 else { throw .wrongParameters }
        guard !command.data.isEmpty, command.data.count <= maximumWrite else { throw .wrongLength }
        return try update(command.data, at: Int(command.parameters), tear)
    }

    // MARK: Offsets in data objects

    /// READ BINARY with an offset data object (NFC Forum T4T 1.2, 5.4.7).
    private func readBinaryObject(_ command: CardCommand) throws(CardStatus) -> CardAnswer {
        guard command.parameters == 0 else { throw .wrongParameters }
        guard let expected = command.expectedLength else { throw .wrongLength }
        guard command.data.count == 5, let offset = Self.offset(command.data) else { throw .wrongData }
        // Le includes the data object's header.
        let takesAll = command.requestsAll
        let room = takesAll ? min(expected, maximumRead) : expected
        let header = room <= 129 ? 2 : room <= 258 ? 3 : 4
        guard room > header else { throw .wrongLength }
        var answer = try read(at: offset, room - header, takesAll: takesAll)
        let count = answer.bytes.count - 2
        guard count > 0 else { return answer }
        answer.bytes = DataObject(0x53, Array(answer.bytes.dropLast(2))).bytes + answer.bytes.suffix(2)
        return answer
    }

    /// UPDATE BINARY with offset and discretionary data objects (NFC Forum T4T 1.2, 5.4.8).
    private mutating func updateBinaryObject(_ command: CardCommand, _ tear: TornWrite?) throws(CardStatus)
        -> CardAnswer
    {
        guard command.parameters == 0 else { throw .wrongParameters }
        guard command.data.count <= maximumWrite else { throw .wrongLength }
        guard let offset = Self.offset(command.data), let data = Self.discretionaryData(command.data.dropFirst(5))
        else { throw .wrongData }
        return try update(data, at: offset, tear)
    }

    private static func offset(_ data: [UInt8]) -> Int? {
        guard data.count >= 5, data[0] == 0x54, data[1] == 0x03 else { return nil }
        return Int(bytes: data[2...4])
    }

    /// Returns the value of a data object 53 that fills `data`; nil for anything else or an empty value.
    private static func discretionaryData(_ data: ArraySlice<UInt8>) -> [UInt8]? {
        var rest = data
        let object = DataObject(takingFrom: &rest)
        return rest.isEmpty && object?.tag == 0x53 && object?.value != [] ? object?.value : nil
    }

    // MARK: Memory

    private var maximumRead: Int { container?.maximumRead ?? 0xFF }
    private var maximumWrite: Int { container?.maximumWrite ?? 0xFF }

    /// Reads the current file. A zero Le means all bytes up to MLe. An Le greater than MLe is refused.
    private func read(at offset: Int, _ expected: Int, takesAll: Bool) throws(CardStatus) -> CardAnswer {
        guard let current, let file = files[current] else { throw .noCurrentFile }
        if current != Self.capabilityContainer, let rights = container?.rights[current], rights.read != 0 {
            return CardAnswer(status: .securityNotSatisfied)
        }
        guard takesAll || expected <= maximumRead else { throw .wrongLength }
        guard offset < file.count else { throw .wrongOffset }
        let count = min(expected, maximumRead, file.count - offset)
        let isWhole = takesAll || count == expected
        return CardAnswer(Array(file[offset..<(offset + count)]), status: isWhole ? .success : .endOfFile)
    }

    private mutating func update(_ data: [UInt8], at offset: Int, _ tear: TornWrite?) throws(CardStatus) -> CardAnswer {
        guard let current, let file = files[current] else { throw .noCurrentFile }
        let isWritable =
            current == Self.capabilityContainer
            ? isCapabilityContainerWritable : container?.rights[current]?.write == 0
        guard isWritable else { throw .securityNotSatisfied }
        guard offset < file.count else { throw .wrongOffset }
        guard offset + data.count <= file.count else { throw .noRoom }
        files[current]?.program(data, at: offset, tear: tear, unit: Self.programmingUnit)
        if current == Self.capabilityContainer {
            container = files[current].flatMap(VirtualCapabilityContainer.init)
        }
        let units = (data.count + Self.programmingUnit - 1) / Self.programmingUnit
        return CardAnswer(status: .success, workTime: programmingTime * units, isWrite: true)
    }
}

/// The content of a Type 4 tag's capability container (NFC Forum T4T 1.2, 4.7.3), limited to what the tag itself uses.
struct VirtualCapabilityContainer: Sendable, Hashable {
    struct Rights: Sendable, Hashable {
        var read: UInt8
        var write: UInt8
    }

    var majorVersion: UInt8
    /// MLe, the maximum number of bytes in an answer to READ BINARY.
    var maximumRead: Int
    /// MLc, the maximum number of data bytes in a command.
    var maximumWrite: Int
    var rights: [UInt16: Rights] = [:]

    /// Parses the file; nil if it is too short for the fixed part.
    init?(_ file: [UInt8]) {
        guard file.count >= 7 else { return nil }
        majorVersion = file[2] >> 4
        maximumRead = Int(high: file[3], low: file[4])
        maximumWrite = Int(high: file[5], low: file[6])
        let end = min(file.count, Int(high: file[0], low: file[1]))
        var offset = 7
        while offset + 2 <= end {
            let type = file[offset]
            let length = Int(file[offset + 1])
            let value = offset + 2
            guard value + length <= end else { break }
            // NDEF and proprietary file control TLVs, including those with 4-byte sizes.
            if (4...6).contains(type), length >= 6 {
                let identifier = UInt16(high: file[value], low: file[value + 1])
                rights[identifier] = Rights(read: file[value + length - 2], write: file[value + length - 1])
            }
            offset = value + length
        }
    }
}
