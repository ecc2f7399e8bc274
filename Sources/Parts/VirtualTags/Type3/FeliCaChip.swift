// SPDX-License-Identifier: Apache-2.0
import TagLink

/// The part of a FeliCa tag that differs between chips. Polling and the framing of commands are the same for all.
protocol FeliCaChip: Sendable {
    /// The IDm of the first system.
    var idm: [UInt8] { get }
    /// The PMm.
    var pmm: [UInt8] { get }
    /// The system codes that polling finds, and the number of the system that each one is for.
    var systems: [(code: UInt16, number: UInt8)] { get }

    /// Executes a command.
    ///
    /// - Parameters:
    ///   - command: the command code.
    ///   - payload: the command after the IDm.
    ///   - system: the number of the system, from the IDm.
    ///   - tear: what remains of the programmed blocks after a power cut; nil without a power cut.
    /// - Returns: nil when the chip does not answer.
    mutating func process(
        _ command: UInt8,
        _ payload: ArraySlice<UInt8>,
        system: UInt8,
        tear: TornWrite?
    ) -> FeliCaAnswer?

    /// Forgets all volatile state.
    mutating func losePower()
}

/// A chip's answer: the bytes after the response code and the IDm.
struct FeliCaAnswer: Sendable {
    var payload: [UInt8]
    var workTime = Airtime.zero
    var isWrite = false

    init(_ payload: [UInt8], workTime: Airtime = .zero, isWrite: Bool = false) {
        self.payload = payload
        self.workTime = workTime
        self.isWrite = isWrite
    }

    init(_ status: FeliCaStatus, workTime: Airtime = .zero, isWrite: Bool = false) {
        self.init(status.bytes, workTime: workTime, isWrite: isWrite)
    }
}

/// The two status flags of a FeliCa answer: the position and the kind of the error (FeliCa Card User's Manual, 4.5).
struct FeliCaStatus: Sendable, Hashable {
    var flag1: UInt8
    var flag2: UInt8

    /// Success.
    static let success = FeliCaStatus(flag1: 0x00, flag2: 0x00)
    /// The memory failed.
    static let memoryFailure = whole(0x70)
    /// The number of services is not allowed.
    static let serviceCount = whole(0xA1)
    /// The number of blocks is not allowed.
    static let blockCount = whole(0xA2)
    /// The system has no service with this code.
    static let unknownService = whole(0xA6)

    /// An error of one block in the list.
    enum BlockError: UInt8 {
        case serviceOrder = 0xA3
        case accessDenied = 0xA5
        case accessMode = 0xA7
        case blockNumber = 0xA8
        /// MAC and MAC_A were requested together.
        case codeCombination = 0xB0
        /// The reader has to authenticate first.
        case authenticationNeeded = 0xB1
        /// The MAC or its write counter is wrong, or there was no challenge.
        case wrongCode = 0xB2
    }

    /// An error that is not about one block.
    static func whole(_ code: UInt8) -> FeliCaStatus {
        FeliCaStatus(flag1: 0xFF, flag2: code)
    }

    /// An error in the block list: flag 1 has the bit of its position.
    static func block(_ position: Int, _ error: BlockError) -> FeliCaStatus {
        FeliCaStatus(flag1: 1 << (position % 8), flag2: error.rawValue)
    }

    var isSuccess: Bool { flag1 == 0 }

    var bytes: [UInt8] { [flag1, flag2] }
}

/// The services and blocks of a Read or Write Without Encryption (JIS X 6319-4, 7.4).
struct FeliCaBlockList: Sendable {
    /// An element of the list.
    struct Element: Sendable, Hashable {
        /// The index of the block's service in the list of services.
        var service: Int
        var accessMode: UInt8
        var block: Int
    }

    var services: [UInt16] = []
    var elements: [Element] = []
    /// The bytes after the lists: the data of a write.
    var data: [UInt8]

    /// Parses the lists.
    ///
    /// - Parameter payload: the command after the IDm.
    /// - Returns: nil when the payload is too short. A card does not answer it.
    init?(_ payload: ArraySlice<UInt8>) {
        var rest = payload
        guard let serviceCount = rest.popFirst() else { return nil }
        for _ in 0..<serviceCount {
            guard let low = rest.popFirst(), let high = rest.popFirst() else { return nil }
            services.append(UInt16(high: high, low: low))
        }
        guard let blockCount = rest.popFirst() else { return nil }
        for _ in 0..<blockCount {
            guard let head = rest.popFirst(), let low = rest.popFirst() else { return nil }
            var block = Int(low)
            if head & 0x80 == 0 {
                guard let high = rest.popFirst() else { return nil }
                block |= Int(high) << 8
            }
            elements.append(Element(service: Int(head & 0x0F), accessMode: head >> 4 & 0x07, block: block))
        }
        data = Array(rest)
    }
}
