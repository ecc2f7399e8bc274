// SPDX-License-Identifier: Apache-2.0
import BackgroundTagReading

/// The apps on the phone.
struct AppList: Sendable {
    private(set) var apps: [PhoneApp] = []
    /// Connected programs, by connection number.
    private(set) var clients: [Int: Client] = [:]

    /// A connected program.
    struct Client: Sendable {
        var id: Int
        /// Whether the program is an app, not a client that only uses the reader.
        var isApp: Bool
        var name: String
        var pid: Int32?
        var app: String
        /// Whether the program wants an event when tags arrive or leave.
        var watches = false
    }

    subscript(id: String) -> PhoneApp? { apps.first { $0.id == id } }

    /// Finds an app by its id or name.
    func find(_ text: String?) throws(SimulatorFailure) -> PhoneApp {
        guard let text, !text.isEmpty else { throw .invalid("Name an app: \"app\" is its id or its name.") }
        guard let app = self[text] ?? apps.first(where: { $0.name.lowercased() == text.lowercased() }) else {
            throw SimulatorFailure("no-such-app", "No app on the phone has this id or name.")
        }
        return app
    }

    mutating func update(_ id: String, _ change: (inout PhoneApp) -> Void) {
        guard let index = apps.firstIndex(where: { $0.id == id }) else { return }
        change(&apps[index])
    }

    /// Sets which apps are installed. Running apps without a description stay in the list.
    mutating func install(_ installed: [InstalledApp]) {
        for index in apps.indices { apps[index].description = nil }
        for description in installed {
            if let index = apps.firstIndex(where: { $0.id == description.id || $0.name == description.name }) {
                apps[index].description = description
            } else if apps.count < Limits.apps {
                apps.append(PhoneApp(id: description.id, name: description.name, description: description))
            }
        }
        apps.removeAll { $0.description == nil && $0.command == nil && $0.clients.isEmpty && !$0.isRunning }
    }

    /// Returns the app that a command starts. Adds the app if it is missing.
    mutating func add(command: String, name: String) throws(SimulatorFailure) -> PhoneApp {
        if let index = apps.firstIndex(where: { $0.command == command }) { return apps[index] }
        if let index = apps.firstIndex(where: { $0.command == nil && ($0.name == name || $0.programName == name) }) {
            apps[index].command = command
            return apps[index]
        }
        return try add(PhoneApp(id: freeID(name), name: name, command: command))
    }

    mutating func remove(_ id: String) { apps.removeAll { $0.id == id } }

    private mutating func add(_ app: PhoneApp) throws(SimulatorFailure) -> PhoneApp {
        guard apps.count < Limits.apps else {
            throw SimulatorFailure(
                "too-many-apps",
                "The phone has \(Limits.apps) apps already. Stop some first."
            )
        }
        apps.append(app)
        return app
    }

    private func freeID(_ name: String) -> String {
        let slug = Drawer.slug(name)
        guard self[slug] != nil else { return slug }
        var number = 2
        while self["\(slug)-\(number)"] != nil { number += 1 }
        return "\(slug)-\(number)"
    }

    // MARK: Connections

    /// Adds a program that has connected.
    ///
    /// - Parameter ancestors: the program's process and its ancestors, nearest first.
    mutating func connect(
        _ id: Int,
        isApp: Bool,
        name: String,
        pid: Int32?,
        ancestors: [Int32]
    ) throws(SimulatorFailure) -> Client {
        guard clients.count < Limits.clients else {
            throw SimulatorFailure(
                "too-many-clients",
                "\(Limits.clients) programs are connected already. End one of them, and connect again."
            )
        }
        var index = apps.firstIndex { app in app.pid.map(ancestors.contains) == true }
        if index == nil { index = apps.firstIndex { $0.name == name || $0.programName == name } }
        let app: PhoneApp
        if let index {
            app = apps[index]
        } else {
            app = try add(PhoneApp(id: freeID(name), name: name))
        }
        let client = Client(id: id, isApp: isApp, name: name, pid: pid, app: app.id)
        clients[id] = client
        update(app.id) { app in
            // A command may start a shell, but the program gives its own name.
            if app.description == nil, app.clients.isEmpty { app.name = name }
            app.clients.insert(id)
            app.isRunning = true
            app.pid = app.pid ?? pid
        }
        return client
    }

    mutating func setWatches(_ id: Int) { clients[id]?.watches = true }

    /// Removes a program whose connection has ended.
    mutating func disconnect(_ id: Int) {
        guard let client = clients.removeValue(forKey: id) else { return }
        update(client.app) { app in
            app.clients.remove(id)
            guard app.clients.isEmpty else { return }
            app.screen = nil
            // A program that the simulator started counts as running until its process ends.
            if !app.isStartedHere {
                app.isRunning = false
                app.pid = nil
            }
        }
    }

    var json: JSON { .array(apps.map(\.json)) }
}

extension PhoneApp {
    /// The last part of the app's identifier, which is often the program's name.
    fileprivate var programName: String? {
        description.map { String($0.id.split(separator: ".").last ?? "") }
    }
}
