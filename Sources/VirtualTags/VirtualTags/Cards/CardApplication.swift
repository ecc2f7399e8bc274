// SPDX-License-Identifier: Apache-2.0

/// An application on a card, selected by its name (ISO/IEC 7816-4, 7.1).
public protocol CardApplication: Sendable {
    /// The names (AIDs) by which the application is selected.
    var names: [[UInt8]] { get }

    /// Handles the SELECT command that selects the application.
    ///
    /// - Parameter command: the SELECT command.
    /// - Returns: the answer. With any other status than 9000 or 61xx, the application is not selected.
    mutating func select(_ command: CardCommand) -> CardAnswer

    /// Executes a command while the application is selected.
    ///
    /// - Parameters:
    ///   - command: the command.
    ///   - tear: what remains of the programmed memory after a power cut; nil without a power cut.
    mutating func process(_ command: CardCommand, tear: TornWrite?) -> CardAnswer

    /// Resets all volatile state, after a loss of power or the selection of another application.
    mutating func deselect()
}
