// SPDX-License-Identifier: Apache-2.0
import BackgroundTagReading
import BusTesting
import TestThreads
import Testing
import UserBus

@testable import LinkDelivery

/// Links for an app whose entry names a command, and that runs already, answers in its own way, or never.
@Suite(.ownThreads, .enabled(if: TestBus.isInstalled, "dbus-daemon is not installed"), .timeLimit(.minutes(3)))
struct `A link for an app that runs` {
    private let bus: TestBus
    private let desk: Desk

    init() throws {
        bus = try TestBus()
        desk = try Desk(bus)
        try desk.program("app")
        try desk.entry("org.example.App", "Exec=app %u")
    }

    /// The app, which answers one method and lacks all others.
    private func app(_ method: String, _ values: [BusValue]) -> BusProgram {
        BusProgram(bus.address, "org.example.App") { _, call in
            try call.answer(call.name.hasSuffix("." + method) ? values : nil)
        }
    }

    @Test func `goes to it with the message, and starts no second one, though its entry does not promise that`() throws
    {
        let app = app("ContinueUserActivity", [.boolean(true)])
        let receipt = try desk.deliverer().deliver(desk.link())
        #expect(receipt == LinkDeliverer.Receipt(app: "TEAM.app", hasMessage: true))
        #expect(desk.log == [])
        withExtendedLifetime(app) {}
    }

    @Test func `goes to it alone where it takes only that, also one of its own scheme`() throws {
        let app = app("Open", [])
        for delivery in [try desk.link(), .customScheme(Desk.app, "own:x")] {
            let receipt = try desk.deliverer().deliver(delivery)
            #expect(receipt == LinkDeliverer.Receipt(app: "TEAM.app", hasMessage: false))
        }
        #expect(desk.log == [])
        withExtendedLifetime(app) {}
    }

    @Test func `goes to its command where it takes nothing over the bus`() throws {
        let app = app("Other", [])
        for delivery in [try desk.link(), .customScheme(Desk.app, "own:x")] {
            let receipt = try desk.deliverer().deliver(delivery)
            #expect(receipt == LinkDeliverer.Receipt(app: "TEAM.app", hasMessage: false))
        }
        #expect(desk.log == ["app", "https://example.org/a", "app", "own:x"])
        withExtendedLifetime(app) {}
    }

    @Test func `is not opened by its command after it has refused it`() throws {
        let app = app("ContinueUserActivity", [.boolean(false)])
        desk.expect(.refused, "org.example.App does not take the link.") {
            _ = try desk.deliverer().deliver(desk.link())
        }
        #expect(desk.log == [])
        withExtendedLifetime(app) {}
    }

    @Test func `is not opened by its command either while it may still answer`() throws {
        let app = BusProgram(bus.address, "org.example.App") { _, _ in }
        desk.expect(.noAnswer, "org.example.App does not answer: the time is over.") {
            _ = try desk.deliverer(limit: .milliseconds(300)).deliver(desk.link())
        }
        #expect(desk.log == [])
        withExtendedLifetime(app) {}
    }

    @Test func `of a scheme goes to the next app where the bus can't start the first`() throws {
        try desk.entry("org.example.First", "DBusActivatable=true")
        try desk.handlers("tel", "org.example.First.desktop;org.example.App.desktop")
        let receipt = try desk.deliverer().deliver(.system(.call, "tel:1"))
        #expect(receipt == LinkDeliverer.Receipt(app: "org.example.App", hasMessage: false))
        #expect(desk.log == ["app", "tel:1"])
    }

    @Test func `of a scheme opens in the first app that runs, by what that takes`() throws {
        try desk.handlers("tel", "org.example.App.desktop")
        let app = app("Open", [])
        let receipt = try desk.deliverer().deliver(.system(.call, "tel:1"))
        #expect(receipt == LinkDeliverer.Receipt(app: "org.example.App", hasMessage: false))
        #expect(desk.log == [])
        withExtendedLifetime(app) {}
    }
}
