// SPDX-License-Identifier: Apache-2.0
public import Foundation

extension CardSession {
    /// A command of a reader. Equal to itself alone.
    public final class APDU: Sendable, Equatable, CustomDebugStringConvertible {
        /// The command's octets.
        public let payload: Data

        private let onRespond: @Sendable (Data) throws(CardSession.Error) -> Void

        init(payload: Data, onRespond: @escaping @Sendable (Data) throws(CardSession.Error) -> Void) {
            self.payload = payload
            self.onRespond = onRespond
        }

        /// Answers the command.
        ///
        /// - Parameter response: the data and the status word, at least 2 octets.
        /// - Throws: ``CardSession/Error``: `transmissionError` when the reader is gone, the command has been answered
        ///   or the response has no status word; `emulationStopped`; `invalidated`.
        public func respond(response: Data) async throws {
            try onRespond(response)
        }

        public static func == (lhs: APDU, rhs: APDU) -> Bool { lhs === rhs }

        public var debugDescription: String { "CardSession.APDU(\(payload.hex))" }
    }
}
