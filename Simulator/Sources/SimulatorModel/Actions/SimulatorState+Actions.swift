// SPDX-License-Identifier: Apache-2.0
import BackgroundTagReading
import VirtualTags

/// The actions of users, pages, commands and tests. Each action is one JSON object.
extension SimulatorState {
    /// Performs an action.
    ///
    /// - Parameter action: an object with the action's name in `do`, and the action's parameters.
    /// - Returns: the result, as an object.
    /// - Throws: ``SimulatorFailure``, whose message says what to do.
    mutating func perform(_ action: JSON) throws(SimulatorFailure) -> JSON {
        guard action.object != nil, let name = action["do"]?.string else {
            throw .invalid("An action must be an object with its name in \"do\".")
        }
        drawer.refresh()
        if let result = try performOnField(name, action) { return result }
        if let result = try performOnPhone(name, action) { return result }
        if let result = try performOnDrawer(name, action) { return result }
        if let result = try performOnTrace(name, action) { return result }
        if let result = try performOnAll(name, action) { return result }
        throw SimulatorFailure(
            "no-such-action",
            "No action has this name. The documentation lists all of them."
        )
    }

    private static func flag(_ action: JSON) throws(SimulatorFailure) -> Bool {
        guard let flag = action["on"]?.bool else { throw .invalid("\"on\" must be true or false.") }
        return flag
    }

    // MARK: The field

    private mutating func performOnField(_ name: String, _ action: JSON) throws(SimulatorFailure) -> JSON? {
        switch name {
        case "bring", "hold":
            let card = try drawer.find(action["tag"]?.string, orByPart: true)
            try arrive(card, isHeld: name == "hold")
            return ["tag": .string(card.id)]
        case "tap":
            let card = try drawer.find(action["tag"]?.string, orByPart: true)
            let time = action["ms"] ?? 500
            guard let milliseconds = time.int, (1...600_000).contains(milliseconds) else {
                throw .invalid("\"ms\" must be a number of milliseconds from 1 to 600000.")
            }
            remove(card.id)
            try arrive(card, isHeld: false)
            effects.append(
                .schedule(.milliseconds(milliseconds), .tapEnds(tag: card.id, visit: visits[card.id] ?? 0))
            )
            return ["tag": .string(card.id), "ms": .int(milliseconds)]
        case "remove":
            let card = try drawer.find(action["tag"]?.string, orByPart: true)
            remove(card.id)
            return ["tag": .string(card.id)]
        case "toggle":
            let card = try drawer.find(action["tag"]?.string, orByPart: true)
            let wasNear = field.isNear(card.id)
            _ = try performOnField(wasNear ? "remove" : "hold", action)
            return ["tag": .string(card.id), "near": .bool(!wasNear)]
        case "leave":
            removeAll()
            return [:]
        default: return nil
        }
    }

    private mutating func arrive(_ card: DrawerCard, isHeld: Bool) throws(SimulatorFailure) {
        let wasNear = field.isNear(card.id)
        try bring(card, isHeld: isHeld)
        guard !wasNear else { return }
        journal.add(.bring(journalTag(card)))
    }

    // MARK: The phone

    private mutating func performOnPhone(_ name: String, _ action: JSON) throws(SimulatorFailure) -> JSON? {
        switch name {
        case "lock": changePhone { $0.lock() }
        case "unlock": changePhone { $0.unlock() }
        case "restart_phone": changePhone { $0.restart() }
        case "screen":
            let isOn = try Self.flag(action)
            changePhone { $0.setScreen(isOn) }
        case "camera":
            let isOn = try Self.flag(action)
            changePhone { $0.isCameraOn = isOn }
        case "airplane":
            let isOn = try Self.flag(action)
            changePhone { $0.isAirplaneModeOn = isOn }
        case "wallet":
            let isOn = try Self.flag(action)
            changePhone { $0.isWalletOn = isOn }
        case "home": changePhone { $0.front = nil }
        case "open_app":
            let app = try apps.find(action["app"]?.string)
            if let command = app.command, !app.isRunning { effects.append(.startApp(app.id, command: command)) }
            changePhone { $0.front = app.id }
        case "cancel_sheet":
            guard phone.sheet?.canCancel == true else {
                throw SimulatorFailure("no-sheet", "No scanning sheet is on the phone, or it can't be cancelled.")
            }
            cancelSheet()
        case "dismiss_prompt": changePhone { $0.prompt = nil }
        case "hide_banner": changePhone { $0.banner = nil }
        case "press": try press(action)
        case "open_notification": try openNotification(action)
        case "dismiss_notification": try dismissNotification(action)
        case "switch":
            let new = try changed(action)
            journal.add(.set(action["name"]?.string ?? "", action["value"] ?? .null))
            set(new, changed: action["name"]?.string)
        default: return nil
        }
        return [:]
    }

