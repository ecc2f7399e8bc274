// SPDX-License-Identifier: Apache-2.0
import BackgroundTagReading

/// Connected programs: their turns, sheets, events and screens.
extension SimulatorState {
    // MARK: Connections

    /// Handles a program's first line.
    mutating func connect(_ hello: JSON, pid: Int32?, ancestors: [Int32]) throws(SimulatorFailure) -> AppList.Client {
        guard hello["hello"]?.int == 1 else {
            throw SimulatorFailure(
                "unknown-version",
                "The first line must be {\"hello\":1,\"client\":\"app\",\"name\":…}; this simulator has version 1."
            )
        }
        let isApp: Bool
        switch hello["client"]?.string {
        case "app": isApp = true
        case "reader": isApp = false
        default: throw .invalid("\"client\" must be \"app\" or \"reader\".")
        }
        let name = DisplayText.plain(hello["name"]?.string ?? "", limit: 60)
        let client = try apps.connect(
            nextClient(),
            isApp: isApp,
            name: name.isEmpty ? "Program" : name,
            pid: pid ?? hello["pid"]?.int.flatMap { Int32(exactly: $0) },
            ancestors: ancestors
        )
        touch(.apps)
        return client
    }

    /// Sends the first events to a program that has just connected.
    mutating func greet(_ client: AppList.Client) {
        effects.append(.send(client.id, switches.forApps))
        guard client.isApp, let link = waitingLinks.removeValue(forKey: client.app) else { return }
        effects.append(.send(client.id, link))
    }

    /// Handles the end of a program's connection, and releases everything that the program used.
    mutating func disconnect(_ id: Int) {
        release(id)
        if phone.sheet?.client == id {
            phone.sheet = nil
            touch(.phone)
        }
        for index in sessions.indices where sessions[index].client == id && sessions[index].ended == nil {
            sessions[index].ended = microseconds
            sessions[index].end = "disconnected"
            journalEnd(sessions[index].id, "disconnected")
            touch(.sessions)
        }
        apps.disconnect(id)
        touch(.apps)
        conditionsChanged()
    }

    // MARK: Turns

    /// Queues a program that wants to read tags.
    ///
    /// - Parameter request: the id of the request to answer at the program's turn; nil if it waits in a call.
    mutating func claim(_ id: Int, request: JSON?) throws(SimulatorFailure) {
        guard switches.radio else { throw SimulatorFailure("radio-disabled", "The switch \"radio\" is off.") }
        guard !switches.busy else { throw SimulatorFailure("system-is-busy", "The switch \"busy\" is on.") }
        guard turns.holder != id, !turns.isWaiting(id) else {
            throw SimulatorFailure("already-claimed", "This program has its turn already, or is waiting for it.")
        }
        apply(turns.claim(Turns.Claim(client: id, request: request)))
    }

    mutating func release(_ id: Int) {
        if turns.holder == id {
            // A sheet that shows a result stays until the app dismisses it.
            if phone.sheet?.client == id, phone.sheet?.canCancel == true { phone.sheet = nil }
            touch(.phone)
            setCarrier(false, source: apps.clients[id]?.app ?? "", isCall: false)
            reportAnsweredTags()
        }
        apply(turns.release(id))
    }

    mutating func apply(_ actions: [Turns.Action]) {
        for action in actions {
            switch action {
            case .sessionActive:
                conditionsChanged()
                apply(turns.grant())
            case .grant(let claim):
                setCarrier(false, source: apps.clients[claim.client]?.app ?? "", isCall: false)
                if let client = apps.clients[claim.client], client.isApp {
                    phone.front = client.app
                    touch(.phone)
                }
                if let request = claim.request {
                    effects.append(.send(claim.client, ["id": request, "granted": true]))
                } else {
                    effects.append(.wake(claim.client))
                }
            }
        }
    }

    // MARK: Sheets, screens and events of an app

