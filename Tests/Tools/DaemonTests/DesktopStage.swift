// SPDX-License-Identifier: Apache-2.0
import BackgroundTagReading
import LinuxSupport
import ProgramTesting
import Testing
import UserBus

@testable import nfcd  // the program has no public interface

extension InboxEntry.ID {
    /// The identifier of a test's entry.
    static func test(_ number: UInt32) -> Self { InboxEntry.ID(received: 1, number: number) }
}

/// A part of the service and a desktop that shows notifications, on one bus and on one thread. What one has sent has
/// arrived when the other looks.
@MainActor final class DesktopStage {
    private let folder: TestFolder
    let bus: SessionBus
    let desktop: BusConnection
    /// The service's connection.
    let connection: BusConnection
    /// The service's folder for the visible notifications.
    let store: PrivateFolder
    /// Gives the service a message.
    var take: (ReceivedMessage) -> Void = { _ in }

    /// - Parameters:
    ///   - program: what the bus starts for the desktop's name; nil for nothing.
    ///   - patience: how long the service waits for the bus.
    init(program: String? = nil, patience: Duration = .seconds(5)) throws {
        folder = try TestFolder()
        bus = try SessionBus()
        if let program { try bus.install(Notifier.object.destination, program: program) }
        desktop = try BusConnection(.user, address: bus.address)
        connection = try BusConnection(.user, address: bus.address, patience: patience)
        store = try PrivateFolder(store: folder.path("run"))
    }

    /// The desktop takes the name of the program that shows notifications.
    func open() throws { try desktop.take(Notifier.object.destination) }

    /// The desktop gives the name back.
    func close() throws { _ = try desktop.ask(BusCall(.daemon, "ReleaseName", [.string(Notifier.object.destination)])) }

    /// Waits until what both sides have sent has arrived: the bus handles everything in order.
    private func synchronize() throws {
        for side in [connection, desktop, connection] { _ = try side.ask(BusCall(.daemon, "GetId")) }
    }

    /// The calls that the desktop has got since the last time.
    func calls() throws -> [ReceivedMessage] {
        try synchronize()
        var calls: [ReceivedMessage] = []
        while let message = try desktop.receive() { if message.isCall { calls.append(message) } }
        return calls
    }

    /// Gives the service what the desktop and the bus have sent to it.
    func settle() throws {
        try synchronize()
        while let message = try connection.receive() { take(message) }
    }

    /// A call in words: `Notify 41 text`, `CloseNotification 41`.
    static func text(_ call: ReceivedMessage) -> String {
        let method = String(call.name.dropFirst(Notifier.object.interface.count + 1))
        if let values = call.arguments("susssasa{sv}i") {
            return "\(method) \(values[1].integer ?? -1) \(values[4].text ?? "")"
        }
        return call.arguments("u")?.first?.integer.map { "\(method) \($0)" } ?? method
    }
}

/// The service's notifier and a desktop, played by a script.
///
/// Each line of a script is something that happens, followed by what results from it: `<` is a call that the desktop gets,
/// `=` an event that the notifier reports. The transcript of what really results is compared with the whole script.
@MainActor final class NotifierScript {
    let stage: DesktopStage
    private(set) var notifier: Notifier
    private var events: [String] = []
    private var calls: [ReceivedMessage] = []

    /// - Parameters:
    ///   - isOpen: whether the desktop runs when the notifier begins.
    ///   - capabilities: what the desktop says that it can do, before the script; nil to leave that to the script.
    ///   - program: what the bus starts for the desktop's name; nil for nothing.
    ///   - startingTime: how long the notifier waits for it.
    ///   - patience: how long the notifier waits for the bus.
    ///   - preparing: called before the notifier begins.
    init(
        isOpen: Bool = true,
        capabilities: String? = "actions",
        program: String? = nil,
        startingTime: Duration = .seconds(25),
        patience: Duration = .seconds(5),
        preparing: (DesktopStage) throws -> Void = { _ in }
    ) throws {
        stage = try DesktopStage(program: program, patience: patience)
        if isOpen { try stage.open() }
        try preparing(stage)
        notifier = try Notifier(stage.connection, stage.store, startingTime: startingTime)
        notifier.onEvent = { [weak self] event in self?.events.append(Self.text(event)) }
        stage.take = { [weak notifier] message in notifier?.take(message) }
        guard isOpen, let capabilities else { return }
        try play("look | < GetCapabilities\ncan \(capabilities) | = ready")
    }

