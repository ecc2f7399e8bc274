// SPDX-License-Identifier: Apache-2.0
import BackgroundTagReading
import UserBus

@testable import nfcd

/// The service's notifier and a desktop.
@MainActor final class NotifierScene {
    let stage: DesktopStage
    private(set) var notifier: Notifier?
    /// What the notifier has reported since the last time.
    private var events: [String] = []

    /// - Parameters:
    ///   - isOpen: whether the desktop shows notifications when the notifier begins.
    ///   - program: what the bus starts for the desktop's name; nil for nothing.
    ///   - startingTime: how long the notifier waits for it.
    ///   - patience: how long the notifier waits for the bus.
    ///   - preparing: called before the notifier begins.
    init(
        isOpen: Bool = true,
        program: String? = nil,
        startingTime: Duration = .seconds(25),
        patience: Duration = .seconds(5),
        preparing: (DesktopStage) throws -> Void = { _ in }
    ) throws {
        stage = try DesktopStage(program: program, patience: patience)
        if isOpen { try stage.open() }
        try preparing(stage)
        let notifier = try Notifier(stage.connection, stage.store, startingTime: startingTime)
        self.notifier = notifier
        notifier.onEvent = { [weak self] event in self?.events.append(Self.text(event)) }
        stage.take = { [weak notifier] message in notifier?.take(message) }
    }

    /// A scene whose desktop has said what it can do.
    static func begun(_ capabilities: [String] = ["actions"]) throws -> NotifierScene {
        let scene = try NotifierScene()
        try scene.stage.tellCapabilities(capabilities)
        _ = scene.reported()
        return scene
    }

    nonisolated static func id(_ number: UInt32) -> InboxEntry.ID { InboxEntry.ID(received: 1, number: number) }

    nonisolated static func ids(_ numbers: UInt32...) -> Set<InboxEntry.ID> { Set(numbers.map { id($0) }) }

    func show(_ number: UInt32, _ text: String = "text") {
        notifier?.show(.entry(Self.id(number)), of: [Self.id(number)], .notOpened(reason: text))
    }

    func withdraw(_ number: UInt32) { notifier?.withdraw(.entry(Self.id(number))) }

    /// Shows a notification, which gets a number from the desktop.
    func show(_ number: UInt32, as shown: UInt32) throws {
        show(number)
        try stage.call("Notify").answer([.uint32(shown)])
        try stage.settle()
        _ = reported()
    }

    /// What the notifier has reported since the last time.
    func reported() -> [String] {
        defer { events = [] }
        return events
    }

    private static func text(_ event: Notifier.Event) -> String {
        switch event {
        case .shown(let topic): "shown \(text(topic.subject)), of \(topic.entries.count)"
        case .notShown(let subject, let reason): "not shown \(text(subject)): \(reason)"
        case .activated(let subject, let token): "clicked \(text(subject)): \(token ?? "no token")"
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
}
