// SPDX-License-Identifier: Apache-2.0
import BackgroundTagReading
import Glibc
import LinuxSupport

/// Tracks the state of the display and of the screen saver, which the desktop reports on the user's bus.
@MainActor package final class DesktopWatch {
    private nonisolated static let display = BusCall.Object(
        "org.gnome.Mutter.DisplayConfig",
        "/org/gnome/Mutter/DisplayConfig",
        "org.gnome.Mutter.DisplayConfig"
    )

    private enum Source: Hashable, Sendable {
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
            case .display: BusCall(property: "PowerSaveMode", of: object)
            case .saver(let index): ScreenSaver.all[index].activityQuestion
            }
        }

        var signal: String {
            switch self {
            case .display: object.properties.interface + ".PropertiesChanged"
            case .saver: object.interface + ".ActiveChanged"
            }
        }
    }

    /// The compositor's `PowerSaveMode`; nil if the compositor does not report it.
    package private(set) var powerSaveMode: Int?
    /// Whether the screen saver is on; nil without a screen saver.
    package private(set) var isScreenSaverOn: Bool?
    private let bus: BusConnection
    private let patience: Duration
    private let pause: Duration
    private let onChange: () -> Void
    /// The questions without an answer so far. Each source has at most one.
    private var questions: [UInt64: Source] = [:]
    private var changedSources: Set<Source> = []
    /// The screen savers that did not answer in time. A screen saver that ends without an answer is kept here until its
    /// next instance answers.
    private var silentSources: Set<Source> = []
    private var saverStates: [Source: Bool] = [:]
    /// The sources that could not be asked, because the bus did not answer. They are asked again later.
    private var unaskedSources: Set<Source> = []

    /// The names of the running screen savers that do not answer.
    package var silentSavers: [String] { silentSources.map(\.object.destination).sorted() }

    /// Starts tracking. When this returns, the current state is known, so that nothing opens on a locked screen before
    /// its screen saver was asked. A screen saver that does not answer in time counts as silent until it answers.
    ///
    /// - Parameters:
    ///   - bus: the user's bus. Pass each message that it receives to ``take(_:)``.
    ///   - pause: how long to wait before asking again, after the bus did not answer.
    package init(
        _ bus: BusConnection,
        patience: Duration = ScreenSaver.patience,
        pause: Duration = .seconds(10),
        onChange: @escaping () -> Void
    ) {
        self.bus = bus
        self.patience = patience
        self.pause = pause
        self.onChange = onChange
        for source in Source.all { follow(source) }
        let answers = (try? bus.answers(to: Set(questions.keys), within: patience)) ?? [:]
        for (cookie, answer) in answers {
            if let source = questions.removeValue(forKey: cookie) { take(answer, of: source) }
        }
        for source in questions.values { markSilent(source) }
    }

    private func follow(_ source: Source) {
        let name = source.object.destination
        let filter =
            source == .display
            ? "interface='\(source.object.properties.interface)',arg0='\(source.object.interface)'"
            : "interface='\(source.object.interface)',member='ActiveChanged'"
        do throws(BusError) {
            for rule in [
                "sender='\(name)',\(filter)", "sender='org.freedesktop.DBus',member='NameOwnerChanged',arg0='\(name)'",
            ] { try bus.listen(to: rule) }
            if try bus.hasOwner(name) { ask(source) } else { silentSources.remove(source) }
        } catch {
            markSilent(source) { $0.follow(source) }
        }
    }

    /// Counts a source as silent, and tries again later, because the request failed and the bus reports nothing.
    private func markSilent(
        _ source: Source,
        tryingAgain work: @escaping @MainActor @Sendable (DesktopWatch) -> Void
    ) {
        markSilent(source)
        guard unaskedSources.insert(source).inserted else { return }
        runOnMain(after: pause) { [weak self] in
            guard let self else { return }
            defer { self.onChange() }
            self.unaskedSources.remove(source)
            work(self)
        }
    }

    private func markSilent(_ source: Source) {
        if source != .display { silentSources.insert(source) }
    }

    /// Asks the screen savers to prompt for the password. Returns the names of the screen savers that were asked.
    package func promptToUnlock() -> [String] {
        ScreenSaver.all.compactMap { saver in
            (try? bus.send(saver.prompt)) != nil ? saver.object.destination : nil
        }
    }

    private func ask(_ source: Source) {
        guard !questions.values.contains(source) else {
            changedSources.insert(source)
            return
        }
        do throws(BusError) {
            let cookie = try bus.send(source.question)
            questions[cookie] = source
            runOnMain(after: patience) { [weak self] in self?.timeIsOver(for: cookie) }
        } catch  where error.code == .nobody {
            // The source has ended. The bus reports that separately.
        } catch {
            markSilent(source) { $0.ask(source) }
            onChange()
        }
    }

    private func timeIsOver(for cookie: UInt64) {
        guard let source = questions[cookie] else { return }
        markSilent(source)
        onChange()
    }

    private func take(_ answer: ReceivedMessage, of source: Source) {
        // An error from the bus itself means that the source has ended without an answer.
        if answer.sender != BusCall.Object.daemon.destination {
            keep(answer.isError ? nil : answer.values().first, of: source)
            if !changedSources.contains(source) { silentSources.remove(source) }
        }
        if changedSources.remove(source) != nil { ask(source) }
    }

    /// Handles an answer or a signal about the display or a screen saver. Ignores other messages.
    package func take(_ message: ReceivedMessage) {
        if let cookie = message.answersTo {
            guard let source = questions.removeValue(forKey: cookie) else { return }
            take(message, of: source)
            return onChange()
        }
        if let change = OwnerChange(message) {
            for source in Source.all where source.object.destination == change.name {
                changeOwner(of: source, hasOwner: !change.new.isEmpty)
            }
        } else {
            // Asks for the new state, because any program may send such a signal.
            for source in Source.all where source.signal == message.name { ask(source) }
        }
    }

    private func changeOwner(of source: Source, hasOwner: Bool) {
        // The program that was asked no longer owns the name.
        questions = questions.filter { $0.value != source }
        changedSources.remove(source)
        guard !hasOwner else { return ask(source) }
        keep(nil, of: source)
        onChange()
    }

    private func keep(_ value: BusValue?, of source: Source) {
        switch source {
        case .display: powerSaveMode = value?.integer.map { Int($0) }
        case .saver:
            saverStates[source] = value?.isTrue
            isScreenSaverOn = saverStates.isEmpty ? nil : saverStates.values.contains(true)
        }
    }
}

