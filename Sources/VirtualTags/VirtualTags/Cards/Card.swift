// SPDX-License-Identifier: Apache-2.0
public import TagLink

/// The card above ISO-DEP in a Type 4 tag. It receives complete messages and returns complete answers.
///
/// Most cards use ISO/IEC 7816-4 and are an ``ApplicationCard``; MIFARE DESFire has its own commands. A card is a
/// value: copying it copies its memory.
public protocol Card: Sendable {
    /// Executes a message.
    ///
    /// - Parameters:
    ///   - message: the reader's message, combined from all blocks of a chain.
    ///   - tear: what the programmed memory contains after a power cut; nil without a power cut.
    /// - Returns: the answer, including the status.
    mutating func process(_ message: [UInt8], tear: TornWrite?) -> CardAnswer

    /// Resets all volatile state: the selection and the authentication.
    mutating func losePower()

    /// The memory that survives a loss of power, for tests that compare it; empty by default.
    var persistentMemory: [UInt8] { get }
}

extension Card {
    public var persistentMemory: [UInt8] { [] }

    /// Executes a message with a fault. If the fault refuses the message, the answer is 6400, or 6581 for a write.
    mutating func process(_ message: [UInt8], injectedFault: InjectedFault?) -> CardAnswer {
        switch injectedFault {
        case nil: return process(message, tear: nil)
        case .powerCut(let rest): return process(message, tear: rest)
        case .refusal: return CardAnswer(status: .executionError)
        case .writeRefusal:
            let before = self
            let answer = process(message, tear: nil)
            guard answer.isWrite else { return answer }
            self = before
            return CardAnswer(status: .memoryFailure, isWrite: true)
        }
    }
}

/// A command APDU as a card parses it (ISO/IEC 7816-4, 5.1).
public struct CardCommand: Sendable, Hashable {
    /// The class byte.
    public var cla: UInt8
    /// The instruction byte.
    public var ins: UInt8
    /// The first parameter.
    public var p1: UInt8
    /// The second parameter.
    public var p2: UInt8
    /// The command's data field.
    public var data: [UInt8]
    /// The maximum number of bytes that the reader expects, 1 to 65536; nil when it expects no data.
    public var expectedLength: Int?
    /// Whether the length fields are extended.
    public var isExtended: Bool

    /// Parses a command APDU; nil when the bytes are too short or have inconsistent lengths.
    public init?(_ bytes: [UInt8]) {
        guard let body = APDUBody(parsing: bytes) else { return nil }
        (cla, ins, p1, p2) = (bytes[0], bytes[1], bytes[2], bytes[3])
        data = Array(bytes[body.data])
        expectedLength = body.expectedLength < 0 ? nil : body.expectedLength
        isExtended = body.isExtended
    }

    /// Whether Le consists of zeros, so that the reader expects as many bytes as possible. 01 00 is an ordinary number.
    package var requestsAll: Bool { expectedLength == (isExtended ? 65536 : 256) }

    /// The two parameters as one number.
    public var parameters: UInt16 { UInt16(high: p1, low: p2) }
}

/// A card's answer to one message.
public struct CardAnswer: Sendable, Hashable {
    /// The answer as it is sent, including the status.
    public var bytes: [UInt8]
    /// How long the card works before it answers. If that exceeds the frame waiting time, ISO-DEP asks for more time.
    public var workTime: Airtime
    /// Whether the message programmed the card's memory.
    public var isWrite: Bool
    /// The multipliers of the waiting time extensions, 1 to 59, that the card requests before it answers, in order.
    public var waitingTimeExtensions: [UInt8]

    /// Creates an answer from its bytes.
    public init(
        _ bytes: [UInt8],
        workTime: Airtime = .zero,
        isWrite: Bool = false,
        waitingTimeExtensions: [UInt8] = []
    ) {
        self.bytes = bytes
        self.workTime = workTime
        self.isWrite = isWrite
        self.waitingTimeExtensions = waitingTimeExtensions
    }

    /// Creates an ISO/IEC 7816-4 answer from data and a status.
    public init(_ data: [UInt8] = [], status: CardStatus, workTime: Airtime = .zero, isWrite: Bool = false) {
        self.init(data + status.bytes, workTime: workTime, isWrite: isWrite)
    }
}

extension CardAnswer {
    /// Creates the answer of `command`. A refused command throws its status.
    init(_ command: () throws(CardStatus) -> CardAnswer) {
        do throws(CardStatus) { self = try command() } catch { self.init(status: error) }
    }
}

/// The status bytes SW1 and SW2 at the end of a card's answer (ISO/IEC 7816-4, 5.1.3).
public struct CardStatus: RawRepresentable, Sendable, Hashable, Error {
    /// SW1 in the high byte, SW2 in the low byte.
    public var rawValue: UInt16

    /// Creates a status from its two bytes.
    public init(rawValue: UInt16) { self.rawValue = rawValue }

