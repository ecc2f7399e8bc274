// SPDX-License-Identifier: Apache-2.0
import BackgroundTagReading
import BusTesting
import CSDBus
import Foundation
import Synchronization
import TestThreads
import Testing

@testable import LinkDelivery
@testable import UserBus

/// A program on a bus that owns a name and answers calls, as long as this lives.
final class BusProgram: Sendable {
    private let work = Work()

    /// What its thread has to know. The thread does not keep the program.
    private final class Work: Sendable {
        let isOver = Mutex(false)
        let ended = DispatchSemaphore(value: 0)
    }

    init(
        _ address: String,
        _ name: String,
        answer: @escaping @Sendable (BusConnection, ReceivedMessage) throws -> Void
    ) {
        let isReady = DispatchSemaphore(value: 0)
        Thread.detachNewThread { [work] in
            do {
                let bus = try BusConnection(.user, address: address)
                try bus.take(name)
                isReady.signal()
                while !work.isOver.withLock({ $0 }) {
                    if let message = try bus.receive() {
                        if message.isCall { try answer(bus, message) }
                    } else {
                        bus.wait(.milliseconds(5))
                    }
                }
            } catch {
                // The bus may be gone first.
                isReady.signal()
            }
            work.ended.signal()
        }
        isReady.wait()
    }

    deinit {
        work.isOver.withLock { $0 = true }
        work.ended.wait()
    }
}

/// An app that has its name on the bus some time after its command has written a file.
private final class LateApp: Sendable {
    private let program = Mutex<BusProgram?>(nil)

    init(
        _ address: String,
        after file: String,
        answer: @escaping @Sendable (BusConnection, ReceivedMessage) throws -> Void
    ) {
        Thread.detachNewThread { [self] in
            for _ in 0..<60_000 {
                if FileManager.default.fileExists(atPath: file) { break }
                usleep(1000)
            }
            let app = BusProgram(address, "org.example.App", answer: answer)
            program.withLock { $0 = app }
        }
    }
}

/// A bus, and a person who has one app.
private struct Place {
    let bus: TestBus
    let scratch: Scratch
    let environment: [String: String]

    init(_ lines: String...) throws {
        bus = try TestBus()
        scratch = try Scratch()
        environment = [
            "HOME": scratch.path, "XDG_DATA_HOME": scratch.path + "/own", "XDG_DATA_DIRS": scratch.path + "/system",
            "XDG_CONFIG_HOME": scratch.path + "/config", "XDG_CONFIG_DIRS": scratch.path + "/etc", "PATH": "/nowhere",
            "DBUS_SESSION_BUS_ADDRESS": bus.address,
        ]
        let text = (["[Desktop Entry]", "Type=Application", "Name=App"] + lines).joined(separator: "\n")
        try scratch.write("own/applications/org.example.App.desktop", text)
    }

    func open(settling: Duration = .seconds(60)) -> Result<LinkDeliverer.Receipt, DeliveryError> {
        let app = InstalledApp(id: "TEAM.app", name: "App", desktopID: "org.example.App", associatedDomains: [])
        let deliverer = LinkDeliverer(environment: environment, limit: .seconds(60), settling: settling)
        return Result { () throws(DeliveryError) in try deliverer.deliver(.customScheme(app, "own:x")) }
    }

    func reason() -> String? {
        if case .failure(let error) = open() { error.reason } else { nil }
    }
}

@Suite(.ownThreads, .enabled(if: TestBus.isInstalled, "dbus-daemon is not installed"), .timeLimit(.minutes(3)))
struct `A link on a bus` {
    private static let opened = Result<LinkDeliverer.Receipt, DeliveryError>
        .success(LinkDeliverer.Receipt(app: "TEAM.app", hasMessage: false))

    @Test func `is opened by the app's command only where the bus knows no program for the app`() throws {
        #expect(try Place("DBusActivatable=true", "Exec=/bin/true %u").open() == Self.opened)
        let reason = try Place("DBusActivatable=true").reason()
        #expect(reason?.hasPrefix("The bus knows no program for org.example.App. Install ") == true)
        let place = try Place("DBusActivatable=true", "Exec=/bin/true %u")
        let app = BusProgram(place.bus.address, "org.example.App") { _, call in try call.refuse("Failed", "No.") }
        #expect(place.reason() == "org.example.App says: No.")
        withExtendedLifetime(app) {}
    }

    @Test func `of a website opens in a running app that takes links alone, and not in one that takes none`() throws {
        for takesLinks in [true, false] {
            let bus = try TestBus()
            let desk = try Desk(bus)
            try desk.entry("org.example.App", "DBusActivatable=true")
            let app = BusProgram(bus.address, "org.example.App") { _, call in
                guard takesLinks, call.name == "org.freedesktop.Application.Open" else {
                    return try call.refuse("UnknownMethod", "No.")
                }
                try call.answer([])
            }
            if takesLinks {
                let receipt = try desk.deliverer().deliver(desk.link())
                #expect(receipt == LinkDeliverer.Receipt(app: "TEAM.app", hasMessage: false))
            } else {
                desk.expect(.refused, "App runs and takes no links over the bus, although its entry says so.") {
                    _ = try desk.deliverer().deliver(desk.link())
                }
            }
            withExtendedLifetime(app) {}
        }
    }

