// SPDX-License-Identifier: Apache-2.0

/// An ISO/IEC 7816-4 card with any number of applications. One of them can be selected at a time.
public struct ApplicationCard: Card {
    /// The applications. Their names should differ; the first match is selected.
    public private(set) var applications: [any CardApplication]
    private var selected: Int?

    /// Creates a card without a selected application.
    public init(_ applications: [any CardApplication]) {
        self.applications = applications
    }

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

    /// Handles the SELECT command that selects the application. With any other status than 9000 or 61xx, it is not
    /// selected.
    mutating func select(_ command: CardCommand) -> CardAnswer

    /// Executes a command while the application is selected. `tear` is what remains of the programmed memory after a
    /// power cut.
    mutating func process(_ command: CardCommand, tear: TornWrite?) -> CardAnswer

    /// Resets all volatile state, after a loss of power or the selection of another application.
    mutating func deselect()
}
