// SPDX-License-Identifier: Apache-2.0

/// A program on the user's bus that covers and locks the screen. Each desktop has its own one, with the same methods.
package struct ScreenSaver: Sendable {
    /// Its object on the bus.
    package let object: BusCall.Object

    /// The screen savers of GNOME, KDE and others, Xfce, MATE and Cinnamon.
    package static let all = [
        ScreenSaver("org.gnome.ScreenSaver", "/org/gnome/ScreenSaver"),
        ScreenSaver("org.freedesktop.ScreenSaver", "/org/freedesktop/ScreenSaver"),
        ScreenSaver("org.xfce.ScreenSaver", "/org/xfce/ScreenSaver"),
        ScreenSaver("org.mate.ScreenSaver", "/org/mate/ScreenSaver"),
        ScreenSaver("org.cinnamon.ScreenSaver", "/org/cinnamon/ScreenSaver"),
    ]

    /// How long a screen saver may take to answer before it counts as silent.
    package static let patience = Duration.seconds(2)

    private init(_ name: String, _ path: String) { object = BusCall.Object(name, path, name) }

    /// The call that asks whether it covers the screen.
    package var activityQuestion: BusCall { BusCall(object, "GetActive") }

    /// The call that makes it ask for the password if the screen is locked. It does not unlock: `SetActive` would, on
    /// some desktops even without a password.
    package var prompt: BusCall { BusCall(object, "SimulateUserActivity") }
}

extension BusConnection {
    /// Returns whether any program owns a name on the bus. This does not start the program.
    ///
    /// - Throws: ``BusError``; with `silentBus` when the bus does not answer.
    package func isThere(_ name: String) throws(BusError) -> Bool {
        try ask(BusCall(.daemon, "NameHasOwner", [.string(name)])).first?.isTrue ?? false
    }

    /// Asks all screen savers on the user's bus at the same time whether one of them covers the screen.
    ///
    /// - Returns: whether one does, or nil when none answers; and the names of those that are there but do not answer.
    /// - Throws: ``BusError``; with `silentBus` when the bus does not answer.
    package func screenSavers() throws(BusError) -> (isOn: Bool?, silent: [String]) {
        var questions: [UInt64: String] = [:]
        for saver in ScreenSaver.all {
            let name = saver.object.destination
            if try isThere(name), let cookie = try? send(saver.activityQuestion) { questions[cookie] = name }
        }
        let answers = try answers(to: Set(questions.keys), within: ScreenSaver.patience)
        let values = answers.values.filter { !$0.isError }.compactMap { $0.values().first?.isTrue }
        let silent = questions.filter { answers[$0.key] == nil }.values.sorted()
        return (values.isEmpty ? nil : values.contains(true), silent)
    }
}
