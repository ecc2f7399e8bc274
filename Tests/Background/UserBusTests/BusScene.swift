// SPDX-License-Identifier: Apache-2.0
import BusTesting
import Testing

@testable import UserBus  // the calls of a connection are internal

extension TestBus {
    /// A new connection to this bus.
    func connection(patience: Duration = .seconds(30)) throws -> BusConnection {
        try BusConnection(.user, address: address, patience: patience)
    }
}

extension BusConnection {
    /// Waits until the bus has handled all that it got before. It delivers signals before this answer.
    func settle() throws { _ = try ask(BusCall(.daemon, "GetId")) }

    /// Waits for the next message that is wanted. Others are lost.
    func next(_ isWanted: (ReceivedMessage) -> Bool) throws -> ReceivedMessage {
        while true {
            if let message = try receive() {
                if isWanted(message) { return message }
            } else {
                wait(.milliseconds(5))
            }
        }
    }

    /// Everything that has arrived.
    func received() throws -> [ReceivedMessage] {
        var messages: [ReceivedMessage] = []
        while let message = try receive() { messages.append(message) }
        return messages
    }

    /// Waits for the answer to a call.
    func answer(to cookie: UInt64) throws -> ReceivedMessage {
        try #require(try answers(to: [cookie], within: .seconds(60))[cookie])
    }
}

/// Expects an error with a code.
func expect<Value>(
    _ code: BusError.Code,
    _ row: String = "",
    at place: SourceLocation = #_sourceLocation,
    _ body: () throws -> Value
) {
    let error = #expect(throws: BusError.self, "\(row)", sourceLocation: place) { _ = try body() }
    #expect(error?.code == code, "\(row)", sourceLocation: place)
}