    /// Whether the user sees a sheet that waits for a tag.
    private var isSheetInFront: Bool {
        phone.sheet.map { $0.canCancel && !phone.isLocked && phone.front == $0.app } ?? false
    }

    private mutating func changePhone(_ change: (inout Phone) -> Void) {
        let wasLocked = phone.isLocked
        let wasInFront = isSheetInFront
        change(&phone)
        touch(.phone)
        conditionsChanged()
        // A session ends when its app goes to the background.
        if wasInFront, !isSheetInFront, let sheet = phone.sheet {
            effects.append(.send(sheet.client, ["event": "background"]))
        }
        guard phone.isLocked != wasLocked else { return }
        apply(background.handle(.lock(isLocked: phone.isLocked), now: now))
    }

    private func changed(_ action: JSON) throws(SimulatorFailure) -> Switches {
        var new = switches
        try new.set(action["name"]?.string, action["value"])
        return new
    }

    mutating func set(_ new: Switches, changed name: String?) {
        let before = switches.forApps
        let hadRadio = switches.radio
        switches = new
        if name == "leave_after" { field.faults.resetExchangeCount() }
        if name == "tear_write" { field.faults.resetWriteCount() }
        touch(.switches)
        conditionsChanged()
        if switches.radio != hadRadio { radioChanged() }
        guard switches.forApps != before else { return }
        for client in apps.clients.keys { effects.append(.send(client, switches.forApps)) }
    }

    private mutating func press(_ action: JSON) throws(SimulatorFailure) {
        let app = try apps.find(action["app"]?.string ?? phone.front)
        guard let item = action["item"]?.string, item.utf8.count <= 200 else {
            throw .invalid("Name the item to press: \"item\" is the id of a button or row.")
        }
        let clients = app.clients.filter { apps.clients[$0]?.isApp == true }
        guard !clients.isEmpty else {
            throw SimulatorFailure(
                "not-connected",
                "The app is not connected, so it can't take the press. Start it first."
            )
        }
        for client in clients { effects.append(.send(client, ["event": "press", "item": .string(item)])) }
    }

    private mutating func openNotification(_ action: JSON) throws(SimulatorFailure) {
        if action["notification"]?.string == "summary" {
            apply(background.handle(.summaryActivated, now: now))
            return
        }
        let notification = try notification(action)
        if phone.banner?.id == notification.id.description { phone.banner = nil }
        touch(.phone)
        apply(background.handle(.activated(notification.id), now: now))
    }

    private mutating func dismissNotification(_ action: JSON) throws(SimulatorFailure) {
        if action["notification"]?.string == "all" {
            for notification in background.notifications { dismiss(notification) }
            return
        }
        dismiss(try notification(action))
    }

    private mutating func dismiss(_ notification: BackgroundService.Notification) {
        if phone.banner?.id == notification.id.description { phone.banner = nil }
        touch(.phone)
        apply(background.handle(.cleared(notification.id), now: now))
        background.forget(notification.id)
        touch(.notifications)
    }

    private func notification(_ action: JSON) throws(SimulatorFailure) -> BackgroundService.Notification {
        // Not "id": that is the number of the action itself.
        guard let found = background.notification(action["notification"]?.string) else {
            throw SimulatorFailure(
                "no-such-notification",
                "No notification has this id. \"notification\" must be an id from the list."
            )
        }
        return found
    }
}
