// SPDX-License-Identifier: Apache-2.0

/// An application on a card, selected by its name (ISO/IEC 7816-4, 7.1).
public protocol CardApplication: Sendable {
    /// The names (AIDs) by which the application is selected.
    var names: [[UInt8]] { get }

    /// Answers the SELECT that chose the application.
    ///
    /// - Parameter command: the SELECT command.
    /// - Returns: the answer; anything but a status of 9000 or 61xx leaves the application unselected.
    mutating func select(_ command: CardCommand) -> CardAnswer

    /// Carries out a command while the application is selected.
    ///
    /// - Parameters:
    ///   - command: the command.
    ///   - tear: what a power cut leaves of the memory that this command programs; nil when the power stays.
    mutating func process(_ command: CardCommand, tear: TornWrite?) -> CardAnswer

    /// Forgets all volatile state: the power went, or another application was selected.
    mutating func deselect()
}

/// A card of ISO/IEC 7816-4 with any number of applications, one of which is selected at a time.
public struct ApplicationCard: Card {
    /// The applications. Names should differ; the first match is selected.
    public private(set) var applications: [any CardApplication]
    private var selected: Int?

    /// Creates a card; no application is selected.
    public init(_ applications: [any CardApplication]) {
        self.applications = applications
    }

    /// The selected application, or nil.
    public var selectedApplication: (any CardApplication)? {
        selected.map { applications[$0] }
    }

    public mutating func process(_ message: [UInt8], tear: TornWrite?) -> CardAnswer {
        guard let command = CardCommand(message) else { return CardAnswer(status: .wrongLength) }
        if command.cla == 0x00, command.ins == 0xA4, command.p1 == 0x04 {
            return select(command)
        }
        guard let selected else {
            return CardAnswer(status: command.ins == 0xA4 ? .notFound : .conditionsNotSatisfied)
        }
        return applications[selected].process(command, tear: tear)
    }

    public mutating func losePower() {
        if let selected { applications[selected].deselect() }
        selected = nil
    }

    /// SELECT by DF name. One that fails leaves the selection as it was (ISO/IEC 7816-4, 7.1.1).
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
