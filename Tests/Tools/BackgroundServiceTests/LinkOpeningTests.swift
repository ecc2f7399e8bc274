// SPDX-License-Identifier: Apache-2.0
import BackgroundTagReading
import Foundation
import Testing

@testable import nfcd

/// What the service does when an entry that it is to open can't be had.
@Suite struct `The opening of an entry` {
    private static let id = NotifierScene.id(1)

    /// An entry that is opened by this service.
    @MainActor private static func scene() throws -> (keeping: Keeping, links: LinkOpening) {
        let keeping = try Keeping(1)
        let environment = [
            "HOME": keeping.path("home"), "PATH": "/nowhere",
            "XDG_DATA_DIRS": "/nowhere", "XDG_CONFIG_DIRS": "/nowhere",
            "DBUS_SESSION_BUS_ADDRESS": "unix:path=/nowhere",
        ]
        let opener = Opener(environment, allowsCustomSchemes: false)
        let links = LinkOpening(opener, try keeping.recorded.log("--json"), keeping.loop, keeping.keeper)
        keeping.deliver = { [weak links] id, delivery in links?.deliver(id, delivery, token: nil) }
        try keeping.begin()
        return (keeping, links)
    }

    @MainActor @Test func `is left to another program that has it`() throws {
        let (keeping, links) = try Self.scene()
        let claim = try #require(try keeping.keeper.claim(Self.id))
        keeping.loop.handle(.activated(Self.id))
        let text = "Another program is opening the link."
        let line = "{\"event\":\"being-opened\",\"message\":\"\(text)\",\"id\":\"\(Self.id)\"}"
        #expect(keeping.recorded.lines() == [line])
        let last = BackgroundReader.Action.announce(Self.id, .beingOpened)
        #expect(keeping.actions.last == last)
        #expect(keeping.stored == [Self.id])
        withExtendedLifetime((claim, links)) {}
    }

    @MainActor @Test func `ends when the entry is there no more`() throws {
        let (keeping, links) = try Self.scene()
        try FileManager.default.removeItem(atPath: keeping.file(1))
        keeping.loop.handle(.activated(Self.id))
        let line = "{\"event\":\"gone\",\"message\":\"The entry is no longer in the inbox.\",\"id\":\"\(Self.id)\"}"
        #expect(keeping.recorded.lines() == [line])
        #expect(keeping.stored == [])
        withExtendedLifetime(links) {}
    }

    @MainActor @Test func `has failed when the entry's file can't be used`() throws {
        let (keeping, links) = try Self.scene()
        try keeping.block(1)
        keeping.loop.handle(.activated(Self.id))
        let lines = keeping.recorded.lines()
        let start = "{\"event\":\"not-delivered\",\"message\":\"The link could not be opened: "
        #expect(lines.count == 1 && lines[0].hasPrefix(start), "\(lines)")
        #expect(lines.allSatisfy { $0.hasSuffix("\"id\":\"\(Self.id)\"}") }, "\(lines)")
        let note = BackgroundReader.Action.note(.notDelivered(Self.id))
        #expect(keeping.actions.contains(note))
        withExtendedLifetime(links) {}
    }

    @MainActor @Test func `goes on without the apps where they can't be read, and says so`() throws {
        let (keeping, links) = try Self.scene()
        try FileManager.default.createDirectory(atPath: keeping.path("home"), withIntermediateDirectories: true)
        try Data().write(to: URL(fileURLWithPath: keeping.path("home/.cache")))
        links.reloadRouter()
        let lines = keeping.recorded.lines()
        let start = "{\"ok\":false,\"event\":\"failed\",\"error\":\"apps\",\"message\":\"The apps can't be read: "
        #expect(lines.count == 1 && lines[0].hasPrefix(start), "\(lines)")
        #expect(keeping.loop.machine.router.schemesWithoutBrowser.isEmpty)
    }

    @MainActor @Test func `knows where links go where no app is installed`() throws {
        let (keeping, links) = try Self.scene()
        let before = keeping.loop.machine.router.browserNames
        links.reloadRouter()
        #expect(before.isEmpty && keeping.loop.machine.router.apps.isEmpty)
        #expect(keeping.loop.machine.router.schemesWithoutBrowser == ["http", "https"])
        #expect(keeping.recorded.lines() == [])
    }
}
