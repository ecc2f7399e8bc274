// SPDX-License-Identifier: Apache-2.0
public import Foundation

extension CardSession {
    /// A command from a reader. A command is equal only to itself.
    public final class APDU: Sendable, Equatable, CustomDebugStringConvertible {
        /// The command's bytes.
        public let payload: Data

        private let onRespond: @Sendable (Data) throws(CardSession.Error) -> Void

        init(payload: Data, onRespond: @escaping @Sendable (Data) throws(CardSession.Error) -> Void) {
            self.payload = payload
            self.onRespond = onRespond
        }

        /// Answers the command.
        ///
        /// - Parameter response: the data and the status word, at least 2 bytes.
        /// - Throws: ``CardSession/Error``: `transmissionError` when the reader is gone, the command was answered
        ///   before, or the response has no status word; `emulationStopped`; `invalidated`.
        public func respond(response: Data) async throws {
            try onRespond(response)
        }

        public static func == (lhs: APDU, rhs: APDU) -> Bool { lhs === rhs }

        public var debugDescription: String { "CardSession.APDU(\(payload.hex))" }
    }
}
