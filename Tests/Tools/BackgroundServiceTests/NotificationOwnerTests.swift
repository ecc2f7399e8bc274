// SPDX-License-Identifier: Apache-2.0
import Foundation
import Synchronization
import TestThreads
import Testing
import UserBus

/// Numbers of notifications are those of one program on one bus: what another one has shown under the same number is not ours.
@Suite(.ownThreads, .enabled(if: Bus.isInstalled, "dbus-daemon is not installed"), .timeLimit(.minutes(5)))
struct `Notifications of others` {
    private let folder: ScratchFolder

    init() throws { folder = try ScratchFolder() }

    @Test func `A program that takes the desktop's name later clicks and closes nothing`() throws {
        for place in ["own", "desktop"] {
            try FileManager.default.createDirectory(atPath: folder.path(place), withIntermediateDirectories: true)
        }
        let (ownBus, desktopBus) = (try Bus(folder.path("own")), try Bus(folder.path("desktop")))
        let desktop = try NotificationServer(desktopBus.address)
        defer { desktop.stop() }
        let app = try BusConnection(.user, address: ownBus.address)
        let stand = try NotificationStand(
            on: try BusConnection(.user, address: ownBus.address),
            desktop: try BusConnection(.user, address: desktopBus.address)
        )
        _ = try app.send(
            BusCall(
                NotificationServer.object,
                "Notify",
                [
                    .string("a"), .uint32(0), .string(""), .string("title"), .string("body"),
                    .strings(["default", "Open"]), .properties([:]), .int32(-1),
                ]
            )
        )
        var events: [NotificationStand.Event] = []
        func wait(until isDone: ([NotificationStand.Event]) -> Bool) throws {
            for _ in 0..<3000 {
                if isDone(events) { return }
                events += try stand.process()
                usleep(10_000)
            }
            Issue.record("\(events)")
        }
        try wait { !$0.isEmpty }
        guard case .shown(let notification)? = events.first else {
            Issue.record("nothing is shown: \(events)")
            return
        }
        #expect(notification.number == 7)
        let impostor = try NotificationServer(desktopBus.address, replaces: true)
        impostor.emit("ActivationToken", [.uint32(7), .string("token")])
        impostor.emit("ActionInvoked", [.uint32(7), .string("default")])
        impostor.emit("NotificationClosed", [.uint32(7), .uint32(2)])
        let other = try BusConnection(.user, address: desktopBus.address)
        _ = try other.ask(BusCall(NotificationServer.object, "CloseNotification", [.uint32(1)]))
        // The bus has had its signals before the answer.
        for _ in 0..<10 { events += try stand.process() }
        #expect(events.count == 1, "\(events)")
        impostor.stop()
    }

    @Test(arguments: [true, false])
    func `The service takes away what it has shown on this bus, and nothing that has the number on another`(
        isSameBus: Bool
    ) throws {
        let server = Mutex<NotificationServer?>(nil)
        let service = try RunningNfcd { user in
            let address = try #require(user.nfc.environment["DBUS_SESSION_BUS_ADDRESS"])
            let desktop = try NotificationServer(address)
            server.withLock { $0 = desktop }
            let bus = try BusConnection(.user, address: address)
            let own = try #require(try bus.ask(BusCall(.daemon, "GetId")).first?.text)
            let name = isSameBus ? own : String(own.reversed())
            // Of an entry that is in the inbox no more.
            let place = try #require(user.nfc.environment["XDG_RUNTIME_DIR"]) + "/nfc"
            try FileManager.default.createDirectory(
                atPath: place,
                withIntermediateDirectories: true,
                attributes: [.posixPermissions: 0o700]
            )
            let line = "\(try #require(desktop.own)) 41 entry 000000000001\(String(repeating: "0", count: 8))"
            try Data("\(name)\n\(line)".utf8).write(to: URL(fileURLWithPath: place + "/notifications"))
        }
        let desktop = try #require(server.withLock { $0 })
        #expect(service.prints(#""event":"reading""#), "\(service.log) \(service.errors)")
        #expect(desktop.isAsked("GetCapabilities"))
        if isSameBus { #expect(desktop.isAsked("CloseNotification 41"), "\(desktop.asked)") }
        #expect(service.end() == 0)
        #expect(desktop.asked.contains("CloseNotification 41") == isSameBus, "\(desktop.asked)")
        desktop.stop()
    }
}
