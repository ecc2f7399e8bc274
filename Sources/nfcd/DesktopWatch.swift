// SPDX-License-Identifier: Apache-2.0
import UserBus

/// Follows the display and the screen saver by what the desktop tells on the user's bus.
final class DesktopWatch {
    private static let display = BusCall.Object(
        "org.gnome.Mutter.DisplayConfig",
        "/org/gnome/Mutter/DisplayConfig",
        "org.gnome.Mutter.DisplayConfig"
    )
    private static let savers = [
        BusCall.Object("org.gnome.ScreenSaver", "/org/gnome/ScreenSaver", "org.gnome.ScreenSaver"),
        BusCall.Object("org.freedesktop.ScreenSaver", "/org/freedesktop/ScreenSaver", "org.freedesktop.ScreenSaver"),
    ]

    /// The compositor's `PowerSaveMode`; nil where it does not tell.
    private(set) var powerSaveMode: Int?
    /// Whether the screen saver is on; nil where there is none.
    private(set) var isScreenSaverOn: Bool?
    private let bus: BusConnection
    private let onChange: () -> Void
    private var questions: [UInt64: Question] = [:]
    private var active: [String: Bool] = [:]

    private enum Question {
        case power
        case saver(String)
    }

    init(_ bus: BusConnection, onChange: @escaping () -> Void) {
        self.bus = bus
        self.onChange = onChange
        let properties = Self.display.properties.interface
        listen(Self.display.destination, "interface='\(properties)',arg0='\(Self.display.interface)'")
        for saver in Self.savers { listen(saver.destination, "interface='\(saver.interface)',member='ActiveChanged'") }
        for object in [Self.display] + Self.savers where isThere(object.destination) { ask(object) }
    }

    private func listen(_ name: String, _ rule: String) {
        try? bus.listen(to: "sender='\(name)',\(rule)")
        try? bus.listen(to: "sender='org.freedesktop.DBus',member='NameOwnerChanged',arg0='\(name)'")
    }

    /// Nothing is started only to be asked.
    private func isThere(_ name: String) -> Bool {
        (try? bus.ask(BusCall(.daemon, "NameHasOwner", [.string(name)])))?.first?.isTrue ?? false
    }

    private func ask(_ object: BusCall.Object) {
        let isDisplay = object.destination == Self.display.destination
        let call =
            isDisplay
            ? BusCall(object.properties, "Get", [.string(object.interface), .string("PowerSaveMode")])
            : BusCall(object, "GetActive")
        guard let cookie = try? bus.send(call) else { return }
        questions[cookie] = isDisplay ? .power : .saver(object.destination)
    }

    /// Takes a message.
    ///
    /// - Returns: false when it has nothing to do with the display.
    func take(_ message: ReceivedMessage) -> Bool {
        if let cookie = message.answersTo {
            guard let question = questions.removeValue(forKey: cookie) else { return false }
            let value = message.isError ? nil : message.values().first
            switch question {
            case .power: powerSaveMode = value?.integer.map { Int($0) }
            case .saver(let name): active[name] = value?.isTrue
            }
            update()
            return true
        }
        guard message.isSignal else { return false }
        if message.name == "org.freedesktop.DBus.NameOwnerChanged" {
            let values = message.values().compactMap(\.text)
            guard message.sender == "org.freedesktop.DBus", values.count == 3,
                let object = ([Self.display] + Self.savers).first(where: { $0.destination == values[0] })
            else {
                return false
            }
            if values[2].isEmpty { forget(object.destination) } else { ask(object) }
            return true
        }
        // What has changed is asked anew: a signal may be anybody's.
        if let saver = Self.savers.first(where: { message.name == $0.interface + ".ActiveChanged" }) {
            ask(saver)
            return true
        }
        guard message.name == Self.display.properties.interface + ".PropertiesChanged" else { return false }
        ask(Self.display)
        return true
    }

    private func forget(_ name: String) {
        if name == Self.display.destination { powerSaveMode = nil } else { active[name] = nil }
        update()
    }

    private func update() {
        isScreenSaverOn = active.isEmpty ? nil : active.values.contains(true)
        onChange()
    }
}