    /// Success.
    public static let success = CardStatus(rawValue: 0x9000)
    /// The file ended before the requested number of bytes. The answer contains the available bytes.
    public static let endOfFile = CardStatus(rawValue: 0x6282)
    /// The command failed, and the memory is unchanged.
    public static let executionError = CardStatus(rawValue: 0x6400)
    /// The memory could not be programmed.
    public static let memoryFailure = CardStatus(rawValue: 0x6581)
    /// A length is wrong, or exceeds the card's limits.
    public static let wrongLength = CardStatus(rawValue: 0x6700)
    /// The access rights do not allow the command.
    public static let securityNotSatisfied = CardStatus(rawValue: 0x6982)
    /// A condition is not satisfied, such as an authentication that was not started.
    public static let conditionsNotSatisfied = CardStatus(rawValue: 0x6985)
    /// No file is selected.
    public static let noCurrentFile = CardStatus(rawValue: 0x6986)
    /// The data field is wrong.
    public static let wrongData = CardStatus(rawValue: 0x6A80)
    /// The file or application does not exist.
    public static let notFound = CardStatus(rawValue: 0x6A82)
    /// The file has no such record.
    public static let recordNotFound = CardStatus(rawValue: 0x6A83)
    /// The data object does not exist.
    public static let dataNotFound = CardStatus(rawValue: 0x6A88)
    /// The file has no space for the data.
    public static let noRoom = CardStatus(rawValue: 0x6A84)
    /// The parameters P1 and P2 are wrong.
    public static let wrongParameters = CardStatus(rawValue: 0x6A86)
    /// The offset is outside the file.
    public static let wrongOffset = CardStatus(rawValue: 0x6B00)
    /// The instruction is unknown.
    public static let unknownInstruction = CardStatus(rawValue: 0x6D00)
    /// The class is unknown.
    public static let unknownClass = CardStatus(rawValue: 0x6E00)

    /// The two bytes in transmission order.
    package var bytes: [UInt8] { rawValue.bigEndianBytes }
}

/// An ISO/IEC 7816-4 card with any number of applications. Only one application can be selected at a time.
public struct ApplicationCard: Card {
    /// The applications. If names are not unique, the first match is selected.
    public private(set) var applications: [any CardApplication]
    private var selected: Int?

    /// Creates a card without a selected application.
    public init(_ applications: [any CardApplication]) { self.applications = applications }

    /// The selected application; nil when none is selected.
    public var selectedApplication: (any CardApplication)? { selected.map { applications[$0] } }

    public mutating func process(_ message: [UInt8], tear: TornWrite?) -> CardAnswer {
        guard let command = CardCommand(message) else { return CardAnswer(status: .wrongLength) }
        if command.cla == 0x00, command.ins == 0xA4, command.p1 == 0x04 { return select(command) }
        guard let selected else { return CardAnswer(status: command.ins == 0xA4 ? .notFound : .conditionsNotSatisfied) }
        return applications[selected].process(command, tear: tear)
    }

    public mutating func losePower() {
        if let selected { applications[selected].deselect() }
        selected = nil
    }

    public var persistentMemory: [UInt8] { applications.flatMap(\.persistentMemory) }

    /// SELECT by DF name. If it fails, the selection does not change (ISO/IEC 7816-4, 7.1.1).
    private mutating func select(_ command: CardCommand) -> CardAnswer {
        guard command.p2 & 0xF3 == 0 else { return CardAnswer(status: .wrongParameters) }
        guard (5...16).contains(command.data.count) else { return CardAnswer(status: .wrongLength) }
        guard let index = applications.firstIndex(where: { $0.names.contains(command.data) }) else {
            return CardAnswer(status: .notFound)
        }
        var application = applications[index]
        application.deselect()
        let answer = application.select(command)
        guard answer.bytes.suffix(2) == [0x90, 0x00] || answer.bytes.dropLast().last == 0x61 else { return answer }
        if let selected, selected != index { applications[selected].deselect() }
        applications[index] = application
        selected = index
        return answer
    }
}

/// An application on a card, selected by its name (ISO/IEC 7816-4, 7.1).
public protocol CardApplication: Sendable {
    /// The names (AIDs) by which the application is selected.
    var names: [[UInt8]] { get }

    /// Handles the SELECT command for the application. A status of 9000 or 61xx means that it is selected.
    mutating func select(_ command: CardCommand) -> CardAnswer

    /// Executes a command while the application is selected. `tear` is what memory contains after a power cut.
    mutating func process(_ command: CardCommand, tear: TornWrite?) -> CardAnswer

    /// Resets all volatile state. Called after a loss of power or the selection of another application.
    mutating func deselect()

    /// The memory that survives a loss of power, for tests that compare it; empty by default.
    var persistentMemory: [UInt8] { get }
}

extension CardApplication {
    public var persistentMemory: [UInt8] { [] }
}

/// A card that answers from a script: pairs of a command and its answer.
///
/// ```swift
/// var card = ScriptedCard()
/// card.answer([0x00, 0xB0, 0x00, 0x00, 0x02], with: [0xCA, 0xFE, 0x90, 0x00])
/// ```
///
/// If the script contains a command several times, its answers are sent in order. The last answer is repeated.
public struct ScriptedCard: Card {
    private var answers: [[UInt8]: [CardAnswer]] = [:]
    private var answerCounts: [[UInt8]: Int] = [:]
    /// The answer to commands that are not in the script; 6D00 by default.
    public var otherwise: CardAnswer

    /// Creates a card from commands and their answers with status, and the answer to all other commands.
    public init(
        _ pairs: [(command: [UInt8], answer: [UInt8])] = [],
        otherwise: CardAnswer = CardAnswer(status: .unknownInstruction)
    ) {
        self.otherwise = otherwise
        for pair in pairs { answer(pair.command, with: pair.answer) }
    }

    /// Adds a command and its answer, the card's work time, and the extensions that it requests before the answer.
    public mutating func answer(
        _ command: [UInt8],
        with answer: [UInt8],
        workTime: Airtime = .zero,
        waitingTimeExtensions: [UInt8] = []
    ) {
        answers[command, default: []].append(
            CardAnswer(answer, workTime: workTime, waitingTimeExtensions: waitingTimeExtensions)
        )
    }

    public mutating func process(_ message: [UInt8], tear: TornWrite?) -> CardAnswer {
        guard let script = answers[message], let last = script.last else { return otherwise }
        let count = answerCounts[message, default: 0]
        answerCounts[message] = count + 1
        return count < script.count ? script[count] : last
    }

    /// Restarts the script.
    public mutating func losePower() { answerCounts = [:] }
}
