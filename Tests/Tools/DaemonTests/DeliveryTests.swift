// SPDX-License-Identifier: Apache-2.0
import BackgroundTagReading
import Foundation
import LinkDelivery
import LinuxSupport
import NDEF
import ProgramTesting
import Synchronization
import TestThreads
import Testing
import UserBus

/// `bus_peer.py`: a program on a bus, perhaps another user's. It ends with this object.
private final class BusPeer {
    private let process: pid_t
    /// Stays open: the program may write a line in parts.
    private let output: FileHandle
    /// The first line that it printed.
    let firstLine: String

    init(_ bus: SessionBus, user: UInt32 = geteuid(), _ mode: String, name: String = "org.example.App") throws {
        let script = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appending(path: "bus_peer.py")
        let words = ["env", "python3", script.path, bus.socket, "\(user)", mode, name]
        let pipe = try #require(DescriptorPipe())
        var launch = ProgramLaunch("/usr/bin/env", words)
        launch.descriptors[1] = pipe.writer
        process = try launch.start()
        close(pipe.writer)
        output = FileHandle(fileDescriptor: pipe.reader, closeOnDealloc: true)
        firstLine = String(decoding: output.availableData, as: UTF8.self).trimmingCharacters(
            in: .whitespacesAndNewlines
        )
    }

    deinit {
        kill(process, SIGKILL)
        waitpid(process, nil, 0)
    }
}

/// How links are delivered to apps, past hostile links and programs.
@Suite(.ownThreads) struct DeliveryTests {
    /// A user with the app `org.example.App`.
    private struct Scene {
        let user: User
        private let environment: [String: String]
        private let app = InstalledApp(id: "T.app", name: "App", desktopID: "org.example.App", associatedDomains: [])

        init(_ bus: SessionBus? = nil) throws {
            let address = bus?.address ?? "unix:path=/nowhere"
            user = try User(["DBUS_SESSION_BUS_ADDRESS": address])
            environment = user.nfc.environment
            try user.program("app")
        }

        func deliver(_ uri: String = "https://a.example/x", limit: Duration = .seconds(20)) throws
            -> LinkDeliverer.Receipt
        {
            let message = try NDEFMessage([.uri(uri), .text("more", language: "en")]).encoded()
            let link = try #require(TagURI(uri)).text
            let type = UserActivityPayload.browsingWeb
            let payload = try UserActivityPayload(activityType: type, webpageURL: link, message: message)
            return try LinkDeliverer(environment: environment, limit: limit, settling: .seconds(60)).deliver(
                .app(app, payload)
            )
        }

        /// Why a link is not delivered.
        func failure(limit: Duration = .seconds(20)) throws -> DeliveryError {
            let error = #expect(throws: DeliveryError.self) { try deliver(limit: limit) }
            return try #require(error)
        }
    }

    @Test func `delivery by Exec: a hostile link reaches the app as one argument, without a shell`() throws {
        for uri in [
            "https://a.example/$(touch x);`y`&'|\"\\-*?~#!{a,b}",
            "https://a.example/" + String(repeating: "$(x)", count: 15_000),
        ] {
            let scene = try Scene()
            try scene.user.entry(
                "org.example.App",
                "Name=App",
                #"Exec=app --link %u "a \\$b" 100%% %c %i"#,
                "Icon=ic on"
            )
            let receipt = try scene.deliver(uri)
            #expect(receipt.app == "T.app" && !receipt.hasMessage)
            let link = try #require(TagURI(uri)).text
            #expect(scene.user.opened == ["7", "--link", link, "a $b", "100%", "App", "--icon", "ic on"])
        }
    }

    @Test(
        .enabled(if: SessionBus.isInstalled, "dbus-daemon is not installed"),
        .enabled(if: geteuid() == 0, "only the system's owner can be another user")
    ) func `delivery on the bus: another user's program gets no link, and can send none`() throws {
        let bus = try SessionBus()
        let scene = try Scene(bus)
        var peer: BusPeer? = try BusPeer(bus, user: 65534, "silent")
        #expect(peer?.firstLine == "ready")
        for line in ["DBusActivatable=true", "Exec=app %u", "Implements=org.opencorenfc.UserActivity1;"] {
            try scene.user.entry("org.example.App", "Name=App", line)
            #expect(try scene.failure().code == .foreign, "\(line)")
        }
        #expect(scene.user.opened == [])
        peer = nil
        let links = Mutex<[String]>([])
        let isStopped = Mutex(false)
        let other = try SessionBus()
        let service = try DeliveryService(desktopID: "org.example.App", address: other.address) { payload in
            links.withLock { $0.append(payload.webpageURL) }
            return true
        }
        Thread.detachNewThread { _ = try? service.run { isStopped.withLock { $0 } } }
        defer { isStopped.withLock { $0 = true } }
        #expect(try BusPeer(other, user: 65534, "call").firstLine == "org.freedesktop.DBus.Error.AccessDenied")
        #expect(links.withLock { $0 } == [])
        #expect(try BusPeer(other, "call").firstLine == "handled")
        #expect(links.withLock { $0 } == ["https://a.example"])
    }

    @Test(.enabled(if: SessionBus.isInstalled, "dbus-daemon is not installed"))
    func `bus: answers that another program forges do not count`() throws {
        let bus = try SessionBus()
        let first = try DeliveryService(desktopID: "org.example.App", address: bus.address) { _ in true }
        let forger = try BusPeer(bus, "forge", name: "-")
        #expect(forger.firstLine == "ready")
        // An attack is a matter of chance: if the sender were not checked, some rounds would go wrong.
        for _ in 0..<20 {
            let connection = try BusConnection(.user, address: bus.address)
            let call = BusCall(.daemon, "NameHasOwner", [.string("org.example.Other")])
            #expect(try connection.ask(call) == [.boolean(false)])
            #expect(try !BusConnection(.user, address: bus.address).isRunning("org.example.Other"))
            #expect(throws: BusError.self) {
                try DeliveryService(desktopID: "org.example.App", address: bus.address) { _ in true }
            }
        }
        withExtendedLifetime(first) {}
    }
}