    @Test(arguments: ["ContinueUserActivity", "Open", ""])
    func `of a website opens in an app for messages that is started for it, with all that it takes`(method: String)
        throws
    {
        let bus = try TestBus()
        let desk = try Desk(bus)
        try desk.entry("org.example.App", "Exec=app", "Implements=org.opencorenfc.UserActivity1;")
        try desk.program("app")
        let app = LateApp(bus.address, after: desk.scratch.path + "/log") { _, call in
            guard !method.isEmpty, call.name.hasSuffix("." + method) else {
                return try call.refuse("UnknownMethod", "No.")
            }
            try call.answer(method == "Open" ? [] : [.boolean(true)])
        }
        if method.isEmpty {
            desk.expect(.ended, "App was started, and then takes no links over the bus.") {
                _ = try desk.deliverer().deliver(desk.link())
            }
        } else {
            let receipt = try desk.deliverer().deliver(desk.link())
            #expect(receipt == LinkDeliverer.Receipt(app: "TEAM.app", hasMessage: method != "Open"))
        }
        // It was started once, and without the link.
        #expect(desk.log == ["app"])
        withExtendedLifetime(app) {}
    }

    /// A systemd whose one unit has a state.
    private static func systemd(_ address: String, _ state: String, _ code: Int32, _ status: Int32) -> BusProgram {
        let properties: [String: BusValue] = [
            "ActiveState": .string(state), "Result": .string("resources"), "ExecMainCode": .int32(code),
            "ExecMainStatus": .int32(status),
        ]
        return BusProgram(address, "org.freedesktop.systemd1") { bus, call in
            guard call.name == "org.freedesktop.DBus.Properties.Get" else {
                return try call.answer(call.name.hasSuffix(".GetUnit") ? [.path("/unit")] : [])
            }
            let name = call.values().last?.text ?? ""
            if let value = properties[name] { return try call.answer([value]) }
            // The unit's job: there is none.
            var answer: OpaquePointer?
            _ = unsafe ocn_bus_message_new_method_return(call.message, &answer)
            defer { _ = unsafe ocn_bus_message_unref(answer) }
            var writer = unsafe BusMessageWriter(message: answer)
            writer.structure("uo") { writer in
                writer.number(0)
                writer.value(.path("/"))
            }
            unsafe bus.sendAnswer(answer)
        }
    }

    @Test(
        arguments: [
            ("inactive", 1, 0, nil), ("failed", 1, 3, "App ended at once, with status 3."),
            ("failed", 2, 9, "App ended at once, by signal 9."),
            ("failed", 0, 0, "/bin/true can't be started: systemd reports resources."),
        ] as [(String, Int32, Int32, String?)]
    )
    func `is opened by the user's systemd, whose unit says how that ended`(
        state: String,
        code: Int32,
        status: Int32,
        reason: String?
    ) throws {
        let place = try Place("Exec=/bin/true %u")
        let systemd = Self.systemd(place.bus.address, state, code, status)
        #expect(place.reason() == reason)
        withExtendedLifetime(systemd) {}
    }

    @Test func `is opened by the desktop's portal where no app and no tool opens it, and nobody knows by which app`()
        throws
    {
        let place = try Place()
        let portal = BusProgram(place.bus.address, "org.freedesktop.portal.Desktop") { _, call in
            try call.answer([.path("/request/1")])
        }
        let deliverer = LinkDeliverer(environment: place.environment, limit: .seconds(60), settling: .seconds(60))
        let receipt = try deliverer.deliver(.system(.call, "tel:1"))
        #expect(receipt == LinkDeliverer.Receipt(app: nil, hasMessage: false))
        withExtendedLifetime(portal) {}
    }

    @Test func `counts as opened while the unit of systemd runs`() throws {
        let place = try Place("Exec=/bin/true %u")
        let systemd = Self.systemd(place.bus.address, "active", 0, 0)
        #expect(place.open(settling: .zero) == Self.opened)
        withExtendedLifetime(systemd) {}
    }
}

@Suite(.ownThreads, .enabled(if: TestBus.isInstalled, "dbus-daemon is not installed"), .timeLimit(.minutes(3)))
struct `The findings about a bus` {
    @Test(
        arguments: [
            (
                ["persistence", "actions"], .works,
                "shows notifications with a click, and keeps them (actions, persistence)."
            ),
            (["body"], .limited, "shows notifications, which can't be clicked (body)."),
        ] as [([String], Finding.State, String)]
    )
    func `name the program that shows notifications, and what it can do`(
        capabilities: [String],
        state: Finding.State,
        text: String
    ) throws {
        let place = try Place()
        let program = BusProgram(place.bus.address, "org.freedesktop.Notifications") { _, call in
            switch call.name.split(separator: ".").last {
            // What comes after the values is not theirs.
            case "GetCapabilities": try call.answer([.strings(capabilities), .strings(["other"])])
            case "GetServerInformation": try call.answer(["Show", "Maker", "1", "1.2"].map(BusValue.string))
            default: try call.answer(nil)
            }
        }
        let findings = Examination(environment: place.environment, now: 0).busFindings
        #expect(findings.first == Finding("bus", .works, "The user's bus answers."))
        let found = findings.filter { $0.check == "notifications" }
        #expect(found.map(\.state) == [state] && found.map(\.text) == ["Show " + text])
        withExtendedLifetime(program) {}
    }
}
