// SPDX-License-Identifier: Apache-2.0
public import CardCryptography
import TagLink

/// The applications of an ISO/IEC 7816 card, as an image stores them: `oath`, a hardware key's one-time passwords; `piv`,
/// personal identity verification; and `emv`, payment.
///
/// Each application has values of bytes by name. Which ones it has, and their forms, is documented with its file.
public struct StoredApplications: Sendable, Hashable {
    /// The known applications. A new one is a type and its line here.
    private static let types: [any StoredApplication.Type] = [
        OATHApplication.self, PIVApplication.self, EMVApplication.self,
    ]

    /// The values of each application by name. Some are secret.
    @Hidden public private(set) var values: [String: [String: [UInt8]]]

    /// Creates applications with values. Those for which ``problem(in:)`` returns a sentence are left out of a card.
    public init(_ values: [String: [String: [UInt8]]]) { self.values = values }

    /// Returns a sentence about an application that is not known, or a value that is not valid; nil if all are valid.
    public static func problem(in values: [String: [String: [UInt8]]]) -> String? {
        for (name, stored) in values {
            guard let type = types.first(where: { $0.name == name }) else {
                let names = types.map { "\"\($0.name)\"" }.joined(separator: ", ")
                return "There is no application \"\(name)\". The known ones are \(names)."
            }
            if let key = type.invalidKey(in: stored) { return "\"\(key)\" of \"\(name)\" is missing or not valid." }
        }
        return values.isEmpty ? "There is no application." : nil
    }

    /// Creates the values of a card with a new application.
    init(new name: String) { values = Self.types.first { $0.name == name }.map { [name: $0.new] } ?? [:] }

    /// Takes the values from a card; nil if one of its applications can't be stored.
    init?(of card: ApplicationCard) {
        values = [:]
        for application in card.applications {
            guard let application = application as? any StoredApplication else { return nil }
            values[type(of: application).name] = application.stored
        }
    }

    /// A card with these values.
    var card: ApplicationCard {
        ApplicationCard(
            Self.types.compactMap { type in
                values[type.name].flatMap { type.invalidKey(in: $0) == nil ? type.init(stored: $0) : nil }
            }
        )
    }
}

/// An application whose persistent state is in ``stored``, and whose messages may be longer than one APDU.
protocol StoredApplication: CardApplication {
    /// The name in an image, and the values of a new application.
    static var name: String { get }
    static var new: [String: [UInt8]] { get }
    /// The instruction that asks for the rest of a long answer.
    static var continuation: UInt8 { get }
    /// The class bytes of its commands, without the mark of a chain; 00 by default.
    static var classes: Set<UInt8> { get }
    /// The name of a value that is missing or not valid; nil if there is none.
    static func invalidKey(in stored: [String: [UInt8]]) -> String?

    init(stored: [String: [UInt8]])

    var stored: [String: [UInt8]] { get set }
    var parts: MessageParts { get set }

    /// Executes a whole command. What it changes in ``stored`` is programmed at once, even if it throws.
    mutating func execute(_ command: CardCommand) throws(CardStatus) -> [UInt8]
}

/// The parts of a message that is longer than one APDU.
struct MessageParts: Sendable {
    /// The data and the instruction of a chain of commands so far (ISO/IEC 7816-4, 5.1.1.1).
    @Hidden fileprivate var chain: [UInt8] = []
    fileprivate var instruction: UInt8?
    /// What is left of an answer.
    @Hidden fileprivate var rest: [UInt8] = []
}

extension StoredApplication {
    static var classes: Set<UInt8> { [0x00] }

    var persistentMemory: [UInt8] {
        stored.sorted { $0.key < $1.key }.flatMap { Array($0.key.utf8) + [0, UInt8($0.value.count & 0xFF)] + $0.value }
    }

    mutating func process(_ command: CardCommand, tear: TornWrite?) -> CardAnswer {
        let before = stored
        var answer = CardAnswer { () throws(CardStatus) in try respond(to: command) }
        answer.isWrite = stored != before
        // A change is all or nothing.
        if tear?.keepsNew == false { stored = before }
        return answer
    }

    private mutating func respond(to command: CardCommand) throws(CardStatus) -> CardAnswer {
        if command.ins != Self.continuation {
            parts.rest = []
            guard Self.classes.contains(command.cla & 0xEF) else { throw .unknownClass }
            var whole = command
            if parts.instruction == command.ins { whole.data = parts.chain + command.data }
            (parts.chain, parts.instruction) = ([], nil)
            guard whole.data.count <= 4096 else { throw .wrongLength }
            guard command.cla & 0x10 == 0 else {
                (parts.chain, parts.instruction) = (whole.data, command.ins)
                return CardAnswer(status: .success)
            }
            parts.rest = try execute(whole)
        }
        let part = Array(parts.rest.prefix(command.expectedLength ?? 256))
        parts.rest.removeFirst(part.count)
        let left = parts.rest.count
        let status = left == 0 ? .success : CardStatus(rawValue: 0x6100 | (left > 0xFF ? 0 : UInt16(left)))
        return CardAnswer(part, status: status)
    }
}
