// SPDX-License-Identifier: Apache-2.0
public import TagLink

/// Finds NFC-F tags (JIS X 6319-4; NFC Forum Digital 2.3, 8.6: SENSF_REQ).
public struct NFCFPolling: Sendable {
    /// The data to request in addition to IDm and PMm.
    public enum RequestCode: UInt8, Sendable {
        case none = 0x00, systemCode = 0x01, communicationPerformance = 0x02
    }

    /// An answer to polling.
    public struct Answer: Sendable, Hashable {
        /// The tag.
        public var target: NFCFTarget
        /// The two requested bytes; nil when the tag omitted them.
        public var requestData: [UInt8]?
    }

    /// The link to the field.
    public let link: any FrameLink

    /// Creates the procedure for an NFC-F link.
    public init(link: any FrameLink) { self.link = link }

    /// Polls for a system. If every answer is damaged or collides, the poll is repeated a few times. When `timeSlots`
    /// allows more than one slot, these repeats use 16 slots, and each tag chooses a new slot.
    ///
    /// - Parameters:
    ///   - systemCode: the system to look for. FF in either byte is a wildcard.
    ///   - request: the data to request in addition to IDm and PMm.
    ///   - timeSlots: TSN: 0, 1, 3, 7 or 15, one less than the number of slots.
    /// - Returns: the tags that answered, in the order of their slots; empty when no tag answers.
    /// - Throws: ``TagError`` with `badAnswer`, `readerUnavailable`, `unsupported`, `cancelled`.
    public func poll(
        systemCode: UInt16 = NFCFTarget.anySystemCode,
        request: RequestCode = .systemCode,
        timeSlots: UInt8 = 0
    ) async throws(TagError) -> [Answer] {
        let command = [0x06, 0x00, UInt8(systemCode >> 8), UInt8(systemCode & 0xFF), request.rawValue]
        guard let bytes = try await exchange(command, timeSlots: timeSlots) else { return [] }
        var answers: [Answer] = []
        var rest = bytes[...]
        while let length = rest.first {
            let answer = Array(rest.prefix(Int(length)))
            guard answer.count == Int(length), length == 18 || length == 20, answer[1] == 0x01 else {
                throw TagError(
                    .badAnswer,
                    "An answer to polling must be a length of 18 or 20, 01, IDm and PMm (NFC Forum Digital 2.3, 8.6.2)."
                )
            }
            rest = rest.dropFirst(answer.count)
            let data = answer.count == 20 ? Array(answer[18...]) : nil
            var code: UInt16? = systemCode >> 8 == 0xFF || systemCode & 0xFF == 0xFF ? nil : systemCode
            if request == .systemCode, let data { code = UInt16(high: data[0], low: data[1]) }
            let target = NFCFTarget(idm: Array(answer[2..<10]), pmm: Array(answer[10..<18]), systemCode: code)
            if !answers.contains(where: { $0.target.idm == target.idm }) {
                answers.append(Answer(target: target, requestData: data))
            }
        }
        return answers
    }

    /// The number of polls while no answer can be read.
    private static let maximumAttempts = 3
    /// TSN for the maximum number of time slots, 16.
    private static let maximumTimeSlots: UInt8 = 15

    /// Returns the answers; nil when none can be read.
    private func exchange(_ command: [UInt8], timeSlots: UInt8) async throws(TagError) -> [UInt8]? {
        var timeSlots = timeSlots
        for _ in 0..<Self.maximumAttempts {
            do throws(LinkError) {
                let timeout = Self.timeout(timeSlots: timeSlots)
                return try await link.transceive(Frame(command + [timeSlots]), timeout: timeout).bytes
            } catch {
                if let failure = TagError(fatal: error) { throw failure }
                switch error.code {
                case .transmission: break
                // With a single slot, the tags would collide again.
                case .collision where timeSlots > 0: break
                default: return nil
                }
                if timeSlots > 0 { timeSlots = Self.maximumTimeSlots }
            }
        }
        return nil
    }

    /// Returns how long to wait: 2.417 ms, plus 1.208 ms per slot (NFC Forum Digital 2.3, 8.6.3), plus tolerance.
    static func timeout(timeSlots: UInt8) -> Airtime {
        Airtime(carrierPeriods: 512 * 64 + 256 * 64 * (Int64(timeSlots) + 1)) + .milliseconds(1)
    }
}

/// The data that an NFC-F tag sends in answer to polling (JIS X 6319-4; NFC Forum Digital 2.3, 8.6).
public struct NFCFTarget: Sendable, Hashable {
    /// IDm: eight bytes that address one system of the tag.
    public var idm: [UInt8]
    /// PMm: eight bytes with the IC code and the maximum response times of commands.
    public var pmm: [UInt8]
    /// The system code of the tag. Nil if only a wildcard was polled and the tag did not report its code.
    public var systemCode: UInt16?

    /// Creates a target; IDm and PMm must have eight bytes each.
    public init(idm: [UInt8], pmm: [UInt8], systemCode: UInt16?) {
        precondition(idm.count == 8 && pmm.count == 8, "IDm and PMm have eight bytes")
        self.idm = idm
        self.pmm = pmm
        self.systemCode = systemCode
    }

    /// The system code of NDEF tags (NFC Forum T3T 1.0, 3.2).
    public static let ndefSystemCode: UInt16 = 0x12FC
    /// The system code of FeliCa Lite and Lite-S.
    public static let liteSystemCode: UInt16 = 0x88B4
    /// The system code that every tag answers.
    public static let anySystemCode: UInt16 = 0xFFFF

    /// The IC code, the second byte of PMm: F0 is FeliCa Lite, F1 is Lite-S.
    public var icCode: UInt8 { pmm[1] }
    /// Whether the tag is a FeliCa Lite or Lite-S by its IC code.
    public var isLite: Bool { icCode == 0xF0 || icCode == 0xF1 }

    /// Whether both targets are systems of the same card.
    package func isOfSameCard(as other: NFCFTarget) -> Bool { idm.isIDmOfSameCard(as: other.idm) }

    /// The kinds of commands that have their own maximum response time (FeliCa Card User's Manual, 2.3.2: bytes D10 to
    /// D15 of PMm).
    public enum TimingClass: Int, Sendable {
        case requestService = 2
        case fixed, authenticate, read, write, other
    }

    /// Returns the maximum response time of a command that uses `count` services or blocks (JIS X 6319-4; NFC Forum
    /// Digital 2.3, 8.7).
    public func maximumResponseTime(_ timing: TimingClass, count: Int) -> Airtime {
        let byte = pmm[timing.rawValue]
        let fixed = Int(byte & 0x07) + 1
        let each = Int(byte >> 3 & 0x07) + 1
        let exponent = Int64(byte >> 6)
        return Airtime(carrierPeriods: Int64(fixed + each * count) * 4096 << (2 * exponent))
    }
}
