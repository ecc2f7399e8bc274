// SPDX-License-Identifier: Apache-2.0
import CoreNFC

/// The state of the full screen, changed by keys and messages: a state machine without a terminal.
///
/// Messages are identified by their numbers, which do not change when other instances of the app add or delete messages.
struct ScreenState {
    /// The screen that is shown.
    enum Place: Equatable {
        case list
        /// The records of the selected message.
        case details
        case help
        /// Whether the selected message is to be deleted.
        case question
        /// Stays until a key is typed.
        case alert(title: String, text: String)
    }

    /// The action of a key.
    enum Action: Equatable {
        case none
        case scan(readsMany: Bool)
        case write(Int)
        case delete(Int)
        case suspend
        /// Ends the app with a status.
        case quit(Int32)
    }

    private(set) var messages: [StoredMessage] = []
    private(set) var place = Place.list
    /// The screens below a help, a question or an alert.
    private var below: [Place] = []
    /// The number of the selected message.
    private(set) var selection: Int?
    /// How many lines are scrolled off above the screen.
    private(set) var scroll = 0
    /// A sentence for the person; a question replaces it.
    var note = ""

    /// The sentence at the bottom.
    var status: String {
        guard place == .question, let selection else { return note }
        return "Delete message \(selection)? Press y to delete it."
    }

    /// The screen to draw; for a question, the screen below it.
    var shown: Place { place == .question ? below.last ?? .list : place }

    /// The selected message.
    var selected: StoredMessage? { messages.first { $0.number == selection } }

    private var index: Int? { messages.firstIndex { $0.number == selection } }

    // MARK: Events

    /// Updates the messages. If the selected one is gone, selects the one in its place.
    mutating func update(_ now: [StoredMessage]) {
        let row = index ?? 0
        messages = now
        guard selected == nil else { return }
        selection = now.isEmpty ? nil : now[min(row, now.count - 1)].number
        below.removeAll { $0 == .details }
        if place == .details || place == .question {
            (place, below, scroll) = (.list, [], 0)
            note = "That message was deleted in another window."
        }
    }

    /// Selects a message, or the last one if it does not exist.
    mutating func select(_ number: Int?) {
        selection = messages.contains { $0.number == number } ? number : messages.last?.number
    }

    /// Shows the records of a message that came, on top of any screen.
    mutating func show(_ number: Int, note: String) {
        guard messages.contains(where: { $0.number == number }) else { return }
        (selection, place, below, scroll) = (number, .details, [], 0)
        self.note = note
    }

    /// Shows an alert over the present screen.
    mutating func alert(_ title: String, _ text: String) {
        if place == .question { leave() }
        enter(.alert(title: title, text: text))
    }

    /// Handles a key.
    ///
    /// - Parameter room: how many lines of a list or of a message fit on the screen.
    mutating func handle(_ key: Key, room: Int) -> Action {
        switch key {
        case .interrupt: return .quit(130)
        case .closed: return .quit(0)
        case .suspend: return .suspend
        case .redraw: return .none
        default: note = ""
        }
        switch place {
        case .list: return handleInList(key, room)
        case .details: return handleInDetails(key, room)
        case .help: handleInHelp(key, room)
        case .alert: leave()
        case .question:
            leave()
            guard key == .character("y"), let selection else { return .none }
            (place, below, scroll) = (.list, [], 0)
            return .delete(selection)
        }
        return .none
    }

    private mutating func handleInList(_ key: Key, _ room: Int) -> Action {
        switch key {
        case .up, .character("k"): move(by: -1)
        case .down, .character("j"): move(by: 1)
        case .pageUp: move(by: -room)
        case .pageDown, .character(" "): move(by: room)
        case .home, .character("g"): move(by: -messages.count)
        case .end, .character("G"): move(by: messages.count)
        case .enter where selected != nil: (place, scroll) = (.details, 0)
        case .character("s"): return .scan(readsMany: false)
        case .character("m"): return .scan(readsMany: true)
        case .character("w"): return selection.map(Action.write) ?? .none
        case .character("d"), .delete: ask()
        case .character("?"): help()
        case .character("q"): return .quit(0)
        case .escape: note = "To end the app, press q."
        default: break
        }
        return .none
    }

    private mutating func handleInDetails(_ key: Key, _ room: Int) -> Action {
        if scroll(with: key, room) { return .none }
        switch key {
        case .character("w"): return selection.map(Action.write) ?? .none
        case .character("d"), .delete: ask()
        case .character("?"): help()
        case .escape, .enter, .character("q"): (place, scroll) = (.list, 0)
        default: break
        }
        return .none
    }

    private mutating func handleInHelp(_ key: Key, _ room: Int) {
        if scroll(with: key, room) { return }
        switch key {
        case .escape, .enter, .character("q"), .character("?"): leave()
        default: break
        }
    }

    private mutating func scroll(with key: Key, _ room: Int) -> Bool {
        switch key {
        case .up, .character("k"): scroll = max(scroll - 1, 0)
        case .down, .character("j"): scroll += 1
        case .pageUp: scroll = max(scroll - room, 0)
        case .pageDown, .character(" "): scroll += room
        case .home, .character("g"): scroll = 0
        // ``limitScroll(to:)`` reduces it to the real end.
        case .end, .character("G"): scroll = .max / 2
        default: return false
        }
        return true
    }

    /// Limits scrolling to the lines that exist.
    mutating func limitScroll(to most: Int) { scroll = min(scroll, max(most, 0)) }

    private mutating func move(by rows: Int) {
        guard let index else { return }
        selection = messages[max(0, min(index + rows, messages.count - 1))].number
    }

    private mutating func ask() {
        if selection != nil { enter(.question) }
    }

    private mutating func help() {
        enter(.help)
        scroll = 0
    }

    private mutating func enter(_ new: Place) {
        below.append(place)
        place = new
    }

    private mutating func leave() {
        if place == .help { scroll = 0 }
        place = below.popLast() ?? .list
    }
}