    mutating func sheet(_ client: AppList.Client, _ line: JSON) throws(SimulatorFailure) {
        guard let state = line["state"]?.string,
            ["ready", "scanning", "success", "failure", "dismissed"].contains(state)
        else { throw .invalid("The state of a sheet must be ready, scanning, success, failure or dismissed.") }
        let title = try line.optional("title", \.string, "a text") ?? ""
        let message = DisplayText.plain(try line.optional("message", \.string, "a text") ?? "", limit: 1000)
        let showsErrorSymbol = try line.optional("shows_error_symbol", \.bool, "true or false") ?? false
        if state == "dismissed" {
            if phone.sheet?.client == client.id { phone.sheet = nil }
        } else {
            phone.sheet = Phone.Sheet(
                app: client.app,
                client: client.id,
                state: state,
                title: DisplayText.plain(title, limit: 200),
                message: message,
                showsErrorSymbol: showsErrorSymbol
            )
        }
        touch(.phone)
        conditionsChanged()
        note(.sheet, state, source: client.app, detail: message.isEmpty ? nil : message)
        if state == "ready", switches.userCancels {
            effects.append(.schedule(.milliseconds(300), .personCancels(client: client.id)))
        }
    }

    mutating func event(_ client: AppList.Client, _ line: JSON) throws(SimulatorFailure) {
        let name = DisplayText.plain(try line.optional("name", \.string, "a text") ?? "", limit: 300)
        let detail = DisplayText.plain(try line.optional("detail", \.string, "a text") ?? "", limit: 1000)
        let words = name.isEmpty ? detail : name
        let more = name.isEmpty || detail.isEmpty ? nil : detail
        switch line["kind"]?.string {
        case "session":
            session(client, line, name, detail)
            note(.session, words, source: client.app, detail: more)
        case "callback":
            if name.contains("DidBecomeActive(") { journal.add(.active) }
            if name.contains("didDetect:"), let count = Int(detail.prefix { $0.isNumber }) {
                journal.add(.detect(count))
            }
            note(.callback, words, source: client.app, detail: more)
        case "call":
            // Calls have no row of their own: their exchanges do.
            guard let call = Journal.Call(line) else {
                throw .invalid(
                    "A call has a name from the list in the documentation, \"sent\" and \"received\" in hexadecimal digits, and "
                        + "\"error\" with a code."
                )
            }
            journal.add(.call(call))
        case "log":
            note(.log, words, source: client.app, detail: more)
            print(client.app, more.map { "\(words): \($0)" } ?? words)
        default: throw .invalid("The kind of an event must be session, callback, call or log.")
        }
    }

    private mutating func session(_ client: AppList.Client, _ line: JSON, _ name: String, _ detail: String) {
        let number = line["session"]?.int ?? 0
        let index = sessions.lastIndex { $0.client == client.id && $0.number == number && $0.ended == nil }
        switch name {
        case "begin":
            sessions.append(
                Session(
                    id: nextSession(),
                    app: client.app,
                    client: client.id,
                    number: number,
                    kind: DisplayText.plain(line["session_kind"]?.string ?? detail, limit: 100),
                    started: microseconds
                )
            )
            if sessions.count > Limits.sessions { sessions.removeFirst() }
            journalBegin(sessions[sessions.count - 1])
        case "invalidate":
            guard let index else { return }
            sessions[index].ended = microseconds
            sessions[index].end = detail
            journalEnd(sessions[index].id, detail)
        default: return
        }
        touch(.sessions)
    }

    mutating func screen(_ client: AppList.Client, _ line: JSON) throws(SimulatorFailure) {
        guard let screen = line["screen"] else { throw .invalid("The screen is missing: \"screen\".") }
        guard screen.isNull || screen.object != nil, screen.bytes.count <= Limits.screen else {
            throw .invalid("A screen must be an object of at most \(Limits.screen) bytes, or null.")
        }
        apps.update(client.app) { $0.screen = screen.isNull ? nil : screen }
        touch(.apps)
    }

    mutating func print(_ app: String, _ line: String) {
        apps.update(app) { $0.print(line) }
        touch(.apps)
    }
}
