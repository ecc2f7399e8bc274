// SPDX-License-Identifier: Apache-2.0
import Foundation
import PrivateStorage
import Testing
import UserBus

@testable import nfcd

/// A part of the service and a desktop that shows notifications, on one bus and on one thread. What one of them has sent is
/// there when the other one looks.
@MainActor final class DesktopStage {
    private let folder: ScratchFolder
    private let bus: Bus
    /// The desktop's connection.
    let desktop: BusConnection
    /// The service's connection.
    let connection: BusConnection
    /// The service's folder for the visible notifications.
    let store: DirectoryStore
    /// Gives the service a message.
    var take: (ReceivedMessage) -> Void = { _ in }

    /// - Parameters:
    ///   - program: what the bus starts for the desktop's name; nil for nothing.
    ///   - patience: how long the service waits for the bus.
    init(program: String? = nil, patience: Duration = .seconds(5)) throws {
        folder = try ScratchFolder()
        if let program {
            let services = folder.path("services")
            try FileManager.default.createDirectory(atPath: services, withIntermediateDirectories: false)
            let name = Notifier.object.destination
            let text = "[D-BUS Service]\nName=\(name)\nExec=\(program)\n"
            try Data(text.utf8).write(to: URL(fileURLWithPath: "\(services)/\(name).service"))
        }
        bus = try Bus(folder.path(""))
        desktop = try BusConnection(.user, address: bus.address)
        connection = try BusConnection(.user, address: bus.address, patience: patience)
        store = try DirectoryStore(folder.path("run"))
    }

    /// Stops the bus, so that it does not answer.
    func stopBus() { bus.stop() }

    /// Lets the bus go on.
    func continueBus() { bus.goOn() }

    /// Another connection to the bus.
    func another() throws -> BusConnection { try BusConnection(.user, address: bus.address) }

    /// The bus's name for the desktop.
    func desktopName() throws -> String {
        let call = BusCall(.daemon, "GetNameOwner", [.string(Notifier.object.destination)])
        return try #require(try desktop.ask(call).first?.text)
    }

    /// The desktop takes the name of the program that shows notifications.
    func open() throws { try desktop.take(Notifier.object.destination) }

    /// The desktop gives the name back.
    func close() throws {
        _ = try desktop.ask(BusCall(.daemon, "ReleaseName", [.string(Notifier.object.destination)]))
    }

    /// The bus handles what it gets in order: what both have sent has arrived when this returns.
    private func synchronize() throws {
        for side in [connection, desktop, connection] { _ = try side.ask(BusCall(.daemon, "GetId")) }
    }

    /// The calls that the desktop has got since the last time.
    func calls() throws -> [ReceivedMessage] {
        try synchronize()
        var calls: [ReceivedMessage] = []
        while let message = try desktop.receive() {
            if message.isCall { calls.append(message) }
        }
        return calls
    }

    /// The methods that the desktop was asked for since the last time, the numbers and the texts of `Notify` among them.
    func asked() throws -> [String] {
        try calls().map { call in
            let method = call.name.dropFirst(Notifier.object.interface.count + 1)
            if let values = call.arguments("susssasa{sv}i") {
                return "\(method) \(values[1].integer ?? -1) \(values[4].text ?? "")"
            }
            return call.arguments("u")?.first?.integer.map { "\(method) \($0)" } ?? String(method)
        }
    }

    /// The only call that the desktop has got since the last time.
    func call(_ method: String) throws -> ReceivedMessage {
        let calls = try calls()
        try #require(calls.map(\.name) == [Notifier.object.interface + "." + method])
        return calls[0]
    }

    /// Gives the service what the desktop and the bus have sent to it.
    func settle() throws {
        try synchronize()
        while let message = try connection.receive() { take(message) }
    }

    /// The desktop says what it can do, and the service hears it.
    func tellCapabilities(_ capabilities: [String] = ["actions"]) throws {
        try call("GetCapabilities").answer([.strings(capabilities)])
        try settle()
    }

    /// The desktop emits signals about notifications, and the service hears them.
    func emit(_ signals: (name: String, values: [BusValue])...) throws {
        for signal in signals { try desktop.emit(Notifier.object, signal.name, signal.values) }
        try settle()
    }
}
