// SPDX-License-Identifier: Apache-2.0
import BusTesting
import Foundation
import TestThreads
import Testing

@testable import UserBus

@Suite(.ownThreads, .enabled(if: TestBus.isInstalled, "dbus-daemon is not installed"), .timeLimit(.minutes(3)))
struct `The memory of messages` {
    @Test func `is given back when they were sent, received, answered and refused`() async throws {
        let bus = try TestBus()
        await #expect(processExitsWith: .success) { [address = bus.address as String] in
            func pages() throws -> Int {
                let sizes = try String(contentsOfFile: "/proc/self/statm", encoding: .utf8).split(separator: " ")
                return try #require(Int(sizes[5]))
            }
            let caller = try BusConnection(.user, address: address)
            let service = try BusConnection(.user, address: address)
            try service.take("org.example.App")
            let object = BusCall.Object(try caller.owner(of: "org.example.App"), "/", "org.example.App")
            let bytes = [UInt8](repeating: 7, count: 1 << 20)
            let text = String(repeating: "x", count: 1 << 20)
            func use(_ rounds: Int) throws {
                for number in 0..<rounds {
                    let cookie = try caller.send(BusCall(object, "Do", [.bytes(bytes)]))
                    var call: ReceivedMessage?
                    while call?.isCall != true { call = try service.receive() }
                    if number % 2 == 0 {
                        try call?.answer([.bytes(bytes)])
                    } else {
                        try call?.refuse("Failed", text)
                    }
                    #expect(try caller.answers(to: [cookie], within: .seconds(60))[cookie] != nil)
                    try caller.emit(object, "Changed", [.bytes(bytes)])
                    #expect(throws: BusError.self) {
                        _ = try caller.call(.daemon, "GetId", shownAs: "It", within: .seconds(60)) { $0.bytes(bytes) }
                    }
                }
            }
            try use(8)
            let before = try pages()
            try use(64)
            // What stays of 32 messages of one MiB would be 8192 pages. The stack of a thread that begins meanwhile has 2000.
            #expect(try pages() < before + 6000)
        }
        withExtendedLifetime(bus) {}
    }
}
