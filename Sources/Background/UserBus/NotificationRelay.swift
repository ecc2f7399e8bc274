// SPDX-License-Identifier: Apache-2.0

/// A program that shows notifications (Desktop Notifications Specification 1.2), for a bus without one. It passes each
/// notification to a desktop on another bus, or only reports it, so that the caller can show it in another way.
///
/// Only one thread may use it at a time.
package final class NotificationRelay {
    package struct Notification: Sendable, Hashable {
        package var number: UInt32
        package var title: String
        /// The text, with markup if the desktop supports it.
        package var body: String
        package var actions: [String]
    }

    package enum Event: Sendable, Hashable {
        case shown(Notification)
        case activated(UInt32)
        case closed(UInt32, isDismissed: Bool)
    }

    private static let object = BusCall.Object.notifications
    private static let name = object.destination
    /// The reasons in `NotificationClosed`: closed by the user or by a call.
    private enum Reason {
        static let dismissed: UInt32 = 2
        static let closed: UInt32 = 3
    }

    private static let limit = Duration.seconds(5)

    private let bus: BusConnection
    private let desktop: BusConnection?
    /// The unique name of the desktop's connection. Signals from other connections are ignored.
    private let owner: String
    private let capabilities: [String]
    private var notifications: [UInt32: Notification] = [:]
    private var lastNumber: UInt32 = 0
    private var events: [Event] = []

    /// Claims the name of the program that shows notifications on a bus.
    ///
    /// - Parameter desktop: the bus of a desktop that shows notifications. The bus starts that program if it can. Nil
    ///   to only report notifications.
    /// - Throws: ``BusError``, with `nobody`, `noAnswer` or `refused` when the desktop lacks such a program.
    package init(on bus: BusConnection, desktop: BusConnection? = nil) throws(BusError) {
        self.bus = bus
        self.desktop = desktop
        if let desktop {
            let answer = try desktop.ask(BusCall(Self.object, "GetCapabilities"), within: Self.limit).first?.values
            capabilities = (answer ?? []).compactMap(\.text)
            owner = try desktop.owner(of: Self.name)
            try desktop.listen(to: "sender='\(Self.name)',interface='\(Self.object.interface)'")
        } else {
            capabilities = ["body", "actions", "persistence"]
            owner = ""
        }
        try bus.take(Self.name)
    }

    /// The descriptors that become readable when messages may have arrived.
    package var descriptors: [CInt] { [bus.descriptor] + (desktop.map { [$0.descriptor] } ?? []) }

    package func process() throws(BusError) -> [Event] {
        while let message = try bus.receive() {
            guard message.isCall else { continue }
            do throws(BusError) {
                try message.answer(try answer(message))
            } catch {
                try message.refuse("Failed", error.reason)
            }
        }
        while let message = try desktop?.receive() { try relay(message) }
        defer { events = [] }
        return events
    }

    package func click(_ number: UInt32) throws(BusError) {
        guard let notification = notifications[number] else { return }
        let names = stride(from: 0, to: notification.actions.count, by: 2).map { notification.actions[$0] }
        guard let action = names.contains("default") ? "default" : names.first else { return }
        try emit("ActionInvoked", [.uint32(number), .string(action)], .activated(number))
        try closeOnDesktop(number)
        try close(number, Reason.dismissed)
    }

    package func dismiss(_ number: UInt32) throws(BusError) {
        guard notifications[number] != nil else { return }
        try closeOnDesktop(number)
        try close(number, Reason.dismissed)
    }

    package func closeAll() {
        for number in notifications.keys { try? closeOnDesktop(number) }
        notifications = [:]
    }

    private func answer(_ message: ReceivedMessage) throws(BusError) -> [BusValue]? {
        func arguments(_ signature: String) throws(BusError) -> [BusValue] {
            guard let values = message.arguments(signature) else {
                throw BusError(.badMessage, "\(message.name) has unexpected values.")
            }
            return values
        }
        switch message.name {
        case Self.name + ".GetCapabilities":
            _ = try arguments("")
            return [.strings(capabilities)]
        case Self.name + ".GetServerInformation":
            _ = try arguments("")
            return [.string("nfc"), .string("OpenCoreNFC"), .string("1"), .string("1.2")]
        case Self.name + ".Notify": return [.uint32(try show(try arguments("susssasa{sv}i")))]
        case Self.name + ".CloseNotification":
            let number = try arguments("u").first?.integer.flatMap { UInt32(exactly: $0) }
            if let number, notifications[number] != nil {
                try closeOnDesktop(number)
                try close(number, Reason.closed)
            }
            return []
        default: return nil
        }
    }

    private func show(_ values: [BusValue]) throws(BusError) -> UInt32 {
        // The signature guarantees that there are eight values.
        guard let replacedNumber = values[1].integer.flatMap({ UInt32(exactly: $0) }),
            let title = values[3].text, let body = values[4].text, let actions = values[5].values
        else { throw BusError(.badMessage, "Notify has unexpected values.") }
        var number = replacedNumber
        if let desktop {
            let call = BusCall(Self.object, "Notify", values.compactMap(\.toSend))
            let answer = try desktop.ask(call, within: Self.limit)
            guard let newNumber = answer.first?.integer.flatMap({ UInt32(exactly: $0) }) else {
                throw BusError(.badMessage, "The desktop answers with unexpected values.")
            }
            number = newNumber
        } else if number == 0 {
            // Callers may have used any number for a notification to replace.
            repeat { lastNumber &+= 1 } while lastNumber == 0 || notifications[lastNumber] != nil
            number = lastNumber
        }
        let texts = actions.compactMap(\.text)
        let notification = Notification(number: number, title: title, body: body, actions: texts)
        notifications[number] = notification
        events.append(.shown(notification))
        return number
    }

    private func relay(_ message: ReceivedMessage) throws(BusError) {
        guard message.sender == owner else { return }
        let values = message.values()
        guard let number = values.first?.integer.flatMap({ UInt32(exactly: $0) }), notifications[number] != nil else {
            return
        }
        switch message.name {
        case Self.name + ".ActivationToken": try emit("ActivationToken", values)
        case Self.name + ".ActionInvoked": try emit("ActionInvoked", values, .activated(number))
        case Self.name + ".NotificationClosed":
            try close(number, values.dropFirst().first?.integer.flatMap { UInt32(exactly: $0) } ?? Reason.closed)
        default: return
        }
    }

    private func close(_ number: UInt32, _ reason: UInt32) throws(BusError) {
        notifications[number] = nil
        let event = Event.closed(number, isDismissed: reason == Reason.dismissed)
        try emit("NotificationClosed", [.uint32(number), .uint32(reason)], event)
    }

    private func closeOnDesktop(_ number: UInt32) throws(BusError) {
        guard let desktop else { return }
        _ = try desktop.send(BusCall(Self.object, "CloseNotification", [.uint32(number)]))
    }

    private func emit(_ signal: String, _ values: [BusValue], _ event: Event? = nil) throws(BusError) {
        try bus.emit(Self.object, signal, values)
        if let event { events.append(event) }
    }
}

extension BusValue {
    /// The value in a form that can be sent; nil for values such as pictures.
    fileprivate var toSend: BusValue? {
        switch self {
        case .list(let values):
            let texts = values.compactMap(\.text)
            return texts.count == values.count ? .strings(texts) : nil
        case .number: return nil
        case .properties(let members): return .properties(members.compactMapValues(\.toSend))
        default: return self
        }
    }
}
