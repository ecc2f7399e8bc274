// SPDX-License-Identifier: Apache-2.0
import Foundation
import Synchronization
import TestThreads
import Testing
import UserBus

#if DEBUG
    /// What is there when the service is killed in the middle of an arrival, and a desktop shows its notifications.
    @Suite(.ownThreads, .enabled(if: Bus.isInstalled, "dbus-daemon is not installed"), .timeLimit(.minutes(5)))
    struct `A service with a desktop that is killed` {
        /// A service that is killed at a step, with a link in its inbox and a desktop.
        private struct Scene {
            let service: RunningNfcd
            let desktop: NotificationServer
            let id: String

            /// - Parameters:
            ///   - step: where it is killed.
            ///   - arguments: its arguments.
            ///   - hasEntry: whether a link is in its inbox at its start.
            ///   - isLocked: whether the desktop's screen saver covers the screen; nil if it has none.
            init(
                _ step: String,
                _ arguments: [String] = ["--json"],
                hasEntry: Bool = true,
                isLocked: Bool? = nil
            ) throws {
                let parts = Mutex<(desktop: NotificationServer, id: String)?>(nil)
                service = try RunningNfcd(arguments, environment: ["NFC_READER": "virtual", "NFC_DIE_AT": step]) {
                    user in
                    try user.opener()
                    let id = try hasEntry ? user.add("https://b.example/1") : ""
                    let address = try #require(user.nfc.environment["DBUS_SESSION_BUS_ADDRESS"])
                    let desktop = try NotificationServer(address, isLocked: isLocked)
                    parts.withLock { $0 = (desktop, id) }
                }
                let known = try #require(parts.withLock { $0 })
                (desktop, id) = (known.desktop, known.id)
            }

            /// Calls a program on the service's bus.
            func ask(_ object: BusCall.Object, _ method: String, _ values: [BusValue] = []) throws -> [BusValue] {
                let address = service.user.nfc.environment["DBUS_SESSION_BUS_ADDRESS"]
                return try BusConnection(.user, address: address).ask(BusCall(object, method, values), within: 30)
            }

            /// The entries, as another program lists them.
            func entries() throws -> [[String: Any]] {
                try service.user.nfc.run("inbox", "list", "--json").objects()
            }

            /// The stored marks of entries; empty if there are none.
            var marks: String {
                let path = service.user.scratch.path("state/nfc/background/marks")
                return (try? String(contentsOfFile: path, encoding: .utf8)) ?? ""
            }

            /// How the service ended, if it was not asked to.
            func death() -> Int32 {
                defer { desktop.stop() }
                return service.end()
            }
        }

        @Test(arguments: [("before-announcing", 0), ("announcing", 1)])
        func `about a link has asked the desktop to show it, or not yet`(step: String, count: Int) throws {
            let (tags, images) = (try ScratchFolder(), try Images())
            let scene = try Scene(step, ["--json", "--tags", tags.path("")], hasEntry: false)
            #expect(scene.service.prints(#""event":"reading""#), "\(scene.service.log)")
            #expect(scene.desktop.isAsked("GetCapabilities"))
            // The service has the answer by then.
            _ = try scene.ask(NotificationServer.object, "GetServerInformation")
            _ = try scene.ask(RunningNfcd.object, "Status")
            try FileManager.default.copyItem(atPath: try images.poster(), toPath: tags.path("poster.nfc"))
            #expect(!scene.service.prints(#""event":"shown""#), "\(scene.service.log)")
            if count > 0 { #expect(scene.desktop.isAsked("Notify")) }
            _ = try scene.ask(NotificationServer.object, "GetServerInformation")
            #expect(scene.desktop.notified.count == count)
            #expect(scene.death() == SIGKILL)
        }

        @Test func `when a link is shown has it in the inbox as one that was`() throws {
            let scene = try Scene("announced")
            #expect(!scene.service.prints(#""event":"shown""#), "\(scene.service.log)")
            #expect(try scene.entries().map { $0["announced"] as? Bool } == [true])
            #expect(scene.death() == SIGKILL)
        }

        @Test func `when its user has dismissed a link remembers that`() throws {
            let scene = try Scene("marked-dismissed")
            #expect(scene.service.prints(#""event":"shown""#), "\(scene.service.log)")
            scene.desktop.emit("NotificationClosed", [.uint32(7), .uint32(2)])
            _ = try scene.ask(NotificationServer.object, "GetServerInformation")
            waitWhile(!scene.marks.contains("dismissed"))
            #expect(scene.marks.hasPrefix("\(scene.id) dismissed "))
            #expect(scene.death() == SIGKILL)
        }

        @Test func `when a link that was wanted is about to be opened wants it no more`() throws {
            let scene = try Scene("unmarked", isLocked: true)
            #expect(scene.service.prints(#""event":"shown""#), "\(scene.service.log)")
            #expect(try scene.ask(RunningNfcd.object, "Open", [.string(scene.id)]) == [.string("locked")])
            waitWhile(!scene.marks.contains("wanted"))
            #expect(scene.marks.hasPrefix("\(scene.id) wanted "))
            scene.desktop.unlock()
            _ = try scene.ask(NotificationServer.object, "GetServerInformation")
            waitWhile(scene.marks.contains("wanted"))
            #expect(scene.marks.isEmpty)
            #expect(scene.death() == SIGKILL)
            #expect(try scene.entries().count == 1)
            #expect(scene.service.user.opened == [])
        }

        @Test func `when a link is open has it in the inbox no more, and has said so`() throws {
            let scene = try Scene("removed")
            #expect(scene.service.prints(#""event":"shown""#), "\(scene.service.log)")
            #expect(try scene.ask(RunningNfcd.object, "Open", [.string(scene.id)]) == [.string("opening")])
            try waitWhile(!scene.entries().isEmpty)
            #expect(try scene.entries().isEmpty)
            #expect(scene.death() == SIGKILL)
            #expect(scene.service.log.contains(#""event":"delivered""#))
        }
    }
#endif