/// A program on the user's bus that covers and locks the screen. Each desktop has its own, with the same methods.
package struct ScreenSaver: Sendable {
    package let object: BusCall.Object

    package static let all = [
        ScreenSaver("org.gnome.ScreenSaver", "/org/gnome/ScreenSaver"),
        ScreenSaver("org.freedesktop.ScreenSaver", "/org/freedesktop/ScreenSaver"),
        ScreenSaver("org.xfce.ScreenSaver", "/org/xfce/ScreenSaver"),
        ScreenSaver("org.mate.ScreenSaver", "/org/mate/ScreenSaver"),
        ScreenSaver("org.cinnamon.ScreenSaver", "/org/cinnamon/ScreenSaver"),
    ]

    package static let patience = Duration.seconds(2)

    private init(_ name: String, _ path: String) { object = BusCall.Object(name, path, name) }

    package var activityQuestion: BusCall { BusCall(object, "GetActive") }

    /// The call that makes the screen saver prompt for the password, if the screen is locked. It does not unlock the
    /// screen. `SetActive` would unlock it on some desktops, even without a password.
    package var prompt: BusCall { BusCall(object, "SimulateUserActivity") }
}

extension BusConnection {
    /// Asks all screen savers on the user's bus at the same time. Returns whether one of them covers the screen (nil
    /// when none answers), and the names of those that run but do not answer.
    package func screenSavers() throws(BusError) -> (isOn: Bool?, silent: [String]) {
        var questions: [UInt64: String] = [:]
        for saver in ScreenSaver.all {
            let name = saver.object.destination
            if try hasOwner(name), let cookie = try? send(saver.activityQuestion) { questions[cookie] = name }
        }
        let answers = try answers(to: Set(questions.keys), within: ScreenSaver.patience)
        let values = answers.values.filter { !$0.isError }.compactMap { $0.values().first?.isTrue }
        let silent = questions.filter { answers[$0.key] == nil }.values.sorted()
        return (values.isEmpty ? nil : values.contains(true), silent)
    }
}

/// Whether the user's screen is locked, from a single query.
package enum ScreenLock: Sendable, Hashable {
    case unlocked
    case locked
    /// A program that should know does not answer, so the screen counts as locked. The reason is a sentence for people.
    case unknown(reason: String)

    /// Asks logind and the screen savers. If all are missing, the screen counts as unlocked.
    package static func ask() -> ScreenLock {
        var conditions = SystemConditions()
        let login = LoginReport.ask(of: geteuid(), own: nil)
        conditions.session = login.session
        if conditions.isLocked { return .locked }
        do throws(BusError) {
            let savers = try BusConnection(.user).screenSavers()
            conditions.isScreenSaverOn = savers.isOn
            if conditions.isLocked { return .locked }
            let silent = (login.isSilent ? ["logind"] : []) + savers.silent
            guard !silent.isEmpty else { return .unlocked }
            return .unknown(reason: "\(silent.joined(separator: ", ")) does not answer, so the screen may be locked.")
        } catch  where error.code == .silentBus {
            return .unknown(reason: error.reason)
        } catch {
            return login.isSilent ? .unknown(reason: "logind does not answer, so the screen may be locked.") : .unlocked
        }
    }
}