    /// Plays a script, and compares it with what happens.
    func play(_ script: String, sourceLocation: SourceLocation = #_sourceLocation) throws {
        var transcript: [String] = []
        for line in script.split(separator: "\n") {
            let action = line.split(separator: " | ", maxSplits: 1)[0]
            try perform(action.split(separator: " ").map(String.init))
            let calls = try stage.calls()
            try stage.settle()
            // What the notifier sends because of what it has just got comes later.
            let all = calls + (try stage.calls())
            self.calls += all
            let results = all.map { "< \(DesktopStage.text($0))" } + events.map { "= \($0)" }
            transcript.append(([String(action)] + results).joined(separator: " | "))
            events = []
        }
        #expect(transcript.joined(separator: "\n") == script, sourceLocation: sourceLocation)
    }

    /// The last call that the desktop got.
    var last: ReceivedMessage? { calls.last }

    private func perform(_ words: [String]) throws {
        let number = words.count > 1 ? UInt32(words[1]) ?? 0 : 0
        switch words[0] {
        // The service.
        case "show":
            let text = words.count > 2 ? words[2] : "text"
            notifier.show(.entry(.test(number)), of: [.test(number)], .notOpened(reason: text))
        case "withdraw": notifier.withdraw(words[1] == "summary" ? .summary : .entry(.test(number)))
        // The desktop: it answers the oldest call, and emits signals.
        case "can": try calls.removeFirst().answer([.strings(Array(words[1...]))])
        case "number": try calls.removeFirst().answer([.uint32(number)])
        case "answer": try calls.removeFirst().answer(words.count > 1 ? [.string(words[1])] : [])
        case "refuse": try calls.removeFirst().refuse("Failed", words.dropFirst().joined(separator: " "))
        case "forget": calls.removeFirst()
        case "open": try stage.open()
        case "close": try stage.close()
        case "click":
            let action = words.count > 2 ? words[2] : "default"
            try stage.desktop.emit(Notifier.object, "ActionInvoked", [.uint32(number), .string(action)])
        case "token": try stage.desktop.emit(Notifier.object, "ActivationToken", [.uint32(number), .string(words[2])])
        case "closed":
            let reason = UInt32(words[2]) ?? 0
            try stage.desktop.emit(Notifier.object, "NotificationClosed", [.uint32(number), .uint32(reason)])
        default: #expect(words == ["look"])
        }
    }

    private static func text(_ event: Notifier.Event) -> String {
        switch event {
        case .shown(let topic): "shown \(text(topic.subject))"
        case .notShown(let subject, let reason): "not shown \(text(subject)): \(reason)"
        case .activated(let subject, let token): "clicked \(text(subject))\(token.map { ", token \($0)" } ?? "")"
        case .closed(let subject, let isDismissed): "\(isDismissed ? "dismissed" : "closed") \(text(subject))"
        case .gone: "gone"
        case .ready: "ready"
        }
    }

    private static func text(_ subject: NotificationSubject) -> String {
        switch subject {
        case .entry(let id): "\(id.number)"
        case .summary: "summary"
        }
    }

    /// Waits for the next event, which comes by itself.
    func report() async throws -> String? {
        for _ in 0..<12_000 {
            if !events.isEmpty { return events.removeFirst() }
            try await Task.sleep(for: .milliseconds(5))
        }
        return nil
    }
}
