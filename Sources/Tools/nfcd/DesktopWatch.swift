// SPDX-License-Identifier: Apache-2.0
import Dispatch
import UserBus

/// Follows the display and the screen saver by what the desktop reports on the user's bus.
final class DesktopWatch {
    private static let display = BusCall.Object(
        "org.gnome.Mutter.DisplayConfig",
        "/org/gnome/Mutter/DisplayConfig",
        "org.gnome.Mutter.DisplayConfig"
    )

    /// Whom a question goes to.
    private enum Source: Hashable {
        case display
        case saver(Int)

        static let all = [display] + ScreenSaver.all.indices.map(saver)

        var object: BusCall.Object {
            switch self {
            case .display: DesktopWatch.display
            case .saver(let index): ScreenSaver.all[index].object
            }
        }

        var question: BusCall {
            switch self {
            case .display: BusCall(object.properties, "Get", [.string(object.interface), .string("PowerSaveMode")])
            case .saver(let index): ScreenSaver.all[index].activityQuestion
            }
        }

        /// The signal of a change.
        var signal: String {
            switch self {
            case .display: object.properties.interface + ".PropertiesChanged"
            case .saver: object.interface + ".ActiveChanged"
            }
        }
    }

    /// The compositor's `PowerSaveMode`; nil where it does not report it.
    private(set) var powerSaveMode: Int?
    /// Whether the screen saver is on; nil where there is none.
    private(set) var isScreenSaverOn: Bool?
    private let bus: BusConnection
    private let onChange: () -> Void
    /// The questions that are not answered; of each source one at a time.
    private var questions: [UInt64: Source] = [:]
    /// What has changed since it was asked.
    private var changed: Set<Source> = []
    /// The screen savers that did not answer in time. One that ends without an answer stays silent until its next one answers.
    private var silent: Set<Source> = []
    private var active: [Source: Bool] = [:]

    /// The names of the screen savers that are there and do not answer.
    var silentSavers: [String] { silent.map(\.object.destination).sorted() }

    /// Begins to follow them. What is so now is known when this returns: nothing opens on a locked screen because its saver
    /// was not asked yet. A saver that does not answer in time is silent until it does.
    init(_ bus: BusConnection, onChange: @escaping () -> Void) {
        self.bus = bus
        self.onChange = onChange
        for source in Source.all {
            let name = source.object.destination
            let filter =
                source == .display
                ? "interface='\(source.object.properties.interface)',arg0='\(source.object.interface)'"
                : "interface='\(source.object.interface)',member='ActiveChanged'"
            try? bus.listen(to: "sender='\(name)',\(filter)")
            try? bus.listen(to: "sender='org.freedesktop.DBus',member='NameOwnerChanged',arg0='\(name)'")
            do throws(BusError) {
                if try bus.isThere(name) { ask(source) }
            } catch {
                fallSilent(source)
            }
        }
        let answers = (try? bus.answers(to: Set(questions.keys), within: ScreenSaver.patience)) ?? [:]
        for (cookie, message) in answers { _ = take(answer: message, to: cookie) }
        for source in questions.values { fallSilent(source) }
    }

    private func fallSilent(_ source: Source) {
        if source != .display { silent.insert(source) }
    }

    /// Has the screen savers ask for the password.
    ///
    /// - Returns: the names of those that were asked; none where the desktop has no such way.
    func promptToUnlock() -> [String] {
        ScreenSaver.all.compactMap { saver in
            let name = saver.object.destination
            return (try? bus.isThere(name)) == true && (try? bus.send(saver.prompt)) != nil ? name : nil
        }
    }

    private func ask(_ source: Source) {
        guard !questions.values.contains(source) else {
            changed.insert(source)
            return
        }
        do throws(BusError) {
            let cookie = try bus.send(source.question)
            questions[cookie] = source
            DispatchQueue.main.asyncAfter(deadline: .now() + .seconds(Int(ScreenSaver.patience.components.seconds))) {
                [weak self] in MainActor.assumeIsolated { self?.timeIsOver(for: cookie) }
            }
        } catch  where error.code == .nobody {
            // It has ended meanwhile, which the bus reports by itself.
        } catch {
            fallSilent(source)
            onChange()
        }
    }

    private func timeIsOver(for cookie: UInt64) {
        guard let source = questions[cookie] else { return }
        fallSilent(source)
        onChange()
    }

    /// - Returns: false when it answers no question of this.
    private func take(answer: ReceivedMessage, to cookie: UInt64) -> Bool {
        guard let source = questions.removeValue(forKey: cookie) else { return false }
        // By the bus's own error the one that was asked has ended, and said nothing.
        if answer.sender != BusCall.Object.daemon.destination {
            keep(answer.isError ? nil : answer.values().first, of: source)
            if !changed.contains(source) { silent.remove(source) }
        }
        if changed.remove(source) != nil { ask(source) }
        return true
    }

    /// Takes a message.
    ///
    /// - Returns: false when it has nothing to do with the display.
    func take(_ message: ReceivedMessage) -> Bool {
        if let cookie = message.answersTo {
            guard take(answer: message, to: cookie) else { return false }
            onChange()
            return true
        }
        guard message.isSignal else { return false }
        if message.name == "org.freedesktop.DBus.NameOwnerChanged" {
            let values = message.values().compactMap(\.text)
            guard message.sender == "org.freedesktop.DBus", values.count == 3,
                let source = Source.all.first(where: { $0.object.destination == values[0] })
            else {
                return false
            }
            // The one that was asked has the name no more.
            questions = questions.filter { $0.value != source }
            changed.remove(source)
            guard values[2].isEmpty else {
                ask(source)
                return true
            }
            keep(nil, of: source)
            onChange()
            return true
        }
        // What has changed is asked again: a signal may be anybody's.
        guard let source = Source.all.first(where: { $0.signal == message.name }) else { return false }
        ask(source)
        return true
    }

    private func keep(_ value: BusValue?, of source: Source) {
        switch source {
        case .display: powerSaveMode = value?.integer.map { Int($0) }
        case .saver:
            active[source] = value?.isTrue
            isScreenSaverOn = active.isEmpty ? nil : active.values.contains(true)
        }
    }
}
