// SPDX-License-Identifier: Apache-2.0
public import TagLink

/// Describes the frames between a reader and a tag in words: `READ 04`, `SELECT NDEF application`, `INVENTORY`.
///
/// The meaning of a frame depends on the frames before it, so pass each one in order. The interpreter knows the
/// commands of Type 1 to Type 5 tags, ISO-DEP and ISO/IEC 7816-4, FeliCa, ISO/IEC 15693 and MIFARE products. It
/// describes any other frame by its number of bytes. It accepts any input and never fails.
public struct ExchangeInterpreter: Sendable {
    /// How the answer to the last request is interpreted.
    enum Expectation: Sendable, Equatable {
        case anything
        case anticollision
        case atqA
        case select
        case atqB
        case attribute
        case answerToSelect
        case parameterSelection
        case type1(UInt8)
        /// A command of a Type 2 tag or MIFARE Classic.
        case type2(UInt8)
        case block
        case felica
        case nfcV(UInt8)
        case command
    }

    /// How the answer to the last request is interpreted.
    var expectation = Expectation.anything
    /// Whether NFC-A and NFC-B carry blocks of ISO-DEP.
    var isISODEP = false
    /// Whether the second packet of a SECTOR SELECT follows.
    var selectsSector = false
    /// Whether the data of the next write must not be shown.
    var hidesData = false
    /// The interpreter for the commands inside blocks.
    var card = CommandInterpreter()
    /// Whether more blocks of the command follow the last one.
    var requestGoesOn = false
    /// The answer so far, when it comes in several blocks.
    var partialAnswer: [UInt8] = []

    /// Creates an interpreter for a field without previous frames.
    public init() {}

    /// Forgets all previous frames: the field was turned off or on, or another tag is there.
    public mutating func fieldChanged() {
        self = ExchangeInterpreter()
    }

    /// Describes a request.
    ///
    /// - Parameters:
    ///   - request: the frame that was sent.
    ///   - medium: the medium of the exchange.
    /// - Returns: a few words, never empty.
    public mutating func meaning(of request: Frame, over medium: Trace.Medium) -> String {
        expectation = .anything
        switch medium {
        case .commands:
            expectation = .command
            return card.meaning(ofCommand: request.bytes)
        case .frames(.nfcA): return meaningNFCA(request)
        case .frames(.nfcB): return meaningNFCB(request.bytes)
        case .frames(.nfcF):
            expectation = .felica
            return FeliCaWords.request(request.bytes)
        case .frames(.nfcV): return meaningNFCV(request.bytes)
        }
    }

    /// Describes the answer to the last request.
    ///
    /// - Parameter answer: the frame that came back.
    /// - Returns: a few words, never empty.
    public mutating func meaning(ofAnswer answer: Frame) -> String {
        let bytes = answer.bytes
        switch expectation {
        case .command: return card.meaning(ofAnswer: bytes)
        case .block: return meaning(ofAnswerBlock: bytes)
        case .felica: return FeliCaWords.answer(bytes)
        case .nfcV(let command): return ISO15693Words.answer(bytes, to: command)
        case .atqB: return NFCBWords.answer(bytes)
        case .attribute:
            isISODEP = true
            return "selected"
        case .answerToSelect:
            isISODEP = true
            return "ATS" + (bytes.first.map { Int($0) == bytes.count } == true ? "" : ", of a wrong length")
        case .parameterSelection: return "PPS is taken"
        case .anticollision, .atqA, .select: return NFCAWords.answer(answer, expectation)
        case .type1(let command): return Type1Words.answer(bytes, to: command)
        case .type2(let command):
            // A tag that does not acknowledge the first packet of a SECTOR SELECT expects no second one.
            if command == 0xC2, answer.nibble != 0xA { selectsSector = false }
            return Type2Words.answer(answer, to: command)
        case .anything: return Self.size(bytes)
        }
    }

    /// Returns the number of bytes, to describe unknown frames.
    static func size(_ bytes: [UInt8]) -> String { counted(bytes.count, "byte") }
}

/// Describes the commands for a card in words: ISO/IEC 7816-4 commands, native commands of MIFARE DESFire and NTAG 424
/// DNA with or without wrapping, and the commands of a PC/SC reader.
struct CommandInterpreter: Sendable {
    /// Whether the last command was a native one. Its answer starts with the status instead of ending with it.
    private var isNative = false

    init() {}

    mutating func meaning(ofCommand bytes: [UInt8]) -> String {
        isNative = false
        guard bytes.count >= 4 else { return native(bytes) }
        let (cla, ins) = (bytes[0], bytes[1])
        if cla == 0x90, bytes[2] == 0, bytes[3] == 0, let name = DESFireWords.commands[ins] {
            return DESFireWords.request(name, ins, Self.data(bytes))
        }
        if cla == 0xFF { return APDUWords.reader(bytes) }
        // A native command's code is not a valid class (ISO/IEC 7816-4, 5.1.1).
        if cla >= 0x40, cla < 0x80 || cla >= 0xA0, DESFireWords.commands[cla] != nil { return native(bytes) }
        return APDUWords.command(bytes, data: Self.data(bytes))
    }

    mutating func meaning(ofAnswer bytes: [UInt8]) -> String {
        if isNative {
            guard let status = bytes.first else { return "nothing" }
            return Self.join(bytes.count - 1, DESFireWords.status(status))
        }
        guard bytes.count >= 2 else { return bytes.isEmpty ? "nothing" : "no status word" }
        let word = Int(high: bytes[bytes.count - 2], low: bytes[bytes.count - 1])
        return Self.join(bytes.count - 2, StatusWords.meaning(of: word))
    }

    private mutating func native(_ bytes: [UInt8]) -> String {
        guard let code = bytes.first, let name = DESFireWords.commands[code] else {
            return ExchangeInterpreter.size(bytes)
        }
        isNative = true
        return DESFireWords.request(name, code, Array(bytes.dropFirst()))
    }

    private static func join(_ count: Int, _ status: String) -> String {
        count > 0 ? "\(counted(count, "byte")), \(status)" : status
    }

    /// Returns the data of a command, short or extended, as far as they are complete (ISO/IEC 7816-4, 5.1).
    private static func data(_ bytes: [UInt8]) -> [UInt8] {
        guard bytes.count > 5 else { return [] }
        if bytes[4] == 0 {
            guard bytes.count > 7 else { return [] }
            return Array(bytes[7...].prefix(Int(high: bytes[5], low: bytes[6])))
        }
        return Array(bytes[5...].prefix(Int(bytes[4])))
    }
}
