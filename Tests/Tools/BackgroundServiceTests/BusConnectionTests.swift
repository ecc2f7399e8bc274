// SPDX-License-Identifier: Apache-2.0
import Foundation
import PrivateStorage
import TestThreads
import Testing
import UserBus

/// A connection with unread messages.
@Suite(.ownThreads, .enabled(if: Bus.isInstalled, "dbus-daemon is not installed"), .timeLimit(.minutes(3)))
struct `A connection to a bus` {
    @Test func `is closed with its last use, also when messages wait`() throws {
        let folder = try ScratchFolder()
        let bus = try Bus(folder.path(""))
        weak var gone: BusConnection?
        do {
            let connection = try BusConnection(.user, address: bus.address)
            // The bus says by a signal that the name is taken, before it answers.
            try connection.take("org.example.App")
            gone = connection
        }
        #expect(gone == nil)
    }

    @Test func `is to one's own bus, whatever the name of its folder means in an address`() throws {
        let scratch = try ScratchFolder()
        let folder = try PrivateFolder(scratch.path("a b,c%;=é<&>"))
        let bus = try PrivateBus(in: folder, environment: ProcessInfo.processInfo.environment)
        defer {
            kill(bus.process, SIGKILL)
            waitpid(bus.process, nil, 0)
        }
        #expect(try !BusConnection(.user, address: bus.address).isThere("org.example.App"))
    }

    @Test func `reads no more of a message than what a program has a use for`() throws {
        let folder = try ScratchFolder()
        let bus = try Bus(folder.path(""))
        let connection = try BusConnection(.user, address: bus.address)
        try connection.take("org.example.App")
        let sender = try BusConnection(.user, address: bus.address)
        let object = BusCall.Object("org.example.App", "/org/example/App", "org.example.App")
        func received(_ values: [BusValue]) throws -> ReceivedMessage {
            _ = try sender.send(BusCall(object, "Take", values))
            while true {
                if let message = try connection.receive(), message.isCall { return message }
            }
        }
        let texts = { (count: Int) in BusValue.strings(Array(repeating: "x", count: count)) }
        #expect(try received([texts(10_000)]).arguments("as") == [.list(Array(repeating: .string("x"), count: 10_000))])
        #expect(try received([texts(20_000)]).arguments("as") == nil)
        #expect(try received([texts(10_000), texts(10_000)]).arguments("asas") == nil)
        #expect(try received([.bytes(Array(repeating: 1, count: 17 << 20))]).arguments("ay") == nil)
        #expect(try received([.string("x")]).arguments("") == nil)
        #expect(try received([.string("x")]).arguments("s") == [.string("x")])
        #expect(try received([]).arguments("") == [])
    }
}
