// SPDX-License-Identifier: Apache-2.0

/// A program that covers and locks the screen, on the user's bus. Each desktop has its own, with the same methods.
public struct ScreenSaver: Sendable {
    /// Its object.
    public let object: BusCall.Object

    /// Those of GNOME, KDE and others, Xfce, MATE and Cinnamon.
    public static let all = [
        ScreenSaver("org.gnome.ScreenSaver", "/org/gnome/ScreenSaver"),
        ScreenSaver("org.freedesktop.ScreenSaver", "/org/freedesktop/ScreenSaver"),
        ScreenSaver("org.xfce.ScreenSaver", "/org/xfce/ScreenSaver"),
        ScreenSaver("org.mate.ScreenSaver", "/org/mate/ScreenSaver"),
        ScreenSaver("org.cinnamon.ScreenSaver", "/org/cinnamon/ScreenSaver"),
    ]

    /// How long one may take to answer before it counts as silent.
    public static let patience = Duration.seconds(2)

    private init(_ name: String, _ path: String) { object = BusCall.Object(name, path, name) }

    /// Asks whether it covers the screen.
    public var activityQuestion: BusCall { BusCall(object, "GetActive") }

    /// Has it ask for the password where the screen is locked. It unlocks nothing: that is what `SetActive` does, on some
    /// desktops without any password.
    public var prompt: BusCall { BusCall(object, "SimulateUserActivity") }
}

extension BusConnection {
    /// Whether somebody has a name on the bus. Nothing is started only to be asked.
    ///
    /// - Throws: ``BusError``; of code `silentBus` when the bus does not answer.
    public func isThere(_ name: String) throws(BusError) -> Bool {
        try ask(BusCall(.daemon, "NameHasOwner", [.string(name)])).first?.isTrue ?? false
    }

    /// Asks the screen savers of the user's bus whether one of them covers the screen, all at a time.
    ///
    /// - Returns: whether one does, nil where none says so; and the names of those that are there and do not answer.
    /// - Throws: ``BusError``; of code `silentBus` when the bus does not answer.
    public func screenSavers() throws(BusError) -> (isOn: Bool?, silent: [String]) {
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
